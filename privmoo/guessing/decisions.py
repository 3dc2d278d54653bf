"""Which role a column has: by its name, by its values, and on the safe side where neither tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from privmoo.guessing.proposals import Proposal, propose
from privmoo.guessing.shapes import Facts
from privmoo.guessing.toml_text import quoted
from privmoo.guessing.vocabulary import Meaning, meanings

__all__ = ["ColumnGuess", "decide", "propose_some", "without_twins"]

_FEW = 100
_AT_MOST = 5


@dataclass(frozen=True)
class ColumnGuess:
    """What was guessed of one column.

    Attributes:
        name: The column.
        role: `"identifying"`, `"quasi-identifying"`, `"sensitive"` or `"insensitive"`.
        reason: Why, in a few words without any value of the data.
        hierarchy: How a quasi-identifying column may be generalised.
        target: Whether it looks like what learners predict.
        subject: Whether it looks like the key of persons who have several rows.
        unsure: Whether nothing told what the column is.
    """

    name: str
    role: str
    reason: str
    hierarchy: Proposal | None = None
    target: bool = False
    subject: bool = False
    unsure: bool = False


def decide(facts: Facts) -> ColumnGuess:
    """The role of one column, looked at alone.

    >>> import pandas as pd
    >>> from privmoo.guessing.shapes import facts_of
    >>> decide(facts_of(pd.Series(["f", "m"] * 9), "sex")).reason
    'the name says sex; 2 distinct values'
    """
    name = facts.name
    said = meanings(name)
    if facts.data is None:
        return ColumnGuess(name, "identifying", f"{facts.trouble}; left out until it is cleaned")
    if facts.n_values == 1:
        return ColumnGuess(name, "identifying", "the same value in every row, which tells nothing")
    if facts.shape:
        reason = f"most values look like {facts.shape}"
        return ColumnGuess(name, "identifying", reason, subject=_of_persons(facts, said))
    identifying = _identifying(facts, said)
    if identifying is not None:
        return identifying
    sensitive = [meaning for meaning in said if meaning.role == "sensitive"]
    quasi = [meaning for meaning in said if meaning.role == "quasi-identifying"]
    strong = [meaning for meaning in quasi if meaning.strong]
    target = facts.n_values == 2 and any(meaning.role == "target" for meaning in said)
    if sensitive and not strong:
        reason = f"the name says {sensitive[0].says}; {_count(facts)}"
        if facts.unique:
            reason += (
                ", so exact that others may know a person by them: round them or leave them out"
            )
        return ColumnGuess(name, "sensitive", reason, target=target)
    if quasi:
        return _quasi(facts, f"the name says {(strong or quasi)[0].says}", said)
    if target:
        reason = "the name says class; 2 distinct values, proposed as what learners predict"
        return ColumnGuess(name, "insensitive", reason, target=True)
    direct = [meaning for meaning in said if meaning.role == "identifying"]
    if direct:
        reason = f"the name says {direct[0].says}, though it has {_count(facts)} only"
        return ColumnGuess(name, "identifying", reason)
    return _by_values(facts)


def _identifying(facts: Facts, said: Sequence[Meaning]) -> ColumnGuess | None:
    """A column that names persons, by its name or as free text."""
    direct = [meaning for meaning in said if meaning.role == "identifying"]
    numbers = any(meaning.role == "number" for meaning in said)
    others = [meaning for meaning in said if meaning.role in ("quasi-identifying", "sensitive")]
    strong = any(meaning.strong for meaning in said)
    place = any(meaning.place for meaning in said)
    if direct and not facts.few and not (place and not facts.unique):
        return ColumnGuess(facts.name, "identifying", f"the name says {direct[0].says}")
    if facts.free_text:
        return ColumnGuess(facts.name, "identifying", "free text, which may name persons")
    key = (facts.share > 0.5 and not strong) or (facts.repeated and not others)
    if numbers and key and not facts.few:
        reason = "the name says id"
        if facts.unique:
            reason += ", and nearly every value occurs once"
        subject = _of_persons(facts, said)
        if subject:
            reason += "; some occur in several rows: if they are persons, name them as subject"
        return ColumnGuess(facts.name, "identifying", reason, subject=subject)
    return None


def _of_persons(facts: Facts, said: Sequence[Meaning]) -> bool:
    """Whether the column may tell persons apart who have several rows."""
    several = facts.n_distinct >= 10 and 0.02 < facts.share < 1
    return several and any(meaning.role == "person" for meaning in said)


def _quasi(facts: Facts, because: str, said: Sequence[Meaning]) -> ColumnGuess:
    hierarchy = propose(facts, frozenset(meaning.says for meaning in said))
    if facts.unique and not facts.dates and (hierarchy is None or hierarchy.kind == "flat"):
        reason = f"{because}, but nearly every value occurs once"
        return ColumnGuess(facts.name, "identifying", reason)
    if hierarchy is None:
        reason = f"{because or 'dates'}, but {facts.n_distinct:,} are too many; make them coarser"
        return ColumnGuess(facts.name, "identifying", reason)
    reason = f"{because}; {_count(facts)}" if because else _count(facts)
    if hierarchy.note:
        reason += f"; {hierarchy.note}"
    return ColumnGuess(facts.name, "quasi-identifying", reason, hierarchy)


def _by_values(facts: Facts) -> ColumnGuess:
    """The role of a column whose name says nothing."""
    if facts.dates:
        return _quasi(facts, "", ())
    if facts.sexes:
        return _quasi(facts, "the values are words for sexes", ())
    if facts.zips:
        return _quasi(facts, "digits of one length, like ZIP codes", ())
    if facts.unique and (facts.kind != "number" or facts.whole):
        return ColumnGuess(facts.name, "identifying", "nearly every value occurs once")
    reason = f"cannot be told ({_count(facts)}), so it is left out; give it a role to keep it"
    return ColumnGuess(facts.name, "identifying", reason, unsure=True)


def _count(facts: Facts) -> str:
    what = f"{facts.n_distinct:,} distinct values"
    if facts.n_distinct == 1:
        what = "1 distinct value and missing ones"
    if facts.dates:
        return f"dates with {what}"
    if facts.kind == "number" and facts.n_distinct > 2:
        return f"numbers with {what}"
    if facts.commas:
        return f"{what}, read as text for their decimal commas: write points to have numbers"
    return what


def without_twins(columns: list[ColumnGuess], facts: dict[str, Facts]) -> list[ColumnGuess]:
    """Leave out quasi-identifying columns that say the same as another one, such as codes beside words."""
    kept: list[Facts] = []
    twins: dict[str, str] = {}
    quasi = [facts[column.name] for column in columns if column.role == "quasi-identifying"]
    for own in sorted(quasi, key=lambda facts: facts.kind != "text"):  # words before codes
        twin = next((other for other in kept if _same(own, other)), None)
        if twin is None:
            kept.append(own)
        else:
            twins[own.name] = f"says the same as column {quoted(twin.name)}, so it is left out"
    return [
        ColumnGuess(column.name, "identifying", twins[column.name])
        if column.name in twins
        else column
        for column in columns
    ]


def _same(one: Facts, other: Facts) -> bool:
    """Whether each value of one column goes with one value of the other."""
    n = one.n_values
    if one.data is None or other.data is None or n != other.n_values or n < 3 or one.rows < 10 * n:
        return False
    pairs = (one.data.codes + 1) * (n + 1) + other.data.codes + 1
    # Most columns differ in their first rows already.
    return all(len(np.unique(pairs[:rows])) <= n for rows in (1_000, len(pairs)))


def propose_some(columns: list[ColumnGuess], facts: dict[str, Facts]) -> list[ColumnGuess]:
    """Where no column looks quasi-identifying: those that tell most among columns of few values."""
    unsure = [column for column in columns if column.unsure]
    few = [c for c in unsure if facts[c.name].n_values <= _FEW and not facts[c.name].unique]
    chosen = sorted(few or unsure, key=lambda c: -facts[c.name].n_distinct)[:_AT_MOST]
    found = {}
    for column in chosen:
        hierarchy = propose(facts[column.name], frozenset())
        if hierarchy is not None:
            count = _count(facts[column.name])
            reason = f"cannot be told ({count}); proposed because no other column looks better"
            found[column.name] = replace(
                column, role="quasi-identifying", reason=reason, hierarchy=hierarchy
            )
    return [found.get(column.name, column) for column in columns]
