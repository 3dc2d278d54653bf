"""The questions of a data publisher (Dewri et al. 2011, section 1), answered from a front."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from privmoo._util.wording import join_words
from privmoo.errors import ProblemError
from privmoo.front.answer import Answer
from privmoo.front.choice import nearest_ideal
from privmoo.front.limits import Limit, read_limits, within
from privmoo.front.quantities import Quantity, find
from privmoo.front.solution import Solution

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["best_within", "cheapest_with"]


def best_within(
    front: Front, maximise: str | Sequence[str] | None, bounds: Mapping[str, float]
) -> Answer:
    """Answer how much privacy some limits allow, for `Front.best_within`.

    Args:
        front: The front.
        maximise: What to get as much of as possible; the first objective that is maximised if None.
        bounds: The limits, such as `max_loss` by name.
    """
    targets = _targets(front, maximise)
    if not bounds:
        raise ProblemError("best_within: give a limit, such as max_loss=0.25")
    limits = read_limits(front, bounds, "best_within")
    inside = within(front, limits.values())
    if not inside.any():
        return _closest(front, limits.values())
    rows = np.flatnonzero(inside)
    candidates = front.rows(rows)
    solution = front[int(rows[_choose(candidates, targets)])]
    runners = _runners_up(front, limits, targets, solution)
    limit_quantities = [
        limit.quantity for limit in limits.values() if limit.quantity not in targets
    ]
    sentence = _phrases(targets, solution)
    if limit_quantities:
        sentence += f" at {_phrases(dict.fromkeys(limit_quantities), solution)}"
    if len(targets) > 1:
        texts = dict.fromkeys(_phrases(targets, candidates.best(q.key)) for q in targets)
        others = [text for text in texts if not sentence.startswith(text)]
        sentence += f" (or {' or '.join(others)})" if others else ""
    for name, runner in runners.items():
        excess = _phrases([limits[name].quantity], runner)
        sentence += f"; allowing {excess} would give {_phrases(targets, runner)}"
    return Answer(sentence, solution, runners)


def cheapest_with(front: Front, minimise: str | None, bounds: Mapping[str, float]) -> Answer:
    """Answer whether demands can be met together and at what cost, for `Front.cheapest_with`.

    Args:
        front: The front.
        minimise: What to pay as little of as possible; the first objective that is minimised if None.
        bounds: The demands, such as `min_k` by name.
    """
    if not bounds:
        raise ProblemError("cheapest_with: give a demand, such as min_k=5")
    cost = _aim(_find_quantity(front, minimise, "min", "minimise"), "minimise")
    demands = read_limits(front, bounds, "cheapest_with")
    rows = np.flatnonzero(within(front, demands.values()))
    if not len(rows):
        return _closest(front, demands.values())
    solution = front[int(rows[front.rows(rows).best(cost.key).index])]
    demand_quantities = dict.fromkeys(demand.quantity for demand in demands.values())
    sentence = f"possible: {_phrases(demand_quantities, solution)} at {_phrases([cost], solution)}"
    runners = _runners_up(front, demands, [cost], solution)
    for name, runner in runners.items():
        demand_text = _phrases([demands[name].quantity], runner)
        sentence += f"; with {demand_text} it would be {_phrases([cost], runner)}"
    return Answer(sentence, solution, runners)


def _phrases(quantities: Iterable[Quantity], solution: Solution) -> str:
    return join_words(q.phrase(solution.values[q.key]) for q in quantities)


def _targets(front: Front, maximise: str | Sequence[str] | None) -> list[Quantity]:
    if maximise is None or isinstance(maximise, str):
        return [_aim(_find_quantity(front, maximise, "max", "maximise"), "maximise")]
    if not maximise:
        raise ProblemError("maximise: name at least one measure")
    names = dict.fromkeys(maximise)
    return [_aim(find(front.quantities, name, what="maximise"), "maximise") for name in names]


def _aim(quantity: Quantity, what: str) -> Quantity:
    """Return the quantity, or raise if the opposite direction is better."""
    if (quantity.sense == "max") == (what == "maximise"):
        return quantity
    less, side, method = (
        ("less", "max", "cheapest_with(minimise")
        if what == "maximise"
        else ("more", "min", "best_within(maximise")
    )
    raise ProblemError(
        f"{what}: {less} of {quantity.key!r} is better; limit it instead, such as "
        f"{side}_{quantity.key}=…, or ask {method}={quantity.key!r}, …)"
    )


def _find_quantity(front: Front, name: str | None, sense: str, what: str) -> Quantity:
    if name is not None:
        return find(front.quantities, name, what=what)
    for quantity in front.objectives:
        if quantity.sense == sense:
            return quantity
    raise ProblemError(
        f"{what}: no objective of this front is {'maximised' if sense == 'max' else 'minimised'}; "
        f"name one of {', '.join(q.key for q in front.quantities)}"
    )


def _choose(front: Front, targets: list[Quantity]) -> int:
    if len(targets) == 1:
        return front.best(targets[0].key).index
    return nearest_ideal(front, targets)


def _runners_up(
    front: Front, limits: Mapping[str, Limit], targets: Sequence[Quantity], solution: Solution
) -> dict[str, Solution]:
    """Return per limit the least violation of it alone that makes no target worse and one better."""
    runners = {}
    differences = [q.sign * (front.column(q.key) - solution.values[q.key]) for q in targets]
    better = np.all([s <= 0 for s in differences], axis=0) & np.any(
        [s < 0 for s in differences], axis=0
    )
    for name, limit in limits.items():
        others = within(front, [limits[key] for key in limits if key != name])
        rows = np.flatnonzero(better & others & ~limit.holds(front))
        keys = [*(s[rows] for s in differences[::-1]), limit.excess(front)[rows]]
        for row in rows[np.lexsort(keys)]:
            runner = front[int(row)]
            # A gain that is lost in rounding is not worth a sentence.
            if any(
                q.write(runner.values[q.key]) != q.write(solution.values[q.key]) for q in targets
            ):
                runners[name] = runner
                break
    return runners


def _closest(front: Front, limits: Iterable[Limit]) -> Answer:
    """Return the answer where no solution is within all limits."""
    limits = list(limits)
    demand = " and ".join(map(str, limits))
    if not len(front):
        return Answer(f"not possible: the front is empty, so nothing has {demand}", None, {})
    excess = np.zeros(len(front))
    for limit in limits:
        span = float(np.ptp(front.column(limit.quantity.key))) or 1.0
        excess = np.maximum(excess, limit.excess(front) / span)
    closest = front[int(np.argmin(excess))]
    quantities = dict.fromkeys([*(limit.quantity for limit in limits), *front.objectives])
    return Answer(
        f"not possible: no solution has {demand}; the closest has {_phrases(quantities, closest)}",
        None,
        {"closest": closest},
    )
