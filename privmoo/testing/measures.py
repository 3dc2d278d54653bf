"""The conformance suite of measures."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privmoo.audit.formulas import OF_GROUPS, OF_VALUES
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
    shuffle_groups,
)
from privmoo.testing.tables import example_table

__all__ = ["check_measure"]

_TOLERANCE = 1e-9
Values = NDArray[np.float64]


def check_measure(measure: Measure, table: Table | None = None, *, seed: int = 0) -> None:
    """Raise an AssertionError with one sentence if a measure violates the protocol.

    It must declare its name, sense, stage, needs and range. It must give every candidate one finite value
    within its range, which is the same every time, alone and in a chunk, and for any order of the records
    and of the groups. It must give its worst value if nothing is released, and get better or worse under
    merging if it says so (`coarser`). Its class must rebuild it from its `parameters`. Candidates are
    random cuts and levels, or clusters if the measure refuses generalised values, under several
    suppression policies.

    Args:
        measure: The measure.
        table: Records to try it on; `example_table()` by default.
        seed: The seed of the random candidates.

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
    _must(not unknown, f"{who} needs {sorted(unknown)}, but only {sorted(NEEDS)} are known")
    _must(measure.coarser in (None, "better", "worse"), f"{who}: coarser is {measure.coarser!r}")
    _must(
        not (measure.audited and measure.stage == "before"),
        f"{who} is audited, but groups before suppression cannot be seen in a release",
    )
    _must(
        not measure.audited or measure.name in {*OF_GROUPS, *OF_VALUES},
        f"{who} is audited, but the audit has no formula for it; add one with @formula({measure.name!r})",
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
        np.array_equal(values, measure.values(groups)),
        f"{who} gives different values the second time",
    )
    for c in range(len(groups)):
        alone = evaluate(measure, table, chunk[c : c + 1], policy)
        _must(
            np.array_equal(alone, values[c : c + 1]),
            f"{who} is {alone[0]} for a candidate alone and {values[c]} for it in a chunk",
        )
    shuffled_values = measure.values(shuffle_groups(groups, rng))
    _must(_close(shuffled_values, values), f"{who} depends on the order of the groups")


def _check_empty(measure: Measure, table: Table, chunk: Candidates) -> None:
    if measure.stage == "before":
        return
    values = evaluate(measure, table, chunk, BelowThreshold(table.n_records + 1))
    _must(
        (values == measure.worst(table)).all(),
        f"{measure!r} is {values[0]} if nothing is released, not its worst value",
    )


def _check_row_order(
    measure: Measure, table: Table, chunk: Candidates, rng: np.random.Generator
) -> None:
    frame = table.frame.iloc[rng.permutation(table.n_records)]
    repeated_table = Table(
        frame,
        quasi_identifiers={
            qi.name: QuasiIdentifier(hierarchy=qi.hierarchy, weight=qi.weight) for qi in table.qis
        },
        sensitive={name: attribute.hierarchy for name, attribute in table.sensitive.items()},
        target=table.target_name,
        subject=table.subject_name,
        missing=table.missing,
    )
    policy = BelowThreshold(2)
    _must(
        _close(
            evaluate(measure, repeated_table, chunk, policy),
            evaluate(measure, table, chunk, policy),
        ),
        f"{measure!r} depends on the order of the records",
    )


def _check_coarser(
    measure: Measure, table: Table, chunk: Candidates, rng: np.random.Generator
) -> None:
    if measure.coarser is None:
        return
    fine = evaluate(measure, table, chunk)
    merged = evaluate(measure, table, _coarsen(table, chunk, rng))
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
        f"{measure!r} differs from what its class makes of its parameters, {rebuilt!r}",
    )
    _must(
        np.array_equal(evaluate(rebuilt, table, chunk), evaluate(measure, table, chunk)),
        f"{measure!r} has values that differ from those of what its class makes of its parameters",
    )


def _coarsen(table: Table, chunk: Candidates, rng: np.random.Generator) -> Candidates:
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
    """Raise an AssertionError, even if Python skips assert statements."""
    if not holds:
        raise AssertionError(sentence)


def _close(a: Values, b: Values) -> bool:
    return bool(np.allclose(a, b, rtol=_TOLERANCE, atol=1e-12))
