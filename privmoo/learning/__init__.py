"""How useful a release is to learners: encoding, scores, comparisons, importances, matching."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privmoo.learning.accuracy import ForestAccuracy
from privmoo.learning.comparison import compare_scores
from privmoo.learning.encoding import Features, encode
from privmoo.learning.importances import importances
from privmoo.learning.matching import Matching, match
from privmoo.learning.models import learners
from privmoo.learning.plots import plot_importances, plot_scores
from privmoo.learning.scores import scores

if TYPE_CHECKING:
    from privmoo.learning.recoder import Recoder

__all__ = [
    "Features",
    "ForestAccuracy",
    "Matching",
    "Recoder",
    "compare_scores",
    "encode",
    "importances",
    "learners",
    "match",
    "plot_importances",
    "plot_scores",
    "scores",
]


def __getattr__(name: str) -> Any:
    """Import the transformer when it is first used: its base classes take half a second to import."""
    if name != "Recoder":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from privmoo.learning.recoder import Recoder

    return Recoder
