"""Recoding: what a release publishes instead of the original quasi-identifiers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo import registry
from privmoo.data.table import Table
from privmoo.errors import PluginError, RecodingError
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.columns import Intervals, Noised, PublishedColumn

__all__ = ["Caution", "Recoding", "from_json", "recodings_in"]


@dataclass(frozen=True)
class Caution:
    """A fact that limits what follows from a release; the certificate has a sentence for its code.

    Attributes:
        code: The code, such as `"noise_is_not_dp"`.
        parameters: What the sentence mentions, as plain data.
    """

    code: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Caution:
        """Read back what `to_json` wrote; files of version 0.1 have the sentence itself."""
        if isinstance(data, Mapping):
            return cls(str(data["code"]), dict(data.get("parameters") or {}))
        return cls("sentence", {"text": str(data)})


class Recoding(ABC):
    """The contract that fronts, releases and the audit rely on.

    A recoding is a module of `privmoo.recodings`, or a plug-in: a subclass with a `name`, under which
    files refer to it. Its `columns` say what it publishes; everything that is stated or measured about
    a release depends on the kinds of these columns.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def columns(self) -> tuple[PublishedColumn, ...]:
        """What is published of every quasi-identifier."""

    @abstractmethod
    def codes(self, table: Table, rows: NDArray[np.int64]) -> Sequence[NDArray[Any]]:
        """Return the cell of some rows in every column.

        Args:
            table: The table.
            rows: Rows of `Table.originals`.
        """

    @abstractmethod
    def candidate(self, table: Table) -> Candidates:
        """Return the recoding in the form that the engine groups; `table` is the view, or a finer one."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return plain data that `from_json` reads back; `"kind"` is the recoding's name."""

    @classmethod
    @abstractmethod
    def from_json(cls, table: Table, data: Mapping[str, Any]) -> Recoding:
        """Read back what `to_json` wrote.

        Args:
            table: The same table.
            data: What `to_json` returned.
        """

    @abstractmethod
    def key(self) -> bytes:
        """Return bytes that are equal for equal recodings."""

    def view(self, table: Table) -> Table:
        """Return the table as the engine must see it.

        Tuples are split if equal records are published differently.
        """
        return table

    @property
    def whole_tuples(self) -> bool:
        """Whether equal records are always published alike, so that counts suffice for a release."""
        return False

    def apply(self, table: Table, rows: NDArray[np.int64]) -> pd.DataFrame:
        """Return the published quasi-identifiers of some rows.

        Args:
            table: The table.
            rows: Rows of `Table.originals`.
        """
        pairs = zip(self.columns, self.codes(table, rows), strict=True)
        return pd.DataFrame({column.name: column.series(codes) for column, codes in pairs})

    def meanings(self) -> dict[str, Mapping[str, Sequence[str]]]:
        """Return per quasi-identifier the leaves that every label stands for.

        A column of values that stand for themselves has no entry.
        """
        meanings = {column.name: column.meanings() for column in self.columns}
        return {name: labels for name, labels in meanings.items() if labels is not None}

    def mapping(self) -> dict[str, Mapping[str, str]]:
        """Return per quasi-identifier what every value is published as.

        Values are spelled as `privmoo.hierarchy.canonical` does, missing ones as `"missing"`; of a column
        with base intervals, the keys are these. All values of the domain are named, whether they occur or
        not. The mapping shows no record, but where the domain was taken from the data it shows its values.

        Raises:
            RecodingError: A column is not a function of its value, as in regions, clusters and noise.

        >>> from privmoo.hierarchy import Hierarchy
        >>> from privmoo.recodings import cut_recoding
        >>> table = Table(pd.DataFrame({"age": [1, 2, 3]}), quasi_identifiers={"age": Hierarchy.ordered()})
        >>> cut_recoding(table, [[1, 0]]).mapping()
        {'age': {'1': '1', '2': '2–3', '3': '2–3'}}
        """
        mappings = {}
        for column in self.columns:
            labels = column.mapping()
            if labels is None:
                raise RecodingError(
                    f"mapping: {column.name!r} is not recoded by its value alone but by the "
                    f"{column.scope} that a record belongs to; choose a solution of cuts or levels"
                )
            mappings[column.name] = labels
        return mappings

    def relative_levels(self) -> dict[str, dict[str, float]]:
        """Return per quasi-identifier the level over height of every label, if labels have levels."""
        levels = {column.name: column.levels() for column in self.columns}
        return {name: labels for name, labels in levels.items() if labels is not None}

    def describe(self, released: Mapping[str, Mapping[str, int]] | None = None) -> dict[str, str]:
        """Describe in words what becomes of each quasi-identifier.

        Args:
            released: Per quasi-identifier the values that are released, with the number of their records;
                all by default.
        """
        return {
            column.name: column.describe(None if released is None else released[column.name])
            for column in self.columns
        }

    def noised(self) -> list[str]:
        """Return the quasi-identifiers that are published with noise, record by record."""
        return [column.name for column in self.columns if isinstance(column, Noised | Intervals)]

    def facts(self) -> dict[str, Any]:
        """Return what was done beyond `describe`, as plain data for the certificate."""
        return {}

    def cautions(self) -> tuple[Caution, ...]:
        """Return what the recoding does not guarantee, for the certificate."""
        return ()

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {words}" for name, words in self.describe().items())


def from_json(table: Table, data: Mapping[str, Any]) -> Recoding:
    """Read back what a recoding's `to_json` wrote.

    Args:
        table: The same table.
        data: Plain data; `"kind"` names the recoding.

    Raises:
        RecodingError: If no recoding has this name, or if the data do not fit the table.
    """
    kind = data.get("kind")
    try:
        recoding: type[Recoding] = registry.load("recodings", str(kind))
    except PluginError as error:
        raise RecodingError(f"recoding: unknown kind {kind!r} ({error})") from None
    return recoding.from_json(table, data)


def recodings_in(value: Any) -> list[Recoding]:
    """Return the recodings in a value: a recoding, or a list of them; none in anything else."""
    items = list(value) if isinstance(value, list | tuple) else [value]
    return items if items and all(isinstance(item, Recoding) for item in items) else []
