"""Cards: facts about one solution as plain data, and rows of its release for their owner."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privmoo._util.progress_bar import new_bar
from privmoo.errors import ProblemError, TableError
from privmoo.front.front import Front
from privmoo.front.solution import Solution
from privmoo.groups.groups import Grouping
from privmoo.hierarchy.canonical import canonical
from privmoo.measures import (
    DistinctDiversity,
    FrequencyDiversity,
    Homogeneity,
    KAnonymity,
    RecordsAtRisk,
    TCloseness,
)
from privmoo.measures.base import Measure
from privmoo.recodings.base import Recoding

__all__ = ["SIZES", "by_role", "card_of", "cards_of", "pack_cards", "preview_of", "records_by_size"]

_EDGES = (1, 2, 5, 10, 20, 50, 100, 1000)
SIZES = (
    *(f"{a}" if b == a + 1 else f"{a}–{b - 1}" for a, b in itertools.pairwise(_EDGES)),
    f"{_EDGES[-1]:,} or more",
)
"""Names of the bars of a histogram of group sizes."""

_OF_GROUPS: dict[str, Measure] = {
    "k (smallest QI-group)": KAnonymity(),
    "records in groups below 5 (risk above 20 %)": RecordsAtRisk(0.2, count=True),
    "records in groups below 10 (risk above 10 %)": RecordsAtRisk(0.1, count=True),
}
_OF_VALUES: dict[str, Measure] = {
    "ℓ (frequency)": FrequencyDiversity(),
    "ℓ (distinct values)": DistinctDiversity(),
    "t (closeness)": TCloseness(),
    "records open to homogeneity": Homogeneity(count=True),
}
_MANY = 200  # solutions whose cards take more than a moment
_SEPARATOR = " | "
_ALONE = "k is 1: a row may be somebody's record as it is. For your eyes only."


class _CachedSolution(Solution):
    """A solution that computes its recoding and groups once, as a card needs them several times.

    Attributes:
        recodings: Recodings of other solutions, by decision vector: steps of one staircase share theirs.
    """

    def __init__(self, solution: Solution, recodings: dict[bytes, Recoding] | None = None) -> None:
        super().__init__(solution.front, solution.index)
        self.recodings = {} if recodings is None else recodings

    @cached_property
    def recoding(self) -> Recoding:
        if self.front.recodings is not None:
            return super().recoding
        key = self.x.tobytes()
        if key not in self.recodings:
            self.recodings[key] = super().recoding
        return self.recodings[key]

    @cached_property
    def _cached_groups(self) -> Grouping:
        return super().groups()

    def groups(self) -> Grouping:
        return self._cached_groups


def cards_of(front: Front) -> Iterator[dict[str, Any]]:
    """Return the cards of all solutions of a front, one by one; a bar shows how far it is.

    Args:
        front: A front with its table.
    """
    recodings: dict[bytes, Recoding] = {}
    quiet = True if len(front) < _MANY else None  # None: quiet unless there is a terminal
    with new_bar(total=len(front), desc="report", disable=quiet, leave=False) as bar:
        for solution in front:
            yield _card(_CachedSolution(solution, recodings))
            bar.update()


def card_of(solution: Solution) -> dict[str, Any]:
    """Return the card of a solution: words and loss of every attribute, groups, risks, and the next step.

    The card contains no records, and no label that only suppressed records have.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> card = card_of(pm.Front.of(pm.problems.Cuts(table), [[0, 0, 1, 0, 0]])[0])
    >>> card["words"], round(card["loss"]["age"], 3), card["sizes"]
    ({'age': '20–22 | 40–60'}, 0.4, [0, 6, 0, 0, 0, 0, 0, 0])
    >>> card["facts"][:2]
    [['QI-groups', 2], ['k (smallest QI-group)', 3]]
    """
    return _card(_CachedSolution(solution))


def _card(cached: _CachedSolution) -> dict[str, Any]:
    try:
        after = str(cached.front.next_step(cached))
    except ProblemError:  # one objective: nothing to trade
        after = ""
    loss_by_attribute = {str(name): float(v) for name, v in cached.loss_per_attribute().items()}
    by_size = cached.group_sizes()
    bars = records_by_size(by_size.index.to_numpy(), by_size["records"].to_numpy())
    return {
        "words": {str(name): text for name, text in cached.describe_columns().items()},
        "lost": {str(name): str(lost) for name, lost in cached.lost_values().items()},
        "loss": loss_by_attribute,
        "facts": _facts(cached, int(by_size["groups"].sum())),
        "sizes": bars,
        "next": after,
    }


def records_by_size(sizes: NDArray[np.int64], records: NDArray[np.int64]) -> list[int]:
    """Count records by the size of their QI-group, for the bars that `SIZES` names.

    Args:
        sizes: Sizes of groups.
        records: The records in groups of each size.

    >>> records_by_size(np.array([1, 3, 4]), np.array([2, 3, 4]))
    [2, 7, 0, 0, 0, 0, 0, 0]
    """
    place = np.searchsorted(_EDGES, sizes, side="right") - 1
    bars: list[int] = np.bincount(place, records, len(_EDGES)).astype(int).tolist()
    return bars


def _facts(solution: Solution, n_groups: int) -> list[list[Any]]:
    groups = solution.groups()
    measures = _OF_GROUPS | (_OF_VALUES if solution.table.sensitive else {})
    facts: list[list[Any]] = [["QI-groups", n_groups]]
    facts += [[label, _short(m(groups))] for label, m in measures.items()]
    return facts


def _short(value: float) -> float | int:
    return int(value) if value.is_integer() else float(f"{value:.4g}")


def pack_cards(cards: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Pack many cards into little space: repeated labels and sentences are stored once.

    `words[j]` of a card is the position of a list in `lists`, whose entries are positions in `labels`. A
    sentence is the labels with ` | ` between them.

    >>> card = {"words": {"a": "1 | 2"}, "lost": {}, "loss": {"a": 0.5}, "facts": [["k", 3]],
    ...         "sizes": [3], "next": ""}
    >>> pack_cards([card, card])
    {'attributes': ['a'], 'facts': ['k'], 'labels': ['1', '2'], 'lists': [[0, 1]],
    'cards': [[[0], [0.5], [3], [3], '', ['']], [[0], [0.5], [3], [3], '', ['']]]}
    """
    every = list(cards)
    labels: dict[str, int] = {}
    lists: dict[tuple[int, ...], int] = {}
    small = []
    attributes = list(every[0]["words"]) if every else []
    for card in every:
        words = []
        for name in attributes:
            parts = card["words"].get(name, "").split(_SEPARATOR)
            numbers = tuple(labels.setdefault(part, len(labels)) for part in parts)
            words.append(lists.setdefault(numbers, len(lists)))
        losses = [_four_digits(card["loss"].get(name)) for name in attributes]
        facts = [value for _, value in card["facts"]]
        lost = [card["lost"].get(name, "") for name in attributes]
        small.append([words, losses, facts, card["sizes"], card["next"], lost])
    return {
        "attributes": attributes,
        "facts": [label for label, _ in every[0]["facts"]] if every else [],
        "labels": list(labels),
        "lists": [list(numbers) for numbers in lists],
        "cards": small,
    }


def _four_digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def preview_of(solution: Solution, n: int = 8) -> dict[str, Any]:
    """Return rows as they would be released, without identifying columns: for the owner of the data.

    Nothing is audited here, and with k = 1 a row can be somebody's record as it is; so rows go to a
    notebook, never into a file.

    Args:
        solution: The solution.
        n: The largest number of rows.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"name": list("abc"), "age": [20, 21, 22]}), identifiers="name",
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> preview_of(pm.Front.of(pm.problems.Cuts(table), [[0, 0]])[0], n=2)
    {'columns': ['age'], 'rows': [['*'], ['*']], 'total': 3, 'note': ''}
    """
    cached = _CachedSolution(solution)
    table = cached.table
    try:
        table.need_records("preview")
    except TableError as error:
        return {"columns": [], "rows": [], "total": table.n_records, "note": str(error)}
    released = cached.released_rows()
    sample = released[np.linspace(0, len(released) - 1, min(n, len(released))).astype(np.int64)]
    recoded = cached.recoding.apply(table, sample).reset_index(drop=True)
    columns = {
        str(name): recoded[name] if name in recoded.columns else table.frame[name].iloc[sample]
        for name in by_role({name: table.roles[name] for name in table.released_columns})
    }
    texts = [[canonical(value) for value in column.tolist()] for column in columns.values()]
    return {
        "columns": list(columns),
        "rows": [list(row) for row in zip(*texts, strict=True)],
        "total": len(released),
        "note": "" if KAnonymity()(cached.groups()) > 1 else _ALONE,
    }


def by_role(roles: Mapping[str, str]) -> list[str]:
    """Return columns in the order of interest: quasi-identifiers first, then sensitive ones.

    >>> by_role({"a": "insensitive", "b": "sensitive", "c": "quasi-identifying"})
    ['c', 'b', 'a']
    """
    order = ["quasi-identifying", "sensitive"]
    return sorted(
        roles, key=lambda name: order.index(roles[name]) if roles[name] in order else len(order)
    )
