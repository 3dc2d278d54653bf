"""The description of a front's problem: complete in files, without secrets everywhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privmoo.spaces.base import NOISE, SECRET

__all__ = ["comparable", "stated_parameters", "without_secret"]


def stated_parameters(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a problem as certificates and reports state them.

    The identity of the noise is left out: with it, a guess of the records could be confirmed.

    >>> stated_parameters({"parameters": {"strict": True, "noise": "52a9c0"}})
    {'strict': True}
    """
    parameters = description.get("parameters") or {}
    return {name: value for name, value in parameters.items() if name != NOISE}


def comparable(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a front and a problem must have in common for the front's solutions to be released.

    The identity of secret noise is left out, and so are the versions of measures' formulas: a release
    measures anew.

    >>> comparable({"parameters": {}, "measures": [{"key": "disclosure_risk", "definition": 2}]})
    {'parameters': {}, 'measures': [{'key': 'disclosure_risk'}]}
    """
    harmless = without_secret(description)
    for part in ("objectives", "measures"):
        if part in harmless:
            harmless[part] = [_without_definition(m) for m in harmless[part]]
    if "constraints" in harmless:
        harmless["constraints"] = [
            {**bound, "measure": _without_definition(bound["measure"])}
            for bound in harmless["constraints"]
        ]
    return harmless


def _without_definition(m: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in m.items() if name != "definition"}


def without_secret(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description without the identity of secret noise; a saved front holds its recodings.

    >>> without_secret({"parameters": {"noise": "secret 52a9c0"}})
    {'parameters': {'noise': 'secret'}}
    """
    parameters = dict(description.get("parameters") or {})
    if str(parameters.get(NOISE)).startswith(SECRET):
        parameters[NOISE] = SECRET
    return {**description, "parameters": parameters}
