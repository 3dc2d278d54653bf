"""The promise: what a certificate says is true of the file that is written, whatever the table."""

from __future__ import annotations

import io
import warnings
from collections import Counter, defaultdict
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import privmoo as pm
from privmoo.errors import ReleaseError
from privmoo.release.release import ReleaseWarning, make_release

AGES = pm.Hierarchy.intervals(0, 40, widths=[5, 10, 20], open_ends=True)
TREE = pm.Hierarchy.tree({"one": ["a"], "two": ["b", ["c", "d"]], "e": "e"})
DATES = ["2020-01-01", "2020-01-15", "2020-06-01", "1999-12-31"]
POLICIES = [
    pm.NoSuppression(),
    pm.Budget(0.3),
    pm.Budget(0.2, by="l"),
    pm.KLBudget(0.4, prefer="l"),
    pm.KLBudget(0.4, prefer="k"),
    pm.BelowThreshold(2),
    pm.BelowThreshold(1.5, by="l"),
    pm.BelowAverage(),
    pm.BelowAverage(by="l"),
]
MEASURES = [
    pm.KAnonymity(),
    pm.WeightedK(),
    pm.AverageK(),
    pm.FrequencyDiversity(),
    pm.DistinctDiversity(),
    pm.EntropyDiversity(),
    pm.TCloseness(distance="equal"),
    pm.ProsecutorRisk(),
    pm.RecordsAtRisk(tau=0.4),
    pm.Uniqueness(),
    pm.Homogeneity(),
    pm.GeneralLoss(),
    pm.SuppressedShare(),
    pm.Discernibility(),
]


@st.composite
def tables(draw: st.DrawFn) -> pm.Table:
    n = draw(st.integers(4, 24))

    def column(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=n, max_size=n))

    missing = st.none()
    df = pd.DataFrame(
        {
            "age": pd.Series(column(st.integers(-3, 45)), dtype="Int64"),
            "kind": pd.Series(column(st.sampled_from("abcde") | missing), dtype="str"),
            "born": pd.to_datetime(pd.Series(column(st.sampled_from(DATES)))),
            "sex": pd.Categorical(column(st.sampled_from(["f", "m"]))),
            "score": column(st.sampled_from([0.0, -0.0, 1.5, 2.5])),
            "ill": pd.Series(column(st.sampled_from("xyz")), dtype="str"),
            "who": column(st.integers(0, n)),
        }
    )
    df.loc[0, "ill"], df.loc[1, "ill"] = "x", "y"
    df.loc[0, "kind"] = "a"
    weight = st.sampled_from([0.5, 1.0, 2.0])
    return pm.Table(
        df,
        quasi_identifiers={
            "age": pm.QI(hierarchy=AGES, weight=draw(weight), min_level=draw(st.integers(0, 2))),
            "kind": pm.QI(hierarchy=TREE, max_level=draw(st.integers(1, 3))),
            "born": pm.Hierarchy.masking(),
            "sex": pm.Hierarchy.flat(),
            "score": pm.QI(hierarchy=pm.Hierarchy.ordered(), weight=draw(weight)),
        },
        sensitive="ill",
        subject=draw(st.sampled_from([None, "who"])),
        domain=draw(st.sampled_from(["hierarchy", "observed"])),
    )


@settings(max_examples=80)
@given(data=st.data())
def test_the_written_file_is_what_the_certificate_says(data: st.DataObject) -> None:
    table = data.draw(tables())
    policy = data.draw(st.sampled_from(POLICIES))
    by_level = data.draw(st.booleans())
    if by_level:
        levels = [data.draw(st.integers(qi.min_level, qi.max_level)) for qi in table.qis]
        recoding: Any = pm.recodings.level_recoding(table, levels)
    else:
        problem = pm.problems.Cuts(table)
        rows = problem.default_operators()["sampling"](
            problem, 8, random_state=np.random.default_rng(data.draw(st.integers(0, 99)))
        ).get("X")
        recoding = problem.recoding(rows[data.draw(st.integers(0, 7))])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReleaseWarning)
            release = make_release(table, recoding, suppression=policy, measures=MEASURES)
    except ReleaseError as nothing:
        assert "all records would be suppressed" in str(nothing)  # noqa: PT017
        return
    buffer = io.StringIO()
    release.frame.to_csv(buffer, index=False)
    buffer.seek(0)
    text = pd.read_csv(buffer, dtype="str", keep_default_na=False)

    groups = defaultdict(list)
    for position, row in enumerate(text.itertuples(index=False)):
        groups[tuple(getattr(row, name) for name in table.qi_names)].append(position)
    persons = table.frame["who"].to_numpy()[release.rows]
    hidden = {
        key: len({persons[i] for i in rows}) if table.subjects is not None else len(rows)
        for key, rows in groups.items()
    }
    values = {key: Counter(text["ill"].iloc[rows]) for key, rows in groups.items()}

    privacy = release.certificate.privacy
    assert privacy["k"] == min(hidden.values())
    assert privacy["n_groups"] == len(groups)
    assert privacy["prosecutor_risk"]["max"] == 1 / min(hidden.values())
    alone = sum(len(rows) for key, rows in groups.items() if hidden[key] == 1)
    assert privacy["uniqueness"] == pytest.approx(alone / len(text))
    sensitive = privacy["sensitive"]["ill"]
    assert sensitive["distinct_l"] == min(len(own) for own in values.values())
    assert sensitive["l"] == pytest.approx(
        min(sum(own.values()) / max(own.values()) for own in values.values())
    )
    assert release.certificate.release["records_suppressed"] == table.n_records - len(text)
    # Every released label stands for the value it replaced.
    meanings = recoding.meanings()
    for j, qi in enumerate(table.qis):
        leaves = [qi.leaves[code] for code in table.tuples[table.row_tuple[release.rows], j]]
        for label, leaf in zip(release.frame[qi.name], leaves, strict=True):
            assert leaf in meanings[qi.name][pm.hierarchy.canonical(label)]
