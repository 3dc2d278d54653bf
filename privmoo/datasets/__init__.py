"""Bundled data in the settings of the papers, and loaders for other data."""

from __future__ import annotations

import pandas as pd

from privmoo.datasets.adult import SETTINGS, adult, adult_frame, adult_hierarchies
from privmoo.datasets.arx import load_arx
from privmoo.datasets.german_credit import (
    SETTING,
    german_credit,
    german_credit_frame,
    german_credit_hierarchies,
)
from privmoo.datasets.majeed2023 import majeed2023_results
from privmoo.datasets.sepsis_like import sepsis_like
from privmoo.datasets.sparcs import load_sparcs, sparcs_hierarchies
from privmoo.datasets.sparcs_cases import sparcs_case
from privmoo.datasets.sparcs_like import sparcs_like
from privmoo.datasets.synthea import load_synthea
from privmoo.datasets.wei2025 import wei2025_f1, wei2025_results

__all__ = [
    "adult",
    "adult_frame",
    "adult_hierarchies",
    "describe",
    "german_credit",
    "german_credit_frame",
    "german_credit_hierarchies",
    "load_arx",
    "load_sparcs",
    "load_synthea",
    "majeed2023_results",
    "names",
    "sepsis_like",
    "sparcs_case",
    "sparcs_hierarchies",
    "sparcs_like",
    "wei2025_f1",
    "wei2025_results",
]


def names() -> list[str]:
    """Return the calls that load the bundled data.

    >>> names()[0]
    "adult('dewri')"
    """
    return [*(f"adult({setting!r})" for setting in SETTINGS), "german_credit()"]


def describe() -> pd.DataFrame:
    """Describe the bundled data: records, roles of the columns, and the paper of each setting.

    >>> int(describe().loc["adult('wei')", "records"])
    45222
    """
    settings = [*SETTINGS.values(), SETTING]
    return pd.DataFrame(
        {
            "records": [setting.n_records for setting in settings],
            "quasi-identifiers": [", ".join(s.quasi_identifiers) for s in settings],
            "sensitive": [", ".join(setting.sensitive) for setting in settings],
            "target": [setting.target or "" for setting in settings],
            "what": [setting.what for setting in settings],
        },
        index=pd.Index(names(), name="data"),
    )
