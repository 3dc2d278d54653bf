"""The evaluation of candidates: a population in, measured values out."""

from __future__ import annotations

from privmoo.evaluation.engine import Engine, group

__all__ = ["Engine", "group"]
