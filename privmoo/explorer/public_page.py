"""The report that may be passed on with a release: one page without scripts."""

from __future__ import annotations

import base64
import hashlib
import html
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from privmoo.explorer.public_card import PublicCard, public_card
from privmoo.explorer.public_curve import LEAST_RECORDS, PublicCurve, public_curve
from privmoo.front.front import Front
from privmoo.front.solution import Solution
from privmoo.release.certificate import NOT_GUARANTEED
from privmoo.release.release import Release

__all__ = ["public_page"]

_TITLE = "A published table, in numbers"
_LEAD = (
    "This page may be passed on with the release. Everything on it can be counted in the released rows{}. "
    "What was done to the table, and what was measured, is in the certificate beside them."
)
_NO_CURVE = (
    f"Not drawn here: the curve is drawn for {LEAST_RECORDS:,} released records or more, and only if no "
    "sensitive value had a say in it."
)
_WIDTH, _HEIGHT, _ROOM = 620, 260, 46
_PERSONS = (
    "A person may have several rows. These numbers count rows; the certificate counts persons."
)


def public_page(front: Front, pick: Solution, release: Release) -> str:
    """Return the text of the public report.

    Args:
        front: The whole front, for the curve.
        pick: The solution that was released.
        release: Its release.
    """
    certificate = release.certificate
    card = public_card(release.frame, certificate.release["columns"])
    curve = public_curve(front, pick, len(release))
    remarks = ["By counting rows, for the quasi-identifiers above."]
    if "k_counts" in certificate.method:
        remarks.append(_PERSONS)
    parts = [
        f"<h1>{_TITLE}</h1>",
        f"<p>{_LEAD.format('' if curve is None else ', except for the curve, which is rounded')}</p>",
        "<h2>What is published</h2>",
        *(_labels(name, card) for name in card.labels),
        _others(card),
        "<h2>Privacy and risk</h2>",
        *(f"<p>{sentence}</p>" for sentence in remarks),
        _table([(name, _number(value)) for name, value in card.facts]),
        "<h2>Records by the size of their QI-group</h2>",
        _bars(card.sizes),
        "<h2>What k costs</h2>",
        f"<p>{_NO_CURVE}</p>" if curve is None else _picture(curve),
        "<h2>What is not guaranteed</h2>",
        *(f"<p>{html.escape(sentence)}</p>" for sentence in NOT_GUARANTEED),
    ]
    return _page(parts)


@cache
def _style() -> str:
    return files("privmoo.explorer").joinpath("public.css").read_text(encoding="utf-8")


def _page(parts: Sequence[str]) -> str:
    sheet = _style()
    digest = base64.b64encode(hashlib.sha256(sheet.encode("utf-8")).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        '<link rel="icon" href="data:,">',
        f"<title>{_TITLE}</title>",
        f"<style>{sheet}</style>",
        "</head>",
        "<body>",
        "<main>",
        *parts,
        "</main>",
        "</body>",
        "</html>",
    ]
    # Half a character, which a table may hold, cannot be written: its number is.
    return ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace").decode("utf-8")


def _labels(name: str, card: PublicCard) -> str:
    labels = card.labels[name]
    inside = f"<p>{card.distinct[name]:,} different values</p>" if labels is None else _bars(labels)
    return f"<section><h3>{html.escape(name)}</h3>{inside}</section>"


def _others(card: PublicCard) -> str:
    rows = [(name, f"{role}, as it was") for name, role in card.others.items()]
    return f"<section><h3>Other columns</h3>{_table(rows)}</section>" if rows else ""


def _table(rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(text)}</td></tr>'
        for name, text in rows
    )
    return f"<table>{cells}</table>"


def _bars(counts: Sequence[tuple[str, int]]) -> str:
    largest = max((records for _, records in counts), default=0) or 1
    cells = "".join(
        f'<tr><th scope="row">{html.escape(label)}</th>'
        f'<td><meter min="0" max="{largest}" value="{records}"></meter></td>'
        f"<td>{records:,}</td></tr>"
        for label, records in counts
    )
    return f"<table>{cells}</table>"


def _number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.4g}"


def _picture(curve: PublicCurve) -> str:
    """Return the curve as a picture, and the same numbers as a table."""
    caption = (
        "The smallest information loss that was found for groups of at least k records, to the nearest "
        "5 %."
    )
    shapes = "".join([*_axes([k for k, _ in curve.points]), *_line(curve)])
    return (
        f"<p>{caption}</p>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Loss by k">{shapes}</svg>'
        + _table([(f"k = {k:,}", f"about {_percent(loss)}") for k, loss in curve.points])
    )


def _line(curve: PublicCurve) -> list[str]:
    ks = [k for k, _ in curve.points]
    spots = [(_across(k, ks), _up(loss)) for k, loss in curve.points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    shapes = [f'<polyline class="line" points="{line}"/>']
    shapes += [f'<circle class="spot" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in spots]
    if curve.pick is not None:
        x, y = _across(curve.pick[0], ks), _up(curve.pick[1])
        shapes.append(f'<circle class="pick" cx="{x:.1f}" cy="{y:.1f}" r="8"/>')
        shapes.append(_text(x, y - 14, "this release", "end" if x > _WIDTH / 2 else "start"))
    return shapes


def _axes(ks: Sequence[int]) -> list[str]:
    shapes = [_text(_across(k, ks), _HEIGHT - _ROOM + 18, f"{k:,}") for k in ks]
    for share in (0.0, 0.5, 1.0):
        y = _up(share)
        shapes.append(
            f'<line class="grid" x1="{_ROOM}" x2="{_WIDTH - _ROOM}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        shapes.append(_text(_ROOM - 8, y + 4, _percent(share), "end"))
    return [*shapes, _text(_WIDTH / 2, _HEIGHT - 6, "k"), _text(4, 14, "information loss", "start")]


def _across(k: int, ks: Sequence[int]) -> float:
    return _ROOM + (_WIDTH - 2 * _ROOM) * math.log(k / ks[0]) / math.log(ks[-1] / ks[0])


def _up(share: float) -> float:
    return _HEIGHT - _ROOM - (_HEIGHT - 1.6 * _ROOM) * share


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
