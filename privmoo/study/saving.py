"""Studies in files: arrays and JSON in a zip, no code; reading trusts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from privmoo._util.files import replacing
from privmoo._util.packing import Packed, pack, plain
from privmoo.errors import CheckpointError, ProblemError
from privmoo.front.quantities import Quantity
from privmoo.study.indicators import Scale
from privmoo.study.outcomes import Outcome
from privmoo.study.participants import StudiedProblem, StudiedSolver, check_name

if TYPE_CHECKING:
    from privmoo.study.study import Study

__all__ = ["StudyFields", "read", "save"]

_FORM = "privmoo study 1"
# Not the objectives as minimised: they are columns of the values with a sign.
_ARRAYS = ("values", "at", "seconds", "points", "spans")
_WHOLE = ("at", "spans")


class StudyFields(TypedDict):
    """The arguments of `Study`."""

    problems: tuple[StudiedProblem, ...]
    solvers: tuple[StudiedSolver, ...]
    outcomes: tuple[Outcome, ...]
    settings: dict[str, Any]
    scale: Scale


def save(study: Study, path: str | Path, *, force: bool = False) -> None:
    """Write a study: all runs, the problems and solvers as plain data, versions and machine.

    Args:
        study: The study.
        path: The file.
        force: Whether a file that exists is replaced.
    """
    head = {
        "format": _FORM,
        "problems": [
            {
                "name": p.name,
                "quantities": [q.to_json() for q in p.quantities],
                "n_objectives": p.n_objectives,
                "worst": list(p.worst),
                "description": plain(p.description),
            }
            for p in study.problems
        ],
        "solvers": [
            {"name": s.name, "deterministic": s.deterministic, "settings": plain(s.settings)}
            for s in study.solvers
        ],
        "runs": [o.head() for o in study.outcomes],
        "settings": plain(study.settings),
        "scale": study.scale,
    }
    parts = [o.arrays() for o in study.outcomes]
    arrays: dict[str, NDArray[Any]] = {}
    for name in _ARRAYS:
        dtype = np.int64 if name in _WHOLE else np.float64
        flat = [np.ravel(part[name].T) for part in parts]  # column by column, which packs better
        arrays[name] = np.concatenate([np.empty(0, dtype), *flat]).astype(dtype)
    # Rows and columns of every array of every run; one-dimensional ones have no columns.
    shapes = [[_shape(part[name]) for name in _ARRAYS] for part in parts]
    arrays["shapes"] = np.array(shapes, np.int64).reshape(len(parts), len(_ARRAYS), 2)
    # Values of all solutions and the fingerprints of the tables are for the publisher only.
    with replacing(path, force=force, private=True) as temporary:
        pack(temporary, head, arrays, name="study", small=True)


def _shape(array: NDArray[Any]) -> tuple[int, int]:
    return (len(array), -1 if array.ndim == 1 else array.shape[1])


def read(path: str | Path) -> StudyFields:
    """Read what `save` wrote.

    Args:
        path: The file.

    Raises:
        CheckpointError: The file is missing or damaged.
    """
    file = Path(path)
    if not file.is_file():
        raise CheckpointError(f"study: there is no file {str(file)!r}")
    content_file = Packed(
        file, where=repr(str(file)), what="study", form=_FORM, arrays=(*_ARRAYS, "shapes")
    )
    head = content_file.head
    try:
        problems = tuple(_problem(entry) for entry in head["problems"])
        solvers = tuple(_solver(entry) for entry in head["solvers"])
        scale, settings, heads = head["scale"], _settings(head["settings"]), list(head["runs"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, ProblemError):
        raise content_file.damaged("its description is not one of a study") from None
    names = {s.name for s in solvers}
    by_name = {p.name: p for p in problems}
    outcomes = _outcomes(content_file, heads, by_name)
    good = (
        scale in ("linear", "decades")
        and bool(names)
        and len(names) == len(solvers)
        and len(by_name) == len(problems) > 0
        and all(o.solver in names and o.problem in by_name for o in outcomes)
        and all(_fits(o, by_name[o.problem]) for o in outcomes)
        and len({(o.problem, o.solver, o.seed) for o in outcomes}) == len(outcomes)
    )
    if not good:
        raise content_file.damaged("its parts do not fit together")
    return {
        "problems": problems,
        "solvers": solvers,
        "outcomes": outcomes,
        "settings": settings,
        "scale": scale,
    }


def _problem(entry: Any) -> StudiedProblem:
    quantities = tuple(Quantity.from_json(q) for q in entry["quantities"])
    n, worst = entry["n_objectives"], tuple(float(value) for value in entry["worst"])
    if type(n) is not int or not 0 < n <= len(quantities) or len(worst) != n:
        raise ValueError
    if not np.isfinite(worst).all():
        raise ValueError
    return StudiedProblem(_text(entry["name"]), quantities, n, worst, dict(entry["description"]))


def _solver(entry: Any) -> StudiedSolver:
    if type(entry["deterministic"]) is not bool:
        raise TypeError
    return StudiedSolver(_text(entry["name"]), entry["deterministic"], dict(entry["settings"]))


def _settings(entry: Any) -> dict[str, Any]:
    evaluations, seconds = entry["evaluations"], entry["seconds"]
    if not (evaluations is None or (type(evaluations) is int and 0 < evaluations < 1 << 53)):
        raise TypeError
    if not (seconds is None or (type(seconds) in (int, float) and 0 < seconds < np.inf)):
        raise TypeError
    if evaluations is None and seconds is None:
        raise ValueError
    return dict(entry)


def _text(value: Any) -> str:
    check_name(value, "names")
    return str(value)


def _outcomes(
    packed: Packed, heads: list[Any], problems: Mapping[str, StudiedProblem]
) -> tuple[Outcome, ...]:
    shapes = packed.arrays["shapes"]
    if shapes.shape != (len(heads), len(_ARRAYS), 2) or shapes.dtype.kind != "i":
        raise packed.damaged("its runs do not fit together")
    sizes = np.where(shapes[..., 1] < 0, 1, shapes[..., 1]) * shapes[..., 0]
    for j, name in enumerate(_ARRAYS):
        if (shapes[:, j, 0] < 0).any() or (sizes[:, j] < 0).any():
            raise packed.damaged("its runs do not fit together")
        if packed.arrays[name].ndim != 1 or sizes[:, j].sum() != len(packed.arrays[name]):
            raise packed.damaged(f"the array {name!r} has another size than it says")
    ends = np.cumsum(sizes, axis=0)
    outcomes = []
    for i, entry in enumerate(heads):
        arrays = {}
        for j, name in enumerate(_ARRAYS):
            part = packed.arrays[name][ends[i, j] - sizes[i, j] : ends[i, j]]
            rows, columns = shapes[i, j]
            arrays[name] = part if columns < 0 else part.reshape(columns, rows).T
        arrays["F"] = _minimised_objectives(arrays["values"], entry, problems)
        outcomes.append(Outcome.of(packed, entry, arrays))
    return tuple(outcomes)


def _minimised_objectives(
    values: NDArray[Any], entry: Any, problems: Mapping[str, StudiedProblem]
) -> NDArray[Any]:
    """Return the objectives of a run's solutions, as minimised."""
    problem = problems.get(str(entry.get("problem"))) if isinstance(entry, dict) else None
    if problem is None or values.ndim != 2 or values.shape[1] != len(problem.quantities):
        return values  # not a run of the problem: `read` refuses the study
    signs = np.array([q.sign for q in problem.objectives])
    return np.asarray(values[:, : problem.n_objectives] * signs)


def _fits(outcome: Outcome, problem: StudiedProblem) -> bool:
    """Return whether a run is one of the problem: as many objectives and quantities."""
    if len(outcome.points) and outcome.points.shape[1] != problem.n_objectives:
        return False
    return outcome.status != "ok" or outcome.values.shape[1] == len(problem.quantities)
