"""RunFolder: what `privmoo run` leaves in a folder, whole or not at all, and who reads it again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privmoo._util.files import write_all, write_text
from privmoo.errors import CheckpointError, ReleaseError

if TYPE_CHECKING:
    from privmoo.config import Config
    from privmoo.front import Front

__all__ = ["RunFolder"]

_FORM = "privmoo run 1"
_FILES = ("front.npz", "front.csv", "front.png", "front.html")
_MAX_BYTES = 64 * 1024 * 1024


class RunFolder:
    """The folder of one run.

    Args:
        path: Where it is, or will be.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.checkpoint = self.path / "checkpoint.log"
        self._facts = self.path / "run.json"
        self._released = self.path / "released.json"

    # Writing

    def begin(self, *, resume: bool, force: bool) -> None:
        """Make the folder ready for a run, or say why it cannot be."""
        finished, begun = self._facts.exists(), self.checkpoint.exists()
        if resume and not begun:
            what = "it is finished" if finished else "there is none"
            raise CheckpointError(f"{self.path}: has no run to resume, {what}")
        if finished and not force and not resume:
            raise CheckpointError(
                f"{self.path}: has the results of a run; choose another folder, or replace them with "
                "--force"
            )
        if begun and not resume and not force:
            raise CheckpointError(
                f"{self.path}: has a run that was interrupted; continue it with --resume, or begin "
                "anew with --force"
            )
        try:
            # Fronts and checkpoints are made from the data: nobody else's to read.
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if begun and not resume:
                self.checkpoint.unlink()
            for left in self.path.glob(".new-*"):  # of a run that was killed
                shutil.rmtree(left, ignore_errors=True)
        except OSError as error:
            raise CheckpointError(
                f"{self.path}: is no folder to write in ({error.strerror})"
            ) from error

    def finish(self, config: Config, front: Front, inputs: dict[str, str]) -> list[Path]:
        """Write the results: all files or none, then the checkpoint goes.

        Args:
            config: The job.
            front: Its front.
            inputs: Hashes of its files as they were before they were read.
        """
        try:
            files = self._write(config, front, inputs)
        except (OSError, ReleaseError) as error:
            system = error if isinstance(error, OSError) else error.__cause__
            reason = getattr(system, "strerror", None) or type(system).__name__
            raise CheckpointError(
                f"{self.path}: the results cannot be written ({reason}); mend that, then continue with "
                "--resume"
            ) from error
        with suppress(OSError):  # what is left is a checkpoint too many
            self.checkpoint.unlink(missing_ok=True)
        return files

    def _write(self, config: Config, front: Front, inputs: dict[str, str]) -> list[Path]:
        with tempfile.TemporaryDirectory(dir=self.path, prefix=".new-") as name:
            made = Path(name)
            _make(front, made)
            facts = {
                "format": _FORM,
                "config": os.path.relpath(config.path, self.path),
                "inputs": inputs,
                **facts_of(config, front),
                "files": {file: _hash(made / file) for file in _FILES},
            }
            text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
            writers: dict[Path, Callable[[Path], Any]] = {
                self.path / file: partial(os.replace, made / file) for file in _FILES
            }
            writers[self._facts] = lambda path: path.write_text(text, encoding="utf-8")
            # All of it is made from the data, and for its publisher only.
            write_all(writers, force=True, private=True)
        return list(writers)

    # Reading

    def facts(self) -> dict[str, Any]:
        """What run.json says."""
        if not self._facts.is_file():
            begun = self.checkpoint.exists()
            hint = (
                "; its run was interrupted, continue it with privmoo run --resume" if begun else ""
            )
            raise CheckpointError(f"{self.path}: is no folder of a finished run{hint}")
        facts = self._json(self._facts)
        good = (
            isinstance(facts, dict)
            and facts.get("format") == _FORM
            and isinstance(facts.get("config"), str)
            and isinstance(facts.get("inputs"), dict)
            and isinstance(facts.get("files"), dict)
        )
        if not good:
            raise CheckpointError(f"{self._facts}: is not what privmoo run writes")
        found: dict[str, Any] = facts
        return found

    def load(self) -> tuple[Config, Front]:
        """The job and its front, on the same data as then."""
        from privmoo.config import Config
        from privmoo.front import Front

        facts = self.facts()
        if _hash(self.path / "front.npz") != facts["files"].get("front.npz"):
            raise CheckpointError(
                f"{self.path}: front.npz is not the one of run.json; run it again with "
                f"{'--resume' if self.checkpoint.exists() else '--force'}"
            )
        job = Path(os.path.normpath(self.path.absolute() / facts["config"]))
        if not job.exists():
            raise CheckpointError(
                f"{self.path}: its job is not at {job} any more; put both where they were, or run it again"
            )
        config = Config.load(self.path / facts["config"])
        now = hashes(config)
        if now != facts["inputs"]:
            changed = sorted(
                name
                for name in {*now, *facts["inputs"]}
                if now.get(name) != facts["inputs"].get(name)
            )
            raise CheckpointError(
                f"{changed[0]}: has changed since the run, so its solutions no longer fit; run it again"
            )
        return config, Front.load(self.path / "front.npz", problem=config.problem)

    # What was released

    @property
    def front_hash(self) -> str:
        """Which front it is, so that the number of a solution means one solution."""
        return str(self.facts()["files"].get("front.npz"))

    def released(self) -> list[dict[str, Any]]:
        """The releases that were written from this run."""
        if not self._released.is_file():
            return []
        found = self._json(self._released)
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            raise CheckpointError(f"{self._released}: is not what privmoo release writes")
        return found

    def remember(self, entry: dict[str, Any]) -> None:
        """Add a release to those that were written."""
        text = json.dumps([*self.released(), entry], indent=2, ensure_ascii=False) + "\n"
        write_text(self._released, text, force=True)

    def _json(self, path: Path) -> Any:
        try:
            if path.stat().st_size > _MAX_BYTES:
                raise ValueError
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            raise CheckpointError(f"{path}: cannot be read, or is damaged") from None


def hashes(config: Config) -> dict[str, str]:
    """SHA-256 of every file that decides the result, by its name beside the job's."""
    return {
        os.path.relpath(path, config.path.parent): _hash(path)
        for path in dict.fromkeys(config.inputs)
    }


def facts_of(config: Config, front: Front) -> dict[str, Any]:
    """What a run was, as plain data."""
    from privmoo._util.packing import plain

    return {
        "problem": {"name": config.problem_name, "parameters": plain(config.problem_parameters)},
        "search": config.search.to_dict(),
        "solutions": len(front),
        "run": plain(front.run),
    }


def _make(front: Front, folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")  # no window, wherever it runs
    import matplotlib.pyplot as plt

    front.save(folder / "front.npz")
    front.to_frame().to_csv(folder / "front.csv")
    front.plot()  # one picture or several, by the number of objectives
    figure = plt.gcf()
    figure.savefig(folder / "front.png", dpi=130, bbox_inches="tight")
    plt.close(figure)
    front.report(folder / "front.html")


def _hash(path: Path) -> str:
    if path.exists() and not path.is_file():  # a pipe could keep us waiting for ever
        raise CheckpointError(f"{path}: is no plain file")
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from error
