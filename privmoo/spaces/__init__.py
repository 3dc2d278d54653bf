"""Search spaces: how decision vectors become recodings."""

from __future__ import annotations

from privmoo.spaces.base import SearchSpace
from privmoo.spaces.centroids import CentroidSpace
from privmoo.spaces.cuts import CutSpace
from privmoo.spaces.levels import LevelSpace
from privmoo.spaces.parameters import ParameterSpace

__all__ = ["CentroidSpace", "CutSpace", "LevelSpace", "ParameterSpace", "SearchSpace"]
