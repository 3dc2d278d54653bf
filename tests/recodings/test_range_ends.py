"""Range ends: what the ends of published ranges tell about single people, and what regions hide."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

import privmoo as pm
from privmoo.errors import RecodingError
from privmoo.explorer.cards import card_of
from privmoo.recodings.base import Recoding, from_json
from privmoo.recodings.classes import PartitionRecoding, range_recoding
from privmoo.release.release import make_release

pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")

TREE = pm.Hierarchy.tree({"work": ["private", "state", "self"], "none": ["looking", "retired"]})
SCHOOL = [f"grade {i}" for i in range(1, 13)]


def adult_like(n: int, seed: int = 0) -> pm.Table:
    """People with an age, an income in steps of 100, school years and work, all with declared domains."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "age": np.clip(rng.normal(40, 14, n), 17, 90).astype(int),
            "income": 100 * np.clip(rng.lognormal(5.8, 0.6, n), 1, 999).astype(int),
            "school": rng.choice(SCHOOL, n),
            "work": rng.choice(["private", "state", "self", "looking", "retired"], n),
        }
    )
    return pm.Table(
        df,
        quasi_identifiers={
            "age": pm.Hierarchy.ordered(range(16, 100)),
            "income": pm.Hierarchy.ordered(range(0, 100_000, 100)),
            "school": pm.Hierarchy.ordered(SCHOOL),
            "work": TREE,
        },
    )


def singled_out(table: pm.Table, recoding: PartitionRecoding, column: str) -> tuple[float, float]:
    """The share of groups with a range in which exactly one person has the value of its lower end.

    And, for comparison, that of groups and any other values in their ranges.
    """
    j = table.qi_names.index(column)
    labels = recoding.apply(table, np.arange(table.n_records))[column].to_numpy()
    meanings = recoding.meanings()[column]
    values = np.array(table.qis[j].leaves, dtype=object)[table.tuples[table.row_tuple, j]]
    at_end, elsewhere = [], []
    for c in range(recoding.n_classes):
        members = recoding.labels == c
        leaves = meanings[labels[members][0]]
        if len(leaves) > 1:
            alone = [int((values[members] == leaf).sum()) == 1 for leaf in leaves]
            at_end.append(alone[0])
            elsewhere.append(np.mean(alone[1:]))
    return float(np.mean(at_end)), float(np.mean(elsewhere))


def test_tight_ends_single_people_out_and_regions_do_not() -> None:
    table = adult_like(4000)
    tight = pm.baselines.mondrian(table, 5, publish="tight")
    region = pm.baselines.mondrian(table, 5)
    assert (tight.publish, region.publish) == ("tight", "region")
    assert singled_out(table, tight, "income")[0] > 0.9
    assert singled_out(table, region, "income")[0] < 0.05
    # Where a range has few values, any of them often belongs to one person; the end of a region does not
    # do so more often than the others.
    for column in ("age", "income", "school"):
        at_end, elsewhere = singled_out(table, region, column)
        assert at_end < elsewhere + 0.05
    at_end, elsewhere = singled_out(table, tight, "age")
    assert at_end - elsewhere > 0.2


@pytest.mark.parametrize("strict", [True, False])
def test_ranges_of_regions_are_those_of_the_cuts_whoever_is_inside(strict: bool) -> None:
    """Everybody moves to another place of the region; the regions and all labels stay as they are."""
    table = adult_like(600)
    region = pm.baselines.mondrian(table, 10, strict=strict)
    rng = np.random.default_rng(1)
    start, stop = region.centres.astype(int)[region.labels], np.asarray(region.ends)[region.labels]
    moved = rng.integers(start, stop)
    frame = pd.DataFrame(
        {qi.name: [qi.leaves[code] for code in moved[:, j]] for j, qi in enumerate(table.qis)}
    ).astype({"age": int, "income": int})
    others = pm.Table(frame, quasi_identifiers={qi.name: qi.hierarchy for qi in table.qis})
    again = range_recoding(others, region.labels, bounds=(region.centres.astype(int), region.ends))
    rows = np.arange(600)
    assert again.apply(others, rows).equals(region.apply(table, rows))
    assert again.meanings() == region.meanings()
    tight = range_recoding(table, region.labels)
    moved_tight = range_recoding(others, region.labels)
    assert not moved_tight.apply(others, rows).equals(tight.apply(table, rows))


@settings(max_examples=40)
@given(data=st.data())
def test_labels_cover_the_members_and_the_audit_agrees(data: st.DataObject) -> None:
    table = adult_like(data.draw(st.integers(4, 40)), data.draw(st.integers(0, 99)))
    k = data.draw(st.integers(2, 4))
    strict, publish = data.draw(st.booleans()), data.draw(st.sampled_from(["region", "tight"]))
    recoding = pm.baselines.mondrian(table, k, strict=strict, publish=publish)
    frame = recoding.apply(table, np.arange(table.n_records))
    meanings = recoding.meanings()
    for j, qi in enumerate(table.qis):
        for label, code in zip(frame[qi.name], table.tuples[table.row_tuple, j], strict=True):
            assert qi.leaves[code] in meanings[qi.name][label]
    measures = [pm.KAnonymity(), pm.GeneralLoss(), pm.Discernibility()]
    release = make_release(table, recoding, measures=measures)  # raises if the audit disagrees
    assert release.certificate.privacy["k"] >= k
    assert release.certificate.privacy["n_groups"] == recoding.n_classes
    claims = {claim.measure: claim for claim in release.certificate.claims}
    assert claims["loss"].audited == pytest.approx(claims["loss"].claimed)
    slow = [
        sum(
            (len(meanings[qi.name][label]) - 1) / (qi.n_leaves - 1)
            for qi, label in zip(table.qis, row, strict=True)
        )
        / table.n_qis
        for row in frame.itertuples(index=False)
    ]
    assert claims["loss"].claimed == pytest.approx(np.mean(slow))


def small() -> pm.Table:
    df = pd.DataFrame({"age": [20, 22, 40, 41], "work": ["state", "self", "state", "retired"]})
    ages = pm.Hierarchy.ordered(range(18, 66))
    return pm.Table(df, quasi_identifiers={"age": ages, "work": TREE})


def test_classes_with_the_same_bounds_are_one_group() -> None:
    table = small()
    bounds: Any = ([[0, 0]] * 2, [[48, 3], [48, 5]])
    recoding = range_recoding(table, [0, 0, 0, 1], bounds=bounds)
    assert recoding.n_classes == 2
    bounds = ([[0, 0]] * 2, [[48, 4], [48, 5]])  # the lowest node above four leaves is the root
    recoding = range_recoding(table, [0, 0, 0, 1], bounds=bounds)
    assert recoding.n_classes == 1 and recoding.sizes.tolist() == [4]
    assert make_release(table, recoding, measures=[pm.KAnonymity()]).certificate.privacy["k"] == 4


WRONG: list[tuple[Any, str]] = [
    (([[0, 0]], [[48, 5]]), "expected 2 leaves for each of 2 classes, got shape"),
    (([[0]] * 2, [[48]] * 2), "expected 2 leaves for each of 2 classes, got shape"),
    (([[0.0, 0.0]] * 2, [[48, 5]] * 2), "must be whole numbers, got float64"),
    (([[-1, 0]] * 2, [[48, 5]] * 2), "those of 'age' must lie within its 48 leaves"),
    (([[0, 0]] * 2, [[48, 6]] * 2), "those of 'work' must lie within its 5 leaves"),
    (([[3, 0], [0, 0]], [[48, 5]] * 2), "those of 'age' do not cover the members of 1 classes"),
    (([[0, 0]] * 2, [[48, 2]] * 2), "those of 'work' do not cover the members of 2 classes"),
    (7, "expected two matrices"),
    ("ab", "expected 2 leaves"),
]


@pytest.mark.parametrize(("bounds", "reason"), WRONG)
def test_other_bounds_are_refused(bounds: Any, reason: str) -> None:
    with pytest.raises(RecodingError, match=r"^bounds: [^.\n]*$") as error:
        range_recoding(small(), [0, 0, 1, 1], bounds=bounds)
    assert reason in str(error.value)


def test_files_keep_the_kind_of_range_and_old_ones_are_tight() -> None:
    table = adult_like(300)
    region = pm.baselines.mondrian(table, 5)
    tight = pm.baselines.mondrian(table, 5, publish="tight")
    for recoding in (region, tight):
        again = from_json(table, json.loads(json.dumps(recoding.to_json())))
        assert isinstance(again, PartitionRecoding)
        assert again.publish == recoding.publish and again.key() == recoding.key()
    old = {name: value for name, value in tight.to_json().items() if name != "publish"}
    again = from_json(table, old)
    assert isinstance(again, PartitionRecoding)
    assert again.publish == "tight" and again.key() == tight.key()
    # The same ranges, but published for another reason, are not the same recoding.
    bounds: Any = (tight.centres.astype(int), tight.ends)
    assert range_recoding(table, tight.labels, bounds=bounds).key() != tight.key()


class AnyRecoding(pm.problems.Cuts):
    """Cuts that stand beside any other recoding on a front."""

    def encode(self, recoding: Recoding) -> NDArray[Any]:
        return np.zeros(self.n_var, dtype=bool)


def test_certificate_explanation_and_card_say_which_ranges_are_published() -> None:
    table = adult_like(300)
    problem = AnyRecoding(table, objectives=[pm.KAnonymity(), pm.GeneralLoss()])
    for publish, words, ends in (
        ("region", "range of each region", "the bounds of each region"),
        ("tight", "range of each class's members", "the smallest and the largest value"),
    ):
        recoding = pm.baselines.mondrian(table, 5, publish=publish)
        certificate = make_release(table, recoding).certificate
        assert words in certificate.method["quasi_identifiers"]["income"]
        assert certificate.method["range_ends"].startswith(ends)
        released = make_release(table, recoding).frame["income"]
        assert (
            f"{released.nunique()} different labels"
            in (certificate.method["quasi_identifiers"]["income"])
        )
        assert (
            sum("labels of one column may overlap" in text for text in certificate.not_guaranteed)
            == 1
        )
        cautions = "\n".join(certificate.not_guaranteed)
        assert ("of a real person in its group" in cautions) == (publish == "tight")
        assert "was taken from the data" not in cautions
        solution = pm.Front.of(problem, known=[recoding])[0]
        assert solution.explain().count("labels of one column may overlap") == 1
        assert words in solution.explain() and words in card_of(solution)["words"]["income"]
        assert solution.loss == pytest.approx(pm.GeneralLoss()(solution.groups()))


@pytest.mark.parametrize(
    ("hierarchy", "of_data"),
    [
        (None, True),
        (pm.Hierarchy.ordered(), True),
        (pm.Hierarchy.ordered(step=5), True),
        (pm.Hierarchy.masking(), True),
        (pm.Hierarchy.ordered(range(100)), False),
        (pm.Hierarchy.intervals(0, 99, widths=[10]), False),
    ],
)
def test_a_domain_taken_from_the_data_is_said(hierarchy: Any, of_data: bool) -> None:
    df = pd.DataFrame({"age": [20, 22, 40, 41]})
    table = pm.Table(df, quasi_identifiers={"age": pm.QI(hierarchy=hierarchy)})
    said = make_release(table, pm.baselines.mondrian(table, 2)).certificate.not_guaranteed
    assert any(text.startswith("The domain of 'age' was taken from the data") for text in said) == (
        of_data
    )
    observed = pm.Table(
        df, quasi_identifiers={"age": pm.QI(hierarchy=hierarchy)}, domain="observed"
    )
    assert observed.qis[0].of_data


def test_ranges_of_clusters_are_tight_and_say_so() -> None:
    table = adult_like(60)
    recoding = pm.baselines.mdav(table, 3, release="range")
    assert recoding.publish == "tight"
    said = make_release(table, recoding).certificate.not_guaranteed
    assert any("Ranges are tight" in text for text in said)
