"""German credit (Statlog), UCI: 1,000 bank customers and whether they repaid their credit."""

from __future__ import annotations

import pandas as pd

from privmoo.data.table import Table
from privmoo.datasets._files import read_bundled
from privmoo.datasets.adult import Domain, Setting
from privmoo.hierarchy import Hierarchy

__all__ = ["SETTING", "german_credit", "german_credit_frame", "german_credit_hierarchies"]

SETTING = Setting(
    what="Wei et al. 2025 (MO-OBAM): all records, two sensitive attributes",
    n_records=1000,
    quasi_identifiers=("age", "personal_status", "job"),
    sensitive=("checking_status", "savings_status"),
    target="class",
    others=True,
)


def german_credit(*, domain: Domain = "hierarchy") -> Table:
    """Load 1,000 applicants for credit (UCI Statlog German credit), with roles as in Wei et al. 2025.

    Age, personal status and job are the quasi-identifiers.

    Args:
        domain: Whether loss counts all leaves of a hierarchy or the observed ones.

    >>> table = german_credit()
    >>> table.n_records, table.n_tuples
    (1000, 310)
    """
    hierarchies = german_credit_hierarchies()
    return Table(
        german_credit_frame(),
        quasi_identifiers={name: hierarchies[name] for name in SETTING.quasi_identifiers},
        sensitive={name: hierarchies[name] for name in SETTING.sensitive},
        target=SETTING.target,
        others="insensitive",
        domain=domain,
    )


def german_credit_frame() -> pd.DataFrame:
    """Return the records of German credit as a DataFrame, in the order of the source.

    >>> german_credit_frame()["class"].value_counts().to_dict()
    {'good': 700, 'bad': 300}
    """
    return read_bundled("german_credit.csv.gz")


def german_credit_hierarchies() -> dict[str, Hierarchy]:
    """Return a hierarchy for each column of German credit that can be a quasi-identifier or sensitive.

    >>> german_credit_hierarchies()["job"].leaves_under("Skilled")
    ('skilled', 'high qualif/self emp/mgmt')
    """
    return {
        "age": Hierarchy.intervals(19, 75, widths=[5, 10, 20, 40]),
        "personal_status": Hierarchy.tree(
            {
                "Male": ["male single", "male div/sep", "male mar/wid"],
                "Female": ["female div/dep/mar"],
            }
        ),
        "job": Hierarchy.tree(
            {
                "Unskilled": ["unemp/unskilled non res", "unskilled resident"],
                "Skilled": ["skilled", "high qualif/self emp/mgmt"],
            }
        ),
        "employment": Hierarchy.tree(
            {
                "Under a year": ["unemployed", "<1"],
                "A year or more": {
                    "1 to 7 years": ["1<=X<4", "4<=X<7"],
                    "7 years or more": [">=7"],
                },
            }
        ),
        "housing": Hierarchy.tree({"Own": ["own"], "Not own": ["rent", "for free"]}),
        "purpose": Hierarchy.tree(
            {
                "Vehicle": ["new car", "used car"],
                "Household": {
                    "Appliances": ["radio/tv", "domestic appliance"],
                    "Home": ["furniture/equipment", "repairs"],
                },
                "Work": {"Training": ["education", "retraining"], "Trade": ["business"]},
                "Other purpose": ["other"],
            }
        ),
        "credit_history": Hierarchy.tree(
            {
                "Paid": ["no credits/all paid", "all paid", "existing paid"],
                "Trouble": ["delayed previously", "critical/other existing credit"],
            }
        ),
        "property_magnitude": Hierarchy.tree(
            {
                "Real estate or savings": ["real estate", "life insurance"],
                "Car or nothing": ["car", "no known property"],
            }
        ),
        "duration": Hierarchy.intervals(1, 72, widths=[6, 12, 24], origin=1),
        "credit_amount": Hierarchy.ordered(step=500, start=0),
        "residence_since": Hierarchy.ordered([1, 2, 3, 4]),
        "foreign_worker": Hierarchy.flat(["yes", "no"]),
        "checking_status": Hierarchy.ordered(["no checking", "<0", "0<=X<200", ">=200"]),
        "savings_status": Hierarchy.ordered(
            ["no known savings", "<100", "100<=X<500", "500<=X<1000", ">=1000"]
        ),
    }
