"""Pictures, by matplotlib; every `plot_…` draws a plain data object that others can draw too.

Of a front: `plot_front`, `plot_front_3d`, `plot_parallel`, `plot_trade_off`, `plot_rates`; of several runs:
`plot_attainment`; of a solution: `plot_group_sizes`, `plot_loss`; of a release: `plot_before_after`; of a
grid of runs: `plot_heat_maps`. From `privmoo.analysis`: `plot_distribution`, `plot_suppression`; from
`privmoo.learning`: `plot_scores`, `plot_importances`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from privmoo.plot.attainment import Attained, AttainmentPicture, attainment_of, plot_attainment
from privmoo.plot.before_after import BeforeAfterPicture, before_after_of, plot_before_after
from privmoo.plot.fronts import (
    Axis,
    FrontPicture,
    picture_of,
    plot_front,
    plot_front_3d,
    thumbnail,
)
from privmoo.plot.heat_maps import HeatMap, heat_map_of, plot_heat_maps
from privmoo.plot.parallel import ParallelAxis, ParallelPicture, parallel_of, plot_parallel
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

if TYPE_CHECKING:
    from privmoo.analysis import plot_distribution, plot_suppression
    from privmoo.learning import plot_importances, plot_scores

__all__ = [
    "Attained",
    "AttainmentPicture",
    "Axis",
    "BeforeAfterPicture",
    "FlatRegion",
    "FrontPicture",
    "GroupSizesPicture",
    "HeatMap",
    "LossPicture",
    "ParallelAxis",
    "ParallelPicture",
    "RatesPicture",
    "TradeOffPicture",
    "attainment_of",
    "before_after_of",
    "group_sizes_of",
    "heat_map_of",
    "loss_of",
    "parallel_of",
    "picture_of",
    "plot_attainment",
    "plot_before_after",
    "plot_distribution",
    "plot_front",
    "plot_front_3d",
    "plot_group_sizes",
    "plot_heat_maps",
    "plot_importances",
    "plot_loss",
    "plot_parallel",
    "plot_rates",
    "plot_scores",
    "plot_suppression",
    "plot_trade_off",
    "rates_of",
    "thumbnail",
    "trade_off_of",
]

# Their rooms bring scikit-learn along, which a picture of a front does not need.
_ELSEWHERE = {
    "plot_distribution": "privmoo.analysis",
    "plot_suppression": "privmoo.analysis",
    "plot_importances": "privmoo.learning",
    "plot_scores": "privmoo.learning",
}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module 'privmoo.plot' has no attribute {name!r}")
    return getattr(importlib.import_module(_ELSEWHERE[name]), name)
