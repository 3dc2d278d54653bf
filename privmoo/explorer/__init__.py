"""The explorer of fronts: linked views in a notebook, and the same in one HTML file.

The widget needs anywidget, which is imported when a widget is created.
"""

from __future__ import annotations

from privmoo.explorer.data import ExplorerData, gather
from privmoo.explorer.page import write_report

__all__ = ["ExplorerData", "gather", "write_report"]
