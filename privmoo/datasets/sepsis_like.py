"""Invented hospital patients in the form of the sepsis data of Wei et al. (2025): no record is a real one.

The paper's patients are not public. It says how many records, quasi-identifiers and sensitive attributes
there are, what they are, and how many different combinations and records at risk. Numbers of that size are
what is imitated here; how diseases go together is roughly plausible and no more. Nothing can be learned
from it about sepsis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import whole_number
from privmoo.data.table import Table
from privmoo.errors import TableError
from privmoo.hierarchy import Hierarchy

__all__ = ["sepsis_like"]

# Diseases before this visit: how common at 60 years, how much more with every ten years.
_HISTORY = {
    "hypertension": (0.42, 0.45),
    "anemia": (0.22, 0.20),
    "diabetes": (0.24, 0.22),
    "fluid_disorder": (0.24, 0.20),
    "obesity": (0.14, -0.05),
    "depression": (0.13, 0.00),
    "chronic_lung_disease": (0.18, 0.12),
    "hypothyroidism": (0.11, 0.25),
    "renal_failure": (0.13, 0.30),
    "heart_failure": (0.12, 0.45),
    "coronary_disease": (0.16, 0.45),
    "neurological_disorder": (0.09, 0.20),
    "coagulopathy": (0.07, 0.15),
    "weight_loss": (0.06, 0.20),
    "psychosis": (0.06, -0.20),
    "drug_abuse": (0.07, -0.50),
    "alcohol_abuse": (0.06, -0.20),
    "liver_disease": (0.06, 0.00),
    "vascular_disease": (0.08, 0.40),
    "valve_disease": (0.06, 0.40),
    "lung_circulation": (0.04, 0.25),
    "paralysis": (0.03, 0.15),
    "arthritis": (0.04, 0.15),
    "solid_tumor": (0.04, 0.25),
    "metastatic_cancer": (0.03, 0.15),
    "lymphoma": (0.015, 0.15),
    "blood_loss": (0.05, 0.10),
    "urinary_infection": (0.10, 0.25),
    "earlier_sepsis": (0.03, 0.25),
    "ulcer": (0.01, 0.20),
}
_RACES = {"White": 0.56, "Black": 0.34, "Asian": 0.03, "Other": 0.04, "Unknown": 0.03}
_HISPANIC = {"White": 0.05, "Black": 0.01, "Asian": 0.01, "Other": 0.55, "Unknown": 0.10}


def sepsis_like(n_records: int = 120_000, seed: int = 0) -> Table:
    """Invent hospital patients with the roles of the sepsis data of Wei et al. 2025; no row is a real one.

    Quasi-identifiers are age, visits to the hospital, days in it, gender, race and ethnicity. Thirty
    sensitive attributes say which diseases a patient had before; the target is sepsis, of about 3 %.

    Args:
        n_records: The number of records; the paper has 119,871.
        seed: Equal seeds give equal records.

    >>> table = sepsis_like(500, seed=1)
    >>> len(table.qis), len(table.sensitive), table.target.name
    (6, 30, 'sepsis')
    """
    n = whole_number("n_records", n_records, at_least=100, error=TableError)
    whole_number("seed", seed, at_least=0, error=TableError)
    rng = np.random.default_rng(seed)
    frailty = rng.normal(size=n)
    age = _ages(rng, n)
    decades = (age - 60) / 10
    visits = np.minimum(1 + rng.poisson(np.exp(-0.9 + 1.1 * frailty + rng.normal(0, 0.7, n))), 60)
    stays = rng.random(n) < _chance(-0.6 + 0.25 * decades + 0.5 * frailty)
    length = np.exp(1.0 + 0.25 * frailty + 0.8 * rng.normal(size=n))
    days = np.where(stays, np.minimum(1 + length.astype(np.int64), 120), 0)
    race = rng.choice(list(_RACES), n, p=list(_RACES.values()))
    hispanic = rng.random(n) < pd.Series(race).map(_HISPANIC).to_numpy(float)
    person = {
        "age": age,
        "visits": visits,
        "days": days,
        "gender": np.where(rng.random(n) < 0.54, "F", "M"),
        "race": race,
        "ethnicity": np.where(
            rng.random(n) < 0.02, "unknown", np.where(hispanic, "Hispanic", "other")
        ),
    }
    earlier = np.log(visits) - 0.5
    history = {
        name: _drawn(
            rng, np.log(share / (1 - share)) - 0.4 + slope * decades + 0.5 * frailty + 0.4 * earlier
        )
        for name, (share, slope) in _HISTORY.items()
    }
    fluids = _drawn(rng, -1.8 + 0.5 * frailty + 0.08 * days)
    antibiotics = _drawn(rng, -1.6 + 0.5 * frailty + 0.12 * np.minimum(days, 10))
    illness = 0.5 * frailty + 0.2 * decades + 1.6 * antibiotics + 0.8 * fluids
    illness += 0.6 * history["earlier_sepsis"] + 0.05 * np.minimum(days, 20)
    stay = {
        "flu_season": _drawn(rng, np.full(n, -0.9)),
        "first_location": np.where(
            stays,
            rng.choice(["ward", "surgery", "intensive care"], n, p=[0.7, 0.2, 0.1]),
            "emergency",
        ),
        "fluid_disorder_now": fluids,
        "antibiotics": antibiotics,
        "sepsis": _drawn(rng, -4.5 + illness),
    }
    return Table(
        pd.DataFrame({**person, **history, **stay}),
        quasi_identifiers={
            "age": Hierarchy.intervals(18, 102, widths=[5, 10, 20, 40]),
            "visits": Hierarchy.intervals(1, 60, widths=[5, 10, 30]),
            "days": Hierarchy.intervals(0, 120, widths=[5, 10, 30]),
            "gender": Hierarchy.flat(),
            "race": Hierarchy.flat(),
            "ethnicity": Hierarchy.flat(),
        },
        sensitive=list(history),
        target="sepsis",
        others="insensitive",
    )


def _ages(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Draw adults: a broad hump of the middle-aged and the old, and the young of an emergency room."""
    young = rng.random(n) < 0.35
    ages = np.where(young, rng.gamma(2.0, 7.0, n) + 18, rng.normal(60, 17, n))
    return np.clip(np.rint(ages), 18, 102).astype(np.int64)


def _chance(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def _drawn(rng: np.random.Generator, log_odds: NDArray[Any]) -> NDArray[np.int64]:
    """Draw 1 with the chance of the log-odds, else 0."""
    return (rng.random(len(log_odds)) < _chance(np.asarray(log_odds, np.float64))).astype(np.int64)
