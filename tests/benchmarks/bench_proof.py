"""Proven fronts of cuts: what a proof costs, and what is proven when the time is up.

Run by `make bench`.
"""

from __future__ import annotations

import sys
import time

from bench_microaggregation import TO_BEAT, K, casc
from candidates import machine

import privmoo as pm
from privmoo.exact import squared_error_bound
from privmoo.problems import Cuts, ZeroSuppression

COLUMNS = ["age", "race", "sex", "marital-status", "workclass", "income"]
SECONDS = 200.0
KS = 5, 10, 25, 100


def adult(names: list[str] | None, step: int) -> pm.Table:
    whole = pm.datasets.adult("dewri", age_step=step)
    if names is None:
        return whole
    hierarchies = {qi.name: qi.hierarchy for qi in whole.qis}
    return pm.Table(whole.frame, quasi_identifiers={name: hierarchies[name] for name in names})


def problem_of(table: pm.Table, limit: float) -> Cuts:
    return Cuts(table, suppression=pm.Budget(limit) if limit else None, threads=1)


def growth() -> None:
    print("\n## Adult with 4, 5 and 6 columns: every k, CPU seconds, one thread\n")
    print("| columns | age by | limit | cuts | visited | CPU s | proven | solutions |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for limit in (0.0, 0.1):
        for step in (10, 5):
            for n in (4, 5, 6):
                problem = problem_of(adult(COLUMNS[:n], step), limit)
                begin = time.process_time()
                front = pm.exact_front(problem, seconds=SECONDS, progress=False)
                seconds = time.process_time() - begin
                run = front.run
                print(
                    f"| {n} | {step} | {limit:.0%} | {run['nodes']:,} | {run['visited']:,} | "
                    f"{seconds:.1f} | {'yes' if front.proven else 'no'} | {len(front)} |",
                    flush=True,
                )


def nine_columns() -> None:
    """Every k at once without suppression; one k at a time with it."""
    table = adult(None, 5)
    whole = problem_of(table, 0.0)
    found = search(whole)
    begin = time.process_time()
    front = pm.exact_front(whole, start=found, seconds=SECONDS, progress=False)
    seconds = time.process_time() - begin
    print("\n## Adult with nine columns, age by 5\n")
    print("| limit | k | NSGA-II, 20,000 evaluations | best found | no cut loses less | CPU s |")
    print("| --- | --- | --- | --- | --- | --- |")
    gap = front.gap().to_frame()
    for k in KS:
        row = gap[gap.index >= k].iloc[0]
        report("0%, every k", k, least(found, "k", k), row.found, row.possible, seconds)
    found = search(problem_of(table, 0.1))
    for k in KS:
        problem = Cuts(
            table,
            objectives=[pm.GeneralLoss()],
            constraints=[pm.KAnonymity() >= k],
            suppression=pm.Budget(0.1),
            threads=1,
        )
        start = pm.Front.of(problem, found.where(min_k=k).X, stairs=True)
        begin = time.process_time()
        front = pm.exact_front(problem, start=start, seconds=SECONDS, progress=False)
        seconds = time.process_time() - begin
        best = front[0].loss
        bound = best if front.proven else front.run["bound"][0][1]
        report("10%", k, least(found, "k", k), best, bound, seconds)
    weighted = ZeroSuppression(table, threads=1)
    found = search(weighted)
    begin = time.process_time()
    front = pm.exact_front(weighted, start=found, seconds=SECONDS, progress=False)
    seconds = time.process_time() - begin
    gap = front.gap().to_frame()
    for k in (*KS, 1000):
        row = gap[gap.index >= k].iloc[0]
        reached = least(found, "weighted_k", k)
        report("0%, every weighted-k", k, reached, row.found, row.possible, seconds)


def search(problem: Cuts) -> pm.Front:
    return pm.optimize(problem, None, pm.Evaluations(20_000), seed=1, progress=False)


def least(front: pm.Front, privacy: str, level: float) -> float:
    return float(front.column("loss")[front.column(privacy) >= level].min())


def report(what: str, k: float, reached: float, best: float, bound: float, seconds: float) -> None:
    cells = f"{reached:.2%} | {best:.2%} | {'proven' if best - bound < 1e-9 else f'{bound:.2%}'}"
    print(f"| {what} | {k:,} | {cells} | {seconds:.0f} |", flush=True)


def microaggregation() -> None:
    print("\n## Microaggregation: no clusters have less, 100·SSE/SST\n")
    print("| table | k | bound | CPU s |\n| --- | --- | --- | --- |")
    for name in TO_BEAT:
        for k in K:
            table = casc(name)
            begin = time.process_time()
            bound = squared_error_bound(table, k)
            print(f"| {name} | {k} | {100 * bound:.2f} | {time.process_time() - begin:.1f} |")


if __name__ == "__main__":
    print(f"\n# Benchmarks of proof\n\n{machine()}")
    parts = {"growth": growth, "nine": nine_columns, "clusters": microaggregation}
    for name, part in parts.items():
        if len(sys.argv) < 2 or name in sys.argv:
            part()
