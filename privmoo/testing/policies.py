"""The conformance suite of suppression policies."""

from __future__ import annotations

import json

import numpy as np

from privmoo import registry
from privmoo.data.table import Table
from privmoo.errors import PluginError
from privmoo.evaluation.engine import Engine
from privmoo.measures.base import NEEDS
from privmoo.recodings.candidates import Candidates
from privmoo.suppression import Suppression, policy_from
from privmoo.testing.candidates import random_blocks
from privmoo.testing.tables import example_table

__all__ = ["check_policy"]


def check_policy(policy: Suppression, table: Table | None = None, *, seed: int = 0) -> None:
    """Raise an AssertionError with one sentence if a policy violates the protocol.

    A policy must declare needs that exist. It must decide for every group whether it stays, in the same
    way every time, alone and in a chunk. It must describe itself in plain data; if it is registered, the
    description must make an equal policy, so that jobs and saved fronts can state it.

    Args:
        policy: The policy.
        table: Records to try it on; `example_table()` by default.
        seed: The seed of the random candidates.

    >>> from privmoo.suppression import Budget
    >>> check_policy(Budget(0.1))
    """
    assert isinstance(policy, Suppression), f"{policy!r} is not a privmoo Suppression"
    unknown = set(policy.required) - NEEDS
    assert not unknown, f"{policy!r} needs {sorted(unknown)}, but only {sorted(NEEDS)} are known"
    _check_description(policy)
    table = example_table() if table is None else table
    blocks = random_blocks(table, 12, np.random.default_rng(seed))
    engine = Engine(table, suppression=policy, needs=policy.required, threads=1)
    together = _sizes(engine, blocks)
    assert together == _sizes(engine, blocks), f"{policy!r} keeps different groups the second time"
    for i, sizes in enumerate(together):
        alone = _sizes(engine, blocks[i : i + 1])[0]
        assert alone == sizes, (
            f"{policy!r} keeps different groups of a candidate alone and in a chunk"
        )


def _check_description(policy: Suppression) -> None:
    description = policy.describe()
    name = type(policy).__name__
    assert description.get("policy") == name, f"describe() must give the name {name!r} as 'policy'"
    plain = json.loads(json.dumps(description))
    assert plain == description, "describe() must return plain data, with lists instead of tuples"
    if registry.contains("policies", name):
        try:
            assert policy_from(plain) == policy, "from_description() must make an equal policy"
        except PluginError as error:
            raise AssertionError(str(error)) from error


def _sizes(engine: Engine, blocks: np.ndarray) -> list[list[int]]:
    """Return the sizes of the groups that stay, for every candidate."""
    _, groups = engine.groups(Candidates(blocks=blocks))
    return [sorted(groups[i].sizes.tolist()) for i in range(len(groups))]
