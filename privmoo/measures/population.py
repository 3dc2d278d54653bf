"""Risk from an attacker who knows the population of which the table is a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import choice, fraction
from privmoo._util.data_frames import AnyFrame, as_pandas
from privmoo.data.columns import QuasiIdentifier
from privmoo.data.table import Table
from privmoo.data.tuples import distinct_tuples
from privmoo.errors import ColumnError, HierarchyError, MeasureError, nearest
from privmoo.groups.grouper import Grouper
from privmoo.groups.groups import GroupBatch, Stage
from privmoo.hierarchy import Hierarchy
from privmoo.kernels.sizes import population_risks, smallest
from privmoo.measures.base import FloatArray
from privmoo.measures.risk import Statistic, mean_inverse_size
from privmoo.measures.staged import Staged
from privmoo.recodings.candidates import Candidates

__all__ = ["JournalistRisk", "MarketerRisk"]


class _PopulationRisk(Staged):
    """A risk that depends on F, the size of a group in the population.

    F is counted in a table of the population, which is grouped once for every candidate (this takes time),
    or it is |g| / sampling fraction.
    """

    sense = "min"
    audited = True
    coarser = "better"

    def __init__(
        self,
        *,
        population: AnyFrame | None = None,
        sampling_fraction: float | None = None,
        stage: Stage = "after",
    ) -> None:
        if (population is None) == (sampling_fraction is None):
            raise MeasureError(
                f"{self.name}: give either population or sampling_fraction, "
                f"got {'neither' if population is None else 'both'}"
            )
        people = None
        if sampling_fraction is not None:
            fraction("sampling_fraction", sampling_fraction, above_zero=True, error=MeasureError)
            sampling_fraction = float(sampling_fraction)
        else:
            self.audited = False
            people = as_pandas(population, what="population", error=MeasureError)
            if not len(people):
                raise MeasureError("population: it has no rows; pass at least one")
        self.population: pd.DataFrame | None = people
        self.sampling_fraction = sampling_fraction
        self._grouped: _Population | None = None
        super().__init__(stage=stage)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_grouped": None}  # threads and buffers stay here

    def __repr__(self) -> str:
        parameters = {key: repr(value) for key, value in self.parameters.items()}
        if self.population is not None:
            parameters["population"] = f"<{len(self.population):,} rows>"
        inside = ", ".join(f"{key}={value}" for key, value in parameters.items())
        return f"{type(self).__name__}({inside})"

    def check(self, table: Table) -> None:
        """Raise a MeasureError unless the population contains the records of the table."""
        super().check(table)
        if self.population is not None:
            if table.subjects is not None:
                raise MeasureError(
                    f"{self.name}: the table counts persons by its subject column, a population "
                    "counts rows; give a sampling_fraction instead"
                )
            self._of(table)

    def _of(self, table: Table) -> _Population:
        population = self._grouped
        if population is None or population.table is not table:
            assert self.population is not None  # noqa: S101, the constructor has checked
            population = self._grouped = _Population(table, self.population)
        return population

    def _risks(self, groups: GroupBatch) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
        """Return the smallest F, the sum of F and the sum of |g|/F over each candidate's groups."""
        return self._of(groups.table).risks(groups, groups.need_blocks(self.name))

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from one group of the whole population to a record that is alone in it."""
        if self.population is not None:
            return 1 / len(self.population), 1.0
        return (self.sampling_fraction or 1.0) / table.n_records, 1.0


class JournalistRisk(_PopulationRisk):
    """Journalist risk: `1/F`, where F is the size of a group in the population. Less is better.

    El Emam 2013. The attacker does not know whether the person is in the table. As in ARX, the average
    is the larger of `groups / ΣF` and `Σ(|g|/F) / n`.

    Args:
        statistic: `"max"` or `"average"`.
        population: The quasi-identifiers of all persons, including those in the table; it is grouped
            once per candidate, which takes time.
        sampling_fraction: Instead, the share of the population that is in the table.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> groups = pm.group(pm.Table(pd.DataFrame({"a": [1, 1, 1, 2, 2]}), quasi_identifiers=["a"]))
    >>> JournalistRisk(sampling_fraction=0.1)(groups)
    0.05
    >>> JournalistRisk(population=pd.DataFrame({"a": [1] * 5 + [2] * 8}))(groups)
    0.2
    """

    name = "journalist_risk"

    def __init__(
        self,
        *,
        statistic: Statistic = "max",
        population: pd.DataFrame | None = None,
        sampling_fraction: float | None = None,
        stage: Stage = "after",
    ) -> None:
        choice("statistic", statistic, ("max", "average"), error=MeasureError)
        self.statistic: Statistic = statistic
        super().__init__(population=population, sampling_fraction=sampling_fraction, stage=stage)

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the largest or the average risk of every candidate."""
        if self.sampling_fraction is None:
            smallest_sizes, total, shares = self._risks(groups)
            if self.statistic == "max":
                return 1 / smallest_sizes
            return np.maximum(groups.n_groups / total, shares / groups.n_records)
        if self.statistic == "average":
            return self.sampling_fraction * mean_inverse_size(groups)
        smallest_size = np.empty(len(groups), np.int64)
        smallest(groups.starts, groups.stops, groups.sizes, smallest_size)
        return np.asarray(self.sampling_fraction / smallest_size)


class MarketerRisk(_PopulationRisk):
    """Marketer risk: the share of records that link correctly, `Σ(|g|/F) / n`. Less is better.

    El Emam 2013, where F is the size of a group in the population.

    Args:
        population: The quasi-identifiers of all persons, including those in the table; it is grouped
            once per candidate, which takes time.
        sampling_fraction: Instead, the share of the population that is in the table.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> groups = pm.group(pm.Table(pd.DataFrame({"a": [1, 1, 1, 2]}), quasi_identifiers=["a"]))
    >>> MarketerRisk(sampling_fraction=0.1)(groups)
    0.05
    """

    name = "marketer_risk"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the expected share of every candidate."""
        if self.sampling_fraction is None:
            return np.asarray(self._risks(groups)[2] / groups.n_records)
        return self.sampling_fraction * mean_inverse_size(groups)


class _Population:
    """A population in terms of the leaves of a table, ready to be grouped like the table."""

    def __init__(self, table: Table, frame: pd.DataFrame) -> None:
        self.table = table
        for name in table.qi_names:
            if name not in frame.columns:
                raise ColumnError(
                    f"population: column {name!r} is not in it{nearest(name, frame.columns)}"
                )
        domains = {
            qi.name: QuasiIdentifier(hierarchy=qi.hierarchy or Hierarchy.flat(qi.leaves))
            for qi in table.qis
        }
        frame = pd.concat([frame[table.qi_names]], ignore_index=True)
        try:
            everyone = Table(frame, quasi_identifiers=domains)
        except HierarchyError as error:
            raise MeasureError.of(error, "population") from None
        for qi, theirs in zip(table.qis, everyone.qis, strict=True):
            if qi.n_leaves != theirs.n_leaves:  # only the leaf of missing values is ever added
                raise MeasureError(
                    f"population: column {qi.name!r} has missing values, but the table's has none; "
                    "leave those rows out"
                )
        self.places = _places(table, everyone)
        self.grouper = Grouper(everyone, needs={"labels"})

    def risks(
        self, groups: GroupBatch, blocks: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
        """Return the smallest F, the sum of F and the sum of |g|/F over each candidate's groups.

        Args:
            groups: The groups of the table.
            blocks: The blocks of the same candidates.
        """
        smallest_sizes, total = np.empty(len(groups), np.int64), np.empty(len(groups), np.int64)
        shares = np.empty(len(groups))
        step = self.grouper.chunk
        for i in range(0, len(groups), step):
            part = slice(i, i + step)
            everyone = self.grouper.group(Candidates(blocks=blocks[part]))
            assert everyone.labels is not None  # noqa: S101, the grouper was asked for them
            population_risks(
                groups.starts[part],
                groups.stops[part],
                groups.records,
                groups.firsts,
                self.places,
                everyone.labels,
                everyone.starts,
                everyone.records,
                smallest_sizes[part],
                total[part],
                shares[part],
            )
        return smallest_sizes, total, shares


def _places(table: Table, everyone: Table) -> NDArray[np.int32]:
    """Return where the table's tuples are in the population, which must hold as many of each."""
    leaves = [
        np.concatenate([table.tuples[:, j], everyone.tuples[:, j]]).astype(np.int64)
        for j in range(table.n_qis)
    ]
    tuples, number, _ = distinct_tuples(leaves, [qi.n_leaves for qi in table.qis], table.sort_order)
    place = np.full(len(tuples), -1, np.int32)
    place[number[table.n_tuples :]] = np.arange(everyone.n_tuples)
    places = place[number[: table.n_tuples]]
    short = (places < 0) | (everyone.weights[places] < table.weights)
    if short.any():
        row = int(short[table.row_tuple].argmax())
        raise MeasureError(
            f"population: it has fewer records like row {row} than the table itself; pass a population "
            "that contains the table"
        )
    return places
