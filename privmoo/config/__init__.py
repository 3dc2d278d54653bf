"""Jobs in TOML files: the data, the roles of its columns, the problem, the search."""

from __future__ import annotations

from privmoo.config.config import Config

__all__ = ["Config"]
