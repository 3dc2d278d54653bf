"""Every notebook has the switch for a run in small, and outputs of one whole run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.scenery.paths import TOP

FOLDER = TOP / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SWITCH = 'quick = bool(os.environ.get("PRIVMOO_QUICK"))'


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_switch_is_in_the_first_cell_and_used(path: Path) -> None:
    first, *others = (cell.source for cell in code_cells(path))
    assert SWITCH in first
    assert any("if quick" in source for source in (first, *others))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_outputs_are_of_one_run_without_errors(path: Path) -> None:
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not any(output.output_type == "error" for cell in cells for output in cell.outputs)


def run(path: Path, *sources: str) -> subprocess.CompletedProcess[str]:
    """What `make notebooks` does, with a notebook of these cells and PRIVMOO_QUICK set."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells[0].metadata["execution"] = {"iopub.execute_input": "long ago"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return subprocess.run(
        [sys.executable, FOLDER / "run.py", path],
        env=os.environ | {"PRIVMOO_QUICK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.faults
def test_a_run_in_full_is_written_without_times_and_widgets(tmp_path: Path) -> None:
    path = tmp_path / "good.ipynb"
    view = '{"application/vnd.jupyter.widget-view+json": {}, "text/plain": "still"}'
    done = run(
        path,
        "import os\nos.environ.get('PRIVMOO_QUICK', 'in full')",
        f"from IPython.display import display\ndisplay({view}, raw=True)",
    )
    assert done.returncode == 0, done.stderr
    first, second = code_cells(path)
    assert first.outputs[0].data == {"text/plain": "'in full'"}
    assert second.outputs[0].data == {"text/plain": "still"}
    assert not first.metadata and not second.metadata
    assert list(tmp_path.iterdir()) == [path]


def test_a_notebook_that_fails_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "bad.ipynb"
    done = run(path, "1", "1 / 0")
    assert done.returncode != 0 and "ZeroDivisionError" in done.stderr
    assert not any(cell.outputs for cell in code_cells(path))
    assert list(tmp_path.iterdir()) == [path]
