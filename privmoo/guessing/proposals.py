"""Hierarchies to propose for a column: each one is tried on the data first."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from privmoo.errors import PrivmooError
from privmoo.guessing.column_facts import MOST_LEAVES, Facts
from privmoo.guessing.toml_writer import value
from privmoo.guessing.word_orders import in_order
from privmoo.hierarchy import Hierarchy

__all__ = ["Proposal", "propose", "propose_levels"]

IN_FILE = 1_000
"""A hierarchy of up to this many leaves is written to a file of its own."""
_MOST_ORDERED = 200
_SMALL = 12
_SHORT = 20
_NOMINAL = frozenset(
    [
        "dwelling",
        "id",
        "language",
        "marital status",
        "organisation",
        "place",
        "race or origin",
        "relationship",
        "sex",
    ]
)
"""Numbers that stand for these are codes, without an order."""
_OLDEST = 89


@dataclass(frozen=True)
class Proposal:
    """A hierarchy for one column.

    Attributes:
        kind: The builder's name.
        arguments: Its arguments.
        n_leaves: The number of leaves, once bound to the data.
        content: The content of its file, if it has one.
        note: What a user should know about it.
        inline: Whether the job states it without a file of its own.
        above: The columns whose values are its levels.
    """

    kind: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    n_leaves: int = 0
    content: str | None = None
    note: str = ""
    inline: bool = False
    above: tuple[str, ...] = ()

    def toml_entry(self) -> Any:
        """Return the entry of a TOML file that states the hierarchy, without a file of its own."""
        return {"kind": self.kind, **self.arguments} if self.arguments else self.kind

    def __str__(self) -> str:
        """Return a short description.

        >>> str(Proposal("intervals", {"low": 0, "high": 99, "widths": [5, 10]}))
        'intervals of 5, 10'
        """
        if self.kind == "intervals":
            return "intervals of " + ", ".join(value(w) for w in self.arguments["widths"])
        if self.kind == "dates":
            return "month, quarter, year, five years, decade"
        if self.kind == "levels":
            return "under " + ", ".join(self.above)
        if "step" in self.arguments:
            return f"ordered, step {value(self.arguments['step'])}"
        return self.kind


def propose(facts: Facts, says: frozenset[str]) -> Proposal | None:
    """Return the first hierarchy that fits the column; None if none does.

    Args:
        facts: The facts about the values.
        says: The meanings of the column's name.
    """
    if facts.n_values > MOST_LEAVES and facts.kind != "number":
        return None
    for proposal in _ideas(facts, says):
        confirmed = _try_proposal(proposal, facts)
        if confirmed is not None:
            return confirmed
    return None


def propose_levels(facts: Facts, above: Sequence[Facts]) -> Proposal | None:
    """Return a hierarchy whose levels are the values of other columns; None if it cannot be built.

    Args:
        facts: The finest column, such as cities.
        above: Columns of which every value has one, such as counties and states, finer ones first.
    """
    if facts.data is None or facts.n_values > IN_FILE:
        return None
    rows = {}
    codes = [np.asarray(column.data.codes) for column in above if column.data is not None]
    texts = [column.data.spellings() for column in above if column.data is not None]
    spellings, leaves = _spellings(facts), np.asarray(facts.data.codes)
    _, first = np.unique(leaves, return_index=True)
    for row in first.tolist():
        if leaves[row] >= 0:
            labels = [names[column[row]] for names, column in zip(texts, codes, strict=True)]
            rows[spellings[leaves[row]]] = [*labels, "*"]
    names = tuple(column.name for column in above)
    return _try_proposal(Proposal("levels", {"table": rows}, above=names), facts)


def _ideas(facts: Facts, says: frozenset[str]) -> Iterator[Proposal]:
    if facts.dates:
        order = "year first" if facts.dates == "iso" else facts.dates
        yield Proposal("dates", {} if order == "year first" else {"order": order})
        yield _masked_dates(facts)
    if facts.zips or ("ZIP code" in says and facts.kind in ("text", "number")):
        yield Proposal("masking")
    nominal = bool(says & _NOMINAL) or ("work" in says and facts.n_distinct <= _SMALL)
    if facts.kind == "number" and not nominal:
        yield from _numbers(facts, "age" in says)
    if facts.kind == "text" and facts.n_distinct <= _MOST_ORDERED and not says & _NOMINAL:
        values = in_order(_spellings(facts))
        if values is not None:
            yield Proposal("ordered", {"values": values}, inline=True)
    yield Proposal("flat")
    yield Proposal("flat", inline=True)


def _masked_dates(facts: Facts) -> Proposal:
    if facts.dates == "iso":
        lengths = {len(text) for text in _spellings(facts)}
        length = max(lengths)
        if facts.kind == "date" or length == 10 or len(lengths) > 1:
            return Proposal("masking")
        return Proposal("masking", {"steps": [length - n_left for n_left in (10, 8, 5, 3, 2)]})
    # The year comes last, so what stands before it is masked first.
    steps = [3, 6] if facts.dates == "day first" else [6]
    return Proposal("masking", {"side": "left", "steps": steps})


def _spellings(facts: Facts) -> list[str]:
    return [] if facts.data is None else facts.data.spellings()


def _numbers(facts: Facts, age: bool) -> Iterator[Proposal]:
    numbers = facts.numbers  # with every repetition, so that quantiles are those of the rows
    low, high = float(numbers[0]), float(numbers[-1])
    whole = facts.whole
    if facts.n_distinct <= _SMALL or (facts.whole and high - low < _SHORT):
        yield Proposal("ordered", inline=True)
        return
    if whole and max(abs(low), abs(high)) < 1e9:
        yield from _intervals(numbers, age and low >= 0 and high < 130)
    middle = float(np.quantile(numbers, 0.95) - np.quantile(numbers, 0.05)) or high - low
    for spread in (middle, high - low):
        step = _nice(spread / 50)
        if whole:
            step = max(step, 1.0)
        if (high - low) / step <= IN_FILE:
            yield Proposal("ordered", {"step": _plain(step)}, inline=True)


def _intervals(numbers: np.ndarray[Any, Any], age: bool) -> Iterator[Proposal]:
    low, high = float(numbers[0]), float(numbers[-1])
    ends = False
    if age:
        widths = [5.0, 10.0, 20.0]
        ends = high > _OLDEST
    else:
        # A few outliers must not widen the intervals for all other numbers.
        usual = float(np.quantile(numbers, 0.9))
        ends = low >= 0 and high > 3 * usual and usual >= 2 * _SMALL
        widths = _widths(max((usual if ends else high) - low, 1.0))
        high = usual if ends else high
    rung = widths[min(1, len(widths) - 1)]
    first = math.floor((low - 1) / rung) * rung
    if low >= 0:
        first = max(first, 0.0)  # nothing is below 0: it says nothing about the data
    last = (math.floor((high + 1) / rung) + 1) * rung - 1
    if age and ends:
        last = float(_OLDEST)
    if last - first >= IN_FILE:
        return
    widths = [width for width in widths if width < last - first]
    arguments = {
        "low": _plain(first),
        "high": _plain(last),
        "widths": [_plain(width) for width in widths],
    }
    if ends:
        arguments["open_ends"] = True
        note = f"all numbers above {_plain(last)} become one value, as they are rare"
        yield Proposal("intervals", arguments, note=note, inline=True)
    else:
        yield Proposal("intervals", arguments)


def _nice(number: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, 50 and so on.

    >>> _nice(3.7), _nice(0.012), _nice(7)
    (5.0, 0.02, 10.0)
    """
    power = math.floor(math.log10(number))
    for factor in (1, 2, 5):
        if factor * 10.0**power >= number * (1 - 1e-9):
            return float(f"{factor}e{power}")
    return float(f"1e{power + 1}")


def _widths(span: float) -> list[float]:
    """Return three nice widths that nest, the first about a twentieth of the span."""
    narrow = max(_nice(span / 20), 2.0)
    first = f"{narrow:e}"[0]
    return [narrow * factor for factor in {"1": (1, 5, 10), "2": (1, 5, 10), "5": (1, 2, 4)}[first]]


def _plain(number: float) -> float | int:
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _try_proposal(proposal: Proposal, facts: Facts) -> Proposal | None:
    """Return the proposal with its size and its file, if it can be bound, written and read again."""
    if facts.data is None:
        return None
    try:
        value(proposal.toml_entry())
        bound = getattr(Hierarchy, proposal.kind)(**proposal.arguments).bind(facts.data)
        if bound.n_leaves > MOST_LEAVES:
            return None
        content = None
        if not proposal.inline and bound.n_leaves <= IN_FILE:
            buffer = io.StringIO()
            bound.to_csv(buffer)
            content = buffer.getvalue()
            reread = Hierarchy.read_csv(io.BytesIO(content.encode())).bind(facts.data)
            if reread.n_leaves != bound.n_leaves:
                return None
    except (PrivmooError, TypeError, ValueError, OverflowError):
        return None
    return replace(proposal, n_leaves=bound.n_leaves, content=content)
