"""Experiments: encoded methods and splits of the records, which comparisons of learners share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import fraction, whole_number
from privmoo._util.progress_bar import new_bar
from privmoo._util.threads import thread_count
from privmoo.data.columns import Attribute
from privmoo.data.table import Table
from privmoo.errors import ProblemError, ReleaseError, TableError
from privmoo.hierarchy.canonical import canonical
from privmoo.learning.encoding import Categories, encode
from privmoo.learning.values import check_release
from privmoo.release.release import Release

__all__ = ["ORIGINAL", "Encoded", "Experiment", "Method", "Split", "encoded", "prepare", "run_all"]

ORIGINAL = "original"


@dataclass(frozen=True)
class Split:
    """Original rows to train on and to test on, both ascending."""

    repeat: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass(frozen=True)
class Method:
    """The original or one release, encoded.

    Attributes:
        name: The method.
        X: Features of every released row.
        y: Published class of every released row.
        place: The released row of every original row; -1 if it was suppressed.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.intp]
    place: NDArray[np.intp]

    def training(self, split: Split) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return features and classes of the released training records, in the original order."""
        rows = self.place[split.train]
        rows = rows[rows >= 0]
        return self.X[rows], self.y[rows]


@dataclass(frozen=True)
class Encoded:
    """The original first, then the releases, in the same features.

    Attributes:
        classes: The target's values; classes are positions in it.
        features: The names of the features.
        columns: The table's column of each feature.
    """

    methods: tuple[Method, ...]
    classes: tuple[str, ...]
    features: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def original(self) -> Method:
        """The original table."""
        return self.methods[0]

    def position(self, positive: Any) -> int | None:
        """Return the position of a class; if none is named, of the last of two, or None."""
        if positive is None:
            return 1 if len(self.classes) == 2 else None
        if canonical(positive) not in self.classes:
            raise ProblemError(
                f"positive: {positive!r} is not one of the target's {len(self.classes)} classes"
            )
        return self.classes.index(canonical(positive))


@dataclass(frozen=True)
class Experiment(Encoded):
    """What is encoded, with splits of the original rows, the same for all methods."""

    splits: tuple[Split, ...]


def encoded(
    table: Table, releases: Mapping[str, Release], *, categories: Categories = "one-hot"
) -> Encoded:
    """Encode the original and releases of it, and their classes.

    Args:
        table: The original, with a target.
        releases: Releases by method.
        categories: How categories are encoded; see `encode`.
    """
    if table.target is None or table.target_name is None:
        raise TableError("target: the table has no target to predict; give target=")
    if table.target_name in table.qi_names:
        raise TableError(
            f"target: {table.target_name!r} is a quasi-identifier, which releases generalise; "
            "predict a column that is released as it is"
        )
    if isinstance(releases, Release) or not isinstance(releases, Mapping):
        raise ProblemError(
            f"releases: expected releases by name, got {type(releases).__name__}; "
            'write {"name": release}'
        )
    if ORIGINAL in releases:
        raise ProblemError(
            f"releases: the name {ORIGINAL!r} is reserved for the table; choose another"
        )
    table.need_records("learning")
    names = table.target.values
    occurring = np.unique(table.target.row_codes)
    classes = tuple(sorted((names[code] for code in occurring), key=_order(table.target)))
    number = {name: i for i, name in enumerate(classes)}
    by_code = np.array([number.get(name, -1) for name in names], dtype=np.intp)
    y = by_code[table.target.row_codes]
    features = encode(table, categories=categories)
    methods = [Method(ORIGINAL, features.matrix, y, np.arange(len(y)))]
    methods += [
        _method(table, name, release, number, categories) for name, release in releases.items()
    ]
    return Encoded(tuple(methods), classes, features.names, features.columns)


def prepare(
    table: Table,
    releases: Mapping[str, Release],
    *,
    repeats: int,
    test_size: float,
    seed: int,
    categories: Categories = "one-hot",
    rows: NDArray[np.intp] | None = None,
) -> Experiment:
    """Encode everything once and split the original rows, stratified by class.

    If the table has a subject column, persons are split instead of rows.

    Args:
        table: The original, with a target.
        releases: Releases by method.
        repeats: The number of splits.
        test_size: The share of records to test on.
        seed: The seed of the splits.
        categories: How categories are encoded; see `encode`.
        rows: The original rows that are split; all by default.
    """
    parts = encoded(table, releases, categories=categories)
    splits = _splits(table, parts.original.y, rows, repeats=repeats, test_size=test_size, seed=seed)
    for method in parts.methods[1:]:
        for split in splits:
            if len(np.unique(method.training(split)[1])) < 2:
                raise ReleaseError(
                    f"{method.name!r}: fewer than two classes of the target are left among its "
                    f"training records of split {split.repeat}, so nothing can be learned; choose a "
                    "release that suppresses less"
                )
    return Experiment(parts.methods, parts.classes, parts.features, parts.columns, splits)


def _order(target: Attribute) -> Callable[[str], tuple[float, str]]:
    """Return the key that sorts numbers by size and words alphabetically."""
    numbers: dict[str, float] = {}
    if target.numbers is not None:
        numbers = dict(zip(target.values, np.nan_to_num(target.numbers).tolist(), strict=True))
    return lambda name: (numbers.get(name, 0.0), name)


def _method(
    table: Table,
    name: str,
    release: Release,
    number: Mapping[str, int],
    categories: Categories,
) -> Method:
    check_release(table, release, name)
    codes, values = pd.factorize(release.frame[table.target_name], use_na_sentinel=False)
    y = np.array([number.get(canonical(value), -1) for value in values], dtype=np.intp)[codes]
    if (y < 0).any():
        raise ReleaseError(
            f"{name!r}: row {int((y < 0).argmax())} (counted from 0) has a class that the table's "
            "target lacks; give the table the release was made from"
        )
    place = np.full(table.n_records, -1, dtype=np.intp)
    place[release.rows] = np.arange(len(release.rows))
    return Method(name, encode(table, release, categories=categories).matrix, y, place)


def _splits(
    table: Table,
    y: NDArray[np.intp],
    rows: NDArray[np.intp] | None,
    *,
    repeats: int,
    test_size: float,
    seed: int,
) -> tuple[Split, ...]:
    from sklearn.model_selection import StratifiedShuffleSplit

    whole_number("repeats", repeats)
    fraction("test_size", test_size, above_zero=True, below_one=True)
    chosen = np.arange(len(y)) if rows is None else _checked_rows(rows, len(y))
    unit = chosen if table.subjects is None else table.subjects.row_subject[chosen]
    persons, first = np.unique(unit, return_index=True)
    person_class = y[chosen[first]]
    sizes = np.bincount(person_class, minlength=int(y.max()) + 1)
    n_test = int(np.ceil(test_size * len(persons)))
    few = min(n_test, len(persons) - n_test)
    if sizes.min() < 2 or few < len(sizes):
        raise ProblemError(
            f"target: its {len(sizes)} classes cannot all be in both parts of a split of "
            f"{len(persons)} records (the smallest class has {int(sizes.min())}); merge classes "
            "or change test_size"
        )
    splitter = StratifiedShuffleSplit(repeats, test_size=test_size, random_state=seed)
    splits = []
    for repeat, (_, test) in enumerate(splitter.split(persons, person_class)):
        in_test = np.isin(unit, persons[test])
        split = Split(repeat, chosen[~in_test], chosen[in_test])
        for part, rows in (("training", split.train), ("test", split.test)):
            if len(np.unique(y[rows])) < len(sizes):
                raise ProblemError(
                    f"target: split {repeat} has no {part} record of one of the {len(sizes)} classes; "
                    "merge rare classes or change test_size"
                )
        splits.append(split)
    return tuple(splits)


def _checked_rows(rows: NDArray[np.intp], n_records: int) -> NDArray[np.intp]:
    chosen = np.unique(np.asarray(rows))
    if (
        not len(chosen)
        or chosen.dtype.kind not in "iu"
        or not 0 <= chosen[0] <= chosen[-1] < n_records
    ):
        raise ProblemError(
            f"rows: must be positions of records, from 0 to {n_records - 1}; give those of the original"
        )
    return chosen.astype(np.intp)


def run_all(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    jobs: int | None,
    progress: bool,
    title: str,
) -> list[Any]:
    """Call a function for every task, in processes of one thread each.

    Args:
        function: The function.
        tasks: Its arguments.
        jobs: The number of processes; one per core if None.
        progress: Whether to show a progress bar.
        title: The text before the bar.

    Returns:
        The results in the order of the tasks.
    """
    from sklearn.utils.parallel import Parallel, delayed

    workers = min(thread_count() if jobs is None else whole_number("jobs", jobs), len(tasks))
    results = Parallel(n_jobs=workers, backend="loky", return_as="generator")(
        delayed(_alone)(function, *task) for task in tasks
    )
    return list(new_bar(results, total=len(tasks), desc=title, disable=not progress))


def _alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with one thread, so that sums do not depend on how many tasks run at once."""
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(limits=1), warnings.catch_warnings():
        # A learner that stops at its limit of iterations is scored all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return function(*arguments)
