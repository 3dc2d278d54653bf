"""How fast the error of counting queries is measured, against a plain pandas version.

Run by `make bench`.
"""

from __future__ import annotations

import pandas as pd
from candidates import KINDS, candidates, fastest, machine

import privmoo as pm
from privmoo.evaluation.engine import Engine
from privmoo.measures import QueryError


def with_pandas(table: pm.Table, measure: QueryError, population: pm.recodings.Candidates) -> None:
    """Answer every query by a mask over all records of every candidate."""
    rows = table.tuples[table.row_tuple]
    assert population.blocks is not None
    for blocks in population.blocks:
        begin, shares = 0, {}
        for j, qi in enumerate(table.qis):
            shares[j] = pd.Series(blocks[begin : begin + qi.n_leaves])
            begin += qi.n_leaves
        estimates = []
        for query in measure.workload(table).conditions:
            answer = pd.Series(1.0, index=range(len(rows)))
            for j, leaves in query.items():
                share = pd.Series(leaves.astype(float)).groupby(shares[j]).transform("mean")
                answer = answer * share.to_numpy()[rows[:, j]]
            estimates.append(answer.sum())
        measure.error(table, pd.Series(estimates).to_numpy())


def compare(table: pm.Table, measure: QueryError, kind: str) -> None:
    population = candidates(table, kind, 20)
    engine = Engine(table, needs=measure.needs, threads=1)
    ours = fastest(lambda: engine.map(population, lambda _, after: measure.values(after))) / 20
    slow = fastest(lambda: with_pandas(table, measure, population[:2]), rounds=1) / 2
    print(f"{kind:12} {1 / ours:8.0f} candidates per second, {slow / ours:8.0f} times pandas")


def main() -> None:
    print(machine())
    table, measure = pm.datasets.adult("dewri"), QueryError()
    for kind in KINDS:
        compare(table, measure, kind)


if __name__ == "__main__":
    main()
