"""The columns of a table as the optimiser sees them: small integer codes, labels and sparse counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo.data.spelling_variants import alike, reads_as_missing
from privmoo.data.tuples import sparse_counts
from privmoo.errors import HierarchyError, Hint, TableError
from privmoo.hierarchy import Hierarchy
from privmoo.hierarchy.canonical import MISSING

__all__ = ["QI", "Attribute", "QIColumn", "QuasiIdentifier", "no_records", "small_uint"]

_SAMPLE = Hint(call="table.sample(n)")


@dataclass(frozen=True, kw_only=True)
class QuasiIdentifier:
    """The description of one quasi-identifier; `QI` is a short name for it.

    Args:
        hierarchy: How its values may be generalised; cuts and levels need one, clusters do not.
        weight: The weight of its loss in utility measures.
        min_level: The lowest generalization level a search may use.
        max_level: The highest one; the hierarchy's top by default.
        fixed_cuts: Values at which a new block always begins, such as `(18, 65)` for an age.

    >>> QuasiIdentifier(weight=2.0).weight
    2.0
    """

    hierarchy: Hierarchy | None = None
    weight: float = 1.0
    min_level: int = 0
    max_level: int | None = None
    fixed_cuts: Sequence[Any] = ()

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise TableError(
                f"quasi_identifiers: weight must be a finite number of at least 0, got {self.weight!r}"
            )


QI = QuasiIdentifier


@dataclass(frozen=True, kw_only=True)
class QIColumn:
    """One quasi-identifier bound to the data: its ordered leaves and its bounds for the search."""

    name: str
    leaves: tuple[str, ...]
    numbers: NDArray[np.float64] | None
    hierarchy: Hierarchy | None
    weight: float
    min_level: int
    max_level: int
    fixed_cuts: tuple[int, ...] = field(default=())
    """Positions i: leaves i and i + 1 are never merged."""
    exact: bool = True
    """Whether every leaf is one value of the data (base intervals are not)."""
    as_is: bool = True
    """Whether an ungeneralised column can be released as it is: each value has one spelling."""
    of_data: bool = False
    """Whether the leaves come from the data, so that the ends of the domain are values of real people."""

    @property
    def n_leaves(self) -> int:
        """The number of leaves of the domain, whether they occur in the data or not."""
        return len(self.leaves)

    @property
    def origin(self) -> int:
        """The number of the first leaf, counted in steps from leaf to leaf; 0 if these differ in width.

        It shows which cuts between leaves are at round numbers.
        """
        numbers = np.empty(0) if self.numbers is None else self.numbers[~np.isnan(self.numbers)]
        steps = np.diff(numbers)
        if not len(steps) or steps[0] <= 0 or not np.allclose(steps, steps[0], rtol=1e-9, atol=0.0):
            return 0
        return math.floor(float(numbers[0] / steps[0]) + 1e-9)

    @classmethod
    def bind(
        cls,
        name: str,
        description: QuasiIdentifier,
        domain: Hierarchy,
        *,
        exact: bool = True,
        as_is: bool = True,
        of_data: bool = False,
    ) -> QIColumn:
        """Check a description against the hierarchy that was bound to the data.

        Args:
            name: The column.
            description: The description that the user passed.
            domain: The hierarchy, bound to the values.
            exact: Whether every leaf is one value of the data.
            as_is: Whether every value has one spelling.
            of_data: Whether the leaves come from the data.
        """
        height = domain.height
        top = height if description.max_level is None else description.max_level
        if not 0 <= description.min_level <= top <= height:
            raise HierarchyError(
                f"quasi_identifiers: levels of {name!r} must satisfy 0 <= min_level <= max_level <= "
                f"{height}, got min_level={description.min_level}, max_level={top}"
            )
        cuts = []
        for value in description.fixed_cuts:
            code = domain.code_of(value)
            if code is None:
                raise HierarchyError(
                    f"quasi_identifiers: fixed cut {value!r} of {name!r} is not one of its "
                    f"{domain.n_leaves} leaves; name the value that begins a block"
                )
            if code > 0:
                cuts.append(code - 1)
        return cls(
            name=name,
            leaves=domain.leaves,
            numbers=domain.numbers,
            hierarchy=domain if description.hierarchy is not None else None,
            weight=float(description.weight),
            min_level=description.min_level,
            max_level=top,
            fixed_cuts=tuple(sorted(set(cuts))),
            exact=exact,
            as_is=exact and as_is,
            of_data=of_data,
        )


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A sensitive or target attribute: how often each of its values occurs in each distinct tuple.

    The counts are sparse: entries `offsets[t]:offsets[t + 1]` of `codes` and `counts` belong to tuple t.
    """

    name: str
    values: tuple[str, ...]
    numbers: NDArray[np.float64] | None
    hierarchy: Hierarchy | None
    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    codes_of_rows: NDArray[Any] | None
    """The code of each row's value; None if only counts are known."""
    kind: str = "text"
    """The type of the values: "number", "text", "bool", "date" or "other"."""
    ordered: bool = False
    """Whether the column has an order of its own."""
    has_missing: bool = False
    unknown: int | None = None
    """The code of missing values if they could be any value; None if missing is a value of its own."""
    missing_texts: int = 0
    """The number of texts that count as missing because programs read them so, such as "NA"."""
    missing_spellings: int = 0
    """The number of spellings of unknown values: these texts, and an empty cell."""

    def with_unknown(self) -> Attribute:
        """Return the same attribute, but with missing values that could be any value.

        The same holds for a text that programs read as missing. All of these share one code.
        """
        texts = []
        if self.kind in ("text", "other"):
            present = np.flatnonzero(self.totals).tolist()
            texts = [i for i in present if reads_as_missing(self.values[i])]
        missing = [self.values.index(MISSING)] if self.has_missing else []
        codes = sorted({*texts, *missing})
        if not codes:
            return self
        attribute = replace(
            self,
            has_missing=True,
            unknown=codes[0],
            missing_texts=len({*texts} - {*missing}),
            missing_spellings=len(codes),
        )
        return attribute if len(codes) == 1 else attribute._merge_codes(codes, codes[0])

    def _merge_codes(self, codes: Sequence[int], code: int) -> Attribute:
        """Return the same attribute, with one code instead of several."""
        new_codes = np.arange(self.n_values)
        new_codes[list(codes)] = code
        owners = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        offsets, values, counts = sparse_counts(
            owners.astype(np.int32),
            new_codes[self.codes],
            len(self.offsets) - 1,
            self.n_values,
            self.counts,
        )
        rows = self.codes_of_rows
        if rows is not None:
            rows = new_codes[rows].astype(rows.dtype)
            rows.setflags(write=False)
        for array in (offsets, values, counts):
            array.setflags(write=False)
        return replace(self, offsets=offsets, codes=values, counts=counts, codes_of_rows=rows)

    @property
    def alike(self) -> tuple[tuple[str, ...], ...]:
        """The values that look the same to a reader; see `privmoo.data.spelling_variants`."""
        if self.kind not in ("text", "other"):
            return ()
        present = np.flatnonzero(self.totals)
        return alike([self.values[i] for i in present])

    @property
    def row_codes(self) -> NDArray[Any]:
        """The code of each row's value."""
        if self.codes_of_rows is None:
            raise no_records(f"the value of {self.name!r} in every record")
        return self.codes_of_rows

    @property
    def n_values(self) -> int:
        """Number of values of the domain."""
        return len(self.values)

    @property
    def totals(self) -> NDArray[np.int64]:
        """The number of records of the original table with each value."""
        return np.bincount(self.codes, weights=self.counts, minlength=self.n_values).astype(
            np.int64
        )


def small_uint(limit: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest unsigned integer type that holds 0 … limit - 1.

    >>> small_uint(300).__name__
    'uint16'
    """
    for kind in (np.uint8, np.uint16, np.uint32):
        if limit <= np.iinfo(kind).max + 1:
            return kind
    raise TableError(f"a column has {limit} distinct values, at most 4294967296 are possible")


def no_records(what: str, instead: str | None = None) -> TableError:
    """Return the error for something that needs single records if only counts are known.

    Args:
        what: What needs the records.
        instead: What to do instead; by default, to draw a sample.

    >>> str(no_records("Originality"))[:40]
    'Originality: needs single records, and a'
    """
    return TableError(
        f"{what}: needs single records, and a scanned table has only counts",
        hint=_SAMPLE if instead is None else Hint(instead),
    )
