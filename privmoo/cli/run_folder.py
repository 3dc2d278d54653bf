"""RunFolder: the results of `privmoo run`, written completely or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privmoo._util.files import write_all, write_text
from privmoo._util.folders import remove_leftovers, temporary_folder
from privmoo._util.wording import count_noun
from privmoo.cli.console import command_line, state
from privmoo.errors import CheckpointError, FileError

if TYPE_CHECKING:
    from privmoo.config import Config
    from privmoo.data.table import Table
    from privmoo.front import Front

__all__ = ["RunFolder"]

_FORM = "privmoo run 1"
_FILES = ("front.npz", "front.csv", "front.png", "front.html")
_PRIVATE = """This folder is for the publisher only: do not pass it on.

Its files describe every solution of the front, including those that protect nobody, and hold a
fingerprint of the table. Anyone who has them and a release learns more about people than its
certificate says.

You may pass on what "privmoo release" writes: the rows, the certificate, and with --report a page about
them.
"""
_MAX_BYTES = 64 * 1024 * 1024


class RunFolder:
    """The folder of one run.

    Args:
        path: The folder, which need not exist yet.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.checkpoint = self.path / "checkpoint.log"
        self._facts = self.path / "run.json"
        self._released = self.path / "released.json"

    @property
    def checkpoints(self) -> list[Path]:
        """The existing logs; a search of several families has one for each."""
        numbered_logs = self.path.glob(f"{self.checkpoint.name}.*")
        logs = [path for path in numbered_logs if path.suffix[1:].isdecimal()]
        return sorted([self.checkpoint, *logs] if self.checkpoint.exists() else logs)

    def _remove_checkpoints(self) -> None:
        for path in self.checkpoints:
            path.unlink(missing_ok=True)

    # Writing

    def begin(self, *, resume: bool, force: bool) -> None:
        """Prepare the folder for a run.

        Args:
            resume: Whether to continue an interrupted run.
            force: Whether to replace earlier results.

        Raises:
            CheckpointError: If there are earlier results or no run to resume, or if the folder cannot
                be written.
        """
        has_results, has_checkpoint = self._facts.exists(), bool(self.checkpoints)
        if resume and not has_checkpoint:
            reason = "its run is finished" if has_results else "start it without --resume"
            raise CheckpointError(f"{self.path} contains no run to resume; {reason}")
        if has_results and not force and not resume:
            raise CheckpointError(
                f"{self.path} contains the results of a run; choose another folder, or replace them "
                "with --force"
            )
        if has_checkpoint and not resume and not force:
            raise CheckpointError(
                f"{self.path} contains an interrupted run; continue it with --resume, or start again "
                "with --force"
            )
        try:
            # Fronts and checkpoints are computed from the data, so nobody else may read them.
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not resume:
                self._remove_checkpoints()
            remove_leftovers(self.path)  # of a run that was killed
        except FileExistsError:
            raise CheckpointError(f"{self.path} is a file; name a folder for the results") from None
        except OSError as error:
            raise CheckpointError(
                f"{self.path} cannot be used as a folder for results ({error.strerror})"
            ) from error

    def check_resumed(self, front: Front) -> None:
        """Raise if a front comes from fewer generations than the checkpoint contains.

        The results would replace the checkpoint, and the other generations would be lost.
        """
        from privmoo.search.log import RunLog

        generations = front.run.get("generations", 0)
        n_logged = sum(RunLog.generations_in(path) for path in self.checkpoints)
        if n_logged > generations:
            raise CheckpointError(
                f"{self.checkpoint} contains {count_noun(n_logged, 'generation')}, but the job now ends "
                f"after {generations:,}; allow more in [search], or start again with --force"
            )

    def finish(self, config: Config, front: Front, inputs: dict[str, str]) -> list[Path]:
        """Write the results, all files or none, and delete the checkpoint.

        Args:
            config: The job.
            front: Its front.
            inputs: Hashes of its input files, computed before the files were read.

        Returns:
            The files that were written.
        """
        try:
            files = self._write(config, front, inputs)
        except (OSError, FileError) as error:
            system = error if isinstance(error, OSError) else error.__cause__
            reason = getattr(system, "strerror", None) or type(system).__name__
            raise CheckpointError(
                f"{self.path}: the results cannot be written ({reason}); correct that, then continue "
                "with --resume"
            ) from error
        with suppress(OSError):  # at worst, an unneeded checkpoint stays
            self._remove_checkpoints()
        return files

    def _write(self, config: Config, front: Front, inputs: dict[str, str]) -> list[Path]:
        with temporary_folder(self.path) as folder:
            _write_views(front, folder)
            facts = {
                "format": _FORM,
                "config": os.path.relpath(config.path, self.path),
                "inputs": inputs,
                **_describe(config, front),
                "files": {file: _hash(folder / file) for file in _FILES},
            }
            text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
            writers: dict[Path, Callable[[Path], Any]] = {
                self.path / file: partial(os.replace, folder / file) for file in _FILES
            }
            writers[self.path / "PRIVATE.txt"] = lambda path: path.write_text(
                _PRIVATE, encoding="utf-8"
            )
            writers[self._facts] = lambda path: path.write_text(text, encoding="utf-8")
            # Everything here is computed from the data and is for its publisher only.
            write_all(writers, force=True, private=True)
        return list(writers)

    # Reading

    def facts(self) -> dict[str, Any]:
        """Return the content of run.json."""
        if not self._facts.is_file():
            advice = f"compute one with {command_line('run', 'JOB', '-o', self.path)}"
            if self.checkpoints:
                advice = "its run was interrupted, continue it with privmoo run --resume"
            raise CheckpointError(f"{self.path} does not contain a finished run; {advice}")
        facts: dict[str, Any] = self._json(self._facts)
        valid = (
            isinstance(facts, dict)
            and facts.get("format") == _FORM
            and isinstance(facts.get("config"), str)
            and isinstance(facts.get("inputs"), dict)
            and isinstance(facts.get("files"), dict)
        )
        if not valid:
            raise CheckpointError(
                f"{self._facts} was not written by privmoo run; run the job again"
            )
        return facts

    def load(self) -> tuple[Config, Front]:
        """Return the job and its front; raise if the data or the job has changed since the run."""
        from privmoo.config import Config
        from privmoo.front import Front

        facts = self.facts()
        if _hash(self.path / "front.npz") != facts["files"].get("front.npz"):
            raise CheckpointError(
                f"{self.path}: front.npz does not belong to run.json; run the job again with "
                f"{'--resume' if self.checkpoints else '--force'}"
            )
        job = Path(os.path.normpath(self.path.absolute() / facts["config"]))
        if not job.exists():
            raise CheckpointError(
                f"{self.path}: its job is no longer at {job}; move it back, or run it again"
            )
        config = Config.load(self.path / facts["config"])
        now = hashes(config)
        if now != facts["inputs"]:
            changed_files = sorted(
                name
                for name in {*now, *facts["inputs"]}
                if now.get(name) != facts["inputs"].get(name)
            )
            raise CheckpointError(
                f"{changed_files[0]} has changed since the run, so its solutions no longer apply; run it "
                "again"
            )
        return config, Front.load(self.path / "front.npz", problem=config.problem)

    def front(self, *, target: Path | None = None) -> Front:
        """Return the front of the run, and remember its records for messages that may show values.

        Args:
            target: The file to write; it must not be one that the run has read.
        """
        config, front = self.load()
        state.data = config.frame
        inputs = config.inputs if target is not None and target.exists() else []
        if target is not None and any(target.samefile(path) for path in inputs):
            raise FileError(f"{target}: the run has read this file; choose another name")
        return front

    # Releases

    @property
    def front_hash(self) -> str:
        """The hash of the front; the number of a solution has no meaning without it."""
        return str(self.facts()["files"].get("front.npz"))

    def releases(self) -> list[dict[str, Any]]:
        """Return the releases that were written from this run."""
        if not self._released.is_file():
            return []
        releases = self._json(self._released)
        if not isinstance(releases, list) or not all(isinstance(entry, dict) for entry in releases):
            raise CheckpointError(f"{self._released} was not written by privmoo release")
        return releases

    def notes_on_earlier_releases(self, number: int, table: Table) -> list[str]:
        """Return notes about earlier releases that matter before a solution is released.

        Args:
            number: The number of the solution.
            table: The table of the run.
        """
        from privmoo.release.certificate import earlier_releases

        current = self.front_hash
        releases = self.releases()
        numbers = {str(e.get("solution")) for e in releases if e.get("front") == current}
        numbers.discard(str(number))
        sources = [f"solution {', '.join(sorted(numbers))} of this run"] if numbers else []
        if any(entry.get("front") != current for entry in releases):
            # The numbers of another front have no meaning here.
            sources.append("a solution of an earlier run in this folder")
        if not sources:
            return []
        return [earlier_releases(sources), *_notes_on_similar_tables(releases, table)]

    @staticmethod
    def description_of(table: Table) -> dict[str, Any]:
        """Return the facts to store about a table whose release was written.

        It is as private as the fingerprint in front.npz: only the publisher can read it.
        """
        from privmoo.data.table_sketch import TableSketch

        return {"content": table.content, **TableSketch.of(table).to_json()}

    def remember_release(self, entry: dict[str, Any]) -> None:
        """Add a release to the list of written releases."""
        text = json.dumps([*self.releases(), entry], indent=2, ensure_ascii=False) + "\n"
        write_text(self._released, text, force=True, private=True)

    def _json(self, path: Path) -> Any:
        try:
            if path.stat().st_size > _MAX_BYTES:
                raise ValueError
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            raise CheckpointError(
                f"{path} cannot be read or is damaged; run the job again"
            ) from None


def _notes_on_similar_tables(releases: list[dict[str, Any]], table: Table) -> list[str]:
    """Return a warning if another table with nearly the same records was released."""
    from privmoo.data.table_sketch import TableSketch
    from privmoo.release.certificate import release_of_similar_table

    descriptions = [e["table"] for e in releases if isinstance(e.get("table"), dict)]
    others = [TableSketch.from_json(d) for d in descriptions if d.get("content") != table.content]
    if not others:
        return []
    sketch = TableSketch.of(table)
    alike = any(like is not None and sketch.resembles(like) for like in others)
    return [release_of_similar_table()] if alike else []


def hashes(config: Config) -> dict[str, str]:
    """Return the SHA-256 of every file that decides the result, by its path relative to the job."""
    return {
        os.path.relpath(path, config.path.parent): _hash(path)
        for path in dict.fromkeys(config.inputs)
    }


def _describe(config: Config, front: Front) -> dict[str, Any]:
    """Return the problem, the search and the result of a run as plain data."""
    from privmoo._util.packing import plain

    return {
        "problem": {"name": config.problem_name, "parameters": plain(config.problem_parameters)},
        "search": config.search.to_dict(),
        "solutions": len(front),
        "run": plain(front.run),
    }


def _write_views(front: Front, folder: Path) -> None:
    """Write a front with its table, picture and page."""
    import matplotlib

    matplotlib.use("Agg")  # no window, wherever it runs
    import matplotlib.pyplot as plt

    front.save(folder / "front.npz")
    front.to_frame().to_csv(folder / "front.csv")
    front.plot()  # one picture or several, depending on the number of objectives
    figure = plt.gcf()
    figure.savefig(folder / "front.png", dpi=130, bbox_inches="tight")
    plt.close(figure)
    front.report(folder / "front.html")


def _hash(path: Path) -> str:
    if path.exists() and not path.is_file():  # a pipe could keep us waiting forever
        raise CheckpointError(f"{path} is not a regular file")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise CheckpointError(f"{path}: no such file") from error
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read ({error.strerror})") from error
