"""privmoo demo: the main job on bundled data.

Computes the trade-off for the Adult census records, picks the most private solution within a limit of
information loss, and writes the release with its certificate, the picture of the front and a report.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import say
from privmoo.cli.options import Results

__all__ = ["command", "demonstrate"]


def _demo(
    out: Results = Path("demo"),
    generations: Annotated[
        int, typer.Option(min=1, help="The number of generations of 200 candidates.")
    ] = 250,
    max_loss: Annotated[
        float, typer.Option(min=0, max=1, help="The accepted information loss, 0 to 1.")
    ] = 0.3,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the search.")] = 7,
) -> None:
    """Anonymise bundled census records from start to end."""
    say("Loading privmoo and the Adult census data (the first time, kernels are compiled) ...")
    files = demonstrate(out, generations=generations, max_loss=max_loss, seed=seed)
    say("\nWritten:")
    for path in files:
        say(f"  {path}  ({path.stat().st_size:,} bytes)")


def demonstrate(out: Path, *, generations: int, max_loss: float, seed: int) -> list[Path]:
    """Run the demonstration and return the files that it has written.

    Args:
        out: The folder for the results.
        generations: The number of generations of 200 candidates.
        max_loss: The accepted information loss, 0 to 1.
        seed: The seed of the search.
    """
    # Before the search: nobody wants to learn after it that there is no place for its results.
    out.mkdir(parents=True, exist_ok=True)

    import matplotlib

    matplotlib.use("Agg")  # no window, wherever it runs
    import matplotlib.pyplot as plt

    from privmoo.datasets import adult
    from privmoo.evaluation.engine import group
    from privmoo.measures import Uniqueness
    from privmoo.problems import BudgetSuppression
    from privmoo.search import optimize

    table = adult("dewri")
    unique = Uniqueness()(group(table))
    say(f"{table}\n\nAs it is, {unique:.0%} of these people are alone in their group.\n")
    problem = BudgetSuppression(table, max_suppression=0.1)
    front = optimize(problem, budget=generations, seed=seed)
    say(f"\n{front}\n")
    answer = front.best_within(max_loss=max_loss, maximise="k")
    say(f"Question: how private, if at most {max_loss:.0%} of the information may be lost?")
    say(f"Answer:   {answer}\n")
    choice = front.where(max_loss=max_loss).best("k")
    say(choice.explain())
    # Without a seed: whoever knows the seed of the search must not know the order of the rows.
    release = choice.release()
    files = release.write(out / "adult-anonymous.csv", force=True)
    picture, report = out / "front.png", out / "report.html"
    figure = front.plot(pick=choice).figure
    figure.savefig(picture, dpi=130, bbox_inches="tight")
    plt.close(figure)
    front.report(report, pick=choice, release=release, force=True)
    front.save(out / "front.npz", force=True)
    return [*files, picture, report, out / "front.npz"]


command = Command(_demo, order=90)
