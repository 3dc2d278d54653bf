"""Write the files of one version of privmoo, which later versions must still read.

Run in a checkout of that version, once, before the next one is released:

    PYTHONPATH=. python tests/compatibility/write_files.py tests/compatibility/files_0_2
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import privmoo as pm
from tests.scenery.earlier_files import (
    JOB,
    JOB_OF_LEVELS,
    PROBLEMS,
    TREE_OF_JOBS,
    digest_of_release,
    people,
    search,
    study,
)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    digests = {}
    for name in PROBLEMS:
        front = search(name)
        front.save(folder / f"{name}.front")
        digests[name] = digest_of_release(front)
    (folder / "releases.json").write_text(json.dumps(digests, indent=1) + "\n")

    # A search that ended early; continued to six generations it must give cuts.front.
    search("cuts", 3, checkpoint=folder / "cuts.log")
    search("clusters", 3, checkpoint=folder / "clusters.log")

    runs = folder / "runs"
    study(folder=runs).save(folder / "small.study")
    for path in sorted(runs.glob("*.run"))[1:]:
        path.unlink()  # one finished run is enough

    job = folder / "job"
    job.mkdir()
    people().to_csv(job / "people.csv", index=False, lineterminator="\n")
    (job / "job.csv").write_text(TREE_OF_JOBS)
    (job / "privmoo.toml").write_text(JOB)
    (job / "levels.toml").write_text(JOB_OF_LEVELS)
    for arguments in (
        ["run", "privmoo.toml", "-o", "out"],
        ["init", "people.csv", "-o", "guessed"],
    ):
        subprocess.run([Path(sys.executable).with_name("privmoo"), *arguments], cwd=job, check=True)
    for large in ("front.html", "front.png"):
        (job / "out" / large).unlink(missing_ok=True)
    # What `privmoo run` leaves behind when it is interrupted after four of eight generations.
    short = job / "short.toml"
    short.write_text(JOB.replace("generations = 8", "generations = 4"))
    (job / "stopped").mkdir()
    pm.Config.load(short).optimize(progress=False, checkpoint=job / "stopped" / "checkpoint.log")
    short.unlink()
    for leftover in folder.rglob("__pycache__"):
        shutil.rmtree(leftover)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
