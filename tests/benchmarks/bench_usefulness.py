"""Is a lower loss real usefulness? Loss, query error and F1 of the picks of every family on Adult.

Run by `make bench`. The learners predict the income from seven published quasi-identifiers.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from candidates import machine

import privmoo as pm
from privmoo.release.release import ReleaseWarning

K = (5, 10, 25)
LEARNERS = ["DT", "LR", "RF"]


def adult_with_a_target() -> pm.Table:
    """Adult with seven quasi-identifiers, and the income to predict."""
    whole = pm.datasets.adult("dewri-kl")
    qis = {qi.name: qi.hierarchy for qi in whole.qis if qi.name != "income"}
    return pm.Table(whole.frame, quasi_identifiers=qis, sensitive="occupation", target="income")


def picks_for(table: pm.Table, k: int, fronts: dict[str, pm.Front]) -> dict[str, pm.Release]:
    """Return the release with the least loss at k, for each way to publish."""
    releases = {name: front.where(min_k=k).best("loss").release() for name, front in fronts.items()}
    releases["Mondrian, median"] = pm.make_release(table, pm.baselines.mondrian(table, k))
    greedy = pm.baselines.mondrian(table, k, split="loss")
    releases["Mondrian, loss"] = pm.make_release(table, greedy)
    return releases


def search(table: pm.Table, seed: int) -> dict[str, pm.Front]:
    """Return the fronts of the families; levels and cuts may leave out a tenth of the records."""
    problems = {
        "levels": pm.problems.Levels(table, max_suppression=0.1),
        "cuts": pm.problems.BudgetSuppression(table, max_suppression=0.1),
        "regions": pm.problems.Regions(table),
        "regions, tight": pm.problems.Regions(table, publish="tight"),
    }
    return {
        name: pm.optimize(problem, seed=seed, progress=False) for name, problem in problems.items()
    }


def main() -> None:
    """Search the families, and print a line for every release."""
    print(f"# Usefulness\n\n{machine()}\n")
    warnings.simplefilter("ignore", ReleaseWarning)
    table = adult_with_a_target()
    fronts = search(table, seed=1)
    print("## Loss, query error and F1 on original rows, Adult with seven quasi-identifiers\n")
    print("| k | method | left out | loss | query error | F1 " + " | F1 ".join(LEARNERS) + " |")
    print("| --- | --- | --- | --- | --- |" + " --- |" * len(LEARNERS))
    for k in K:
        releases = picks_for(table, k, fronts)
        facts = pm.evaluate(releases, table=table, queries=pm.QueryError()).set_index("method")
        scores = pm.learning.scores(table, releases, models=LEARNERS, repeats=3, progress=False)
        f1 = scores[scores.tested_on == "original"].groupby(["method", "model"]).f1.mean()
        for name in ("original", *releases):
            loss = releases[name].certificate.utility["loss"] if name in releases else 0.0
            row = facts.loc[name]
            cells = [f"{int(row.suppressed):,}", f"{loss:.1%}", f"{row.query_error:.3f}"]
            cells += [f"{f1[name, learner]:.3f}" for learner in LEARNERS]
            print(f"| {k} | {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
