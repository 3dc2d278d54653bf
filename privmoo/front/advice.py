"""Advice: what a front tells a publisher, in a few sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privmoo.errors import ProblemError
from privmoo.front.choice import compromise, marked_knee
from privmoo.front.marginal_rates import next_step
from privmoo.front.pairs import Pair, join, pair_of
from privmoo.front.preferences import high_trade_off
from privmoo.front.questions import largest_regions
from privmoo.front.text import counted

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["advice", "remarks"]

_REGIONS = 3
_KNEES = 3


def advice(front: Front) -> str:
    """What the front offers, where it is worth looking, and what one can ask it; for reading.

    The sentences stand beside the picture of `Front.plot_trade_off`: the range, the knee and the marginal
    rate there, flat regions, other solutions of high trade-off, and the questions that fit this front.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> cuts = [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> print(advice(pm.Front.of(pm.problems.Cuts(table), cuts)))
    The range: 3 solutions, from k = 1 at 0 % loss to k = 6 at 100 % loss.
    No knee, but in the middle: solution 1, k = 3 and 40 % loss; from there the next 1 % of loss buys
    nothing; 60 % more loss buys k +3: k = 6 at 100 % loss.
    To ask: front.best_within(max_loss=0.4), front.cheapest_with(min_k=3), front.near(k=3, loss=0.4),
    front.next_step(1), front.rates(), front.plot_trade_off().
    """
    return "\n".join(f"{title}: {text}" for title, text in remarks(front))


def remarks(
    front: Front, *, gain: str | None = None, cost: str | None = None, calls: bool = True
) -> list[tuple[str, str]]:
    """The sentences of `advice`, each with a title, about the trade-off of two quantities.

    Without `calls` for readers who have no Python.
    """
    if not len(front):
        raise ProblemError("advice: the front is empty")
    if front.n_objectives == 1 and (gain is None or cost is None):
        alone = front[0]
        said = join(q.phrase(alone.values[q.key]) for q in front.objectives)
        return [("The range", f"one objective, so one solution: {said}.")]
    pair = pair_of(front, gain, cost)
    ends = [pair.phrase(pair.gains[i], pair.costs[i]) for i in (0, -1)]
    several = len(pair.rows) > 1
    span = f"from {ends[0]} to {ends[1]}" if several else f"which has {ends[0]}"
    told = [("The range", f"{counted(len(front), 'solution')}, {span}.")]
    if not several:
        return told
    marked = marked_knee(front)
    place = compromise(front) if marked is None else marked
    title = "No knee, but in the middle" if marked is None else "The knee"
    said = join(q.phrase(front[place].values[q.key]) for q in front.objectives)
    step = next_step(front, place, gain=gain, cost=cost)
    told.append((title, f"solution {place}, {said}; from there {step}."))
    told += _flat(front, pair, calls)
    others = [i for i in high_trade_off(front).index if i != place][:_KNEES]
    if others:
        listed = join(f"{i} ({_objectives(front, i)})" for i in others)
        what = "solution" if len(others) == 1 else "solutions"
        more = f"every step away from {what} {listed} loses more than it gains."
        told.append(("Other knees" if title == "The knee" else "Local knees", more))
    return [*told, ("To ask", _questions(front, pair, place))] if calls else told


def _flat(front: Front, pair: Pair, calls: bool) -> list[tuple[str, str]]:
    regions, found = largest_regions(front, pair, _REGIONS)
    if not regions:
        return []
    texts = [
        " to ".join(pair.phrase(pair.gains[end], pair.costs[end]) for end in region)
        for region in regions
    ]
    where = " in front.flat_regions()" if calls else ""
    more = f"; {found - len(texts)} more{where}" if found > len(texts) else ""
    return [("Much for little", f"from {'; from '.join(texts)}{more}.")]


def _objectives(front: Front, place: int) -> str:
    values = front[place].values
    return ", ".join(q.phrase(values[q.key]) for q in front.objectives)


def _questions(front: Front, pair: Pair, place: int) -> str:
    """Calls that can be copied, about values round the knee."""
    values = front[place].values
    paid, gained = pair.paid, pair.gained
    limit, demand = (f"{'max' if q.sense == 'min' else 'min'}_{q.key}" for q in (paid, gained))
    cost, gain = (_round(values[q.key]) for q in (paid, gained))
    calls = []
    if gained.sense == "max":
        calls.append(f"best_within({limit}={cost})")
    if paid.sense == "min":
        calls.append(f"cheapest_with({demand}={gain})")
    wishes = ", ".join(f"{q.key}={_round(values[q.key])}" for q in front.objectives)
    calls += [f"near({wishes})", f"next_step({place})", "rates()", "plot_trade_off()"]
    return ", ".join(f"front.{call}" for call in calls) + "."


def _round(value: float) -> str:
    return f"{float(f'{value:.3g}'):.15g}"
