"""privmoo demo: the main job on bundled data.

Computes the trade-off for the Adult census records over every family of recodings, picks the solution that
loses the least among those that are private enough, and writes the release with its certificate and a page
about it, and for the publisher the picture of the front, a report and the front itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from privmoo.cli.command import Command
from privmoo.cli.console import say
from privmoo.cli.options import Results

__all__ = ["DemoFiles", "command", "demonstrate"]

_FAMILIES = {
    "levels": "Every column has one level of its hierarchy.",
    "cuts": "Every column is cut into ranges, the same ones for everybody.",
    "regions": "Ranges differ from region to region: a value may be in a narrow range here and in a wide "
    "one there.",
}


def _demo(
    out: Results = Path("demo"),
    generations: Annotated[
        int,
        typer.Option(
            min=1, help="Generations for cuts; regions take longer and get one for every 60."
        ),
    ] = 60,
    min_k: Annotated[
        int, typer.Option(min=2, help="The smallest group of people who look the same.")
    ] = 5,
    max_loss: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="The accepted information loss, 0 to 1; picks the largest k within it.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the search.")] = 7,
) -> None:
    """Anonymise bundled census records from start to finish."""
    say("Loading privmoo and the Adult census data (the first time, kernels are compiled) ...")
    files = demonstrate(out, generations=generations, min_k=min_k, max_loss=max_loss, seed=seed)
    for title, paths in (
        ("Written, to pass on:", files.public),
        (
            "Written, for the publisher only:",
            files.private,
        ),
    ):
        say(f"\n{title}")
        for path in paths:
            say(f"  {path}  ({path.stat().st_size:,} bytes)")


class DemoFiles(NamedTuple):
    """The files that the demonstration wrote: those to pass on, and those to keep."""

    public: list[Path]
    private: list[Path]


def demonstrate(
    out: Path,
    *,
    generations: int,
    min_k: int = 5,
    max_loss: float | None = None,
    seed: int,
) -> DemoFiles:
    """Run the demonstration and return the files that it wrote.

    Args:
        out: The folder for the results.
        generations: The number of generations for cuts; regions get one for every 60.
        min_k: The smallest accepted k; the pick loses the least among solutions that reach it.
        max_loss: The accepted information loss, 0 to 1; if given, the pick has the largest k within it.
        seed: The seed of the search.
    """
    # This is checked before the search, so that nobody searches for results that cannot be written.
    out.mkdir(parents=True, exist_ok=True)

    import matplotlib

    matplotlib.use("Agg")  # no window, wherever it runs
    import matplotlib.pyplot as plt

    from privmoo._util.files import replacing
    from privmoo.datasets import adult
    from privmoo.evaluation.engine import group
    from privmoo.families import consistency_in_words, trade_off
    from privmoo.measures import Uniqueness

    table = adult("dewri")
    unique = Uniqueness()(group(table))
    say(f"{table}\n\nWithout any change, {unique:.0%} of these people are alone in their group.\n")
    budget = {"cuts": generations, "regions": max(1, generations // 60)}
    front = trade_off(table, max_suppression=0.05, budget=budget, seed=seed)
    say(f"\n{front}\n\n{consistency_in_words(front)}\n\n{front.choices()}\n")
    if max_loss is None:
        say(f"Question: how much must be lost if everybody is to look like {min_k - 1} others?")
        say(f"Answer:   {front.cheapest_with(min_k=min_k)}\n")
        choice = front.where(min_k=min_k).best("loss")
    else:
        say(
            f"Question: how private can it be if at most {max_loss:.0%} of the information may be lost?"
        )
        say(f"Answer:   {front.best_within(max_loss=max_loss, maximise='k')}\n")
        choice = front.where(max_loss=max_loss).best("k")
    say(f"The pick belongs to the family {choice.family!r}. {_FAMILIES[choice.family]}\n")
    say(choice.explain())
    # No seed is passed: the seed of the search must not reveal the order of the rows.
    release = choice.release()
    files = release.write(out / "adult-anonymous.csv", force=True)
    page = out / "adult-anonymous.html"
    front.report(page, pick=choice, release=release, public=True, force=True)
    picture, report, front_file = out / "front.png", out / "report.html", out / "front.npz"
    figure = front.plot(pick=choice).figure
    with replacing(picture, force=True, private=True) as temporary:
        figure.savefig(temporary, dpi=130, bbox_inches="tight")
    plt.close(figure)
    front.report(report, pick=choice, release=release, force=True)
    front.save(front_file, force=True)
    return DemoFiles([*files, page], [picture, report, front_file])


command = Command(_demo, order=90)
