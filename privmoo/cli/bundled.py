"""The bundled data by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BUNDLED", "frame_of"]

BUNDLED = {
    "adult": ("30,162", "census records of 1994 (UCI Adult, training file, complete records)"),
    "german-credit": ("1,000", "applicants for credit (UCI Statlog German credit)"),
    "sparcs-like": ("1,000", "invented hospital discharges with the columns of New York's SPARCS"),
}


def frame_of(name: str) -> pd.DataFrame:
    """The records of a bundled data set."""
    from privmoo import datasets
    from privmoo.errors import TableError, nearest

    if name not in BUNDLED:
        raise TableError(
            f"datasets: {name!r} is none of {', '.join(BUNDLED)}{nearest(name, BUNDLED)}"
        )
    if name == "adult":
        return datasets.adult("dewri").frame
    if name == "german-credit":
        return datasets.german_credit_frame()
    return datasets.sparcs_like(1000, seed=0)
