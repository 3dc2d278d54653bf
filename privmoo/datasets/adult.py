"""Adult (Census Income), UCI: 48,842 persons of the US census of 1994, in the papers' settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from privmoo._util.checks import choice
from privmoo.data.table import Table
from privmoo.datasets import adult_trees as trees
from privmoo.datasets._files import read_bundled
from privmoo.errors import TableError, nearest
from privmoo.hierarchy import Hierarchy

__all__ = ["SETTINGS", "Setting", "adult", "adult_frame", "adult_hierarchies"]

Part = Literal["train", "test", "all"]
Domain = Literal["hierarchy", "observed"]

DEWRI = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
    "income",
)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The records and the roles of the columns with which a paper used a data set.

    >>> SETTINGS["wei"].quasi_identifiers
    ('age', 'race', 'sex', 'marital-status')
    """

    what: str
    n_records: int
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    target: str | None = None
    part: Part = "train"
    complete: bool = True
    others: bool = False
    """Whether the other columns are kept as insensitive ones, for learners."""


SETTINGS = {
    "dewri": Setting(
        what="Dewri et al. 2011, Problems 1 to 3: complete records, nine quasi-identifiers",
        n_records=30162,
        quasi_identifiers=DEWRI,
    ),
    "dewri-kl": Setting(
        what="Dewri et al. 2011, Problem 4: the same records, occupation is sensitive",
        n_records=30162,
        quasi_identifiers=tuple(name for name in DEWRI if name != "occupation"),
        sensitive=("occupation",),
    ),
    "dewri-2011": Setting(
        what="as dewri, with the tree of marital status that Dewri et al. 2011 print",
        n_records=30162,
        quasi_identifiers=DEWRI,
    ),
    "dewri-2011-kl": Setting(
        what="as dewri-kl, with the tree of marital status that Dewri et al. 2011 print",
        n_records=30162,
        quasi_identifiers=tuple(name for name in DEWRI if name != "occupation"),
        sensitive=("occupation",),
    ),
    "dewri-prototype": Setting(
        what="as dewri, with other trees, ages in steps of five years and observed values only",
        n_records=30162,
        quasi_identifiers=DEWRI,
    ),
    "wei": Setting(
        what="Wei et al. 2025 (MO-OBAM): complete records of both parts",
        n_records=45222,
        quasi_identifiers=("age", "race", "sex", "marital-status"),
        sensitive=("occupation",),
        target="income",
        part="all",
        others=True,
    ),
    "majeed": Setting(
        what="Majeed and Hwang 2023: the whole training part, '?' is a value like any other",
        n_records=32561,
        quasi_identifiers=("age", "sex", "race", "native-country"),
        sensitive=("income",),
        target="income",
        complete=False,
    ),
}


def adult(
    setting: str = "dewri", *, age_step: int | None = None, domain: Domain | None = None
) -> Table:
    """Load 30,162 or more census records of 1994 (UCI Adult), with roles as in one of the papers.

    `describe()` lists the settings.

    Args:
        setting: `"dewri"`, `"dewri-kl"`, `"dewri-2011"`, `"dewri-2011-kl"`, `"dewri-prototype"`, `"wei"`
            or `"majeed"`.
        age_step: The width in years of the intervals, from 15 on, into which ages are first rounded in
            the settings dewri, dewri-kl, dewri-2011 and dewri-2011-kl; by default ages are kept by the year.
        domain: Whether loss counts all leaves of a hierarchy (`"hierarchy"`, the default) or
            those that occur in the data (`"observed"`, the default of dewri-prototype).

    >>> table = adult("wei")
    >>> table.n_records, table.n_tuples
    (45222, 1900)
    """
    if setting not in SETTINGS:
        names = ", ".join(repr(name) for name in SETTINGS)
        raise TableError(
            f"setting: Adult has no setting {setting!r}, only {names}{nearest(setting, SETTINGS)}"
        )
    if age_step is not None and _HIERARCHIES[setting] not in (_dewri, _dewri_2011):
        raise TableError(
            f"age_step: the setting {setting!r} fixes the ages; only 'dewri', 'dewri-kl', 'dewri-2011' "
            "and 'dewri-2011-kl' take it"
        )
    if age_step is not None and not 1 <= age_step <= 75:
        raise TableError(f"age_step: must be from 1 to 75 years, got {age_step!r}")
    definition = SETTINGS[setting]
    hierarchies = _HIERARCHIES[setting](age_step)
    frame = adult_frame(
        definition.part,
        complete=definition.complete,
        question_marks="missing" if definition.complete else "value",
    )
    if not definition.others:
        columns = {*definition.quasi_identifiers, *definition.sensitive}
        frame = frame[[name for name in frame.columns if name in columns]]
    return Table(
        frame,
        quasi_identifiers={name: hierarchies[name] for name in definition.quasi_identifiers},
        sensitive={name: hierarchies[name] for name in definition.sensitive},
        target=definition.target,
        others="insensitive",
        domain=domain or ("observed" if setting == "dewri-prototype" else "hierarchy"),
    )


def adult_frame(
    part: Part = "train",
    *,
    complete: bool = False,
    question_marks: Literal["missing", "value"] = "missing",
) -> pd.DataFrame:
    """Return the records of Adult as a DataFrame, in the order of the source.

    Args:
        part: The training part (32,561 records), the test part (16,281), or all, in this order.
        complete: Whether to leave out records with a `?` anywhere.
        question_marks: Whether to make every `?` a missing value or to keep it.

    >>> adult_frame(complete=True).shape
    (30162, 15)
    """
    choice("part", part, ("train", "test", "all"), error=TableError)
    choice("question_marks", question_marks, ("missing", "value"), error=TableError)
    parts = ["train", "test"] if part == "all" else [part]
    frame = pd.concat([read_bundled(f"adult_{name}.csv.gz") for name in parts], ignore_index=True)
    unknown = frame == "?"
    if complete:
        return frame[~unknown.any(axis=1)].reset_index(drop=True)
    return frame.mask(unknown) if question_marks == "missing" else frame


def adult_hierarchies() -> dict[str, Hierarchy]:
    """Return a hierarchy with levels for each column of Adult that can be a quasi-identifier.

    >>> adult_hierarchies()["marital-status"].leaves_under("No longer married")
    ('Divorced', 'Widowed')
    """
    return {
        "age": Hierarchy.intervals(17, 90, widths=[5, 10, 20, 40]),
        "workclass": Hierarchy.tree(trees.WORKCLASS),
        "education": Hierarchy.tree(trees.EDUCATION),
        "marital-status": Hierarchy.tree(trees.MARITAL_STATUS),
        "occupation": Hierarchy.tree(trees.OCCUPATION),
        "relationship": Hierarchy.tree(trees.RELATIONSHIP),
        "race": Hierarchy.flat(trees.RACE),
        "sex": Hierarchy.flat(trees.SEX),
        "native-country": Hierarchy.tree(trees.NATIVE_COUNTRY),
        "income": Hierarchy.flat(trees.INCOME),
    }


def _dewri(age_step: int | None) -> dict[str, Hierarchy]:
    """Return the paper's hierarchies: five attributes may be cut anywhere, the other four have trees."""
    years = Hierarchy.ordered(range(17, 91))
    return {
        **adult_hierarchies(),
        "age": years if age_step is None else Hierarchy.ordered(step=age_step, start=15),
        "education": Hierarchy.ordered(adult_hierarchies()["education"].leaves),
        "race": Hierarchy.ordered(trees.RACE, labels="set"),
        "sex": Hierarchy.ordered(trees.SEX),
        "income": Hierarchy.ordered(trees.INCOME),
    }


def _dewri_2011(age_step: int | None) -> dict[str, Hierarchy]:
    """Return the same with the marital tree that the paper prints; its other three trees are not known."""
    return {**_dewri(age_step), "marital-status": Hierarchy.tree(trees.MARITAL_STATUS_2011)}


def _prototype(age_step: int | None) -> dict[str, Hierarchy]:
    hierarchies = {name: Hierarchy.tree(tree) for name, tree in trees.PROTOTYPE_TREES.items()}
    return {**_dewri(5), **hierarchies}


def _levels(age_step: int | None) -> dict[str, Hierarchy]:
    return adult_hierarchies()


def _with_question_mark(age_step: int | None) -> dict[str, Hierarchy]:
    countries = {**trees.NATIVE_COUNTRY, "Unclear": ["South", "?"]}
    return {**adult_hierarchies(), "native-country": Hierarchy.tree(countries)}


_HIERARCHIES: dict[str, Callable[[int | None], dict[str, Hierarchy]]] = {
    "dewri": _dewri,
    "dewri-2011": _dewri_2011,
    "dewri-2011-kl": _dewri_2011,
    "dewri-kl": _dewri,
    "dewri-prototype": _prototype,
    "wei": _levels,
    "majeed": _with_question_mark,
}
