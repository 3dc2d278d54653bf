"""Search spaces: how decision vectors become recodings."""

from __future__ import annotations

from privmoo.spaces.base import SearchSpace
from privmoo.spaces.centroids import CentroidSpace
from privmoo.spaces.classes import ClassSpace
from privmoo.spaces.cuts import CutSpace
from privmoo.spaces.levels import LevelSpace
from privmoo.spaces.parameters import ParameterSpace
from privmoo.spaces.regions import RegionSpace
from privmoo.spaces.union import UnionSpace

__all__ = [
    "CentroidSpace",
    "ClassSpace",
    "CutSpace",
    "LevelSpace",
    "ParameterSpace",
    "RegionSpace",
    "SearchSpace",
    "UnionSpace",
]
