"""The hybrid scheme of Majeed and Hwang 2023, step by step: noise for numbers, clusters for the rest."""

from __future__ import annotations

from privmoo.hybrid.clustering import MemberClusters, member_clusters
from privmoo.hybrid.evaluation import by_partition, preservation
from privmoo.hybrid.mechanism import (
    HybridMechanism,
    HybridParameters,
    default_diversity,
    default_levels,
)
from privmoo.hybrid.noise import Noise, add_noise, expected_unchanged, laplace_draws
from privmoo.hybrid.patterns import Patterns, find_patterns
from privmoo.hybrid.preprocessing import Preprocessed, preprocess
from privmoo.hybrid.scheme import HybridScheme
from privmoo.hybrid.splitting import Split, split_by_patterns, split_records
from privmoo.hybrid.values import ValueClasses, value_classes

__all__ = [
    "HybridMechanism",
    "HybridParameters",
    "HybridScheme",
    "MemberClusters",
    "Noise",
    "Patterns",
    "Preprocessed",
    "Split",
    "ValueClasses",
    "add_noise",
    "by_partition",
    "default_diversity",
    "default_levels",
    "expected_unchanged",
    "find_patterns",
    "laplace_draws",
    "member_clusters",
    "preprocess",
    "preservation",
    "split_by_patterns",
    "split_records",
    "value_classes",
]
