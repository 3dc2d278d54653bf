"""The certificate of a release: what was done, what holds, and what does not follow from it."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from privmoo._util.files import write_text

__all__ = ["NOT_GUARANTEED", "Certificate", "Claim"]

NOT_GUARANTEED = (
    "k and ℓ protect against linking by the quasi-identifiers named here; a column that an attacker "
    "knows but that was not named a quasi-identifier is not protected.",
    "No differential privacy is claimed: an attacker with other knowledge about a person, or with "
    "another release of the same records, may learn more.",
    "Sensitive and insensitive columns are released as they are.",
    "Where a hierarchy was made from the data, the ends of its ranges are values that occur in them; "
    "give the domain yourself if its ends must not be known.",
)


@dataclass(frozen=True)
class Claim:
    """A value that the optimiser computed, beside what the audit of the released rows measured."""

    measure: str
    parameters: dict[str, Any]
    claimed: float
    audited: float


@dataclass(frozen=True)
class Certificate:
    """What was done to a table, and what was measured on the rows that came out.

    Attributes:
        source: Version, date and size of the original table; nothing that tells its content.
        method: The recoding in words, the suppression policy, whether rows were shuffled.
        release: Records, columns with their roles, suppressed records and their share.
        privacy: Privacy and risk, measured from the released rows alone by `privmoo.audit`.
        utility: Utility, recomputed from original, release and hierarchies.
        claims: The optimiser's values that the audit confirmed.
        warnings: What a publisher should look at before publishing.
        not_guaranteed: What does not follow.
    """

    source: dict[str, Any]
    method: dict[str, Any]
    release: dict[str, Any]
    privacy: dict[str, Any]
    utility: dict[str, Any]
    claims: tuple[Claim, ...]
    warnings: tuple[str, ...]
    not_guaranteed: tuple[str, ...] = NOT_GUARANTEED

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return asdict(self)

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """JSON text; written to `path` if one is given."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, default=str)
        if path is not None:
            write_text(path, text + "\n", force=force)
        return text

    def to_text(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Readable text; written to `path` if one is given."""
        lines = ["Certificate of an anonymised release"]
        for title, rows in self._sections():
            lines += [
                "",
                title,
                *(f"  {key}: {value}" if key else f"  - {value}" for key, value in rows),
            ]
        text = "\n".join(lines)
        if path is not None:
            write_text(path, text + "\n", force=force)
        return text

    def _sections(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        yield "Original", list(_flat(self.source))
        yield "What was done", list(_flat(self.method))
        yield "Release", list(_flat(self.release))
        yield "Privacy and risk, measured from the released rows alone", list(_flat(self.privacy))
        yield (
            "Utility, recomputed from original, release and hierarchies",
            list(_flat(self.utility)),
        )
        if self.claims:
            yield (
                "Values of the optimisation that the audit confirmed",
                [(c.measure + _arguments(c.parameters), _number(c.audited)) for c in self.claims],
            )
        if self.warnings:
            yield "Warnings", [("", warning) for warning in self.warnings]
        yield "What is not guaranteed", [("", sentence) for sentence in self.not_guaranteed]

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        parts = []
        for title, rows in self._sections():
            cells = "".join(
                f"<tr><td style='text-align:left'>{html.escape(key)}</td>"
                f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
                for key, value in rows
            )
            parts.append(f"<h4>{html.escape(title)}</h4><table>{cells}</table>")
        return "".join(parts)


def _arguments(parameters: dict[str, Any]) -> str:
    shown = {key: value for key, value in parameters.items() if value is not None}
    return f" ({', '.join(f'{key} {value}' for key, value in shown.items())})" if shown else ""


def _flat(data: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        # Only our own words lose their underscores, not a column's name further down.
        name = f"{prefix}{key}" if prefix else key.replace("_", " ")
        if isinstance(value, dict):
            yield from _flat(value, f"{name} · ")
        elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            for entry in value:
                first, *rest = entry.items()
                yield (
                    f"{name} {first[0]} {_number(first[1])}",
                    ", ".join(f"{k} {_number(v)}" for k, v in rest),
                )
        elif isinstance(value, list | tuple):
            yield name, ", ".join(str(item) for item in value)
        else:
            yield name, _number(value)


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "not known" if value is None else str(value)
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"
