"""Every table, figure and algorithm of a paper is in the table with which its notebook ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from tests.scenery.paths import TOP

ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")


def numbered(kind: str, first: int, last: int, prefix: str = "") -> set[str]:
    return {f"{kind} {prefix}{i}" for i in range(first, last + 1)}


def roman(last: int) -> set[str]:
    return {f"Table {ROMAN[i]}" for i in range(last)}


ITEMS = {
    "dewri2011": numbered("Table", 1, 2) | numbered("Figure", 1, 11) | numbered("question", 1, 4),
    "jahan2025": numbered("Table", 1, 4) | numbered("Figure", 1, 6) | {"Algorithm 1"},
    "majeed2023": roman(8)
    | numbered("Figure", 1, 18)
    | numbered("Algorithm", 1, 2)
    | {"Theorem 1"},
    "wei2025": numbered("Table", 1, 11)
    | {"Table A1"}
    | numbered("Table", 2, 7, "B")
    | numbered("Table", 8, 11, "C")
    | numbered("Figure", 1, 3)
    | {"Figure B1", "Algorithm 1"}
    # The paper of 2024 by the same authors counts in Roman numerals.
    | roman(10),
}
_NAMED = re.compile(
    r"\b(Table|Figure|Algorithm|Theorem|[Qq]uestion)s? "
    r"((?:[A-C]?\d+|[IVX]+\b)(?:(?:, | and | to )(?:[A-C]?\d+|[IVX]+\b))*)"
)


def named(text: str) -> Iterator[str]:
    """The items that a text names: `Tables 1 and 3 to 5` are four.

    >>> sorted(named("Tables 1 and 3 to 5; Figure B1"))
    ['Figure B1', 'Table 1', 'Table 3', 'Table 4', 'Table 5']
    """
    for kind, numbers in _NAMED.findall(re.sub(r" \([a-z]\)", "", text)):
        for part in re.split(r", | and ", numbers):
            first, _, last = part.partition(" to ")
            for number in between(first, last or first):
                yield f"{'question' if kind == 'Question' else kind} {number}"


def between(first: str, last: str) -> list[str]:
    if first in ROMAN:
        return list(ROMAN[ROMAN.index(first) : ROMAN.index(last) + 1])
    letter = first[0] if first[0].isalpha() else ""
    begin, end = (int(name.removeprefix(letter)) for name in (first, last))
    return [f"{letter}{i}" for i in range(begin, end + 1)]


def items_of(path: Path) -> set[str]:
    """The first column of the tables after the last heading `What the paper shows`."""
    cells = nbformat.read(path, 4).cells
    start = max(i for i, cell in enumerate(cells) if "What the paper" in cell.source)
    texts = []
    for cell in cells[start:]:
        if cell.cell_type == "markdown":
            rows = [line.split("|") for line in cell.source.splitlines() if line.startswith("| ")]
            texts += [row[1] for row in rows]
        for output in cell.get("outputs", []):
            html = output.get("data", {}).get("text/html", "")
            texts += re.findall(r"<tr>\s*<th>(.*?)</th>", html, re.DOTALL)
    return {item for text in texts for item in named(text)}


@pytest.mark.parametrize("name", ITEMS)
def test_every_item_of_the_paper_is_in_the_last_table(name: str) -> None:
    missing = ITEMS[name] - items_of(TOP / "notebooks" / f"{name}.ipynb")
    assert not missing, sorted(missing)


def test_ranges_and_lists_are_read() -> None:
    assert set(named("Tables II to IV, X; Figures B1 (a) and 9 to 11")) == {
        *("Table II", "Table III", "Table IV", "Table X"),
        *("Figure B1", "Figure 9", "Figure 10", "Figure 11"),
    }
