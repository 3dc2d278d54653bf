"""Outcomes: the results of runs as plain data, which travel and are stored without code."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from privmoo._util.packing import Packed, pack, plain

__all__ = ["Outcome", "Status", "history"]

Status = Literal["ok", "nothing feasible", "failed"]
_FORM = "privmoo run 1"
_ARRAYS = ("values", "F", "at", "seconds", "points", "spans")


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _number(value: Any) -> bool:
    return type(value) in (int, float) and bool(np.isfinite(value))


# What a study reads of the facts; each may be missing.
_FACTS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("evaluations", "infeasible", "over_budget"), lambda v: v is None or _whole(v)),
    **dict.fromkeys(("seconds", "over_seconds"), lambda v: v is None or _number(v)),
    **dict.fromkeys(("reproducible", "proven"), lambda v: v is None or type(v) is bool),
}


def history(
    fronts: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return all points of growing fronts, each once, and when each was on them.

    >>> points, spans = history([np.array([[2.0, 2.0]]), np.array([[1.0, 3.0], [2.0, 2.0]])])
    >>> points.tolist(), spans.tolist()
    ([[1.0, 3.0], [2.0, 2.0]], [[1, 2], [0, 2]])
    """
    points, place = np.unique(np.concatenate(fronts), axis=0, return_inverse=True)
    mark = np.repeat(np.arange(len(fronts)), [len(F) for F in fronts])
    spans = np.full((len(points), 2), [len(fronts), 0], np.int64)
    np.minimum.at(spans[:, 0], place.ravel(), mark)
    np.maximum.at(spans[:, 1], place.ravel(), mark + 1)
    return points, spans


def _none() -> NDArray[np.float64]:
    return np.empty(0)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one run.

    Attributes:
        problem: The problem's name.
        solver: The solver's name.
        seed: The seed; None for a deterministic solver.
        status: Whether it found a front, found nothing feasible, or failed.
        error: Why it failed.
        facts: Evaluations, seconds, whether it can be repeated …
        values: Solutions × recorded quantities, in their natural sense.
        F: Solutions × objectives, as minimised.
        at: Numbers of evaluations at which the front was recorded.
        seconds: The seconds after which that was.
        points: All points that were on it at any of these times, as minimised.
        spans: For each the first of these times, and that from which it was dominated: it never comes back.
    """

    problem: str
    solver: str
    seed: int | None
    status: Status
    error: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    values: NDArray[np.float64] = field(default_factory=_none, repr=False)
    F: NDArray[np.float64] = field(default_factory=_none, repr=False)
    at: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    seconds: NDArray[np.float64] = field(default_factory=_none, repr=False)
    points: NDArray[np.float64] = field(default_factory=_none, repr=False)
    spans: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), np.int64), repr=False)

    def fronts(self) -> list[NDArray[np.float64]]:
        """Return the front at every mark, as minimised."""
        begin, end = self.spans.reshape(-1, 2).T
        return [self.points[(begin <= i) & (i < end)] for i in range(len(self.at))]

    def head(self) -> dict[str, Any]:
        """Return all but the arrays, as plain data."""
        return {
            "problem": self.problem,
            "solver": self.solver,
            "seed": self.seed,
            "status": self.status,
            "error": self.error,
            "facts": plain(self.facts),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return {name: getattr(self, name) for name in _ARRAYS}

    def to_bytes(self) -> bytes:
        """Return the outcome as a zip of arrays and JSON."""
        content = io.BytesIO()
        pack(content, {"format": _FORM, **self.head()}, self.arrays(), name="run")
        return content.getvalue()

    @classmethod
    def read(cls, source: bytes | Path) -> Outcome:
        """Read what `to_bytes` returned, from a file or as bytes.

        >>> Outcome.read(Outcome("Cuts", "nsga2", 1, "failed", "it was tired").to_bytes()).error
        'it was tired'
        """
        file = io.BytesIO(source) if isinstance(source, bytes) else source
        where = "a run" if isinstance(source, bytes) else repr(str(source))
        content_file = Packed(file, where=where, what="run", form=_FORM, arrays=_ARRAYS)
        return cls.of(content_file, content_file.head, content_file.arrays)

    @classmethod
    def of(cls, packed: Packed, head: Any, arrays: dict[str, NDArray[Any]]) -> Outcome:
        """Return the run that a head and arrays describe, after checking that they fit together.

        Args:
            packed: The file that they are from, for the error.
            head: What `head` returned.
            arrays: What `arrays` returned.
        """
        values, F, points = arrays["values"], arrays["F"], arrays["points"]
        at, seconds, spans = arrays["at"], arrays["seconds"], arrays["spans"]
        good = (
            isinstance(head, dict)
            and all(isinstance(head.get(key), str) for key in ("problem", "solver", "error"))
            and (head.get("seed") is None or _whole(head.get("seed")))
            and head.get("status") in get_args(Status)
            and isinstance(head.get("facts"), dict)
            and all(fits(head["facts"].get(key)) for key, fits in _FACTS.items())
            and at.ndim == seconds.ndim == 1
            and len(at) == len(seconds)
            and at.dtype.kind == spans.dtype.kind == "i"
            and spans.shape == (len(points), 2)
            and (spans[:, 0] >= 0).all()
            and (spans[:, 0] < spans[:, 1]).all()
            and (spans[:, 1] <= len(at)).all()
            and (np.diff(at) > 0).all()
            and (np.diff(seconds) >= 0).all()
            and all(np.isfinite(array).all() for array in arrays.values())
            and len(values) == len(F)
            and (head.get("status") != "ok" or (F.ndim == values.ndim == 2 and len(F) > 0))
            and (not len(points) or points.ndim == 2)
        )
        if not good:
            raise packed.damaged("its parts do not fit together")
        fields: dict[str, Any] = {
            key: head[key] for key in ("problem", "solver", "seed", "status", "error", "facts")
        }
        for key, array in arrays.items():
            fields[key] = array.astype(np.int64 if key in ("at", "spans") else np.float64)
        return cls(**fields)
