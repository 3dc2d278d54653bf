"""Run notebooks in full and write their outputs into them: python notebooks/run.py FILE ...

What would change at every run and tell a reader nothing is left out: times of execution, and numbers
of widgets, which no saved notebook can show. Their still pictures stay. A notebook in which a cell
fails stays as it was.
"""

import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

WIDGET = "application/vnd.jupyter.widget-view+json"


def run(path: Path) -> None:
    """Execute all cells in the notebook's own folder, then replace the file at once."""
    notebook = nbformat.read(path, 4)
    client = NotebookClient(
        notebook,
        timeout=3600,
        record_timing=False,
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
    fresh = path.with_suffix(".new")
    nbformat.write(notebook, fresh)
    fresh.replace(path)


def main() -> None:
    """Run the named notebooks one after the other, since some of them show times."""
    os.environ.pop("PRIVMOO_QUICK", None)
    for name in sys.argv[1:]:
        began = time.perf_counter()
        try:
            run(Path(name))
        except CellExecutionError as error:
            sys.exit(f"{name} stays as it was, a cell failed:\n{error}")
        print(f"{name}: {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
