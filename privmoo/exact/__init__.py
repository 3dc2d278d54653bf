"""Proven fronts and bounds."""

from __future__ import annotations

from privmoo.exact.lattice import exact_front, lattice_cost, lower_bound

__all__ = ["exact_front", "lattice_cost", "lower_bound"]
