"""The bundled data: counts, published baselines, hierarchies that cover every value."""

from __future__ import annotations

import gzip
import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from privmoo import datasets
from privmoo.data.table import Table
from privmoo.datasets import adult_trees
from privmoo.errors import TableError
from tests.scenery.optional import need

DISTINCT = {
    "adult('dewri')": 19502,
    "adult('dewri-kl')": 12458,
    "adult('dewri-2011')": 19502,
    "adult('dewri-2011-kl')": 12458,
    "adult('dewri-prototype')": 13334,
    "adult('wei')": 1900,
    "adult('majeed')": 2382,
    "german_credit()": 310,
}


def load(name: str) -> Table:
    function, _, argument = name.rstrip(")").partition("(")
    table: Table = getattr(datasets, function)(*([argument.strip("'")] if argument else []))
    return table


def at_risk(table: Table) -> list[int]:
    """Records with 1/|g| > 0.05, 0.075 and 0.1, in integers: 1/|g| > a/b means |g|·a < b."""
    sizes = table.weights
    return [int(sizes[sizes * a < b].sum()) for a, b in [(1, 20), (3, 40), (1, 10)]]


def homogeneous(table: Table) -> int:
    """Records of groups with a single value in some sensitive attribute."""
    single = np.zeros(table.n_tuples, dtype=bool)
    for attribute in table.sensitive.values():
        single |= np.diff(attribute.offsets) == 1
    return int(table.weights[single].sum())


def tree_leaves(tree: Any) -> list[str]:
    if isinstance(tree, str):
        return [tree]
    children = tree.values() if isinstance(tree, dict) else tree
    return [leaf for child in children for leaf in tree_leaves(child)]


# The records ------------------------------------------------------------------------------------


def test_parts_of_adult() -> None:
    train, test, both = (datasets.adult_frame(part) for part in ("train", "test", "all"))
    assert [len(train), len(test), len(both)] == [32561, 16281, 48842]
    assert both.equals(pd.concat([train, test], ignore_index=True))
    assert len(datasets.adult_frame("all", complete=True)) == 45222
    assert len(datasets.adult_frame("test", complete=True)) == 15060


def test_question_marks() -> None:
    kept = datasets.adult_frame("all", question_marks="value")
    missing = datasets.adult_frame("all")
    marks = {"workclass": 2799, "occupation": 2809, "native-country": 857}
    assert (kept == "?").sum().pipe(lambda s: s[s > 0]).to_dict() == marks
    assert missing.isna().sum().pipe(lambda s: s[s > 0]).to_dict() == marks
    assert not datasets.adult_frame("all", complete=True).isna().any(axis=None)


def test_adult_is_the_known_file() -> None:
    frame = datasets.adult_frame(question_marks="value")
    assert frame["race"].value_counts().to_dict() == {
        "White": 27816,
        "Black": 3124,
        "Asian-Pac-Islander": 1039,
        "Amer-Indian-Eskimo": 311,
        "Other": 271,
    }
    assert (frame["native-country"] == "United-States").sum() == 29170
    assert frame["age"].nunique() == 73
    assert frame.iloc[0].to_dict() == {
        "age": 39,
        "workclass": "State-gov",
        "fnlwgt": 77516,
        "education": "Bachelors",
        "education-num": 13,
        "marital-status": "Never-married",
        "occupation": "Adm-clerical",
        "relationship": "Not-in-family",
        "race": "White",
        "sex": "Male",
        "capital-gain": 2174,
        "capital-loss": 0,
        "hours-per-week": 40,
        "native-country": "United-States",
        "income": "<=50K",
    }


@pytest.mark.parametrize(
    ("bundled", "original"),
    [
        ("adult_train.csv.gz", "adult_uci/adult_train_32561.csv.gz"),
        ("adult_test.csv.gz", "adult_uci/adult_test_16281.csv.gz"),
        ("german_credit.csv.gz", "german_uci/german_credit_text.csv.gz"),
    ],
)
def test_bundled_files_equal_the_source(shared_data: Path, bundled: str, original: str) -> None:
    packed = resources.files("privmoo.datasets").joinpath(bundled).read_bytes()
    assert gzip.decompress(packed) == gzip.decompress((shared_data / original).read_bytes())
    assert packed[4:8] == bytes(4), "gzip must not store a time"


def test_bundled_files_are_small() -> None:
    folder = resources.files("privmoo.datasets")
    sizes = [len(f.read_bytes()) for f in folder.iterdir() if f.name.endswith(".gz")]
    assert len(sizes) == 3
    assert sum(sizes) < 1_500_000


def test_frames_belong_to_the_caller() -> None:
    frame = datasets.german_credit_frame()
    frame["age"] = 0
    assert datasets.german_credit_frame()["age"].min() == 19


# The settings -----------------------------------------------------------------------------------


def test_every_name_is_tested() -> None:
    assert datasets.names() == list(DISTINCT) == list(datasets.describe().index)


@pytest.mark.parametrize("name", DISTINCT)
def test_settings(name: str) -> None:
    table, said = load(name), datasets.describe().loc[name]
    assert table.n_tuples == len(table.weights) == DISTINCT[name]
    assert table.n_records == table.weights.sum() == said["records"]
    assert ", ".join(table.qi_names) == said["quasi-identifiers"]
    assert ", ".join(table.sensitive) == said["sensitive"]
    assert (table.target_name or "") == said["target"]
    assert table.n_dropped == 0
    assert all(qi.hierarchy is not None for qi in table.qis)
    frame = table.frame
    if name == "adult('dewri-prototype')":
        frame = frame.assign(age=frame["age"] // 5)
    assert sorted(frame.groupby(table.qi_names).size()) == sorted(table.weights)


def test_published_baselines() -> None:
    """Wei et al. 2025, first rows of Tables 5 and 6; for German credit they print 275, not 279."""
    german, adult = datasets.german_credit(), datasets.adult("wei")
    assert (german.n_tuples, at_risk(german), homogeneous(german)) == (310, [959, 828, 698], 279)
    assert (adult.n_tuples, at_risk(adult), homogeneous(adult)) == (1900, [6506, 4906, 3910], 634)


def test_dewri_constraints() -> None:
    table = datasets.adult("dewri")
    free = {qi.name for qi in table.qis if not need(qi.hierarchy).constrained}
    assert free == {"age", "education", "race", "sex", "income"}
    leaves = {qi.name: qi.n_leaves for qi in table.qis}
    assert leaves["age"] == 74 and leaves["workclass"] == 8 and leaves["native-country"] == 41
    race = need(table.qis[table.qi_names.index("race")].hierarchy)
    assert race.label(2, 4) == "{Black, Other}"


def test_domain_and_age_step() -> None:
    observed = datasets.adult("dewri", domain="observed")
    leaves = {qi.name: qi.n_leaves for qi in observed.qis}
    assert leaves["age"] == 72 and leaves["workclass"] == 7
    assert observed.n_tuples == 19502
    stepped = datasets.adult("dewri-kl", age_step=5)
    assert stepped.qis[0].leaves[:2] == ("15–19", "20–24") and stepped.qis[0].n_leaves == 16
    ages = stepped.frame["age"].to_numpy()
    assert (stepped.tuples[stepped.row_tuple, 0] == (ages - 15) // 5).all()


def test_prototype_is_the_prototype(shared_data: Path) -> None:
    given = json.loads((shared_data / "adult_prototype_trees.json").read_text())
    assert given["trees"] == adult_trees.PROTOTYPE_TREES
    table = datasets.adult("dewri-prototype")
    for qi in table.qis:
        if qi.name in given["trees"]:
            assert need(qi.hierarchy).constrained
            assert list(qi.leaves) == tree_leaves(given["trees"][qi.name])
        elif qi.name != "age":
            assert not need(qi.hierarchy).constrained
            assert list(qi.leaves) == given["ordered"][qi.name]


def test_majeed_keeps_question_marks() -> None:
    table = datasets.adult("majeed")
    country = table.qis[table.qi_names.index("native-country")]
    assert "?" in country.leaves and country.n_leaves == 42
    assert (table.frame["native-country"] == "?").sum() == 583


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.adult("dewry"), "did you mean 'dewri'"),
        (lambda: datasets.adult("wei", age_step=5), "age_step: the setting 'wei' fixes the ages"),
        (lambda: datasets.adult(age_step=0), "age_step: must be from 1 to 75 years, got 0"),
        (lambda: datasets.adult(domain="all"), "domain: must be one of"),
        (lambda: datasets.adult_frame("tset"), "part: must be one of 'train', 'test', 'all'"),
        (lambda: datasets.adult_frame(question_marks="no"), "question_marks: must be"),
    ],
)
def test_wrong_arguments(call: Any, message: str) -> None:
    with pytest.raises(TableError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


# The hierarchies --------------------------------------------------------------------------------

FRAMES = {
    "adult": (datasets.adult_frame, ("all",), datasets.adult_hierarchies),
    "german": (datasets.german_credit_frame, (), datasets.german_credit_hierarchies),
}


@pytest.mark.parametrize("which", FRAMES)
def test_hierarchies_cover_all_values_and_no_others(which: str) -> None:
    frame_of, arguments, hierarchies_of = FRAMES[which]
    frame = frame_of(*arguments)
    for name, hierarchy in hierarchies_of().items():
        values = frame[name].dropna()
        bound = hierarchy.bind(values, column=name)
        codes = bound.encode(values, column=name)
        assert codes.min() >= 0
        if not pd.api.types.is_numeric_dtype(values):
            # A leaf that never occurs would be a misspelt one.
            assert sorted(bound.leaves) == sorted(values.unique()), name
        assert bound.label(0, bound.n_leaves) == "*"


@pytest.mark.parametrize("which", FRAMES)
def test_node_names_are_unique(which: str) -> None:
    for name, hierarchy in FRAMES[which][2]().items():
        if not hierarchy.is_bound:
            continue
        labels = [name for row in hierarchy.rows() for name in set(row)]
        nodes = hierarchy.nodes
        assert len(set(labels)) >= len(nodes.start), name


def test_education_is_ordered_by_its_number() -> None:
    frame = datasets.adult_frame("all")
    by_number = frame.groupby("education-num")["education"].first().tolist()
    assert by_number == tree_leaves(adult_trees.EDUCATION)


def test_missing_values_get_a_leaf() -> None:
    frame = datasets.adult_frame("test")
    table = Table(
        frame[["workclass", "sex"]],
        quasi_identifiers={
            name: datasets.adult_hierarchies()[name] for name in ("workclass", "sex")
        },
    )
    assert table.qis[0].leaves[-1] == "missing"
    assert table.n_records == 16281
