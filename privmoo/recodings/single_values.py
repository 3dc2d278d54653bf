"""Labels of a single value: the cells of a release that publish an original value unchanged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privmoo.recodings.columns import Labels

__all__ = ["keeps_value"]


def keeps_value(column: Labels) -> NDArray[np.bool_]:
    """Return for every cell of a column whether its label stands for one original value alone.

    A base interval is one leaf of its hierarchy, but it is not a value of the data.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40]}), quasi_identifiers=["age"])
    >>> keeps_value(pm.recodings.identity_recoding(table).columns[0]).tolist()
    [True, True, True]
    """
    return np.asarray((column.widths == 1) & column.qi.exact)
