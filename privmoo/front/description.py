"""The description of a front's problem: complete in files, without secrets everywhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privmoo.spaces.base import NOISE, SECRET

__all__ = ["stated_parameters", "without_secret"]


def stated_parameters(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a problem as certificates and reports state them.

    The identity of the noise is left out: with it, a guess of the records could be confirmed.

    >>> stated_parameters({"parameters": {"strict": True, "noise": "52a9c0"}})
    {'strict': True}
    """
    parameters = description.get("parameters") or {}
    return {name: value for name, value in parameters.items() if name != NOISE}


def without_secret(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description without the identity of secret noise; a saved front holds its recodings.

    >>> without_secret({"parameters": {"noise": "secret 52a9c0"}})
    {'parameters': {'noise': 'secret'}}
    """
    parameters = dict(description.get("parameters") or {})
    if str(parameters.get(NOISE)).startswith(SECRET):
        parameters[NOISE] = SECRET
    return {**description, "parameters": parameters}
