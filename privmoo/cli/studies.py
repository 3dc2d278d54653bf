"""What `privmoo compare` leaves in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privmoo.comparison import Study

__all__ = ["write_study"]


def write_study(study: Study, folder: Path, *, force: bool) -> list[Path]:
    """Write the study, its tables and pictures: all files or none."""
    import matplotlib

    matplotlib.use("Agg")  # no window, wherever it runs
    import matplotlib.pyplot as plt

    from privmoo.writing import write_all

    def picture(path: Path) -> None:
        figure, axes = plt.subplots(1, 2, figsize=(13, 4.5), layout="constrained")
        study.plot_convergence(ax=axes[0])
        study.plot_indicator(ax=axes[1])
        figure.savefig(path, dpi=130)
        plt.close(figure)

    writers = {
        folder / "verdict.txt": lambda path: path.write_text(study.verdict() + "\n", "utf-8"),
        folder / "table.md": lambda path: path.write_text(study.to_markdown(), "utf-8"),
        folder / "table.tex": lambda path: path.write_text(study.to_latex(), "utf-8"),
        folder / "runs.csv": lambda path: study.frame.to_csv(path, index=False),
        folder / "study.png": picture,
        folder / "study.zip": lambda path: study.save(path, force=True),
    }
    write_all(writers, force=force)
    return list(writers)
