"""A front to look around in: in a notebook, or in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from privmoo.explorer.widget import Explorer
    from privmoo.front.front import Front
    from privmoo.front.solution import Solution
    from privmoo.release import Release

__all__ = ["Explorable"]


class Explorable:
    """What lets a front be explored; `privmoo.explore` takes several at once."""

    def explore(self, pick: Solution | None = None) -> Explorer:
        """The explorer, in JupyterLab, Notebook 7 and VS Code: linked views of all solutions.

        What is done there can be read and set in Python: see `privmoo.explorer.widget.Explorer`.

        Args:
            pick: A solution to mark.
        """
        from privmoo.explorer.widget import explore

        return explore(cast("Front", self), pick=pick)

    def report(
        self,
        path: str | Path,
        *,
        pick: Solution | None = None,
        release: Release | None = None,
        force: bool = False,
    ) -> None:
        """Write the explorer as one HTML file that loads nothing from anywhere.

        Of the records it holds rows of the pick only, and those only if the audited k of its release
        is at least 2; of all other solutions labels and counts. See `privmoo.explorer.write_report`.

        Args:
            path: The file.
            pick: The solution that was chosen: its rows and certificate go into the file.
            release: The release of the pick, if it was made already; else one is made.
            force: Whether a file that exists is replaced.
        """
        from privmoo.explorer.page import write_report

        write_report(cast("Front", self), path, pick=pick, release=release, force=force)
