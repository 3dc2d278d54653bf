"""Utility as the audit recomputes it, against slow versions and hand-worked examples."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privmoo.audit import check_covers, information_loss, utility
from privmoo.errors import AuditError, PrivmooError

# column → partitions of its leaves, and the hierarchy's size (one leaf of b is never observed)
LEAVES = {"a": ["0", "1", "2", "3"], "b": ["x", "y", "z"]}
CUTS = {
    "a": [[["0"], ["1"], ["2"], ["3"]], [["0", "1"], ["2", "3"]], [["0"], ["1", "2", "3"]]],
    "b": [[["x"], ["y"], ["z"]], [["x", "y"], ["z"]], [["x", "y", "z"]]],
}
SIZES = {"a": 4, "b": 3}


def label(block: list[str]) -> str:
    return "{" + ", ".join(block) + "}" if len(block) > 1 else block[0]


@st.composite
def releases(draw: st.DrawFn) -> tuple[pd.DataFrame, pd.DataFrame, list[int], dict[str, Any]]:
    n = draw(st.integers(1, 20))
    row = st.tuples(st.integers(0, 3), st.sampled_from(["x", "y"]), st.sampled_from([0, 1]))
    original = pd.DataFrame(
        draw(st.lists(row, min_size=n, max_size=n)), columns=["a", "b", "target"]
    )
    rows = draw(st.permutations(range(n)))[: draw(st.integers(1, n))]
    cut = {name: draw(st.sampled_from(CUTS[name])) for name in CUTS}
    meanings = {name: {label(block): block for block in cut[name]} for name in CUTS}
    released = original.iloc[rows].reset_index(drop=True)
    for name, blocks in cut.items():
        where = {leaf: label(block) for block in blocks for leaf in block}
        released[name] = [where[str(value)] for value in released[name]]
    return original, released, rows, meanings


@given(releases())
def test_utility_row_by_row(
    case: tuple[pd.DataFrame, pd.DataFrame, list[int], dict[str, Any]],
) -> None:
    original, released, rows, meanings = case
    levels = {
        name: {text: (len(block) - 1) / 3 for text, block in meanings[name].items()}
        for name in meanings
    }
    weights = {"a": 3.0}
    got = utility(
        original,
        released,
        meanings=meanings,
        hierarchy_sizes=SIZES,
        rows=rows,
        weights=weights,
        levels=levels,
        target="target",
    )
    n, kept = len(original), len(released)
    gone = n - kept

    def label_of(name: str, value: object) -> str:
        labels: dict[str, list[str]] = meanings[name]
        return next(text for text, block in labels.items() if str(value) in block)

    def block(name: str, text: str) -> int:
        return len(meanings[name][text])

    gl = {c: sum((block(c, x) - 1) / (SIZES[c] - 1) for x in released[c]) / n for c in SIZES}
    w = {"a": 3 / 4, "b": 1 / 4}
    assert got["generalization_loss"] == pytest.approx(sum(w[c] * gl[c] for c in SIZES))
    assert got["suppression"] == gone / n
    assert got["loss"] == pytest.approx(sum(w[c] * gl[c] for c in SIZES) + gone / n)
    geometric = math.prod((1 + gl[c] + gone / n) ** w[c] for c in SIZES) - 1
    assert got["loss_geometric"] == pytest.approx(geometric, abs=1e-12)

    sizes = Counter(zip(released["a"], released["b"], strict=True))
    assert got["discernibility"] == sum(s * s for s in sizes.values()) + gone * n
    before = Counter(
        (label_of("a", a), label_of("b", b))
        for a, b in zip(original["a"], original["b"], strict=True)
    )
    assert got["discernibility_star"] == sum(s * s for s in before.values())
    assert got["aecs"] == n / (len(sizes) + (1 if gone else 0))
    cells = [(block("a", a), block("b", b)) for a, b in zip(released.a, released.b, strict=True)]
    assert got["transparency"] == pytest.approx(sum(1 / a + 1 / b for a, b in cells))
    assert got["ambiguity"] == sum(a * b for a, b in cells) + gone * 12

    bits = 0.0
    suppressed = [i for i in range(n) if i not in rows]
    for name in SIZES:
        values = [str(v) for v in original[name]]
        labels = [label_of(name, v) for v in original[name]]
        for value, text in zip(values, labels, strict=True):
            bits -= math.log2(values.count(value) / labels.count(text))
        among = [labels[i] for i in suppressed]
        for text in among:
            bits -= math.log2(among.count(text) / len(among))
    assert got["nonuniform_entropy"] == pytest.approx(bits, abs=1e-9)

    height = {c: (sum(levels[c][x] for x in released[c]) + gone) / n for c in SIZES}
    assert got["precision"] == pytest.approx(sum(w[c] * height[c] for c in SIZES))
    assert got["distortion"] == pytest.approx(3 * height["a"] + height["b"])

    wrong = 0
    for group in sizes:
        inside = released[(released["a"] == group[0]) & (released["b"] == group[1])]
        wrong += len(inside) - max(Counter(inside["target"]).values())
    assert got["classification"] == pytest.approx((wrong + gone) / n)


@given(releases())
def test_local_recoding_charges_suppression_whole(case: tuple[Any, ...]) -> None:
    original, released, rows, meanings = case
    got = utility(
        original, released, meanings=meanings, hierarchy_sizes=SIZES, rows=rows, local=True
    )
    n = len(original)
    bits = 0.0
    for name in SIZES:
        values = [str(v) for v in original[name]]
        for position, text in zip(rows, released[name], strict=True):
            covered = sum(values.count(leaf) for leaf in meanings[name][text])
            bits -= math.log2(values.count(values[position]) / covered)
        for position in set(range(n)) - set(rows):
            bits -= math.log2(values.count(values[position]) / n)
    assert got["nonuniform_entropy"] == pytest.approx(bits, abs=1e-9)
    assert (got["discernibility_star"] is None) == (len(released) < n)


@given(releases(), st.data())
def test_covers_finds_every_wrong_label(case: tuple[Any, ...], data: st.DataObject) -> None:
    original, released, rows, meanings = case
    check_covers(original, released, meanings, rows)
    name = data.draw(st.sampled_from(["a", "b"]))
    row = data.draw(st.integers(0, len(released) - 1))
    others = [text for text in meanings[name] if text != released[name][row]]
    if others:
        bad = released.copy()
        bad.loc[row, name] = data.draw(st.sampled_from(others))
        with pytest.raises(AuditError, match=f"column '{name}': the label of released row {row} "):
            check_covers(original, bad, meanings, rows)
        with pytest.raises(AuditError, match="does not cover"):
            utility(original, bad, meanings=meanings, hierarchy_sizes=SIZES, rows=rows)


def small() -> tuple[pd.DataFrame, dict[str, Any]]:
    original = pd.DataFrame({"a": [0, 1, 2, 2]})
    return original, {"a": {"0": ["0"], "1": ["1"], "{2, 3}": ["2", "3"], "*": list("0123")}}


def test_untouched_table_has_no_loss() -> None:
    original = pd.DataFrame({"a": [0, 1, 2, None]})
    meanings = {"a": {x: [x] for x in ("0", "1", "2", "missing")}}
    got = utility(original, original, meanings=meanings, hierarchy_sizes={"a": 4}, rows=range(4))
    assert (got["loss"], got["loss_geometric"], got["nonuniform_entropy"]) == (0, 0, 0)
    assert (got["transparency"], got["ambiguity"], got["discernibility"]) == (4, 4, 4)


def test_one_leaf_costs_nothing() -> None:
    original = pd.DataFrame({"a": ["x", "x"]})
    got = utility(
        original, original.iloc[:1], meanings={"a": {"x": ["x"]}}, hierarchy_sizes={"a": 1}
    )
    assert got["generalization_loss"] == 0
    assert got["loss"] == 0.5


def test_what_cannot_be_known_is_none() -> None:
    original, meanings = small()
    sizes = {"a": 4}
    half = pd.DataFrame({"a": ["{2, 3}", "{2, 3}"]})
    got = utility(original, half, meanings=meanings, hierarchy_sizes=sizes)
    assert got["nonuniform_entropy"] is None
    assert got["discernibility_star"] == 1 + 1 + 4  # "0" and "1" stand alone, "*" overlaps
    ambiguous = {"a": {**meanings["a"], "{0, 1}": ["0", "1"]}}
    got = utility(original, half, meanings=ambiguous, hierarchy_sizes=sizes, rows=[2, 3])
    assert got["discernibility_star"] is None
    assert got["nonuniform_entropy"] is None
    whole = pd.DataFrame({"a": ["0", "1", "{2, 3}", "{2, 3}"]})
    got = utility(original, whole, meanings=meanings, hierarchy_sizes=sizes)
    assert got["nonuniform_entropy"] == 0
    mixed = pd.DataFrame({"a": ["0", "*", "{2, 3}", "*"]})
    got = utility(original, mixed, meanings=meanings, hierarchy_sizes=sizes, rows=[0, 1, 2, 3])
    assert got["nonuniform_entropy"] == pytest.approx(math.log2(4 / 1) + math.log2(4 / 2))
    assert got["discernibility_star"] == got["discernibility"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"meanings": {}}, "meanings: name at least one"),
        ({"meanings": {"b": {}}}, "original: column 'b' is not in the data"),
        ({"meanings": {"a": {"0": ["0"]}}}, "no set of leaves for the label of released row 1"),
        ({"meanings": {"a": {"0": "0", "1": "1"}}}, "no set of leaves"),
        ({"hierarchy_sizes": {}}, "hierarchy_sizes: column 'a' is missing"),
        ({"hierarchy_sizes": {"a": 1}}, "hierarchy of 1"),
        ({"rows": [0]}, "rows: expected 3 whole numbers"),
        ({"rows": [0.5, 1, 2]}, "rows: expected 3 whole numbers"),
        ({"rows": [0, 1, 9]}, "rows: expected positions from 0 to 3"),
        ({"rows": [0, 1, 1]}, "rows: an original row is named twice"),
        ({"weights": {"b": 1}}, "weights: 'b' is not a quasi-identifier"),
        ({"weights": {"a": -1}}, "weights: must be numbers of at least 0"),
        ({"levels": {"a": {"0": 2}}}, r"levels: column 'a' needs level/height in \[0, 1\]"),
        ({"target": "y"}, "target: column 'y' is not in the data"),
        ({"released": pd.DataFrame({"a": []})}, "no rows to audit: the released table is empty"),
        ({"released": pd.DataFrame({"a": ["0"] * 5})}, "it has 5 rows, more than the original's 4"),
        ({"released": pd.DataFrame([["0", "1"]], columns=["a", "a"])}, "more than once"),
        ({"released": pd.DataFrame({"a": ["*", "0"]}), "local": False}, "not global"),
    ],
)
def test_bad_arguments(change: dict[str, Any], message: str) -> None:
    original, meanings = small()
    arguments = {
        "released": pd.DataFrame({"a": ["0", "1", "{2, 3}"]}),
        "meanings": meanings,
        "hierarchy_sizes": {"a": 4},
        **change,
    }
    with pytest.raises(PrivmooError, match=message):
        utility(original, **arguments)


@given(st.integers(2, 15), st.integers(0, 2**32 - 1), st.booleans())
def test_information_loss(n: int, seed: int, standard: bool) -> None:
    rng = np.random.default_rng(seed)
    original = pd.DataFrame({"x": rng.integers(0, 5, n), "c": rng.choice(["u", "v", "w"], n)})
    rows = rng.permutation(n)[: rng.integers(1, n + 1)]
    released = pd.DataFrame(
        {"x": rng.normal(size=len(rows)), "c": rng.choice(["u", "v", "q"], len(rows))}
    )
    mean = original["x"].mean()
    frequency = Counter(original["c"])
    mode = min(frequency, key=lambda value: (-frequency[value], value))
    unit = original["x"].std(ddof=0) if standard and original["x"].nunique() > 1 else 1.0
    shown: dict[int, Any] = {int(row): released.loc[position] for position, row in enumerate(rows)}
    lost: Any = 0.0
    total: Any = 0.0
    for i in range(n):
        x: Any = original.loc[i, "x"]
        c: Any = original.loc[i, "c"]
        own = ((x - mean) / unit) ** 2 + (c != mode)
        total += own
        if i in shown:
            lost += ((x - shown[i]["x"]) / unit) ** 2 + (c != shown[i]["c"])
        else:
            lost += own
    got = information_loss(
        original,
        released,
        numeric=["x"],
        categorical=["c"],
        rows=rows,
        scale="standard" if standard else "raw",
    )
    assert got == pytest.approx(lost / total if total else 0.0)


def test_information_loss_edges() -> None:
    same = pd.DataFrame({"x": [1.0, 1.0]})
    assert information_loss(same, same, numeric=["x"]) == 0
    with pytest.raises(AuditError, match="scale: expected"):
        information_loss(same, same, numeric=["x"], scale="log")
    with pytest.raises(AuditError, match="released: column 'x' has no finite number in row 1"):
        information_loss(same, pd.DataFrame({"x": [1.0, None]}), numeric=["x"])
    with pytest.raises(AuditError, match="rows: expected 1 whole"):
        information_loss(same, same.iloc[:1], numeric=["x"])
