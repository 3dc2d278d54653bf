"""Affordable columns: what a slightly more expensive solution keeps as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import is_number
from privmoo._util.wording import join_words
from privmoo.errors import ProblemError
from privmoo.front.answer import Answer
from privmoo.front.choice import place_of
from privmoo.front.quantities import RECORDS_SUPPRESSED, Quantity
from privmoo.front.solution import Solution

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["for_a_little_more"]

_MOST_LOOKED_AT = 12
_MOST_ANSWERS = 3
_ROUNDING = 1e-12


def for_a_little_more(front: Front, solution: Solution | int, at_most: float) -> list[Answer]:
    """Answer which columns a little more of the cost keeps, for `Front.for_a_little_more`.

    Args:
        front: The front.
        solution: One of its solutions, or the number of one.
        at_most: The largest additional cost.
    """
    if not (is_number(at_most) and at_most > 0):
        raise ProblemError(f"for_a_little_more: at_most must be a number above 0, got {at_most!r}")
    place = place_of(front, solution, "for_a_little_more")
    costs = [q for q in front.objectives if q.sense == "min"]
    if front.table is None or not costs:
        return []
    here, cost = front[place], costs[0]
    unchanged_here = here.kept_columns()
    named_columns = set(unchanged_here)
    answers: list[Answer] = []
    for dearer in _slightly_dearer(front, place, cost, at_most):
        candidate = front[int(dearer)]
        columns = candidate.kept_columns()
        gained = [name for name in columns if name not in named_columns]
        if gained:
            named_columns.update(gained)
            given_up = [name for name in unchanged_here if name not in columns]
            answers.append(
                Answer(_sentence(here, candidate, cost, gained, given_up), candidate, {})
            )
        if len(answers) == _MOST_ANSWERS or len(named_columns) == front.table.n_qis:
            break
    return answers


def _slightly_dearer(front: Front, place: int, cost: Quantity, at_most: float) -> NDArray[np.intp]:
    """Return the solutions that cost a little more and are no worse otherwise, the cheapest first."""
    column = front.column(cost.key)
    extra = column - column[place]
    limit = at_most if cost.percent else at_most * float(np.ptp(column))
    near = (extra > 0) & (extra <= limit + _ROUNDING)
    for q in front.objectives:
        if q != cost:
            values = q.sign * front.column(q.key)
            near &= values <= values[place]
    rows = np.flatnonzero(near)
    return rows[np.argsort(extra[rows], kind="stable")][:_MOST_LOOKED_AT]


def _sentence(
    here: Solution, there: Solution, cost: Quantity, gained: list[str], given_up: list[str]
) -> str:
    """Return the additional cost, the columns that it keeps, and what else changes."""
    prices = []
    people = "people" if here.table.subject_name is None else "records"
    share = (there.values[RECORDS_SUPPRESSED] - here.values[RECORDS_SUPPRESSED]) / (
        here.table.n_records
    )
    if share >= 0.0005:
        prices.append(f"{100 * share:.2g} % more {people} left out")
    extra = there.values[cost.key] - here.values[cost.key]
    if cost.key not in ("suppression", RECORDS_SUPPRESSED) or not prices:
        prices.append(f"{cost.write_difference(float(f'{extra:.2g}'))} more {cost.words}")
    lost_values = there.lost_values()
    columns = join_words(
        f"{name!r} as it is" + (f" ({lost_values[name].remaining})" if name in lost_values else "")
        for name in gained
    )
    verb = "keeps" if len(prices) == 1 else "keep"
    sentence = f"{' and '.join(prices)} {verb} {columns}"
    if given_up:
        sentence += f", but not {join_words(map(repr, given_up))}"
    values = there.values
    where = ", ".join(q.phrase(values[q.key]) for q in here.front.objectives)
    return f"{sentence}: {where}"
