"""Scores: how well learners do if they are trained on a release instead of the original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.learning.encoding import Categories
from privmoo.learning.experiment import ORIGINAL, Method, Split, prepare, run_all
from privmoo.learning.models import choose_models, with_seed
from privmoo.release.release import Release

__all__ = ["Learner", "score_split", "scores"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class Learner(NamedTuple):
    """An estimator to train.

    Attributes:
        name: Its name in the scores.
        model: The estimator.
        seed: The random state, if the estimator does not set its own.
    """

    name: str
    model: Any
    seed: int


def scores(
    table: Table,
    releases: Mapping[str, Release],
    *,
    models: Mapping[str, Any] | Iterable[str] | None = None,
    repeats: int = 10,
    test_size: float = 0.3,
    positive: Any = None,
    categories: Categories = "one-hot",
    rows: IntArray | None = None,
    seed: int = 0,
    jobs: int | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Train learners on the original and on releases, and test them (Wei et al. 2025, Section 6.2).

    The original rows are split first, stratified by class, and every method gets the same splits. If
    the table has a subject column, persons are split instead of rows. Learners are trained on the
    released rows of the training records, in the original order. `encode` says what a learner sees.
    They are tested on

    - `"original"`: the original rows of all test records: whether the release teaches what is true
      of people as they are;
    - `"released"`: the released rows of the test records: whether the release predicts itself. A
      suppressed test record counts: its prediction is the majority class of the training rows, and
      for the AUC the shares of the classes there.

    Training uses the published classes, testing the original ones. A feature that is constant in
    the training rows keeps that value in the test: nothing was learned about it, and a
    learner's initial weight for it would be noise. Still, a learner that weighs features which a
    release never separates, as a neural network does, can lose on original rows by that alone.

    Args:
        table: The original, with a target.
        releases: Releases by method.
        models: Estimators by name, or names of `learners`; all learners by default. Random states
            that an estimator does not set are set by `seed`.
        repeats: The number of splits; the paper has 100.
        test_size: The share of records to test on.
        positive: The class whose F1 and AUC are reported. By default, the last of two
            classes in the order of values, or the means over all classes if there are more.
        categories: How learners see categories: `"one-hot"`, or `"codes"`, numbers in an arbitrary order.
        rows: The original rows to train and test on, such as those of `match`; all by default.
        seed: The seed of the splits and learners; scores do not depend on the number of jobs.
        jobs: The number of processes; PRIVMOO_THREADS, or one per core, by default.
        progress: Whether to show a progress bar.

    Returns:
        One row per method, model, repeat and test, with f1, accuracy, auc (nan for a learner that
        cannot rank), n_train and n_test.

    >>> import privmoo as pm
    >>> df = pd.DataFrame({"age": list(range(40)), "y": ["a"] * 20 + ["b"] * 20})
    >>> table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered()}, target="y")
    >>> all_one = pm.make_release(table, pm.recodings.cut_recoding(table, [[0] * 39]), seed=1)
    >>> frame = scores(table, {"*": all_one}, models=["DT"], repeats=2, jobs=1, progress=False)
    >>> frame.groupby(["method", "tested_on"])["auc"].mean().to_dict()
    {('*', 'original'): 0.5, ('*', 'released'): 0.5, ('original', 'original'): 1.0}
    """
    learning = prepare(
        table,
        releases,
        repeats=repeats,
        test_size=test_size,
        seed=seed,
        categories=categories,
        rows=rows,
    )
    positive_class = learning.position(positive)
    tasks = [
        (
            Learner(name, model, seed),
            learning.original,
            method,
            split,
            len(learning.classes),
            positive_class,
        )
        for method in learning.methods
        for name, model in choose_models(models, seed).items()
        for split in learning.splits
    ]
    results = run_all(score_split, tasks, jobs=jobs, progress=progress, title="learning")
    return pd.DataFrame([row for rows in results for row in rows])


def score_split(
    learner: Learner,
    original: Method,
    method: Method,
    split: Split,
    n_classes: int,
    positive: int | None,
) -> list[dict[str, Any]]:
    """Train once, and test on original rows and, for a release, on released rows.

    Args:
        learner: The estimator.
        original: The original table.
        method: What to train on: the original or a release.
        split: The training and test records.
        n_classes: The number of classes of the target.
        positive: The class whose F1 and AUC are computed; the means over all classes if None.

    Returns:
        One row of scores per test.
    """
    X, y = method.training(split)
    model = with_seed(learner.model, learner.seed).fit(X, y)
    constant = X.min(axis=0) == X.max(axis=0)
    truth = original.y[split.test]
    shared_columns = {"method": method.name, "model": learner.name, "repeat": split.repeat}
    size = {"n_train": len(y), "n_test": len(truth)}
    guess, rank = _predict(model, np.where(constant, X[0], original.X[split.test]), n_classes)
    rows = [
        {
            **shared_columns,
            "tested_on": ORIGINAL,
            **_score_guess(truth, guess, rank, positive),
            **size,
        }
    ]
    if method.name != ORIGINAL:
        shares = np.bincount(y, minlength=n_classes) / len(y)
        guess = np.full(len(truth), int(shares.argmax()), dtype=np.intp)
        place = method.place[split.test]
        is_released = place >= 0
        class_scores: FloatArray | None = None
        if is_released.any():
            features = np.where(constant, X[0], method.X[place[is_released]])
            guess[is_released], class_scores = _predict(model, features, n_classes)
        rank = None
        if class_scores is not None or not is_released.any():
            rank = np.tile(shares, (len(truth), 1))
            rank[is_released] = class_scores if class_scores is not None else shares
        values = _score_guess(truth, guess, rank, positive)
        rows.append({**shared_columns, "tested_on": "released", **values, **size})
    return rows


def _predict(fitted: Any, X: FloatArray, n_classes: int) -> tuple[IntArray, FloatArray | None]:
    """Return predicted classes, and a value in [0, 1] per class that ranks the records."""
    guess = np.asarray(fitted.predict(X), dtype=np.intp)
    if hasattr(fitted, "predict_proba"):
        by_class = np.asarray(fitted.predict_proba(X))
    elif hasattr(fitted, "decision_function"):
        # The distance from the border, scaled as in a logistic regression: same ranks, same scale.
        side = 1 / (1 + np.exp(-np.clip(fitted.decision_function(X), -500, 500)))
        by_class = np.column_stack([1 - side, side]) if side.ndim == 1 else side
    else:
        return guess, None
    rank = np.zeros((len(X), n_classes))
    rank[:, np.asarray(fitted.classes_, dtype=np.intp)] = by_class
    return guess, rank


def _score_guess(
    truth: IntArray, guess: IntArray, rank: FloatArray | None, positive: int | None
) -> dict[str, float]:
    from sklearn.metrics import roc_auc_score

    classes = np.unique(truth) if positive is None else np.array([positive])
    f1 = [_f1(truth == c, guess == c) for c in classes]
    auc = float("nan")
    if rank is not None:
        auc = float(np.mean([roc_auc_score(truth == c, rank[:, c]) for c in classes]))
    accuracy = float(np.mean(truth == guess))
    return {"f1": float(np.mean(f1)), "accuracy": accuracy, "auc": auc}


def _f1(truth: NDArray[np.bool_], guess: NDArray[np.bool_]) -> float:
    total = int(truth.sum() + guess.sum())
    return 2 * int((truth & guess).sum()) / total if total else 0.0
