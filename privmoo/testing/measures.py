"""The conformance suite of measures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.columns import QuasiIdentifier
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.evaluation.engine import Engine
from privmoo.groups.groups import GroupBatch, Segments
from privmoo.hierarchy import Hierarchy
from privmoo.measures.base import Measure
from privmoo.measures.function_measure import FunctionMeasure
from privmoo.recodings.candidates import Candidates, leaf_blocks
from privmoo.suppression import BelowThreshold, Budget, NoSuppression, Suppression

__all__ = ["check_measure", "evaluate", "example_table", "random_blocks", "random_labels"]

_KNOWN_NEEDS = {"sizes", "loss", "counts", "target", "labels", "blocks"}
_TOLERANCE = 1e-9
Values = NDArray[np.float64]


def check_measure(measure: Measure, table: Table | None = None, *, seed: int = 0) -> None:
    """Raise an AssertionError with one sentence where a measure does not keep to the protocol.

    It must declare itself; give one finite value within its range per candidate, the same again,
    alone and in a chunk, for any order of the records and of the groups; give its worst value where
    nothing is released; get better or worse under merging if it says so (`coarser`); and be what its
    class makes of its `parameters`. Candidates are random cuts and levels, or clusters if the measure
    refuses generalised values, under several suppression policies.

    Args:
        measure: The measure.
        table: Records to try it on; `example_table()` by default.
        seed: For the random candidates.

    >>> from privmoo.measures import KAnonymity
    >>> check_measure(KAnonymity())
    """
    table = example_table() if table is None else table
    rng = np.random.default_rng(seed)
    _check_declaration(measure, table)
    measure.check(table)
    chunk = Candidates(blocks=random_blocks(table, 12, rng))
    try:
        evaluate(measure, table, chunk)
    except MeasureError:
        chunk = Candidates(labels=random_labels(table, 12, rng))
    for policy in (NoSuppression(), BelowThreshold(2), Budget(0.2)):
        _check_values(measure, table, chunk, policy, rng)
    _check_empty(measure, table, chunk)
    _check_row_order(measure, table, chunk, rng)
    _check_coarser(measure, table, chunk, rng)
    _check_parameters(measure, table, chunk)


def evaluate(
    measure: Measure,
    table: Table,
    candidates: Candidates,
    suppression: Suppression | None = None,
) -> Values:
    """A measure of every candidate, at its own stage.

    >>> from privmoo.measures import KAnonymity
    >>> table = Table(pd.DataFrame({"a": [1, 2, 2]}), quasi_identifiers=["a"])
    >>> evaluate(KAnonymity(), table, Candidates(blocks=np.array([[0, 1], [0, 0]], np.uint32)))
    array([1., 3.])
    """
    return measure.values(_groups(measure, table, candidates, suppression))


def example_table(n_records: int = 60, *, seed: int = 1) -> Table:
    """A small table with all roles: an order, a tree and a flat quasi-identifier, missing values.

    >>> example_table().qi_names
    ['age', 'job', 'sex']
    """
    rng = np.random.default_rng(seed)
    illness = np.array(["flu", "cold", "ulcer", "gastritis"])
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 28, n_records),
            "job": rng.choice(["nurse", "doctor", "smith", "baker"], n_records),
            "sex": pd.Series(rng.choice(["f", "m"], n_records)).where(rng.random(n_records) > 0.1),
            "illness": illness[rng.choice(4, n_records, p=[0.4, 0.3, 0.2, 0.1])],
            "region": rng.choice(["north", "south", "west"], n_records),
            "pay": rng.choice(["high", "low"], n_records),
        }
    )
    frame.loc[:1, "illness"] = illness[:2]  # at least two values, however few the records
    jobs = Hierarchy.tree({"health": ["nurse", "doctor"], "craft": ["smith", "baker"]})
    illnesses = Hierarchy.tree({"lung": ["flu", "cold"], "stomach": ["ulcer", "gastritis"]})
    return Table(
        frame,
        quasi_identifiers={
            "age": Hierarchy.ordered(range(20, 28)),
            "job": QuasiIdentifier(hierarchy=jobs, weight=2.0),
            "sex": Hierarchy.flat(),
        },
        sensitive={"illness": illnesses, "region": Hierarchy.flat()},
        target="pay",
    )


def random_blocks(table: Table, n: int, rng: np.random.Generator) -> NDArray[np.uint32]:
    """Random valid recodings as blocks of leaves: untouched, all merged, levels and cuts.

    >>> table = Table(pd.DataFrame({"a": [1, 2, 3]}), quasi_identifiers={"a": Hierarchy.ordered()})
    >>> random_blocks(table, 2, np.random.default_rng(0)).tolist()
    [[0, 1, 2], [0, 0, 0]]
    """
    rows = []
    for i in range(n):
        columns = []
        for qi in table.qis:
            hierarchy = qi.hierarchy or Hierarchy.flat(qi.leaves)
            level = {0: 0, 1: hierarchy.height}.get(i, int(rng.integers(hierarchy.n_levels)))
            if hierarchy.constrained or i < 2:
                columns.append(hierarchy.level_blocks[level])
            else:
                bits = rng.random(qi.n_leaves - 1) < rng.random()
                columns.append(np.concatenate([[0], np.cumsum(bits)]))
        rows.append(np.concatenate(columns))
    return leaf_blocks([np.stack(rows)])


def random_labels(table: Table, n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Random clusters of the distinct tuples: each alone, all in one, then a few at random.

    >>> table = Table(pd.DataFrame({"a": [1, 2, 3]}), quasi_identifiers=["a"])
    >>> random_labels(table, 2, np.random.default_rng(0)).tolist()
    [[0, 1, 2], [0, 0, 0]]
    """
    rows = [np.arange(table.n_tuples), np.zeros(table.n_tuples, np.int64)]
    rows += [rng.integers(1 + rng.integers(table.n_tuples), size=table.n_tuples) for _ in range(n)]
    return np.stack(rows[:n]).astype(np.int32)


def _groups(
    measure: Measure, table: Table, candidates: Candidates, suppression: Suppression | None = None
) -> GroupBatch:
    engine = Engine(table, suppression=suppression, needs=measure.needs, threads=1)
    before, after = engine.groups(candidates)
    return before if measure.stage == "before" else after


def _check_declaration(measure: Measure, table: Table) -> None:
    _must(isinstance(measure, Measure), f"{measure!r} is no privmoo.Measure")
    who = repr(measure)
    _must(isinstance(measure.name, str) and measure.name, f"{who} has no name")
    _must(measure.sense in ("min", "max"), f"{who}: sense is {measure.sense!r}")
    _must(measure.stage in ("before", "after"), f"{who}: stage is {measure.stage!r}")
    unknown = set(measure.needs) - _KNOWN_NEEDS
    _must(not unknown, f"{who} needs {sorted(unknown)}, known are {sorted(_KNOWN_NEEDS)}")
    _must(measure.coarser in (None, "better", "worse"), f"{who}: coarser is {measure.coarser!r}")
    _must(
        not (measure.audited and measure.stage == "before"),
        f"{who} is audited, but groups before suppression cannot be seen in a release",
    )
    low, high = measure.range(table)
    _must(math.isfinite(low) and math.isfinite(high), f"{who}: range {low}, {high} is infinite")
    _must(low <= high, f"{who}: its range begins at {low}, above its end {high}")


def _check_values(
    measure: Measure,
    table: Table,
    chunk: Candidates,
    policy: Suppression,
    rng: np.random.Generator,
) -> None:
    who = repr(measure)
    groups = _groups(measure, table, chunk, policy)
    values = measure.values(groups)
    _must(np.isfinite(values).all(), f"{who} is not finite for every candidate")
    low, high = measure.range(table)
    slack = _TOLERANCE * max(abs(low), abs(high), 1.0)
    outside = values[(values < low - slack) | (values > high + slack)]
    _must(not len(outside), f"{who} is {outside[:1]}, outside its range {low} … {high}")
    _must(
        np.array_equal(values, measure.values(groups)), f"{who} gives other values the second time"
    )
    for c in range(len(groups)):
        alone = evaluate(measure, table, chunk[c : c + 1], policy)
        _must(
            np.array_equal(alone, values[c : c + 1]),
            f"{who} is {alone[0]} for a candidate alone and {values[c]} for it in a chunk",
        )
    moved = measure.values(_shuffled(groups, rng))
    _must(_close(moved, values), f"{who} depends on the order of the groups")


def _check_empty(measure: Measure, table: Table, chunk: Candidates) -> None:
    if measure.stage == "before":
        return
    values = evaluate(measure, table, chunk, BelowThreshold(table.n_records + 1))
    _must(
        (values == measure.worst(table)).all(),
        f"{measure!r} is {values[0]} where nothing is released, not its worst value",
    )


def _check_row_order(
    measure: Measure, table: Table, chunk: Candidates, rng: np.random.Generator
) -> None:
    frame = table.frame.iloc[rng.permutation(table.n_records)]
    again = Table(
        frame,
        quasi_identifiers={
            qi.name: QuasiIdentifier(hierarchy=qi.hierarchy, weight=qi.weight) for qi in table.qis
        },
        sensitive={name: attribute.hierarchy for name, attribute in table.sensitive.items()},
        target=table.target_name,
        subject=table.subject_name,
    )
    policy = BelowThreshold(2)
    _must(
        _close(evaluate(measure, again, chunk, policy), evaluate(measure, table, chunk, policy)),
        f"{measure!r} depends on the order of the records",
    )


def _check_coarser(
    measure: Measure, table: Table, chunk: Candidates, rng: np.random.Generator
) -> None:
    if measure.coarser is None:
        return
    fine = evaluate(measure, table, chunk)
    merged = evaluate(measure, table, _merged(table, chunk, rng))
    rises = (measure.coarser == "better") == (measure.sense == "max")
    gain = merged - fine if rises else fine - merged
    worst = int(gain.argmin())
    _must(
        (gain >= -_TOLERANCE * np.maximum(np.abs(fine), 1.0)).all(),
        f"{measure!r} says that merging groups makes it {measure.coarser}, but a candidate went "
        f"from {fine[worst]} to {merged[worst]}",
    )


def _check_parameters(measure: Measure, table: Table, chunk: Candidates) -> None:
    if isinstance(measure, FunctionMeasure):
        return
    made: Measure = type(measure)(**measure.parameters)
    _must(
        made.stage == measure.stage and made.name == measure.name,
        f"{measure!r} is not what its class makes of its parameters, {made!r}",
    )
    _must(
        np.array_equal(evaluate(made, table, chunk), evaluate(measure, table, chunk)),
        f"{measure!r} has other values than what its class makes of its parameters",
    )


def _merged(table: Table, chunk: Candidates, rng: np.random.Generator) -> Candidates:
    """Each candidate made coarser: two clusters joined, or one quasi-identifier told no more."""
    if chunk.labels is not None:
        labels = chunk.labels.copy()
        for row in labels:
            one, other = rng.choice(row), rng.choice(row)
            row[row == one] = other
        return Candidates(labels=labels)
    blocks = np.array(chunk.blocks)
    offsets = np.concatenate([[0], np.cumsum([qi.n_leaves for qi in table.qis])])
    for row in blocks:
        j = int(rng.integers(table.n_qis))
        row[offsets[j] : offsets[j + 1]] = 0
    return Candidates(blocks=blocks)


def _shuffled(groups: GroupBatch, rng: np.random.Generator) -> GroupBatch:
    """The same groups in another order; suppressed groups stay behind the others."""
    order = np.arange(len(groups.records))
    labels = None if groups.labels is None else groups.labels.copy()
    for c, (low, high) in enumerate(zip(groups.starts, groups.stops, strict=True)):
        moves = rng.permutation(high - low)
        order[low:high] = low + moves
        if labels is not None:
            places = np.arange(groups.table.n_tuples + 1)
            places[moves] = np.arange(high - low)
            labels[c] = places[labels[c]]
    segments = {
        name: Segments(s.starts[order], s.stops[order], s.values, s.counts)
        for name, s in groups.segments.items()
    }
    arrays: dict[str, Any] = {
        name: getattr(groups, name)[order] for name in ("sizes", "records", "losses", "firsts")
    }
    return replace(groups, segments=segments, labels=labels, **arrays)


def _must(holds: object, sentence: str) -> None:
    """Like assert, also where Python was told to leave those out."""
    if not holds:
        raise AssertionError(sentence)


def _close(a: Values, b: Values) -> bool:
    return bool(np.allclose(a, b, rtol=_TOLERANCE, atol=1e-12))
