"""Solution: one trade-off of a front, which explains itself and becomes a release."""

from __future__ import annotations

import html
import itertools
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo import registry
from privmoo.data.table import Table
from privmoo.errors import ProblemError, ReleaseError, nearest
from privmoo.evaluation.engine import Engine
from privmoo.front.description import stated_parameters
from privmoo.front.quantities import RECORDS_SUPPRESSED
from privmoo.front.saving import measures_from, policy_from, recoding_from
from privmoo.groups.groups import Grouping
from privmoo.measures.base import Measure
from privmoo.recodings.base import Recoding
from privmoo.recodings.columns import Labels
from privmoo.release.certificate import OVERLAP
from privmoo.release.copy import write_copy
from privmoo.release.evidence import released_labels
from privmoo.release.lost_values import LostValues, lost_values
from privmoo.release.plan import Origin, ReleasePlan
from privmoo.release.release import Release, make_release
from privmoo.release.utility import ReleasedRows, loss_of_labels
from privmoo.suppression import ExplicitRecords, Suppression

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmoo.front.front import Front

__all__ = ["Solution"]

_RUN_FACTS = ("algorithm", "seed", "generations")


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """One solution of a front. Every recorded measure is an attribute, such as `solution.k`.

    Attributes:
        front: The front of the solution.
        index: The place of the solution on this front, which may be a part of another one; see `number`.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> problem = pm.problems.Cuts(table)
    >>> solution = pm.Front.of(problem, [[0, 0, 1, 0, 0]])[0]
    >>> solution.k, round(solution.loss, 3), solution.recoding.describe()
    (3.0, 0.4, {'age': '20–22 | 40–60'})
    >>> solution.release()
    Release of 6 records in 2 QI-groups, k = 3, loss = 0.4
    """

    front: Front
    index: int

    @property
    def number(self) -> int:
        """The number that front, explorer and command line use for it: its place on the whole front."""
        return int(self.front.numbers[self.index])

    @property
    def x(self) -> NDArray[Any]:
        """The decision vector."""
        row: NDArray[Any] = self.front.X[self.index]
        return row

    @property
    def family(self) -> str:
        """The family of its recoding, such as `"cuts"`."""
        front = self.front
        if front.families is not None:
            return front.families[self.index]
        kinds = () if front.problem is None else front.problem.space.kinds
        return kinds[0] if kinds else str(self.recoding.name)

    @property
    def values(self) -> dict[str, float]:
        """The recorded quantities by name, in their natural sense."""
        keys = [q.key for q in self.front.quantities]
        return dict(zip(keys, self.front.values[self.index].tolist(), strict=True))

    def __getattr__(self, name: str) -> float:
        if name.startswith("_"):
            raise AttributeError(name)
        values = self.values
        if name not in values:
            raise AttributeError(
                f"solution: {name!r} is not recorded; recorded are {', '.join(values)}"
                f"{nearest(name, values)}"
            )
        return values[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.values]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Solution):
            return NotImplemented
        return (
            self.values == other.values
            and np.array_equal(self.x, other.x)
            and _same(self.thresholds, other.thresholds)
        )

    def __hash__(self) -> int:
        return hash(tuple(self.values.items()))

    # What it does to the table

    @property
    def table(self) -> Table:
        """The original records."""
        if self.front.table is None:
            raise ProblemError(
                "solution: the front was loaded without its table; "
                "use Front.load(path, table=…) or Front.load(path, problem=…)"
            )
        return self.front.table

    @property
    def recoding(self) -> Recoding:
        """The recoding: what every quasi-identifier is published as."""
        recoding_data = None if self.front.recodings is None else self.front.recodings[self.index]
        if recoding_data is None:
            if self.front.problem is None:
                raise ProblemError("solution: the front has no recodings; load it with its problem")
            return self.front.problem.recoding(self.x)
        return recoding_from(self.table, recoding_data, self.index)

    @property
    def thresholds(self) -> NDArray[np.float64] | None:
        """The thresholds, if the solution is a step of the staircase of its decision vector."""
        steps = self.front.thresholds
        if steps is None or np.isnan(steps[self.index]).any():
            return None
        return np.asarray(steps[self.index])

    @property
    def suppression(self) -> Suppression:
        """The policy that decides which records are left out."""
        if self.front.problem is not None:
            return self.front.problem.policy(self.x, self.thresholds)
        recoding_data = (self.front.recodings or [None] * len(self.front))[self.index] or {}
        policy = recoding_data.get("suppression", self.front.description.get("suppression"))
        return policy_from(policy)

    def _published_records(self) -> NDArray[np.bool_] | None:
        return None if self.front.problem is None else self.front.problem.published(self.x)

    def groups(self) -> Grouping:
        """Return the QI-groups of the release, after suppression."""
        return self._groups_with({"labels"} | ({"counts"} if self.table.sensitive else set()))

    def _groups_with(self, needs: AbstractSet[str]) -> Grouping:
        """Return the QI-groups with all that some measures need."""
        table, mask = self.table, self._published_records()
        view = self.recoding.view(table)
        candidate = self.recoding.candidate(view)
        if mask is not None:
            candidate = replace(candidate, published=mask[None])
        engine = Engine(view, suppression=self.suppression, needs=set(needs), threads=1)
        return engine.groups(candidate)[1][0]

    def loss_per_attribute(self) -> pd.Series:
        """Return the loss of every quasi-identifier; suppressed records count as completely lost.

        A generalised value loses (leaves in its block - 1) / (leaves - 1) (Iyengar 2002); the mean over
        attributes, by their weights, is the measure `loss`. The loss of a column of means and modes is its
        information loss: the distance to the released values, divided by the deviation of the column. A
        number with noise loses its distance from the original, divided by the width of the domain.
        """
        recoding, table = self.recoding, self.table
        labels = _labels_of_values(recoding)
        if labels is None:
            view = recoding.view(table)
            candidate = recoding.candidate(view)
            if candidate.spans is not None and candidate.labels is not None:
                return self._loss_of_ranges(view, candidate.spans[0], candidate.labels[0])
            rows = self.released_rows()
            rows_and_originals = ReleasedRows(table, recoding.apply(table, rows), recoding, rows)
            return rows_and_originals.loss_per_column()
        mask = self._published_records()
        if mask is None:
            released_records = np.where(self.groups().labels >= 0, table.weights, 0)
        else:
            tuples = table.row_tuple[mask]
            released_records = np.bincount(tuples, minlength=table.n_tuples)
        return loss_of_labels(table, labels, released_records)

    def _loss_of_ranges(
        self, view: Table, spans: NDArray[np.int64], labels: NDArray[np.int32]
    ) -> pd.Series:
        """Return the loss of every quasi-identifier by the widths of its ranges, without making rows."""
        leaves = np.array([max(qi.n_leaves - 1, 1) for qi in view.qis])
        widths = (spans[:, :, 1] - spans[:, :, 0] - 1) / leaves
        weights = np.where(self.groups().labels >= 0, view.weights, 0)
        losses = weights @ widths[labels] + view.n_records - weights.sum()
        return pd.Series(losses / view.n_records, index=view.qi_names, name="loss")

    def group_sizes(self) -> pd.DataFrame:
        """Count the released records by the size of their QI-group: larger groups hide people better."""
        groups = self.groups()
        sizes, place = np.unique(groups.sizes, return_inverse=True)
        return pd.DataFrame(
            {
                "groups": np.bincount(place, minlength=len(sizes)),
                "records": np.bincount(place, weights=groups.records, minlength=len(sizes)).astype(
                    np.int64
                ),
            },
            index=pd.Index(sizes, name="group size"),
        )

    def release(self, *, seed: int | None = None, shuffle: bool = True) -> Release:
        """Make the anonymised table, audit it, and certify it.

        Args:
            seed: The seed of the order of the rows; by default the order is random and cannot be repeated.
            shuffle: Whether to change the order of the rows.
        """
        return make_release(
            self.table,
            self.recoding,
            suppression=self._policy_or_mask(),
            measures=self._measures(),
            origin=self._origin(),
            shuffle=shuffle,
            seed=seed,
        )

    def write(
        self,
        path: str | Path,
        *,
        seed: int | None = None,
        force: bool = False,
        spreadsheets: bool = False,
    ) -> list[Path]:
        """Audit the release and write it with its certificate; a scanned table is copied batch by batch.

        Args:
            path: The file of the rows, `.csv` or `.parquet`; the certificate is written next to it. For a
                Dask DataFrame, a folder of parts that all workers must be able to reach.
            seed: The seed of the order of the rows; by default the order is random and cannot be repeated.
            force: Whether files that exist are replaced.
            spreadsheets: Whether texts that a spreadsheet would read as a formula get an apostrophe.
        """
        plan = ReleasePlan.of(
            self.table,
            self.recoding,
            suppression=self._policy_or_mask(),
            measures=self._measures(),
            origin=self._origin(),
        )
        return write_copy(plan, path, seed=seed, force=force, spreadsheets=spreadsheets)

    def _policy_or_mask(self) -> Suppression | NDArray[np.bool_]:
        """Return the policy, or a mask of the records that are published."""
        mask, policy = self._published_records(), self.suppression
        if mask is None:
            return policy
        if policy != ExplicitRecords():
            raise ReleaseError(
                f"solution: it chooses the published records itself, so {type(policy).__name__} would not "
                "be applied; use ExplicitRecords() as the suppression of its problem"
            )
        return mask

    def _measures(self) -> list[Measure]:
        if self.front.problem is not None:
            return list(self.front.problem.measures)
        return measures_from(self.front.quantities)

    def _origin(self) -> Origin:
        """Return how the recoding was found."""
        front = self.front
        method = {
            "problem": front.description.get("problem"),
            "parameters": stated_parameters(front.description),
            **{key: front.run[key] for key in _RUN_FACTS if key in front.run},
        }
        definitions = {
            data["key"]: data.get("definition", 1) for data in front.description.get("measures", ())
        }
        older = {
            m.key for m in self._measures() if definitions.get(m.key, m.definition) != m.definition
        }
        claims = {key: value for key, value in self.values.items() if key not in older}
        return Origin(claims=claims, method=method)

    # In words and pictures

    def explain(self) -> str:
        """Describe what the release publishes for every attribute, how private it is, and what it costs."""
        return "\n".join(
            f"{title}\n" + "\n".join(f"  {name}: {text}" for name, text in rows)
            for title, rows in self._sections()
        )

    def _sections(self) -> list[tuple[str, list[tuple[str, str]]]]:
        figures = [
            (q.label.removesuffix(" (%)"), q.write(self.values[q.key]))
            for q in self.front.quantities
            if q.key != RECORDS_SUPPRESSED
        ]
        n_suppressed = int(self.values[RECORDS_SUPPRESSED])
        if self.front.table is None:
            return [("Measured", [*figures, ("records suppressed", f"{n_suppressed:,}")])]
        table = self.table
        share = n_suppressed / table.n_records
        figures.append(
            ("records suppressed", f"{n_suppressed:,} of {table.n_records:,} ({share:.2%})")
        )
        lost_by_column = self.lost_values()
        columns = [
            (name, f"{text}; {lost_by_column[name]}" if name in lost_by_column else text)
            for name, text in self.describe_columns().items()
        ]
        if any(isinstance(column, Labels) and column.is_local for column in self.recoding.columns):
            note = f"{OVERLAP}; each label is right for its own group"
            if len(self.groups().sizes) == 1:
                note = "all records are published alike: they form one group, which was not divided"
            columns.append(("note", note))
        sections = [("What is published", columns), ("Measured", figures)]
        loss_by_attribute = self.loss_per_attribute()
        rows = [(str(name), f"{value * 100:.4g} %") for name, value in loss_by_attribute.items()]
        sections += [("Loss per attribute", rows), ("QI-groups", self._group_rows())]
        more = [
            (f"solution {answer.solution.number}", answer.sentence)
            for answer in self.front.for_a_little_more(self)
            if answer.solution is not None
        ]
        return [*sections, ("For a little more", more)] if more else sections

    def released_rows(self) -> NDArray[np.int64]:
        """Return the rows of `Table.originals` that are released."""
        mask = self._published_records()
        if mask is not None:
            return np.flatnonzero(mask)
        tuples = self.recoding.view(self.table).originals.tuples
        return np.flatnonzero(self.groups().labels[tuples] >= 0)

    def describe_columns(self) -> dict[str, str]:
        """Describe what is published for every quasi-identifier.

        Labels that occur only in suppressed records are left out; `lost_values` counts the values that are
        lost with them.
        """
        recoding = self.recoding
        return recoding.describe(self._released_counts(recoding))

    def summarise_columns(self) -> dict[str, str]:
        """Say in a few words what becomes of every quasi-identifier, such as "ranges of 5 to 20".

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> problem = pm.problems.Cuts(table)
        >>> front = pm.Front.of(problem, [[1] * 5, [0, 0, 1, 0, 0], [0] * 5])
        >>> [solution.summarise_columns()["age"] for solution in front]
        ['unchanged', 'ranges of 3 to 21', '*']
        """
        recoding = self.recoding
        label_counts, lost_by_column = self._released_counts(recoding), self.lost_values()
        words = {}
        for column in recoding.columns:
            text = column.summarise(label_counts[column.name])
            if column.name in lost_by_column:
                text += f"; {lost_by_column[column.name].remaining}"
            words[column.name] = text
        return words

    def kept_columns(self) -> list[str]:
        """Return the quasi-identifiers in which every released record has its original value."""
        recoding = self.recoding
        label_counts = self._released_counts(recoding)
        return [c.name for c in recoding.columns if c.keeps_values(label_counts[c.name])]

    def lost_values(self) -> dict[str, LostValues]:
        """Return, per quasi-identifier, the values that occur in the table but not in the release.

        A column without lost values has no entry. The result is for the publisher only: it may point to a
        person who was the only one with a value.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 20, 20, 40, 40, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> problem = pm.problems.Cuts(table, suppression=pm.BelowThreshold(2))
        >>> pm.Front.of(problem, [[1, 1]])[0].lost_values()["age"]
        LostValues(lost=1, occurring=3, records=1, unit='value', people=True)
        """
        return lost_values(self.table, self.recoding, self.released_rows())

    def measure(self, measure: Measure) -> float:
        """Compute a measure that the front does not record.

        Args:
            measure: The measure, such as `QueryError()`.

        >>> import pandas as pd, privmoo as pm
        >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
        ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
        >>> pm.Front.of(pm.problems.Cuts(table), [[0, 0, 1, 0, 0]])[0].measure(pm.Uniqueness())
        0.0
        """
        return float(measure(self._groups_with(measure.needs)))

    def _released_counts(self, recoding: Recoding) -> dict[str, dict[str, int]]:
        """Return, per quasi-identifier, the released labels with the number of their records."""
        table = self.table
        columns = _labels_of_values(recoding)
        if columns is None:
            rows = self.released_rows()
            return released_labels(table, recoding.apply(table, rows), rows)
        groups = self.groups()
        batch = groups.batch
        tuples = table.tuples[batch.firsts[batch.starts[0] : batch.stops[0]]]
        label_counts = {}
        for j, column in enumerate(columns):
            counts = np.bincount(column.codes[tuples[:, j]], groups.records, column.n_cells)
            label_counts[column.name] = {
                column.labels[cell]: int(counts[cell]) for cell in np.flatnonzero(counts).tolist()
            }
        return label_counts

    def _group_rows(self) -> list[tuple[str, str]]:
        by_size = self.group_sizes()
        sizes = by_size.index.to_numpy()
        rows = [("number", f"{int(by_size['groups'].sum()):,}")]
        if len(sizes):
            sizes_of_groups = np.repeat(sizes, by_size["groups"].to_numpy())
            rows.append(("smallest, median, largest", _three(sizes_of_groups)))
        edges = [1, 2, 5, 10, 20, 50, 100, 1000, np.inf]
        for low, high in itertools.pairwise(edges):
            inside = (sizes >= low) & (sizes < high)
            count = int(by_size["records"].to_numpy()[inside].sum())
            if count:
                name = (
                    f"records in groups of {low:g}"
                    if high == low + 1
                    else f"records in groups of {low:,g} to {high - 1:,g}"
                    if np.isfinite(high)
                    else f"records in groups of {low:,g} or more"
                )
                rows.append((name, f"{count:,}"))
        return rows

    def plot_group_sizes(self, ax: Axes | None = None) -> Axes:
        """Draw how many records are in groups of each size (inset of Dewri et al. 2011, Fig. 6)."""
        axes: Axes = registry.load("views", "plot_group_sizes")(self, ax=ax)
        return axes

    def plot_loss(self, ax: Axes | None = None) -> Axes:
        """Draw what every quasi-identifier loses."""
        axes: Axes = registry.load("views", "plot_loss")(self, ax=ax)
        return axes

    def __repr__(self) -> str:
        phrases = ", ".join(q.phrase(self.values[q.key]) for q in self.front.objectives)
        return f"Solution {self.number} of {self.front.n_whole}: {phrases}"

    def _repr_html_(self) -> str:
        parts = [f"<div>{html.escape(repr(self))}</div>"]
        for title, rows in self._sections():
            cells = "".join(
                f"<tr><th style='text-align:left'>{html.escape(str(name))}</th>"
                f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
                for name, text in rows
            )
            parts.append(f"<h4>{html.escape(title)}</h4><table>{cells}</table>")
        return "".join(parts)


def _same(first: NDArray[np.float64] | None, second: NDArray[np.float64] | None) -> bool:
    return first is second or (
        first is not None and second is not None and np.array_equal(first, second)
    )


def _labels_of_values(recoding: Recoding) -> list[Labels] | None:
    """Return the columns if every value has one label in all of them, so that counts are enough."""
    columns = [c for c in recoding.columns if isinstance(c, Labels) and c.scope == "value"]
    return columns if len(columns) == len(recoding.columns) else None


def _three(sizes: NDArray[np.int64]) -> str:
    median = f"{np.median(sizes):,.1f}".removesuffix(".0")  # between two whole numbers at most
    return f"{sizes.min():,}, {median}, {sizes.max():,}"
