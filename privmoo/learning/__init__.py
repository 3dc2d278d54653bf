"""How useful a release is for machine learning: encoding, learners, scores, comparisons, importances."""

from __future__ import annotations

from privmoo.learning.accuracy import ForestAccuracy
from privmoo.learning.comparison import compare_scores
from privmoo.learning.encoding import Features, encode
from privmoo.learning.importances import importances
from privmoo.learning.models import learners
from privmoo.learning.plots import plot_importances, plot_scores
from privmoo.learning.recoder import Recoder
from privmoo.learning.scores import scores

__all__ = [
    "Features",
    "ForestAccuracy",
    "Recoder",
    "compare_scores",
    "encode",
    "importances",
    "learners",
    "plot_importances",
    "plot_scores",
    "scores",
]
