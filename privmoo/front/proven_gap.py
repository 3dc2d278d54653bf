"""ProvenGap: for every k the best value that was found, and the best that is still possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.errors import ProblemError
from privmoo.front.quantities import Quantity, find

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["ProvenGap", "proven_gap"]

_ROUNDING = 1e-9
_PRIVACY = {"k": "k", "weighted_k": "weighted-k"}


@dataclass(frozen=True, eq=False, repr=False)
class ProvenGap:
    """How much better than this front the true one can be, for every k, according to what is proven.

    Attributes:
        k: Every k (or weighted-k, if that is the objective) at which something changes, in order.
        found: The best value that a solution with k or more has; NaN if there is none.
        possible: The best value that a release with k or more can have.
        cost: The quantity that the values belong to.
        kind: What was searched, in a few words, such as "recoding of this kind".
        privacy: What `k` holds, in words.
    """

    k: NDArray[Any]
    found: NDArray[np.float64]
    possible: NDArray[np.float64]
    cost: Quantity
    kind: str = "recoding of this kind"
    privacy: str = "k"

    @property
    def widths(self) -> NDArray[np.float64]:
        """The distance between both values, 0 where the front is proven."""
        distance = np.abs(self.found - self.possible)
        return np.where(distance < _ROUNDING, 0.0, distance)

    @property
    def closed(self) -> bool:
        """Whether the front is proven for every k."""
        return bool((self.widths == 0).all())

    def to_frame(self) -> pd.DataFrame:
        """Return a row for every k: the value found, the value possible, and their distance."""
        columns: dict[str, Any] = {"found": self.found, "possible": self.possible}
        return pd.DataFrame(
            {**columns, "gap": self.widths}, index=pd.Index(self.k, name=self.privacy)
        )

    def at(self, k: float) -> str:
        """Say what is proven for one k.

        Args:
            k: The least k of a release.
        """
        place = int(np.searchsorted(self.k, k))
        where = f"at {self.privacy} = {k:,}"
        if place == len(self.k):
            return f"{where} no {self.kind} exists within the limits"
        verb = "less" if self.cost.sign > 0 else "more"
        limit, best = self.cost.write(self.possible[place]), self.cost.write(self.found[place])
        name = self.cost.words
        if np.isnan(self.found[place]):
            return f"{where} no {self.kind} has {verb} {name} than {limit}; none was found"
        if self.widths[place] == 0:
            return f"{where} the best {self.kind} has {best} {name}: proven"
        return f"{where} no {self.kind} has {verb} {name} than {limit}; the best found has {best}"

    @property
    def _range(self) -> str:
        first = "from 1 " if self.privacy == "k" else ""
        return f"{first}to {self.k[-1]:,}"

    def __repr__(self) -> str:
        if not len(self.k):
            return "ProvenGap: nothing is feasible"
        if self.closed:
            return f"ProvenGap: none, the front is proven for every {self.privacy} {self._range}"
        widths = np.nan_to_num(self.widths, nan=np.inf)
        widest = self.k[int(widths.argmax())].item()
        n_closed = int((self.widths == 0).sum())
        return (
            f"ProvenGap: closed for {n_closed:,} of {len(self.k):,} steps; the widest is "
            f"{self.at(widest)}"
        )


def proven_gap(front: Front) -> ProvenGap:
    """Return what is proven about a front of an exact search.

    Args:
        front: The front.

    Raises:
        ProblemError: Nothing is proven about it.
    """
    names = [q.key for q in front.objectives]
    bound = front.run.get("bound")
    privacy = next((name for name in names if name in _PRIVACY), None)
    others = [q for q in front.objectives if q.key not in (*_PRIVACY, "suppression")]
    if privacy is None or len(others) != 1 or (bound is None and not front.proven):
        raise ProblemError(
            "gap: nothing is proven about this front; compute exact_front(problem, start=front, "
            "seconds=...) for a bound, or pass a front or a bound to compare with"
        )
    [cost] = others
    values = cost.sign * front.column(cost.key)
    ks = front.column(privacy)
    ks = ks.astype(np.int64) if privacy == "k" else ks
    steps = np.column_stack([ks, front.column(cost.key)]) if bound is None else np.array(bound)
    steps = steps.reshape(-1, 2)
    steps = steps[np.argsort(steps[:, 0], kind="stable")]
    k = np.unique(np.concatenate([ks, steps[:, 0].astype(ks.dtype)]))
    costs = np.array([values[ks >= each].min(initial=np.inf) for each in k])
    least = np.minimum.accumulate((cost.sign * steps[:, 1])[::-1])[::-1]
    place = np.searchsorted(steps[:, 0], k)
    possible = np.append(least, np.inf)[place]
    # A bound beyond what was found is the found value itself: sums are rounded differently.
    possible = np.minimum(possible, costs)
    costs = np.where(np.isinf(costs), np.nan, cost.sign * costs)
    quantity = find(front.quantities, cost.key)
    return ProvenGap(k, costs, cost.sign * possible, quantity, privacy=_PRIVACY[privacy])
