"""A release under attack: what its rows tell of the people in it, and of people who are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from privmoo._util.checks import whole_number
from privmoo._util.data_frames import AnyFrame, as_pandas
from privmoo.attacks import Outcome, infer_values, link_tables, read_rows, single_out
from privmoo.attacks.intervals import difference
from privmoo.audit import Roles
from privmoo.data.table import Table
from privmoo.errors import AttackError, nearest
from privmoo.hierarchy import Hierarchy
from privmoo.release.release import Release

__all__ = ["attack", "attack_rows", "meanings_of"]

_FEWEST_NEW = 20  # control rows that must be expected to be new, for their lack to mean something

Meanings = Mapping[str, Mapping[str, Sequence[str]]]


def attack(
    release: Release | AnyFrame,
    table: Table,
    control: AnyFrame,
    *,
    attempts: int = 1000,
    seed: int = 0,
    meanings: Meanings | None = None,
) -> pd.DataFrame:
    """Attack a release, and people who were not in the table in the same way.

    The gain is the success against people in the table less the success against the others. The attacks
    are described in `privmoo.attacks.linkage`. A gain of 0 means that these attacks learn nothing from the
    fact that somebody is in the table; other attacks may.

    Args:
        release: A release, or the released rows.
        table: The table it was made from.
        control: Original records of people who were not in the table, of the same population; best as many.
        attempts: The most people or descriptions per attack.
        seed: The seed of all choices.
        meanings: What labels stand for, per column, beyond the labels of the table's hierarchies.

    Returns:
        One row per attack: success and control (shares), gain with the ends of its interval, and the
        attempts against people in the table and against the others. All intervals together hold with a
        probability of about 95 %; attempts are taken as independent.

    >>> import privmoo as pm
    >>> df = pd.DataFrame({"age": range(20, 40), "sex": list("fm") * 10, "ill": list("xxxyy") * 4})
    >>> table = pm.Table(df, quasi_identifiers=["age", "sex"], sensitive="ill")
    >>> others = df.assign(age=range(40, 60))
    >>> report = attack(df, table, others)
    >>> report["attack"][0], float(report["success"][0]), float(report["control"][0])
    ('inference of ill', 1.0, 0.4)
    """
    table.need_records("attack")
    labels: dict[str, dict[str, Sequence[str]]] = {
        qi.name: dict(meanings_of(qi.hierarchy)) for qi in table.qis if qi.hierarchy is not None
    }
    people, rows = table.frame, release
    if isinstance(release, Release):
        rows, people = release.frame, table.frame.iloc[np.asarray(release.rows)]
        if release.recoding is not None:
            for name, of_column in release.recoding.meanings().items():
                labels[name] = {**labels.get(name, {}), **of_column}
    for name, of_column in (meanings or {}).items():
        labels[name] = {**labels.get(name, {}), **of_column}
    return attack_rows(
        as_pandas(rows, what="release", error=AttackError),
        people,
        as_pandas(control, what="control", error=AttackError),
        Roles(table.qi_names, list(table.sensitive)),
        meanings=labels,
        attempts=attempts,
        seed=seed,
    )


def attack_rows(
    release: pd.DataFrame,
    people: pd.DataFrame,
    control: pd.DataFrame,
    roles: Roles,
    *,
    meanings: Meanings | None = None,
    attempts: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Attack released rows; see `attack`.

    Args:
        release: The released rows.
        people: The original records of the people in them; who was left out dilutes the success.
        control: Original records of people who were not in the table.
        roles: The quasi-identifiers, and the sensitive columns, which are published as they are.
        meanings: What labels stand for, per column.
        attempts: The most people or descriptions per attack.
        seed: The seed of all choices.
    """
    whole_number("attempts", attempts, error=AttackError)
    whole_number("seed", seed, at_least=0, error=AttackError)
    quasi_identifiers, sensitive = ([str(name) for name in names] for names in roles[:2])
    _check_names(quasi_identifiers, sensitive, meanings or {})
    _check_control(people, control)
    outcomes = []
    for name in sensitive:
        rows = read_rows(
            release, [people, control], quasi_identifiers, sensitive=name, meanings=meanings
        )
        outcomes.append((f"inference of {name}", infer_values(rows, attempts=attempts, seed=seed)))
    if not sensitive:
        rows = read_rows(release, [people, control], quasi_identifiers, meanings=meanings)
    n_columns = len(quasi_identifiers)
    if n_columns > 1:
        first = range(n_columns // 2)
        linked = link_tables(rows, first, attempts=attempts, seed=seed)
        outcomes.append((linked.attack, linked))
    for size in dict.fromkeys((1, min(3, n_columns), n_columns)):
        single = single_out(rows, size=size, attempts=attempts, seed=seed)
        outcomes.append((single.attack, single))
    ends = single_out(rows, size=n_columns, ends=True, attempts=attempts, seed=seed)
    outcomes.append((ends.attack, ends))
    if sensitive:
        value = single_out(rows, size=n_columns, secret=True, attempts=attempts, seed=seed)
        outcomes.append((value.attack, value))
    return pd.DataFrame([_line(name, outcome, 0.05 / len(outcomes)) for name, outcome in outcomes])


def _check_names(quasi_identifiers: list[str], sensitive: list[str], meanings: Meanings) -> None:
    """Refuse columns with two roles, and meanings of columns that no attacker knows."""
    for name in sensitive:
        if name in quasi_identifiers:
            raise AttackError(f"sensitive: column {name!r} is a quasi-identifier too; choose one")
    for name in meanings:
        if name not in quasi_identifiers:
            raise AttackError(
                f"meanings: column {name!r} is not a quasi-identifier{nearest(name, quasi_identifiers)}"
            )


def _check_control(people: pd.DataFrame, control: pd.DataFrame) -> None:
    """Refuse control people who are in the table: no attack would gain anything against it.

    Some rows of both are equal by chance, about as many as there are people with a double in the table.
    Where nearly all have one, nothing can be said.
    """
    columns = [name for name in people.columns if name in control.columns]
    if not columns:
        return
    inside, outside = (
        pd.util.hash_pandas_object(frame[columns].astype(str), index=False)
        for frame in (people, control)
    )
    expected = float(inside.duplicated(keep=False).mean())
    seen = float(outside.isin(inside).mean())
    if seen > (1 + expected) / 2 and (1 - expected) * len(control) >= _FEWEST_NEW:
        raise AttackError(
            f"control: {seen:.0%} of its rows are in the original records too, though only {expected:.0%} "
            "of these have a double; pass people who are not in the table"
        )


def _line(name: str, outcome: Outcome, error: float) -> dict[str, object]:
    gain, low, high = difference(outcome.target, outcome.control, confidence=1 - error)
    return {
        "attack": name,
        "success": outcome.rate,
        "control": outcome.control_rate,
        "gain": gain,
        "low": low,
        "high": high,
        "attempts": outcome.target[1],
        "control_attempts": outcome.control[1],
    }


def meanings_of(hierarchy: Hierarchy) -> dict[str, list[str]]:
    """Return the values that every label of a hierarchy stands for, values themselves left out.

    >>> meanings_of(Hierarchy.tree({"all": {"x": ["a", "b"], "y": ["c"]}}))["x"]
    ['a', 'b']
    """
    result: dict[str, list[str]] = {}
    leaves = np.array(hierarchy.leaves, object)
    for level in range(1, hierarchy.n_levels):
        blocks = hierarchy.level_blocks[level]
        for number, label in enumerate(hierarchy.level_labels(level)):
            result.setdefault(label, leaves[blocks == number].tolist())
    return result
