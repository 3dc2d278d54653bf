"""Proven fronts and bounds."""

from __future__ import annotations

from privmoo.exact.lattice import exact_front, lattice_cost, lower_bound
from privmoo.exact.squared_errors import squared_error_bound

__all__ = ["exact_front", "lattice_cost", "lower_bound", "squared_error_bound"]
