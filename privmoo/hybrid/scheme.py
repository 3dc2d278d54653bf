"""HybridScheme: Majeed and Hwang 2023, from a table to a release."""

from __future__ import annotations

import hashlib
import secrets
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from privmoo._util.checks import is_whole, number, positive, whole_number
from privmoo.data.table import Table
from privmoo.errors import ProblemError, nearest
from privmoo.hybrid.cautions import of_seed, of_texts
from privmoo.hybrid.checks import (
    check_numbers,
    check_scheme_table,
)
from privmoo.hybrid.clustering import MemberClusters, check_k
from privmoo.hybrid.mechanism import (
    HybridMechanism,
    HybridParameters,
    default_diversity,
    default_levels,
)
from privmoo.hybrid.patterns import Patterns, find_patterns
from privmoo.hybrid.splitting import Split, check_classes, friendly_names, split_records
from privmoo.hybrid.values import ValueClasses, check_thresholds, value_classes
from privmoo.measures import DisclosureRisk, Distortion, InformationLoss, KAnonymity, Originality
from privmoo.recodings.base import Recoding
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.nodes import node_cells, numeric_columns
from privmoo.release.certificate import caution_text
from privmoo.release.copy import write_copy
from privmoo.release.plan import Origin, ReleasePlan
from privmoo.release.release import Release, ReleaseWarning, make_release

__all__ = ["HybridScheme"]

_ORIGIN = Origin(
    method={"scheme": "hybrid of Laplace noise and k-member clusters (Majeed, Hwang 2023)"}
)


class HybridScheme:
    """Laplace noise for numbers, k-member clusters for the records that stand out.

    Majeed and Hwang 2023. Records with only frequent values in the pattern-friendly quasi-identifiers
    publish their categories as they are; the others are clustered, and their categories generalised: to
    `least` levels in clusters whose sensitive values are diverse enough, to `average` levels in the
    others. Numbers get noise in both partitions. Each step is a property: `patterns`, `classes`,
    `split`, `clusters`.

    The paper's Theorem 1 claims k-anonymity and ε-differential privacy for the release. Neither
    follows: the other records are not clustered, numbers with noise are single values, and a fixed
    level does not make the members of a cluster equal; the split and the clusters depend on the data,
    and categories have no noise. So the certificate states the k that the rows really have, on all
    quasi-identifiers and on those without noise, and what noise was added. `strict` makes k hold.

    In a scanned table, distinct tuples are clustered and stay whole; the forest sees records drawn by
    their counts; noise is drawn record by record while the release is written. Only `write` works then,
    not `run`, and `strict` is refused.

    Args:
        table: The records, with a categorical quasi-identifier and a sensitive attribute; it may be
            scanned.
        k: Fewest records of a cluster.
        epsilon_violating: ε of the noise in the violating partition: its scale is sensitivity / ε.
        epsilon_other: ε of the noise in the other partition.
        diversity: The smallest entropy, in nats, of a cluster that is generalised least; by default half
            of the table's entropy.
        strict: Give every cluster, of both partitions, one label per quasi-identifier: the lowest common
            ancestor of its categories, the interval of its noised numbers. Then k holds.
        patterns: The pattern-friendly quasi-identifiers; a random forest finds them by default.
        thresholds: See `value_classes`.
        non_violating: See `split_records`.
        least: Levels by categorical quasi-identifier; 1 by default.
        average: Levels by categorical quasi-identifier; the middle of the hierarchy by default.
        sensitivity: Δf, for all numbers or by quasi-identifier. The paper publishes none.
        bounds: Smallest and largest number, by quasi-identifier.
        weight: How much diversity counts against similarity in clusters.

    >>> import numpy as np, pandas as pd, privmoo as pm
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"age": rng.integers(20, 60, 200), "race": ["w"] * 180 + ["a", "b"] * 10,
    ...                    "ill": rng.choice(list("xyz"), 200)})
    >>> table = pm.Table(df, quasi_identifiers=["age", "race"], sensitive="ill")
    >>> scheme = HybridScheme(table, 5, patterns=["race"], strict=True)
    >>> scheme.split
    20 violating records (10.0%), 180 others: race in {w}
    >>> scheme.run(seed=1).certificate.privacy["k"] >= 5
    True
    """

    def __init__(
        self,
        table: Table,
        k: int,
        *,
        epsilon_violating: float = 3.0,
        epsilon_other: float = 5.0,
        diversity: float | None = None,
        strict: bool = False,
        patterns: Sequence[str] | Patterns | None = None,
        thresholds: tuple[float, float, float] = (0.25, 0.05, 0.01),
        non_violating: Sequence[str] = ("super-major",),
        least: Mapping[str, int] | None = None,
        average: Mapping[str, int] | None = None,
        sensitivity: float | Mapping[str, float] = 1.0,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        weight: float = 0.5,
    ) -> None:
        check_scheme_table(table, records=False)
        if strict:
            table.need_records("strict")
        positive("epsilon_violating", epsilon_violating)
        positive("epsilon_other", epsilon_other)
        if diversity is not None:
            number("diversity", diversity)
        check_numbers(table, sensitivity, bounds, weight)
        self.table, self.strict = table, strict
        self._patterns = patterns
        if patterns is not None and not isinstance(patterns, Patterns):
            friendly_names(table, patterns)
        self._thresholds = check_thresholds(thresholds)
        self._non_violating = check_classes(non_violating)
        categorical = [j for j, numbers in enumerate(numeric_columns(table)) if numbers is None]
        for caution in of_texts(table, categorical):
            text = f"{caution_text(caution)} Convert the column."
            warnings.warn(text, ReleaseWarning, stacklevel=2)
        low, middle = default_levels(table)
        self.parameters = HybridParameters(
            k=k,
            epsilon_violating=float(epsilon_violating),
            epsilon_other=float(epsilon_other),
            diversity=default_diversity(table) if diversity is None else float(diversity),
            least=_levels(table, "least", least, low),
            average=_levels(table, "average", average, middle),
        )
        check_k(k, table.n_records, "records")
        self._sensitivity, self._bounds, self._weight = sensitivity, bounds, weight

    @cached_property
    def patterns(self) -> Patterns | None:
        """Step 2: what the random forest says about every quasi-identifier; None if names were passed."""
        if self._patterns is None:
            return find_patterns(self.table)
        return self._patterns if isinstance(self._patterns, Patterns) else None

    @cached_property
    def classes(self) -> tuple[ValueClasses, ...]:
        """Step 3: the value classes of the pattern-friendly quasi-identifiers."""
        patterns = self.patterns
        names = self._patterns if patterns is None else patterns.friendly
        return tuple(
            value_classes(self.table, name, thresholds=self._thresholds)
            for name in friendly_names(self.table, names or ())  # type: ignore[arg-type]
        )

    @cached_property
    def split(self) -> Split:
        """Step 4: the violating records and the others."""
        return split_records(self.table, self.classes, non_violating=self._non_violating)

    @cached_property
    def space(self) -> HybridMechanism:
        """The space of what can be published of this table."""
        return HybridMechanism(
            self.table,
            self.split,
            strict=self.strict,
            sensitivity=self._sensitivity,
            bounds=self._bounds,
            weight=self._weight,
        )

    @property
    def clusters(self) -> MemberClusters:
        """Step 5: the clusters of the violating partition, with their entropy."""
        return self.space.clusters(self.parameters.k)

    def recoding(self, seed: int | None = None) -> CellRecoding:
        """Return what every record publishes with the noise of a seed; a secret one by default."""
        if seed is not None:
            whole_number("seed", seed, at_least=0)
        mixed_seed = self._mixed_seed(secrets.randbits(128) if seed is None else seed)
        return self.space.recoding(self.parameters, mixed_seed, cautions=of_seed(seed))

    @classmethod
    def like(cls, table: Table, parameters: HybridParameters, **options: Any) -> HybridScheme:
        """Return the scheme with parameters from elsewhere, such as from `Hybrid` on a sample.

        Args:
            table: The records.
            parameters: As from `Hybrid.scheme_parameters`; levels are in the order of the table's
                categorical quasi-identifiers.
            **options: Further arguments of the scheme: `patterns`, `strict`, `bounds` and so on.

        >>> import privmoo as pm
        >>> table = pm.testing.example_hybrid_table()
        >>> parameters = HybridScheme(table, 4, epsilon_other=2, patterns=["race"]).parameters
        >>> HybridScheme.like(table, parameters, patterns=["race"]).parameters == parameters
        True
        """
        check_scheme_table(table, records=False)
        if not isinstance(parameters, HybridParameters):
            raise ProblemError(
                f"parameters: must be HybridParameters, as from Hybrid.scheme_parameters(x), got "
                f"{type(parameters).__name__}"
            )
        columns = numeric_columns(table)
        names = [n for n, numbers in zip(table.qi_names, columns, strict=True) if numbers is None]
        if not len(parameters.least) == len(parameters.average) == len(names):
            raise ProblemError(
                f"parameters: have levels for {len(parameters.least)} categorical quasi-identifiers, "
                f"the table has {len(names)}"
            )
        return cls(
            table,
            parameters.k,
            epsilon_violating=parameters.epsilon_violating,
            epsilon_other=parameters.epsilon_other,
            diversity=parameters.diversity,
            least=dict(zip(names, parameters.least, strict=True)),
            average=dict(zip(names, parameters.average, strict=True)),
            **options,
        )

    def _mixed_seed(self, seed: int) -> int:
        """Return another seed for other parameters: noise that is used twice could be undone."""
        space = self.space
        text = repr(
            (seed, self.parameters, self.strict, space.sensitivity, space.weight, space.bounds)
        )
        split = np.ascontiguousarray(self.split.violating).tobytes()
        return int(hashlib.sha256(text.encode() + split).hexdigest(), 16)

    def run(self, seed: int | None = None) -> Release:
        """Return the union of both partitions as one release, audited, with a certificate.

        Args:
            seed: The seed of the noise and of the order of the rows; a secret one by default. Whoever
                knows the seed can try out guesses of the records, so keep it to yourself.
        """
        self.table.need_records("a release in memory", "use write(path)")
        plan, order = self._plan(seed)
        return make_release(
            plan.table, plan.recoding, measures=plan.measures, seed=order, origin=plan.origin
        )

    def write(
        self,
        path: str | Path,
        *,
        seed: int | None = None,
        force: bool = False,
        spreadsheets: bool = False,
    ) -> list[Path]:
        """Write the release and its certificate, all files or none; a scanned table batch by batch.

        The noise of a scanned table depends on the seed, the data and the parameters, not on threads or
        workers; on Dask also on how the records are cut into partitions.

        Args:
            path: Where the rows go, `.csv` or `.parquet`; the certificate goes beside them.
            seed: The seed of the noise and of the order of the rows; a secret one by default. Whoever
                knows the seed can try out guesses of the records, so keep it to yourself.
            force: Whether files that exist are replaced.
            spreadsheets: Whether texts that a spreadsheet would take for a formula get an apostrophe.
        """
        plan, order = self._plan(seed)
        return write_copy(plan, path, seed=order, force=force, spreadsheets=spreadsheets)

    def _plan(self, seed: int | None) -> tuple[ReleasePlan, int | None]:
        """Return what is to be released, and the seed of its order.

        Single records get their noise here, and are measured one by one. Where only counts are known,
        the source draws the noise while it copies.
        """
        if seed is not None:
            whole_number("seed", seed, at_least=0)
        order = None if seed is None else self._mixed_seed(seed)
        if not self.table.originals.are_records:
            recoding: Recoding = self.space.tuples(self.parameters, of_seed(seed))
            return ReleasePlan.of(self.table, recoding, origin=_ORIGIN), order
        recoding = self.recoding(seed)
        measures = [
            KAnonymity(),
            Originality(),
            Distortion(),
            InformationLoss(),
            DisclosureRisk(),
            DisclosureRisk(aggregate="max").named("disclosure_risk_max"),
        ]
        return ReleasePlan.of(self.table, recoding, measures=measures, origin=_ORIGIN), order

    def __repr__(self) -> str:
        p = self.parameters
        strict = ", strict" if self.strict else ""
        return (
            f"HybridScheme(k = {p.k}, ε = {p.epsilon_violating:g} and {p.epsilon_other:g}, diversity "
            f"{p.diversity:.3g}{strict}): {self.split}"
        )


def _levels(
    table: Table, what: str, chosen_levels: Mapping[str, int] | None, default: tuple[int, ...]
) -> tuple[int, ...]:
    places = [j for j, numbers in enumerate(numeric_columns(table)) if numbers is None]
    names = [table.qi_names[j] for j in places]
    values_by_name = dict(zip(names, default, strict=True))
    if chosen_levels is not None and not isinstance(chosen_levels, Mapping):
        raise ProblemError(f"{what}: must be levels by column, got {type(chosen_levels).__name__}")
    for name, level in (chosen_levels or {}).items():
        if name not in values_by_name:
            raise ProblemError(
                f"{what}: {name!r} is not a categorical quasi-identifier{nearest(name, names)}"
            )
        qi = table.qis[places[names.index(name)]]
        highest = min(qi.max_level, node_cells(table)[table.qi_names.index(name)].height)
        if not is_whole(level) or not qi.min_level <= level <= highest:
            raise ProblemError(
                f"{what}: {name!r} may have levels {qi.min_level} to {highest}, got {level!r}"
            )
        values_by_name[name] = int(level)
    return tuple(values_by_name.values())
