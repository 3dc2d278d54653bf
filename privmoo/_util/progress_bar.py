"""Progress bars, in terminals and in notebooks."""

from __future__ import annotations

import warnings
from typing import Any

__all__ = ["new_bar"]


def new_bar(*items: Any, **options: Any) -> Any:
    """Return a progress bar of tqdm; arguments are those of tqdm.

    >>> with new_bar(total=2, disable=True) as bar:
    ...     bar.update()
    """
    with warnings.catch_warnings():
        # Without ipywidgets, tqdm falls back to text and says so at length.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm

        return tqdm(*items, **options)
