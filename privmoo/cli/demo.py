"""The main job on bundled data, which `privmoo demo` runs.

Computes the trade-off for the Adult census records, picks the most private solution within a limit of
information loss, and writes the release with its certificate, the picture of the front and a report.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["demonstrate"]


def demonstrate(out: Path, *, generations: int, max_loss: float, seed: int) -> list[Path]:
    """Run the demonstration, and give the files that it wrote.

    Args:
        out: The folder to write in.
        generations: Of 200 candidates each.
        max_loss: The accepted information loss, 0 to 1.
        seed: Of the search.
    """
    # Before the search: nobody wants to learn after it that there is no place for its results.
    out.mkdir(parents=True, exist_ok=True)

    import matplotlib

    matplotlib.use("Agg")  # no window, wherever it runs
    import matplotlib.pyplot as plt

    import privmoo as pm

    table = pm.datasets.adult("dewri")
    alone = pm.measures.Uniqueness()(pm.group(table))
    print(f"{table}\n\nAs it is, {alone:.0%} of these people are alone in their group.\n")
    problem = pm.problems.BudgetSuppression(table, max_suppression=0.1)
    front = pm.optimize(problem, budget=generations, seed=seed)
    print(f"\n{front}\n")
    answer = front.best_within(max_loss=max_loss, maximise="k")
    print(f"Question: how private, if at most {max_loss:.0%} of the information may be lost?")
    print(f"Answer:   {answer}\n")
    choice = front.where(max_loss=max_loss).best("k")
    print(choice.explain())
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
