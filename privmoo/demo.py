"""The main job on bundled data: `python -m privmoo.demo`, or `make demo`.

Computes the trade-off for the Adult census records, picks the most private solution within a limit of
information loss, and writes the release with its certificate, the picture of the front and a report.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="privmoo.demo", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--generations", type=int, default=250, help="of 200 candidates each")
    parser.add_argument(
        "--max-loss", type=float, default=0.3, help="accepted information loss, 0 to 1"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the results")
    given = parser.parse_args(arguments)

    print("Loading privmoo and the Adult census data (the first time, kernels are compiled) ...")
    import matplotlib.pyplot as plt

    import privmoo as pm
    from privmoo.errors import PrivmooError
    from privmoo.report import write_report

    try:
        table = pm.datasets.adult("dewri")
        print(
            f"{table}\n\nAs it is, {_unique(table):.0%} of these people are alone in their group.\n"
        )
        problem = pm.problems.BudgetSuppression(table, max_suppression=0.1)
        front = pm.optimize(problem, budget=given.generations, seed=given.seed)
        print(f"\n{front}\n")
        answer = front.best_within(max_loss=given.max_loss, maximise="k")
        print(
            f"Question: how private, if at most {given.max_loss:.0%} of the information may be lost?"
        )
        print(f"Answer:   {answer}\n")
        choice = front.where(max_loss=given.max_loss).best("k")
        print(choice.explain())
        release = choice.release(seed=given.seed)
        given.out.mkdir(parents=True, exist_ok=True)
        files = release.write(given.out / "adult-anonymous.csv", force=True)
        picture = given.out / "front.png"
        figure = front.plot(pick=choice).figure
        figure.savefig(picture, dpi=130, bbox_inches="tight")
        plt.close(figure)
        report = given.out / "report.html"
        write_report(front, choice, release, report, force=True)
        front.save(given.out / "front.npz", force=True)
    except PrivmooError as error:
        print(f"privmoo: {error}")
        return 2
    print("\nWritten:")
    for path in (*files, picture, report, given.out / "front.npz"):
        print(f"  {path}  ({path.stat().st_size:,} bytes)")
    return 0


def _unique(table: object) -> float:
    import privmoo as pm

    return pm.measures.Uniqueness()(pm.group(table))  # type: ignore[arg-type]


if __name__ == "__main__":
    raise SystemExit(main())
