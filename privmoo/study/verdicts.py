"""Verdicts: what a study shows in words, and where it shows nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from privmoo._util.wording import count_noun
from privmoo.errors import ProblemError
from privmoo.stats.rank_tests import smallest_p
from privmoo.study.indicators import better

if TYPE_CHECKING:
    from privmoo.study.participants import StudiedProblem
    from privmoo.study.study import Study

__all__ = ["remarks", "verdict"]

_WORDS = {"hypervolume": "hypervolume", "igd_plus": "IGD+", "epsilon": "additive epsilon"}


def verdict(study: Study, indicator: str, alpha: float) -> str:
    """Return what the runs of a study show, for `Study.verdict`.

    Args:
        study: The study.
        indicator: The name of the indicator.
        alpha: The level of significance.
    """
    pairs = study.pairwise(indicator, alpha=alpha)
    lines: list[str] = []
    for problem in study.problems:
        lines += _on(study, problem, indicator, pairs[pairs["problem"] == problem.name], alpha)
    if len(study.problems) > 1 and len(study.solvers) > 1:
        lines.append(_over_all(study, indicator, alpha))
    return "\n".join([*lines, *remarks(study)])


def _on(
    study: Study, problem: StudiedProblem, indicator: str, pairs: pd.DataFrame, alpha: float
) -> list[str]:
    if problem.name not in study.boxes:
        return [f"{problem.name}: no run found anything feasible."]
    box = study.boxes[problem.name]
    of = "exact" if box.exact else "best known"
    summary = study.summary()
    rows = summary[(summary["problem"] == problem.name) & (summary["runs"] > 0)]
    rows = rows.sort_values(indicator, ascending=better(indicator) < 0, kind="stable")
    medians = ", ".join(
        f"{row.solver} {getattr(row, indicator):.4g}" for row in rows.itertuples(index=False)
    )
    lines = [
        f"{problem.name}, by {_WORDS[indicator]} (the {of} front has "
        f"{count_noun(len(box.reference), 'point')}): medians {medians}."
    ]
    lines += [f"  {_claim(pair, alpha)}" for pair in pairs.itertuples(index=False)]
    with_test = pairs[pairs["p"].notna()]
    few = [
        smallest_p(int(n), int(m), test=test)
        for n, m, test in zip(
            with_test["runs_first"], with_test["runs_second"], with_test["test"], strict=True
        )
    ]
    if few and min(few) * len(few) >= alpha:
        lines.append(
            f"  With so few runs no difference could have been significant at {alpha:g}; more seeds may "
            "show one."
        )
    return lines


def _claim(pair: Any, alpha: float) -> str:
    """State one pair in one sentence."""
    if math.isnan(pair.a12):
        return (
            f"{pair.first} and {pair.second} cannot be compared: one has no run that did not fail."
        )
    if pair.test == "none":
        if not pair.better:
            return f"{pair.first} and {pair.second} are equally good; neither has chance in it."
        worse = pair.second if pair.better == pair.first else pair.first
        return f"{pair.better} is better than {worse}; neither has chance in it."
    numbers = (
        f"p = {pair.p_holm:.2g}, A12 = {max(pair.a12, 1 - pair.a12):.2f}, {pair.effect} effect"
    )
    if not pair.better:
        return f"No significant difference between {pair.first} and {pair.second} ({numbers})."
    worse = pair.second if pair.better == pair.first else pair.first
    return f"{pair.better} is significantly better than {worse} ({numbers})."


def _over_all(study: Study, indicator: str, alpha: float) -> str:
    try:
        ranking = study.ranking(indicator, alpha=alpha)
    except ProblemError:
        return "Over all problems: too few on which every solver has a run, so there is no ranking."
    ranks = ", ".join(f"{name} {value:.2f}" for name, value in ranking.ranks.items())
    begin = f"Over {ranking.n_problems} problems, mean ranks: {ranks}"
    if ranking.p >= alpha:
        return f"{begin}; no significant difference (Friedman p = {ranking.p:.2g})."
    groups = [" and ".join(group) for group in ranking.groups()]
    alike = (
        f"; these cannot be told apart: {'; '.join(groups)}"
        if groups
        else "; all can be told apart"
    )
    return (
        f"{begin} (Friedman p = {ranking.p:.2g}, critical difference "
        f"{ranking.critical_difference:.2f}){alike}."
    )


def remarks(study: Study) -> list[str]:
    """Return what a reader must know beside the tests: failures, and budgets that were exceeded."""
    frame, lines = study.frame, []
    for solver in study.solvers:
        runs = frame[frame["solver"] == solver.name]
        for status, words in (("failed", "failed"), ("nothing feasible", "found nothing feasible")):
            n = int((runs["status"] == status).sum())
            if n:
                lines.append(f"{count_noun(n, 'run')} of {solver.name} {words}.")
        if (runs["reproducible"] == False).any():  # noqa: E712  # missing is not False
            lines.append(f"{solver.name}: the same seed may give another front.")
        excess = runs["over_budget"].max()
        if not pd.isna(excess):
            lines.append(
                f"{solver.name} used up to {int(excess):,} evaluations more than the budget."
            )
        longest = runs["over_seconds"].max()
        if not pd.isna(longest):
            lines.append(f"{solver.name} took up to {float(longest):.3g} s longer than the budget.")
    return lines
