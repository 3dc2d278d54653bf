"""Choices: the cheapest solution at each of a few levels of privacy, side by side."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from privmoo._util.checks import is_number
from privmoo._util.wording import join_words
from privmoo.errors import Hint, MeasureError, ProblemError
from privmoo.front.choice import need_solutions
from privmoo.front.limits import Limit, check_value
from privmoo.front.quantities import RECORDS_SUPPRESSED, Quantity, find
from privmoo.front.solution import Solution
from privmoo.measures.query_error import QueryError

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["Choice", "Choices", "choices", "cost_of", "least_k", "places_of_choices", "suggested"]

_STEPS: dict[str, tuple[float, ...]] = {
    "k": (3, 5, 10, 20, 50),
    "l": (2, 3, 5, 10),
    "t": (0.5, 0.3, 0.2, 0.1),
}
_USUAL_K = 5
_WIDTH = 110
_LEAST_WIDTH = 14


@dataclass(frozen=True)
class Choice:
    """The cheapest solution that meets one demand.

    Attributes:
        demand: The demand, such as k ≥ 5.
        solution: The solution; None if no solution of the front meets the demand.
        facts: Its figures as text, by name: recorded quantities, people left out, family …
        columns: What happens to every quasi-identifier, in a few words; empty without the table.
        next_step: What the next choice costs in addition.
    """

    demand: Limit
    solution: Solution | None
    facts: Mapping[str, str]
    columns: Mapping[str, str]
    next_step: str


class Choices(Sequence[Choice]):
    """A table of choices; `front.choices()` returns it.

    Args:
        front: The front.
        rows: The choices, in the order of their demands.

    Attributes:
        suggested: The solution to begin with: the cheapest one with k of at least 5, or of the least k
            that the constraints of the problem state. None if k protects nobody on this front.
    """

    def __init__(self, front: Front, rows: Sequence[Choice]) -> None:
        self._rows = tuple(rows)
        place = suggested(front)
        self.suggested = None if place is None else front[place]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def to_frame(self) -> pd.DataFrame:
        """Return a row per demand: number of the solution, figures, and a column per quasi-identifier.

        Figures are numbers where the front records them, and text otherwise. A demand that no solution
        meets has no number.
        """
        rows = []
        for choice in self._rows:
            solution = choice.solution
            row: dict[str, Any] = {
                "solution": pd.NA if solution is None else solution.number,
                **({} if solution is None else solution.values),
                **{name: choice.facts[name] for name in ("family",) if name in choice.facts},
                **choice.columns,
                "next step": choice.next_step,
            }
            rows.append(row)
        frame = pd.DataFrame(
            rows, index=pd.Index([str(c.demand) for c in self._rows], name="choice")
        )
        return frame.astype({"solution": "Int64"}) if len(frame) else frame

    def to_text(self, width: int = _WIDTH) -> str:
        """Return the table as text, with a column per choice.

        Args:
            width: The most characters in a line.
        """
        lines = list(self._lines())
        if not lines:
            return "No solution protects anybody: k is 1 everywhere."
        first = min(max(len(name) for name, _ in lines), max(1, width // 4))
        n = len(self._rows)
        longest = max(len(cell) for _, cells in lines for cell in cells)
        rest = min(longest, max(_LEAST_WIDTH, (width - first) // n - 2))
        text = []
        for name, cells in lines:
            columns = [textwrap.wrap(name, first) or [""]]
            columns += [textwrap.wrap(cell, rest) or [""] for cell in cells]
            for i in range(max(map(len, columns))):
                parts = [cell[i] if i < len(cell) else "" for cell in columns]
                widths = [first, *[rest] * n]
                pairs = zip(parts, widths, strict=True)
                text.append("  ".join(f"{part:<{w}}" for part, w in pairs).rstrip())
        return "\n".join(text)

    def _lines(self) -> Iterator[tuple[str, list[str]]]:
        """Return the lines of the table: a name, and a cell for every choice."""
        if not self._rows:
            return
        yield "", [str(choice.demand) for choice in self._rows]
        for part in ("facts", "columns"):
            names = dict.fromkeys(name for c in self._rows for name in getattr(c, part))
            for name in names:
                yield name, [getattr(c, part).get(name, "") for c in self._rows]
        yield "next step", [choice.next_step for choice in self._rows]

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        lines = list(self._lines())
        if not lines:
            return f"<p>{html.escape(self.to_text())}</p>"
        (_, head), *body = lines
        cells = "".join(f"<th style='text-align:left'>{html.escape(text)}</th>" for text in head)
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            + "".join(f"<td style='text-align:left'>{html.escape(text)}</td>" for text in texts)
            + "</tr>"
            for name, texts in body
        )
        return f"<table><thead><tr><th></th>{cells}</tr></thead><tbody>{rows}</tbody></table>"


def choices(front: Front, steps: Mapping[str, Sequence[float] | float]) -> Choices:
    """Return the cheapest solution at each step of one quantity, for `Front.choices`.

    Args:
        front: The front.
        steps: The steps of one quantity by its key; if empty, the steps are those of k, or of what the
            front records instead.

    Raises:
        ProblemError: The front has no quantity to choose by.
    """
    need_solutions(front, "choices")
    quantity, levels = _read_steps(front, steps) if steps else _usual_steps(front)
    cost = cost_of(front, quantity)
    demands = [Limit.wish(quantity, level) for level in levels]
    places = [_cheapest(front, demand, cost) for demand in demands]
    rows = []
    for i, (demand, place) in enumerate(zip(demands, places, strict=True)):
        solution = None if place is None else front[place]
        following = demands[i + 1] if i + 1 < len(demands) else None
        after = places[i + 1] if following is not None else None
        rows.append(
            Choice(
                demand=demand,
                solution=solution,
                facts=_facts(front, quantity, solution),
                columns=_columns(solution),
                next_step=_next_step(front, cost, (place, after), following),
            )
        )
    return Choices(front, rows)


def places_of_choices(front: Front) -> list[tuple[Limit, int]]:
    """Return the usual demands with the place of the cheapest solution of each, without its columns."""
    try:
        quantity, levels = _usual_steps(front)
    except ProblemError:
        return []
    cost = cost_of(front, quantity)
    demands = [Limit.wish(quantity, level) for level in levels]
    places = [_cheapest(front, demand, cost) for demand in demands]
    return [(d, place) for d, place in zip(demands, places, strict=True) if place is not None]


def suggested(front: Front) -> int | None:
    """Return the place of the solution to begin with; None if k is not recorded or is 1 everywhere.

    It is the cheapest one with k of at least 5, or of the least k that a constraint of the problem states.
    Where the front does not reach that, it is the cheapest one with k of at least 3, or else 2.
    """
    k = next((q for q in front.quantities if q.key == "k"), None)
    if k is None or not len(front) or front.column("k").max() < 2:
        return None
    cost = cost_of(front, k)
    for level in (least_k(front), 3, 2):
        place = _cheapest(front, Limit(k, "min", level), cost)
        if place is not None:
            return place
    return None


def least_k(front: Front) -> float:
    """Return the k that a constraint of the problem asks for; 5 if there is none."""
    return _stated_k(front) or _USUAL_K


def _stated_k(front: Front) -> float | None:
    """Return the k that a constraint of the problem asks for; None if there is none."""
    constraints = front.description.get("constraints") or ()
    bounds = [
        float(entry["bound"])
        for entry in constraints
        if isinstance(entry, Mapping)
        and isinstance(entry.get("measure"), Mapping)
        and (entry["measure"].get("key"), entry.get("relation")) == ("k", ">=")
        and is_number(entry.get("bound"))
    ]
    stated_k = max(bounds, default=0.0)
    return stated_k if stated_k >= 2 else None


def _cheapest(front: Front, demand: Limit, cost: Quantity) -> int | None:
    """Return the place of the cheapest solution that meets a demand; None if there is none."""
    rows = np.flatnonzero(demand.holds(front))
    if not len(rows):
        return None
    others = [q for q in front.objectives if q != cost]
    keys = [q.sign * front.column(q.key)[rows] for q in (cost, *others)]
    return int(rows[np.lexsort(keys[::-1])[0]])


def cost_of(front: Front, quantity: Quantity) -> Quantity:
    """Return the cost of a quantity: the first other objective that is minimised, or any other one.

    Args:
        front: The front.
        quantity: The quantity that is gained.
    """
    others = [q for q in front.objectives if q != quantity]
    for candidate in (*(q for q in others if q.sense == "min"), *others):
        return candidate
    return quantity  # one objective: its best solution is the only one


def _read_steps(
    front: Front, steps: Mapping[str, Sequence[float] | float]
) -> tuple[Quantity, list[float]]:
    if len(steps) > 1:
        raise ProblemError(
            f"choices: takes steps of one quantity, got {join_words(steps)}; limit the others first, as in "
            "front.where(min_l=2).choices(k=[5, 10])"
        )
    name, entry = next(iter(steps.items()))
    quantity = find(front.quantities, name, what="choices")
    levels: list[Any] = list(entry) if isinstance(entry, Sequence | np.ndarray) else [entry]
    if not levels:
        raise ProblemError(f"choices: {name} has no steps; name some, such as {name}=[5, 25]")
    for level in levels:
        check_value(quantity, name, level, "choices")
    return quantity, sorted({float(level) for level in levels}, reverse=quantity.sense == "min")


def _usual_steps(front: Front) -> tuple[Quantity, list[float]]:
    """Return k, ℓ or t with the steps that publishers use, or rounded steps of the first objective."""
    by_key = {q.key: q for q in front.quantities}
    for key, levels in _STEPS.items():
        if key in by_key:
            quantity = by_key[key]
            steps = [s for s in levels if Limit.wish(quantity, s).holds(front).any()]
            stated_k = _stated_k(front) if key == "k" else None
            if stated_k is not None:
                steps = [stated_k, *(s for s in steps if s > stated_k)]
            if not steps and key == "k":
                steps = [s for s in (2.0,) if front.column("k").max() >= s]
            return quantity, sorted(steps, reverse=quantity.sense == "min")
    for quantity in front.objectives:
        if quantity.sense == "max":
            column = front.column(quantity.key)
            quantiles = (float(f"{q:.2g}") for q in np.quantile(column, [0.1, 0.3, 0.5, 0.7, 0.9]))
            return quantity, sorted({level for level in quantiles if level <= column.max()})
    raise ProblemError(
        f"choices: this front has no k, and none of {', '.join(q.key for q in front.objectives)} is "
        "maximised",
        hint=Hint(call=f"front.choices({front.objectives[0].key}=[…]) or front.best(…)"),
    )


def _facts(front: Front, quantity: Quantity, solution: Solution | None) -> dict[str, str]:
    """Return the figures of a solution in words."""
    if solution is None:
        column = front.column(quantity.key)
        best = column.max() if quantity.sense == "max" else column.min()
        return {"solution": f"none: the front ends at {quantity.phrase(float(best))}"}
    values = solution.values
    facts = {"solution": f"{solution.number}"}
    for q in front.quantities:
        if q in front.objectives or q in (quantity, *_of_privacy(front)):
            facts[q.label.removesuffix(" (%)")] = q.write(float(f"{values[q.key]:.3g}"))
    n_suppressed = int(values[RECORDS_SUPPRESSED])
    share = "" if front.table is None else f" ({100 * n_suppressed / front.table.n_records:.2g} %)"
    facts["left out"] = f"{n_suppressed:,}{share}" if n_suppressed else "nobody"
    error = None if front.table is None else _query_error(solution)
    if error is not None:
        facts["error of counts"] = f"{100 * error:.2g} %"
    if front.families is not None:
        facts["family"] = solution.family
    return facts


def _of_privacy(front: Front) -> list[Quantity]:
    """Return k, ℓ and t, as far as the front records them."""
    return [q for q in front.quantities if q.key in _STEPS]


def _query_error(solution: Solution) -> float | None:
    """Return the mean error of counting queries; None if a published value is not a range of values."""
    try:
        return solution.measure(QueryError())
    except MeasureError:
        return None


def _columns(solution: Solution | None) -> dict[str, str]:
    if solution is None or solution.front.table is None:
        return {}
    return solution.summarise_columns()


def _next_step(
    front: Front,
    cost: Quantity,
    places: tuple[int | None, int | None],
    following: Limit | None,
) -> str:
    """Return what the next demand costs in addition to this one."""
    place, after = places
    if place is None or after is None or following is None:
        return ""
    if place == after:
        return f"{following}: the same"
    column = front.column(cost.key)
    price = float(column[after] - column[place])
    sign = "+" if price >= 0 else "−"
    amount = cost.write_difference(float(f"{abs(price):.2g}"))
    return f"{following}: {sign}{amount} {'of ' if cost.percent else ''}{cost.words}"
