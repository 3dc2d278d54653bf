"""ReleasePlan: which part of a table is to be released, before anything is copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo.data.table import Table
from privmoo.errors import ReleaseError
from privmoo.evaluation.engine import Engine
from privmoo.groups.groups import GroupBatch
from privmoo.measures.base import Measure
from privmoo.recodings.base import Recoding, recodings_in
from privmoo.suppression import ExplicitRecords, NoSuppression, Suppression

__all__ = ["Origin", "ReleasePlan", "check_seed"]

_COMPUTED = {"labels", "counts", "target"}


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The origin of a recoding: how it was found.

    Attributes:
        claims: The optimiser's values by `Measure.key`; without them, they are computed again.
        method: Facts for the certificate, such as problem, algorithm and seed of the search.
    """

    claims: Mapping[str, float] = field(default_factory=dict)
    method: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReleasePlan:
    """A plan of a release: a table, its recoding, and the records to publish.

    Attributes:
        table: The original.
        recoding: What the quasi-identifiers become.
        policy: Which records are left out.
        published: Which records are published, if the solution itself selects them.
        measures: The measures of the optimiser; audited ones are compared with the audit.
        origin: How the recoding was found.
    """

    table: Table
    recoding: Recoding
    policy: Suppression
    published: NDArray[np.bool_] | None
    measures: Sequence[Measure]
    origin: Origin

    @classmethod
    def of(
        cls,
        table: Table,
        recoding: Recoding,
        *,
        suppression: Suppression | NDArray[np.bool_] | None = None,
        measures: Sequence[Measure] = (),
        origin: Origin | None = None,
    ) -> ReleasePlan:
        """Make a plan.

        Args:
            table: The original.
            recoding: What the quasi-identifiers become.
            suppression: A policy, or a mask of the records that are published; by default all are.
            measures: The measures of the optimiser.
            origin: How the recoding was found.

        Raises:
            ReleaseError: The recoding is not a `Recoding`, or single records cannot be left out of it.
        """
        if recodings_in(recoding) != [recoding]:
            raise ReleaseError(
                f"recoding: must be a Recoding such as solution.recoding, got {type(recoding).__name__}"
            )
        policy: Suppression = NoSuppression()
        mask = None
        if isinstance(suppression, Suppression):
            policy = suppression
        elif suppression is not None:
            policy, mask = ExplicitRecords(), _checked_mask(table, suppression)
            if any(column.scope != "value" for column in recoding.columns):
                raise ReleaseError(
                    "suppression: classes release means and ranges of all their records, so single "
                    "records cannot be left out; suppress whole classes with a policy, or make the "
                    "classes of the records alone"
                )
        return cls(table, recoding, policy, mask, tuple(measures), origin or Origin())

    @cached_property
    def view(self) -> Table:
        """The table in the form that the engine needs."""
        return self.recoding.view(self.table)

    @cached_property
    def groups(self) -> tuple[GroupBatch, GroupBatch]:
        """The QI-groups before and after suppression."""
        needs = {"labels"}.union(*(m.needs for m in self.measures)) & _COMPUTED
        candidate = self.recoding.candidate(self.view)
        if self.published is not None:
            candidate = replace(candidate, published=self.published[None])
        engine = Engine(self.view, suppression=self.policy, needs=needs, threads=1)
        before, after = engine.groups(candidate)
        return before, after

    def kept_rows(self, row_tuple: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the rows that are released.

        Args:
            row_tuple: The tuple of every row of the view.

        Raises:
            ReleaseError: All records would be suppressed.
        """
        if self.published is not None:
            rows = np.flatnonzero(self.published)
        else:
            rows = np.flatnonzero(self.groups[1][0].labels[row_tuple] >= 0)
        if not len(rows):
            raise ReleaseError(
                "release: all records would be suppressed, which is not a release; choose another "
                "solution"
            )
        return rows


def _checked_mask(table: Table, published: Any) -> NDArray[np.bool_]:
    """Return a mask of records, or raise if it is not one."""
    mask = np.asarray(published)
    if mask.dtype != np.bool_ or mask.shape != (table.n_records,):
        raise ReleaseError(
            f"suppression: expected a policy, or True or False for each of {table.n_records:,} records, "
            f"got {type(published).__name__}"
        )
    return mask


def check_seed(seed: object) -> None:
    """Raise unless the seed of a release is None or a whole number of at least 0."""
    if seed is not None:
        whole_number("seed", seed, at_least=0, error=ReleaseError)
