"""The anonymised table: released, audited, certified and written."""

from __future__ import annotations

from privmoo.release.release import Release, ReleaseWarning, make_release

__all__ = ["Release", "ReleaseWarning", "make_release"]
