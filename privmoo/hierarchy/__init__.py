"""Hierarchies: how the values of a quasi-identifier may be generalised."""

from __future__ import annotations

from privmoo.hierarchy.canonical import MISSING, canonical
from privmoo.hierarchy.hierarchy import Hierarchy
from privmoo.hierarchy.nodes import Nodes

__all__ = ["MISSING", "Hierarchy", "Nodes", "canonical"]
