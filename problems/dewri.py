"""The four problems of Dewri, Ray, Ray and Whitley (2011), as presets of `Cuts`."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from privmoo._util.checks import flag
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
from privmoo.operators import BitFlips, CutSampling, HashDuplicates, LunacekCrossover
from privmoo.problems.cuts import Cuts
from privmoo.problems.printed_index import PrintedDiversity, PrintedK
from privmoo.suppression import BelowAverage, Budget, JointBudget, KLBudget

__all__ = ["AnySuppression", "BudgetSuppression", "KLSafe", "ZeroSuppression"]

Property = Literal["k", "l"]
Loss = Literal["total", "generalization"]
Stage = Literal["before", "after"]


def _average(privacy: Property, stage: Stage = "after") -> Measure:
    return WeightedK(stage=stage) if privacy == "k" else WeightedDiversity(stage=stage)


def _smallest(privacy: Property) -> Measure:
    return KAnonymity() if privacy == "k" else FrequencyDiversity()


def _loss(loss: Loss) -> Measure:
    return GeneralLoss() if loss == "total" else GeneralizationLoss()


def _check(name: str, value: str, words: tuple[str, str] = ("k", "l")) -> None:
    if value not in words:
        raise ProblemError(f"{name}: must be {words[0]!r} or {words[1]!r}, got {value!r}")


class _Dewri(Cuts):
    """What the four problems share: the paper's operators beside ours."""

    def paper_operators(self) -> dict[str, Any]:
        """Return the operators of the paper (sections 6.3 to 6.5), for pymoo's NSGA-II.

        A first population of coin tosses from the root down, Lunacek's crossover with 0.9, and bits of
        attributes without a tree that flip with 0.1; trees are not mutated. The paper has 250 generations
        of 200 (Problems 1 and 2) or 500 individuals.

        >>> import privmoo as pm
        >>> from pymoo.algorithms.moo.nsga2 import NSGA2
        >>> problem = ZeroSuppression(pm.datasets.german_credit())
        >>> algorithm = NSGA2(pop_size=20, **problem.paper_operators())
        >>> len(pm.optimize(problem, algorithm, budget=2, seed=1, progress=False)) > 1
        True
        """
        return {
            "sampling": CutSampling(probability=0.5),
            "crossover": LunacekCrossover(prob=0.9),
            "mutation": BitFlips(rate=0.1),
            "eliminate_duplicates": HashDuplicates(),
        }


class ZeroSuppression(_Dewri):
    """Problem 1: no record is left out; more weighted-k against less general loss (section 5.3.1).

    Args:
        table: The records.
        privacy: `"k"` for weighted-k, `"l"` for its analogue by ℓ-diversity.
        threads: The number of threads of the evaluation.

    >>> import privmoo as pm
    >>> ZeroSuppression(pm.datasets.german_credit()).objective_names
    ['weighted_k', 'loss']
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("privacy",)

    def __init__(
        self, table: Table, *, privacy: Property = "k", threads: int | None = None
    ) -> None:
        _check("privacy", privacy)
        self.privacy = privacy
        super().__init__(table, objectives=(_average(privacy), GeneralLoss()), threads=threads)


class BudgetSuppression(_Dewri):
    """Problem 2: up to a share of the records is left out; more k against less loss (section 5.3.2).

    The paper minimises the generalization loss of what remains and plots it together with the suppression
    loss; here their sum is minimised (`loss="total"`), or the former alone (`loss="generalization"`).

    Args:
        table: The records.
        max_suppression: η, the largest share of records left out.
        privacy: `"k"`, or `"l"` for ℓ-diversity.
        loss: `"total"` or `"generalization"`.
        threads: The number of threads of the evaluation.

    >>> import privmoo as pm
    >>> BudgetSuppression(pm.datasets.german_credit(), max_suppression=0.05).suppression
    Budget(fraction=0.05, by='k')
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("max_suppression", "privacy", "loss")

    def __init__(
        self,
        table: Table,
        *,
        max_suppression: float = 0.1,
        privacy: Property = "k",
        loss: Loss = "total",
        threads: int | None = None,
    ) -> None:
        _check("privacy", privacy)
        _check("loss", loss, ("total", "generalization"))
        self.max_suppression, self.privacy, self.loss = max_suppression, privacy, loss
        super().__init__(
            table,
            objectives=(_smallest(privacy), _loss(loss)),
            suppression=Budget(max_suppression, by=privacy),
            threads=threads,
        )


class AnySuppression(_Dewri):
    """Problem 3: groups below weighted-k are left out, however many (section 5.3.3).

    More weighted-k (of all groups, before suppression, as in the paper), less generalization loss of what
    remains, less suppression. The k and weighted-k of the release are recorded as well.

    Args:
        table: The records.
        privacy: `"k"`, or `"l"` for ℓ-diversity.
        threads: The number of threads of the evaluation.

    >>> import privmoo as pm
    >>> AnySuppression(pm.datasets.german_credit()).objective_names
    ['weighted_k_before', 'generalization_loss', 'suppression']
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("privacy",)
    # Thousands of trade-offs in three objectives: better and faster here than NSGA-II
    # (notebooks/solver_comparison.ipynb).
    default_algorithm = "sms-emoa"
    default_population = 500

    def __init__(
        self, table: Table, *, privacy: Property = "k", threads: int | None = None
    ) -> None:
        _check("privacy", privacy)
        self.privacy = privacy
        super().__init__(
            table,
            objectives=(_average(privacy, "before"), GeneralizationLoss(), SuppressedShare()),
            suppression=BelowAverage(by=privacy),
            threads=threads,
        )


class KLSafe(_Dewri):
    """Problem 4: more k, more ℓ, less loss, with up to a share of records left out (section 5.3.4).

    Groups below k₀ or below ℓ₀ are left out, and every pair of thresholds within the budget is considered
    for the front: what remains is (k₀, ℓ₀)-safe. ℓ is a real number: |g| over the count of its most
    frequent value.

    The paper's policy, which `prefer` selects, leaves out whole classes of equal (k, ⌊ℓ⌋), and the
    *less* desired property is the primary key of their order. It equates the loop's last index (d₁, d₂)
    with the k and ℓ of the rest. That is not true in general (a group may have a large size and a small ℓ,
    or the reverse), so the objectives are the k and ℓ that the remaining groups really have. With these
    objectives, the primary key is the property that benefits: for a large k, set `prefer="l"`.

    Args:
        table: The records, with at least one sensitive attribute.
        max_suppression: η, the largest share of records left out.
        prefer: The more desired property of the paper's policy, `"k"` or `"l"`; None for thresholds.
        loss: `"total"` (generalization and suppression) or `"generalization"`.
        index: Whether to maximise the paper's index (d₁, d₂) instead of k and ℓ, which are then only
            recorded. The index promises more than holds, and is only meant for comparison with the paper.
            It needs `prefer`.
        threads: The number of threads of the evaluation.

    >>> import privmoo as pm
    >>> KLSafe(pm.datasets.german_credit()).objective_names
    ['k', 'l', 'loss']
    """

    parameter_names: ClassVar[tuple[str, ...]] = ("max_suppression", "prefer", "loss", "index")

    default_population = 500

    def __init__(
        self,
        table: Table,
        *,
        max_suppression: float = 0.1,
        prefer: Property | None = None,
        loss: Loss = "total",
        index: bool = False,
        threads: int | None = None,
    ) -> None:
        if prefer is not None:
            _check("prefer", prefer)
        _check("loss", loss, ("total", "generalization"))
        self.max_suppression, self.prefer, self.loss = max_suppression, prefer, loss
        self.index = flag("index", index)
        privacy: tuple[Measure, Measure] = KAnonymity(), FrequencyDiversity()
        if self.index:
            if prefer is None:
                raise ProblemError("index: belongs to the paper's policy; add prefer='k' or 'l'")
            privacy = PrintedK(prefer), PrintedDiversity(prefer)
        super().__init__(
            table,
            objectives=(*privacy, _loss(loss)),
            suppression=JointBudget(max_suppression)
            if prefer is None
            else KLBudget(max_suppression, prefer=prefer),
            threads=threads,
        )

    def parameters(self) -> dict[str, Any]:
        """Return the arguments that reproduce the problem; the index only if it is maximised."""
        parameters = super().parameters()
        return parameters if self.index else {k: v for k, v in parameters.items() if k != "index"}
