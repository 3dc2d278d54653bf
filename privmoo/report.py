"""A report of a front and the solution chosen from it: one HTML file, nothing loaded from anywhere."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from privmoo.front.front import Front
from privmoo.front.quantities import Quantity
from privmoo.front.solution import Solution
from privmoo.release import Release
from privmoo.writing import write_text

__all__ = ["write_report"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #1b1b1b; background: #fff; }
img { max-width: 100%; }
table { border-collapse: collapse; font-size: 0.85rem; margin: 0.5rem 0 1.5rem; }
td, th { padding: 0.2rem 0.7rem; border-bottom: 1px solid #ddd; text-align: left;
         vertical-align: top; }
pre { background: #f5f5f5; padding: 1rem; white-space: pre-wrap; font-size: 0.85rem; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #161616; } td, th { border-color: #444; }
  pre { background: #222; } img { background: #fff; }
}
"""


def write_report(
    front: Front, choice: Solution, release: Release, path: str | Path, *, force: bool = False
) -> None:
    """Write what was found, what was chosen and what the audit says of it.

    Of the records it shows only the first rows of the release, and those only if its audited k is at
    least 2: with k = 1 a preview would show somebody's record as it is.
    """
    privacy = release.certificate.privacy
    if privacy["k"] >= 2:
        preview = release.frame.head(8).to_html(index=False, escape=True, border=0)
    else:
        preview = "<p>Rows are not shown: the released k is 1.</p>"
    title = f"{len(front):,} ways to publish this table"
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta http-equiv='Content-Security-Policy' "
        "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">",
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f"<p>{'<br>'.join(html.escape(line) for line in repr(front).splitlines())}</p>",
        _picture(front, choice),
        *_regions(front),
        "<h2>The chosen solution</h2>",
        f"<pre>{html.escape(choice.explain())}</pre>",
        _group_sizes(choice),
        "<h2>First rows of the release</h2>",
        preview,
        "<h2>Certificate</h2>",
        release.certificate._repr_html_(),
        "</body></html>",
    ]
    write_text(path, "\n".join(parts) + "\n", force=force)


def _picture(front: Front, choice: Solution) -> str:
    axes = front.plot(pick=choice)  # an array of three panels for three objectives or more
    return _image(np.ravel(axes)[0].figure, "The front, with the chosen solution marked")


def _regions(front: Front) -> list[str]:
    """Where the front is flat, for people: from what to what the privacy rises, and at which cost."""
    senses = {q.sense for q in front.objectives}
    if senses != {"min", "max"}:
        return []
    gained = next(q for q in front.objectives if q.sense == "max")
    paid = next(q for q in front.objectives if q.sense == "min")
    regions = front.flat_regions(gain=gained.key, cost=paid.key)
    title = (
        f"<h2>Where a little more {html.escape(paid.words)} buys much {html.escape(gained.words)}"
    )
    if not len(regions):
        return [f"{title}</h2>", "<p>Nowhere on this front: it rises evenly.</p>"]
    columns = [
        (f"{q.words} {end}", [_short(q, value) for value in regions[f"{q.key}_{end}"]])
        for q in (paid, gained)
        for end in ("from", "to")
    ]
    head = "".join(f"<th>{html.escape(name)}</th>" for name, _ in columns)
    rows = zip(*(cells for _, cells in columns), strict=True)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return [f"{title}</h2>", f"<table><tr>{head}</tr>{body}</table>"]


def _short(quantity: Quantity, value: float) -> str:
    if quantity.percent:
        return f"{value * 100:.1f} %"
    return quantity.write(value) if float(value).is_integer() else f"{value:,.3g}"


def _group_sizes(choice: Solution) -> str:
    return _image(choice.plot_group_sizes().figure, "Records by the size of their QI-group")


def _image(figure: object, description: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight")  # type: ignore[attr-defined]
    plt.close(figure)  # type: ignore[arg-type]
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f"<img alt='{html.escape(description)}' src='data:image/png;base64,{data}'>"
