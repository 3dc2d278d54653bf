"""Representations of a front: as text, and as HTML with a small picture."""

from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privmoo import registry
from privmoo._util.wording import count_noun

if TYPE_CHECKING:
    from privmoo.front.front import Front

__all__ = ["as_html", "summary", "undivided_note"]

_ROWS = 20


def summary(front: Front) -> str:
    """Return one paragraph: how many solutions, their range, and the search that found them."""
    size = f"Front of {count_noun(len(front), 'solution')}"
    if not len(front):
        return size
    spans = [
        f"{q.words} {q.write(column.min())} … {q.write(column.max())}"
        for q, column in zip(front.objectives, front.values.T, strict=False)
    ]
    text = f"{size}: {', '.join(spans)}"
    run = front.run
    if "algorithm" in run:
        how = [str(run["algorithm"])]
        if run.get("seed") is not None:
            how.append(f"seed {run['seed']}")
        if "proven" in run:
            how.append("proven" if front.proven else "not proven, ended early")
        if "generations" in run:
            how.append(f"{run['generations']:,} generations")
        text += f"\n{front.description.get('problem', '')} by {', '.join(how)}"
    remark = run.get("remark") or undivided_note(front) or _gap(front)
    return f"{text}\n{remark}" if remark else text


def _gap(front: Front) -> str | None:
    """Return what an exact search that ended early has proven; None for other fronts."""
    return None if front.proven or "bound" not in front.run else repr(front.gap())


def undivided_note(front: Front) -> str | None:
    """Return a sentence if a search for regions found no way to divide the table; otherwise None."""
    problem = front.problem
    if problem is None or "regions" not in problem.space.kinds or front.n_objectives < 2:
        return None
    if len(front) != 1 or not problem.constraints or problem.table.n_tuples < 2:
        return None
    labels = problem.candidates(front.X).labels
    if labels is None or len(np.unique(labels)) > 1:
        return None
    return (
        "No division into regions was found that keeps the constraints: all records are one region."
    )


def as_html(front: Front) -> str:
    """Return a picture and a table of up to twenty solutions, spread over the front."""
    title = "".join(f"<div>{html.escape(line)}</div>" for line in summary(front).splitlines())
    if not len(front):
        return title
    rows = _spread(len(front))
    head = "".join(f"<th>{html.escape(q.label)}</th>" for q in front.quantities)
    body = "".join(
        f"<tr><th>{front.numbers[i]}</th>"
        + "".join(
            f"<td>{html.escape(_cell(q.write(front.values[i, j])))}</td>"
            for j, q in enumerate(front.quantities)
        )
        + "</tr>"
        for i in rows
    )
    note = (
        f"<div>{len(rows)} of {len(front):,} solutions shown</div>"
        if len(rows) < len(front)
        else ""
    )
    table = f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{title}{_image(front)}{table}{note}</div>"


def _cell(text: str) -> str:
    return text.removesuffix(" %")


def _spread(n: int) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, n - 1, min(n, _ROWS)).round().astype(np.intp))


def _image(front: Front) -> str:
    picture = registry.load("views", "thumbnail")(front)
    # As an image in the page: it survives nbconvert, and viewers that remove SVG or scripts.
    data = base64.b64encode(picture).decode("ascii")
    names = html.escape(", ".join(q.label for q in front.objectives), quote=True)
    return f'<img alt="Trade-off between {names}" src="data:image/png;base64,{data}"/>'
