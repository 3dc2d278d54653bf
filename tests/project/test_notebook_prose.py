"""Numbers in the texts of the notebooks on papers stand in the outputs or the code beside them.

A text that quotes a result drifts from it when the notebook runs again. So every number in a text must be
printed, rounded or not, by a cell of the same section, or be written in its code. The introduction and
the sections that sum up may quote any section. What only a paper says is listed here, by notebook.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from tests.scenery.paths import TOP

SUMMARIES = ("What to take away", "What the paper shows", "The paper's quoted points")
# Numbers of the papers that no cell computes or quotes, and what follows from them by counting.
OF_PAPERS: dict[str, set[str]] = {
    "dewri2011": {"0.9", "2,528", "5,000", "26", "36"},
    "jahan2025": {"73", "15", "0.1", "3,200", "1,590", "2,400", "300"},
    "majeed2023": {
        "50",
        "80.01",
        "0.91",
        "21.48",
        "142.05",
        "6.6",
        "40.51",
        "0.53",
        "0.35",
        "0.72",
    },
    "wei2025": {"3,240", "15", "0.05", "300", "119,871", "0.91", "13.1", "19.9"},
}

_REFERENCE = re.compile(
    r"(?:Tables?|Figures?|Eqs?\.|Sections?|Problems?|[Qq]uestions?|QID|sections?|seeds?|Algorithm|Theorem)"
    r"\s+\d[\d, ]*(?:(?:to|and|–)\s*\d+)*"
)
_CODE = re.compile(r"`[^`]*`|\]\([^)]*\)|\bT\d+\b|^#.*$", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.,/-])\d+(?:,\d{3})*(?:\.\d+)?(?:e-\d+)?(?![\d])")


def numbers_of(text: str) -> list[tuple[str, bool]]:
    """The numbers of a text as written, and whether a percent sign follows."""
    plain = _REFERENCE.sub(" ", _CODE.sub(" ", text))
    return [
        (match.group(), plain[match.end() :].lstrip(" \u202f").startswith(("%", "point")))
        for match in _NUMBER.finditer(plain)
    ]


def is_quoted(number: str) -> bool:
    """Whether a number must be found: not a small count or a year."""
    value = float(number.replace(",", ""))
    return not (value.is_integer() and (value <= 10 or 1900 <= value <= 2100) and "." not in number)


def values_of(texts: list[str]) -> list[float]:
    """All numbers that outputs and code contain."""
    found = re.findall(
        r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:_\d{3})+|\d*\.?\d+(?:e-?\d+)?", "\n".join(texts)
    )
    return [float(token.replace(",", "").replace("_", "")) for token in found]


def stands_in(number: str, percent: bool, values: list[float]) -> bool:
    """Whether some value is the number, rounded as the text rounds it."""
    target = float(number.replace(",", ""))
    decimals = len(number.partition(".")[2])
    half = 0.5 * 10.0**-decimals * (1 + 1e-9)
    scales = (1.0, 100.0) if percent else (1.0,)
    return any(abs(scale * value - target) <= half for value in values for scale in scales)


def sections(notebook: nbformat.NotebookNode) -> Iterator[tuple[str, list[str], list[str]]]:
    """Per section of the second level: its title, its texts, and what its cells compute and say."""
    title, texts, results = "", list[str](), list[str]()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            before, *parts = re.split(r"^(?=## )", cell.source, flags=re.MULTILINE)
            texts.append(before)
            for part in parts:
                yield title, texts, results
                title, texts, results = part.partition("\n")[0], [part], []
            continue
        results.append(cell.source)
        for output in cell.outputs:
            results.append(output.get("text", "") or output.get("data", {}).get("text/plain", ""))
    yield title, texts, results


def unsupported(path: Path, of_paper: set[str]) -> list[str]:
    """Numbers of a notebook's texts that nothing beside them supports, with their sections."""
    parts = list(sections(nbformat.read(path, 4)))
    everything = values_of([result for _, _, results in parts for result in results])
    missing = []
    for place, (title, texts, results) in enumerate(parts):
        sums_up = place == 0 or any(name in title for name in SUMMARIES)
        values = everything if sums_up else values_of(results)
        for text in texts:
            for number, percent in numbers_of(text):
                known = number in of_paper or not is_quoted(number)
                if not known and not stands_in(number, percent, values):
                    missing.append(f"{title}: {number}{' %' if percent else ''}")
    return missing


@pytest.mark.parametrize("name", OF_PAPERS)
def test_numbers_of_texts_stand_in_the_outputs_beside_them(name: str) -> None:
    missing = unsupported(TOP / "notebooks" / f"{name}.ipynb", OF_PAPERS[name])
    assert not missing, "\n".join(missing)
