"""Recodings of a scanned table with noise: nodes by distinct tuple, numbers noised as they are written."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.columns import no_records
from privmoo.data.table import Table
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.nodes import node_cells, numeric_columns
from privmoo.recodings.recoding import Recoding

__all__ = ["ColumnNoise", "NoisedTuples"]


@dataclass(frozen=True)
class ColumnNoise:
    """Laplace noise on the numbers of one quasi-identifier.

    Attributes:
        scales: In every part of the tuples.
        step: What noise is rounded to.
        low: The smallest number of the domain.
        high: The largest one.
    """

    scales: tuple[float, ...]
    step: float
    low: float
    high: float

    def unchanged(self, values: NDArray[Any], parts: NDArray[Any]) -> NDArray[np.float64]:
        """With what probability each number stays; at an end of the domain, noise beyond it is cut.

        >>> own = ColumnNoise((1.0,), 1.0, 0.0, 9.0)
        >>> own.unchanged(np.array([5, 9]), np.array([0, 0])).round(3).tolist()
        [0.393, 0.697]
        """
        inside = -np.expm1(-0.5 * self.step / np.array(self.scales)[parts])
        ends = (values == self.low).astype(int) + (values == self.high)
        digits = max(0, -math.floor(math.log10(self.step)))
        possible = (
            (np.round(values, digits) == values) & (values >= self.low) & (values <= self.high)
        )
        return np.where(possible, inside + ends * (1 - inside) / 2, 0.0)


class NoisedTuples(Recoding):
    """Every distinct tuple publishes nodes of its own, and every record numbers with noise of its own.

    The noise is drawn when the records are written, batch by batch, so this has no released numbers.

    Args:
        table: The scanned table.
        levels: Categorical quasi-identifiers × tuples: the level that each is published at.
        noise: The noise of every numeric quasi-identifier, by place.
        parts: The part of every tuple, where parts have noise of different scales.
        facts: What was done, as plain data, for the certificate.
        cautions: What does not follow from it, in sentences, for the certificate.
    """

    def __init__(
        self,
        table: Table,
        levels: NDArray[np.int64],
        noise: Mapping[int, ColumnNoise],
        *,
        parts: NDArray[np.int8],
        facts: Mapping[str, Any],
        cautions: Sequence[str] = (),
    ) -> None:
        self.qis, self.parts, self.noise = table.qis, parts, dict(noise)
        self.nodes = node_cells(table)
        self._facts, self._cautions = dict(facts), tuple(cautions)
        originals = table.originals.frame
        self.whole = {
            j: pd.api.types.infer_dtype(originals[table.qis[j].name], skipna=True) == "integer"
            for j in noise
        }
        categorical = [j for j in range(table.n_qis) if j not in noise]
        self.cells = {
            j: self.nodes[j].ids[levels[i], table.tuples[:, j]] for i, j in enumerate(categorical)
        }

    def candidate(self, table: Table) -> Candidates:
        """Tuples with the same nodes are one group, whatever their numbers."""
        keys = np.column_stack([*self.cells.values()])
        _, labels = np.unique(keys, axis=0, return_inverse=True)
        return Candidates(labels=labels.ravel().astype(np.int32)[None])

    def apply(self, table: Table, rows: NDArray[np.int64]) -> pd.DataFrame:
        """The labels of some rows, and their numbers before noise."""
        columns = {}
        tuples = table.originals.tuples[rows]
        for j, qi in enumerate(self.qis):
            if j in self.noise:
                columns[qi.name] = pd.Series(np.asarray(numeric_columns(table)[j])[rows])
            else:
                names = np.array(self.nodes[j].labels, dtype=object)
                columns[qi.name] = pd.Series(names[self.cells[j][tuples]], dtype="str")
        return pd.DataFrame(columns)

    def meanings(self, table: Table) -> dict[str, dict[str, list[str]]]:
        """Leaves by label; a number stands for itself."""
        result = {}
        for j, cells in self.cells.items():
            nodes, qi = self.nodes[j], self.qis[j]
            result[qi.name] = {
                nodes.labels[cell]: list(qi.leaves[nodes.start[cell] : nodes.stop[cell]])
                for cell in np.unique(cells)
            }
        return result

    def relative_levels(self) -> dict[str, dict[str, float]]:
        """Per categorical quasi-identifier and label, its level over the hierarchy's height."""
        return {
            self.qis[j].name: dict(
                zip(
                    self.nodes[j].labels,
                    (self.nodes[j].level / max(self.nodes[j].height, 1)).tolist(),
                    strict=True,
                )
            )
            for j in self.cells
        }

    def describe(self, released: Mapping[str, Collection[str]] | None = None) -> dict[str, str]:
        """How each quasi-identifier is published."""
        words = {}
        for j, qi in enumerate(self.qis):
            if j in self.noise:
                words[qi.name] = "number with noise"
                continue
            used = len(np.unique(self.cells[j])) if released is None else len(released[qi.name])
            words[qi.name] = f"value or node of its hierarchy, tuple by tuple ({used} different)"
        return words

    def facts(self) -> dict[str, Any]:
        """What was done, for the certificate."""
        return self._facts

    def cautions(self) -> tuple[str, ...]:
        """What does not follow, for the certificate."""
        return self._cautions

    def noised(self) -> list[str]:
        """The quasi-identifiers that are published with noise."""
        return [self.qis[j].name for j in sorted(self.noise)]

    def to_json(self) -> NoReturn:
        """Not possible: a front of the scheme needs single records."""
        raise no_records("recoding with noise")

    def key(self) -> bytes:
        """Equal nodes with equal noise."""
        digest = hashlib.blake2b(digest_size=16)
        for cells in self.cells.values():
            digest.update(np.ascontiguousarray(cells).tobytes())
        digest.update(self.parts.tobytes() + repr(sorted(self.noise.items())).encode())
        return digest.digest()

    def expected_originality(self, table: Table) -> float:
        """Return the share of cells that are published unchanged, in the mean over noise."""
        tuples, weights = table.originals.tuples, table.originals.row_weights
        kept = 0.0
        for j, qi in enumerate(self.qis):
            if j in self.noise:
                own = np.asarray(numeric_columns(table)[j])
                share = self.noise[j].unchanged(own, self.parts[tuples])
            else:
                nodes, cells = self.nodes[j], self.cells[j][tuples]
                share = (nodes.stop[cells] - nodes.start[cells] == 1) & qi.exact
            kept += float(weights @ share)
        return kept / (int(weights.sum()) * len(self.qis))

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {words}" for name, words in self.describe().items())
