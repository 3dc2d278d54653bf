"""The conformance suite of measures."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privmoo.data.columns import QuasiIdentifier
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.measures.base import NEEDS, Measure
from privmoo.measures.function_measure import FunctionMeasure
from privmoo.recodings.candidates import Candidates
from privmoo.suppression import BelowThreshold, Budget, NoSuppression, Suppression
from privmoo.testing.candidates import (
    evaluate,
    groups_of,
    random_blocks,
    random_labels,
    shuffled,
)
from privmoo.testing.tables import example_table

__all__ = ["check_measure"]

_TOLERANCE = 1e-9
Values = NDArray[np.float64]


def check_measure(measure: Measure, table: Table | None = None, *, seed: int = 0) -> None:
    """Raise an AssertionError with one sentence if a measure violates the protocol.

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


def _check_declaration(measure: Measure, table: Table) -> None:
    _must(isinstance(measure, Measure), f"{measure!r} is not a privmoo.Measure")
    who = repr(measure)
    _must(isinstance(measure.name, str) and measure.name, f"{who} has no name")
    _must(measure.sense in ("min", "max"), f"{who}: sense is {measure.sense!r}")
    _must(measure.stage in ("before", "after"), f"{who}: stage is {measure.stage!r}")
    unknown = set(measure.needs) - NEEDS
    _must(not unknown, f"{who} needs {sorted(unknown)}, known are {sorted(NEEDS)}")
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
    groups = groups_of(measure, table, chunk, policy)
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
    moved = measure.values(shuffled(groups, rng))
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
    rebuilt: Measure = type(measure)(**measure.parameters)
    _must(
        rebuilt.stage == measure.stage and rebuilt.name == measure.name,
        f"{measure!r} is not what its class makes of its parameters, {rebuilt!r}",
    )
    _must(
        np.array_equal(evaluate(rebuilt, table, chunk), evaluate(measure, table, chunk)),
        f"{measure!r} has other values than what its class makes of its parameters",
    )


def _merged(table: Table, chunk: Candidates, rng: np.random.Generator) -> Candidates:
    """Make each candidate coarser: join two clusters, or suppress one quasi-identifier fully."""
    if chunk.labels is not None:
        labels = chunk.labels.copy()
        for row in labels:
            row[row == rng.choice(row)] = rng.choice(row)
        return Candidates(labels=labels)
    blocks = np.array(chunk.blocks)
    offsets = np.concatenate([[0], np.cumsum([qi.n_leaves for qi in table.qis])])
    for row in blocks:
        j = int(rng.integers(table.n_qis))
        row[offsets[j] : offsets[j + 1]] = 0
    return Candidates(blocks=blocks)


def _must(holds: object, sentence: str) -> None:
    """Raise an AssertionError, also where Python leaves out assert statements."""
    if not holds:
        raise AssertionError(sentence)


def _close(a: Values, b: Values) -> bool:
    return bool(np.allclose(a, b, rtol=_TOLERANCE, atol=1e-12))
