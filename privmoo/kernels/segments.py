"""Values of one attribute in every QI-group, sparse: what the measures of values read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Segments"]


class Segments(NamedTuple):
    """Values of one sensitive or target attribute in every group, sparse.

    Group g has value `values[i]` in `counts[i]` records, for i in `starts[g]:stops[g]`.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    values: NDArray[np.int32]
    counts: NDArray[np.int32]
