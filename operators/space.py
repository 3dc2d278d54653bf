"""How operators reach the search space of a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from privmoo.errors import ProblemError

if TYPE_CHECKING:
    from privmoo.spaces.centroids import CentroidSpace
    from privmoo.spaces.cuts import CutSpace
    from privmoo.spaces.levels import LevelSpace, RecordLevelSpace
    from privmoo.spaces.parameters import ParameterSpace

__all__ = ["space_of"]

_EXAMPLES = {
    "cuts": "Cuts",
    "levels": "Levels",
    "records": "LevelsAndSuppression",
    "centroids": "Clusters",
    "parameters": "Hybrid",
}


@overload
def space_of(problem: object, kind: Literal["cuts"]) -> CutSpace: ...


@overload
def space_of(problem: object, kind: Literal["levels"]) -> LevelSpace: ...


@overload
def space_of(problem: object, kind: Literal["records"]) -> RecordLevelSpace: ...


@overload
def space_of(problem: object, kind: Literal["centroids"]) -> CentroidSpace: ...


@overload
def space_of(problem: object, kind: Literal["parameters"]) -> ParameterSpace: ...


def space_of(problem: object, kind: str) -> Any:
    """Return the search space of a problem, of the kind that an operator works on.

    Args:
        problem: A problem with an attribute `space`.
        kind: `"cuts"`, `"levels"`, `"records"` (levels and a choice of records), `"centroids"` or
            `"parameters"`.

    Raises:
        ProblemError: The problem has no space, or one of another kind.

    >>> space_of(object(), "cuts")
    Traceback (most recent call last):
    ...
    privmoo.errors.ProblemError: problem: object does not search cuts; use a problem such as Cuts
    """
    space = getattr(problem, "space", None)
    if kind not in getattr(space, "kinds", ()):
        raise ProblemError(
            f"problem: {type(problem).__name__} does not search {kind}; use a problem such as "
            f"{_EXAMPLES[kind]}"
        )
    return space
