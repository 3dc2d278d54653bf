"""Hybrid as a problem: the contracts, common random numbers, spread, files, releases, accuracy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

import privmoo as pm
from privmoo.errors import CheckpointError, MeasureError, ProblemError
from privmoo.learning import ForestAccuracy
from privmoo.operators import ParameterCrossover, ParameterMutation, ParameterSampling
from privmoo.problems import Cuts, Hybrid
from privmoo.release.release import ReleaseWarning
from privmoo.spaces.parameters import Parameter, ParameterSpace
from privmoo.testing import check_operator, check_problem, example_hybrid_table, example_table

TABLE = example_hybrid_table()
NAMES = ["race", "country"]
PLAIN = pm.Table(  # without pay, which makes everybody unique
    example_hybrid_table(400).frame.drop(columns="pay"),
    quasi_identifiers={qi.name: qi.hierarchy for qi in TABLE.qis if qi.name != "pay"},
    sensitive="illness",
    target="illness",
)
ALL = (
    pm.Originality(),
    pm.DisclosureRisk(known=["age", "sex"]),
    pm.Distortion(),
    pm.InformationLoss(),
)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("policy", [None, pm.BelowThreshold(2), pm.Budget(0.1)], ids=repr)
def test_it_keeps_to_the_contract(strict: bool, policy: pm.suppression.Suppression | None) -> None:
    table = TABLE if policy is None else PLAIN
    check_problem(Hybrid(table, patterns=NAMES, strict=strict, suppression=policy, objectives=ALL))


def test_any_table_with_a_category_and_a_secret_will_do() -> None:
    check_problem(Hybrid(example_table(), patterns=["sex"], strict=True))
    check_problem(Hybrid(example_table(), patterns=[]))


def test_its_operators_keep_to_the_contract() -> None:
    problem = Hybrid(TABLE, patterns=NAMES)
    for operator in problem.default_operators().values():
        check_operator(operator, problem)
    for operator in (ParameterMutation(1.0, width=0.5, anew=1.0), ParameterCrossover(0.0)):
        check_operator(operator, problem)
    drawn = ParameterSampling()(problem, 40, random_state=np.random.default_rng(1)).get("X")
    assert np.array_equal(problem.space.clean(drawn), drawn)
    for j in np.flatnonzero(problem.space.whole):
        assert (drawn[:, j] % 1 == 0).all()
    with pytest.raises(ProblemError, match="Cuts does not search parameters"):
        ParameterSampling()(Cuts(example_table()), 3)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ParameterMutation(2), "rate: must be a number from 0 to 1"),
        (lambda: ParameterMutation(width=-1), "width: must be"),
        (lambda: ParameterCrossover(2), "alpha: must be"),
        (lambda: Parameter("k", 5, 2), "k: needs a smallest"),
        (lambda: Parameter("epsilon", 0, 2, logarithmic=True), "epsilon: must be above 0"),
        (lambda: Hybrid(TABLE, patterns=NAMES, k=(5, 2)), "k: must be a smallest and a largest number"),
        (lambda: Hybrid(TABLE, patterns=NAMES, k=(1, 9)), "k: must be a whole number of at least 2"),
        (lambda: Hybrid(TABLE, patterns=NAMES, k=(2, 199)), "in the violating partition"),
        (lambda: Hybrid(TABLE, patterns=NAMES, epsilon=(0, 1)), "epsilon_violating: must be above 0"),
        (lambda: Hybrid(TABLE, patterns=["age"]), "not a categorical quasi-identifier"),
        (lambda: Hybrid(TABLE, patterns=NAMES, noise_seed=-1), "noise_seed: must be a whole number"),
        (lambda: Hybrid(TABLE, patterns=NAMES, k=5), "k: must be a smallest and a largest number"),
        (lambda: Hybrid(TABLE, patterns=NAMES, epsilon=3.0), "epsilon: must be a smallest"),
        (lambda: Hybrid(TABLE, split=5), "split: must be a Split"),
        (lambda: Hybrid(TABLE, patterns=NAMES).spread([[1.0]]), "spread: takes a front or rows of 10"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ProblemError, match=sentence):
        make()


def test_equal_parameters_are_found_equal() -> None:
    problem = Hybrid(TABLE, patterns=NAMES)
    X = ParameterSampling()(problem, 3, random_state=np.random.default_rng(1)).get("X")
    wobbly = X + 1e-7
    assert problem.keys(wobbly) == problem.keys(X)
    lower = X.copy()
    n = len(problem.space.scheme.categorical)
    lower[:, 4 : 4 + n], lower[:, 4 + n :] = 1, 0  # an average below the least is the least
    higher = lower.copy()
    higher[:, 4 + n :] = 1
    assert problem.keys(lower) == problem.keys(higher)


def test_parameters_are_spread_on_their_scale() -> None:
    space = ParameterSpace(
        TABLE, [Parameter("e", 0.01, 10, logarithmic=True), Parameter("d", 0, 1)]
    )
    units = np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]])
    rows = space.from_unit(units)
    assert rows.tolist() == [[0.01, 0.0], [pytest.approx(0.316), 0.5], [10.0, 1.0]]
    assert np.allclose(space.to_unit(rows), units, atol=1e-3)
    levels = ParameterSpace(TABLE, [Parameter("level", 0, 2, whole=True)])
    drawn = levels.from_unit(np.linspace(0, 1, 3001)[:, None])[:, 0]
    assert np.allclose(np.bincount(drawn.astype(int)) / 3001, 1 / 3, atol=0.01)


def test_candidates_share_their_draws_and_the_release_has_them() -> None:
    problem = Hybrid(TABLE, patterns=NAMES, noise_seed=7)
    front = pm.optimize(problem, budget=4, seed=1, progress=False)
    for solution in (front[0], front[-1]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReleaseWarning)
            release = solution.release(seed=1)
        for claim in release.certificate.claims:
            assert claim.claimed == pytest.approx(claim.audited)
        assert release.certificate.utility["originality"] == pytest.approx(solution.originality)
    again = pm.optimize(
        Hybrid(TABLE, patterns=NAMES, noise_seed=7), budget=4, seed=1, progress=False
    )
    assert again == front
    other = Hybrid(TABLE, patterns=NAMES, noise_seed=8)
    assert other.describe() != problem.describe()
    assert not np.array_equal(other.recoding(front[0].x).key(), problem.recoding(front[0].x).key())


def test_spread_says_how_much_hangs_on_the_noise() -> None:
    problem = Hybrid(TABLE, patterns=NAMES)
    front = pm.optimize(problem, budget=2, seed=1, progress=False)
    found = problem.spread(front[:2], repeats=5)
    assert len(found) == 2 * len(problem.measures)
    rounding = 1e-12  # a mean of equal numbers may differ from them in its last bit
    assert (found["min"] <= found["mean"] + rounding).all()
    assert (found["mean"] <= found["max"] + rounding).all()
    by_measure = found.set_index(["solution", "measure"])
    assert by_measure["std"].loc[(0, "originality")] > 0
    assert by_measure.loc[(0, "distortion"), "std"] == 0  # levels hang on no noise
    assert by_measure.loc[(1, "originality"), "released"] == front[1].originality
    again = problem.spread(front[:2], repeats=5)
    assert again.equals(found)
    with pytest.raises(ProblemError, match="repeats"):
        problem.spread(front, repeats=1)


def test_a_front_is_saved_and_released_from_its_file(tmp_path: Path) -> None:
    problem = Hybrid(TABLE, patterns=NAMES, objectives=ALL, strict=True)
    front = pm.optimize(problem, budget=3, seed=1, progress=False)
    front.save(tmp_path / "front.npz")
    for again in (
        pm.Front.load(tmp_path / "front.npz", table=TABLE),
        pm.Front.load(tmp_path / "front.npz", problem=problem),
    ):
        assert again == front
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReleaseWarning)
            release = again[0].release(seed=3)
        assert release.certificate.privacy["k"] == front[0].k
        assert "not ε-differential privacy" in release.certificate.to_text()
    with pytest.raises(CheckpointError, match="another problem"):
        pm.Front.load(tmp_path / "front.npz", problem=Hybrid(TABLE, patterns=NAMES))


def test_a_run_is_continued_with_the_same_front(tmp_path: Path) -> None:
    def problem() -> Hybrid:
        return Hybrid(TABLE, patterns=NAMES, noise_seed=3)

    whole = pm.optimize(problem(), budget=6, seed=2, progress=False)
    part = {"seed": 2, "progress": False, "checkpoint": tmp_path / "log"}
    pm.optimize(problem(), budget=3, **part)
    again = pm.optimize(problem(), budget=6, **part)
    assert again == whole


def test_a_run_with_secret_noise_is_continued_with_the_same_noise(tmp_path: Path) -> None:
    part = {"seed": 2, "progress": False, "checkpoint": tmp_path / "log"}
    first = pm.optimize(Hybrid(TABLE, patterns=NAMES), budget=2, **part)
    assert (tmp_path / "log").stat().st_mode & 0o077 == 0
    again = pm.optimize(Hybrid(TABLE, patterns=NAMES), budget=4, **part)
    assert again.description == first.description
    assert again.problem is not None
    assert again.problem.recoding(first[0].x).key() == first[0].recoding.key()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        again[0].release()  # the audit confirms what was computed before and after
    used = Hybrid(TABLE, patterns=NAMES)
    used.recoding(first[0].x)
    with pytest.raises(ProblemError, match="had other noise; make a new problem"):
        pm.optimize(used, budget=5, **part)


def test_noise_is_secret_by_default_and_a_seed_is_cautioned_of() -> None:
    """Somebody who guesses one person's values must not see whether the guess is right."""

    def certificate(table: pm.Table, seed: int | None) -> str:
        problem = Hybrid(table, patterns=NAMES, noise_seed=seed)
        front = pm.optimize(problem, budget=1, seed=1, progress=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReleaseWarning)
            release = front[0].release(seed=1)
        return "\n".join([release.certificate.to_text(), release.certificate.to_json()])

    known = certificate(TABLE, 0)
    assert "Anyone who knows the seed and the method can try out guesses" in known
    problem = Hybrid(TABLE, patterns=NAMES, noise_seed=0)
    assert problem.parameters()["noise"] not in known
    secret = Hybrid(TABLE, patterns=NAMES)
    assert "Anyone who knows the seed" not in certificate(TABLE, None)
    low = secret.bounds()[0]
    assert secret.recoding(low).key() == secret.recoding(low).key()
    assert secret.recoding(low).key() != Hybrid(TABLE, patterns=NAMES).recoding(low).key()
    assert secret.recoding(low).key() != problem.recoding(low).key()


def test_strict_takes_k_as_a_constraint_and_plain_pymoo_solves_it() -> None:
    problem = Hybrid(
        TABLE,
        patterns=NAMES,
        strict=True,
        objectives=[pm.Originality(), pm.KAnonymity()],
        constraints=[pm.KAnonymity() >= 4],
    )
    result = minimize(problem, NSGA2(20, **problem.default_operators()), ("n_gen", 4), seed=1)
    front = pm.Front.from_result(problem, result)
    assert front.column("k").min() >= 4
    assert "What is published" in front[0].explain()
    assert front[0].loss_per_attribute().between(0, 1).all()


def test_a_front_knows_better_parameters_than_the_paper() -> None:
    """The published ε and levels are a point that the front reaches or beats."""
    problem = Hybrid(TABLE, patterns=NAMES)
    n = len(problem.space.scheme.categorical)
    published = np.array([5, 3.0, 5.0, 0.45, *[1] * n, *[1] * n])
    front = pm.optimize(problem, budget=15, seed=1, progress=False, start=published[None])
    own = problem.evaluate_measures(published[None])
    better = (front.column("originality") >= own["originality"][0] - 1e-12) & (
        front.column("disclosure_risk") <= own["disclosure_risk"][0] + 1e-12
    )
    assert better.any()


def test_accuracy_of_a_forest_is_an_objective() -> None:
    measure = ForestAccuracy(trees=5)
    problem = Hybrid(TABLE, patterns=NAMES, objectives=[measure, pm.DisclosureRisk()])
    algorithm = pm.search.make_algorithm(problem, population=6)
    front = pm.optimize(problem, algorithm, budget=2, seed=1, progress=False)
    values = front.column("accuracy")
    assert ((values > 0) & (values <= 1)).all()
    assert np.array_equal(measure.values(_groups(problem, front.X)), values)
    cuts = Cuts(example_table(), objectives=[ForestAccuracy(trees=3), pm.KAnonymity()])
    X = cuts.default_operators()["sampling"](cuts, 4, random_state=np.random.default_rng(1)).get(
        "X"
    )
    assert np.isfinite(cuts.evaluate_measures(X)["accuracy"]).all()


def _groups(problem: Hybrid, X: np.ndarray) -> pm.groups.GroupBatch:
    return problem.evaluator.engine.groups(problem.candidates(X))[1]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"trees": 0}, "trees"), ({"repeats": True}, "repeats"), ({"tested_on": "both"}, "tested_on")],
)
def test_wrong_forests_are_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(MeasureError, match=sentence):
        ForestAccuracy(**changes)
    with pytest.raises(MeasureError, match="no target to predict"):
        ForestAccuracy().check(pm.Table(TABLE.frame[["age"]], quasi_identifiers=["age"]))
