"""The anonymised table: released, audited, certified and written."""

from __future__ import annotations

from privmoo.release.plan import Origin
from privmoo.release.release import Release, ReleaseWarning, make_release

__all__ = ["Origin", "Release", "ReleaseWarning", "make_release"]
