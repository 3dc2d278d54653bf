"""Other objectives and constraints in MO-OBAM: closeness, linkage, and what a classifier learns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import privmoo as pm
from privmoo.problems import MOOBAM

TABLE = pm.datasets.german_credit().sample(300, seed=1)


@pm.measure(sense="min", needs=("sizes", "labels", "target"), bounds=(0, 1))
def tree_error(groups: pm.groups.Grouping) -> float:
    """Share of records that a tree on the classes' means gets wrong."""
    view = groups.table
    labels = groups.labels[view.row_tuple]
    classes = pm.recodings.cluster_recoding(TABLE, labels)
    features = classes.centres[classes.labels]
    target = view.target.row_codes if view.target is not None else np.zeros(len(labels))
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(features, target)
    return float((tree.predict(features) != target).mean())


@pytest.mark.filterwarnings(
    "ignore::privmoo.release.release.ReleaseWarning"
)  # credit_amount is unique
def test_closeness_linkage_and_learning_plug_in() -> None:
    problem = MOOBAM(
        TABLE,
        30,
        5,
        objectives=[pm.RecordsAtRisk(0.05, count=True).named("linked"), tree_error],
        constraints=[pm.TCloseness() <= 0.45],
    )
    front = pm.optimize(
        problem, pm.search.make_algorithm(problem, population=12), 2, seed=1, progress=False
    )
    found = front.to_frame()
    assert list(found.columns[:4]) == ["il", "min_entropy", "linked", "tree_error"]
    assert (found["t"] <= 0.45).all() and (found["k"] >= 5).all()
    assert found["tree_error"].between(0, 0.5).all()
    release = front[0].release(seed=1)
    assert release.certificate.privacy["k"] >= 5


def test_a_loss_in_standard_deviations_keeps_the_categories() -> None:
    """In raw years age is nearly all of the loss, so that the other columns are given away."""
    picks = {}
    for scale in ("raw", "standard"):
        problem = MOOBAM(TABLE, 15, 5, scale=scale, loss_scale=scale)
        front = pm.optimize(
            problem, pm.search.make_algorithm(problem, population=12), 3, seed=1, progress=False
        )
        picks[scale] = front.best("il").loss_per_attribute()
    assert picks["standard"]["job"] < picks["raw"]["job"]
    assert picks["standard"]["age"] > picks["raw"]["age"]
