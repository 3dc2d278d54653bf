"""Tables of a study for papers and pages: Markdown and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from privmoo.errors import ProblemError
from privmoo.study.indicators import INDICATORS, better
from privmoo.study.verdicts import remarks

if TYPE_CHECKING:
    from privmoo.study.study import Study

__all__ = ["escape_latex", "escape_markdown", "to_latex", "to_markdown"]

_HEADS = {"hypervolume": "hypervolume ↑", "igd_plus": "IGD+ ↓", "epsilon": "epsilon ↓"}
_LATEX_HEADS = {
    "hypervolume": r"hypervolume $\uparrow$",
    "igd_plus": r"IGD$^+$ $\downarrow$",
    "epsilon": r"$\epsilon_+$ $\downarrow$",
}
_NOTE = (
    "Median (interquartile range); the best median is bold, † marks what is not significantly different "
    "from it at {alpha:g} after Holm's correction over the pairs of a problem and indicator."
)
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def escape_latex(text: str) -> str:
    r"""Escape text so that LaTeX prints it.

    >>> escape_latex("k_member & 10 %")
    'k\\_member \\& 10 \\%'
    """
    return "".join(_LATEX.get(letter, letter) for letter in text)


def escape_markdown(text: str) -> str:
    r"""Escape text for a cell of a Markdown table.

    >>> print(escape_markdown("a|b_c"))
    a\|b\_c
    """
    return "".join(f"\\{letter}" if letter in "\\|*_`<>[]" else letter for letter in text)


def to_markdown(study: Study, indicators: Sequence[str], alpha: float) -> str:
    """Return the summary of a study as a Markdown table, for `Study.to_markdown`.

    Args:
        study: The study.
        indicators: The indicators, one column each.
        alpha: The level of significance of the marks.
    """
    _check(indicators)
    lines = [
        "| "
        + " | ".join(["problem", "solver", "runs", *(_HEADS[name] for name in indicators)])
        + " |",
        "| " + " | ".join(["---", "---", *["---:"] * (len(indicators) + 1)]) + " |",
    ]
    for problem, solver, runs, cells in _rows(study, indicators, alpha):
        texts = [f"**{text}**" if best else text + mark for text, best, mark in cells]
        names = [escape_markdown(problem), escape_markdown(solver), str(runs)]
        lines.append("| " + " | ".join([*names, *texts]) + " |")
    notes = [_NOTE.format(alpha=alpha), *(escape_markdown(line) for line in remarks(study))]
    return "\n".join([*lines, "", *notes]) + "\n"


def to_latex(study: Study, indicators: Sequence[str], alpha: float) -> str:
    """Return the summary of a study as a LaTeX table, for `Study.to_latex`.

    Args:
        study: The study.
        indicators: The indicators, one column each.
        alpha: The level of significance of the marks.
    """
    _check(indicators)
    heads = ["problem", "solver", "runs", *(_LATEX_HEADS[name] for name in indicators)]
    lines = [
        rf"\begin{{tabular}}{{ll{'r' * (len(indicators) + 1)}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
    ]
    earlier = None
    for problem, solver, runs, cells in _rows(study, indicators, alpha):
        if problem != earlier:
            lines.append(r"\midrule")
        texts = [
            rf"\textbf{{{text}}}" if best else text + (r"$^\dagger$" if mark else "")
            for text, best, mark in ((t.replace("∞", r"$\infty$"), b, m) for t, b, m in cells)
        ]
        label = escape_latex(problem) if problem != earlier else ""
        lines.append(" & ".join([label, escape_latex(solver), str(runs), *texts]) + r" \\")
        earlier = problem
    note = _NOTE.format(alpha=alpha).replace("†", r"$\dagger$")
    notes = [f"% {line}" for line in (note, *remarks(study))]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *notes]) + "\n"


def _check(indicators: Sequence[str]) -> None:
    if isinstance(indicators, str) or not len(indicators):
        raise ProblemError(
            f"indicators: must be a list of some of {', '.join(INDICATORS)}, got {indicators!r}"
        )
    for name in indicators:
        better(name)


def _rows(
    study: Study, indicators: Sequence[str], alpha: float
) -> list[tuple[str, str, int, list[tuple[str, bool, str]]]]:
    """Return problem, solver, runs, and per indicator the text, whether it is the best, and a mark."""
    summary = study.summary()
    pairs = {name: study.pairwise(name, alpha=alpha) for name in indicators}
    rows = []
    for problem in study.problems:
        part = summary[summary["problem"] == problem.name]
        marks = {
            name: _marks(part, pairs[name][pairs[name]["problem"] == problem.name], name)
            for name in indicators
        }
        for _, row in part.iterrows():
            cells = []
            for name in indicators:
                best, close = marks[name]
                middle = float(row[name])
                has_value = not math.isnan(middle)
                spread = _number(float(row[f"{name}_iqr"]))
                text = f"{_number(middle)} ({spread})" if has_value else "–"
                mark = "†" if has_value and row["solver"] in close else ""
                cells.append((text, has_value and row["solver"] in best, mark))
            rows.append((str(row["problem"]), str(row["solver"]), int(row["runs"]), cells))
    return rows


def _marks(summary: pd.DataFrame, pairs: pd.DataFrame, indicator: str) -> tuple[set[str], set[str]]:
    """Return the solvers with the best median of an indicator, and those not significantly different."""
    complete = summary.dropna(subset=[indicator])
    end = complete[indicator].max() if better(indicator) > 0 else complete[indicator].min()
    best = set(complete.loc[complete[indicator] == end, "solver"])
    close: set[str] = set()
    for pair in pairs.itertuples(index=False):
        if pair.better == "" and {pair.first, pair.second} & best:
            close |= {str(pair.first), str(pair.second)} - best
    return best, close


def _number(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.4g}"
