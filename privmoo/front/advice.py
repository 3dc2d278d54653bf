"""Advice: what a front tells a publisher, in a few sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from privmoo._util.wording import count_noun, join_words
from privmoo.errors import ProblemError
from privmoo.front.choice import compromise
from privmoo.front.choices import cost_of, least_k, places_of_choices, suggested
from privmoo.front.flat_regions import largest_regions
from privmoo.front.knees import marked_knee, protecting
from privmoo.front.pairs import Pair, pair_of

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["remarks"]

_REGIONS = 3
_KNEES = 3


def remarks(
    front: Front, *, gain: str | None = None, cost: str | None = None, calls: bool = True
) -> list[tuple[str, str]]:
    """Return the sentences of `Front.advice`, each with a title.

    Args:
        front: The front.
        gain: What is gained; the first objective that is maximised by default.
        cost: What is paid; the first objective that is minimised by default.
        calls: Whether to name methods that can be called; readers of a page have no Python.
    """
    if not len(front):
        raise ProblemError("advice: the front is empty")
    if front.n_objectives == 1 and (gain is None or cost is None):
        alone = front[0]
        phrases = join_words(q.phrase(alone.values[q.key]) for q in front.objectives)
        return [("The range", f"one objective, so one solution: {phrases}.")]
    pair = pair_of(front, gain, cost)
    ends = [pair.phrase(pair.gains[i], pair.costs[i]) for i in (0, -1)]
    several = len(pair.rows) > 1
    span = f"from {ends[0]} to {ends[1]}" if several else f"which has {ends[0]}"
    sentences = [("The range", f"{count_noun(len(front), 'solution')}, {span}.")]
    if not several:
        return sentences
    start = suggested(front)
    if gain is None and cost is None:
        sentences = [*_choices(front, start), *sentences]
    knee_place = marked_knee(front)
    if knee_place is not None or start is None:
        place = compromise(front) if knee_place is None else knee_place
        title = "No knee, but in the middle" if knee_place is None else "The knee"
        step = front.next_step(front[place], gain=gain, cost=cost)
        text = f"solution {front[place].number}, {_objectives(front, place, join_words)}"
        sentences.append((title, f"{text}; from there {step}."))
        start = place if start is None else start
    sentences += _flat(pair, calls)
    others = [i for i in _local_knees(front) if i != knee_place][:_KNEES]
    if others:
        texts = (f"{front[i].number} ({_objectives(front, i)})" for i in others)
        what = "solution" if len(others) == 1 else "solutions"
        suffix = f"every step away from {what} {join_words(texts)} loses more than it gains."
        sentences.append(("Local knees" if knee_place is None else "Other knees", suffix))
    return [*sentences, ("To ask", _questions(front, pair, start))] if calls else sentences


def _choices(front: Front, start: int | None) -> list[tuple[str, str]]:
    """Return what the usual levels of privacy cost, and which solution to begin with."""
    offers = places_of_choices(front)
    if not offers:
        return []
    cost = cost_of(front, offers[0][0].quantity)
    texts = [
        f"{demand} at {cost.phrase(front[place].values[cost.key])} (solution {front[place].number})"
        for demand, place in offers
    ]
    begin = ""
    if start is not None:
        begin = (
            f"; begin with solution {front[start].number}, {_objectives(front, start, join_words)}"
        )
    return [("The choices", f"{', '.join(texts)}{begin}.")]


def _local_knees(front: Front) -> list[int]:
    """Return the places of other solutions of high trade-off, without those that protect nobody."""
    rows = protecting(front)
    knees = front.rows(rows).high_trade_off().index
    return [int(np.flatnonzero(front.numbers == number)[0]) for number in knees]


def _flat(pair: Pair, calls: bool) -> list[tuple[str, str]]:
    regions, total = largest_regions(pair, _REGIONS)
    if not regions:
        return []
    texts = [
        " to ".join(pair.phrase(pair.gains[end], pair.costs[end]) for end in region)
        for region in regions
    ]
    where = " in front.flat_regions()" if calls else ""
    suffix = f"; {total - len(texts)} more{where}" if total > len(texts) else ""
    return [("Much for little", f"from {'; from '.join(texts)}{suffix}.")]


def _objectives(front: Front, place: int, join: Callable[[Iterable[str]], str] = ", ".join) -> str:
    values = front[place].values
    return join(q.phrase(values[q.key]) for q in front.objectives)


def _questions(front: Front, pair: Pair, place: int) -> str:
    """Return calls to copy, about values near the suggested solution."""
    values = front[place].values
    if "k" in values and values["k"] >= 2:
        values["k"] = min(values["k"], least_k(front))  # people ask for round numbers
    paid, gain_quantity = pair.paid, pair.gained
    limit, demand = (
        f"{'max' if q.sense == 'min' else 'min'}_{q.key}" for q in (paid, gain_quantity)
    )
    cost, gain = (_round(values[q.key]) for q in (paid, gain_quantity))
    calls = ["choices()"]
    if gain_quantity.sense == "max":
        calls.append(f"best_within({limit}={cost})")
    if paid.sense == "min":
        calls.append(f"cheapest_with({demand}={gain})")
    wishes = ", ".join(f"{q.key}={_round(values[q.key])}" for q in front.objectives)
    calls += [f"near({wishes})", f"next_step({front[place].number})", "rates()", "plot_trade_off()"]
    return ", ".join(f"front.{call}" for call in calls) + "."


def _round(value: float) -> str:
    return f"{float(f'{value:.3g}'):.15g}"
