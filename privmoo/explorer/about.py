"""The facts about a front for a page: how it was found, and what holds for the pick."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from privmoo.explorer.data import ExplorerData
from privmoo.front.advice import remarks
from privmoo.front.description import stated_parameters
from privmoo.front.front import Front
from privmoo.release.release import Release

__all__ = ["about_front"]

Section = tuple[str, list[tuple[str, str]]]

_CONTENT = (
    "values, labels and counts of all solutions, for the publisher only; rows of the pick only, and only "
    "if its audited k is at least 2; no identifying columns"
)
_RUN = (
    "algorithm",
    "seed",
    "budget",
    "generations",
    "evaluations",
    "infeasible",
    "stopped_by_hand",
    "reproducible",
    "why_not_reproducible",
    "proven",
)


def about_front(data: ExplorerData, release: Release | None) -> list[Section]:
    """Return the method, parameters, seed and versions of fronts, and the certificate of the pick.

    The fingerprint of the table is left out: with it, somebody could confirm a guess of the table.

    Args:
        data: The fronts.
        release: The release of the pick; None if there is no pick.
    """
    sections: list[Section] = [("This file", [("holds", _CONTENT)])]
    for entry in data.fronts:
        if entry.front is None:
            continue
        before = f"{entry.name}: " if len(data.fronts) > 1 else ""
        sections += [(f"{before}{title}", rows) for title, rows in _method(entry.front)]
    if release is not None:
        sections += [
            (f"Certificate of the pick: {title[:1].lower()}{title[1:]}", rows)
            for title, rows in release.certificate._sections()
        ]
    return sections


def _method(front: Front) -> list[Section]:
    described = front.description
    method = [("problem", str(described.get("problem", "not known")))]
    method += _pairs(stated_parameters(described))
    method.append(("suppression", _plain(described.get("suppression"))))
    for q in front.objectives:
        method.append(
            (
                q.label.removesuffix(" (%)"),
                "less is better" if q.sense == "min" else "more is better",
            )
        )
    for constraint in described.get("constraints", ()):
        name = constraint["measure"].get("key", "")
        method.append(("constraint", f"{name} {constraint['relation']} {constraint['bound']:g}"))
    if front.table is not None:
        method.append(("records", f"{front.table.n_records:,}"))
        method.append(("quasi-identifiers", ", ".join(map(str, front.table.qi_names))))
    runs = front.run.get("merged", [front.run])
    sections = [("Method", method)]
    for run in runs:
        rows = [
            (key.replace("_", " "), _plain(run[key])) for key in _RUN if run.get(key) is not None
        ]
        settings = run.get("settings")
        if isinstance(settings, Mapping):
            rows += [
                (key.replace("_", " "), _plain(value))
                for key, value in settings.items()
                if isinstance(value, int | float) and not isinstance(value, bool)
            ]
        if rows:
            sections.append(("Search", rows))
    versions = next((run["versions"] for run in runs if run.get("versions")), None)
    if isinstance(versions, Mapping):
        sections.append(("Versions", [(str(k), str(v)) for k, v in versions.items()]))
    return [*sections, ("In words", remarks(front, calls=False))]


def _pairs(parameters: Any) -> list[tuple[str, str]]:
    if not isinstance(parameters, Mapping):
        return []
    return [(str(key).replace("_", " "), _plain(value)) for key, value in parameters.items()]


def _plain(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(entry)}" for key, entry in value.items())
    return json.dumps(value, ensure_ascii=False, default=lambda entry: f"<{type(entry).__name__}>")
