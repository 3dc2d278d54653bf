"""The certificate of a release: what was done, what holds, and what does not follow from it.

Every sentence of the certificate is in this module. Other modules hand over plain data.
"""

from __future__ import annotations

import datetime
import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from privmoo._util.files import write_text
from privmoo.audit import Audit
from privmoo.data.table import Table
from privmoo.errors import ReleaseError
from privmoo.recodings.base import Caution, Recoding
from privmoo.suppression import Suppression

__all__ = [
    "NOT_GUARANTEED",
    "Certificate",
    "Claim",
    "Findings",
    "Homogeneity",
    "caution_text",
    "certify",
    "file_facts",
    "k_by_columns",
    "repeated_release",
    "unique_column",
]

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

    def of_file(self, facts: Mapping[str, Any]) -> Certificate:
        """Return the certificate with facts about the file of the release."""
        return replace(self, release={**self.release, **facts})

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return JSON text.

        Args:
            path: A file to write as well.
            force: Whether a file that exists is replaced.
        """
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, default=str)
        if path is not None:
            write_text(path, text + "\n", force=force)
        return text

    def to_text(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return readable text.

        Args:
            path: A file to write as well.
            force: Whether a file that exists is replaced.
        """
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
    words = [f"{key} {value}" for key, value in parameters.items() if value is not None]
    return f" ({', '.join(words)})" if words else ""


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
            yield name, ", ".join(str(item) for item in value) or "none"
        else:
            yield name, _number(value)


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "not known" if value is None else str(value)
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


# What is stated


@dataclass(frozen=True)
class Homogeneity:
    """How many records are in groups where all have the same sensitive value.

    Attributes:
        shares: The share of records, per sensitive attribute.
        columns: The quasi-identifiers that the groups are by: all, or those without noise where groups
            by all of them cannot be counted.
    """

    shares: Mapping[str, float]
    columns: Sequence[str]

    @classmethod
    def of(cls, audit: Audit, columns: Sequence[str]) -> Homogeneity:
        """Return what an audit says.

        Args:
            audit: The audit.
            columns: The quasi-identifiers that it goes by.
        """
        sensitive = audit.to_dict().get("sensitive", {})
        return cls({name: of["homogeneity"] for name, of in sensitive.items()}, columns)


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What was done to a table and measured on its release, as plain data.

    Attributes:
        table: The original.
        recoding: What the quasi-identifiers became.
        suppression: The policy.
        n_released: The number of released records.
        labels: Per quasi-identifier the values that are released.
        privacy: Privacy and risk, by the audit.
        utility: Utility, by the audit.
        homogeneity: How many records are in groups with one sensitive value.
        claims: The optimiser's values that the audit confirmed.
        warnings: What a publisher should look at.
        shuffled: Whether the rows changed their order.
        method: Further facts, such as problem and algorithm.
    """

    table: Table
    recoding: Recoding
    suppression: Suppression
    n_released: int
    labels: Mapping[str, set[str]]
    privacy: Mapping[str, Any]
    utility: Mapping[str, Any]
    homogeneity: Homogeneity
    claims: tuple[Claim, ...] = ()
    warnings: Sequence[str] = ()
    shuffled: bool = True
    method: Mapping[str, Any] = field(default_factory=dict)


def certify(findings: Findings) -> Certificate:
    """Write the certificate of a release."""
    table = findings.table
    n_suppressed = table.n_records - findings.n_released
    columns = table.released_columns
    return Certificate(
        source={
            "privmoo": _version(),
            "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "records": table.n_records,
            **({} if table.subjects is None else {"persons": table.n_persons}),
            **({"rows_dropped_for_missing_values": table.n_dropped} if table.n_dropped else {}),
        },
        method=_method(findings),
        release={
            "records": findings.n_released,
            "records_suppressed": n_suppressed,
            "share_suppressed": n_suppressed / table.n_records,
            "columns": {name: table.roles[name] for name in columns},
            "columns_left_out": [name for name in table.roles if name not in columns],
        },
        privacy=dict(findings.privacy),
        utility=dict(findings.utility),
        claims=findings.claims,
        warnings=(*findings.warnings, *_remarks(findings)),
        not_guaranteed=(*map(caution_text, findings.recoding.cautions()), *NOT_GUARANTEED),
    )


def _version() -> str:
    try:
        return version("privmoo")
    except PackageNotFoundError:
        return "unknown"


def _method(findings: Findings) -> dict[str, Any]:
    table, recoding = findings.table, findings.recoding
    method = {
        **findings.method,
        "quasi_identifiers": recoding.describe(findings.labels),
        **_method_facts(recoding.facts()),
        **_units_of_loss(table, findings.utility),
        "suppression": findings.suppression.describe(),
        "rows_shuffled": findings.shuffled,
    }
    if table.subjects is not None:
        method["k_counts"] = "persons, by a key that is not released"
    return method


def _units_of_loss(table: Table, utility: Mapping[str, Any]) -> dict[str, Any]:
    if "loss" in utility:
        occurring = " that occur" if table.domain == "observed" else ""
        return {
            "loss_is_counted_in": {
                qi.name: f"{qi.n_leaves} {'values' if qi.exact else 'base intervals'}{occurring}"
                for qi in table.qis
            }
        }
    if "il" in utility:
        return {"il_is_counted_in": "squared differences of numbers, and changed values"}
    return {}


def _method_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts of a scheme, in words where a number alone would not be understood.

    Files of version 0.1 have the words already.
    """
    facts_in_words = dict(facts)
    try:
        if isinstance(facts.get("split_by"), list):
            facts_in_words["split_by"] = (
                ", ".join(facts["split_by"]) or "nothing: all records are violating"
            )
        if isinstance(facts.get("levels"), Mapping):
            facts_in_words["levels"] = {
                name: _levels(levels) for name, levels in facts["levels"].items()
            }
        if isinstance(facts.get("noise"), list):
            noise = [_noise(entry) for entry in facts["noise"]]
            facts_in_words["noise"] = noise or "none: there is no numeric quasi-identifier"
    except (LookupError, TypeError, ValueError):
        raise ReleaseError(
            "recoding: its facts cannot be put into words; is its file damaged?"
        ) from None
    return facts_in_words


def _levels(levels: Any) -> Any:
    if not isinstance(levels, Mapping):
        return levels
    common = ", or the lowest common one" if levels["common"] else ""
    return f"{levels['diverse']} in diverse clusters, {levels['others']} in others{common}"


def _noise(entry: Mapping[str, Any]) -> dict[str, Any]:
    if "partition" not in entry:
        return dict(entry)
    low, high = entry["kept within"]
    noise_in_words = {name: value for name, value in entry.items() if name != "partition"}
    noise_in_words["column"] = f"{entry['column']}, {entry['partition']} records"
    noise_in_words["kept within"] = f"{low:.10g} to {high:.10g}"
    return noise_in_words


def k_by_columns(k: int, k_without_noise: int, exact: Sequence[str]) -> dict[str, int]:
    """State k for two attackers: one who knows all quasi-identifiers, one who ignores noised ones.

    Args:
        k: On all quasi-identifiers.
        k_without_noise: On those without noise.
        exact: The quasi-identifiers without noise.
    """
    return {
        "all quasi-identifiers": k,
        f"those without noise ({', '.join(exact)})": k_without_noise,
    }


def file_facts(name: str, *, spreadsheets: bool) -> dict[str, Any]:
    """State what the certificate says of the file of a release.

    Args:
        name: The name of the file.
        spreadsheets: Whether texts that a spreadsheet would take for a formula have an apostrophe.
    """
    facts = {"file": name}
    if spreadsheets:
        facts["formulas"] = "texts that begin with = + - @ ' have an apostrophe before them"
    return facts


# Warnings and cautions


def unique_column(role: str, name: str) -> str:
    """Warn of a column that is released as it is and names nearly everybody.

    Args:
        role: The role of the column.
        name: The column.
    """
    return (
        f"{role} column {name!r} has a nearly unique value in every record: it may identify people "
        "whatever the quasi-identifiers say; make it identifying or a quasi-identifier"
    )


def repeated_release(number: int) -> str:
    """Warn that this is not the first release of the same table."""
    return (
        f"this is release number {number} of the same table: releases that differ can be "
        "intersected, so that k of each does not hold for both together"
    )


def _remarks(findings: Findings) -> list[str]:
    table, remarks = findings.table, []
    if findings.privacy["k"] < 2:
        remarks.append("k is 1: at least one record is alone in its group and can be singled out.")
    columns = findings.homogeneity.columns
    groups = "groups" if len(columns) == table.n_qis else f"groups by {', '.join(columns)}"
    for name, share in findings.homogeneity.shares.items():
        if share > 0 and name not in table.qi_names:
            remarks.append(
                f"{100 * share:.3g} % of the records are in {groups} where all have the same value of "
                f"{name!r}: whoever finds a person's group learns it."
            )
    if table.subjects is not None and table.sensitive:
        remarks.append(
            "k and the risks count persons; ℓ, t and the other measures of sensitive values count rows, "
            "so that several rows of one person can look like diversity."
        )
    return remarks


def caution_text(caution: Caution) -> str:
    """Return the sentence of a caution.

    >>> caution_text(Caution("numbers_as_text", {"column": "pay"}))
    "'pay' holds numbers as text, so it was published in categories without noise."
    """
    try:
        return _CAUTIONS[caution.code](**caution.parameters)
    except (LookupError, TypeError, ValueError):
        raise ReleaseError(
            f"recoding: there is no sentence for its caution {caution.code!r}; is its file damaged?"
        ) from None


def _noise_stays_near(*, measured: bool) -> str:
    risk = (
        "The disclosure risk stated here is for an attacker who knows that."
        if measured
        else "How likely an attacker who knows that finds a person was not measured here."
    )
    return (
        "A number with noise is still near the original one: where few people have numbers near it, it "
        f"still points at them. {risk}"
    )


def _rounding_undoes_noise(*, column: str, apart: float, scale: float) -> str:
    return (
        f"The numbers of {column!r} are at least {apart:.6g} apart, and noise of scale {scale:.3g} seldom "
        "reaches from one to the next: rounding gives them back. A larger sensitivity would hide them."
    )


def _bounds_of_data(*, columns: Sequence[str]) -> str:
    return (
        "Numbers with noise are kept within a smallest and a largest one, which for "
        f"{', '.join(map(repr, columns))} may be values of the data: no bounds were given."
    )


def _numbers_as_text(*, column: str) -> str:
    return f"{column!r} holds numbers as text, so it was published in categories without noise."


_CAUTIONS: dict[str, Callable[..., str]] = {
    "sentence": lambda text: text,
    "noise_is_not_dp": lambda: (
        "Laplace noise was added to single values. This is not ε-differential privacy of the release: "
        "which records violate and which cluster they are in was read from the original data, categories "
        "are published without noise, and every record is published."
    ),
    "noise_stays_near": _noise_stays_near,
    "labels_of_noise": lambda: (
        "A label is made of numbers with noise, so it need not cover the original number of a record."
    ),
    "numbers_as_text": _numbers_as_text,
    "rounding_undoes_noise": _rounding_undoes_noise,
    "bounds_of_data": _bounds_of_data,
    "shared_noise": lambda: (
        "All solutions of one front share the draws of their noise: two of them published together would "
        "give it away. Publish one."
    ),
}
