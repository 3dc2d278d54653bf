"""Encoding: features of the original and of releases in the same columns, for learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from privmoo._util.checks import choice, whole_number
from privmoo.data.table import Table
from privmoo.errors import TableError
from privmoo.hierarchy.canonical import MISSING
from privmoo.learning.values import Reading, check_release, read_original, read_released
from privmoo.release.release import Release

__all__ = ["Categories", "Features", "encode"]

Categories = Literal["one-hot", "codes"]


@dataclass(frozen=True)
class Features:
    """The features that a learner sees.

    Attributes:
        matrix: One row for every record (of a release: for every released row), one column for every
            feature.
        names: The features, e.g. `age` and `sex=F`.
        columns: The table's column that each feature comes from.
    """

    matrix: NDArray[np.float64]
    names: tuple[str, ...]
    columns: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.matrix)


def encode(
    table: Table,
    release: Release | None = None,
    *,
    most_categories: int = 100,
    categories: Categories = "one-hot",
) -> Features:
    """Encode the original table or a release of it; the features are those of the original.

    All released columns but the target are encoded, all in the same way:

    - A number is itself. (A quasi-identifier or sensitive attribute is numeric if the table knows the
      numbers of its values; any other column, if it holds numbers.)
    - A category is one-hot over the column's original domain. Of a domain with more than
      `most_categories` values, those most frequent in the original have a feature each, and all
      others share one. Dates are categories; convert them to numbers first if you prefer.
    - A label that stands for several values is the mean of their encodings: the mean of their numbers,
      or 1/b for each of b categories. It is the mean over the domain, not over the data, as a reader
      of the release cannot know more.
    - A missing category is a category. A missing number is the median of the original column, and a
      second feature marks it with 1; only columns with missing numbers in the original have it.

    With `categories="codes"`, a category is its place in the alphabetical order of the column's domain, and
    a label is the mean of these. That is a common habit, and what the levels of some published scores
    point to; the order means nothing, so learners that compare or multiply numbers do worse with it.

    Args:
        table: The original.
        release: A release of it; the original itself is encoded by default.
        most_categories: The number of categories of a column that have a feature of their own.
        categories: `"one-hot"` or `"codes"`.

    >>> import pandas as pd, privmoo as pm
    >>> df = pd.DataFrame({"age": [20, 30, 40, 50], "sex": list("FMFM"), "y": list("abab")})
    >>> table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered(),
    ...                                         "sex": pm.Hierarchy.flat()}, target="y")
    >>> release = pm.make_release(table, pm.recodings.cut_recoding(table, [[0, 1, 0], [0]]), shuffle=False)
    >>> encode(table).names
    ('age', 'sex=F', 'sex=M')
    >>> encode(table).matrix[0].tolist(), encode(table, release).matrix[0].tolist()
    ([20.0, 1.0, 0.0], [25.0, 0.5, 0.5])
    """
    whole_number("most_categories", most_categories, error=TableError)
    choice("categories", categories, get_args(Categories), error=TableError)
    if release is not None:
        check_release(table, release)
    parts, names, columns = [], [], []
    for name in table.released_columns:
        if name == table.target_name:
            continue
        original = read_original(table, name)
        if original.domain.numbers is not None:
            by_leaf, features = _numbers(original)
        elif categories == "codes":
            by_leaf, features = _codes(original)
        else:
            by_leaf, features = _one_hot(original, most_categories)
        reading = original if release is None else read_released(table, name, release)
        parts.append(_encode_values(reading, by_leaf))
        names += features
        columns += [name] * len(features)
    if not parts:
        raise TableError("encode: the table releases no column besides the target to learn from")
    return Features(np.concatenate(parts, axis=1), tuple(names), tuple(columns))


def _numbers(original: Reading) -> tuple[NDArray[np.float64], list[str]]:
    """Return the encoding of every leaf, and the features' names."""
    name = original.domain.name
    leaves = original.domain.numbers
    assert leaves is not None  # noqa: S101
    numbers = original.numbers()
    lacking = np.isnan(leaves)
    numbers_or_median = np.where(lacking, np.nanmedian(numbers) if lacking.any() else 0.0, leaves)
    if not lacking.any():
        return numbers_or_median[:, None], [name]
    return np.column_stack([numbers_or_median, lacking]).astype(np.float64), [
        name,
        f"{name}={MISSING}",
    ]


def _codes(original: Reading) -> tuple[NDArray[np.float64], list[str]]:
    leaves = original.domain.leaves
    places = {leaf: place for place, leaf in enumerate(sorted(leaves))}
    return np.array([[float(places[leaf])] for leaf in leaves]), [original.domain.name]


def _one_hot(original: Reading, most_categories: int) -> tuple[NDArray[np.float64], list[str]]:
    domain = original.domain
    single = np.array([leaves[0] for leaves in original.leaves], dtype=np.intp)
    frequency = np.bincount(single[original.codes], minlength=len(domain.leaves))
    frequent = np.arange(len(domain.leaves))
    if len(frequent) > most_categories:
        frequent = np.sort(np.argsort(-frequency, kind="stable")[:most_categories])
    feature = np.full(len(domain.leaves), len(frequent))
    feature[frequent] = np.arange(len(frequent))
    names = [f"{domain.name}={domain.leaves[leaf]}" for leaf in frequent]
    if len(frequent) < len(domain.leaves):
        names.append(f"{domain.name}=(other values)")
    by_leaf = np.zeros((len(domain.leaves), len(names)))
    by_leaf[np.arange(len(feature)), feature] = 1.0
    return by_leaf, names


def _encode_values(reading: Reading, by_leaf: NDArray[np.float64]) -> NDArray[np.float64]:
    values = np.zeros((len(reading.leaves), by_leaf.shape[1]))
    values[:, 0] = reading.numbers_of_values  # numbers that are not leaves; the rest is overwritten
    for i, leaves in enumerate(reading.leaves):
        if len(leaves):
            values[i] = by_leaf[leaves].mean(axis=0)
    return values[reading.codes]
