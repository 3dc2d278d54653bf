"""Diversity of the sensitive values within QI-groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from privmoo._util.checks import positive
from privmoo.data.columns import Attribute
from privmoo.data.facts import fewest_values, value_numbers
from privmoo.data.table import Table
from privmoo.errors import MeasureError
from privmoo.groups.diversity import diversity_of_groups
from privmoo.groups.groups import GroupBatch, Segments, Stage
from privmoo.groups.missing import worst_case
from privmoo.kernels import diversity as kernels
from privmoo.kernels.sizes import weighted_sums
from privmoo.measures.base import FloatArray
from privmoo.measures.value_measure import ValueMeasure, values_by_kernel

if TYPE_CHECKING:
    from privmoo.suppression.staircase import Steps

__all__ = [
    "Alpha",
    "DistinctDiversity",
    "EntropyDiversity",
    "FrequencyDiversity",
    "MinimumEntropy",
    "PSensitivity",
    "RecursiveDiversity",
    "WeightedDiversity",
]


class DistinctDiversity(ValueMeasure):
    """Distinct ℓ-diversity: the fewest sensitive values in a group. More is better.

    Machanavajjhala et al. 2007. If there are several attributes, the least diverse one counts.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 2, 2], "ill": list("xyzxx")})
    >>> DistinctDiversity()(pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill")))
    1.0
    """

    name = "distinct_l"
    label = "distinct ℓ-diversity"
    sense = "max"
    coarser = "better"

    def _of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """Return the fewest values of one attribute in a group."""
        out = np.empty(len(groups))
        kernels.fewest_values(groups.starts, groups.stops, segments, out)
        return out

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing released to all values in every group."""
        return 0.0, float(fewest_values(table))


class PSensitivity(DistinctDiversity):
    """p of p-sensitive k-anonymity: the fewest sensitive values in a group. More is better.

    Truta & Vinay 2006; the same number as distinct ℓ-diversity.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 2, 2], "ill": list("xyxy")})
    >>> PSensitivity()(pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill")))
    2.0
    """

    name = "p"
    label = "p-sensitivity"


class EntropyDiversity(ValueMeasure):
    """Entropy ℓ-diversity: `exp(min over groups of -Σ p ln p)`. More is better.

    Machanavajjhala et al. 2007, Definition 4.1: a table is entropy ℓ-diverse up to this ℓ. Rounding
    keeps whole numbers: m equally frequent values have ℓ = m.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 2, 2, 2], "ill": list("xyzxyz")})
    >>> EntropyDiversity()(pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill")))
    3.0
    """

    name = "entropy_l"
    label = "entropy ℓ-diversity"
    sense = "max"
    coarser = "better"

    def _of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """Return the exponential of the smallest entropy of one attribute."""
        return values_by_kernel(kernels.least_effective_number, groups, segments)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing released to the same number of each value in every group."""
        return 0.0, float(fewest_values(table))


class FrequencyDiversity(ValueMeasure):
    """ℓ by frequency: the smallest `|g| / count of the most frequent value`. More is better.

    Dewri et al. 2011, Section 4.2: no value has more than 1/ℓ of the records of a group. This only counts
    values: an attacker who knows how the recoding was chosen may infer more.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 2, 2], "ill": list("xxyxy")})
    >>> FrequencyDiversity()(pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill")))
    1.5
    """

    name = "l"
    label = "ℓ-diversity"
    symbol = "ℓ"
    sense = "max"
    coarser = "better"

    def _of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """Return the least diverse group by one attribute."""
        return values_by_kernel(kernels.least_diversity, groups, segments)

    def of_steps(self, steps: Steps, n_records: int) -> FloatArray | None:
        """Return the value at every step of staircases.

        Args:
            steps: The steps.
            n_records: The records of the table.
        """
        return (
            steps.diversity
            if self.stage == "after" and not np.isnan(steps.diversity).any()
            else None
        )

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing released to the same number of each value in every group."""
        return 0.0, float(fewest_values(table))


class WeightedDiversity(ValueMeasure):
    """Weighted-ℓ: the diversity of a random record's group, `Σ|g|·ℓ_g / n`. More is better.

    Dewri et al. 2011, Eq. 6 with ℓ for k: ℓ_g = |g| / count of the most frequent value, the least
    over the attributes.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 2, 2], "ill": list("xxyxy")})
    >>> WeightedDiversity()(pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill")))
    1.7
    """

    name = "weighted_l"
    sense = "max"
    audited = True

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the mean over records of their group's diversity."""
        total = np.empty(len(groups))
        diversity = diversity_of_groups(groups)
        weighted_sums(groups.starts, groups.stops, groups.records, diversity, total)
        return np.asarray(total / groups.n_records)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from nothing released to the same number of each value in every group."""
        return 0.0, float(fewest_values(table))


class RecursiveDiversity(ValueMeasure):
    """Recursive (c,ℓ)-diversity: the largest ℓ with `r₁ < c(r_ℓ + … + r_m)` in every group.

    Machanavajjhala et al. 2007, Definition 4.2, with the counts r₁ ≥ r₂ ≥ … of a group's values; 0 if not
    even ℓ = 1 holds. More is better.

    Args:
        c: The factor, above 0.
        stage: `"after"` or `"before"` suppression.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 2, 2], "ill": list("xyzxy")})
    >>> groups = pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill"))
    >>> RecursiveDiversity(2)(groups), RecursiveDiversity(1)(groups)
    (2.0, 1.0)
    """

    name = "recursive_l"
    label = "recursive ℓ-diversity"
    sense = "max"
    coarser = "better"

    def __init__(self, c: float, *, stage: Stage = "after") -> None:
        positive("c", c, error=MeasureError)
        self.c = float(c)
        super().__init__(stage=stage)

    def _of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """Return the least ℓ of one attribute."""
        out = np.empty(len(groups))
        kernels.recursive_diversity(
            groups.starts,
            groups.stops,
            segments,
            attribute.n_values,
            self.c,
            out,
        )
        return out

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from 0 to all values in every group."""
        return 0.0, float(fewest_values(table))


class Alpha(ValueMeasure):
    """α of (α,k)-anonymity: the largest relative frequency of a value in a group. Less is better.

    Wong et al. 2006, for every value. If there are several attributes, the largest frequency counts.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 1, 1, 2, 2], "ill": list("xxxyxy")})
    >>> Alpha()(pm.group(pm.Table(df, quasi_identifiers=["a"], sensitive="ill")))
    0.75
    """

    name = "alpha"
    label = "α (largest relative frequency)"
    symbol = "α"
    sense = "min"
    coarser = "better"

    def _of_attribute(
        self, groups: GroupBatch, attribute: Attribute, segments: Segments
    ) -> FloatArray:
        """Return the largest frequency of one attribute's values."""
        return values_by_kernel(kernels.largest_share, groups, segments)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from the same number of each value in every group to one value."""
        return 1.0 / max(fewest_values(table), 1), 1.0


class MinimumEntropy(ValueMeasure):
    """Minimum entropy: the smallest entropy of a group, summed over the attributes, in bits.

    The privacy objective of MO-OBAM (Wei et al. 2024, Eqs. 12 and 16), `Σ_S min_g -Σ p log₂ p`.
    More is better.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"a": [1, 1, 2, 2], "ill": list("xyxy"), "job": list("ppqr")})
    >>> table = pm.Table(df, quasi_identifiers=["a"], sensitive=["ill", "job"])
    >>> MinimumEntropy()(pm.group(table))
    1.0
    """

    name = "min_entropy"
    label = "minimum entropy"
    unit = "bits"
    sense = "max"
    coarser = "better"

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Return the sum over the attributes."""
        total = np.zeros(len(groups))
        for attribute in self.attributes(groups.table):
            segments = worst_case(groups, attribute)
            total += values_by_kernel(kernels.least_entropy, groups, segments)
        return total / math.log(2)

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range from one value in a group to the same number of each in every group."""
        return 0.0, sum(math.log2(number) for number in value_numbers(table))
