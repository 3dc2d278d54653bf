"""Worker: a process of a study that reads tasks from its input and writes outcomes to its output.

Started anew, not forked, with one thread (see `processes`). It ends with the process that started it.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
from typing import IO

__all__ = ["main", "read", "write"]

_LENGTH = 8


def write(stream: IO[bytes], content: bytes) -> None:
    """Write one message: its length, then its bytes.

    Args:
        stream: Where to write.
        content: The message.
    """
    stream.write(len(content).to_bytes(_LENGTH, "little") + content)
    stream.flush()


def read(stream: IO[bytes]) -> bytes | None:
    """Read the next message; return None at the end of the stream.

    >>> import io
    >>> stream = io.BytesIO()
    >>> write(stream, b"hello")
    >>> _ = stream.seek(0)
    >>> read(stream), read(stream)
    (b'hello', None)
    """
    length = stream.read(_LENGTH)
    if len(length) < _LENGTH:
        return None
    size = int.from_bytes(length, "little")
    content = stream.read(size)
    return content if len(content) == size else None


def main() -> None:
    """Serve until the process that started this one ends."""
    # Whatever a solver prints must not come among the outcomes.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    messages: queue.Queue[bytes] = queue.Queue()

    def listen() -> None:
        while (message := read(sys.stdin.buffer)) is not None:
            messages.put(message)
        os._exit(1)  # nobody waits for an answer any more

    threading.Thread(target=listen, daemon=True).start()
    sys.path[:] = pickle.loads(messages.get())  # noqa: S301  # from the process that started this one
    from privmoo.study.tasks import run_pickled

    problems: dict[str, bytes] = {}
    while True:
        name, problem, task = pickle.loads(messages.get())  # noqa: S301
        if problem is not None:
            problems[name] = problem
        try:
            answer = run_pickled(problems[name], task)
        except Exception as error:  # the task cannot be read here
            answer = pickle.dumps(f"{type(error).__name__}: {error}")
        write(answers, answer)
