"""A solution recodes new rows as it recodes the table."""

from __future__ import annotations

import logging
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import privmoo as pm
from privmoo.errors import ColumnError, RecodingError, TableError
from privmoo.learning import Recoder

PEOPLE = pd.DataFrame(
    {
        "age": [20, 22, 30, 33, 41, 45, 60, 61],
        "sex": ["f", "m", "f", "m", "f", None, "m", "f"],
        "ill": list("xyxyxyxy"),
    }
)


def people(data: pd.DataFrame = PEOPLE, **changes: Any) -> pm.Table:
    qis = {"age": pm.Hierarchy.ordered(), "sex": pm.Hierarchy.flat()}
    return pm.Table(data, **{"quasi_identifiers": qis, "sensitive": "ill", **changes})


def solution(table: pm.Table | None = None, min_k: int = 2) -> Any:
    problem = pm.problems.Cuts(table or people())
    front = pm.optimize(problem, budget=10, seed=1, progress=False)
    return front.where(min_k=min_k).best("loss")


def test_rows_of_the_table_become_those_of_the_release() -> None:
    choice = solution()
    release = choice.release(shuffle=False)
    recoded = Recoder(choice.recoding).fit(PEOPLE).transform(PEOPLE)
    for name in ("age", "sex"):
        expected = release.frame[name].fillna("missing").astype(str).tolist()
        assert recoded[name].iloc[release.rows].tolist() == expected
    assert recoded["ill"].tolist() == PEOPLE["ill"].tolist()


@given(st.lists(st.booleans(), min_size=7, max_size=7))
def test_the_mapping_is_what_is_published(cuts: list[bool]) -> None:
    table = people(quasi_identifiers={"age": pm.Hierarchy.ordered()})
    recoding = pm.recodings.cut_recoding(table, [cuts])
    labels = recoding.columns[0].series(recoding.codes(table, np.arange(8))[0])
    mapping = recoding.mapping()["age"]
    assert [mapping[str(age)] for age in PEOPLE["age"]] == labels.tolist()
    assert set(mapping.values()) == set(recoding.meanings()["age"])
    for leaf, label in mapping.items():
        assert leaf in recoding.meanings()["age"][label]


def test_levels_map_all_values_of_the_domain() -> None:
    tree = pm.Hierarchy.tree({"east": ["a", "b"], "west": ["c", "d"]})
    table = pm.Table(pd.DataFrame({"city": list("abc")}), quasi_identifiers={"city": tree})
    mapping = pm.recodings.level_recoding(table, [1]).mapping()
    assert mapping == {"city": {"a": "east", "b": "east", "c": "west", "d": "west"}}


@pytest.mark.parametrize("name", ["mondrian", "mdav", "local_suppression"])
def test_what_is_not_a_function_of_values_has_no_mapping(name: str) -> None:
    recoding = getattr(pm.baselines, name)(people(), 2)
    with pytest.raises(
        RecodingError, match=r"is not recoded by its value alone but by the \w+ that"
    ):
        recoding.mapping()


def test_new_values() -> None:
    table = people(quasi_identifiers={"age": pm.Hierarchy.ordered()})
    recoding = pm.recodings.cut_recoding(table, [[0, 0, 0, 1, 0, 0, 0]])
    recoder = Recoder(recoding).fit(PEOPLE)
    assert recoder.mapping_["age"]["22"] == "20–33"
    inside = pd.DataFrame({"age": [25, 44.5, 20], "sex": "f", "ill": "x"})
    assert recoder.transform(inside)["age"].tolist() == ["20–33", "41–61", "20–33"]
    for outside in (19, 37, 62, np.nan):
        frame = inside.assign(age=[20, 20, outside])
        with pytest.raises(TableError, match=r"column 'age', row 2 .* is not in the domain"):
            recoder.transform(frame)
        relaxed = clone(recoder).set_params(handle_unknown="suppress").fit(frame)
        assert relaxed.transform(frame)["age"].tolist() == ["20–33", "20–33", "*"]
    numbers = Recoder(recoding, as_numbers=True).fit_transform(inside)
    assert numbers["age"].tolist() == [26.25, 51.75, 26.25]


def test_other_libraries_and_output() -> None:
    choice = solution()
    recoder = Recoder(choice.recoding).set_output(transform="pandas").fit(PEOPLE)
    assert list(recoder.get_feature_names_out()) == ["age", "sex", "ill"]
    assert list(recoder.transform(PEOPLE)) == ["age", "sex", "ill"]
    array = Recoder(choice.recoding).fit_transform(PEOPLE[["age", "sex", "ill"]].to_numpy())
    assert array.tolist() == Recoder(choice.recoding).fit_transform(PEOPLE).to_numpy().tolist()
    polars = pytest.importorskip("polars")
    back = (
        Recoder(choice.recoding)
        .set_output(transform="polars")
        .fit_transform(polars.from_pandas(PEOPLE))
    )
    assert isinstance(back, polars.DataFrame) and back["age"].to_list() == array[:, 0].tolist()


def test_a_learner_sees_new_rows_as_it_saw_the_release() -> None:
    learner = make_pipeline(
        Recoder(solution().recoding), OneHotEncoder(handle_unknown="ignore"), LogisticRegression()
    )
    learner.fit(PEOPLE[["age", "sex"]], PEOPLE["ill"])
    assert set(learner.predict(PEOPLE[["age", "sex"]].head(3))) <= {"x", "y"}


def test_it_says_that_k_does_not_carry_over(caplog: pytest.LogCaptureFixture) -> None:
    assert "k does not\n    carry over to new rows" in str(Recoder.__doc__)
    with caplog.at_level(logging.INFO, logger="privmoo"):
        Recoder(solution().recoding).fit_transform(PEOPLE)
    assert "the k of the release does not hold for them" in caplog.text


def test_a_pickled_recoder_holds_no_records() -> None:
    table = people(insensitive=["note"], data=PEOPLE.assign(note="private remark"))
    recoder = Recoder(solution(table).recoding).fit(PEOPLE)
    assert b"private remark" not in pickle.dumps(recoder)
    copy = pickle.loads(pickle.dumps(recoder))  # noqa: S301
    assert copy.transform(PEOPLE).equals(recoder.transform(PEOPLE))


def test_errors_name_what_is_wrong() -> None:
    with pytest.raises(TableError, match="recoding: a Recoder needs one"):
        Recoder().fit(PEOPLE)
    with pytest.raises(ColumnError, match="there is no column 'sex'"):
        Recoder(solution().recoding).fit(PEOPLE[["age"]])
    with pytest.raises(ColumnError, match="2 quasi-identifiers need as many columns"):
        Recoder(solution().recoding).fit(np.array([[20], [22]]))


def numeric() -> Recoder:
    values = pd.DataFrame({"x": np.arange(-40, 41)})
    table = pm.Table(values, quasi_identifiers={"x": pm.Hierarchy.ordered()})
    recoding = pm.recodings.cut_recoding(table, [np.arange(80) % 4 == 0])
    return Recoder(recoding, handle_unknown="suppress", as_numbers=True)


@parametrize_with_checks([numeric()])  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
