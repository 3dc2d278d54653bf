"""The evaluation of candidates: a population in, measured values out."""

from __future__ import annotations

from privmoo.evaluation.engine import Engine, group

__all__ = ["Engine", "group"]


def __getattr__(name: str) -> object:
    if name == "evaluate":
        raise AttributeError("privmoo.evaluation.evaluate is now privmoo.evaluate")
    raise AttributeError(f"module 'privmoo.evaluation' has no attribute {name!r}")
