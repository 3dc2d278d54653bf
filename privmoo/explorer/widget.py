"""The explorer as a widget of a notebook, which Python can read and set."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from privmoo._util.data_frames import AnyFrame
from privmoo.errors import PrivmooError, ProblemError
from privmoo.explorer.cards import card_of, preview_of
from privmoo.explorer.data import ExplorerData, gather
from privmoo.explorer.page import module, style
from privmoo.front.front import Front
from privmoo.front.solution import Solution
from privmoo.release.release import Release

__all__ = ["Explorer", "explore"]


def _pairs(shortlist: Mapping[int, str], _: Any) -> list[list[Any]]:
    return [[number, comment] for number, comment in shortlist.items()]


def _mapping(pairs: Iterable[tuple[int, str]], _: Any) -> dict[int, str]:
    return dict(pairs)


class Explorer(anywidget.AnyWidget):
    """One front or several in linked views; `Front.explore` and `privmoo.explore` return it.

    A choice in the browser can be read here, and what is set here is shown there. Numbers are places on
    the front, and across all fronts if there are several. Solutions themselves can be set, too:
    `w.focus = front.knee()`, `w.selected = front.where(min_k=5)`. `observe` reports changes.

    Words, counts and rows of a solution are computed when its card is opened, and sent to the browser
    only: a saved notebook does not hold them.

    Attributes:
        focus: The number of the solution whose card is open, or None. At first it is the pick, or the
            solution that `Front.choices` suggests.
        selected: The numbers of the solutions within all limits; all solutions if there are no limits.
            Setting it shows only these; None shows all.
        shortlist: The comments on the pinned solutions, by number. A list of numbers can be set, too.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> front = pm.Front.of(pm.problems.Cuts(table), [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0]])
    >>> w = front.explore()
    >>> w.focus = front.best("k")
    >>> w.shortlist = {1: "good for research"}
    >>> w.solution, w.selected, w.release()
    (Solution 1 of 2: k = 3, 40 % loss, [0, 1], Release of 6 records in 2 QI-groups, k = 3, loss = 0.4)
    """

    _esm = module()
    _css = style()
    _data = traitlets.Dict().tag(sync=True)
    focus = traitlets.Any(None, allow_none=True).tag(sync=True)
    # Not traitlets.Any, which accepts None before it is validated.
    selected: traitlets.TraitType[Any, Any] = traitlets.TraitType(()).tag(sync=True)
    shortlist: traitlets.TraitType[Any, Any] = traitlets.TraitType(()).tag(
        sync=True, to_json=_pairs, from_json=_mapping
    )

    def __init__(self, data: ExplorerData) -> None:
        self._fronts = data
        everything = list(range(len(data)))
        start = data.start if everything else None
        super().__init__(_data=data.to_json(), focus=start, selected=everything, shortlist={})
        self.on_msg(self._on_request)

    @property
    def solution(self) -> Solution:
        """The solution in focus."""
        return self._fronts.solution(self._focus_number())

    def release(self, *, seed: int | None = None) -> Release:
        """Return the release of the solution in focus, audited, with its certificate."""
        return self.solution.release(seed=seed)

    def _focus_number(self) -> int:
        if self.focus is None:
            raise ProblemError("explorer: no solution is in focus; click one, or set focus")
        return int(self.focus)

    def __repr__(self) -> str:
        return f"Explorer of {len(self._fronts):,} solutions"

    # What may be set

    @traitlets.validate("focus")
    def _valid_focus(self, proposal: Any) -> int | None:
        value = proposal["value"]
        return None if value is None else self._number("focus", value)

    @traitlets.validate("selected")
    def _valid_selected(self, proposal: Any) -> list[int]:
        value = proposal["value"]
        if value is None:
            return list(range(len(self._fronts)))
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            raise ProblemError(
                f"selected: expected numbers of solutions, got {type(value).__name__}"
            )
        return sorted({self._number("selected", number) for number in value})

    @traitlets.validate("shortlist")
    def _valid_shortlist(self, proposal: Any) -> dict[int, str]:
        value = proposal["value"]
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ProblemError(
                f"shortlist: expected comments by number of solution, got {type(value).__name__}"
            )
        comments = value if isinstance(value, Mapping) else dict.fromkeys(value, "")
        return {
            self._number("shortlist", number): str(comment) for number, comment in comments.items()
        }

    def _number(self, what: str, value: object) -> int:
        if isinstance(value, Solution):
            return self._fronts.number(value)
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise ProblemError(f"{what}: expected the number of a solution, got {value!r}")
        if not 0 <= int(value) < len(self._fronts):
            raise ProblemError(
                f"{what}: there is no solution {value}; there are {len(self._fronts):,}, counted from 0"
            )
        return int(value)

    # What the browser asks for

    def _on_request(self, _: Any, message: Any, __: Any) -> None:
        if not isinstance(message, dict):
            return
        answer: dict[str, Any] = {"request": message.get("request")}
        try:
            answer["answer"] = self._answer(message.get("kind"), message.get("id"))
        except PrivmooError as problem:
            answer["problem"] = str(problem)
        except Exception as problem:  # the browser waits for an answer, whatever went wrong
            answer["problem"] = f"{type(problem).__name__} in Python; see solution.explain()"
        self.send(answer)

    def _answer(self, kind: object, number: object) -> dict[str, Any]:
        solution = self._fronts.solution(self._number("explorer", number))
        if kind == "card":
            return card_of(solution)
        if kind == "preview":
            return preview_of(solution)
        raise ProblemError(f"explorer: a message must ask for 'card' or 'preview', got {kind!r}")

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the widget, with a picture and a table for viewers that do not support widgets."""
        bundle = super()._repr_mimebundle_(**options)
        still = "".join(
            entry.front._repr_html_() for entry in self._fronts.fronts if entry.front is not None
        )
        if isinstance(bundle, tuple):
            return {**bundle[0], "text/html": still}, *bundle[1:]
        return None if bundle is None else {**bundle, "text/html": still}


def explore(
    fronts: Front | Sequence[Front | AnyFrame],
    *,
    names: Sequence[str] | None = None,
    pick: Solution | None = None,
) -> Explorer:
    """Explore one front, or several with the same objectives side by side.

    Several fronts have their own colours and shapes and can be switched off; the explorer shows
    which points dominate which.

    Args:
        fronts: Fronts; points published elsewhere can be a table with one column per objective. Rows of
            the same table that another program released, such as ARX or sdcMicro, are one point; see
            `privmoo.analysis.ForeignRelease`.
        names: A name for each front; the name of its algorithm by default.
        pick: A solution to mark.

    >>> import pandas as pd, privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 22, 40, 41, 60]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> front = pm.Front.of(pm.problems.Cuts(table), [[1, 1, 1, 1, 1], [0, 0, 1, 0, 0]])
    >>> w = explore([front, pd.DataFrame({"k": [2], "loss": [0.5]})], names=["ours", "published"])
    >>> w.selected
    [0, 1, 2]
    """
    return Explorer(gather(fronts, names, pick))
