"""Figures of a certificate that depend on the original: their digits must not confirm guesses."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privmoo as pm
from privmoo.audit import information_loss
from privmoo.hybrid.scheme import HybridScheme
from privmoo.recodings import Means
from privmoo.release.utility import ReleasedRows

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


def figures(release: pm.Release) -> dict[str, Any]:
    """What anybody can read."""
    text = release.certificate.to_json()
    assert release.certificate.to_text() and release.certificate._repr_html_()
    utility: dict[str, Any] = json.loads(text)["utility"]
    return utility


def agrees(value: float, printed: float) -> bool:
    """Whether a value, rounded to as many digits as the printed figure shows, is that figure."""
    return round(value, len(repr(printed).split(".")[1])) == printed


def test_noise_is_not_undone_by_information_loss() -> None:
    """150 guesses of one person's pay, by somebody who knows everybody else and every row's person."""
    table = pm.testing.example_hybrid_table()
    release = HybridScheme(table, 4, epsilon_other=2, patterns=["race"]).run(seed=3)
    victim = 17
    row = int(np.flatnonzero(release.rows == victim)[0])
    noised = float(release.frame["pay"].iloc[row])

    def il(pay: float) -> dict[str, float]:
        frame = table.frame.copy()
        frame.loc[victim, "pay"] = pay
        qis = {qi.name: qi.hierarchy for qi in table.qis}
        guess = pm.Table(frame, quasi_identifiers=qis, sensitive="illness", target="illness")
        rows = ReleasedRows(guess, release.frame, release.recoding, release.rows)
        originals, numeric = rows._original_values(), rows._numeric()
        others = [name for name in guess.qi_names if name not in numeric]
        return {
            name: information_loss(
                originals,
                rows._single_values(),
                numeric=numeric,
                categorical=others,
                rows=release.rows,
                scale=scale,
            )
            for name, scale in (("il", "raw"), ("il_standard", "standard"))
        }

    exact, printed = release.certificate.utility, figures(release)
    guesses = np.round(np.arange(noised - 0.75, noised + 0.75, 0.01), 2)
    losses = [il(float(guess)) for guess in guesses]
    for name in ("il", "il_standard"):
        with_all_digits = [
            loss for loss in losses if np.isclose(loss[name], exact[name], rtol=1e-12, atol=0)
        ]
        assert len(with_all_digits) <= 15  # the attack works on what is not printed
        assert sum(agrees(loss[name], printed[name]) for loss in losses) >= 140


def test_rounded_means_are_not_undone_by_information_loss() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"age": rng.integers(18, 80, 300), "pay": np.round(rng.gamma(4, 250, 300) * 4) / 4}
    )
    table = pm.Table(frame, quasi_identifiers=["age", "pay"])
    recoding = pm.baselines.mdav(table, 3, means=Means(step={"pay": 50}))
    release = pm.make_release(table, recoding, seed=1)
    exact, printed = release.certificate.utility["il"], figures(release)["il"]
    labels = recoding.labels_for(table)[table.row_tuple]
    for victim in range(0, 300, 60):
        members = np.flatnonzero(labels == labels[victim])
        rest = frame["pay"].iloc[members[members != victim]].sum()
        row = int(np.flatnonzero(release.rows == victim)[0])
        mean = float(release.frame["pay"].iloc[row])
        candidates = [
            pay
            for pay in [*np.arange(25, 2250, 2.5).tolist(), float(frame["pay"].iloc[victim])]
            if np.rint((rest + pay) / len(members) / 50) * 50 == mean
        ]
        losses = []
        for pay in candidates:
            guess = frame.copy()
            guess.loc[victim, "pay"] = pay
            losses.append(
                information_loss(guess, release.frame, numeric=["age", "pay"], rows=release.rows)
            )
        assert sum(bool(np.isclose(loss, exact, rtol=1e-12, atol=0)) for loss in losses) <= 2
        assert sum(agrees(loss, printed) for loss in losses) >= 0.9 * len(candidates)


def test_cuts_are_not_undone_by_entropy() -> None:
    rng = np.random.default_rng(0)
    ages = rng.integers(20, 80, 2_000)

    def entropy(values: np.ndarray) -> tuple[float, float]:
        hierarchy = pm.Hierarchy.intervals(20, 80, widths=[1, 10])
        table = pm.Table(pd.DataFrame({"age": values}), quasi_identifiers={"age": hierarchy})
        level = pm.recodings.level_recoding(table, [2])
        release = pm.make_release(table, level, seed=1)
        name = "nonuniform_entropy"
        return release.certificate.utility[name], figures(release)[name]

    exact, printed = entropy(ages)
    for victim in (3, 400, 1_500):
        low = ages[victim] // 10 * 10
        results = []
        for guess in range(low, low + 10):
            changed = ages.copy()
            changed[victim] = guess
            results.append(entropy(changed))
        assert sum(bool(np.isclose(r[0], exact, rtol=1e-12, atol=0)) for r in results) <= 5
        assert all(r[1] == printed for r in results)


def test_what_is_counted_in_the_rows_keeps_its_digits() -> None:
    table = pm.datasets.adult("dewri-kl")
    front = pm.optimize(pm.problems.KLSafe(table), budget=2, seed=1, progress=False)
    release = front.where(min_k=2).best("loss").release(seed=1)
    written = json.loads(release.certificate.to_json())
    assert written["privacy"] == json.loads(json.dumps(release.certificate.privacy))
    claims = {claim["measure"]: claim for claim in written["claims"]}
    assert claims["l"]["audited"] == release.certificate.privacy["sensitive"]["occupation"]["l"]
    assert claims["loss"]["audited"] == round(release.certificate.utility["loss"], 3)
    assert "of_rows" not in claims["loss"]


def test_a_value_that_only_suppressed_records_have_is_not_counted() -> None:
    frame = pd.DataFrame({"town": ["a"] * 6 + ["b"] * 6 + ["c"]})
    table = pm.Table(frame, quasi_identifiers={"town": pm.Hierarchy.flat()})
    recoding = pm.recodings.identity_recoding(table)
    text = pm.make_release(table, recoding, suppression=pm.BelowThreshold(2)).certificate.to_text()
    assert "as it is (2 values)" in text and "3 values" not in text
