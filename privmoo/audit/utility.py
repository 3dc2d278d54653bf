"""Utility recomputed from the original, the release and the meanings of the released labels."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from privmoo.audit.frame import group_numbers
from privmoo.audit.labels import (
    Column,
    Meanings,
    check_covers,
    labels_before,
    overlap,
    read_columns,
    read_positions,
    require,
)
from privmoo.audit.values import canonical_codes, factorize
from privmoo.errors import AuditError, ColumnError

__all__ = ["class_utility", "information_loss", "utility"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def utility(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    meanings: Meanings,
    hierarchy_sizes: Mapping[Any, int],
    rows: Sequence[int] | IntArray | None = None,
    weights: Mapping[Any, float] | None = None,
    levels: Mapping[Any, Mapping[str, float]] | None = None,
    target: Hashable | None = None,
    local: bool | None = None,
    records: IntArray | None = None,
) -> dict[str, float | None]:
    """Return every utility measure, recomputed without the optimiser and defined as in ARX.

    Args:
        original: The table before anonymization; its quasi-identifiers are the keys of `meanings`.
        released: The release, which has fewer rows if records were suppressed.
        meanings: Per column and released label the leaves that the label stands for.
        hierarchy_sizes: Per column the number of leaves of its hierarchy.
        rows: Per released row the position of its original row.
        weights: Per column its weight in loss, precision and distortion (default 1).
        levels: Per column and label its level divided by the hierarchy's height.
        target: A released column, for the classification metric.
        local: Whether equal values may have different labels; inferred from the labels if None.
        records: How many records every row of the original stands for; needs `rows`. One by default.

    Returns:
        Values by name. What is unknown is None: ``discernibility_star`` (groups before
        suppression) of a local recoding with suppression, ``nonuniform_entropy`` with suppression
        but without `rows`.

    >>> df = pd.DataFrame({"age": [1, 2, 3, 4]})
    >>> out = pd.DataFrame({"age": ["1–2", "1–2", "3"]})
    >>> result = utility(df, out, meanings={"age": {"1–2": ["1", "2"], "3": ["3"], "4": ["4"]}},
    ...                  hierarchy_sizes={"age": 4}, rows=[0, 1, 2])
    >>> round(result["loss"], 4), result["discernibility"], result["aecs"]
    (0.4167, 9.0, 1.3333333333333333)
    """
    columns = read_columns(original, released, meanings, hierarchy_sizes)
    positions = read_positions(rows, original, released)
    if positions is not None:
        check_covers(original, released, meanings, positions)
    if records is not None and positions is None:
        raise AuditError("records: if rows stand for several records, rows= must be given")
    row_records = np.ones(len(original), dtype=np.int64) if records is None else records
    out = np.ones(len(released), dtype=np.int64) if positions is None else row_records[positions]
    n, n_released = int(row_records.sum()), int(out.sum())
    if n_released > n:
        raise AuditError(f"released: it has {n_released} rows, more than the original's {n}")
    n_suppressed = n - n_released
    weight = _weights(columns, weights)
    group = group_numbers(released, [c.name for c in columns])
    sizes = _sums(group, out)

    cost = np.array([(_cost(c) * out).sum() / n for c in columns])
    loss = cost + n_suppressed / n
    blocks = [c.block for c in columns]
    ambiguity = float((np.prod(np.array(blocks, dtype=np.float64), axis=0) * out).sum())
    if n_suppressed:
        ambiguity += n_suppressed * float(np.prod([float(c.domain) for c in columns]))
    overlapping = overlap(columns)
    if overlapping and local is False:
        raise AuditError("local: released labels overlap, so the recoding is not global")
    spread = overlapping if local is None else local
    before = None if spread else labels_before(columns)
    result: dict[str, float | None] = {
        "generalization_loss": float(weight @ cost),
        "suppression": n_suppressed / n,
        "loss": float(weight @ loss),
        "loss_geometric": float(np.exp(weight @ np.log1p(loss)) - 1),
        "discernibility": float((sizes**2).sum() + n_suppressed * n),
        "discernibility_star": _star(sizes, n_suppressed, before, row_records),
        "aecs": n / (len(sizes) + (n_suppressed > 0)),
        "transparency": float(sum((out / block).sum() for block in blocks)),
        "ambiguity": ambiguity,
        "nonuniform_entropy": _nonuniform_entropy(columns, positions, spread, before, row_records),
    }
    if levels is not None:
        height = np.array([(_level(c, levels, out) + n_suppressed) / n for c in columns])
        result["precision"] = float(weight @ height)
        result["distortion"] = float(_raw_weights(columns, weights) @ height)
    if target is not None:
        result["classification"] = _classification(released, group, target, n_suppressed)
    return result


def _sums(owner: IntArray, records: IntArray) -> IntArray:
    total = np.zeros(int(owner.max()) + 1, dtype=np.int64)
    np.add.at(total, owner, records)
    return total


def information_loss(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    numeric: Collection[Hashable],
    categorical: Collection[Hashable] = (),
    rows: Sequence[int] | IntArray | None = None,
    scale: str = "raw",
    records: IntArray | None = None,
) -> float:
    """Return IL, the distance to the released values over the data's deviation (Wei et al. 2024, Eq. 10).

    A number costs its squared difference and a category 1 if it changed; a suppressed record costs its own
    deviation from mean and mode.

    Args:
        original: The table before anonymization.
        released: The release.
        numeric: The columns that are numbers.
        categorical: The columns that are categories.
        rows: The original row of every released row; the same rows in the same order by default.
        scale: `"raw"`, or `"standard"` to count numbers in standard deviations.
        records: How many records every original row stands for; 1 by default.

    >>> df = pd.DataFrame({"age": [1.0, 3.0, 5.0, 7.0]})
    >>> information_loss(df, pd.DataFrame({"age": [2.0, 2.0, 6.0, 6.0]}), numeric=["age"])
    0.2
    """
    if scale not in ("raw", "standard"):
        raise AuditError(f"scale: expected 'raw' or 'standard', got {scale!r}")
    for role, table in (("original", original), ("released", released)):
        require(table, [*numeric, *categorical], role)
    original_rows = np.arange(len(original)) if rows is None else rows
    positions = read_positions(original_rows, original, released)
    row_records = np.ones(len(original), dtype=np.int64) if records is None else records
    n = int(row_records.sum())
    total = loss = 0.0
    for name in numeric:
        x = _numbers(original[name], name, "original")
        mean = (x * row_records).sum() / n
        z = np.full(
            len(x), x[0] if (x == x[0]).all() else mean
        )  # rounding a mean is not a deviation
        deviation = float(((x - z) ** 2 * row_records).sum())
        z[positions] = _numbers(released[name], name, "released")
        unit = deviation / n if scale == "standard" and deviation > 0 else 1.0
        total += deviation / unit
        loss += float(((x - z) ** 2 * row_records).sum() / unit)
    for name in categorical:
        codes, strings = canonical_codes(original[name], name)
        out, out_strings = canonical_codes(released[name], name)
        frequency = _sums(codes, row_records)
        # of several modes, the first in the order of strings, whatever the order of the rows
        mode = min(np.flatnonzero(frequency == frequency.max()), key=lambda i: strings[i])
        code_of = {string: code for code, string in enumerate(strings)}
        values = np.full(len(codes), mode)
        values[positions] = np.array([code_of.get(string, -1) for string in out_strings])[out]
        total += int(row_records[codes != mode].sum())
        loss += int(row_records[codes != values].sum())
    return loss / total if total else 0.0


def class_utility(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    quasi_identifiers: Sequence[Hashable],
    target: Hashable | None = None,
    rows: Sequence[int] | IntArray | None = None,
    records: IntArray | None = None,
) -> dict[str, float]:
    """Return the utility measures that depend on classes only, for releases of means, which have no labels.

    Args:
        original: The table before anonymization.
        released: The release.
        quasi_identifiers: Its quasi-identifiers.
        target: A released column, for the classification metric.
        rows: The original row of every released row.
        records: How many records every original row stands for; needs `rows` and no target. 1 by default.

    >>> df = pd.DataFrame({"age": [1.0, 3.0, 5.0, 7.0]})
    >>> out = pd.DataFrame({"age": [2.0, 2.0]})
    >>> class_utility(df, out, quasi_identifiers=["age"])
    {'suppression': 0.5, 'discernibility': 12.0, 'aecs': 2.0}
    """
    require(released, quasi_identifiers, "released")
    out = np.ones(len(released), dtype=np.int64)
    n = len(original)
    if records is not None:
        positions = read_positions(rows, original, released)
        if positions is None or target is not None:
            raise AuditError("records: if rows stand for several, give rows= and no target=")
        n, out = int(records.sum()), records[positions]
    n_suppressed = n - int(out.sum())
    group = group_numbers(released, list(quasi_identifiers))
    sizes = _sums(group, out)
    result = {
        "suppression": n_suppressed / n,
        "discernibility": float((sizes**2).sum() + n_suppressed * n),
        "aecs": n / (len(sizes) + (n_suppressed > 0)),
    }
    if target is not None:
        result["classification"] = _classification(released, group, target, n_suppressed)
    return result


def _numbers(column: Any, name: Hashable, role: str) -> FloatArray:
    values = np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)
    odd = ~np.isfinite(values)
    if odd.any():
        raise AuditError(
            f"{role}: column {str(name)!r} has no finite number in row {int(odd.argmax())}; "
            f"treat the column as categorical"
        )
    return values


def _raw_weights(columns: list[Column], weights: Mapping[Any, float] | None) -> FloatArray:
    by_column = dict(weights or {})
    for name in by_column:
        if name not in [c.name for c in columns]:
            raise ColumnError(f"weights: {str(name)!r} is not a quasi-identifier")
    values = np.array([float(by_column.get(c.name, 1.0)) for c in columns])
    if not (np.isfinite(values).all() and (values >= 0).all() and values.sum() > 0):
        raise AuditError("weights: must be numbers of at least 0, and not all 0")
    return values


def _weights(columns: list[Column], weights: Mapping[Any, float] | None) -> FloatArray:
    values = _raw_weights(columns, weights)
    return np.asarray(values / values.sum())


def _cost(column: Column) -> FloatArray:
    """Return (b − 1)/(|Σ| − 1) of every released cell."""
    return np.asarray((column.block - 1) / max(column.domain - 1, 1))


def _level(column: Column, levels: Mapping[Any, Mapping[str, float]], records: IntArray) -> float:
    label_levels = levels.get(column.name, {})
    for text in column.labels:
        if text not in label_levels or not 0 <= label_levels[text] <= 1:
            raise AuditError(
                f"levels: column {str(column.name)!r} needs level/height in [0, 1] for every label"
            )
    return float(
        (np.array([label_levels[text] for text in column.labels])[column.label] * records).sum()
    )


def _star(
    sizes: IntArray, n_suppressed: int, before: list[IntArray] | None, records: IntArray
) -> float | None:
    if n_suppressed and before is not None:
        frame = pd.DataFrame(dict(enumerate(before)))
        sizes = _sums(group_numbers(frame, list(frame.columns)), records)
    elif n_suppressed:
        return None
    return float((sizes**2).sum())


def _nonuniform_entropy(
    columns: list[Column],
    positions: IntArray | None,
    local: bool,
    before: list[IntArray] | None,
    records: IntArray,
) -> float | None:
    """Return the bits needed to recover the original values (De Waal & Willenborg 1999; ARX).

    A label costs the bits that tell the value from the others it stands for; suppression costs a
    global recoding the bits that tell its label among the suppressed, a local one all of them.
    """
    n, n_released = len(columns[0].leaf), len(columns[0].label)
    if (positions is None and (local or n_released < n)) or (not local and before is None):
        return None
    is_suppressed = np.ones(n, dtype=bool)
    if positions is not None:
        is_suppressed[positions] = False
    else:
        is_suppressed[:] = False
    total, rest = int(records.sum()), int(records[is_suppressed].sum())
    bits = 0.0
    for j, column in enumerate(columns):
        leaf = _sums(column.leaf, records)
        if local:
            frequency = dict(zip(column.leaves, leaf.tolist(), strict=True))
            covered_records = np.array(
                [sum(frequency.get(x, 0) for x in set(column.meaning[t])) for t in column.labels]
            )
            label_bits = np.log2(covered_records[column.label] / leaf[column.leaf[positions]])
            bits += (label_bits * records[positions]).sum()
            bits += (
                np.log2(total / leaf[column.leaf[is_suppressed]]) * records[is_suppressed]
            ).sum()
        elif before is not None:
            label = before[j]
            bits += (np.log2(_sums(label, records)[label] / leaf[column.leaf]) * records).sum()
            gone_labels = label[is_suppressed]
            if len(gone_labels):
                label_records = _sums(gone_labels, records[is_suppressed])[gone_labels]
                bits += (np.log2(rest / label_records) * records[is_suppressed]).sum()
    return float(bits)


def _classification(
    released: pd.DataFrame, group: IntArray, target: Hashable, n_suppressed: int
) -> float:
    require(released, [target], "target")
    value = factorize(released[target], target)[0]
    count = pd.DataFrame({"group": group, "value": value}).groupby(["group", "value"]).size()
    wrong = len(released) - int(count.groupby("group").max().sum())
    return (n_suppressed + wrong) / (len(released) + n_suppressed)
