"""The conformance suite of recodings."""

from __future__ import annotations

import json
import warnings

import numpy as np

from privmoo import registry
from privmoo.data.table import Table
from privmoo.evaluation.engine import Engine
from privmoo.measures import KAnonymity
from privmoo.recodings.base import Recoding, from_json, recodings_in
from privmoo.release.release import ReleaseWarning, make_release

__all__ = ["check_recoding", "check_storage"]


def check_recoding(recoding: Recoding, table: Table) -> None:
    """Raise an AssertionError with one sentence if a recoding violates the protocol.

    A recoding must publish and describe every quasi-identifier, and be readable from a file under its
    registered name. If it is released, the audit of the rows must find the k that the optimiser computes.

    Args:
        recoding: The recoding.
        table: The records that it was made for.

    >>> from privmoo.recodings import identity_recoding
    >>> from privmoo.testing import example_table
    >>> check_recoding(identity_recoding(example_table()), example_table())
    """
    assert recodings_in(recoding), f"{recoding!r} is not a privmoo Recoding"
    descriptions = set(recoding.describe())
    assert descriptions == set(table.qi_names), "describe() must name every quasi-identifier"
    published = [column.name for column in recoding.columns]
    assert published == table.qi_names, (
        "columns must hold one column per quasi-identifier, in order"
    )
    check_storage(recoding, table)
    view = recoding.view(table)
    _, groups = Engine(view, threads=1).groups(recoding.candidate(view))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)  # a table may be released repeatedly here
        release = make_release(table, recoding, measures=[KAnonymity()])
    (claim,) = [claim for claim in release.certificate.claims if claim.measure == "k"]
    k = int(groups[0].sizes.min())
    assert claim.audited == k, (
        f"the released rows have k = {claim.audited:g}, the QI-groups k = {k}"
    )


def check_storage(recoding: Recoding, table: Table) -> None:
    """Raise an AssertionError if a recoding changes when it is stored and read back.

    Args:
        recoding: The recoding.
        table: The records that it was made for.
    """
    data = json.loads(json.dumps(recoding.to_json()))
    name = data.get("kind")
    assert registry.contains("recodings", str(name)), f"no recoding is registered as {name!r}"
    reread = from_json(table, data)
    assert reread.key() == recoding.key(), "the key must be the same after the recoding was stored"
    rows = np.arange(table.n_records)
    are_equal = reread.apply(table, rows).equals(recoding.apply(table, rows))
    assert are_equal, "the recoding must be the same after it was stored"
