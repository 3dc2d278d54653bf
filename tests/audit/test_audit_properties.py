"""Every privacy and risk measure of the audit against a slow version that goes row by row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from privmoo.audit import audit

Rows = list[tuple[int | None, ...]]
# three levels over the values 0..5 and a branch that merges early
TREE: dict[Any, tuple[str, str, str]] = {
    0: ("0", "low", "*"),
    1: ("1", "low", "*"),
    2: ("2", "low", "*"),
    3: ("3", "high", "*"),
    4: ("4", "high", "*"),
    5: ("5", "alone", "*"),
}
MISSING_PATH = ("missing", "missing", "*")


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(1, 24))
    qi = st.sampled_from([0, 1, 2, None])
    sensitive = st.sampled_from([0, 1, 2, 3, 4, 5, None])
    row = st.tuples(qi, qi, sensitive, sensitive)
    rows = draw(st.lists(row, min_size=n, max_size=n))
    return pd.DataFrame(rows, columns=["a", "b", "s", "u"], dtype=object)


def key(value: Any) -> Any:
    return None if pd.isna(value) else value


def groups_of(df: pd.DataFrame, name: str) -> list[list[object]]:
    """The values of one attribute, group by group, in order of appearance."""
    groups: dict[tuple[object, object], list[object]] = {}
    for a, b, value in zip(df["a"], df["b"], df[name], strict=True):
        groups.setdefault((key(a), key(b)), []).append(key(value))
    return list(groups.values())


def worst_groups(df: pd.DataFrame, name: str, missing: str) -> list[list[object]]:
    """The groups, with the most frequent value of each in place of its unknown ones."""
    groups = groups_of(df, name)
    if missing == "value":
        return groups
    result = []
    for group in groups:
        known = [value for value in group if value is not None] or [None]
        most_frequent = Counter(known).most_common(1)[0][0]
        result.append([most_frequent if value is None else value for value in group])
    return result


def present(values: Sequence[object], missing: str) -> list[object]:
    """The values that count in comparisons."""
    return [value for value in values if value is not None or missing == "value"]


def shares(values: Sequence[object]) -> dict[object, float]:
    return {value: count / len(values) for value, count in Counter(values).items()}


def in_order(values: set[object]) -> list[object]:
    return sorted(values, key=lambda v: (v is None, v or 0))


def slow_t_equal(group: Sequence[object], table: Sequence[object]) -> float:
    p, q = shares(group), shares(table)
    return sum(abs(p.get(v, 0) - q[v]) for v in q) / 2


def slow_t_ordered(group: Sequence[object], table: Sequence[object]) -> float:
    p, q = shares(group), shares(table)
    order = in_order(set(q))
    if len(order) == 1:
        return 0.0
    moved = total = 0.0
    for value in order:
        moved += p.get(value, 0) - q[value]
        total += abs(moved)
    return total / (len(order) - 1)


def slow_t_hierarchical(group: Sequence[object], table: Sequence[object]) -> float:
    """As Li et al. 2007 define it: node by node, cost λ/H · min(positive, negative extra)."""
    p, q = shares(group), shares(table)
    path = {v: MISSING_PATH if v is None else TREE[v] for v in q}
    extra = {path[v][0]: p.get(v, 0) - q[v] for v in q}
    cost = 0.0
    for level in (1, 2):
        children: dict[str, set[str]] = {}
        for labels in path.values():
            children.setdefault(labels[level], set()).add(labels[level - 1])
        for below in children.values():
            positive = sum(extra[c] for c in below if extra[c] > 0)
            negative = -sum(extra[c] for c in below if extra[c] < 0)
            cost += level / 2 * min(positive, negative)
        extra = {node: sum(extra[c] for c in below) for node, below in children.items()}
    return cost


def slow_recursive(group: Sequence[object], c: float) -> int:
    counts = sorted(Counter(group).values(), reverse=True)
    best = 0
    for length in range(1, len(counts) + 1):
        if counts[0] < c * sum(counts[length - 1 :]):
            best = length
    return best


def slow_entropy(group: Sequence[object]) -> float:
    return -sum(p * math.log(p) for p in shares(group).values())


def slow_gains(groups: list[list[object]], table: Sequence[object]) -> list[tuple[float, float]]:
    """(gain, bound of the enhanced model) of every value present in a group."""
    q = shares(table)
    return [((p - q[v]) / q[v], -math.log(q[v])) for g in groups for v, p in shares(g).items()]


@given(tables())
def test_sizes(df: pd.DataFrame) -> None:
    sizes = [len(group) for group in groups_of(df, "s")]
    n = len(df)
    result = audit(df, quasi_identifiers=["a", "b"], sampling_fraction=0.25)
    assert result.k == min(sizes)
    assert result.weighted_k == pytest.approx(sum(size * size for size in sizes) / n)
    assert result.average_k == n / len(sizes)
    assert result.measure("prosecutor_risk") == 1 / min(sizes)
    per_record = [1 / size for size in sizes for _ in range(size)]
    average = sum(per_record) / n
    assert result.measure("prosecutor_risk", statistic="average") == pytest.approx(average)
    assert result.measure("journalist_risk") == pytest.approx(max(per_record) / 4)
    assert result.measure("journalist_risk", statistic="average") == pytest.approx(average / 4)
    assert result.measure("marketer_risk") == pytest.approx(average / 4)
    assert result.uniqueness == sum(risk == 1 for risk in per_record) / n
    for tau in (0.1, 0.2, 0.25, 1 / 3, 0.5, 1.0):
        at_risk = sum(risk > tau for risk in per_record)
        assert result.measure("at_risk", tau=tau, count=True) == at_risk
        assert result.measure("at_risk", tau=tau) == at_risk / n


@given(tables(), st.data())
def test_population(df: pd.DataFrame, data: st.DataObject) -> None:
    more = data.draw(tables())
    population = pd.concat([df, more], ignore_index=True)
    result = audit(df, quasi_identifiers=["a", "b"], population=population)

    def like(table: pd.DataFrame, a: object, b: object) -> int:
        pairs = zip(table["a"], table["b"], strict=True)
        return sum((key(x), key(y)) == (key(a), key(b)) for x, y in pairs)

    matches = [like(population, a, b) for a, b in zip(df["a"], df["b"], strict=True)]
    assert result.measure("journalist_risk") == pytest.approx(1 / min(matches))
    mean = sum(1 / match for match in matches) / len(df)
    assert result.measure("marketer_risk") == pytest.approx(mean)
    classes = {(key(a), key(b)) for a, b in zip(df["a"], df["b"], strict=True)}
    ratio = len(classes) / sum(like(population, a, b) for a, b in classes)
    average = result.measure("journalist_risk", statistic="average")
    assert average == pytest.approx(max(mean, ratio))


@given(tables())
def test_persons(df: pd.DataFrame) -> None:
    result = audit(df, quasi_identifiers=["a", "b"], subject="u")
    assert result.k == min(len(set(group)) for group in groups_of(df, "u"))


MISSING = st.sampled_from(["unknown", "value"])


@given(tables(), st.sampled_from([0.5, 1, 1.5, 2, 3, 10]), MISSING)
def test_diversity(df: pd.DataFrame, c: float, missing: str) -> None:
    result = audit(df, quasi_identifiers=["a", "b"], sensitive=["s", "u"], missing=missing)
    both = [worst_groups(df, "s", missing), worst_groups(df, "u", missing)]
    every = [group for groups in both for group in groups]
    assert result.distinct_l == min(len(set(group)) for group in every)
    assert result.measure("p") == result.distinct_l
    assert result.entropy_l == pytest.approx(math.exp(min(map(slow_entropy, every))))
    assert result.l == min(len(g) / max(Counter(g).values()) for g in every)
    assert result.measure("alpha") == max(max(shares(g).values()) for g in every)
    assert result.measure("recursive_l", c=c) == min(slow_recursive(g, c) for g in every)
    bits = sum(min(map(slow_entropy, groups)) for groups in both) / math.log(2)
    assert result.measure("min_entropy") == pytest.approx(bits, abs=1e-12)
    single = [len(s) * (1 in (len(set(s)), len(set(u)))) for s, u in zip(*both, strict=True)]
    assert result.measure("homogeneity", count=True) == sum(single)
    assert result.measure("homogeneity") == sum(single) / len(df)


@given(tables(), st.integers(2, 6))
def test_no_values_behind_the_missing_ones_are_worse(df: pd.DataFrame, seed: int) -> None:
    claimed = audit(df, quasi_identifiers=["a", "b"], sensitive=["s", "u"])
    rng = np.random.default_rng(seed)
    for _ in range(3):
        filled = df.copy()
        for name in ("s", "u"):
            values = rng.integers(0, 6, len(df)).astype(object)
            filled[name] = filled[name].where(filled[name].notna(), pd.Series(values))
        truth = audit(filled, quasi_identifiers=["a", "b"], sensitive=["s", "u"])
        for name in ("distinct_l", "entropy_l", "l", "weighted_l", "min_entropy"):
            assert claimed.measure(name) <= truth.measure(name) + 1e-12
        assert claimed.measure("recursive_l", c=2) <= truth.measure("recursive_l", c=2)
        assert claimed.measure("alpha") >= truth.measure("alpha")
        assert claimed.measure("homogeneity") >= truth.measure("homogeneity")


@given(tables(), st.sampled_from(["released", "original"]), st.integers(0, 10), MISSING)
def test_closeness(df: pd.DataFrame, reference: str, suppressed: int, missing: str) -> None:
    assume(suppressed < len(df))
    released = df.iloc[suppressed:]
    rows = [list(TREE[v]) for v in (0, 1, 2, 3, 4, 5)]
    result = audit(
        released,
        quasi_identifiers=["a", "b"],
        sensitive=["s"],
        hierarchies={"s": rows},
        original=df["s"],
        missing=missing,
    )
    table = present([key(v) for v in (released if reference == "released" else df)["s"]], missing)
    groups = [g for g in (present(g, missing) for g in groups_of(released, "s")) if g]
    slow = {
        "equal": slow_t_equal,
        "ordered": slow_t_ordered,
        "hierarchical": slow_t_hierarchical,
    }
    for distance, function in slow.items():
        value = result.measure("t", distance=distance, reference=reference)
        assert value == pytest.approx(
            max((function(g, table) for g in groups), default=0), abs=1e-12
        )
    gains = slow_gains(groups, table)
    basic = max([0.0, *(gain for gain, _ in gains)])
    assert result.measure("beta", reference=reference) == pytest.approx(basic)
    close = any(abs(gain - bound) < 1e-9 for gain, bound in gains)
    if not close:
        held = all(gain <= bound for gain, bound in gains)
        enhanced = basic if held else len(table) - 1
        value = result.measure("beta", enhanced=True, reference=reference)
        assert value == pytest.approx(enhanced)
    logs = [abs(math.log2(gain + 1)) for gain, _ in gains]
    assert result.measure("delta", reference=reference) == pytest.approx(
        max(logs, default=0), abs=1e-12
    )


@given(tables(), st.sampled_from([0.5, 1, 1.5, 2, 3, 6]), st.integers(0, 2), MISSING)
def test_skewness_and_similarity(df: pd.DataFrame, factor: float, level: int, missing: str) -> None:
    rows = [list(path) for path in TREE.values()]
    result = audit(
        df,
        quasi_identifiers=["a", "b"],
        sensitive=["s", "u"],
        hierarchies={"s": rows, "u": rows},
        missing=missing,
    )
    skewed, similar = [], []
    for name in ("s", "u"):
        table = Counter(present([key(v) for v in df[name]], missing))
        n = sum(table.values())
        hit = alike = 0
        for group in groups_of(df, name):
            known = present(group, missing)
            gains = [(c * n) / (len(known) * table[v]) for v, c in Counter(known).items()]
            hit += len(group) * (max(gains, default=0) > factor)
        for group in worst_groups(df, name, missing):
            nodes = {(MISSING_PATH if v is None else TREE[v])[level] for v in group}
            alike += len(group) * (len(nodes) == 1)
        skewed.append(hit / len(df))
        similar.append(alike / len(df))
    assert result.measure("skewness", factor=factor) == max(skewed)
    assert result.measure("similarity", level=level) == max(similar)


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_does_not_matter(df: pd.DataFrame, random: object) -> None:
    order = list(range(len(df)))
    random.shuffle(order)  # type: ignore[attr-defined]
    first = audit(df, quasi_identifiers=["a", "b"], sensitive=["s"]).to_frame()
    shuffled = df.iloc[order][["u", "s", "b", "a"]]
    second = audit(shuffled, quasi_identifiers=["b", "a"], sensitive=["s"]).to_frame()
    assert first["measure"].tolist() == second["measure"].tolist()
    np.testing.assert_allclose(first["value"], second["value"], rtol=1e-12, atol=1e-12)


@given(tables())
def test_types_do_not_matter(df: pd.DataFrame) -> None:
    def look(table: pd.DataFrame) -> list[float]:
        return (
            audit(table, quasi_identifiers=["a", "b"], sensitive=["s"]).to_frame()["value"].tolist()
        )

    plain = look(df)
    assert look(df.astype("Int64")) == pytest.approx(plain)
    assert look(df.astype("float64")) == pytest.approx(plain)
    assert look(df.astype("category")) == pytest.approx(plain)
