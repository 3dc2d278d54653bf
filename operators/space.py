"""How operators reach the search space of a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from privmoo.errors import ProblemError

if TYPE_CHECKING:
    from privmoo.spaces.centroids import CentroidSpace
    from privmoo.spaces.classes import ClassSpace
    from privmoo.spaces.cuts import CutSpace
    from privmoo.spaces.levels import LevelSpace, RecordLevelSpace
    from privmoo.spaces.parameters import ParameterSpace
    from privmoo.spaces.regions import RegionSpace
    from privmoo.spaces.union import UnionSpace

__all__ = ["space_of"]

_EXAMPLES = {
    "cuts": "Cuts",
    "levels": "Levels",
    "records": "LevelsAndSuppression",
    "centroids": "Clusters(..., assignment='balanced')",
    "classes": "Clusters",
    "parameters": "Hybrid",
    "regions": "Regions",
    "families": "TradeOff",
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
def space_of(problem: object, kind: Literal["classes"]) -> ClassSpace: ...


@overload
def space_of(problem: object, kind: Literal["parameters"]) -> ParameterSpace: ...


@overload
def space_of(problem: object, kind: Literal["regions"]) -> RegionSpace: ...


@overload
def space_of(problem: object, kind: Literal["families"]) -> UnionSpace: ...


@overload
def space_of(problem: object, kind: str) -> Any: ...


def space_of(problem: object, kind: str) -> Any:
    """Return the search space of a problem, of the kind that an operator works on.

    Args:
        problem: A problem with an attribute `space`.
        kind: `"cuts"`, `"levels"`, `"records"` (levels and a choice of records), `"centroids"`,
            `"classes"`, `"parameters"`, `"regions"` or `"families"` (several of these), or a kind that
            the space of a plug-in names.

    Raises:
        ProblemError: The problem has no space, or one of another kind.

    >>> space_of(object(), "cuts")
    Traceback (most recent call last):
    ...
    privmoo.errors.ProblemError: problem: object does not search cuts; use a problem such as Cuts
    """
    space = getattr(problem, "space", None)
    if kind not in getattr(space, "kinds", ()):
        example = f" such as {_EXAMPLES[kind]}" if kind in _EXAMPLES else " whose space does"
        raise ProblemError(
            f"problem: {type(problem).__name__} does not search {kind}; use a problem{example}"
        )
    return space
