"""Record by record: what of the original is still there, and what an attacker can tell from it."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from privmoo.audit.frame import group_numbers
from privmoo.audit.labels import Meanings, read_positions, require
from privmoo.audit.values import canonical, canonical_codes, factorize
from privmoo.errors import AuditError

__all__ = ["disclosure_risks", "kept_values", "mean_levels", "numbers_of_labels"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def numbers_of_labels(column: pd.Series[Any], name: Hashable) -> tuple[FloatArray, FloatArray]:
    """Both ends of every released number or interval such as ``20–29``.

    >>> [ends.tolist() for ends in numbers_of_labels(pd.Series(["20–29", "31"]), "age")]
    [[20.0, 31.0], [29.0, 31.0]]
    """
    codes, strings = canonical_codes(column, name)
    ends = np.empty((len(strings), 2))
    for i, text in enumerate(strings):
        low, _, high = text.partition("–")
        try:
            ends[i] = float(low), float(high or low)
        except ValueError:
            row = int((codes == i).argmax())
            raise AuditError(
                f"column {str(name)!r}: released row {row} is neither a number nor an interval"
            ) from None
    return ends[codes, 0], ends[codes, 1]


def kept_values(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    meanings: Meanings,
    numeric: Collection[Hashable],
    rows: Sequence[int] | IntArray,
) -> pd.DataFrame:
    """Per released row and quasi-identifier, whether the original value is published unchanged.

    The columns are those of `original`. A label keeps the value that it alone stands for.

    >>> df, out = pd.DataFrame({"age": [1, 2]}), pd.DataFrame({"age": [1, 3]})
    >>> kept_values(df, out, meanings={}, numeric=["age"], rows=[0, 1])["age"].tolist()
    [True, False]
    """
    positions = _positions(original, released, rows)
    kept = {}
    for name in original.columns:
        if name in numeric:
            low, high = numbers_of_labels(released[name], name)
            own = original[name].to_numpy(np.float64)[positions]
            kept[name] = (low == own) & (high == own)
            continue
        codes, strings = canonical_codes(released[name], name)
        alone = [_leaves(meanings, name, text) for text in strings]
        single = np.array(
            [next(iter(leaves)) if len(leaves) == 1 else None for leaves in alone], object
        )
        own_codes, own_strings = canonical_codes(original[name], name)
        own = np.array(own_strings, object)[own_codes][positions]
        kept[name] = single[codes] == own
    return pd.DataFrame(kept)


def mean_levels(
    released: pd.DataFrame, levels: Mapping[Any, Mapping[str, float]], columns: Sequence[Hashable]
) -> pd.Series[float]:
    """Per quasi-identifier the mean of level / height over the released rows; a number has level 0.

    >>> mean_levels(pd.DataFrame({"sex": ["*", "f"]}), {"sex": {"*": 1.0, "f": 0.0}}, ["sex"]).tolist()
    [0.5]
    """
    found = {}
    for name in columns:
        codes, strings = canonical_codes(released[name], name)
        known = levels.get(name)
        try:
            own = [0.0 if known is None else known[text] for text in strings]
        except KeyError:
            raise AuditError(f"levels: column {str(name)!r} has a label without a level") from None
        found[name] = float(np.array(own)[codes].mean())
    return pd.Series(found, dtype=np.float64)


def disclosure_risks(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    sensitive: Hashable,
    meanings: Meanings,
    numeric: Collection[Hashable],
    rows: Sequence[int] | IntArray,
    tolerance: float = 0.0,
) -> FloatArray:
    """Per released person, how probably an attacker who knows the original values tells the secret.

    Known are the columns of `original`. Among the released rows whose labels cover what is known (numbers
    within `tolerance`), it is the share with the person's sensitive value; where none fits, the value's
    share in the release.

    >>> df = pd.DataFrame({"age": [1, 2, 2]})
    >>> out = pd.DataFrame({"age": [1, 2, 2], "ill": ["x", "x", "y"]})
    >>> disclosure_risks(df, out, sensitive="ill", meanings={}, numeric=["age"], rows=[0, 1, 2]).tolist()
    [1.0, 0.5, 0.5]
    """
    positions = _positions(original, released, rows)
    require(released, [sensitive], "sensitive")
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise AuditError(f"tolerance: must be a finite number from 0, got {tolerance!r}")
    secret = factorize(released[sensitive].astype(object), sensitive)[0]
    secret = np.where(secret < 0, secret.max() + 1, secret)
    n_values = int(secret.max()) + 1
    categories: list[Hashable] = [name for name in original.columns if name not in numeric]
    numbers: list[Hashable] = [name for name in original.columns if name in numeric]
    sides = _Sides.of(original.iloc[positions], released, categories, numbers, meanings)
    prior = np.bincount(secret, minlength=n_values) / len(released)
    risk = np.empty(len(released))
    for known, fits in sides.pairs():
        low, high = sides.low[fits] - tolerance, sides.high[fits] + tolerance
        counts = np.bincount(secret[fits], minlength=n_values)
        # persons of one kind that know the same numbers are asked once
        asked, place = np.unique(sides.own[known], axis=0, return_inverse=True)
        place = place.ravel()
        shares = np.empty((len(asked), n_values))
        for i, point in enumerate(asked):
            found = counts
            if numbers:
                inside = ((low <= point) & (point <= high)).all(axis=1)
                found = np.bincount(secret[fits[inside]], minlength=n_values)
            total = found.sum()
            shares[i] = found / total if total else prior
        risk[known] = shares[place, secret[known]]
    return risk


@dataclass(frozen=True)
class _Sides:
    """Persons by the categories an attacker knows of them, and released rows by their labels."""

    person: IntArray
    kinds: list[tuple[str, ...]]
    row: IntArray
    covers: list[list[frozenset[str]]]
    own: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(
        cls,
        original: pd.DataFrame,
        released: pd.DataFrame,
        categories: list[Hashable],
        numbers: list[Hashable],
        meanings: Meanings,
    ) -> _Sides:
        def texts(frame: pd.DataFrame) -> pd.DataFrame:
            columns = {}
            for name in categories:
                codes, strings = canonical_codes(frame[name], name)
                columns[name] = np.array(strings, object)[codes]
            return pd.DataFrame(columns, index=pd.RangeIndex(len(frame)))

        def numbered(frame: pd.DataFrame) -> tuple[IntArray, list[tuple[str, ...]]]:
            if not categories:
                return np.zeros(len(frame), np.int64), [()]
            group = group_numbers(frame, categories)
            _, first = np.unique(group, return_index=True)
            return group, [tuple(row) for row in frame.iloc[first].itertuples(index=False)]

        person, kinds = numbered(texts(original))
        row, labels = numbered(texts(released))
        covers = [
            [frozenset(_leaves(meanings, name, text)) for name, text in zip(categories, own, strict=True)]
            for own in labels
        ]  # fmt: skip
        shape = (len(released), len(numbers))
        ends = [numbers_of_labels(released[name], name) for name in numbers]
        return cls(
            person,
            kinds,
            row,
            covers,
            original[numbers].to_numpy(np.float64).reshape(shape),
            np.array([low for low, _ in ends]).T.reshape(shape),
            np.array([high for _, high in ends]).T.reshape(shape),
        )

    def pairs(self) -> list[tuple[IntArray, IntArray]]:
        """Persons of one kind, and the released rows whose labels cover it."""
        rows_of = [np.flatnonzero(self.row == i) for i in range(len(self.covers))]
        found = []
        for i, kind in enumerate(self.kinds):
            fitting = [
                rows_of[r]
                for r, cover in enumerate(self.covers)
                if all(value in leaves for value, leaves in zip(kind, cover, strict=True))
            ]
            fits = np.concatenate(fitting) if fitting else np.empty(0, np.int64)
            found.append((np.flatnonzero(self.person == i), fits))
        return found


def _leaves(meanings: Meanings, name: Hashable, text: str) -> Collection[str]:
    return meanings.get(name, {}).get(text, [canonical(text)])


def _positions(
    original: pd.DataFrame, released: pd.DataFrame, rows: Sequence[int] | IntArray
) -> IntArray:
    require(original, list(original.columns), "original")
    require(released, list(original.columns), "released")
    positions = read_positions(rows, original, released)
    if positions is None:
        raise AuditError("rows: name the original row of every released row")
    return np.asarray(positions, np.int64)
