"""The explorer as a widget of a notebook, which Python can read and set."""

from __future__ import annotations

import json
import numbers
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from typing import Any, NamedTuple

import anywidget
import traitlets

from privmoo._util.data_frames import AnyFrame
from privmoo._util.files import replacing
from privmoo.errors import PrivmooError, ProblemError
from privmoo.explorer.cards import card_of, preview_of
from privmoo.explorer.data import ExplorerData, gather
from privmoo.explorer.exploration import read_exploration
from privmoo.explorer.page import module, style
from privmoo.front.front import Front
from privmoo.front.solution import Solution
from privmoo.release.release import Release
from privmoo.search.progress import Progress
from privmoo.search.refine import refine as refine_front

__all__ = ["Explorer", "explore"]

_EVERY = 0.2  # seconds between two messages about a search
_SEARCHED, _WEIGHED = "searched", "weighed"


def _pairs(shortlist: Mapping[int, str], _: Any) -> list[list[Any]]:
    return [[number, comment] for number, comment in shortlist.items()]


def _mapping(pairs: Iterable[tuple[int, str]], _: Any) -> dict[int, str]:
    return dict(pairs)


class _Report(Progress):
    """Tells the browser how far a search is.

    Args:
        send: Sends a message to the browser.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(shown=False, what="search here")
        self._send = send
        self._sent = 0.0

    def update(
        self, fraction: float, *, generation: int, front: int, hypervolume: Callable[[], float]
    ) -> None:
        """Send the progress, a few times per second.

        Args:
            fraction: The share of the budget that is used.
            generation: The number of the generation.
            front: The number of solutions so far.
            hypervolume: Computes the hypervolume so far.
        """
        super().update(fraction, generation=generation, front=front, hypervolume=hypervolume)
        now = time.perf_counter()
        if fraction < 1 and now - self._sent < _EVERY:
            return
        self._sent = now
        text = f"generation {generation}, {front} solutions"
        self._send({"progress": min(fraction, 1.0), "text": text})


class _Earlier(NamedTuple):
    """What the explorer showed before a search, or before other weights.

    Attributes:
        reason: Why it shows something else now.
        fronts: The fronts.
        unweighted: The fronts that other weights begin with.
        focus: The number of the solution in focus.
        shortlist: The comments on the pinned solutions.
    """

    reason: str
    fronts: ExplorerData
    unweighted: ExplorerData
    focus: int | None
    shortlist: dict[int, str]


def _named(data: ExplorerData, number: int) -> tuple[int, int]:
    """Return the front of a solution, and the number by which people call it."""
    entry, place = data.place(number)
    which = next(i for i, candidate in enumerate(data.fronts) if candidate is entry)
    return which, place if entry.front is None else int(entry.front.numbers[place])


def _numbered(data: ExplorerData, which: int, number: int) -> int | None:
    """Return the position of the solution that people call by a number; None if there is none."""
    for position in range(len(data)):
        if _named(data, position) == (which, number):
            return position
    return None


class Explorer(anywidget.AnyWidget):
    """One front or several in linked views; `Front.explore` and `privmoo.explore` return it.

    A choice in the browser can be read here, and what is set here is shown there. Numbers are places on
    the front, and across all fronts if there are several. Solutions themselves can be set, too:
    `w.focus = front.knee()`, `w.selected = front.where(min_k=5)`. `observe` reports changes.

    Words, counts and rows of a solution are computed when its card is opened, and sent to the browser
    only: a saved notebook does not hold them.

    A search that the browser begins runs in a thread, so that "Stop" is heard.

    Attributes:
        focus: The number of the solution whose card is open, or None. At first it is the pick, or the
            solution that `Front.choices` suggests.
        selected: The numbers of the solutions within all limits; all solutions if there are no limits.
            Setting it shows only these; None shows all.
        shortlist: The comments on the pinned solutions, by number. A list of numbers can be set, too.
        exploration: Limits, order of the axes, shortlist and comments as plain data, once a browser shows
            the widget; `save` writes them to a file, `load` and `front.report(path, exploration=...)` take
            them up.

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

    exploration = traitlets.Dict().tag(sync=True)
    _undo = traitlets.Int(0).tag(sync=True)
    _searching = traitlets.Bool(False).tag(sync=True)

    def __init__(self, data: ExplorerData) -> None:
        self._fronts = data
        self._unweighted = data
        self._history: list[_Earlier] = []
        self._search: _Report | None = None
        self._lock = threading.Lock()
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

    # Searching on

    def refine(
        self,
        near: Mapping[str, float] | None = None,
        *,
        seconds: float | None = None,
        budget: Any = None,
        seed: int | None = None,
    ) -> Front:
        """Search on near the solution in focus, and show the joint front; "Search here" does the same.

        Pinned solutions stay pinned unless a new one dominates them. `undo` takes the search back.

        Args:
            near: Values by objective; those of the solution in focus by default. `{}` searches everywhere,
                as "Search again" does.
            seconds: How long to search.
            budget: Another budget instead, as for `optimize`.
            seed: Makes the search repeatable.
        """
        entry, place = self._fronts.place(self._focus_number())
        if entry.front is None:
            raise ProblemError("refine: the point in focus is not of a front; choose another one")
        front = entry.front
        if near is None:
            near = {q.key: front[place].values[q.key] for q in front.objectives}
        with self._one_search() as report:
            refined = refine_front(
                front, near or None, seconds=seconds, budget=budget, seed=seed, progress=report
            )
        which = next(i for i, candidate in enumerate(self._fronts.fronts) if candidate is entry)
        data = self._fronts.with_front(which, refined)
        now = {n: self._number_in(data, n) for n in {self.focus, *self.shortlist} if n is not None}
        self._remember(_SEARCHED)
        self._show(data, now)
        self._unweighted = data
        return refined

    def stop(self) -> None:
        """End the search under way after its generation; what it found is shown."""
        if self._search is not None:
            self._search.stop.set()

    def weigh(self, weights: Mapping[str, float]) -> None:
        """Rank the solutions by other weights of the columns at once, without a search.

        Every solution is measured again and stays the same release. Those that another one dominates now
        are not shown until the weights are changed again. A search goes on with these weights.

        Args:
            weights: Weights by quasi-identifier; the others have those that they had at first.
        """
        self._refuse_while_searching("weigh")
        data = self._unweighted.with_weights({**self._unweighted.weights, **weights})
        names = {n: self._named(n) for n in {self.focus, *self.shortlist} if n is not None}
        now = {n: _numbered(data, *name) for n, name in names.items()}
        if not self._history or self._history[-1].reason != _WEIGHED:
            self._remember(_WEIGHED)
        self._show(data, now)

    def undo(self) -> None:
        """Take the last search, or the last weights, back: fronts, focus and shortlist are as they were."""
        self._refuse_while_searching("undo")
        if not self._history:
            raise ProblemError("undo: there is nothing to take back")
        earlier = self._history.pop()
        self._fronts, self._unweighted = earlier.fronts, earlier.unweighted
        with self.hold_sync():
            self._data = earlier.fronts.to_json()
            self._undo = len(self._history)
            self.focus, self.selected, self.shortlist = earlier.focus, None, earlier.shortlist

    @contextmanager
    def _one_search(self) -> Iterator[_Report]:
        """Report a search to the browser; only one may be under way."""
        with self._lock:
            self._refuse_while_searching("refine")
            self._search = report = _Report(self.send)
        try:
            yield report
        finally:
            report.close()
            self._search = None

    def _refuse_while_searching(self, what: str) -> None:
        if self._search is not None:
            raise ProblemError(f"{what}: a search is under way; wait, or stop it")

    def _remember(self, reason: str) -> None:
        """Remember what is shown, so that `undo` can show it again."""
        shortlist = dict(self.shortlist)
        earlier = _Earlier(reason, self._fronts, self._unweighted, self.focus, shortlist)
        self._history.append(earlier)

    def _show(self, data: ExplorerData, now: Mapping[int, int | None]) -> None:
        """Show other fronts, with the same solutions in focus and pinned.

        Args:
            data: The fronts.
            now: The numbers that the solutions in focus and on the shortlist have there; None for one that
                is not there.
        """
        shortlist = {now[n]: comment for n, comment in self.shortlist.items()}
        focus = None if self.focus is None else now[self.focus]
        self._fronts = data
        with self.hold_sync():
            self._data = data.to_json()
            self._undo = len(self._history)
            self.focus = data.start if focus is None else focus
            self.selected = None
            self.shortlist = {n: comment for n, comment in shortlist.items() if n is not None}

    def _number_in(self, data: ExplorerData, number: int) -> int | None:
        """Return the number that a solution has after a search; None if it is no longer on a front."""
        entry, place = self._fronts.place(number)
        if entry.front is None:
            return _numbered(data, *self._named(number))
        try:
            return data.number(entry.front[place])
        except ProblemError:
            return None

    # An exploration as a file

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write limits, order of the axes, shortlist and comments to a file for its owner only.

        Args:
            path: The file.
            force: Whether to replace an existing file.
        """
        shortlist = [[*self._named(number), comment] for number, comment in self.shortlist.items()]
        content = {"version": 1, **(self.exploration or {}), "shortlist": shortlist}
        with replacing(path, force=force, private=True) as temporary:
            temporary.write_text(json.dumps(content, ensure_ascii=False, indent=1), "utf-8")

    def load(self, path: str | Path) -> None:
        """Take up what `save`, or the button in the browser, wrote."""
        self.exploration = read_exploration(path)
        places = {}
        for which, number, comment in self.exploration.get("shortlist", []):
            place = _numbered(self._fronts, which, number)
            if place is not None:
                places[place] = str(comment)
        self.shortlist = places

    def _named(self, number: int) -> tuple[int, int]:
        """Return the front of a solution, and the number by which people call it."""
        return _named(self._fronts, number)

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
        if message.get("kind") != "refine":
            self._reply(message)
            return
        # In a thread: the kernel would not hear "stop" before the end of the search.
        self._searching = True
        arguments = self._reply_to_search, message
        thread = threading.Thread(target=copy_context().run, args=arguments, daemon=True)
        thread.start()

    def _reply_to_search(self, message: Mapping[str, Any]) -> None:
        try:
            self._reply(message)
        finally:
            self._searching = self._search is not None

    def _reply(self, message: Mapping[str, Any]) -> None:
        answer: dict[str, Any] = {"request": message.get("request")}
        try:
            answer["answer"] = self._answer(message.get("kind"), message.get("id"), message)
        except PrivmooError as problem:
            answer["problem"] = str(problem)
        except Exception as problem:  # the browser waits for an answer, whatever went wrong
            answer["problem"] = f"{type(problem).__name__} in Python; see solution.explain()"
        self.send(answer)

    def _answer(self, kind: object, number: object, message: Mapping[str, Any]) -> dict[str, Any]:
        if kind == "undo":
            self.undo()
            return {}
        if kind == "stop":
            self.stop()
            return {}
        if kind == "weigh":
            self.weigh(dict(message.get("weights") or {}))
            return {}
        if kind == "refine":
            if number is not None:
                self.focus = self._number("explorer", number)
            near: dict[str, float] | None = {} if number is None else None
            self.refine(near, seconds=float(message.get("seconds") or 10))
            return {}
        solution = self._fronts.solution(self._number("explorer", number))
        if kind == "card":
            return card_of(solution)
        if kind == "preview":
            return preview_of(solution)
        raise ProblemError(
            "explorer: a message must ask for 'card', 'preview', 'refine', 'stop', 'weigh' or 'undo', got "
            f"{kind!r}"
        )

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
