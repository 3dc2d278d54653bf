"""Published columns: a recoding of one's own is released, measured and stored by their kinds."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import privmoo as pm
from privmoo import registry
from privmoo.errors import RecodingError, ReleaseError
from privmoo.recodings.base import Caution, Recoding, from_json, recodings_in
from privmoo.recodings.candidates import Candidates
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.columns import Labels, PublishedColumn, Values
from privmoo.release.certificate import caution_text
from privmoo.release.release import ReleaseWarning
from privmoo.testing.recodings import check_recoding

FRAME = pd.DataFrame(
    {
        "age": [20, 25, 31, 35, 44, 58, 71, 90],
        "sex": list("ffmmffmm"),
        "ill": list("xyxyxyxy"),
    }
)


def table() -> pm.Table:
    """Ages with an order, two sexes, and a sensitive attribute."""
    return pm.Table(
        FRAME,
        quasi_identifiers={"age": pm.Hierarchy.ordered(), "sex": None},
        sensitive="ill",
    )


class TopCoding(Recoding):
    """Ages above a limit share one label; a recoding such as a plug-in brings."""

    name: ClassVar[str] = "top_coding"

    def __init__(self, table: pm.Table, limit: int) -> None:
        self.qis, self.limit = table.qis, limit

    @property
    def columns(self) -> tuple[PublishedColumn, ...]:
        return tuple(self._column(qi) for qi in self.qis)

    def _column(self, qi: Any) -> Labels:
        first = qi.n_leaves
        if qi.name == "age":
            first = int((np.asarray(qi.numbers) < self.limit).sum())
        start = np.arange(min(first + 1, qi.n_leaves))
        stop = np.append(start[1:], qi.n_leaves)
        labels = [qi.leaves[a] if b - a == 1 else f"{self.limit}+" for a, b in zip(start, stop)]  # noqa: B905
        codes = np.minimum(np.arange(qi.n_leaves), first)
        return Labels(qi=qi, codes=codes, scope="value", labels=labels, start=start, stop=stop)

    def codes(self, table: pm.Table, rows: NDArray[np.int64]) -> list[NDArray[Any]]:
        leaves = table.tuples[table.originals.tuples[rows]]
        return [column.codes[leaves[:, j]] for j, column in enumerate(self.columns)]

    def candidate(self, table: pm.Table) -> Candidates:
        blocks = np.concatenate([column.codes for column in self.columns])
        return Candidates(blocks=blocks[None].astype(np.uint32))

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.name, "limit": self.limit}

    @classmethod
    def from_json(cls, table: pm.Table, data: Mapping[str, Any]) -> TopCoding:
        return cls(table, data["limit"])

    def key(self) -> bytes:
        return f"{self.limit}".encode()


class Tens(TopCoding):
    """Ages as rounded values beside labels of another column: columns of two kinds."""

    name: ClassVar[str] = "tens"

    def _column(self, qi: Any) -> Any:
        column = super()._column(qi)
        if qi.name != "age":
            return column
        values = np.round(np.asarray(qi.numbers), -1)
        return Values(qi=qi, codes=np.arange(qi.n_leaves), values=values, statistic="round value")

    def candidate(self, table: pm.Table) -> Candidates:
        ages = np.asarray(table.qis[0].numbers)[table.tuples[:, 0]]
        keys = np.round(ages, -1) * 10 + table.tuples[:, 1]
        labels = np.unique(keys, return_inverse=True)[1].astype(np.int32)
        return Candidates(labels=labels[None])


class AnyRecoding(pm.problems.Cuts):
    """Cuts that stand beside any other recoding on a front."""

    def encode(self, recoding: Recoding) -> NDArray[Any]:
        return np.zeros(self.n_var, dtype=bool)


@pytest.fixture
def top_coding() -> Iterator[None]:
    registry.register("recodings", "top_coding", TopCoding)
    yield
    registry.unregister("recodings", "top_coding")


@pytest.mark.usefixtures("top_coding")
def test_a_recoding_of_ones_own_is_a_class_and_a_registration() -> None:
    t = table()
    recoding = TopCoding(t, 40)
    check_recoding(recoding, t)
    measures = [pm.KAnonymity(), pm.GeneralLoss(), pm.Originality()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)  # it was released for the check
        release = pm.make_release(t, recoding, measures=measures, seed=1)
    assert {claim.measure for claim in release.certificate.claims} == {"k", "loss"}
    assert sorted(release.frame["age"])[-1] == "40+"
    assert release.certificate.method["quasi_identifiers"]["age"] == "20 | 25 | 31 | 35 | 40+"
    assert release.meanings["age"]["40+"] == ["44", "58", "71", "90"]
    again = from_json(t, json.loads(json.dumps(recoding.to_json())))
    assert again.key() == recoding.key() and isinstance(again, TopCoding)
    front = pm.Front.of(AnyRecoding(_with_order(t)), known=[recoding])
    assert front[0].k == 1.0
    assert "40+" in front[0].explain()
    assert front[0].loss_per_attribute()["age"] == pytest.approx(4 * 3 / 7 / 8)


def _with_order(t: pm.Table) -> pm.Table:
    """The same records with a hierarchy for every quasi-identifier, as cuts need."""
    return pm.Table(
        t.frame,
        quasi_identifiers={"age": pm.Hierarchy.ordered(), "sex": pm.Hierarchy.flat()},
        sensitive="ill",
    )


def test_columns_of_two_kinds_are_released_together() -> None:
    t = table()
    release = pm.make_release(t, Tens(t, 40), measures=[pm.KAnonymity()], shuffle=False)
    assert release.frame["age"].tolist() == [20.0, 20.0, 30.0, 40.0, 40.0, 60.0, 70.0, 90.0]
    words = release.certificate.method["quasi_identifiers"]
    assert words["age"] == "round value of each class (6 different)"
    assert set(release.meanings) == {"sex"}
    assert 0 < release.certificate.utility["originality"] < 1


def test_single_records_are_left_out_only_where_values_have_one_label() -> None:
    t = table()
    published = np.arange(8) < 6
    assert len(pm.make_release(t, TopCoding(t, 40), suppression=published)) == 6
    with pytest.raises(ReleaseError, match="single records cannot be left out"):
        pm.make_release(t, Tens(t, 40), suppression=published)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(RecodingError, match=r"unknown kind 'cutz' .*did you mean 'cuts'"):
        from_json(table(), {"kind": "cutz"})
    with pytest.raises(RecodingError, match="unknown kind None"):
        from_json(table(), {})


def test_recodings_in_a_value() -> None:
    recoding = pm.recodings.identity_recoding(table())
    assert recodings_in(recoding) == recodings_in([recoding]) == [recoding]
    assert recodings_in([]) == recodings_in(None) == recodings_in([recoding, 1]) == []


def test_ranges_have_a_loss_per_attribute() -> None:
    t = _with_order(table())
    ranges = pm.recodings.range_recoding(t, [0, 0, 1, 1, 2, 2, 3, 3])
    solution = pm.Front.of(AnyRecoding(t, objectives=[pm.KAnonymity()]), known=[ranges])[0]
    assert solution.loss_per_attribute().to_dict() == pytest.approx({"age": 1 / 7, "sex": 0.0})
    assert "Loss per attribute" in solution.explain()


def test_files_of_version_0_1_have_the_sentences_of_cautions() -> None:
    t = table()
    codes = np.zeros(8, np.int32)
    columns = [Labels.of_nodes(t, j, codes) for j in range(2)]
    stored = CellRecoding(t, columns, cautions=[Caution("shared_noise")]).to_json()
    assert from_json(t, stored).cautions() == (Caution("shared_noise"),)
    stored["cautions"] = ["An old sentence."]
    (caution,) = from_json(t, stored).cautions()
    assert caution_text(caution) == "An old sentence."
    with pytest.raises(ReleaseError, match="there is no sentence for its caution 'unheard_of'"):
        caution_text(Caution("unheard_of"))
    with pytest.raises(ReleaseError, match="no sentence"):
        caution_text(Caution("bounds_of_data", {"wrong": 1}))
