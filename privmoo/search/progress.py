"""Progress of a run: a bar in terminals and notebooks, a few lines elsewhere, and a log for programs."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from privmoo._util.progress_bar import new_bar
from privmoo._util.stopwatch import Stopwatch

__all__ = ["Progress"]

_EVERY = 0.25  # seconds between two looks at the hypervolume
_LINES = 5
_LONG = 3.0  # seconds after which a first generation is explained
_LAST = 12  # updates from which the time left is estimated: later generations are often slower
_log = logging.getLogger("privmoo.search")


class Progress:
    """Shows generations, front size, hypervolume and time left, and logs them at level INFO.

    The time left is estimated by the last generations. If the search has several parts, it is that of the
    part under way: nobody knows how long the others will take. As in budgets, the time in which kernels are
    compiled does not count.

    Args:
        shown: Whether anything is shown.
        what: The name at the beginning of the line.

    Attributes:
        stop: The search ends after the generation in which this is set, and keeps what was found.

    >>> progress = Progress(shown=False)
    >>> progress.update(0.5, generation=1, front=3, hypervolume=lambda: 0.1)
    >>> progress.close()
    """

    def __init__(self, *, shown: bool, what: str = "") -> None:
        self.what = what
        self._resources = ExitStack()
        self._stopwatch = self._resources.enter_context(Stopwatch())
        self._last = -_EVERY
        self._lines = 0
        self._final = ""
        self._bar: Any = None
        self._as_lines = False
        self._waiting: threading.Timer | None = None
        self.stop = threading.Event()
        self._part, self._n_parts = 0, 1
        self._pace: deque[tuple[float, float]] = deque([(0.0, 0.0)], maxlen=_LAST + 1)
        self._logged = 0
        _log.info("%s: the search begins", what or "search")
        if not shown:
            return
        if _in_notebook() or _in_terminal():
            self._bar = _bar(what)
        else:
            self._as_lines = True
            self.say(f"{what or 'search'}: searching ...")  # a log should show at once that it runs
        self._waiting = threading.Timer(
            _LONG, self.say, ["first run: compiling, which happens once and may take a minute ..."]
        )
        self._waiting.daemon = True
        self._waiting.start()

    def begin_part(self, what: str, part: int, n_parts: int) -> None:
        """Show the progress of one of several searches from now on, as a part of the whole.

        Args:
            what: The name at the beginning of the line.
            part: The number of the part, counted from 0.
            n_parts: The number of parts.
        """
        self.what, self._part, self._n_parts = what, part, n_parts
        self._pace.clear()
        self._pace.append((self._stopwatch.seconds, 0.0))

    def update(
        self, fraction: float, *, generation: int, front: int, hypervolume: Callable[[], float]
    ) -> None:
        """Show that a generation ended.

        Args:
            fraction: The share of the budget that is used.
            generation: The number of the generation.
            front: The number of solutions so far.
            hypervolume: Computes the hypervolume so far.
        """
        used_share = (self._part + min(fraction, 1.0)) / self._n_parts
        if int(used_share * _LINES) > self._logged and _log.isEnabledFor(logging.INFO):
            self._logged = int(used_share * _LINES)
            figures = (self.what, generation, 100 * used_share, front, hypervolume())
            _log.info("%s: generation %d (%.0f %%), front %d, hypervolume %.4f", *figures)
        if self._bar is None and not self._as_lines:
            return
        self._stop_waiting()
        now = self._stopwatch.seconds
        self._pace.append((now, min(fraction, 1.0)))
        due = (
            int(used_share * _LINES) > self._lines if self._as_lines else now - self._last >= _EVERY
        )
        if not due and used_share < 1.0:
            return
        self._last = now
        left = self._time_left()
        text = f"front {front}, hypervolume {hypervolume():.4f}"
        if self._bar is not None:
            self._bar.n = round(100 * used_share)
            self._bar.set_description_str(f"{self.what} generation {generation}", refresh=False)
            self._bar.unit = f"{text}, {left}"
            self._bar.refresh()
            return
        self._lines = int(used_share * _LINES)
        print(
            f"{self.what}: generation {generation} ({used_share:.0%}), {text}, {_clock(now)} used, "
            f"{left}",
            file=sys.stderr,
            flush=True,
        )

    def _time_left(self) -> str:
        """Say how long the search, or its part under way, will take at the pace of the last generations."""
        (before, used_before), (now, used) = self._pace[0], self._pace[-1]
        if used <= used_before:
            return "time left not known"
        seconds = (now - before) * (1 - used) / (used - used_before)
        of_part = f" in part {self._part + 1} of {self._n_parts}" if self._n_parts > 1 else ""
        return f"{_clock(seconds)} left{of_part}"

    def say(self, sentence: str) -> None:
        """Print a line without disturbing the bar."""
        if self._bar is not None:
            self._bar.write(sentence, file=sys.stderr)
        elif self._as_lines:
            print(sentence, file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the display; its last state stays visible."""
        _log.info("%s: the search ends after %.1f s", self.what, self._stopwatch.seconds)
        self._resources.close()
        self._stop_waiting()
        if self._bar is not None:
            self._bar.close()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _in_terminal() -> bool:
    """Return whether there is a terminal with room for a bar; those of containers may have no width."""
    if not sys.stderr.isatty():
        return False
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns > 0
    except (OSError, ValueError):  # it does not tell
        return True


def _bar(what: str) -> Any:
    return new_bar(
        total=100,
        desc=what,
        # Not as a postfix, before which tqdm puts a comma.
        bar_format="{desc} {percentage:3.0f}% |{bar}| {unit}",
        unit="",
        leave=True,
    )
