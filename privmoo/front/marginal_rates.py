"""Marginal rates: what the next step along a trade-off costs, and what it buys."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from privmoo._util.checks import is_number
from privmoo.errors import ProblemError
from privmoo.front.answer import Answer
from privmoo.front.choice import need_solutions, place_of
from privmoo.front.pairs import Pair, pair_of
from privmoo.front.quantities import Quantity
from privmoo.front.solution import Solution

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["next_step", "rates"]

_ROUNDING = 1e-12


def rates(
    front: Front, *, gain: str | None = None, cost: str | None = None, step: float | None = None
) -> pd.DataFrame:
    """Return every step along a trade-off with its price, for `Front.rates`.

    Args:
        front: The front.
        gain: What is bought; the first objective that is maximised by default.
        cost: What is paid; the first objective that is minimised by default.
        step: The amount of cost that the sentences speak of.
    """
    need_solutions(front, "rates")
    pair = pair_of(front, gain, cost)
    amount = _amount(pair, step)
    gained, paid = pair.gained, pair.paid
    steps = {paid: np.diff(pair.costs), gained: np.diff(pair.gains)}
    frame = pd.DataFrame(
        {
            "next_solution": front.numbers[pair.rows[1:]],
            paid.key: pair.costs[:-1],
            gained.key: pair.gains[:-1],
            **{f"{q.key}_step": change for q, change in steps.items()},
            "rate": np.abs(gained.shown(steps[gained]) / paid.shown(steps[paid])),
            "sentence": [_step(front, pair, int(row), amount).sentence for row in pair.rows[:-1]],
        },
        index=pd.Index(front.numbers[pair.rows[:-1]], name="solution"),
    )
    return frame.astype({"sentence": object})


def next_step(
    front: Front,
    solution: Solution | int,
    *,
    gain: str | None = None,
    cost: str | None = None,
    step: float | None = None,
) -> Answer:
    """Answer what a little more of the cost buys, for `Front.next_step`.

    Args:
        front: The front.
        solution: One of its solutions, or the number of one.
        gain: What is bought; the first objective that is maximised by default.
        cost: What is paid; the first objective that is minimised by default.
        step: The amount of cost.
    """
    place = place_of(front, solution, "next_step")
    pair = pair_of(front, gain, cost)
    return _step(front, pair, place, _amount(pair, step))


def _amount(pair: Pair, step: float | None) -> float:
    if step is not None:
        if not (is_number(step) and 0 < step < math.inf):
            raise ProblemError(f"step: must be a number above 0, got {step!r}")
        return float(step)
    if pair.paid.percent:
        return 0.01
    span = float(np.ptp(pair.costs))
    whole_costs = bool((pair.costs == np.round(pair.costs)).all())
    amount = 10.0 ** math.floor(math.log10(span / 100)) if span > 0 else 1.0
    return max(amount, 1.0) if whole_costs else amount


def _step(front: Front, pair: Pair, place: int, amount: float) -> Answer:
    gained, paid = pair.gained, pair.paid
    own_gain = float(front.column(gained.key)[place])
    own_cost = float(front.column(paid.key)[place])
    better = gained.sign * (own_gain - pair.gains)
    dearer = paid.sign * (pair.costs - own_cost)
    own_text = gained.write(own_gain)
    # Along the pair gain grows with cost. A gain that is lost in rounding is not worth a sentence.
    rows = np.flatnonzero(better > 0)
    news = next(
        (i for i, r in enumerate(rows) if gained.write(pair.gains[r]) != own_text), len(rows)
    )
    rows = rows[news:]
    if not len(rows):
        extreme = "most" if gained.sense == "max" else "least"
        end = f"{gained.phrase(own_gain)} is the {extreme}"
        return Answer(f"{_more(paid)} {paid.words} buys nothing: {end}", None, {})
    near = rows[dearer[rows] <= amount + _ROUNDING]
    row = int(near[-1]) if len(near) else int(rows[0])
    gain_text = _change(gained, own_gain, float(pair.gains[row]))
    there = pair.phrase(float(pair.gains[row]), float(pair.costs[row]))
    next_amount = f"{_next(paid)} {paid.write_difference(amount)} of {paid.words}"
    if paid.write(own_cost) == paid.write(float(pair.costs[row])):
        sentence = f"{gain_text} costs nothing in {paid.words}: {there}"
    elif len(near):
        sentence = f"{next_amount} buys {gain_text}: {there}"
    else:
        price = f"{paid.write_difference(float(dearer[row]))} {_more(paid)} {paid.words}"
        sentence = f"{next_amount} buys nothing; {price} buys {gain_text}: {there}"
    return Answer(sentence, front[int(pair.rows[row])], {})


def _next(paid: Quantity) -> str:
    return "the next" if paid.sense == "min" else "giving up"


def _more(paid: Quantity) -> str:
    return "more" if paid.sense == "min" else "less"


def _change(quantity: Quantity, before: float, after: float) -> str:
    sign = "+" if after > before else "−"
    return f"{quantity.words} {sign}{quantity.write_difference(abs(after - before))}"
