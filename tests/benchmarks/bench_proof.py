"""Proven fronts of cuts: what a proof costs, and what is proven when the time is up.

Run by `make bench`.
"""

from __future__ import annotations

import sys
import time

from candidates import machine

import privmoo as pm
from privmoo.problems import Cuts

COLUMNS = ["age", "race", "sex", "marital-status", "workclass", "income"]
SECONDS = 200.0


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
    print("\n## Adult with nine columns, age by 5: what is proven when the time is up\n")
    print("| limit | k | NSGA-II, 20,000 evaluations | proven: no cut loses less than | CPU s |")
    print("| --- | --- | --- | --- | --- |")
    for limit in (0.0, 0.1):
        problem = problem_of(adult(None, 5), limit)
        found = pm.optimize(problem, None, pm.Evaluations(20_000), seed=1, progress=False)
        begin = time.process_time()
        front = pm.exact_front(problem, start=found, seconds=SECONDS, progress=False)
        seconds = time.process_time() - begin
        table = front.gap().to_frame()
        for k in (5, 10, 25, 100):
            row = table[table.index >= k].iloc[0]
            print(
                f"| {limit:.0%} | {k} | {row.found:.2%} | {row.possible:.2%} | {seconds:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    print(f"\n# Benchmarks of proof\n\n{machine()}")
    if "nine" not in sys.argv:
        growth()
    if "growth" not in sys.argv:
        nine_columns()
