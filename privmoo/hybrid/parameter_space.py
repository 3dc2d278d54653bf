"""HybridParameterSpace: the parameters of the hybrid scheme as decision variables."""

from __future__ import annotations

import hashlib
import math
import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo.errors import ProblemError
from privmoo.hybrid.checks import check_pair
from privmoo.hybrid.mechanism import HybridMechanism, HybridParameters
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.nodes import node_cells
from privmoo.spaces.base import NOISE, SECRET, row_keys
from privmoo.spaces.parameters import Parameter, ParameterSpace

__all__ = ["HybridParameterSpace"]


class HybridParameterSpace(ParameterSpace):
    """The parameters of the hybrid scheme: k, both ε, the diversity threshold and levels.

    For every categorical quasi-identifier there are two levels: one in diverse clusters and one in the
    others, which is never lower.

    Args:
        scheme: What the parameters give on a table.
        k: The smallest and the largest k of clusters; 2 to 50 by default, or less for few records.
        epsilon: Smallest and largest ε, of both partitions.
        noise_seed: The seed of the noise, to repeat it; a secret one by default. Whoever knows the seed
            can try out guesses of the records: the right ones give the released numbers.
    """

    chunk = 8

    def __init__(
        self,
        scheme: HybridMechanism,
        *,
        k: tuple[int, int] | None = None,
        epsilon: tuple[float, float] = (0.1, 10.0),
        noise_seed: int | None = None,
    ) -> None:
        if noise_seed is not None:
            whole_number("noise_seed", noise_seed, at_least=0)
        table = scheme.table
        super().__init__(table, _parameters(scheme, k, epsilon))
        self.scheme, self.noise_seed = scheme, noise_seed
        self._seed = secrets.randbits(128) if noise_seed is None else noise_seed
        self._is_used = False
        self.view = table.split(np.arange(table.n_records))
        self._record = np.empty(table.n_records, np.int64)  # the record of every tuple of the view
        self._record[self.view.row_tuple] = np.arange(table.n_records)

    def scheme_parameters(self, x: NDArray[Any]) -> HybridParameters:
        """Return what a decision vector sets."""
        row = self._as_read(np.atleast_2d(x))[0]
        n = len(self.scheme.categorical)
        return HybridParameters(
            k=int(row[0]),
            epsilon_violating=float(row[1]),
            epsilon_other=float(row[2]),
            diversity=float(row[3]),
            least=tuple(int(level) for level in row[4 : 4 + n]),
            average=tuple(int(level) for level in row[4 + n :]),
        )

    def _as_read(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return rows as the scheme reads them: the average level is never below the least."""
        rows = self.clean(X)
        n = len(self.scheme.categorical)
        rows[:, 4 + n :] = np.maximum(rows[:, 4 + n :], rows[:, 4 : 4 + n])
        return rows

    def candidates(self, X: NDArray[Any], repeat: int = 0) -> Candidates:
        """Return what decision vectors publish, as the engine groups it.

        Args:
            X: One row per candidate.
            repeat: The number of the draw of the noise; 0 is the one that is released.
        """
        cells = [self.recoding(x, repeat) for x in X]
        labels = np.stack([recoding.labels[self._record] for recoding in cells])
        return Candidates(labels=labels, cells=cells)

    def recoding(self, x: NDArray[Any], repeat: int = 0) -> CellRecoding:
        """Return what a decision vector publishes.

        Args:
            x: A decision vector.
            repeat: The number of the draw of the noise; 0 is the one that is released.
        """
        self._is_used = True
        return self.scheme.recoding(self.scheme_parameters(x), self._seed, repeat)

    def keys(self, X: NDArray[Any]) -> list[bytes]:
        """Return one key per decision vector, equal where the scheme reads it alike."""
        return row_keys(self._as_read(X) + 0.0)

    @property
    def secret(self) -> str | None:
        """The seed of the noise, unless a user gave it."""
        return None if self.noise_seed is not None else f"{self._seed:032x}"

    def resume(self, secret: str) -> None:
        """Draw the same noise as the space that had this secret.

        Raises:
            ProblemError: Other noise is in use already, or a seed was given.
        """
        if self.secret == secret:
            return
        if self.noise_seed is not None or self._is_used:
            raise ProblemError(
                "noise_seed: the run that is to be continued had other noise; make a new problem "
                "with the same arguments"
            )
        self._seed = int(secret, 16)

    def parameters(self) -> dict[str, Any]:
        """Return what makes a recoding of parameters, without the seed of the noise."""
        scheme = self.scheme
        numeric = [self.table.qi_names[j] for j in scheme.numeric]
        return {
            "strict": scheme.strict,
            "split_by": {name: list(values) for name, values in scheme.split.values.items()},
            "records_violating": scheme.split.n_violating,
            "sensitivity": dict(zip(numeric, scheme.sensitivity, strict=True)),
            "bounds": dict(zip(numeric, map(list, scheme.bounds), strict=True)),
            "weight": scheme.weight,
            "ranges": {p.name: [p.low, p.high] for p in self.variables},
            NOISE: self._noise_id(),
        }

    def _noise_id(self) -> str:
        """Return a few characters that differ for other noise. They are for files of the publisher.

        With a seed that is known they tell whether a guess of the records is right, as version 0.1 had
        them; certificates and reports must not show them.
        """
        if self.secret is not None:
            digest = hashlib.blake2b(self.secret.encode(), digest_size=8).hexdigest()
            return f"{SECRET} {digest}"
        draws = self.scheme.draws(self._seed)
        return hashlib.blake2b(draws.tobytes(), digest_size=8).hexdigest()


def _parameters(
    scheme: HybridMechanism, k: tuple[int, int] | None, epsilon: tuple[float, float]
) -> list[Parameter]:
    if k is None:
        sizes = [scheme.split.n_violating, *([scheme.split.n_other] if scheme.strict else [])]
        k = 2, max(2, min([50, *(n for n in sizes if n)]))
    for name, ends in (("k", k), ("epsilon", epsilon)):
        check_pair(name, ends)
    for end in k:
        scheme.check_k(end)
    table = scheme.table
    entropy = min(math.log(max(int((a.totals > 0).sum()), 2)) for a in table.sensitive.values())
    levels = []
    for clusters in ("least", "average"):
        for j in scheme.categorical:
            qi = table.qis[j]
            highest = min(qi.max_level, node_cells(table)[j].height)
            levels.append(Parameter(f"{clusters}_{qi.name}", qi.min_level, highest, whole=True))
    return [
        Parameter("k", k[0], k[1], whole=True, logarithmic=True),
        Parameter("epsilon_violating", *epsilon, logarithmic=True),
        Parameter("epsilon_other", *epsilon, logarithmic=True),
        Parameter("diversity", 0.0, entropy),
        *levels,
    ]
