"""What the explorer shows, as plain data: the widget in a notebook and the HTML file read the same.

The dictionary of `ExplorerData.to_json`:

- `version`: 1.
- `quantities`: one entry per recorded quantity, objectives first: `key`, `words` and `label` (short and
  long name), `sense` ("min" or "max"), `percent` (fractions read as per cent), `objective`, `log`
  (whether an axis should be logarithmic).
- `fronts`: one entry per front: `name`, `summary`, `values` (solutions × quantities, null where not
  known), `dominated` and `infeasible` (objective values of further candidates, to be greyed), `knee` and
  `pick` (places or null), `cards` (whether more than values is known of its solutions), `advice` (titles
  with sentences: range, knee, flat regions).
- `sizes`: names of the bars of a histogram of group sizes.

Solutions are numbered through all fronts: the first of the second front follows the last of the first.
A file adds `cards` (see `privmoo.explorer.cards.packed`; one entry per solution, null where nothing more
is known), `preview` (rows of the pick, or null) and `about` (titles with lines of name and text).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.errors import ProblemError, nearest
from privmoo.explorer.cards import SIZES
from privmoo.front.advice import remarks
from privmoo.front.front import Front
from privmoo.front.knees import marked_knee
from privmoo.front.quantities import Quantity
from privmoo.front.solution import Solution

__all__ = ["ExplorerData", "Shown", "gather", "told"]

_GREY = 3_000
_MOST_FRONTS = 6  # as many shapes and colours can be told apart


@dataclass(frozen=True)
class Shown:
    """One front as the explorer shows it.

    Attributes:
        name: What it is called.
        values: Solutions × quantities; NaN where not known.
        front: Where more is known than values.
        pick: Place of the solution that was chosen.
    """

    name: str
    values: NDArray[np.float64]
    front: Front | None
    pick: int | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def explained(self) -> bool:
        """Whether cards can be made: the records are there."""
        return self.front is not None and self.front.table is not None


@dataclass(frozen=True)
class ExplorerData:
    """Fronts of the same objectives, beside each other. Made by `gather`.

    Attributes:
        quantities: What is known of their solutions, objectives first.
        n_objectives: How many of them are objectives.
        fronts: One or several.
    """

    quantities: tuple[Quantity, ...]
    n_objectives: int
    fronts: tuple[Shown, ...]

    def __len__(self) -> int:
        return sum(map(len, self.fronts))

    def place(self, number: int) -> tuple[Shown, int]:
        """Front and place there of a solution, by its number through all fronts."""
        left = number
        for shown in self.fronts:
            if 0 <= left < len(shown):
                return shown, left
            left -= len(shown)
        raise ProblemError(
            f"explorer: there is no solution {number}; there are {len(self):,}, counted from 0"
        )

    def solution(self, number: int) -> Solution:
        """The solution with a number."""
        shown, place = self.place(number)
        if shown.front is None:
            raise ProblemError(
                f"explorer: of solution {number} only values are known: it is a row of the table "
                f"{shown.name!r}"
            )
        return shown.front[place]

    def number(self, solution: Solution) -> int:
        """The number of a solution that is on one of the fronts."""
        which, place = _find(self.fronts, solution, "explorer")
        return sum(len(shown) for shown in self.fronts[:which]) + place

    def to_json(self) -> dict[str, Any]:
        """Plain data, described at the top of this module."""
        return {
            "version": 1,
            "quantities": [
                {
                    "key": q.key,
                    "words": q.words,
                    "label": q.label,
                    "sense": q.sense,
                    "percent": q.percent,
                    "objective": j < self.n_objectives,
                    "log": self._logarithmic(j),
                }
                for j, q in enumerate(self.quantities)
            ],
            "fronts": [self._front(shown) for shown in self.fronts],
            "sizes": list(SIZES),
        }

    def _logarithmic(self, j: int) -> bool:
        column = np.concatenate([shown.values[:, j] for shown in self.fronts])
        return self.quantities[j].logarithmic(column[np.isfinite(column)])

    def _front(self, shown: Shown) -> dict[str, Any]:
        front = shown.front
        nothing = np.empty((0, self.n_objectives))
        return {
            "name": shown.name,
            "summary": f"{len(shown):,} points" if front is None else repr(front),
            "values": _numbers(shown.values),
            "dominated": _numbers(_some(nothing if front is None else front.dominated)),
            "infeasible": _numbers(_some(nothing if front is None else front.infeasible)),
            "knee": None if front is None else marked_knee(front),
            "pick": shown.pick,
            "cards": shown.explained,
            "advice": [] if front is None else [[*words] for words in told(front)],
        }


def told(front: Front) -> list[tuple[str, str]]:
    """What a front says in words, without the calls that only Python can make."""
    return remarks(front, calls=False)


def gather(
    fronts: Front | Sequence[Front | pd.DataFrame],
    names: Sequence[str] | None = None,
    pick: Solution | None = None,
) -> ExplorerData:
    """Put fronts of the same objectives beside each other.

    Args:
        fronts: A front, or several; published points can be a table with one column per objective.
        names: What each is called.
        pick: A solution to mark.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> front = pm.Front.of(pm.problems.Cuts(table), [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0]])
    >>> data = gather([front, pd.DataFrame({"k": [2], "loss": [0.5]})], names=["ours", "published"])
    >>> len(data), data.solution(1), [shown.name for shown in data.fronts]
    (3, Solution 1 of 2: k = 3, 40 % loss, ['ours', 'published'])
    """
    given = [fronts] if isinstance(fronts, Front | pd.DataFrame) else list(fronts)
    for one in given:
        if not isinstance(one, Front | pd.DataFrame):
            raise ProblemError(
                f"explore: takes fronts or tables of points, got {type(one).__name__}"
            )
        if not len(one):
            raise ProblemError("explore: a front is empty")
    own = [front for front in given if isinstance(front, Front)]
    if not own or len(given) > _MOST_FRONTS:
        raise ProblemError(
            f"explore: takes one to {_MOST_FRONTS} fronts, at least one of them not a plain table"
        )
    objectives = own[0].objectives
    wanted = [(q.key, q.sense) for q in objectives]
    for front in own[1:]:
        if [(q.key, q.sense) for q in front.objectives] != wanted:
            raise ProblemError(
                "explore: the fronts must have the same objectives, got "
                f"{', '.join(q.key for q in objectives)} and "
                f"{', '.join(q.key for q in front.objectives)}"
            )
    known = {q.key: q for front in own for q in front.quantities}
    others = [q for key, q in known.items() if key not in dict(wanted)]
    quantities = (*objectives, *others)
    titles = _names(given, names)
    shown = tuple(
        Shown(title, _values(one, quantities, len(objectives)), one)
        if isinstance(one, Front)
        else Shown(title, _values(one, quantities, len(objectives)), None)
        for title, one in zip(titles, given, strict=True)
    )
    if pick is not None:
        shown = _with_pick(shown, pick)
    return ExplorerData(quantities, len(objectives), shown)


def _values(
    one: Front | pd.DataFrame, quantities: Sequence[Quantity], n_objectives: int
) -> NDArray[np.float64]:
    if isinstance(one, Front):
        recorded = [q.key for q in one.quantities]
        missing = np.full(len(one), np.nan)
        return np.column_stack(
            [one.column(q.key) if q.key in recorded else missing for q in quantities]
        )
    for q in quantities[:n_objectives]:
        if q.key not in one.columns:
            raise ProblemError(
                f"explore: the table of points has no column {q.key!r}{nearest(q.key, one.columns)}"
            )
    try:
        table = one.reindex(columns=[q.key for q in quantities]).to_numpy(
            np.float64, na_value=np.nan
        )
    except (TypeError, ValueError):
        raise ProblemError("explore: the table of points must be of numbers") from None
    if not np.isfinite(table[:, :n_objectives]).all():
        raise ProblemError("explore: a point has no finite number for one of the objectives")
    return np.asarray(table, dtype=np.float64)


def _names(given: Sequence[Front | pd.DataFrame], names: Sequence[str] | None) -> list[str]:
    if names is not None:
        told = [str(name) for name in ([names] if isinstance(names, str) else names)]
        if len(told) != len(given) or len(set(told)) != len(told):
            raise ProblemError(
                f"names: expected {len(given)} different names, one per front, got {told}"
            )
        return told
    guessed = [
        "published"
        if not isinstance(one, Front)
        else "exact"
        if one.proven
        else str(one.run.get("algorithm", "front"))
        for one in given
    ]
    return [
        name if guessed.count(name) == 1 else f"{name} {guessed[: i + 1].count(name)}"
        for i, name in enumerate(guessed)
    ]


def _with_pick(fronts: tuple[Shown, ...], pick: Solution) -> tuple[Shown, ...]:
    which, place = _find(fronts, pick, "pick")
    return (*fronts[:which], replace(fronts[which], pick=place), *fronts[which + 1 :])


def _find(fronts: tuple[Shown, ...], solution: Solution, what: str) -> tuple[int, int]:
    """Front and place of a solution: its own front first, as others may have an equal one."""
    own = [i for i, shown in enumerate(fronts) if shown.front is solution.front]
    for i in (*own, *range(len(fronts))):
        front = fronts[i].front
        place = None if front is None else _place(front, solution)
        if place is not None:
            return i, place
    raise ProblemError(f"{what}: the solution is not on the front")


def _place(front: Front, solution: Solution) -> int | None:
    """Where a solution is that may come from a part of the front, or from the same front elsewhere."""
    own = np.array(list(solution.values.values()))
    if list(solution.values) != [q.key for q in front.quantities]:
        return None
    same = np.flatnonzero((front.values == own).all(axis=1))
    return next((int(i) for i in same if front[int(i)] == solution), None)


def _some(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return points[:: max(1, -(-len(points) // _GREY))]


def _numbers(values: NDArray[np.float64]) -> list[list[float | int | None]]:
    return [[_number(value) for value in row] for row in values.tolist()]


def _number(value: float) -> float | int | None:
    """Ten digits: more than anyone reads, and half the space."""
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 1e15 else float(f"{value:.10g}")
