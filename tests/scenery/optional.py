"""Values that may be None in general, and are not in a test."""

from __future__ import annotations

from typing import Any, TypeVar

from matplotlib.figure import Figure

T = TypeVar("T")


def need(value: T | None) -> T:
    """Return a value that must be there."""
    assert value is not None
    return value


def figure_of(axes: Any) -> Figure:
    """Return the figure of some axes."""
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    return figure
