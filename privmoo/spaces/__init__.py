"""Search spaces: how decision vectors become recodings."""

from __future__ import annotations

from privmoo.spaces.centroids import CentroidSpace
from privmoo.spaces.cuts import CutSpace
from privmoo.spaces.levels import LevelSpace

__all__ = ["CentroidSpace", "CutSpace", "LevelSpace"]
