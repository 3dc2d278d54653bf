"""What every release goes through, however large: claims confirmed, and a certificate of the rest."""

from __future__ import annotations

import datetime
import math
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from privmoo._util.checks import whole_number
from privmoo.data.table import Table
from privmoo.errors import AuditError, ReleaseError
from privmoo.groups.groups import GroupBatch
from privmoo.hierarchy.canonical import canonical
from privmoo.measures.base import Measure
from privmoo.recodings.recoding import Recoding
from privmoo.release.certificate import NOT_GUARANTEED, Certificate, Claim
from privmoo.suppression import Suppression

__all__ = ["certify", "check_seed", "confirm", "other_releases", "released_labels"]

_TOLERANCE = 1e-9
_made: dict[str, set[bytes]] = {}
_made_lock = threading.Lock()


def check_seed(seed: object) -> None:
    """Raise unless a seed of a release is none, or a whole number from 0."""
    if seed is not None:
        whole_number("seed", seed, at_least=0, error=ReleaseError)


def confirm(
    measures: Iterable[Measure],
    claims: Mapping[str, float] | None,
    before: GroupBatch,
    after: GroupBatch,
    value_of: Callable[[Measure], float | None],
) -> tuple[Claim, ...]:
    """The optimiser's values beside the audit's; an `AuditError` where they differ."""
    values = dict(claims or {})
    confirmed = []
    for m in measures:
        stage = before if m.stage == "before" else after
        own = float(m.values(stage)[0])
        claimed = values.get(m.key, own)
        found = value_of(m)
        for what in (claimed, own):
            if found is not None and not math.isclose(
                what, found, rel_tol=_TOLERANCE, abs_tol=1e-12
            ):
                raise AuditError(
                    f"{m.name}: the optimiser claims {what:.10g}, the audit of the released rows "
                    f"measures {found:.10g}; nothing is released"
                )
        if found is not None:
            confirmed.append(Claim(m.name, m.parameters, claimed, found))
    return tuple(confirmed)


def certify(
    table: Table,
    recoding: Recoding,
    policy: Suppression,
    *,
    n_released: int,
    labels: Mapping[str, set[str]],
    measured: Mapping[str, Any],
    useful: Mapping[str, Any],
    claims: tuple[Claim, ...],
    notes: Sequence[str],
    shuffled: bool,
    method: Mapping[str, Any] | None,
) -> Certificate:
    """The certificate of a release, from what was done and what was measured on it."""
    columns = table.released_columns
    return Certificate(
        source={
            "privmoo": _version(),
            "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "records": table.n_records,
            **({} if table.subjects is None else {"persons": table.n_persons}),
            **({"rows_dropped_for_missing_values": table.n_dropped} if table.n_dropped else {}),
        },
        method={
            **dict(method or {}),
            "quasi_identifiers": recoding.describe(labels),
            **recoding.facts(),
            **_units_of_loss(table, useful),
            "suppression": policy.describe(),
            "rows_shuffled": shuffled,
            **(
                {}
                if table.subjects is None
                else {"k_counts": "persons, by a key that is not released"}
            ),
        },
        release={
            "records": n_released,
            "records_suppressed": table.n_records - n_released,
            "share_suppressed": (table.n_records - n_released) / table.n_records,
            "columns": {name: table.roles[name] for name in columns},
            "columns_left_out": [name for name in table.roles if name not in columns],
        },
        privacy=dict(measured),
        utility=dict(useful),
        claims=claims,
        warnings=(*notes, *_remarks(table, measured)),
        not_guaranteed=(*recoding.cautions(), *NOT_GUARANTEED),
    )


def _units_of_loss(table: Table, useful: Mapping[str, Any]) -> dict[str, Any]:
    if "loss" not in useful:
        if "il" not in useful:
            return {}
        return {"il_is_counted_in": "squared differences of numbers, and changed values"}
    return {
        "loss_is_counted_in": {
            qi.name: f"{qi.n_leaves} {'values' if qi.exact else 'base intervals'}"
            + (" that occur" if table.domain == "observed" else "")
            for qi in table.qis
        }
    }


def released_labels(table: Table, frame: pd.DataFrame) -> dict[str, set[str]]:
    """Per quasi-identifier the labels that are released."""
    return {name: {canonical(value) for value in frame[name].unique()} for name in table.qi_names}


def other_releases(table: Table, key: bytes) -> list[str]:
    """A warning if this process has made another release of the same data; `key` tells them apart."""
    with _made_lock:
        earlier = _made.setdefault(table.content, set())
        others = earlier - {key}
        earlier.add(key)
    if not others:
        return []
    return [
        f"this is release number {len(others) + 1} of the same table: releases that differ can be "
        "intersected, so that k of each does not hold for both together"
    ]


def _remarks(table: Table, measured: Mapping[str, Any]) -> list[str]:
    remarks = []
    if measured["k"] < 2:
        remarks.append("k is 1: at least one record is alone in its group and can be singled out.")
    counted = measured.get("on_those_without_noise", measured)
    for name, values in counted.get("sensitive", {}).items():
        if values["homogeneity"] > 0 and name not in table.qi_names:
            remarks.append(
                f"{100 * values['homogeneity']:.3g} % of the records are in groups where all have the "
                f"same value of {name!r}: whoever finds a person's group learns it."
            )
    if table.subjects is not None and table.sensitive:
        remarks.append(
            "k and the risks count persons; ℓ, t and the other measures of sensitive values count rows, "
            "so that several rows of one person can look like diversity."
        )
    return remarks


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("privmoo")
    except PackageNotFoundError:
        return "unknown"
