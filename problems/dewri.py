"""The four problems of Dewri, Ray, Ray and Whitley (2011), as presets of `Cuts`."""

from __future__ import annotations

from typing import Any, Literal

from privmoo.data.table import Table
from privmoo.errors import ProblemError
from privmoo.measures import (
    FrequencyDiversity,
    GeneralizationLoss,
    GeneralLoss,
    KAnonymity,
    Measure,
    SuppressedShare,
    WeightedDiversity,
    WeightedK,
)
from privmoo.problems.cuts import Cuts
from privmoo.suppression import BelowAverage, Budget, KLBudget

__all__ = ["AnySuppression", "BudgetSuppression", "KLSafe", "ZeroSuppression"]

Property = Literal["k", "l"]


def _average(privacy: Property, stage: Literal["before", "after"] = "after") -> Measure:
    return WeightedK(stage=stage) if privacy == "k" else WeightedDiversity(stage=stage)


def _least(privacy: Property) -> Measure:
    return KAnonymity() if privacy == "k" else FrequencyDiversity()


def _check(privacy: str, name: str = "privacy") -> None:
    if privacy not in ("k", "l"):
        raise ProblemError(f"{name}: must be 'k' or 'l', got {privacy!r}")


class ZeroSuppression(Cuts):
    """Problem 1: no record is left out; more weighted-k against less general loss (section 5.3.1).

    Args:
        table: The records.
        privacy: `"k"` for weighted-k, `"l"` for its analogue by ℓ-diversity.
        threads: For the evaluation.

    >>> import privmoo as pm
    >>> ZeroSuppression(pm.datasets.german_credit()).objective_names
    ['weighted_k', 'loss']
    """

    def __init__(
        self, table: Table, *, privacy: Property = "k", threads: int | None = None
    ) -> None:
        _check(privacy)
        self.privacy = privacy
        super().__init__(table, objectives=(_average(privacy), GeneralLoss()), threads=threads)

    def parameters(self) -> dict[str, Any]:
        """The privacy property."""
        return {"privacy": self.privacy}


class BudgetSuppression(Cuts):
    """Problem 2: up to a share of the records is left out; more k against less loss (section 5.3.2).

    The paper minimises the generalization loss of what remains and plots it together with the suppression
    loss; here their sum is minimised (`loss="total"`), or the former alone (`loss="generalization"`).

    Args:
        table: The records.
        max_suppression: η, the largest share of records left out.
        privacy: `"k"`, or `"l"` for ℓ-diversity.
        loss: `"total"` or `"generalization"`.
        threads: For the evaluation.

    >>> import privmoo as pm
    >>> BudgetSuppression(pm.datasets.german_credit(), max_suppression=0.05).suppression
    Budget(fraction=0.05, by='k')
    """

    def __init__(
        self,
        table: Table,
        *,
        max_suppression: float = 0.1,
        privacy: Property = "k",
        loss: Literal["total", "generalization"] = "total",
        threads: int | None = None,
    ) -> None:
        _check(privacy)
        if loss not in ("total", "generalization"):
            raise ProblemError(f"loss: must be 'total' or 'generalization', got {loss!r}")
        self.max_suppression, self.privacy, self.loss = max_suppression, privacy, loss
        super().__init__(
            table,
            objectives=(
                _least(privacy),
                GeneralLoss() if loss == "total" else GeneralizationLoss(),
            ),
            suppression=Budget(max_suppression, by=privacy),
            threads=threads,
        )

    def parameters(self) -> dict[str, Any]:
        """Budget, privacy property and kind of loss."""
        return {
            "max_suppression": self.max_suppression,
            "privacy": self.privacy,
            "loss": self.loss,
        }


class AnySuppression(Cuts):
    """Problem 3: groups below weighted-k are left out, however many (section 5.3.3).

    More weighted-k (of all groups, before suppression, as in the paper), less generalization loss of what
    remains, less suppression. The k and weighted-k of the release are recorded beside it.

    Args:
        table: The records.
        privacy: `"k"`, or `"l"` for ℓ-diversity.
        threads: For the evaluation.

    >>> import privmoo as pm
    >>> AnySuppression(pm.datasets.german_credit()).objective_names
    ['weighted_k_before', 'generalization_loss', 'suppression']
    """

    # Thousands of trade-offs in three objectives: better and faster here than NSGA-II
    # (notebooks/solver_comparison.ipynb).
    default_algorithm = "sms-emoa"
    default_population = 500

    def __init__(
        self, table: Table, *, privacy: Property = "k", threads: int | None = None
    ) -> None:
        _check(privacy)
        self.privacy = privacy
        super().__init__(
            table,
            objectives=(_average(privacy, "before"), GeneralizationLoss(), SuppressedShare()),
            suppression=BelowAverage(by=privacy),
            threads=threads,
        )

    def parameters(self) -> dict[str, Any]:
        """The privacy property."""
        return {"privacy": self.privacy}


class KLSafe(Cuts):
    """Problem 4: more k, more ℓ, less loss, with up to a share of records left out (section 5.3.4).

    Classes of equal (k, ⌊ℓ⌋) are left out whole; the *less* desired property is the primary key of their
    order. The paper takes the loop's last index (d₁, d₂) for the k and ℓ of the rest; that is not true in
    general (a group may have a large size and a small ℓ, or the reverse), so the objectives are the k and
    ℓ that the remaining groups really have. ℓ is a real number: |g| over its most frequent value's count.

    Measured so, the primary key is the property that profits: for a large k set `prefer="l"`.

    Args:
        table: The records, with at least one sensitive attribute.
        max_suppression: η, the largest share of records left out.
        prefer: The more desired property, `"k"` or `"l"`.
        loss: `"total"` (generalization and suppression) or `"generalization"`.
        threads: For the evaluation.

    >>> import privmoo as pm
    >>> KLSafe(pm.datasets.german_credit()).objective_names
    ['k', 'l', 'loss']
    """

    default_population = 500

    def __init__(
        self,
        table: Table,
        *,
        max_suppression: float = 0.1,
        prefer: Property = "k",
        loss: Literal["total", "generalization"] = "total",
        threads: int | None = None,
    ) -> None:
        _check(prefer, "prefer")
        if loss not in ("total", "generalization"):
            raise ProblemError(f"loss: must be 'total' or 'generalization', got {loss!r}")
        self.max_suppression, self.prefer, self.loss = max_suppression, prefer, loss
        super().__init__(
            table,
            objectives=(
                KAnonymity(),
                FrequencyDiversity(),
                GeneralLoss() if loss == "total" else GeneralizationLoss(),
            ),
            suppression=KLBudget(max_suppression, prefer=prefer),
            threads=threads,
        )

    def parameters(self) -> dict[str, Any]:
        """Budget, preferred property and kind of loss."""
        return {
            "max_suppression": self.max_suppression,
            "prefer": self.prefer,
            "loss": self.loss,
        }
