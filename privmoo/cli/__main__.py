"""The entry point of `privmoo` and `python -m privmoo.cli`; it runs before the command line is imported."""

from __future__ import annotations

import sys

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with its code; Ctrl-C ends it quietly at any time."""
    try:
        from privmoo.cli.main import outcome

        code = outcome()
    except KeyboardInterrupt:  # before or after the command itself, which says that it was stopped
        code = _INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
