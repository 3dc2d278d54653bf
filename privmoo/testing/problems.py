"""The conformance suite of problems: checks that every formulation must pass."""

from __future__ import annotations

import copy
import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.evaluator import Evaluator
from pymoo.core.population import Population

from privmoo.evaluation.engine import Engine
from privmoo.problem import AnonymizationProblem
from privmoo.recodings.base import from_json
from privmoo.release.release import Origin, ReleaseWarning, make_release

__all__ = ["check_problem"]

_ROWS = 24
_OPERATORS = {"sampling", "crossover", "mutation"}


def check_problem(problem: AnonymizationProblem, *, seed: int = 0) -> None:
    """Raise an AssertionError with one sentence if a problem violates the protocol.

    It must describe itself in plain data and have operators whose sampling fits it. Its objectives must be
    finite, within the range of their measures, and the same every time, whatever the other candidates are.
    It must turn decision vectors into recodings that group as the evaluation did and that can be stored.
    Its feasible candidates must pass the audit of a release.

    Args:
        problem: The problem.
        seed: The seed of the random candidates.

    >>> from privmoo.problems import ZeroSuppression
    >>> from privmoo.testing import example_table
    >>> check_problem(ZeroSuppression(example_table()))
    """
    assert isinstance(problem, AnonymizationProblem), (
        f"{problem!r} is not a privmoo.AnonymizationProblem; pass an instance, such as MyProblem(table)"
    )
    _check_facts(problem)
    X = _sample(problem, seed)
    values = problem.evaluate_measures(X)
    _check_values(problem, X, values)
    _check_pymoo(problem, X, values)
    feasible = [
        i for i in range(len(X)) if values["records_suppressed"][i] < problem.table.n_records
    ]
    assert feasible, "none of the sampled candidates releases a record"
    for i in feasible[:6]:
        _check_recoding(problem, X[i], {name: float(column[i]) for name, column in values.items()})


def _check_facts(problem: AnonymizationProblem) -> None:
    names = problem.objective_names
    assert len(set(names)) == len(names) == problem.n_obj, "objectives need one name each"
    assert json.loads(json.dumps(problem.describe())), "describe() must be plain data"
    assert copy.deepcopy(problem) is problem, "a problem holds data and must not be copied by pymoo"
    point = problem.reference_point
    assert point.shape == (problem.n_obj,) and np.isfinite(point).all(), (
        "reference_point: not finite"
    )
    missing = _OPERATORS - set(problem.default_operators())
    assert not missing, f"default_operators() lacks {', '.join(sorted(missing))}"


def _sample(problem: AnonymizationProblem, seed: int) -> NDArray[Any]:
    sampling = problem.default_operators()["sampling"]
    samples = [
        sampling(problem, _ROWS, random_state=np.random.default_rng(seed)).get("X")
        for _ in range(2)
    ]
    assert samples[0].shape == (_ROWS, problem.n_var), "sampling: wrong shape"
    assert np.array_equal(samples[0], samples[1]), (
        "sampling: the same seed gives different candidates"
    )
    return np.asarray(samples[0])


def _check_values(
    problem: AnonymizationProblem, X: NDArray[Any], values: dict[str, NDArray[np.float64]]
) -> None:
    for m in problem.measures:
        column = values[m.key]
        low, high = m.range(problem.table)
        slack = 1e-9 * max(1.0, abs(high))
        assert np.isfinite(column).all(), f"{m.key}: not finite"
        assert (column >= low - slack).all() and (column <= high + slack).all(), (
            f"{m.key}: outside its range {low:g} … {high:g}"
        )
    order = np.arange(len(X))[::-1]
    alone = [_fresh(problem, X[[i]]) for i in order[:5]]
    together = _fresh(problem, X[order])
    for key, column in values.items():
        assert np.array_equal(together[key], column[order]), (
            f"{key}: depends on the other candidates"
        )
        for i, single in zip(order, alone, strict=False):
            assert single[key][0] == column[i], f"{key}: a candidate differs alone and with others"


def _fresh(problem: AnonymizationProblem, X: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """Measure without the cache."""
    values = problem.evaluator.measure(problem.candidates(X))
    return dict(zip(problem.evaluator.names, values.T, strict=True))


def _check_pymoo(
    problem: AnonymizationProblem, X: NDArray[Any], values: dict[str, NDArray[np.float64]]
) -> None:
    population = Evaluator().eval(problem, Population.new(X=X))
    F, G = population.get("F"), population.get("G")
    objectives = np.column_stack([values[name] for name in problem.objective_names])
    assert np.array_equal(problem.minimised(F), objectives), (
        "F: must be the objectives in their sense"
    )
    assert G.shape == (len(X), len(problem.constraints) + 1), (
        "G: must have one column per constraint and one more"
    )
    empty = values["records_suppressed"] >= problem.table.n_records
    assert ((G[:, -1] > 0) == empty).all(), "G: a release of no records must be infeasible"
    slack = 1e-9 * np.maximum(1, np.abs(problem.reference_point))
    assert (problem.reference_point + slack >= F).all(), (
        "reference_point: an objective is worse than it"
    )


def _check_recoding(
    problem: AnonymizationProblem, x: NDArray[Any], values: dict[str, float]
) -> None:
    table = problem.table
    recoding = problem.recoding(x)
    assert set(recoding.describe()) == set(table.qi_names), (
        "recoding: must describe every quasi-identifier"
    )
    data = json.loads(json.dumps(recoding.to_json()))
    assert from_json(table, data).key() == recoding.key(), "recoding: from_json must undo to_json"
    candidate = recoding.candidate(problem.evaluator.engine.table)
    published = problem.published(x)
    if published is not None:
        candidate = replace(candidate, published=published[None])
    policy = problem.policy(x)
    engine = problem.evaluator.engine
    if policy != problem.suppression:
        engine = Engine(engine.table, suppression=policy, needs=engine.needs, threads=1)
    before, after = engine.groups(candidate)
    for m in problem.measures:
        repeated_value = float(m.values(before if m.stage == "before" else after)[0])
        assert np.isclose(repeated_value, values[m.key], rtol=1e-12, atol=1e-12), (
            f"{m.key}: the recoding groups differently from the evaluation"
        )
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ReleaseWarning
        )  # several releases of one table are the point
        release = make_release(
            table,
            recoding,
            suppression=policy if published is None else published,
            measures=problem.measures,
            origin=Origin(claims=values),
            seed=0,
        )
    n_suppressed = table.n_records - len(release.frame)
    assert n_suppressed == values["records_suppressed"], (
        "release: suppresses another number of records than the evaluation"
    )
