"""The sixteen test cases that Jahan et al. (2025) draw from SPARCS."""

from __future__ import annotations

import numpy as np
import pandas as pd

from privmoo._util.checks import is_whole
from privmoo.data.roles import checked_frame
from privmoo.data.table import Table
from privmoo.datasets.sparcs import clean_column, sparcs_hierarchies
from privmoo.datasets.sparcs_like import sparcs_like
from privmoo.errors import ColumnError, TableError, nearest

__all__ = ["CASE_QUASI_IDENTIFIERS", "CASE_SENSITIVE", "sparcs_case"]

CASE_QUASI_IDENTIFIERS = (
    "Health Service Area",
    "Hospital County",
    "Age Group",
    "Zip Code - 3 digits",
    "Gender",
    "Race",
    "Ethnicity",
    "Length of Stay",
    "Type of Admission",
    "Patient Disposition",
    "Payment Typology 1",
    "Emergency Department Indicator",
    "APR Severity of Illness Description",
    "APR Risk of Mortality",
)
"""The test cases use the first 8, 10, 12 or all 14 of these."""
CASE_SENSITIVE = "CCS Diagnosis Description"


def sparcs_case(number: int, data: pd.DataFrame | Table | None = None, *, seed: int = 0) -> Table:
    """Return one of the sixteen test cases T1 to T16 of Jahan et al. (2025), as far as they are known.

    | cases | T1–T4 | T5–T8 | T9–T12 | T13–T16 |
    | --- | --- | --- | --- | --- |
    | quasi-identifiers | 8 | 10 | 12 | 14 |

    In each group of four, the first two have 200 records and the last two 400. The paper names neither the
    quasi-identifiers nor the records, so both are chosen here: `CASE_QUASI_IDENTIFIERS` in
    their order, and records drawn without replacement. T1 and T2 share no record, nor do T3 and T4;
    T3 is T1 and T2 together. T5, T9 and T13 have the records of T1, and so on. The sensitive column
    is the CCS diagnosis description, as in the paper's analysis.

    Args:
        number: From 1 to 16.
        data: SPARCS records; 800 are enough for every case; by default 1,000 invented ones (`sparcs_like`).
        seed: The seed for drawing, and inventing, the records.

    >>> case = sparcs_case(16)
    >>> case.n_records, case.n_qis
    (400, 14)
    """
    if not is_whole(number) or not 1 <= number <= 16:
        raise TableError(f"number: the test cases are 1 to 16, got {number!r}")
    four, place = divmod(number - 1, 4)
    size, part = (200, place) if place < 2 else (400, place - 2)
    names = [*CASE_QUASI_IDENTIFIERS[: 8 + 2 * four], CASE_SENSITIVE]
    if data is None:
        frame = sparcs_like(1000, seed=seed)
    else:
        frame = data.frame if isinstance(data, Table) else checked_frame(data)
    for name in names:
        if name not in frame.columns:
            raise ColumnError(f"data: there is no column {name!r}{nearest(name, frame.columns)}")
    n_rows = size * (part + 1)
    if len(frame) < n_rows:
        raise TableError(
            f"data: {len(frame):,} records are too few for T{number}, which needs {n_rows}"
        )
    order = np.random.default_rng(seed).permutation(len(frame))
    rows = np.sort(order[size * part : n_rows])
    case = frame.iloc[rows][names].reset_index(drop=True)
    days = case["Length of Stay"]
    if not pd.api.types.is_numeric_dtype(days):  # as in the export, where '120 +' occurs
        texts = days.astype(object).map(str, na_action="ignore")
        case["Length of Stay"] = clean_column("data", texts, "Length of Stay")
    hierarchies = sparcs_hierarchies(case)
    return Table(
        case,
        quasi_identifiers={name: hierarchies[name] for name in names[:-1]},
        sensitive=CASE_SENSITIVE,
    )
