"""Plots with matplotlib; every `plot_…` draws a plain data object that other programs can draw, too.

Of a front: `plot_front`, `plot_front_3d`, `plot_parallel`, `plot_trade_off`, `plot_rates`; of several runs:
`plot_attainment`, `plot_attainment_difference`; of a study of solvers: `plot_convergence`,
`plot_indicator`, `plot_ranking`; of a solution: `plot_group_sizes`, `plot_loss`; of a release:
`plot_before_after`; of a grid of runs: `plot_heat_maps`. From `privmoo.analysis`: `plot_distribution`,
`plot_suppression`; from `privmoo.learning`: `plot_scores`, `plot_importances`.
"""

from __future__ import annotations

from privmoo.analysis import plot_distribution, plot_suppression
from privmoo.learning import plot_importances, plot_scores
from privmoo.plot.attainment import Attained, AttainmentPicture, attainment_of, plot_attainment
from privmoo.plot.attainment_difference import (
    DifferencePicture,
    difference_of,
    plot_attainment_difference,
)
from privmoo.plot.before_after import BeforeAfterPicture, before_after_of, plot_before_after
from privmoo.plot.convergence import (
    ConvergenceLine,
    ConvergencePicture,
    convergence_of,
    plot_convergence,
)
from privmoo.plot.fronts import (
    Axis,
    FrontPicture,
    picture_of,
    plot_front,
    plot_front_3d,
    thumbnail,
)
from privmoo.plot.heat_maps import HeatMap, heat_map_of, plot_heat_maps
from privmoo.plot.indicators import IndicatorPicture, indicator_of, plot_indicator
from privmoo.plot.parallel import ParallelAxis, ParallelPicture, parallel_of, plot_parallel
from privmoo.plot.ranking import RankingPicture, plot_ranking, ranking_of
from privmoo.plot.rates import RatesPicture, plot_rates, rates_of
from privmoo.plot.solutions import (
    GroupSizesPicture,
    LossPicture,
    group_sizes_of,
    loss_of,
    plot_group_sizes,
    plot_loss,
)
from privmoo.plot.trade_off import FlatRegion, TradeOffPicture, plot_trade_off, trade_off_of

__all__ = [
    "Attained",
    "AttainmentPicture",
    "Axis",
    "BeforeAfterPicture",
    "ConvergenceLine",
    "ConvergencePicture",
    "DifferencePicture",
    "FlatRegion",
    "FrontPicture",
    "GroupSizesPicture",
    "HeatMap",
    "IndicatorPicture",
    "LossPicture",
    "ParallelAxis",
    "ParallelPicture",
    "RankingPicture",
    "RatesPicture",
    "TradeOffPicture",
    "attainment_of",
    "before_after_of",
    "convergence_of",
    "difference_of",
    "group_sizes_of",
    "heat_map_of",
    "indicator_of",
    "loss_of",
    "parallel_of",
    "picture_of",
    "plot_attainment",
    "plot_attainment_difference",
    "plot_before_after",
    "plot_convergence",
    "plot_distribution",
    "plot_front",
    "plot_front_3d",
    "plot_group_sizes",
    "plot_heat_maps",
    "plot_importances",
    "plot_indicator",
    "plot_loss",
    "plot_parallel",
    "plot_ranking",
    "plot_rates",
    "plot_scores",
    "plot_suppression",
    "plot_trade_off",
    "ranking_of",
    "rates_of",
    "thumbnail",
    "trade_off_of",
]
