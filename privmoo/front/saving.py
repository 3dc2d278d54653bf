"""Fronts in files: a zip of arrays and JSON without code; reading checks everything."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from privmoo import registry
from privmoo._util.files import replacing
from privmoo._util.packing import Packed, pack, plain
from privmoo.data.table import Table
from privmoo.errors import CheckpointError, PluginError, ProblemError
from privmoo.front.description import comparable
from privmoo.front.quantities import RECORDS_SUPPRESSED, Quantity, quantities_of
from privmoo.measures.base import Measure
from privmoo.measures.names import measure_by_name
from privmoo.recodings.base import Recoding, from_json
from privmoo.suppression import Suppression
from privmoo.suppression import policy_from as described_policy

if TYPE_CHECKING:
    from privmoo.front.front import Front
    from privmoo.front.solution import Solution
    from privmoo.problem import AnonymizationProblem

__all__ = ["FrontFields", "measures_from", "policy_from", "read", "recoding_from", "save"]

_FORMAT = "privmoo front 1"
_ARRAYS = ("values", "X", "dominated")
_OF_POPULATIONS = frozenset({"journalist_risk", "marketer_risk"})
# What Python raises where plain data of the right shape have the wrong types or values.
_WRONG = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)


class FrontFields(TypedDict):
    """The arguments of `Front` that a file holds."""

    quantities: tuple[Quantity, ...]
    n_objectives: int
    values: NDArray[np.float64]
    X: NDArray[Any]
    run: Mapping[str, Any]
    description: Mapping[str, Any]
    dominated: NDArray[np.float64]
    problem: AnonymizationProblem | None
    table: Table | None
    recodings: tuple[Mapping[str, Any], ...] | None
    thresholds: NDArray[np.float64] | None
    families: tuple[str, ...] | None
    filters: frozenset[str]
    numbers: NDArray[np.intp]
    n_whole: int


def save(front: Front, path: str | Path, *, force: bool = False) -> None:
    """Write a front: values, decision vectors, recodings, the problem's description and versions.

    Args:
        front: The front.
        path: The file.
        force: Whether a file that exists is replaced.
    """
    recodings = front.recodings
    if front.problem is not None:
        known_recodings = recodings or (None,) * len(front)
        recodings = tuple(
            _recoding_data(front.problem, front[i]) if r is None else r
            for i, r in enumerate(known_recodings)
        )
    if front.X.dtype == object:
        raise ProblemError("save: decision vectors of mixed types cannot be saved")
    head = {
        "format": _FORMAT,
        "quantities": [q.to_json() for q in front.quantities],
        "n_objectives": front.n_objectives,
        "description": plain(front.description),
        "run": plain(front.run),
        "recodings": plain(recodings),
        **({} if front.families is None else {"families": list(front.families)}),
        **({"filters": sorted(front.filters)} if front.filters else {}),
    }
    if len(front) < front.n_whole:
        head["numbers"], head["n_whole"] = front.numbers.tolist(), front.n_whole
    if front.thresholds is not None:
        head["thresholds"] = _threshold_lists(front.thresholds)
    # Decision vectors and the fingerprint of the table are for the publisher only.
    with replacing(path, force=force, private=True) as temporary:
        pack(temporary, head, {name: getattr(front, name) for name in _ARRAYS}, name="front")


def _recoding_data(problem: AnonymizationProblem, solution: Solution) -> dict[str, Any]:
    """Return a solution's recoding as plain data, with its policy where it is not the problem's."""
    policy = solution.suppression
    exception = {} if policy == problem.suppression else {"suppression": policy.describe()}
    return {**problem.recoding(solution.x).to_json(), **exception}


def _threshold_lists(thresholds: NDArray[np.float64]) -> list[list[float] | None]:
    return [None if np.isnan(row).any() else row.tolist() for row in thresholds]


def read(
    path: str | Path, *, table: Table | None = None, problem: AnonymizationProblem | None = None
) -> FrontFields:
    """Read what `save` wrote.

    Args:
        path: The file.
        table: The table the front was computed on, so that solutions can be released.
        problem: The problem that the front belongs to, which brings its table.

    Raises:
        CheckpointError: The file is missing or damaged, or belongs to another table or problem.
    """
    file = Path(path)
    if not file.is_file():
        raise CheckpointError(f"front: there is no file {str(file)!r}")
    content_file = Packed(file, where=repr(str(file)), what="front", form=_FORMAT, arrays=_ARRAYS)
    content = _read_fields(content_file)
    table = table if problem is None else problem.table
    if table is not None and content["description"].get("table") != table.fingerprint:
        raise CheckpointError(
            f"front: {str(file)!r} was computed on another table (or other roles or hierarchies) than "
            "the one given; give the same table"
        )
    if problem is None:
        measures_from(content["quantities"])
    else:
        _check_problem(file, content_file, content, problem)
        content["quantities"] = quantities_of(problem)
    content["problem"], content["table"] = problem, table
    return content


def _read_fields(packed: Packed) -> FrontFields:
    """Return the fields of a file, checked to fit together."""
    head, arrays = packed.head, packed.arrays
    entries = head.get("quantities")
    if not isinstance(entries, list) or not 0 < len(entries) <= 1000:
        raise packed.damaged("its measures cannot be read")
    quantities = tuple(Quantity.from_json(entry) for entry in entries)
    n_objectives, values = head.get("n_objectives"), arrays["values"]
    families, filters = head.get("families"), head.get("filters", [])
    recodings, run, description = head.get("recodings"), head.get("run"), head.get("description")
    good = (
        isinstance(n_objectives, int)
        and 0 < n_objectives < len(quantities)
        and len({q.key for q in quantities}) == len(quantities)
        and quantities[-1].key == RECORDS_SUPPRESSED
        and values.ndim == arrays["X"].ndim == arrays["dominated"].ndim == 2
        and values.shape[1] == len(quantities)
        and len(arrays["X"]) == len(values)
        and arrays["dominated"].shape[1] == n_objectives
        and all(np.isfinite(arrays[name]).all() for name in _ARRAYS)
        and isinstance(run, dict)
        and isinstance(description, dict)
        and (recodings is None or (isinstance(recodings, list) and len(recodings) == len(values)))
        and all(isinstance(r, dict) for r in recodings or ())
        and (families is None or (isinstance(families, list) and len(families) == len(values)))
        and isinstance(filters, list)
        and all(
            isinstance(name, str) and len(name) <= 200 for name in (*(families or ()), *filters)
        )
    )
    if not good or not isinstance(n_objectives, int) or run is None or description is None:
        raise packed.damaged("its parts do not fit together")
    return {
        "quantities": quantities,
        "n_objectives": n_objectives,
        "values": values.astype(np.float64),
        "X": arrays["X"],
        "run": run,
        "description": description,
        "dominated": arrays["dominated"].astype(np.float64),
        "problem": None,
        "table": None,
        "recodings": None if recodings is None else tuple(recodings),
        "thresholds": _read_thresholds(packed, len(values)),
        "families": None if families is None else tuple(families),
        "filters": frozenset(filters),
        **_read_numbers(packed, len(values)),
    }


class _Numbers(TypedDict):
    numbers: NDArray[np.intp]
    n_whole: int


def _read_numbers(packed: Packed, n: int) -> _Numbers:
    """Return the numbers that the solutions of a part of a front have on the whole one."""
    numbers, n_whole = packed.head.get("numbers"), packed.head.get("n_whole")
    if numbers is None:
        return {"numbers": np.arange(n), "n_whole": n}
    good = (
        isinstance(numbers, list)
        and type(n_whole) is int
        and len(numbers) == n
        and all(type(number) is int and 0 <= number < n_whole <= 2**40 for number in numbers)
        and len(set(numbers)) == n
    )
    if not good or n_whole is None:
        raise packed.damaged("the numbers of its solutions cannot be read")
    return {"numbers": np.array(numbers, np.intp), "n_whole": n_whole}


def _read_thresholds(packed: Packed, n: int) -> NDArray[np.float64] | None:
    """Return the thresholds of the solutions that are steps of a staircase; None if the file has none."""
    rows = packed.head.get("thresholds")
    if rows is None or rows == [None] * n:
        return None
    width = 0
    if isinstance(rows, list) and len(rows) == n:
        width = max((len(row) for row in rows if isinstance(row, list)), default=0)
    good = width in (1, 2) and all(
        row is None
        or (
            isinstance(row, list)
            and len(row) == width
            and all(type(number) in (int, float) and math.isfinite(number) for number in row)
        )
        for row in rows
    )
    if not good:
        raise packed.damaged("its thresholds cannot be read")
    return np.array([[math.nan] * width if row is None else row for row in rows], dtype=np.float64)


def _check_problem(
    file: Path, packed: Packed, content: FrontFields, problem: AnonymizationProblem
) -> None:
    """Raise a CheckpointError unless a file belongs to the problem."""
    description = content["description"]
    if comparable(plain(problem.describe())) != comparable(description):
        raise CheckpointError(
            f"front: {str(file)!r} belongs to another problem "
            f"({description.get('problem')}); give the problem and parameters that it was computed with"
        )
    quantities = [_essence(q) for q in content["quantities"]]
    if quantities != [_essence(q) for q in quantities_of(problem)]:
        raise packed.damaged("its measures are not those of the problem")
    staircase, thresholds = problem.evaluator.engine.staircase, content["thresholds"]
    fits = thresholds is None or (
        staircase is not None and len(staircase.properties) == thresholds.shape[1]
    )
    if content["n_objectives"] != problem.n_obj or not _possible(content["X"], problem) or not fits:
        raise packed.damaged("its solutions are not possible ones of the problem")


def _essence(quantity: Quantity) -> tuple[Any, ...]:
    """Return the fields of a quantity that must match.

    Parameters are left out because files store some only as text.
    """
    q = quantity
    return q.key, q.name, q.sense, q.best, q.worst, q.stage


def _possible(X: NDArray[Any], problem: AnonymizationProblem) -> bool:
    if X.shape[1] != problem.n_var:
        return False
    low, high = problem.bounds()
    return (low is None or bool((low <= X).all())) and (high is None or bool((high >= X).all()))


def policy_from(description: Any) -> Suppression:
    """Make the suppression policy that `Suppression.describe` described.

    Raises:
        CheckpointError: If the file states impossible parameters.
        ProblemError: If no policy of that name is built in, installed or registered.
    """
    where = "release: the front was loaded without its problem"
    if not isinstance(description, Mapping):
        raise ProblemError(
            f"{where}, and the file does not state its suppression policy; use "
            "Front.load(path, problem=…)"
        )
    name = str(description.get("policy"))
    try:
        return described_policy(description)
    except PluginError as error:
        reason = "cannot be used" if registry.contains("policies", name) else "is not registered"
        raise ProblemError(
            f"{where} and uses the policy {name!r}, which {reason}; import its package or call "
            "registry.register, or use Front.load(path, problem=…)"
        ) from error
    except _WRONG:
        raise CheckpointError(
            f"front: the suppression policy in the file is not a valid {name}; use "
            "Front.load(path, problem=…)"
        ) from None


def measures_from(quantities: Iterable[Quantity]) -> list[Measure]:
    """Make the registered measures among the recorded quantities, so that a release checks their values.

    A file is refused if it gives the name of such a measure to something else, which would not be
    checked. A measure of a plug-in that is not installed, or does not work, is left out.

    Raises:
        CheckpointError: A quantity has the name of a measure but is not that measure.
    """
    names = registry.names("measures")
    stage_of = {name: (name, "after") for name in names}
    stage_of |= {f"{name}_before": (name, "before") for name in names}
    measures: list[Measure] = []
    for q in quantities:
        if stage_of.get(q.key, (q.name, q.stage)) != (q.name, q.stage):
            raise CheckpointError(
                f"front: the file records {q.name!r} {q.stage} suppression under the name {q.key!r} of "
                "another measure; use Front.load(path, problem=…)"
            )
        if q.name not in names:
            continue
        try:
            measure = _measure_of(q)
        except PluginError:
            continue
        except _WRONG:
            if q.name in _OF_POPULATIONS and isinstance(q.parameters.get("population"), str):
                continue  # only the problem has the population, and no audit could check it
            measure = None
        if measure is None or (measure.sense, measure.stage) != (q.sense, q.stage):
            raise CheckpointError(
                f"front: the measure {q.key!r} in the file is not a valid {q.name!r}; use "
                "Front.load(path, problem=…)"
            )
        measures.append(measure)
    return measures


def _measure_of(quantity: Quantity) -> Measure:
    parameters = dict(quantity.parameters)
    has_stages = isinstance(registry.load("measures", quantity.name), type)
    if has_stages and quantity.stage != "after":
        parameters["stage"] = quantity.stage
    measure = measure_by_name(quantity.name, **parameters)
    return measure if measure.key == quantity.key else measure.named(quantity.key)


def recoding_from(table: Table, description: Mapping[str, Any], index: int) -> Recoding:
    """Return the recoding of a solution in a file.

    Args:
        table: The table that the file belongs to.
        description: What `Recoding.to_json` returned.
        index: The place of the solution.

    Raises:
        CheckpointError: The recoding cannot be made for this table.
    """
    try:
        return from_json(table, description)
    except _WRONG:
        raise CheckpointError(
            f"front: the recoding of solution {index} in the file cannot be made for this table; use "
            "Front.load(path, problem=…)"
        ) from None
