"""`python -m privmoo.cli`, where the command itself is not on the path."""

from __future__ import annotations

from privmoo.cli.main import main

main()
