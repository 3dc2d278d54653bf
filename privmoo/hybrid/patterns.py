"""Pattern-friendly quasi-identifiers: nearly all records share a value, and it predicts little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import flag, fraction, number, whole_number
from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.errors import Hint, ProblemError
from privmoo.hybrid.units import units_of
from privmoo.recodings.nodes import numeric_columns

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

__all__ = ["Patterns", "find_patterns"]

_MOST_CLASSES = 50


@dataclass(frozen=True)
class Patterns:
    """Which quasi-identifiers are pattern-friendly, and why.

    Attributes:
        frame: Per quasi-identifier: by how much the score falls when it is shuffled (mean and standard
            deviation over repeats), share of the most frequent value and of the two most frequent ones,
            how many further values there are, whether it is categorical, and the verdict.
        score: The score of the forest on records that it has not seen.
        measure: The kind of score: accuracy, or R² where the sensitive attribute is a number of many
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
        score = f"{self.measure} of the forest: {self.score:.4f}"
        return f"{self.frame.round(4).to_string()}\n{score}"

    def _repr_html_(self) -> str:
        return self.frame.round(4).to_html(escape=True, border=0)


def find_patterns(
    table: Table,
    *,
    sensitive: str | None = None,
    change: float = 0.01,
    top_value: float = 0.80,
    top_two: float = 0.85,
    rare: int = 2,
    trees: int = 100,
    repeats: int = 5,
    test_size: float = 1 / 3,
    most_records: int = 50_000,
    rebuild: bool = False,
    seed: int = 0,
) -> Patterns:
    """Find pattern-friendly quasi-identifiers (Majeed and Hwang 2023, Section III-B and C).

    A random forest predicts the sensitive attribute from the quasi-identifiers; then one column at a
    time is shuffled, in records that the forest has not seen. The paper shuffles the column everywhere
    and grows another forest (`rebuild=True`), which tells less: the other columns make up for the lost
    one. A quasi-identifier is pattern-friendly if its shuffling changes the score by at most `change`,
    and one value holds more than `top_value` of the records or two more than `top_two`, and at least
    `rare` further values share the rest. Without the last condition, every binary attribute would
    qualify, as gender does in the paper's text. Numbers have noise, not classes of values, so only
    categories can be pattern-friendly.

    Args:
        table: The records.
        sensitive: The sensitive attribute to predict; the first by default.
        change: The largest change of the score that counts as no change.
        top_value: The share of records that the most frequent value must exceed.
        top_two: The share that the two most frequent values must exceed.
        rare: How many further values there must be.
        trees: The number of trees in the forest.
        repeats: How often each column is shuffled.
        test_size: The share of records that the forest does not see.
        most_records: The largest number of records to draw for the forest; those of a scanned table are
            drawn by its counts.
        rebuild: Whether a new forest is grown for every shuffled column, as in the paper.
        seed: The seed of the forest, the split and the shuffling.

    >>> import privmoo as pm
    >>> rng = np.random.default_rng(1)
    >>> df = pd.DataFrame({"race": rng.choice(list("wxyz"), 500, p=[0.9, 0.04, 0.03, 0.03]),
    ...                    "sex": rng.choice(list("fm"), 500), "ill": rng.choice(list("ab"), 500)})
    >>> table = pm.Table(df, quasi_identifiers=["race", "sex"], sensitive="ill")
    >>> find_patterns(table, change=0.1, trees=10, repeats=2).friendly
    ['race']
    """
    attribute = _attribute_to_predict(table, sensitive)
    number("change", change)
    number("top_value", top_value)
    number("top_two", top_two)
    number("rare", rare)
    forest = _Forest(trees, repeats, test_size, most_records, flag("rebuild", rebuild), seed)
    forest.check(table)
    frame, score, measure = forest.changes(table, attribute)
    shares, others = _top_values(table)
    frame["top_value"], frame["top_two"] = shares[:, 0], shares[:, 1]
    frame["other_values"] = others
    by_first = (frame["top_value"] > top_value) & (frame["other_values"] + 1 >= rare)
    by_two = (frame["top_two"] > top_two) & (frame["other_values"] >= rare)
    frame["categorical"] = [numbers is None for numbers in numeric_columns(table)]
    small = frame["change"].abs() <= change
    frame["pattern_friendly"] = frame["categorical"] & small & (by_first | by_two)
    return Patterns(frame, score, measure)


def _attribute_to_predict(table: Table, sensitive: str | None) -> Attribute:
    """Return the sensitive attribute to predict, or raise."""
    if not table.sensitive:
        raise ProblemError(
            "sensitive: the table has no sensitive attribute, so there is nothing to predict",
            hint=Hint(parameter="sensitive", call="Table"),
        )
    name = next(iter(table.sensitive)) if sensitive is None else sensitive
    if name not in table.sensitive:
        raise ProblemError(f"sensitive: {name!r} is not one of {', '.join(table.sensitive)}")
    return table.sensitive[name]


@dataclass(frozen=True)
class _Forest:
    """A random forest, and how its columns are shuffled; see `find_patterns`."""

    trees: int
    repeats: int
    test_size: float
    most_records: int
    rebuild: bool
    seed: int

    def check(self, table: Table) -> None:
        """Raise unless these are possible parameters for a table."""
        whole_number("trees", self.trees)
        whole_number("repeats", self.repeats)
        whole_number("most_records", self.most_records, at_least=10)
        whole_number("seed", self.seed, at_least=0)
        fraction("test_size", self.test_size, above_zero=True, below_one=True)
        if table.n_records < 10:
            raise ProblemError(
                f"table: {table.n_records} records are too few for a forest; give 10"
            )

    def changes(self, table: Table, attribute: Attribute) -> tuple[pd.DataFrame, float, str]:
        """Return by how much the score falls per shuffled column, the score, and what it is.

        Args:
            table: The records.
            attribute: The sensitive attribute to predict.
        """
        from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
        from sklearn.inspection import permutation_importance
        from sklearn.model_selection import train_test_split

        n = min(table.n_records, self.most_records)
        rng = np.random.default_rng(self.seed)
        X, codes = _draw_records(
            table, attribute, np.sort(rng.choice(table.n_records, n, replace=False))
        )
        as_number = attribute.numbers is not None and len(np.unique(codes)) > _MOST_CLASSES
        y = codes if not as_number else np.nan_to_num(np.asarray(attribute.numbers))[codes]
        model = RandomForestRegressor if as_number else RandomForestClassifier
        forest = model(self.trees, random_state=self.seed, n_jobs=1)
        train, test = train_test_split(
            np.arange(n), test_size=self.test_size, random_state=self.seed
        )
        forest.fit(X[train], y[train])
        score = float(forest.score(X[test], y[test]))
        if self.rebuild:
            drops = score - self._rebuilt_scores(forest, X, y, (train, test), rng)
        else:
            drops = permutation_importance(
                forest, X[test], y[test], n_repeats=self.repeats, random_state=self.seed, n_jobs=1
            ).importances
        frame = pd.DataFrame(
            {"change": drops.mean(axis=1), "spread": drops.std(axis=1)},
            index=pd.Index(table.qi_names, name="quasi-identifier"),
        )
        return frame, score, "R²" if as_number else "accuracy"

    def _rebuilt_scores(
        self,
        forest: RandomForestClassifier | RandomForestRegressor,
        X: NDArray[np.float64],
        y: NDArray[Any],
        parts: tuple[NDArray[np.int64], NDArray[np.int64]],
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Return the score of a new forest per column that is shuffled everywhere, and repeat."""
        from sklearn.base import clone

        train, test = parts
        scores = np.empty((X.shape[1], self.repeats))
        for column, repeat in np.ndindex(scores.shape):
            shuffled = X.copy()
            shuffled[:, column] = rng.permutation(X[:, column])
            again = clone(forest).fit(shuffled[train], y[train])
            scores[column, repeat] = again.score(shuffled[test], y[test])
        return scores


def _draw_records(
    table: Table, attribute: Attribute, rows: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return numbers and leaf codes of the drawn records, and their codes of the attribute.

    Records of a scanned table are numbered by tuple and value; their numbers are those of a leaf.
    """
    units = units_of(table)
    entries = units.entries(attribute)
    entry = np.searchsorted(np.cumsum(entries.counts), rows, side="right")
    drawn_units = entries.unit[entry]
    columns = [
        table.tuples[units.tuples[drawn_units], j]
        if numbers is None
        else np.nan_to_num(numbers[drawn_units])
        for j, numbers in enumerate(units.leaf_numbers())
    ]
    return np.column_stack(columns).astype(np.float64), entries.codes[entry]


def _top_values(table: Table) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the shares of the most frequent value and of the top two, and how many others occur."""
    shares, others = [], []
    for j, qi in enumerate(table.qis):
        records = np.bincount(table.tuples[:, j], weights=table.weights, minlength=qi.n_leaves)
        top = np.sort(records)[::-1][:2]
        shares.append(np.cumsum(np.append(top, 0.0))[:2] / table.n_records)
        others.append(max(int((records > 0).sum()) - 2, 0))
    return np.array(shares), np.array(others)
