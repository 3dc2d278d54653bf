"""Sampling, crossover, mutation and repair for recodings; import as ``privmoo.operators``."""

from __future__ import annotations

if __name__ == "operators":
    raise ImportError("the folder operators is the package privmoo.operators: import that instead")
