"""Pattern-friendly quasi-identifiers: nearly all records share a value, and it predicts little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import fraction, number, whole_number
from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.errors import Hint, ProblemError
from privmoo.recodings.nodes import numeric_columns

__all__ = ["Patterns", "find_patterns"]

_MOST_CLASSES = 50


@dataclass(frozen=True)
class Patterns:
    """Which quasi-identifiers are pattern-friendly, and why.

    Attributes:
        frame: Per quasi-identifier: by how much the score falls when it is shuffled (mean and standard
            deviation over repeats), share of the most frequent value and of the two most frequent ones,
            how many further values there are, whether it is categorical, and the verdict.
        score: What the forest reaches on records that it has not seen.
        measure: What the score is: accuracy, or R² where the sensitive attribute is a number of many
            values.
    """

    frame: pd.DataFrame
    score: float
    measure: str

    @property
    def friendly(self) -> list[str]:
        """The pattern-friendly quasi-identifiers."""
        return [str(name) for name in self.frame.index[self.frame["pattern_friendly"]]]

    def __repr__(self) -> str:
        said = f"{self.measure} of the forest: {self.score:.4f}"
        return f"{self.frame.round(4).to_string()}\n{said}"

    def _repr_html_(self) -> str:
        return self.frame.round(4).to_html(escape=True, border=0)


def find_patterns(
    table: Table,
    *,
    sensitive: str | None = None,
    change: float = 0.01,
    one: float = 0.80,
    two: float = 0.85,
    rare: int = 2,
    trees: int = 100,
    repeats: int = 5,
    test_size: float = 1 / 3,
    most_records: int = 50_000,
    seed: int = 0,
) -> Patterns:
    """Find pattern-friendly quasi-identifiers (Majeed and Hwang 2023, Section III-B and C).

    A random forest predicts the sensitive attribute from the quasi-identifiers; then one column at a
    time is shuffled, in records that the forest has not seen. A quasi-identifier is pattern-friendly
    if its shuffling changes the score by at most `change`, and one value holds more than `one` of the
    records or two more than `two`, and at least `rare` further values share the rest. Without the last
    condition every binary attribute would qualify, as the paper's own text has it for a gender. Numbers
    have noise, not classes of values, so only categories can be pattern-friendly.

    Args:
        table: The records.
        sensitive: The sensitive attribute to predict; the first by default.
        change: The largest change of the score that counts as none.
        one: What one value must hold more than.
        two: What two values must hold more than.
        rare: How many further values there must be.
        trees: Trees of the forest.
        repeats: How often each column is shuffled.
        test_size: Share of records that the forest does not see.
        most_records: So many records are drawn at most for the forest; of a scanned table they are drawn
            by its counts.
        seed: For the forest, the split and the shuffling.

    >>> import privmoo as pm
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"race": rng.choice(list("wxyz"), 500, p=[0.9, 0.04, 0.03, 0.03]),
    ...                    "sex": rng.choice(list("fm"), 500), "ill": rng.choice(list("ab"), 500)})
    >>> table = pm.Table(df, quasi_identifiers=["race", "sex"], sensitive="ill")
    >>> find_patterns(table, change=0.1, trees=10, repeats=2).friendly
    ['race']
    """
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    if not table.sensitive:
        raise ProblemError(
            "sensitive: the table has no sensitive attribute, so there is nothing to predict",
            hint=Hint(parameter="sensitive", call="Table"),
        )
    name = next(iter(table.sensitive)) if sensitive is None else sensitive
    if name not in table.sensitive:
        raise ProblemError(f"sensitive: {name!r} is not one of {', '.join(table.sensitive)}")
    whole_number("trees", trees)
    whole_number("repeats", repeats)
    whole_number("most_records", most_records, at_least=10)
    whole_number("seed", seed, at_least=0)
    for word, value in (("change", change), ("one", one), ("two", two), ("rare", rare)):
        number(word, value)
    fraction("test_size", test_size, above_zero=True, below_one=True)
    if table.n_records < 10:
        raise ProblemError(f"table: {table.n_records} records are too few for a forest; give 10")
    attribute = table.sensitive[name]
    rng = np.random.default_rng(seed)
    n = min(table.n_records, most_records)
    rows = np.sort(rng.choice(table.n_records, n, replace=False))
    X, codes = _drawn(table, attribute, rows)
    as_number = attribute.numbers is not None and len(np.unique(codes)) > _MOST_CLASSES
    y = codes if not as_number else np.nan_to_num(np.asarray(attribute.numbers))[codes]
    made = RandomForestRegressor if as_number else RandomForestClassifier
    forest = made(trees, random_state=seed, n_jobs=1)
    train, test = train_test_split(np.arange(n), test_size=test_size, random_state=seed)
    forest.fit(X[train], y[train])
    drops = permutation_importance(
        forest, X[test], y[test], n_repeats=repeats, random_state=seed, n_jobs=1
    )
    shares, others = _top_values(table)
    frame = pd.DataFrame(
        {
            "change": drops.importances_mean,
            "spread": drops.importances_std,
            "top_value": shares[:, 0],
            "top_two": shares[:, 1],
            "other_values": others,
        },
        index=pd.Index(table.qi_names, name="quasi-identifier"),
    )
    by_one = (frame["top_value"] > one) & (frame["other_values"] + 1 >= rare)
    by_two = (frame["top_two"] > two) & (frame["other_values"] >= rare)
    frame["categorical"] = [own is None for own in numeric_columns(table)]
    small = frame["change"].abs() <= change
    frame["pattern_friendly"] = frame["categorical"] & small & (by_one | by_two)
    score = float(forest.score(X[test], y[test]))
    return Patterns(frame, score, "R²" if as_number else "accuracy")


def _drawn(
    table: Table, attribute: Attribute, rows: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What some records have: numbers, or categories by the order of their leaves; and the attribute.

    Records of a scanned table are numbered by tuple and value; their numbers are those of a leaf.
    """
    if table.has_records:
        columns = [
            table.tuples[table.row_tuple[rows], j] if own is None else np.nan_to_num(own[rows])
            for j, own in enumerate(numeric_columns(table))
        ]
        return _matrix(columns), attribute.row_codes[rows].astype(np.int64)
    entry = np.searchsorted(np.cumsum(attribute.counts), rows, side="right")
    tuples = np.repeat(np.arange(table.n_tuples), np.diff(attribute.offsets))[entry]
    columns = []
    for j, (qi, own) in enumerate(zip(table.qis, numeric_columns(table), strict=True)):
        codes = table.tuples[tuples, j]
        known = own is not None and qi.numbers is not None
        columns.append(np.nan_to_num(np.asarray(qi.numbers))[codes] if known else codes)
    return _matrix(columns), attribute.codes[entry].astype(np.int64)


def _matrix(columns: list[NDArray[Any]]) -> NDArray[np.float64]:
    return np.column_stack(columns).astype(np.float64)


def _top_values(table: Table) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Shares of the most frequent and of the two most frequent values, and how many others occur."""
    shares, others = [], []
    for j, qi in enumerate(table.qis):
        records = np.bincount(table.tuples[:, j], weights=table.weights, minlength=qi.n_leaves)
        top = np.sort(records)[::-1][:2]
        shares.append(np.cumsum(np.append(top, 0.0))[:2] / table.n_records)
        others.append(max(int((records > 0).sum()) - 2, 0))
    return np.array(shares), np.array(others)
