"""The main job on bundled data: `python -m privmoo.demo`, or `make demo`.

Computes the trade-off for the Adult census records, picks the most private solution within a limit of
information loss, and writes the release with its certificate, the picture of the front and a report.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; returns the exit code: 2 after an error, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="privmoo.demo", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--generations", type=int, default=250, help="of 200 candidates each")
    parser.add_argument(
        "--max-loss", type=float, default=0.3, help="accepted information loss, 0 to 1"
    )
    parser.add_argument("--seed", type=int, default=7, help="of the search")
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the results")
    given = parser.parse_args(arguments)
    if not 0 <= given.max_loss <= 1:
        parser.error(f"--max-loss: must be from 0 to 1, got {given.max_loss:g}")
    try:
        return _demonstrate(given)
    except KeyboardInterrupt:
        print("\nprivmoo: stopped", file=sys.stderr)
        return 130


def _demonstrate(given: argparse.Namespace) -> int:
    print("Loading privmoo and the Adult census data (the first time, kernels are compiled) ...")
    from privmoo.errors import PrivmooError

    try:
        # Before the search: nobody wants to learn after it that there is no place for its results.
        given.out.mkdir(parents=True, exist_ok=True)
        files = _job(given)
    except PrivmooError as error:
        print(f"privmoo: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        reason = error.strerror or type(error).__name__
        print(f"privmoo: {given.out}: cannot be written in ({reason})", file=sys.stderr)
        return 2
    print("\nWritten:")
    for path in files:
        print(f"  {path}  ({path.stat().st_size:,} bytes)")
    return 0


def _job(given: argparse.Namespace) -> list[Path]:
    import matplotlib.pyplot as plt

    import privmoo as pm

    table = pm.datasets.adult("dewri")
    print(f"{table}\n\nAs it is, {_unique(table):.0%} of these people are alone in their group.\n")
    problem = pm.problems.BudgetSuppression(table, max_suppression=0.1)
    front = pm.optimize(problem, budget=given.generations, seed=given.seed)
    print(f"\n{front}\n")
    answer = front.best_within(max_loss=given.max_loss, maximise="k")
    print(f"Question: how private, if at most {given.max_loss:.0%} of the information may be lost?")
    print(f"Answer:   {answer}\n")
    choice = front.where(max_loss=given.max_loss).best("k")
    print(choice.explain())
    # Without a seed: whoever knows the seed of the search must not know the order of the rows.
    release = choice.release()
    files = release.write(given.out / "adult-anonymous.csv", force=True)
    picture, report = given.out / "front.png", given.out / "report.html"
    figure = front.plot(pick=choice).figure
    figure.savefig(picture, dpi=130, bbox_inches="tight")
    plt.close(figure)
    front.report(report, pick=choice, release=release, force=True)
    front.save(given.out / "front.npz", force=True)
    return [*files, picture, report, given.out / "front.npz"]


def _unique(table: object) -> float:
    import privmoo as pm

    return pm.measures.Uniqueness()(pm.group(table))  # type: ignore[arg-type]


if __name__ == "__main__":
    raise SystemExit(main())
