"""Models: the learners with which Wei et al. (2025) compare original and release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from privmoo.errors import ProblemError, nearest

__all__ = ["choose_models", "learners", "with_seed"]


def learners(seed: int = 0, *, scaled: bool = True) -> dict[str, Any]:
    """Return six scikit-learn classifiers by name, all fast enough for about 50,000 records.

    - DT: decision tree, grown in full.
    - LR: logistic regression on standardised features.
    - NB: Gaussian naive Bayes.
    - RF: random forest of 100 trees.
    - SVM: linear support vector machine (squared hinge) on standardised features. A kernel machine
      needs time quadratic in the number of records: hours for repeated splits of Adult.
    - NN: one hidden layer of 32 on standardised features, weight decay 1; it stops when its loss no
      longer falls. (It does not stop by validation records, which are too few in small tables: with
      84 training records the network would stop untrained.)

    Without `scaled`, LR, SVM and NN see the features as they are. Then columns of large numbers drown the
    others, and results are much worse; it is there to compare with scores that were published so.

    Args:
        seed: The random state of the learners.
        scaled: Whether LR, SVM and NN standardise the features.

    >>> list(learners(seed=1))
    ['DT', 'LR', 'NB', 'RF', 'SVM', 'NN']
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    def on_features(model: Any) -> Any:
        return make_pipeline(StandardScaler(), model) if scaled else model

    network = MLPClassifier((32,), alpha=1.0, max_iter=200, random_state=seed)
    return {
        "DT": DecisionTreeClassifier(random_state=seed),
        "LR": on_features(LogisticRegression(max_iter=1000)),
        "NB": GaussianNB(),
        "RF": RandomForestClassifier(100, random_state=seed, n_jobs=1),
        "SVM": on_features(LinearSVC(dual=False, random_state=seed)),
        "NN": on_features(network),
    }


def choose_models(models: Mapping[str, Any] | Iterable[str] | None, seed: int) -> dict[str, Any]:
    """Return the estimators to train, by name.

    Args:
        models: Estimators by name, or names of `learners`; all learners if None.
        seed: The random state of the built-in learners.

    >>> list(choose_models(["LR", "DT"], seed=0))
    ['LR', 'DT']
    """
    built_in = learners(seed)
    if models is None:
        return built_in
    if isinstance(models, Mapping):
        choice = dict(models)
        for name, model in choice.items():
            if not (hasattr(model, "fit") and hasattr(model, "predict")):
                raise ProblemError(
                    f"models: {name!r} must have fit and predict, got {type(model).__name__}; "
                    "give a scikit-learn classifier"
                )
    else:
        names = [models] if isinstance(models, str) else list(models)
        for name in names:
            if name not in built_in:
                raise ProblemError(
                    f"models: there is no learner {name!r}, only {', '.join(built_in)}"
                    f"{nearest(name, built_in)}"
                )
        choice = {name: built_in[name] for name in names}
    if not choice:
        raise ProblemError("models: there are none; name at least one")
    return choice


def with_seed(model: Any, seed: int) -> Any:
    """Return a fresh copy of an estimator, with a seed for every random state that is not set.

    Args:
        model: The estimator.
        seed: The random state.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> with_seed(DecisionTreeClassifier(), 7).random_state
    7
    """
    from sklearn.base import clone

    copy = clone(model)
    parameters = copy.get_params(deep=True)
    open_ones = [
        name
        for name, value in sorted(parameters.items())
        if name.rpartition("__")[2] == "random_state" and value is None
    ]
    return copy.set_params(**dict.fromkeys(open_ones, seed)) if open_ones else copy
