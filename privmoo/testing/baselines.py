"""The conformance suite of baselines: checks that every baseline must pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from privmoo.data.table import Table
from privmoo.evaluation.engine import Engine
from privmoo.recodings.base import Recoding, recodings_in
from privmoo.testing.recodings import check_storage
from privmoo.testing.tables import example_table

__all__ = ["check_baseline"]


def check_baseline(
    baseline: Callable[..., Recoding],
    *,
    table: Table | None = None,
    k: Sequence[int] = (2, 5),
    **options: Any,
) -> None:
    """Raise an AssertionError with one sentence if a baseline violates the protocol.

    A baseline must take a table and k, return a recoding whose QI-groups have at least k persons, and
    return the same recoding every time; it must be possible to store the recoding.

    Args:
        baseline: The baseline.
        table: The records to try it on; `example_table()` by default.
        k: The k to try.
        options: Further arguments of the baseline.

    >>> import privmoo as pm
    >>> check_baseline(pm.baselines.mdav)
    """
    assert callable(baseline), f"{baseline!r} is not a function of table and k"
    table = example_table() if table is None else table
    for size in k:
        recoding = baseline(table, size, **options)
        assert recodings_in(recoding), f"must return a Recoding, got {type(recoding).__name__}"
        view = recoding.view(table)
        _, groups = Engine(view, threads=1).groups(recoding.candidate(view))
        sizes = groups[0].sizes
        assert sizes.min() >= size, f"a QI-group has {sizes.min()} persons, fewer than k = {size}"
        assert sizes.sum() == table.n_persons, "every person must be in a QI-group"
        repeated = baseline(table, size, **options)
        assert repeated.key() == recoding.key(), "the same call must give the same recoding"
        check_storage(recoding, table)
