"""The certificate of a release: what was done, what holds, and what does not follow from it.

Every sentence of the certificate is in this module. Other modules hand over plain data.
"""

from __future__ import annotations

import datetime
import html
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from privmoo._util.files import write_text
from privmoo._util.wording import count_noun
from privmoo.audit import Audit
from privmoo.audit.figure_words import how_to_read, words_for
from privmoo.data.table import Table
from privmoo.errors import ReleaseError
from privmoo.recodings.base import Caution, Recoding
from privmoo.suppression import Suppression

__all__ = [
    "NOT_GUARANTEED",
    "OVERLAP",
    "Certificate",
    "Claim",
    "Findings",
    "Homogeneity",
    "caution_text",
    "certify",
    "columns_unique_together",
    "earlier_releases",
    "file_facts",
    "k_by_columns",
    "release_of_similar_table",
    "repeated_release",
    "unique_column",
]

NOT_GUARANTEED = (
    "k, ℓ, t and the risks count released rows. They say what an attacker learns by finding a person's "
    "group through the quasi-identifiers listed here and counting its rows. A column that an attacker "
    "knows, but that is not listed as a quasi-identifier, is not protected.",
    "An attacker who knows how the recoding was chosen may learn more than these counts suggest, even a "
    "person's sensitive value: the fact that no finer recoding was chosen says something about the "
    "records.",
    "No differential privacy is claimed: an attacker who knows other things about a person, or who holds "
    "another release of the same records, may learn more.",
    "Sensitive and insensitive columns are released as they are.",
    "If a hierarchy was built from the data, the ends of its ranges are values that occur in the data. "
    "Declare the domain if these values must stay secret.",
)
OVERLAP = "labels of one column may overlap, such as 20–29 and 25–34"
"""What holds for every recoding that treats a column differently in different groups."""
_LOST = "share_of_records_whose_value_no_longer_occurs"
_INTERSECTION = (
    "anyone who holds two different releases about the same people can intersect them, and then the k of "
    "neither holds; publish only one"
)


@dataclass(frozen=True)
class Claim:
    """A value that the optimiser computed, with the one that the audit measured on the released rows.

    Attributes:
        measure: The name of the measure.
        parameters: Its parameters.
        claimed: The value that the optimiser computed.
        audited: The value that the audit measured.
        of_rows: Whether the released rows alone determine the value; otherwise it depends on the original.
    """

    measure: str
    parameters: dict[str, Any]
    claimed: float
    audited: float
    of_rows: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return measure, parameters and both values."""
        return {name: value for name, value in asdict(self).items() if name != "of_rows"}


@dataclass(frozen=True)
class Certificate:
    """A record of what was done to a table, and of what was measured on the released rows.

    The attributes hold all digits. Whatever is written or shown is rounded; see `published`.

    Attributes:
        source: The version, the date, and the size of the original table; nothing about its content.
        method: The recoding in words, the suppression policy, whether rows were shuffled.
        release: Records, columns with their roles, suppressed records and their share.
        privacy: Privacy and risk, measured from the released rows alone by `privmoo.audit`.
        utility: Utility, recomputed from original, release and hierarchies.
        claims: The optimiser's values that the audit confirmed.
        warnings: What a publisher should look at before publishing.
        not_guaranteed: What a reader must not conclude from it.
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

    def published(self) -> Certificate:
        """Return the certificate as it may be published.

        Whatever depends on the original records is rounded, so that a single record hardly changes it. With
        all digits, somebody who knows all other records could try values for the last one until they fit.
        The number of lost values is not stated at all, and a share of records that rounds to nothing is
        left out: if only one person had a value, and no released row has it, the count would reveal that
        this person was among the original records.
        """
        n_records = int(self.source["records"])
        claims = [
            claim
            if claim.of_rows
            else replace(
                claim,
                claimed=_round_fractions(claim.claimed, n_records),
                audited=_round_fractions(claim.audited, n_records),
            )
            for claim in self.claims
        ]
        method = dict(self.method)
        if isinstance(method.get("noise"), list):
            method["noise"] = [_rounded_share(entry, n_records) for entry in method["noise"]]
        release = dict(self.release)
        if _LOST in release:
            shares = _round_fractions(release.pop(_LOST), n_records)
            shares = {name: share for name, share in shares.items() if share}
            release |= {_LOST: shares} if shares else {}
        return replace(
            self,
            method=method,
            release=release,
            utility=_round_fractions(self.utility, n_records),
            claims=tuple(claims),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, rounded as in `published`."""
        certificate = self.published()
        claims = tuple(claim.to_dict() for claim in certificate.claims)
        return {**asdict(certificate), "claims": claims}

    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the certificate as JSON.

        Args:
            path: A file to write as well.
            force: Whether a file that exists is replaced.
        """
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, default=str)
        if path is not None:
            write_text(path, text + "\n", force=force)
        return text

    def to_text(self, path: str | Path | None = None, *, force: bool = False) -> str:
        """Return the certificate as readable text.

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
        rounded = self.published()
        yield "In short", [("", sentence) for sentence in self._summary(rounded)]
        yield "Original", list(_flat(self.source))
        yield "What was done", list(_flat(rounded.method))
        yield "Release", list(_flat(_columns_by_role(rounded.release)))
        yield (
            "Privacy and risk, measured on the released rows alone",
            list(_figures(self.privacy)),
        )
        yield (
            "Utility, recomputed from the original, the release and the hierarchies, and rounded",
            list(_figures(rounded.utility)),
        )
        if rounded.claims:
            yield (
                "Values of the optimisation that the audit confirmed",
                [
                    (c.measure + _arguments(c.parameters), _number(c.audited))
                    for c in rounded.claims
                ],
            )
        if self.warnings:
            yield "Warnings", [("", warning) for warning in self.warnings]
        yield "What is not guaranteed", [("", sentence) for sentence in self.not_guaranteed]
        names = [*self.privacy, *next(iter(self.privacy.get("sensitive", {}).values()), ())]
        yield "How to read the figures", how_to_read([*names, *rounded.utility])

    def _summary(self, rounded: Certificate) -> list[str]:
        """Return the few sentences that a reader needs first."""
        n, k = int(self.source["records"]), int(self.privacy["k"])
        people = "persons" if "persons" in self.source else "records"
        sentences = [
            f"{int(self.release['records']):,} of {n:,} records are released, in "
            f"{count_noun(int(self.privacy['n_groups']), 'group')}.",
            f"k = {k:,}: everybody shares all quasi-identifiers with at least {k - 1:,} other {people}."
            if k > 1
            else "k = 1: at least one record is alone in its group and can be singled out.",
        ]
        loss = rounded.utility.get("loss")
        if loss is not None:
            sentences.append(
                f"Loss {_number(loss)}: the share of detail that is gone; 0 means unchanged, 1 means that "
                "nothing is left."
            )
        if rounded.release.get(_LOST):
            sentences.append(
                f"Some values of {', '.join(map(repr, rounded.release[_LOST]))} no longer occur, because "
                "all records that had them were left out."
            )
        if self.warnings:
            sentences.append(f"There are warnings ({len(self.warnings)}): see below.")
        return sentences

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


def _round_fractions(value: Any, n_records: int) -> Any:
    """Round the fractions in plain data.

    A mean over n records changes by at most 1 / n with one record, and the last digit that is left is at
    least ten times that. Whole numbers count groups or rows, and stay as they are. The last bits of a sum
    depend on the order of its terms, which differs between engines; twelve digits are kept first, so that
    they cannot decide which way a tie is rounded.

    Args:
        value: A number, or mappings and lists of numbers.
        n_records: The number of original records.

    >>> _round_fractions({"loss": 0.18742, "k": 5, "il": 12.3456}, 30_162), _round_fractions(0.18742, 500)
    ({'loss': 0.187, 'k': 5, 'il': 12.3}, 0.2)
    >>> _round_fractions([0.75, 0.7499999999999999], 4)
    [0.8, 0.8]
    """
    if isinstance(value, Mapping):
        return {name: _round_fractions(entry, n_records) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_round_fractions(entry, n_records) for entry in value]
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    digits = min(3, max(1, math.floor(math.log10(max(n_records, 1))) - 1))
    value = float(f"{value:.12g}")
    return round(value, digits) if abs(value) <= 1 else float(f"{value:.{digits}g}")


def _rounded_share(noise: Mapping[str, Any], n_records: int) -> dict[str, Any]:
    """Round the share of numbers that noise left unchanged."""
    name = "share unchanged"
    share = {name: _round_fractions(noise[name], n_records)} if name in noise else {}
    return {**noise, **share}


def _arguments(parameters: dict[str, Any]) -> str:
    texts = {
        key: ", ".join(map(str, value)) if isinstance(value, list) else value
        for key, value in parameters.items()
    }
    words = [f"{key} {text}" for key, text in texts.items() if text is not None]
    return f" ({', '.join(words)})" if words else ""


def _flat(data: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        # Underscores become spaces in our own words, but not in the names of columns further down.
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


def _figures(figures: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return figures under the words for them; those of one sensitive attribute share a line."""
    for name, value in figures.items():
        if name == "sensitive":
            for attribute, measures in value.items():
                line = ", ".join(
                    f"{words_for(m, of_attribute=True)} {_number(v)}" for m, v in measures.items()
                )
                yield f"{attribute}", line
        else:
            yield from _flat({words_for(name): value})


def _columns_by_role(release: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts about a release with a line per role instead of one per column."""
    roles: dict[str, list[str]] = {}
    for name, role in release["columns"].items():
        roles.setdefault(role, []).append(name)
    return {**release, "columns": roles}


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "unknown" if value is None else str(value)
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


# What is stated


@dataclass(frozen=True)
class Homogeneity:
    """The share of records in groups whose records all have the same sensitive value.

    Attributes:
        shares: The share of records, per sensitive attribute.
        columns: The quasi-identifiers that form the groups: all, or those without noise if groups by
            all of them cannot be counted.
    """

    shares: Mapping[str, float]
    columns: Sequence[str]

    @classmethod
    def of(cls, audit: Audit, columns: Sequence[str]) -> Homogeneity:
        """Return the shares that an audit measured.

        Args:
            audit: The audit.
            columns: The quasi-identifiers by which it forms groups.
        """
        sensitive = audit.to_dict().get("sensitive", {})
        return cls({name: of["homogeneity"] for name, of in sensitive.items()}, columns)


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The contents of a certificate as plain data: what was done, and what was measured.

    Attributes:
        table: The original.
        recoding: The recoding of the quasi-identifiers.
        suppression: The policy.
        n_released: The number of released records.
        labels: For each quasi-identifier, the released values with the number of their records.
        privacy: Privacy and risk, by the audit.
        utility: Utility, by the audit.
        homogeneity: How many records are in groups with one sensitive value.
        claims: The optimiser's values that the audit confirmed.
        warnings: What a publisher should look at.
        lost: For each quasi-identifier, the share of records whose value no released record may have.
        shuffled: Whether the rows were shuffled.
        method: Further facts, such as problem and algorithm.
    """

    table: Table
    recoding: Recoding
    suppression: Suppression
    n_released: int
    labels: Mapping[str, Mapping[str, int]]
    privacy: Mapping[str, Any]
    utility: Mapping[str, Any]
    homogeneity: Homogeneity
    claims: tuple[Claim, ...] = ()
    warnings: Sequence[str] = ()
    lost: Mapping[str, float] = field(default_factory=dict)
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
            **({_LOST: dict(findings.lost)} if findings.lost else {}),
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
        method["k_counts"] = "persons, identified by a key that is not released"
    return method


def _units_of_loss(table: Table, utility: Mapping[str, Any]) -> dict[str, Any]:
    if "loss" in utility:
        # The number of values in the data may reveal one that only suppressed records have.
        return {
            "loss_is_counted_in": {
                qi.name: f"{'' if qi.of_data else f'{qi.n_leaves} '}"
                f"{'values' if qi.exact else 'base intervals'}{' of the data' if qi.of_data else ''}"
                for qi in table.qis
            }
        }
    if "il" in utility:
        return {"il_is_counted_in": "squared differences of numbers, and changed values"}
    return {}


def _method_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts about a scheme, in words where a number alone would be unclear.

    Files of version 0.1 have the words already.
    """
    facts_in_words = dict(facts)
    try:
        if isinstance(facts.get("split_by"), list):
            facts_in_words["split_by"] = (
                ", ".join(facts["split_by"]) or "no column: every record counts as violating"
            )
        if isinstance(facts.get("levels"), Mapping):
            facts_in_words["levels"] = {
                name: _levels(levels) for name, levels in facts["levels"].items()
            }
        if "range_ends" in facts:
            facts_in_words["range_ends"] = _RANGE_ENDS[facts["range_ends"]]
        if isinstance(facts.get("means"), Mapping):
            facts_in_words["means"] = _means(**facts["means"])
        if isinstance(facts.get("noise"), list):
            noise = [_noise(entry) for entry in facts["noise"]]
            facts_in_words["noise"] = noise or "none: there is no numeric quasi-identifier"
    except (LookupError, TypeError, ValueError):
        raise ReleaseError(
            "recoding: the facts about it cannot be read; is its file damaged?"
        ) from None
    return facts_in_words


_RANGE_ENDS = {
    "region": "the bounds of each region, not the extremes of its members",
    "tight": "the smallest and the largest value in each group, or the lowest node that covers the group",
}


def _means(
    *, step: Any = None, noise: Any = None, exact: bool = False
) -> dict[str, dict[str, float]] | str:
    if exact:
        return "exact, to nine digits of the column's range"
    published = {}
    if noise is not None:
        published["scale of Laplace noise"] = noise
    if step is not None:
        published["rounded to multiples of"] = step
    return published


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
    """State k for two attackers: one who knows all quasi-identifiers, and one who ignores those with noise.

    Args:
        k: The k on all quasi-identifiers.
        k_without_noise: The k on those without noise.
        exact: The quasi-identifiers without noise.
    """
    return {
        "all quasi-identifiers": k,
        f"those without noise ({', '.join(exact)})": k_without_noise,
    }


def file_facts(name: str, *, spreadsheets: bool) -> dict[str, Any]:
    """Return the facts about the file of a release for its certificate.

    Args:
        name: The name of the file.
        spreadsheets: Whether texts that a spreadsheet would read as a formula have an apostrophe.
    """
    facts = {"file": name}
    if spreadsheets:
        facts["formulas"] = (
            "every = + - @ or ' at the start of a text, or after a semicolon, bar, tab or line break in "
            "it, has an apostrophe before it"
        )
    return facts


# Warnings and cautions


def unique_column(role: str, name: str) -> str:
    """Warn of a column that is released unchanged and has a different value in nearly every record.

    Args:
        role: The role of the column.
        name: The column.
    """
    return (
        f"{role} column {name!r} has a different value in nearly every record: it may identify people, "
        "however the quasi-identifiers are recoded; make it identifying or a quasi-identifier"
    )


def columns_unique_together(names: Sequence[str]) -> str:
    """Warn of columns that are released unchanged and that together identify nearly every record."""
    several = f"{', '.join(map(repr, names[:-1]))} and {names[-1]!r}"
    return (
        f"insensitive columns {several} taken together are different in nearly every record: anyone who "
        "knows them may find people, however the quasi-identifiers are recoded; make one of them "
        "identifying or a quasi-identifier"
    )


def release_of_similar_table() -> str:
    """Warn of an earlier release of a table with nearly the same records."""
    return (
        "a table with nearly the same records was released before: anyone who holds both releases sees "
        "which groups have changed, and can work out who was added or removed; publish only one"
    )


def repeated_release(number: int) -> str:
    """Warn that this is not the first release of the same table."""
    return f"this is release number {number} of the same table: {_INTERSECTION}"


def earlier_releases(sources: Sequence[str]) -> str:
    """Warn of earlier releases of the same people.

    Args:
        sources: What was released, such as "solution 3 of this run".
    """
    verb = "was" if len(sources) == 1 else "were"
    return f"{' and '.join(sources)} {verb} released before: {_INTERSECTION}"


def values_alike(name: str, number: int) -> str:
    """Warn of sensitive values that count as different but look the same to a reader.

    Args:
        name: The sensitive column.
        number: How many values are alike.
    """
    several = number != 1
    return (
        f"{number:,} {'values' if several else 'value'} of {name!r} {'differ' if several else 'differs'} "
        f"from another only in letter case, spaces or spelling, or {'read' if several else 'reads'} as "
        "missing. Such values count as different here; a reader who takes them for the same finds less "
        "diversity."
    )


def _missing_values(name: str, are_unknown: bool) -> str:
    """State what missing sensitive values count as."""
    if are_unknown:
        return (
            f"{name!r} has missing values. Measures of diversity count each of them as the most frequent "
            "value in its group, which it may hide; measures of distance compare the values that are "
            "present."
        )
    return (
        f"{name!r} has missing values, which count as a value like any other: a group with one value and "
        "some missing ones looks diverse."
    )


def _remarks(findings: Findings) -> list[str]:
    table, remarks = findings.table, []
    if findings.privacy["k"] < 2:
        remarks.append("k is 1: at least one record is alone in its group and can be singled out.")
    columns = findings.homogeneity.columns
    groups = "groups" if len(columns) == table.n_qis else f"groups by {', '.join(columns)}"
    sentences = [
        (f"{100 * share:.3g} %", f"of {name!r}")
        for name, share in findings.homogeneity.shares.items()
        if share > 0 and name not in table.qi_names
    ]
    if sentences:
        (first, which), *others = sentences
        more = "".join(f", {percent} {name}" for percent, name in others)
        remarks.append(
            f"{first} of the records are in {groups} where all have the same value {which}"
            f"{more and f' ({more[2:]})'}: anyone who finds a person's group learns that value."
        )
    for name, measures in findings.privacy.get("sensitive", {}).items():
        if measures.get("values_alike"):
            remarks.append(values_alike(name, measures["values_alike"]))
    remarks += [
        _missing_values(name, attribute.unknown is not None)
        for name, attribute in table.sensitive.items()
        if attribute.has_missing
    ]
    if table.subjects is not None and table.sensitive:
        remarks.append(
            "k and the risks count persons; ℓ, t and the other measures of sensitive values count rows, "
            "so several rows of one person can look like diversity."
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
        "The disclosure risk stated here assumes an attacker who knows this."
        if measured
        else "How likely an attacker who knows this is to find a person was not measured."
    )
    return (
        "A number with noise is still close to the original: where few people have numbers like it, it "
        f"still points to them. {risk}"
    )


def _rounding_undoes_noise(*, column: str, apart: float, scale: float) -> str:
    return (
        f"The numbers of {column!r} are at least {apart:.6g} apart, and noise of scale {scale:.3g} is "
        "seldom that large: rounding restores the originals. A larger sensitivity would hide them."
    )


def _bounds_of_data(*, columns: Sequence[str]) -> str:
    return (
        "Numbers with noise are kept between a lower and an upper bound. None were declared for "
        f"{', '.join(map(repr, columns))}, so these bounds may be values that occur in the data."
    )


def _numbers_as_text(*, column: str) -> str:
    return f"{column!r} holds numbers as text, so it was published in categories without noise."


def _domain_of_data(*, columns: Sequence[str]) -> str:
    return (
        f"The domain of {', '.join(map(repr, columns))} was taken from the data: the ends of its ranges "
        "come from values that occur there, and the outermost ends are the extremes of real people. "
        "Declare the domain, as in Hierarchy.ordered(range(0, 121)), if these values must stay secret."
    )


def _class_means(*, step: Any = None, noise: Any = None) -> str:
    if step is None and noise is None:
        return (
            "The mean of a group gives away its last member: anyone who knows the numbers of all others "
            "in the group can compute the last one exactly. Round the means or add noise to them, "
            "as in Means(step=5), if members may know each other."
        )
    limits = []
    if step is not None:
        limits.append(
            f"within ± n/2 times the step ({_per_column(step)}) by which means are rounded"
        )
    if noise is not None:
        limits.append(f"up to noise of n times the scale ({_per_column(noise)})")
    return (
        "Means are not exact. Anyone who knows the numbers of all others in a group of n can still compute "
        f"the last one {', and '.join(limits)}; a column that is not named here is exact. "
        "The groups were formed from the original data, so noise on means is not differential privacy."
    )


def _per_column(values: Any) -> str:
    if not isinstance(values, Mapping):
        return f"{values:.6g} for all numbers"
    return ", ".join(f"{name!r}: {value:.6g}" for name, value in values.items())


_CAUTIONS: dict[str, Callable[..., str]] = {
    "sentence": lambda text: text,
    "tight_ranges": lambda: (
        "Ranges are tight: each end of a range is the value, or the base interval, of a real person in its "
        "group, and a node has members in at least two of its parts. Often only one person in the group "
        "has that value, and is singled out by it. The bounds of regions (publish='region') do not show "
        "this."
    ),
    "local_recoding": lambda: (
        f"Every group has its own ranges and nodes, which were drawn from the data, so {OVERLAP}: anyone "
        "who knows a person's quasi-identifiers and the method can often tell which group that person is "
        "in, and may conclude that a finer division would have broken a limit or lost more."
    ),
    "domain_of_data": _domain_of_data,
    "class_means": _class_means,
    "interval_ends": lambda: (
        "Both ends of an interval are numbers of real people in its cluster, with noise added."
    ),
    "noise_is_not_dp": lambda: (
        "Laplace noise was added to single values. This is not ε-differential privacy of the release: "
        "which records are violating, and which cluster they are in, depends on the original data, "
        "categories are published without noise, and every record is published."
    ),
    "noise_stays_near": _noise_stays_near,
    "labels_of_noise": lambda: (
        "Labels are made from numbers with noise, so the label of a record may not cover its original "
        "number."
    ),
    "numbers_as_text": _numbers_as_text,
    "rounding_undoes_noise": _rounding_undoes_noise,
    "bounds_of_data": _bounds_of_data,
    "seeded_noise": lambda: (
        "The noise was drawn with a seed that was set by hand. Anyone who knows the seed and the method "
        "can try out guesses of the original records, and can undo the noise once a guess is right. Keep "
        "the seed secret, or leave it out."
    ),
    "shared_noise": lambda: (
        "All solutions of one front share their random draws: publishing two of them would reveal the "
        "noise. Publish only one."
    ),
}
