"""The conformance suite: checks that measures, policies, recodings and other plug-ins must pass.

In the tests of a plug-in::

    from privmoo.testing import (
        check_baseline, check_measure, check_operator, check_policy, check_problem, example_table
    )

    def test_my_measure():
        check_measure(MyMeasure())

    def test_my_policy():
        check_policy(MyPolicy())

    def test_my_problem():
        problem = MyProblem(example_table())
        check_problem(problem)
        for operator in problem.default_operators().values():
            check_operator(operator, problem)

    def test_my_baseline():
        check_baseline(my_baseline)

`privmoo.registry` describes how a package announces its objects to privmoo.
Each check raises an AssertionError with one sentence that says what is wrong.
"""

from __future__ import annotations

from privmoo.testing.baselines import check_baseline
from privmoo.testing.candidates import evaluate, random_blocks, random_labels
from privmoo.testing.measures import check_measure
from privmoo.testing.operators import check_operator, is_valid, valid_rows
from privmoo.testing.policies import check_policy
from privmoo.testing.problems import check_problem
from privmoo.testing.recodings import check_recoding
from privmoo.testing.tables import example_hybrid_table, example_table

__all__ = [
    "check_baseline",
    "check_measure",
    "check_operator",
    "check_policy",
    "check_problem",
    "check_recoding",
    "evaluate",
    "example_hybrid_table",
    "example_table",
    "is_valid",
    "random_blocks",
    "random_labels",
    "valid_rows",
]
