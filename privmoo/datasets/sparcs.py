"""New York's hospital discharges (SPARCS, de-identified), as exported by the state's open data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from privmoo.datasets._files import read_strings
from privmoo.errors import ColumnError, TableError, nearest

__all__ = ["load_sparcs"]

# What every year's export has; the rest differs from year to year.
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


def load_sparcs(path: str | Path, *, columns: Sequence[str] | None = None) -> pd.DataFrame:
    r"""Read a SPARCS export and clean it: numbers become numbers, the index column goes.

    Amounts and codes lose their thousands commas and dollar signs, a stay of `120 +` days becomes
    120, texts lose surrounding blanks, empty cells are missing. ZIP codes stay texts (`OOS` is out
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
                f"{path}: column {name!r} is missing, so this is no SPARCS export"
                f"{nearest(name, frame.columns)}"
            )
    for name in columns or ():
        if name not in frame.columns:
            raise ColumnError(f"{path}: has no column {name!r}{nearest(name, frame.columns)}")
    if columns is not None:
        frame = frame[list(columns)]
    cleaned = {name: _clean(path, frame[name], str(name)) for name in frame.columns}
    return pd.DataFrame(cleaned)


def _clean(path: str | Path, cells: pd.Series[str], name: str) -> pd.Series[Any]:
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
