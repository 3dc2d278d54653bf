"""Guess the role of a column by its name and its values; an unknown role excludes the column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from privmoo.guessing.column_facts import Facts
from privmoo.guessing.proposals import Proposal, propose
from privmoo.guessing.vocabulary import Meaning, meanings

__all__ = ["ColumnGuess", "decide", "propose_some"]

_FEW = 100
_AT_MOST = 5


@dataclass(frozen=True)
class ColumnGuess:
    """The guess about one column.

    Attributes:
        name: The column.
        role: `"identifying"`, `"quasi-identifying"`, `"sensitive"` or `"insensitive"`.
        reason: The reason for the role, in a few words and without any value of the data.
        hierarchy: How a quasi-identifying column may be generalised.
        target: Whether it looks like a column that learners predict.
        subject: Whether it looks like the key of persons who have several rows.
        unsure: Whether the role is unknown.
        constant: Whether nearly all rows of a sensitive column have the same value.
    """

    name: str
    role: str
    reason: str
    hierarchy: Proposal | None = None
    target: bool = False
    subject: bool = False
    unsure: bool = False
    constant: bool = False


def decide(facts: Facts) -> ColumnGuess:
    """Guess the role of one column on its own.

    >>> import pandas as pd
    >>> from privmoo.guessing.column_facts import facts_of
    >>> decide(facts_of(pd.Series(["f", "m"] * 9), "sex")).reason
    'the name says sex; 2 distinct values'
    """
    name = facts.name
    name_meanings = meanings(name)
    if facts.data is None:
        return ColumnGuess(name, "identifying", f"{facts.trouble}; excluded until you clean it")
    if facts.n_values == 1:
        return ColumnGuess(name, "identifying", "the same value in every row, which says nothing")
    if facts.shape:
        reason = f"most values look like {facts.shape}"
        return ColumnGuess(name, "identifying", reason, subject=_of_persons(facts, name_meanings))
    design = [meaning for meaning in name_meanings if meaning.role == "design"]
    if design and facts.kind == "number":
        reason = (
            f"the name says {design[0].says}, which may tell a stratum; release it only if you must"
        )
        return ColumnGuess(name, "identifying", reason)
    identifying = _identifying(facts, name_meanings)
    if identifying is not None:
        return identifying
    sensitive = [meaning for meaning in name_meanings if meaning.role == "sensitive"]
    quasi = [meaning for meaning in name_meanings if meaning.role == "quasi-identifying"]
    strong = [meaning for meaning in quasi if meaning.strong]
    target = facts.n_values == 2 and any(meaning.role == "target" for meaning in name_meanings)
    if sensitive and not strong:
        reason = f"the name says {sensitive[0].says}; {_count(facts)}"
        if facts.unique:
            reason += ", so exact that others may recognise a person by them: round them or leave them out"
        if facts.same:
            reason += ", nearly always the same one: no group can hide who has another"
        return ColumnGuess(name, "sensitive", reason, target=target, constant=facts.same)
    if quasi:
        return _quasi(facts, f"the name says {(strong or quasi)[0].says}", name_meanings)
    if target:
        reason = "the name says class; 2 distinct values, proposed as what learners predict"
        return ColumnGuess(name, "insensitive", reason, target=True)
    direct = [meaning for meaning in name_meanings if meaning.role == "identifying"]
    if direct:
        reason = f"the name says {direct[0].says}, though it has only {_count(facts)}"
        return ColumnGuess(name, "identifying", reason)
    return _by_values(facts)


def _identifying(facts: Facts, name_meanings: Sequence[Meaning]) -> ColumnGuess | None:
    """Return the guess about a column that names persons, by its name or as free text; None otherwise."""
    direct = [meaning for meaning in name_meanings if meaning.role == "identifying"]
    numbers = any(meaning.role == "number" for meaning in name_meanings)
    others = [
        meaning for meaning in name_meanings if meaning.role in ("quasi-identifying", "sensitive")
    ]
    strong = any(meaning.strong for meaning in name_meanings)
    place = any(meaning.place for meaning in name_meanings)
    if direct and not facts.few and not (place and not facts.unique):
        return ColumnGuess(facts.name, "identifying", f"the name says {direct[0].says}")
    if facts.free_text:
        return ColumnGuess(facts.name, "identifying", "free text, which may name persons")
    key = (facts.share > 0.5 and not strong) or (facts.repeated and not others)
    if numbers and key and not facts.few:
        reason = "the name says id"
        if facts.unique:
            reason += ", and nearly every value occurs once"
        subject = _of_persons(facts, name_meanings)
        if subject:
            reason += "; some occur in several rows: if they stand for persons, name the column as subject"
        return ColumnGuess(facts.name, "identifying", reason, subject=subject)
    return None


def _of_persons(facts: Facts, name_meanings: Sequence[Meaning]) -> bool:
    """Return whether the column may distinguish persons who have several rows."""
    several = facts.n_distinct >= 10 and 0.02 < facts.share < 1
    return several and any(meaning.role == "person" for meaning in name_meanings)


def _quasi(facts: Facts, because: str, name_meanings: Sequence[Meaning]) -> ColumnGuess:
    hierarchy = propose(facts, frozenset(meaning.says for meaning in name_meanings))
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
    """Guess the role of a column whose name says nothing."""
    if facts.dates:
        return _quasi(facts, "", ())
    if facts.sexes:
        return _quasi(facts, "the values are words for sexes", ())
    if facts.zips:
        return _quasi(facts, "digits of one length, like ZIP codes", ())
    if facts.unique and (facts.kind != "number" or facts.whole):
        return ColumnGuess(facts.name, "identifying", "nearly every value occurs once")
    reason = f"role unknown ({_count(facts)}); excluded until you assign one"
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
        return (
            f"{what}, read as text because of decimal commas; write decimal points to get numbers"
        )
    return what


def propose_some(columns: list[ColumnGuess], facts: dict[str, Facts]) -> list[ColumnGuess]:
    """Propose quasi-identifying columns if none looks like one.

    Columns with few distinct values come first, and among them those with the most; amounts come last.

    Args:
        columns: The guesses.
        facts: The facts about every column, by name.
    """
    unsure = [column for column in columns if column.unsure]
    few = [c for c in unsure if facts[c.name].n_values <= _FEW and not facts[c.name].unique]
    amounts = [c for c in columns if c.role == "identifying" and facts[c.name].amounts]
    candidates = sorted(few or unsure or amounts, key=lambda c: -facts[c.name].n_distinct)[
        :_AT_MOST
    ]
    proposals = {}
    for column in candidates:
        hierarchy = propose(facts[column.name], frozenset())
        if hierarchy is not None:
            count = _count(facts[column.name])
            reason = f"role unknown ({count}); proposed because no other column looks better"
            proposals[column.name] = replace(
                column, role="quasi-identifying", reason=reason, hierarchy=hierarchy
            )
    return [proposals.get(column.name, column) for column in columns]
