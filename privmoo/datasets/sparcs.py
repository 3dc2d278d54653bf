"""New York's hospital discharges (SPARCS, de-identified), as exported by the state's open data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from privmoo.data.roles import checked_frame
from privmoo.datasets._files import read_strings
from privmoo.datasets.sparcs_areas import AREAS, REDACTED, REGIONS
from privmoo.datasets.sparcs_like import facilities
from privmoo.errors import ColumnError, TableError, nearest
from privmoo.hierarchy import Hierarchy

__all__ = ["clean_column", "load_sparcs", "sparcs_hierarchies"]

# The columns that every year's export has; the others differ from year to year.
REQUIRED = ("Age Group", "Gender", "Race", "Ethnicity", "Length of Stay")
WHOLE = (
    "Operating Certificate Number",
    "Permanent Facility Id",
    "Facility Id",
    "Length of Stay",
    "Discharge Year",
    "CCS Diagnosis Code",
    "CCS Procedure Code",
    "APR DRG Code",
    "APR MDC Code",
    "APR Severity of Illness Code",
    "Birth Weight",
)
AMOUNTS = ("Total Charges", "Total Costs")

_PAYMENT = {
    "Public": [
        *("Medicaid", "Medicare"),
        *("Federal/State/Local/VA", "Department of Corrections"),
    ],
    "Private": [
        *("Private Health Insurance", "Blue Cross/Blue Shield"),
        "Managed Care, Unspecified",
    ],
    "Neither": ["Self-Pay", "Miscellaneous/Other", "Unknown"],
}
_DEGREE = {"Minor or Moderate": ["Minor", "Moderate"], "Major or Extreme": ["Major", "Extreme"]}
_ZIPS = {
    **{f"{tens}*": [f"{tens}{last}" for last in range(10)] for tens in range(10, 15)},
    # A few addresses of Long Island; OOS is out of state.
    "00*": ["005"],
    "06*": ["063"],
    "OOS": None,
}
_TREES: dict[str, Any] = {
    "Health Service Area": {region: list(areas) for region, areas in REGIONS.items()},
    "Hospital County": {
        region: {area: list(AREAS[area]) for area in areas} for region, areas in REGIONS.items()
    },
    "Age Group": {
        "0 to 29": ["0 to 17", "18 to 29"],
        "30 to 69": ["30 to 49", "50 to 69"],
        "70 or Older": None,
    },
    "Zip Code - 3 digits": _ZIPS,
    "Gender": ["F", "M", "U"],
    "Race": {
        "One race": ["White", "Black/African American"],
        "Other or several": ["Other Race", "Multi-racial", "Unknown"],
    },
    "Ethnicity": {
        "Hispanic or several": ["Spanish/Hispanic", "Multi-ethnic"],
        "Not Hispanic or unknown": ["Not Span/Hispanic", "Unknown"],
    },
    "Type of Admission": {
        "Unplanned": ["Emergency", "Urgent", "Trauma"],
        "Planned or birth": ["Elective", "Newborn"],
        "Not Available": None,
    },
    "Patient Disposition": {
        "To home": {
            "Home": ["Home or Self Care", "Left Against Medical Advice"],
            "Home with care": ["Home w/ Home Health Services", "Hospice - Home"],
        },
        "Elsewhere": {
            "Another hospital": [
                "Short-term Hospital",
                "Cancer Center or Children's Hospital",
                "Critical Access Hospital",
                "Federal Health Care Facility",
                "Psychiatric Hospital or Unit of Hosp",
                "Inpatient Rehabilitation Facility",
                "Medicare Cert Long Term Care Hospital",
            ],
            "Nursing": [
                "Skilled Nursing Home",
                "Medicaid Cert Nursing Facility",
                "Hosp Basd Medicare Approved Swing Bed",
                "Facility w/ Custodial/Supportive Care",
                "Hospice - Medical Facility",
            ],
            "Neither": ["Expired", "Court/Law Enforcement", "Another Type Not Listed"],
        },
    },
    "APR Severity of Illness Code": {"1 or 2": [1, 2], "3 or 4": [3, 4], "0": None},
    "APR Severity of Illness Description": _DEGREE,
    "APR Risk of Mortality": _DEGREE,
    "APR Medical Surgical Description": ["Medical", "Surgical", "Not Applicable"],
    "Payment Typology 1": _PAYMENT,
    "Payment Typology 2": _PAYMENT,
    "Payment Typology 3": _PAYMENT,
    "Abortion Edit Indicator": ["N", "Y"],
    "Emergency Department Indicator": ["N", "Y"],
}
_PLACES = ("Operating Certificate Number", "Permanent Facility Id", "Facility Id", "Facility Name")
_UNKNOWN = "unknown"


def load_sparcs(path: str | Path, *, columns: Sequence[str] | None = None) -> pd.DataFrame:
    r"""Read a SPARCS export and clean it: convert numbers and drop the index column.

    Amounts and codes lose their thousands commas and dollar signs, a stay of `120 +` days becomes
    120, texts lose surrounding blanks, and empty cells are missing. ZIP codes stay texts (`OOS` is out
    of state). Whole numbers with missing cells are of pandas' nullable type `Int64`.

    Args:
        path: The CSV file, compressed or not.
        columns: The columns to keep, all by default.

    >>> import tempfile
    >>> text = (",Age Group,Gender,Race,Ethnicity,Length of Stay,Total Costs\n"
    ...         "0,70 or Older,F,White,Unknown,120 +,\"20,377.11\"\n")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "sparcs.csv")
    ...     _ = file.write_text(text)
    ...     load_sparcs(file, columns=["Length of Stay", "Total Costs"]).to_dict("records")
    [{'Length of Stay': 120, 'Total Costs': 20377.11}]
    """
    frame = read_strings(path)
    frame = frame.rename(columns=str.strip)
    frame = frame.drop(columns=[name for name in frame.columns if name in {"", "Unnamed: 0"}])
    for name in REQUIRED:
        if name not in frame.columns:
            raise TableError(
                f"{path}: column {name!r} is missing, so this is not a SPARCS export"
                f"{nearest(name, frame.columns)}"
            )
    for name in columns or ():
        if name not in frame.columns:
            raise ColumnError(f"{path} has no column {name!r}{nearest(name, frame.columns)}")
    if columns is not None:
        frame = frame[list(columns)]
    clean_columns = {name: clean_column(path, frame[name], str(name)) for name in frame.columns}
    return pd.DataFrame(clean_columns)


def clean_column(path: str | Path, cells: pd.Series[str], name: str) -> pd.Series[Any]:
    """Return a column of an export as numbers or texts; raise if a cell of a number column is not a number.

    Args:
        path: The file, for the error.
        cells: The cells as texts.
        name: The column's name.
    """
    text = cells.str.strip()
    text = text.mask(text == "")
    if name not in WHOLE and name not in AMOUNTS:
        return text.astype(object)
    plain = text.str.replace(",", "").str.removeprefix("$")
    if name == "Length of Stay":
        plain = plain.str.replace(r"\s*\+$", "", regex=True)
    numbers = pd.to_numeric(plain, errors="coerce")
    wrong = (numbers.isna() & text.notna()) | numbers.abs().eq(float("inf"))
    if name in WHOLE:
        wrong |= numbers.notna() & (numbers % 1 != 0)
    if wrong.any():
        kind = "a whole number" if name in WHOLE else "an amount"
        raise TableError(
            f"{path}: column {name!r}, row {int(wrong.to_numpy().argmax()) + 1} "
            f"after the header is not {kind}"
        )
    if name in AMOUNTS:
        return numbers.astype("float64")
    return numbers.astype("int64" if numbers.notna().all() else "Int64")


def sparcs_hierarchies(data: pd.DataFrame | None = None) -> dict[str, Hierarchy]:
    """Return a hierarchy for each column of SPARCS that can be a quasi-identifier.

    They fit the columns as `load_sparcs` returns them. Certificates and facilities become county,
    health service area and region; which county they are in is read from the data.

    Args:
        data: Records with the facilities; by default those of `sparcs_like`.

    >>> county = sparcs_hierarchies()["Hospital County"]
    >>> county.leaves_under("Long Island"), county.n_levels
    (('Nassau', 'Suffolk'), 4)
    """
    data = checked_frame(facilities() if data is None else data)
    hierarchies = {name: Hierarchy.tree(tree) for name, tree in _TREES.items()}
    hierarchies["Length of Stay"] = Hierarchy.intervals(1, 120, edges=[[3, 5, 8, 15, 31], [5, 15]])
    hierarchies["Discharge Year"] = Hierarchy.intervals(2009, 2029, widths=[5])
    if "Hospital County" in data.columns:
        for name in _PLACES:
            if name in data.columns and data[name].notna().any():
                hierarchies[name] = _places(data, name)
    return hierarchies


def _places(data: pd.DataFrame, name: str) -> Hierarchy:
    """Build facility, county, area, region; a facility listed in several counties is in the first."""
    area_of = {county: area for area, counties in AREAS.items() for county in counties}
    region_of = {area: region for region, areas in REGIONS.items() for area in areas}
    rows: dict[object, list[str]] = {}
    pairs = data[[name, "Hospital County"]].drop_duplicates().dropna(subset=[name])
    for place, county_name in pairs.itertuples(index=False, name=None):
        county = county_name if county_name in area_of else _UNKNOWN
        area = area_of.get(county, _UNKNOWN)
        rows.setdefault(place, [county, area, region_of.get(area, _UNKNOWN), "*"])
    if name == "Facility Name":
        rows.setdefault(REDACTED, [_UNKNOWN, _UNKNOWN, _UNKNOWN, "*"])
    return Hierarchy.levels(rows)
