"""What searches must reach within the default budget: figures of special programs, and all cuts."""

from __future__ import annotations

import functools
import gzip
import io
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import privmoo as pm
from privmoo._util.dominance import share_of_box
from privmoo.datasets.german_credit import german_credit_frame, german_credit_hierarchies
from privmoo.datasets.sparcs import load_sparcs, sparcs_hierarchies
from privmoo.front.archive import Archive
from tests.scenery.paths import SHARED

CREDIT_CARDS = SHARED / "arx_creditcard"
CMC = SHARED / "cmc" / "cmc.csv.gz"
SPARCS = SHARED / "sparcs" / "sparcs_2016_western_ny_first10000.csv.gz"
_CHUNK = 20_000

# What the special program of tests/scenery/special_programs.py finds, the best of several seeds,
# rounded up.
OTHER_CUTS = {3: 0.31626, 10: 0.48106, 50: 0.63200}
OTHER_THRESHOLDS = {(3, 1.5): 0.27727, (5, 2): 0.47008, (20, 2): 0.49363}
OTHER_LEVELS = {2: 0.19790, 5: 0.29299, 20: 0.40847}


class Goal(NamedTuple):
    """One figure: what a front has, and what it must reach."""

    what: str
    ours: float
    to_beat: float
    more_is_better: bool = False

    def reached(self, tolerance: float) -> bool:
        """Whether the front is there, up to a share of the figure."""
        if self.more_is_better:
            return self.ours >= self.to_beat * (1 - tolerance)
        return self.ours <= self.to_beat * (1 + tolerance)


def search(problem: pm.AnonymizationProblem, seed: int, budget: int | None = None) -> pm.Front:
    return pm.optimize(problem, budget=budget, seed=seed, progress=False)


def least_loss(front: pm.Front, **bounds: float) -> float:
    inside = np.ones(len(front), np.bool_)
    for name, bound in bounds.items():
        inside &= front.column(name) >= bound
    return float(front.column("loss")[inside].min()) if inside.any() else 1.0


def by_decades(front: pm.Front) -> float:
    """The hypervolume with k by its logarithm, from 1 to all records."""
    assert front.table is not None
    n = front.table.n_records
    F = np.column_stack([-np.log10(front.column("k")), front.column("loss")])
    return share_of_box(F, np.array([-np.log10(n), 0.0]), np.array([0.0, 1.0]))


def joint_thresholds(seed: int) -> list[Goal]:
    """KLSafe on Adult with ages in steps of five years, as in the figures to beat."""
    front = search(pm.problems.KLSafe(pm.datasets.adult("dewri-kl", age_step=5)), seed)
    return [
        Goal(f"KLSafe, loss at k {k}, l {diversity}", least_loss(front, k=k, l=diversity), figure)
        for k, diversity, figure in ((5, 2, 0.15864), (20, 2, 0.20834), (20, 3, 0.32495))
    ]


def real_diversity(seed: int) -> list[Goal]:
    """Diversity within a budget on Adult."""
    problem = pm.problems.BudgetSuppression(pm.datasets.adult("dewri-kl"), privacy="l")
    front = search(problem, seed)
    most = float(front.column("l")[front.column("loss") <= 0.3].max())
    return [Goal("Budget by l, l at 30 % loss", most, 2.59, more_is_better=True)]


def hypervolume(seed: int) -> list[Goal]:
    """A budget on Adult with ages in steps of five years."""
    front = search(pm.problems.BudgetSuppression(pm.datasets.adult("dewri", age_step=5)), seed)
    return [Goal("Budget by k, hypervolume", by_decades(front), 0.5498, more_is_better=True)]


def many_columns(seed: int) -> list[Goal]:
    """24 columns, 16,000 evaluations: less than a minute on two idle cores."""
    front = search(pm.problems.Levels(credit_cards(), max_suppression=1), seed, budget=80)
    return [Goal("24 columns, loss at k 5", least_loss(front, k=5), 0.6305)]


def all_cuts(seed: int) -> list[Goal]:
    """Every cut of five columns of Adult."""
    missed = points_missed(search(small_problem(), seed))
    return [Goal("five columns, points missed", len(missed), 1)]


def other_cuts(seed: int) -> list[Goal]:
    """A budget of 5 % on German credit, seven columns."""
    front = search(pm.problems.BudgetSuppression(german_credit(), max_suppression=0.05), seed)
    return [
        Goal(f"German credit, loss at k {k}", least_loss(front, k=k), figure)
        for k, figure in OTHER_CUTS.items()
    ]


def other_thresholds(seed: int) -> list[Goal]:
    """KLSafe on Contraceptive Method Choice, seven columns."""
    front = search(pm.problems.KLSafe(contraceptives()), seed)
    return [
        Goal(f"CMC, loss at k {k}, l {diversity}", least_loss(front, k=k, l=diversity), figure)
        for (k, diversity), figure in OTHER_THRESHOLDS.items()
    ]


def other_levels(seed: int) -> list[Goal]:
    """Levels of fourteen columns of SPARCS."""
    front = search(pm.problems.Levels(discharges(), max_suppression=1), seed)
    return [
        Goal(f"SPARCS, loss at k {k}", least_loss(front, k=k), figure)
        for k, figure in OTHER_LEVELS.items()
    ]


GOALS: dict[str, Callable[[int], list[Goal]]] = {
    "joint thresholds": joint_thresholds,
    "real diversity": real_diversity,
    "hypervolume": hypervolume,
    "many columns": many_columns,
    "all cuts": all_cuts,
    "other cuts": other_cuts,
    "other thresholds": other_thresholds,
    "other levels": other_levels,
}
NEEDS = {"many columns": CREDIT_CARDS, "other thresholds": CMC, "other levels": SPARCS}
"""The evaluation data that a goal needs."""


def german_credit() -> pm.Table:
    """1,000 applicants for credit, seven columns, ages by the year."""
    names = ["age", "personal_status", "job", "employment", "housing", "residence_since"]
    names.append("foreign_worker")
    hierarchies = german_credit_hierarchies() | {"age": pm.Hierarchy.ordered()}
    return pm.Table(
        german_credit_frame()[names], quasi_identifiers={name: hierarchies[name] for name in names}
    )


def contraceptives() -> pm.Table:
    """1,473 women with seven columns; the husband's occupation is sensitive."""
    names = ["age", "Weducation", "Heducation", "children", "religion", "working", "solindex"]
    frame = pd.read_csv(CMC, sep=";")[[*names, "occupation"]]
    return pm.Table(
        frame,
        quasi_identifiers={name: pm.Hierarchy.ordered() for name in names},
        sensitive=["occupation"],
    )


def discharges() -> pm.Table:
    """9,863 discharges from hospitals with fourteen columns."""
    frame = load_sparcs(SPARCS)
    hierarchies = sparcs_hierarchies(frame)
    names = ["Facility Id", "Age Group", "Zip Code - 3 digits", "Gender", "Race", "Ethnicity"]
    names += ["Length of Stay", "Type of Admission", "Patient Disposition"]
    names += ["APR Severity of Illness Code", "APR Risk of Mortality"]
    names += ["APR Medical Surgical Description", "Payment Typology 1"]
    names += ["Emergency Department Indicator"]
    return pm.Table(
        frame[names].dropna().reset_index(drop=True),
        quasi_identifiers={name: hierarchies[name] for name in names},
    )


def credit_cards() -> pm.Table:
    """30,000 clients with 24 columns, all of them quasi-identifiers."""
    frame = pd.read_csv(CREDIT_CARDS / "creditcard_int.csv.gz", sep=";")

    def hierarchy(name: str) -> pm.Hierarchy:
        path: Path = CREDIT_CARDS / "hierarchies" / f"creditcard_int_hierarchy_{name}.csv.gz"
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            return pm.Hierarchy.read_csv(io.StringIO(stream.read()))

    return pm.Table(frame, quasi_identifiers={name: hierarchy(name) for name in frame.columns})


def small_problem() -> pm.problems.BudgetSuppression:
    """Five columns of Adult with 1,179,648 cuts."""
    whole = pm.datasets.adult("dewri")
    names = ["age", "workclass", "marital-status", "race", "sex"]
    hierarchies = {qi.name: qi.hierarchy for qi in whole.qis}
    hierarchies["age"] = pm.Hierarchy.ordered(step=10)
    return pm.problems.BudgetSuppression(
        pm.Table(whole.frame[names], quasi_identifiers={name: hierarchies[name] for name in names})
    )


def every_cut(space: pm.spaces.CutSpace) -> Iterator[np.ndarray]:
    """All valid cuts, in chunks."""
    parts = []
    for a, b in itertools.pairwise(space.offsets):
        bits = np.array(list(itertools.product([False, True], repeat=int(b - a))))
        rows = np.tile(space.coarsest(), (len(bits), 1))
        rows[:, a:b] = bits
        parts.append(bits[space.valid(rows)])
    numbers = np.arange(int(np.prod([len(part) for part in parts])))
    for begin in range(0, len(numbers), _CHUNK):
        places = np.unravel_index(numbers[begin : begin + _CHUNK], [len(part) for part in parts])
        yield np.concatenate([part[i] for part, i in zip(parts, places, strict=True)], axis=1)


def points_missed(front: pm.Front) -> list[np.ndarray]:
    """The points of the small problem's true front that a front does not reach."""
    return [row for row in true_front() if not (row + 1e-12 >= front.F).all(axis=1).any()]


@functools.cache
def true_front() -> np.ndarray:
    """The front of the small problem, from all its cuts."""
    return enumerated(small_problem())


def enumerated(problem: pm.AnonymizationProblem) -> np.ndarray:
    """The objectives of the front over all cuts and all thresholds."""
    archive = Archive(problem.n_obj)
    for X in every_cut(problem.space):
        archive.on_evaluation(problem.evaluator.evaluate(X, stairs=True))
        problem.forget()
    return archive.F
