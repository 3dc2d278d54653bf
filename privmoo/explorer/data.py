"""The data of the explorer as plain data, which the widget in a notebook and the HTML file both read.

The dictionary of `ExplorerData.to_json`:

- `version`: 1.
- `weights`: the weight of every column, as pairs of name and number, if the fronts can be ranked by other
  weights; otherwise empty.
- `note`: a sentence on solutions that are not shown, or an empty text.
- `quantities`: one entry per recorded quantity, objectives first: `key`, `words` and `label` (short and
  long name), `sense` ("min" or "max"), `percent` (fractions read as per cent), `objective`, `log`
  (whether an axis should be logarithmic).
- `fronts`: one entry per front: `name`, `summary`, `values` (solutions × quantities, null if not
  known), `families` (null, or for a front of several families of recodings their `names` and, as `of`,
  the position of each solution's family there), `dominated` and `infeasible` (objective values of further
  candidates, to be greyed), `numbers` (how its solutions are called), `knee`, `pick` and `suggested`
  (positions or null), `fresh` (what the last search found: for each new solution its `place`, the `earlier`
  objective values that it is nearest to, and what it `says` about these), `cards` (whether more than
  values is known about its solutions), `advice` (titled sentences: choices, range, knee, flat regions).
- `sizes`: names of the bars of a histogram of group sizes.

Positions count across all fronts: the second front continues where the first ends. People see `numbers`.
A file adds `cards` (see `privmoo.explorer.cards.pack_cards`; one entry per solution, null if nothing
more is known), `preview` (rows of the pick, or null) and `about` (titles with lines of name and text).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.data_frames import AnyFrame, as_pandas, is_frame
from privmoo.analysis.foreign import ForeignRelease
from privmoo.data.table import Table
from privmoo.errors import ProblemError, nearest
from privmoo.explorer.cards import SIZES
from privmoo.explorer.new_solutions import NewSolution, new_solutions
from privmoo.front.advice import remarks
from privmoo.front.choice import compromise
from privmoo.front.choices import suggested
from privmoo.front.front import Front
from privmoo.front.knees import marked_knee
from privmoo.front.quantities import Quantity
from privmoo.front.solution import Solution

__all__ = ["ExplorerData", "ExplorerFront", "gather"]

_GREY = 3_000
_MOST_FRONTS = 6  # the number of shapes and colours that readers can distinguish


@dataclass(frozen=True)
class ExplorerFront:
    """One front in the explorer.

    Attributes:
        name: Its name.
        values: Solutions × quantities; NaN if a value is not known.
        front: The front itself; None for a table of points.
        pick: The position of the solution that was chosen.
        fresh: What the last search found.
    """

    name: str
    values: NDArray[np.float64]
    front: Front | None
    pick: int | None = None
    fresh: tuple[NewSolution, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def has_table(self) -> bool:
        """Whether the front has its table, so that cards can be made."""
        return self.front is not None and self.front.table is not None


@dataclass(frozen=True)
class ExplorerData:
    """Fronts with the same objectives, side by side; `gather` returns it.

    Attributes:
        quantities: The recorded quantities of all fronts, objectives first.
        n_objectives: How many of them are objectives.
        fronts: The fronts.
        note: A sentence on solutions that are not shown; empty if all are.
    """

    quantities: tuple[Quantity, ...]
    n_objectives: int
    fronts: tuple[ExplorerFront, ...]
    note: str = ""

    def __len__(self) -> int:
        return sum(map(len, self.fronts))

    def place(self, number: int) -> tuple[ExplorerFront, int]:
        """Return the front of a solution and its position there, by its number across all fronts."""
        offset = number
        for entry in self.fronts:
            if 0 <= offset < len(entry):
                return entry, offset
            offset -= len(entry)
        raise ProblemError(
            f"explorer: there is no solution {number}; there are {len(self):,}, counted from 0"
        )

    def solution(self, number: int) -> Solution:
        """Return the solution with a number."""
        entry, place = self.place(number)
        if entry.front is None:
            raise ProblemError(
                f"explorer: solution {number} is a row of the table {entry.name!r}, which has only its "
                "values; choose a solution of a front"
            )
        return entry.front[place]

    def number(self, solution: Solution) -> int:
        """Return the number of a solution that is on one of the fronts."""
        which, place = _find(self.fronts, solution, "explorer")
        return sum(len(entry) for entry in self.fronts[:which]) + place

    def with_front(self, which: int, front: Front) -> ExplorerData:
        """Return the same fronts, with one that was searched on in the place of an earlier one.

        Args:
            which: The place of the front.
            front: The front after the search.
        """
        entry = self.fronts[which]
        values = _values(front, self.quantities, self.n_objectives, front.table)
        pick = None
        if entry.front is not None and entry.pick is not None:
            pick = _place(front, entry.front[entry.pick])
        fresh = () if entry.front is None else new_solutions(entry.front, front)
        entry_now = ExplorerFront(entry.name, values, front, pick, fresh)
        fronts = (*self.fronts[:which], entry_now, *self.fronts[which + 1 :])
        return replace(self, fronts=fronts, note="")

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the columns; empty if not all fronts can be ranked by other weights."""
        weights: dict[str, float] = {}
        for entry in self.fronts:
            if entry.front is None or entry.front.problem is None:
                return {}
            own_weights = {str(qi.name): qi.weight for qi in entry.front.problem.table.qis}
            if weights and own_weights != weights:
                return {}
            weights = own_weights
        return weights if len(weights) > 1 else {}

    def with_weights(self, weights: Mapping[str, float]) -> ExplorerData:
        """Return the same fronts, measured and ranked by other weights of the columns.

        Args:
            weights: Weights by quasi-identifier.
        """
        if not self.weights:
            raise ProblemError(
                "weights: all fronts must have their problem and the same columns with the same weights, "
                "two or more; explore one front by itself"
            )
        entries = []
        for entry in self.fronts:
            assert entry.front is not None  # noqa: S101  # or there were no weights
            front = entry.front.with_weights(weights)
            numbers = front.numbers.tolist()
            pick = None if entry.pick is None else int(entry.front.numbers[entry.pick])
            place = numbers.index(pick) if pick in numbers else None
            values = _values(front, self.quantities, self.n_objectives, front.table)
            entries.append(ExplorerFront(entry.name, values, front, place))
        weighted = replace(self, fronts=tuple(entries))
        return replace(weighted, note=_left_out(len(self) - len(weighted), len(self)))

    @property
    def start(self) -> int:
        """The position of the solution that is first in focus: the pick, a suggested one, or the knee."""
        places: dict[str, int] = {}
        before = 0
        for entry in self.fronts:
            if entry.pick is not None:
                places["pick"] = before + entry.pick
            if entry.front is not None and len(entry):
                first = suggested(entry.front)
                if first is not None:
                    places.setdefault("suggested", before + first)
                middle = marked_knee(entry.front)
                middle = compromise(entry.front) if middle is None else middle
                places.setdefault("middle", before + middle)
            before += len(entry)
        return next((places[name] for name in ("pick", "suggested", "middle") if name in places), 0)

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that is described at the top of this module."""
        return {
            "version": 1,
            "weights": [[name, weight] for name, weight in self.weights.items()],
            "note": self.note,
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
            "fronts": [self._front(entry) for entry in self.fronts],
            "sizes": list(SIZES),
        }

    def _logarithmic(self, j: int) -> bool:
        column = np.concatenate([entry.values[:, j] for entry in self.fronts])
        return self.quantities[j].logarithmic(column[np.isfinite(column)])

    def _front(self, entry: ExplorerFront) -> dict[str, Any]:
        front = entry.front
        no_points = np.empty((0, self.n_objectives))
        return {
            "name": entry.name,
            "summary": f"{len(entry):,} points" if front is None else repr(front),
            "values": _numbers(entry.values),
            "families": _families(front),
            "dominated": _numbers(_thin_out(no_points if front is None else front.dominated)),
            "infeasible": _numbers(_thin_out(no_points if front is None else front.infeasible)),
            "numbers": list(range(len(entry))) if front is None else front.numbers.tolist(),
            "knee": None if front is None else marked_knee(front),
            "pick": entry.pick,
            "fresh": [
                {"place": new.place, "earlier": _numbers(new.earlier[None])[0], "says": new.says}
                for new in entry.fresh
            ],
            "suggested": None if front is None else suggested(front),
            "cards": entry.has_table,
            "advice": [] if front is None else [[*words] for words in remarks(front, calls=False)],
        }


def _left_out(n_left_out: int, n: int) -> str:
    """Say how many solutions other weights leave out."""
    if not n_left_out:
        return ""
    return (
        f"By these weights, {n_left_out:,} of {n:,} solutions are worse than another one and are not "
        "shown; a search with these weights may find better ones."
    )


def gather(
    fronts: Front | Sequence[Front | AnyFrame],
    names: Sequence[str] | None = None,
    pick: Solution | None = None,
) -> ExplorerData:
    """Put fronts with the same objectives side by side.

    Args:
        fronts: A front, or several; published points can be a table with one column per objective, and
            rows that another program released are one point.
        names: A name for each.
        pick: A solution to mark.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> front = pm.Front.of(pm.problems.Cuts(table), [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0]])
    >>> data = gather([front, pd.DataFrame({"k": [2], "loss": [0.5]})], names=["ours", "published"])
    >>> len(data), data.solution(1), [entry.name for entry in data.fronts]
    (3, Solution 1 of 2: k = 3, 40 % loss, ['ours', 'published'])
    """
    inputs = [fronts] if isinstance(fronts, Front) or is_frame(fronts) else list(fronts)
    for source in inputs:
        if not isinstance(source, Front) and not is_frame(source):
            raise ProblemError(
                f"explore: takes fronts or tables of points, got {type(source).__name__}"
            )
    sources = [s if isinstance(s, Front) else as_pandas(s, what="explore") for s in inputs]
    for source in sources:
        if not len(source):
            raise ProblemError("explore: one of the fronts has no solutions; leave it out")
    recorded = [front for front in sources if isinstance(front, Front)]
    if not recorded or len(sources) > _MOST_FRONTS:
        raise ProblemError(
            f"explore: takes one to {_MOST_FRONTS} fronts, at least one of them not a plain table"
        )
    objectives = recorded[0].objectives
    senses = [(q.key, q.sense) for q in objectives]
    for front in recorded[1:]:
        if [(q.key, q.sense) for q in front.objectives] != senses:
            raise ProblemError(
                "explore: the fronts must have the same objectives, got "
                f"{', '.join(q.key for q in objectives)} and "
                f"{', '.join(q.key for q in front.objectives)}"
            )
    by_key = {q.key: q for front in recorded for q in front.quantities}
    others = [q for key, q in by_key.items() if key not in dict(senses)]
    quantities = (*objectives, *others)
    titles = _names(sources, names)
    table = next((front.table for front in recorded if front.table is not None), None)
    entries = tuple(
        ExplorerFront(
            title,
            _values(source, quantities, len(objectives), table),
            source if isinstance(source, Front) else None,
        )
        for title, source in zip(titles, sources, strict=True)
    )
    if pick is not None:
        entries = _with_pick(entries, pick)
    return ExplorerData(quantities, len(objectives), entries)


def _foreign_point(
    table: Table, rows: pd.DataFrame, quantities: Sequence[Quantity], n_objectives: int
) -> NDArray[np.float64]:
    """Measure rows of another program, as one point."""
    release = ForeignRelease(table, rows)
    point = np.array([release.value(q.name, q.parameters) for q in quantities])
    for q, value in zip(quantities[:n_objectives], point, strict=False):
        if not np.isfinite(value):
            raise ProblemError(
                f"explore: {q.words} cannot be measured from the rows of another program alone; explore a "
                "front without this objective"
            )
    return point[None, :]


def _values(
    source: Front | pd.DataFrame,
    quantities: Sequence[Quantity],
    n_objectives: int,
    table: Table | None,
) -> NDArray[np.float64]:
    if isinstance(source, Front):
        recorded = [q.key for q in source.quantities]
        missing = np.full(len(source), np.nan)
        return np.column_stack(
            [source.column(q.key) if q.key in recorded else missing for q in quantities]
        )
    if table is not None and set(table.qi_names) <= set(source.columns):
        return _foreign_point(table, source, quantities, n_objectives)
    for q in quantities[:n_objectives]:
        if q.key not in source.columns:
            raise ProblemError(
                f"explore: the table of points has no column {q.key!r}{nearest(q.key, source.columns)}"
            )
    try:
        points = source.reindex(columns=[q.key for q in quantities]).to_numpy(
            np.float64, na_value=np.nan
        )
    except (TypeError, ValueError):
        raise ProblemError("explore: the table of points must contain only numbers") from None
    if not np.isfinite(points[:, :n_objectives]).all():
        raise ProblemError(
            "explore: a point of the table lacks a finite value of an objective; leave it out"
        )
    return np.asarray(points, dtype=np.float64)


def _names(sources: Sequence[Front | pd.DataFrame], names: Sequence[str] | None) -> list[str]:
    if names is not None:
        titles = [str(name) for name in ([names] if isinstance(names, str) else names)]
        if len(titles) != len(sources) or len(set(titles)) != len(titles):
            raise ProblemError(
                f"names: expected {len(sources)} different names, one per front, got {titles}"
            )
        return titles
    guessed = [
        "published"
        if not isinstance(source, Front)
        else "exact"
        if source.proven
        else str(source.run.get("algorithm", "front"))
        for source in sources
    ]
    return [
        name if guessed.count(name) == 1 else f"{name} {guessed[: i + 1].count(name)}"
        for i, name in enumerate(guessed)
    ]


def _with_pick(fronts: tuple[ExplorerFront, ...], pick: Solution) -> tuple[ExplorerFront, ...]:
    which, place = _find(fronts, pick, "pick")
    return (*fronts[:which], replace(fronts[which], pick=place), *fronts[which + 1 :])


def _find(fronts: tuple[ExplorerFront, ...], solution: Solution, what: str) -> tuple[int, int]:
    """Return the front and the position of a solution; its own front comes before equal ones."""
    equal_fronts = [i for i, entry in enumerate(fronts) if entry.front is solution.front]
    for i in (*equal_fronts, *range(len(fronts))):
        front = fronts[i].front
        place = None if front is None else _place(front, solution)
        if place is not None:
            return i, place
    raise ProblemError(f"{what}: the solution is not on the front")


def _place(front: Front, solution: Solution) -> int | None:
    """Return the position of a solution of the front, of a part of it, or of an equal front."""
    values = np.array(list(solution.values.values()))
    if list(solution.values) != [q.key for q in front.quantities]:
        return None
    equal_rows = np.flatnonzero((front.values == values).all(axis=1))
    return next((int(i) for i in equal_rows if front[int(i)] == solution), None)


def _families(front: Front | None) -> dict[str, Any] | None:
    """Return the families of a front that has several, in the order in which they were searched."""
    if front is None or front.families is None or len(set(front.families)) < 2:
        return None
    searched = [name for name in front.run.get("families", ()) if name in front.families]
    names = list(dict.fromkeys([*searched, *front.families]))
    return {"names": names, "of": [names.index(name) for name in front.families]}


def _thin_out(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return points[:: max(1, -(-len(points) // _GREY))]


def _numbers(values: NDArray[np.float64]) -> list[list[float | int | None]]:
    return [[_number(value) for value in row] for row in values.tolist()]


def _number(value: float) -> float | int | None:
    """Round to ten digits: more than anyone reads, and half the space."""
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 1e15 else float(f"{value:.10g}")
