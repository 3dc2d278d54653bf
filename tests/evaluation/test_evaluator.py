"""The evaluator: one way to judge candidates, heard by observers."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import privmoo as pm
from privmoo.evaluation.evaluator import Evaluation, Observer
from privmoo.problems import Cuts, Levels
from privmoo.testing import example_table
from privmoo.testing.operators import valid_rows


class Listener(Observer):
    def __init__(self) -> None:
        self.keys: list[bytes] = []
        self.batches: list[Evaluation] = []

    def on_values(self, keys: Sequence[bytes], values: NDArray[np.float64]) -> None:
        assert len(keys) == len(values)
        self.keys += keys

    def on_evaluation(self, evaluation: Evaluation) -> None:
        self.batches.append(evaluation)


def test_observers_hear_every_batch_and_every_new_value_once() -> None:
    problem, listener = Cuts(example_table()), Listener()
    X = np.unique(valid_rows(problem, 12), axis=0)
    problem.evaluate(X)  # before anybody listens
    new = ~valid_rows(problem, 1, seed=5)
    with problem.evaluator.observed_by(listener):
        out = problem.evaluate(np.concatenate([X, new]), return_as_dictionary=True)
        problem.evaluator.judge(X)  # quiet
    problem.evaluate(X)
    assert [len(batch) for batch in listener.batches] == [len(X) + 1]
    assert np.array_equal(listener.batches[0].F, out["F"])
    assert len(listener.keys) <= 1


def test_pymoo_s_callback_is_left_alone() -> None:
    problem = Levels(example_table(), max_suppression=0.5)
    heard: list[int] = []
    problem.callback = lambda X, out: heard.append(len(X))
    front = pm.optimize(problem, budget=2, seed=1, progress=False)
    assert sum(heard) == front.run["evaluations"]


def test_thresholds_come_as_companions_once_per_run() -> None:
    problem, listener = Levels(example_table(), max_suppression=1.0), Listener()
    X = valid_rows(problem, 6)
    with problem.evaluator.observed_by(listener):
        problem.evaluate(X)
        problem.evaluate(X)
    first, second = listener.batches
    assert first.companions is not None and second.companions is None
    assert first.companions.origins is not None
    levels = problem.space.levels
    brought = levels(X[first.companions.origins])
    assert np.array_equal(levels(first.companions.X), brought)
    again = problem.evaluator.judge(first.companions.X, keep=False)
    assert np.array_equal(again.values, first.companions.values)
    other = Listener()
    with problem.evaluator.observed_by(other):
        problem.evaluate(X)
    assert other.batches[0].companions is not None


def test_copies_have_evaluated_nothing_and_nobody_listens() -> None:
    problem, listener = Cuts(example_table()), Listener()
    problem.callback = lambda X, out: None
    with problem.evaluator.observed_by(listener):
        X = valid_rows(problem, 4)
        problem.evaluate(X)
        for other in (copy.copy(problem), pickle.loads(pickle.dumps(problem))):  # noqa: S301
            assert other.callback is None and not len(other.evaluator.cache)
            assert np.array_equal(other.evaluate(X)[0], problem.evaluate(X)[0])
            assert other.evaluator.formulation is other
    assert len(problem.evaluator.cache) and len(listener.batches) == 3
