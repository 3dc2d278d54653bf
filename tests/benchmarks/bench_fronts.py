"""Fronts against what special programs reach: ours and the figure to beat, for three seeds.

python tests/benchmarks/bench_fronts.py [name ...]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.scenery.goals import GOALS, NEEDS


def main(names: list[str]) -> None:
    """Run the searches and print a line for every figure."""
    for name in names or GOALS:
        if name in NEEDS and not NEEDS[name].exists():
            print(f"{name}: the data are not here")
            continue
        for seed in (1, 2, 3):
            began = time.process_time()
            for goal in GOALS[name](seed):
                sign = ">=" if goal.more_is_better else "<="
                told = "reached" if goal.reached(0.0) else "missed"
                print(
                    f"{goal.what:34} seed {seed}  ours {goal.ours:.4f}  to beat {sign} "
                    f"{goal.to_beat:.4f}  {told}  {time.process_time() - began:.0f} s of CPU",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
