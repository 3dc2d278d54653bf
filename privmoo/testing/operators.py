"""The conformance suite of operators: checks that every operator must pass."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.duplicate import DuplicateElimination
from pymoo.core.mutation import Mutation
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling

from privmoo.spaces.cuts import CutSpace

__all__ = ["check_operator", "is_valid", "valid_rows"]

_ROWS = 40


def check_operator(operator: Any, problem: Any, *, seed: int = 0) -> None:
    """Raise an AssertionError with one sentence if an operator violates the contract.

    Children of valid parents must be valid, of the parents' type and as many as pymoo expects. The
    same seed must give the same children, and another seed different ones. Parents must not change, and
    neither numpy's nor Python's global random state may be used. Duplicate elimination must keep the
    first of equal individuals, in their order.

    Args:
        operator: A pymoo Sampling, Crossover, Mutation, Repair or DuplicateElimination.
        problem: A problem that the operator works on.
        seed: The seed of the parents and of the operator.

    >>> from privmoo.operators import CutMutation
    >>> from privmoo.problems import Cuts
    >>> from privmoo.testing import example_table
    >>> check_operator(CutMutation(), Cuts(example_table()))
    """
    kinds = (Sampling, Crossover, Mutation, Repair, DuplicateElimination)
    names = ", ".join(kind.__name__ for kind in kinds)
    name = type(operator).__name__
    _require(not isinstance(operator, type), f"{operator!r}: give an instance, not the class")
    _require(isinstance(operator, kinds), f"{name}: must be one of pymoo's {names}")
    _require(
        isinstance(problem, Problem), f"{problem!r} is not a problem; pass one such as Cuts(table)"
    )
    parents = valid_rows(problem, _ROWS, seed=seed)
    if isinstance(operator, DuplicateElimination):
        _check_duplicates(operator, parents, name)
        return
    states = _global_states()
    children = _apply(operator, problem, parents, seed)
    repeated = _apply(operator, problem, parents, seed)
    _require(
        states == _global_states(), f"{name}: uses a global random state instead of random_state"
    )
    if not isinstance(operator, Sampling):
        _check_parents(operator, problem, parents, seed)
    n_children = _ROWS * operator.n_offsprings if isinstance(operator, Crossover) else _ROWS
    shape = (n_children, problem.n_var)
    _require(
        children.shape == shape, f"{name}: children of shape {children.shape} instead of {shape}"
    )
    _require(
        children.dtype == parents.dtype,
        f"{name}: parents are {parents.dtype}, but children {children.dtype}",
    )
    invalid = np.flatnonzero(~is_valid(problem, children)).tolist()
    _require(not invalid, f"{name}: children {invalid[:3]} of valid parents are not valid")
    _require(np.array_equal(children, repeated), f"{name}: the same seed gives different children")
    if isinstance(operator, Repair):
        _require(np.array_equal(children, parents), f"{name}: changes rows that are valid")
    elif len(np.unique(parents, axis=0)) > _ROWS // 4:  # otherwise hardly anything can vary
        repeats = (_apply(operator, problem, parents, seed + i) for i in (1, 2, 3))
        _require(
            any(not np.array_equal(children, repeat) for repeat in repeats),
            f"{name}: every seed gives the same children",
        )


def valid_rows(problem: Any, n_rows: int, *, seed: int = 0) -> NDArray[Any]:
    """Return valid decision vectors: repaired random bits of all densities, or the problem's sampling.

    Args:
        problem: The problem.
        n_rows: The number of vectors.
        seed: Equal seeds give equal vectors.

    >>> from privmoo.problems import Cuts
    >>> from privmoo.testing import example_table
    >>> valid_rows(Cuts(example_table()), 3).shape
    (3, 12)
    """
    rng = np.random.default_rng(seed)
    space = getattr(problem, "space", None)
    if isinstance(space, CutSpace):
        rows = rng.random((n_rows, space.n_bits)) < rng.random((n_rows, 1))
        rows[:2] = [[True], [False]][: len(rows[:2])]
        return space.repair(rows)
    sampling = problem.default_operators()["sampling"]
    return np.asarray(sampling(problem, n_rows, random_state=rng, to_numpy=True))


def is_valid(problem: Any, X: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows are valid: cuts of the problem's space, or numbers within its bounds.

    Args:
        problem: The problem.
        X: Decision vectors, one per row.

    >>> from privmoo.problems import Cuts
    >>> from privmoo.testing import example_table
    >>> is_valid(Cuts(example_table()), np.zeros((1, 12), dtype=bool)).tolist()
    [True]
    """
    space = getattr(problem, "space", None)
    if isinstance(space, CutSpace):
        return space.valid(X)
    low, high = (
        np.full(X.shape[1], free) if bound is None else bound
        for bound, free in zip(problem.bounds(), (-np.inf, np.inf), strict=True)
    )
    return np.asarray(((low <= X) & (high >= X)).all(axis=1))


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise AssertionError(sentence)


def _apply(operator: Any, problem: Any, parents: NDArray[Any], seed: int) -> NDArray[Any]:
    """Call the operator as an algorithm does."""
    rng = np.random.default_rng(seed)
    if isinstance(operator, Sampling):
        return np.asarray(operator(problem, _ROWS, random_state=rng, to_numpy=True))
    pop = Population.new("X", parents)
    if isinstance(operator, Crossover):
        n = operator.n_parents
        mates = np.random.default_rng(seed).integers(len(parents), size=(_ROWS, n))
        offspring = operator(problem, pop, parents=mates, random_state=rng)
    elif isinstance(operator, Repair):
        offspring = operator(problem, pop)  # a particle swarm passes no random_state
    else:
        offspring = operator(problem, pop, random_state=rng)
    return np.array([individual.X for individual in offspring])


def _check_parents(operator: Any, problem: Any, parents: NDArray[Any], seed: int) -> None:
    rows = np.stack([parents] * operator.n_parents) if isinstance(operator, Crossover) else parents
    before = rows.copy()
    operator._do(problem, rows, random_state=np.random.default_rng(seed))
    _require(np.array_equal(rows, before), f"{type(operator).__name__}: changes its parents")


def _global_states() -> tuple[Any, ...]:
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002 # only read
    return kind, np.asarray(keys).tobytes(), *rest, random.getstate()


def _check_duplicates(operator: Any, rows: NDArray[Any], name: str) -> None:
    others = rows[::5]
    doubled = np.concatenate([rows, rows[::-1]])
    pop = Population.new("X", doubled)
    survivors = operator.do(pop, Population.new("X", others), Population.create())
    rows_seen = {row.tobytes() for row in others}
    expected = []
    for row in doubled:
        if row.tobytes() not in rows_seen:
            rows_seen.add(row.tobytes())
            expected.append(row)
    _require(
        len(survivors) == len(expected),
        f"{name}: keeps {len(survivors)} individuals, but {len(expected)} are new and distinct",
    )
    _require(
        all(np.array_equal(a.X, b) for a, b in zip(survivors, expected, strict=True)),
        f"{name}: must keep the first of equal individuals, in their order",
    )
    _require(len(operator.do(Population.create())) == 0, f"{name}: must accept an empty population")
