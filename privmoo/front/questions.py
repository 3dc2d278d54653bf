"""The questions of a data publisher (Dewri et al. 2011, section 1), answered from a front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.front.choice import excess, limit_in_words, limited, nearest_ideal, within
from privmoo.front.pairs import Pair, join, pair_of
from privmoo.front.quantities import Quantity, find
from privmoo.front.solution import Solution

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["Answer", "best_within", "cheapest_with", "flat_regions", "largest_regions"]


@dataclass(frozen=True)
class Answer:
    """An answer in a sentence, with the solutions that it speaks of; false if there is none.

    Attributes:
        sentence: The answer.
        solution: The solution within the limits; None if there is none.
        runners_up: The next better solution just outside each limit, by limit.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> cuts = [[1, 1, 1, 1, 1], [0, 1, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    >>> answer = pm.Front.of(problem, cuts).best_within(max_loss=0.5, maximise="k")
    >>> answer
    k = 3 at 40 % loss; allowing 100 % loss would give k = 6
    >>> answer.solution.recoding
    age: 20–22 | 40–60
    >>> pm.Front.of(problem, cuts).cheapest_with(min_k=2)
    possible: k = 3 at 40 % loss; with k = 1 it would be 0 % loss
    """

    sentence: str
    solution: Solution | None
    runners_up: Mapping[str, Solution]

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return self.sentence

    def __bool__(self) -> bool:
        return self.solution is not None


def best_within(
    front: Front, *, maximise: str | Sequence[str] | None = None, **limits: float
) -> Answer:
    """How much privacy do these limits allow?

    Questions 1, 2 and 4 of the paper.

    `best_within(front, max_loss=0.25, maximise="k")` answers with numbers and with the runner-up just
    outside the limit: "k = 14 at 24.9 % loss; allowing 26 % loss would give k = 17". With several
    names the answer is the solution within the limits that balances them (`Front.compromise`).

    Args:
        front: The front asked.
        maximise: What to get most of; the first objective that is maximised by default. For the least
            of something within limits, see `cheapest_with`.
        limits: Such as `max_loss=0.25`, as for `Front.where`.
    """
    targets = _targets(front, maximise)
    if not limits:
        raise ProblemError("best_within: give a limit, such as max_loss=0.25")
    inside = within(front, limits, "best_within")
    if not inside.any():
        return _closest(front, limits)
    rows = np.flatnonzero(inside)
    allowed = front.rows(rows)
    chosen = front[int(rows[_choose(allowed, targets)])]
    runners = _runners_up(front, limits, targets, chosen)
    told = [q for limit in limits if (q := limited(front, limit)[0]) not in targets]
    sentence = join(q.phrase(chosen.values[q.key]) for q in targets)
    sentence += _at(told, chosen)
    if len(targets) > 1:
        ends = [allowed.best(q.key).values for q in targets]
        texts = dict.fromkeys(join(q.phrase(end[q.key]) for q in targets) for end in ends)
        others = [text for text in texts if not sentence.startswith(text)]
        sentence += f" (or {' or '.join(others)})" if others else ""
    for limit, runner in runners.items():
        quantity = limited(front, limit)[0]
        gained = join(q.phrase(runner.values[q.key]) for q in targets)
        sentence += f"; allowing {quantity.phrase(runner.values[quantity.key])} would give {gained}"
    return Answer(sentence, chosen, runners)


def cheapest_with(front: Front, *, minimise: str | None = None, **demands: float) -> Answer:
    """Can these demands be met together, and what do they cost?

    Question 3 of the paper.

    `cheapest_with(front, min_k=5, min_l=3)` answers "possible: k = 6 and ℓ = 3.2 at 18 % loss; …".

    Args:
        front: The front asked.
        minimise: What it should cost least of; the first objective that is minimised by default.
        demands: Such as `min_k=5`, as for `Front.where`.
    """
    if not demands:
        raise ProblemError("cheapest_with: give a demand, such as min_k=5")
    cost = _aim(_named(front, minimise, "min", "minimise"), "minimise")
    inside = within(front, demands, "cheapest_with")
    if not inside.any():
        return _closest(front, demands)
    chosen_front = front.rows(np.flatnonzero(inside))
    best = chosen_front.best(cost.key)
    chosen = front[int(np.flatnonzero(inside)[best.index])]
    demanded = list(dict.fromkeys(limited(front, demand)[0] for demand in demands))
    sentence = f"possible: {join(q.phrase(chosen.values[q.key]) for q in demanded)}"
    sentence += _at([cost], chosen)
    runners = _runners_up(front, demands, [cost], chosen)
    for demand, runner in runners.items():
        quantity = limited(front, demand)[0]
        price = cost.phrase(runner.values[cost.key])
        sentence += f"; with {quantity.phrase(runner.values[quantity.key])} it would be {price}"
    return Answer(sentence, chosen, runners)


def flat_regions(
    front: Front,
    *,
    gain: str | None = None,
    cost: str | None = None,
    steepness: float = 2.0,
    least: float = 0.03,
) -> pd.DataFrame:
    """Where the front is flat: a large gain in privacy for little loss (Dewri et al. 2011, section 7.2).

    On the axes of `Front.plot`, gain and cost go from 0 to 1 over the front, so that the gain per cost
    is 1 on average. A region is flat where gain exceeds `steepness` times the cost, and as long as going
    on still pays by that rate.

    Args:
        front: The front; of three objectives, what is not dominated in the two chosen.
        gain: What is gained; the first objective that is maximised by default.
        cost: What is paid; the first objective that is minimised by default.
        steepness: Least gain per cost, as a multiple of the front's average.
        least: Least gain that is worth listing, as a share of the front's whole range.

    Returns:
        A row per region in the order of the cost: cost and gain at both ends, the numbers of the two
        solutions, and the steepness.
    """
    pair = pair_of(front, gain, cost)
    paid, gained = pair.scaled()
    columns = [f"{q.key}_{end}" for end in ("from", "to") for q in (pair.paid, pair.gained)]
    table = [
        [
            *(column[end] for end in (i, j) for column in (pair.costs, pair.gains)),
            pair.rows[i],
            pair.rows[j],
            (gained[j] - gained[i]) / (paid[j] - paid[i]),
        ]
        for i, j in _regions(paid, gained, steepness, least)
    ]
    names = [*columns, "solution_from", "solution_to", "steepness"]
    frame = pd.DataFrame(table, columns=pd.Index(names))
    whole = {"solution_from": np.int64, "solution_to": np.int64}
    return frame.astype({name: whole.get(name, np.float64) for name in names})


def largest_regions(front: Front, pair: Pair, most: int) -> tuple[list[tuple[int, int]], int]:
    """The flat regions in which most is gained beyond the average, in order, and how many there are.

    Regions are places along the pair.
    """
    found = flat_regions(front, gain=pair.gained.key, cost=pair.paid.key)
    place = {int(row): i for i, row in enumerate(pair.rows)}
    firsts, lasts = ([place[i] for i in found[f"solution_{end}"]] for end in ("from", "to"))
    ends = list(zip(firsts, lasts, strict=True))
    paid, gained = pair.scaled()
    bargain = [gained[j] - gained[i] - (paid[j] - paid[i]) for i, j in ends]
    return sorted(ends[i] for i in np.argsort(bargain)[::-1][:most]), len(ends)


def _regions(
    paid: NDArray[np.float64], gained: NDArray[np.float64], steepness: float, least: float
) -> list[tuple[int, int]]:
    """All maximal stretches in which the gain exceeds `steepness` times the cost most.

    That is the stretch where gain - steepness · cost rises most, then the same on both sides of it.
    """
    profit = gained - steepness * paid
    regions = []
    open_parts = [(0, len(profit))]
    while open_parts:
        low, high = open_parts.pop()
        if high - low < 2:
            continue
        lowest = np.minimum.accumulate(profit[low:high])
        end = int(np.argmax(profit[low:high] - lowest))
        begin = int(np.flatnonzero(profit[low : low + end + 1] == lowest[end])[-1])
        if begin == end:
            continue
        i, j = low + begin, low + end
        if gained[j] - gained[i] >= least:
            regions.append((i, j))
        open_parts += [(low, i + 1), (j, high)]
    return sorted(regions)


def _targets(front: Front, maximise: str | Sequence[str] | None) -> list[Quantity]:
    if maximise is None or isinstance(maximise, str):
        return [_aim(_named(front, maximise, "max", "maximise"), "maximise")]
    if not maximise:
        raise ProblemError("maximise: name at least one measure")
    names = dict.fromkeys(maximise)
    return [_aim(find(front.quantities, name, what="maximise"), "maximise") for name in names]


def _aim(quantity: Quantity, what: str) -> Quantity:
    """The quantity, if it is better in the direction asked for."""
    if (quantity.sense == "max") == (what == "maximise"):
        return quantity
    less, other = (
        ("less", "cheapest_with(minimise")
        if what == "maximise"
        else ("more", "best_within(maximise")
    )
    raise ProblemError(
        f"{what}: of {quantity.key!r} {less} is better; limit it instead, such as "
        f"{'max' if less == 'less' else 'min'}_{quantity.key}=…, or ask "
        f"{other}={quantity.key!r}, …)"
    )


def _named(front: Front, name: str | None, sense: str, what: str) -> Quantity:
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
    front: Front, limits: Mapping[str, float], targets: list[Quantity], chosen: Solution
) -> dict[str, Solution]:
    """Per limit, the least violation of it alone with which every target is as good and one better."""
    runners = {}
    signed = [q.sign * (front.column(q.key) - chosen.values[q.key]) for q in targets]
    better = np.all([s <= 0 for s in signed], axis=0) & np.any([s < 0 for s in signed], axis=0)
    for limit, bound in limits.items():
        beyond = excess(front, limit, bound)
        others = within(front, {k: v for k, v in limits.items() if k != limit})
        rows = np.flatnonzero(better & others & ~within(front, {limit: bound}))
        keys = [*(s[rows] for s in signed[::-1]), beyond[rows]]
        for row in rows[np.lexsort(keys)]:
            runner = front[int(row)]
            # A gain that is lost in rounding is no news.
            if any(q.write(runner.values[q.key]) != q.write(chosen.values[q.key]) for q in targets):
                runners[limit] = runner
                break
    return runners


def _closest(front: Front, limits: Mapping[str, float]) -> Answer:
    said = " and ".join(limit_in_words(front, limit, bound) for limit, bound in limits.items())
    if not len(front):
        return Answer(f"not possible: the front is empty, so nothing has {said}", None, {})
    beyond = np.zeros(len(front))
    for limit, bound in limits.items():
        span = float(np.ptp(front.column(limited(front, limit)[0].key))) or 1.0
        beyond = np.maximum(beyond, excess(front, limit, bound) / span)
    near = front[int(np.argmin(beyond))]
    told = dict.fromkeys([*(limited(front, limit)[0] for limit in limits), *front.objectives])
    has = join(q.phrase(near.values[q.key]) for q in told)
    return Answer(
        f"not possible: no solution has {said}; the closest has {has}", None, {"closest": near}
    )


def _at(quantities: Sequence[Quantity], chosen: Solution) -> str:
    told = join(q.phrase(chosen.values[q.key]) for q in dict.fromkeys(quantities))
    return f" at {told}" if told else ""
