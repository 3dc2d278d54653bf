"""Every measure against the audit of the table that a candidate releases, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import privmoo as pm
from privmoo import measures
from privmoo.audit import audit, utility
from privmoo.data.columns import QuasiIdentifier
from privmoo.data.table import Table
from privmoo.evaluation.engine import Engine
from privmoo.hierarchy import Hierarchy
from privmoo.measures import Measure
from privmoo.recodings.candidates import Candidates
from privmoo.suppression import BelowThreshold, Budget, NoSuppression, Suppression
from tests.scenery.optional import need

AUDITED: list[Measure] = [
    measures.KAnonymity(),
    measures.KmAnonymity(1),
    measures.KmAnonymity(2),
    measures.KmAnonymity(9),
    measures.Confidence(1),
    measures.Confidence(2),
    measures.WeightedK(),
    measures.AverageK(),
    measures.DistinctDiversity(),
    measures.PSensitivity(),
    measures.EntropyDiversity(),
    measures.FrequencyDiversity(),
    measures.RecursiveDiversity(1),
    measures.RecursiveDiversity(2.5),
    measures.Alpha(),
    measures.TCloseness(),
    measures.TCloseness(distance="ordered"),
    measures.BetaLikeness(),
    measures.BetaLikeness(enhanced=True),
    measures.DeltaDisclosure(),
    measures.MinimumEntropy(),
    measures.ProsecutorRisk(),
    measures.ProsecutorRisk(statistic="average"),
    measures.JournalistRisk(sampling_fraction=0.3),
    measures.JournalistRisk(statistic="average", sampling_fraction=0.3),
    measures.MarketerRisk(sampling_fraction=0.3),
    measures.RecordsAtRisk(0.5),
    measures.RecordsAtRisk(0.25, count=True),
    measures.Homogeneity(),
    measures.Homogeneity(count=True),
    measures.Uniqueness(),
    measures.Skewness(1.5),
    measures.Skewness(1),
    *(measures.Similarity(level) for level in range(3)),
]
# what an auditor can only measure with more than the release at hand
COMPARED: list[Measure] = [
    *(measures.TCloseness(distance=d, reference="original") for d in ("equal", "ordered")),
    measures.BetaLikeness(reference="original"),
    measures.BetaLikeness(enhanced=True, reference="original"),
    measures.DeltaDisclosure(reference="original"),
]
UTILITY = {
    "loss": measures.GeneralLoss(),
    "loss_geometric": measures.GeneralLoss(aggregate="geometric"),
    "generalization_loss": measures.GeneralizationLoss(),
    "suppression": measures.SuppressedShare(),
    "discernibility": measures.Discernibility(),
    "discernibility_star": measures.Discernibility(star=True),
    "aecs": measures.AverageClassSize(),
    "precision": measures.Precision(),
    "distortion": measures.Distortion(),
    "transparency": measures.Transparency(),
    "ambiguity": measures.Ambiguity(),
    "nonuniform_entropy": measures.NonUniformEntropy(),
    "classification": measures.ClassificationMetric(),
}
CLUSTERS = [measures.InformationLoss(), measures.InformationLoss(scale="standard")]


TREE = {"low": ["a", "b"], "high": {"one": ["c"], "two": ["d", "e"]}}
ILLS = {"lung": ["flu", "cold", "cough"], "stomach": ["ulcer", "ache"]}
EVERYTHING = {"sizes", "loss", "counts", "labels"}


@dataclass
class Case:
    """A table, a chunk of candidates and a policy."""

    table: Table
    blocks: np.ndarray[Any, Any]
    policy: Suppression

    @property
    def candidates(self) -> Candidates:
        return Candidates(blocks=self.blocks)

    @property
    def needs(self) -> set[str]:
        return EVERYTHING | ({"target"} if self.table.target is not None else set())

    def labels(self, c: int, frame: pd.DataFrame) -> pd.DataFrame:
        """Every quasi-identifier's value replaced by a label of its block."""
        columns = {}
        for j, qi in enumerate(self.table.qis):
            start = sum(q.n_leaves for q in self.table.qis[:j])
            own = self.blocks[c, start : start + qi.n_leaves]
            names = [f"block {b} of {qi.name}" for b in own]
            where = dict(zip(qi.leaves, names, strict=True))
            columns[qi.name] = [where[spelled(value)] for value in frame[qi.name]]
        return pd.DataFrame(columns, index=frame.index)

    def meanings(self, c: int) -> dict[str, dict[str, list[str]]]:
        """Leaves under every label."""
        result: dict[str, dict[str, list[str]]] = {}
        for j, qi in enumerate(self.table.qis):
            start = sum(q.n_leaves for q in self.table.qis[:j])
            own = result.setdefault(qi.name, {})
            for leaf, block in zip(qi.leaves, self.blocks[c, start:], strict=False):
                own.setdefault(f"block {block} of {qi.name}", []).append(leaf)
        return result

    def levels(self, c: int) -> dict[str, dict[str, float]]:
        """Of every label, the lowest level at which one node holds all its leaves, over height."""
        result: dict[str, dict[str, float]] = {}
        for qi in self.table.qis:
            tree = (qi.hierarchy or Hierarchy.flat(qi.leaves)).level_blocks
            for label, leaves in self.meanings(c)[qi.name].items():
                codes = [qi.leaves.index(leaf) for leaf in leaves]
                level = next(i for i, row in enumerate(tree) if len(set(row[codes])) == 1)
                share = level / (len(tree) - 1) if len(tree) > 1 else 0.0
                result.setdefault(qi.name, {})[label] = share
        return result

    def kept_rows(self, c: int) -> np.ndarray[Any, Any]:
        """Rows that the policy leaves in the release of a candidate."""
        engine = Engine(self.table, suppression=self.policy, needs=self.needs)
        _, after = engine.groups(self.candidates)
        return np.flatnonzero(after[c].labels[self.table.row_tuple] >= 0)

    def release(self, c: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
        """The released table of a candidate, and the rows it has."""
        rows = self.kept_rows(c)
        frame = self.table.frame.iloc[rows].reset_index(drop=True)
        frame[self.table.qi_names] = self.labels(c, frame)
        return frame, rows


def spelled(value: object) -> str:
    """A value as its leaf is called."""
    if value is None or value != value:
        return "missing"
    return str(int(value)) if isinstance(value, float) else str(value)


@st.composite
def policies(draw: st.DrawFn) -> Suppression:
    return draw(
        st.one_of(
            st.just(NoSuppression()),
            st.builds(Budget, st.sampled_from([0.1, 0.3, 0.6]), by=st.sampled_from(["k", "l"])),
            st.builds(BelowThreshold, st.integers(2, 4)),
        )
    )


@st.composite
def cases(draw: st.DrawFn, *, missing: bool = True, n_candidates: int = 2) -> Case:
    n = draw(st.integers(2, 30))
    kinds = draw(st.lists(st.sampled_from("oftn"), min_size=1, max_size=4))
    columns: dict[str, Any] = {}
    qis: dict[str, QuasiIdentifier] = {}
    for j, kind in enumerate(kinds):
        values: Any = {"o": [0, 1, 2, 4], "f": ["x", "y"], "t": list("abcde"), "n": [7, 8]}[kind]
        hierarchy = {
            "o": Hierarchy.ordered(range(6)),
            "f": Hierarchy.flat(),
            "t": Hierarchy.tree(TREE),
            "n": None,
        }[kind]
        if missing and draw(st.booleans()):
            values = [*values, None]
        name = f"{kind}{j}"
        column = draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
        column[0] = values[0]
        columns[name] = pd.Series(column, dtype=object)
        weight = draw(st.sampled_from([1.0, 0.5, 3.0]))
        qis[name] = QuasiIdentifier(hierarchy=hierarchy, weight=weight)
    illness = ["flu", "cold", "cough", "ulcer", "ache", *([None] if missing else [])]
    columns["ill"] = draw(st.lists(st.sampled_from(illness), min_size=n, max_size=n))
    columns["ill"][:2] = illness[:2]
    sensitive: dict[str, Hierarchy | None] = {"ill": Hierarchy.tree(ILLS)}
    if draw(st.booleans()):
        pay = [9, 10, 100, *([None] if missing else [])]
        columns["pay"] = draw(st.lists(st.sampled_from(pay), min_size=n, max_size=n))
        columns["pay"][:2] = pay[:2]
        columns["pay"] = pd.Series(columns["pay"], dtype=object)
        sensitive["pay"] = None
    target = draw(st.booleans())
    if target:
        columns["class"] = draw(st.lists(st.sampled_from("PQ"), min_size=n, max_size=n))
        columns["class"][:2] = "PQ"
    table = Table(
        pd.DataFrame(columns),
        quasi_identifiers=qis,
        sensitive=sensitive,
        target="class" if target else None,
        missing=draw(st.sampled_from(["unknown", "value"])),
    )
    blocks = [
        np.concatenate([draw(blocks_of(qi)) for qi in table.qis]) for _ in range(n_candidates)
    ]
    return Case(table, np.stack(blocks).astype(np.uint32), draw(policies()))


@st.composite
def blocks_of(draw: st.DrawFn, qi: Any) -> np.ndarray[Any, Any]:
    """A level of the hierarchy, or a cut of an order."""
    if qi.hierarchy is None:
        return np.arange(qi.n_leaves)
    if not qi.hierarchy.constrained:
        size = qi.n_leaves - 1
        bits = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        return np.concatenate([[0], np.cumsum(bits)])
    return np.asarray(qi.hierarchy.level_blocks[draw(st.integers(0, qi.hierarchy.height))])


def close(got: float, expected: float) -> bool:
    return bool(np.isclose(got, expected, rtol=1e-9, atol=1e-12))


def same(chunk: dict[str, Any], c: int, m: Measure, expected: float | None) -> None:
    assert expected is not None
    got = chunk[repr(m)][c]
    assert close(got, expected), f"{m!r} is {got}, the audit says {expected}"


def values_of(case: Case, chosen: list[Measure]) -> dict[str, Any]:
    engine = Engine(case.table, suppression=case.policy, needs=case.needs, threads=1)
    before, after = engine.groups(case.candidates)
    return {repr(m): m.values(before if m.stage == "before" else after) for m in chosen}


@settings(max_examples=40)
@given(cases())
def test_privacy_and_risk_equal_the_audit(case: Case) -> None:
    table = case.table
    hierarchies = {
        name: a.hierarchy.rows() for name, a in table.sensitive.items() if a.hierarchy is not None
    }
    everyone = pd.concat([table.frame, table.frame.iloc[::2]], ignore_index=True)
    of_population = [
        measures.JournalistRisk(population=everyone),
        measures.JournalistRisk(population=everyone, statistic="average"),
        measures.MarketerRisk(population=everyone),
    ]
    by_columns: list[Measure] = [
        measures.KAnonymity(columns=list(names))
        for size in range(1, len(table.qi_names) + 1)
        for names in combinations(table.qi_names, size)
    ]
    chosen = [*AUDITED, *by_columns, *COMPARED, *of_population, measures.WeightedDiversity()]
    chosen += [measures.WeightedK(stage="before"), measures.TCloseness(stage="before")]
    got = values_of(case, chosen)
    for c in range(len(case.blocks)):
        frame, _ = case.release(c)
        if not len(frame):
            for m in chosen:
                assert got[repr(m)][c] == m.worst(table) or m.stage == "before"
            continue
        roles: dict[str, Any] = {
            "quasi_identifiers": table.qi_names,
            "sensitive": list(table.sensitive),
            "missing": table.missing,
        }
        result = audit(
            frame,
            **roles,
            hierarchies=hierarchies,
            original=table.frame[list(table.sensitive)],
        )
        for m in (*AUDITED, *by_columns, *COMPARED):
            same(got, c, m, result.measure(m.name, **m.parameters))
        whole = audit(frame, **roles, population=case.labels(c, everyone))
        for m in of_population:
            given_statistic = {k: v for k, v in m.parameters.items() if k == "statistic"}
            same(got, c, m, whole.measure(m.name, **given_statistic))
        same(got, c, measures.WeightedDiversity(), slow_weighted_l(frame, table))
        everything = table.frame.copy()
        everything[table.qi_names] = case.labels(c, everything)
        before = audit(everything, **roles)
        same(got, c, measures.WeightedK(stage="before"), before.weighted_k)
        same(got, c, measures.TCloseness(stage="before"), before.measure("t"))


def slow_weighted_l(frame: pd.DataFrame, table: pm.Table) -> float:
    total = 0.0
    for _, rows in frame.groupby(table.qi_names):
        counts = []
        for name in table.sensitive:
            unknown = int(rows[name].isna().sum())
            if table.missing == "unknown":
                counts.append(rows[name].value_counts().max() + unknown)
            else:
                counts.append(rows[name].value_counts(dropna=False).max())
        counts = [len(rows) if count != count else count for count in counts]  # all are missing
        total += len(rows) * len(rows) / max(counts)
    return total / len(frame)


@settings(max_examples=40)
@given(cases())
def test_hierarchical_distance_equals_the_audit(case: Case) -> None:
    frame = case.table.frame.drop(columns="pay", errors="ignore")
    table = pm.Table(
        frame,
        quasi_identifiers={
            qi.name: pm.QuasiIdentifier(hierarchy=qi.hierarchy) for qi in case.table.qis
        },
        sensitive={"ill": case.table.sensitive["ill"].hierarchy},
        missing=case.table.missing,
    )
    case = Case(table, case.blocks, case.policy)
    chosen: list[Measure] = [
        measures.TCloseness(distance="hierarchical"),
        measures.TCloseness(distance="hierarchical", reference="original"),
    ]
    got = values_of(case, chosen)
    for c in range(len(case.blocks)):
        released, _ = case.release(c)
        if len(released):
            result = audit(
                released,
                quasi_identifiers=table.qi_names,
                sensitive="ill",
                hierarchies={"ill": need(table.sensitive["ill"].hierarchy).rows()},
                original=frame["ill"],
                missing=table.missing,
            )
            for m in chosen:
                same(got, c, m, result.measure(m.name, **m.parameters))


@settings(max_examples=60)
@given(cases())
def test_utility_equals_the_audit(case: Case) -> None:
    table = case.table
    named = {k: m for k, m in UTILITY.items() if k != "classification" or table.target is not None}
    got = values_of(case, list(named.values()))
    for c in range(len(case.blocks)):
        frame, rows = case.release(c)
        if not len(frame):
            for m in named.values():
                assert got[repr(m)][c] == m.worst(table) or m.stage == "before"
            continue
        result = utility(
            table.frame,
            frame,
            meanings=case.meanings(c),
            hierarchy_sizes={qi.name: qi.n_leaves for qi in table.qis},
            rows=rows,
            weights={qi.name: qi.weight for qi in table.qis},
            levels=case.levels(c),
            target=table.target_name,
            local=False,
        )
        for name, m in named.items():
            same(got, c, m, result[name])


@settings(max_examples=60)
@given(cases(missing=False))
def test_information_loss_row_by_row(case: Case) -> None:
    table = case.table
    rng = np.random.default_rng(table.n_records)
    labels = rng.integers(0, 3, (2, table.n_tuples)).astype(np.int32)
    engine = Engine(table, suppression=case.policy, needs=case.needs, threads=1)
    _, after = engine.groups(Candidates(labels=labels))
    for c in range(2):
        kept = after[c].labels[table.row_tuple] >= 0
        for m in CLUSTERS:
            scaled = m.parameters["scale"] == "standard"
            expected = slow_information_loss(table, labels[c][table.row_tuple], kept, scaled)
            assert close(m(after[c]), expected)


def slow_information_loss(table: pm.Table, cluster: Any, kept: Any, scaled: bool) -> float:
    lost = total = 0.0
    for j, qi in enumerate(table.qis):
        codes = table.tuples[table.row_tuple, j].astype(int)
        for row in range(table.n_records):
            mates = np.flatnonzero(kept & (cluster == cluster[row]))
            if qi.numbers is not None:
                x = qi.numbers[codes]
                unit = x.std() if scaled and x.std() > 0 else 1.0
                own = ((x[row] - x.mean()) / unit) ** 2
                shown = ((x[row] - x[mates].mean()) / unit) ** 2 if kept[row] else own
            else:
                own = float(codes[row] != np.bincount(codes).argmax())
                shown = (
                    float(codes[row] != np.bincount(codes[mates]).argmax()) if kept[row] else own
                )
            lost += shown
            total += own
    if not kept.any():
        return 1.0
    return lost / total if total else 0.0
