"""What blocks of leaves cost a record, in objectives that add up over cells."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privmoo.data.table import Table
from privmoo.exact.choices import PartitionChoices

__all__ = ["Kind", "Price", "cost_of_block", "price_of", "shares_of"]

Kind = Literal["loss", "transparency"]
"""A cost that adds up over cells: general loss, or what is missing from full transparency."""


class Price(NamedTuple):
    """The cost of a release: an additive objective, to be minimised.

    Attributes:
        kind: How it adds up: `"loss"` or `"transparency"`.
        of_blocks: Per quasi-identifier and partition, what a record loses in every block.
        suppressed: What a suppressed record loses in every quasi-identifier; never less.
    """

    kind: Kind
    of_blocks: list[list[NDArray[np.float64]]]
    suppressed: list[float]


def shares_of(table: Table, kind: Kind) -> NDArray[np.float64]:
    """Return what a suppressed record costs in every quasi-identifier.

    Args:
        table: The records.
        kind: The cost.
    """
    if kind == "transparency":
        return np.ones(table.n_qis)
    weights = np.array([qi.weight for qi in table.qis])
    return np.asarray(weights / weights.sum())


def cost_of_block(leaves: NDArray[Any], n_leaves: int, share: float, kind: Kind) -> NDArray[Any]:
    """Return what a record loses in blocks of one quasi-identifier.

    Args:
        leaves: The leaves of every block.
        n_leaves: The leaves of the quasi-identifier.
        share: What a suppressed record loses.
        kind: The cost.
    """
    if kind == "transparency":
        return np.asarray(1 - 1 / leaves)
    return np.asarray(share * (leaves - 1) / max(n_leaves - 1, 1))


def price_of(choices: PartitionChoices, kind: Kind, columns: Collection[int]) -> Price:
    """Return what every block of every partition costs a record.

    Args:
        choices: The partitions.
        kind: The cost.
        columns: The places of the quasi-identifiers whose partitions can be listed.
    """
    shares = shares_of(choices.table, kind)
    of_blocks = []
    for j, qi in enumerate(choices.table.qis):
        counts = [np.bincount(row) for row in choices.blocks(j)] if j in columns else []
        of_blocks.append([cost_of_block(c, qi.n_leaves, shares[j], kind) for c in counts])
    return Price(kind, of_blocks, shares.tolist())
