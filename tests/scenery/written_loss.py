"""The loss of written rows, counted by hierarchy files alone."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pandas as pd


def leaves_below(folder: Path, column: str) -> dict[str, int]:
    """Return how many leaves every label of a hierarchy file stands for."""
    [path] = folder.glob(f"*_hierarchy_{column}.csv.gz")
    leaves: dict[str, set[str]] = defaultdict(set)
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for row in csv.reader(stream, delimiter=";"):
            for label in row:
                leaves[label].add(row[0])
    return {label: len(below) for label, below in leaves.items()}


def loss_of_rows(rows: pd.DataFrame, folder: Path, columns: Sequence[str], n: int) -> float:
    """Return the general loss of rows that stand for n records; one that is left out loses everything.

    Args:
        rows: The released rows, as texts.
        folder: The folder of the hierarchy files.
        columns: The quasi-identifiers.
        n: The records of the original table.
    """
    total = 0.0
    for column in columns:
        below = leaves_below(folder, column)
        largest = max(below.values()) - 1
        total += ((rows[column].map(below) - 1).sum() + (n - len(rows)) * largest) / largest
    return float(total / (n * len(columns)))
