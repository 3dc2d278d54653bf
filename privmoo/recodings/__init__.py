"""What a release publishes instead of the original quasi-identifiers."""

from __future__ import annotations

from privmoo.recodings.base import Recoding, from_json
from privmoo.recodings.blocks import (
    BlockRecoding,
    LevelRecoding,
    cut_recoding,
    identity_recoding,
    level_recoding,
)
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.classes import PartitionRecoding, cluster_recoding, range_recoding
from privmoo.recodings.means import Means
from privmoo.recodings.tuples import TupleRecoding

__all__ = [
    "BlockRecoding",
    "Candidates",
    "CellRecoding",
    "LevelRecoding",
    "Means",
    "PartitionRecoding",
    "Recoding",
    "TupleRecoding",
    "cluster_recoding",
    "cut_recoding",
    "from_json",
    "identity_recoding",
    "level_recoding",
    "range_recoding",
]
