"""Formulations of anonymization as multi-objective problems; import as ``privmoo.problems``."""

from __future__ import annotations

if __name__ == "problems":
    raise ImportError("the folder problems is the package privmoo.problems: import that instead")
