"""Releases: what comes out, what the certificate says, and when nothing comes out."""

from __future__ import annotations

import datetime as dt
import json
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import privmoo as pm
from privmoo.errors import AuditError, FileError, RecodingError, ReleaseError
from privmoo.recodings.base import from_json
from privmoo.release.release import Origin, ReleaseWarning, make_release

DF = pd.DataFrame(
    {
        "name": [f"n{i}" for i in range(8)],
        "age": [20, 21, 22, 40, 41, 42, 60, 61],
        "city": ["A", "A", "B", "B", "C", "C", "D", "D"],
        "ill": ["x", "y", "x", "y", "x", "x", "y", "x"],
        "cost": [1, 1, 2, 2, 1, 1, 2, 2],
    }
)


def table(**more: object) -> pm.Table:
    roles: dict[str, object] = {
        "quasi_identifiers": {
            "age": pm.Hierarchy.ordered(),
            "city": pm.Hierarchy.tree({"north": ["A", "B"], "south": ["C", "D"]}),
        },
        "sensitive": "ill",
        "identifiers": "name",
        "insensitive": "cost",
    }
    return pm.Table(DF, **{**roles, **more})


def test_a_release_is_what_it_says() -> None:
    t = table()
    recoding = pm.recodings.cut_recoding(t, [[0, 0, 1, 0, 0, 1, 0], [0, 1, 0]])
    release = make_release(t, recoding, suppression=pm.BelowThreshold(2), seed=1)
    assert list(release.frame) == ["age", "city", "ill", "cost"]
    assert sorted(set(release.frame["age"])) == ["20–22", "40–42", "60–61"]
    assert set(release.frame["city"]) == {"north", "south"}
    assert len(release) == 7  # 40 in the north is alone
    assert release.certificate.release["records_suppressed"] == 1
    assert release.certificate.privacy["k"] == 2
    assert release.frame.index.tolist() == list(range(7))
    original = DF.iloc[release.rows].reset_index(drop=True)
    assert (release.frame["ill"] == original["ill"]).all()
    assert "n0" not in release.certificate.to_json()


def test_the_certificate_says_that_no_column_is_left_out() -> None:
    frame = pd.DataFrame({"age": [20, 20, 40, 40]})
    all_released = pm.Table(frame, quasi_identifiers={"age": pm.Hierarchy.ordered()})
    release = make_release(all_released, pm.recodings.identity_recoding(all_released))
    assert "  columns left out: none\n" in release.certificate.to_text()
    assert release.certificate.to_dict()["release"]["columns_left_out"] == []


def test_order_is_shuffled_with_a_seed() -> None:
    t = table()
    recoding = pm.recodings.identity_recoding(t)
    one, same, other = (make_release(t, recoding, seed=s) for s in (1, 1, 2))
    assert one.frame.equals(same.frame)
    assert not one.frame.equals(other.frame)
    plain = make_release(t, recoding, shuffle=False)
    assert plain.frame["age"].tolist() == DF["age"].tolist()
    assert one.frame["age"].dtype == DF["age"].dtype  # a column as it is keeps its type


def test_everything_suppressed_is_no_release() -> None:
    t = table()
    with pytest.raises(ReleaseError, match="all records would be suppressed"):
        make_release(t, pm.recodings.identity_recoding(t), suppression=pm.BelowThreshold(5))


def test_a_false_claim_releases_nothing() -> None:
    t = table()
    recoding = pm.recodings.level_recoding(t, {"age": 1, "city": 1})
    measures = [pm.KAnonymity(), pm.GeneralLoss(), pm.FrequencyDiversity()]
    release = make_release(t, recoding, measures=measures, origin=Origin(claims={"k": 4.0}))
    assert {c.measure for c in release.certificate.claims} == {"k", "loss", "l"}
    with pytest.raises(AuditError, match=r"k: the optimiser claims 5, the audit .* measures 4"):
        make_release(t, recoding, measures=measures, origin=Origin(claims={"k": 5.0}))
    with pytest.raises(AuditError, match="loss: the optimiser claims"):
        make_release(t, recoding, measures=measures, origin=Origin(claims={"loss": 0.1}))


def test_wrong_labels_are_caught() -> None:
    t = table()

    class Liar(type(pm.recodings.identity_recoding(t))):  # type: ignore[misc]
        def apply(self, table: pm.Table, rows: np.ndarray) -> pd.DataFrame:
            frame: pd.DataFrame = super().apply(table, rows)
            frame.loc[0, "city"] = "A" if frame.loc[0, "city"] != "A" else "B"
            return frame

    recoding = Liar(t.qis, [np.arange(qi.n_leaves) for qi in t.qis])
    with pytest.raises(AuditError, match="does not cover"):
        make_release(t, recoding)


def test_nearly_unique_insensitive_columns_are_flagged() -> None:
    t = table(insensitive=["cost"], identifiers=[], others="insensitive")
    with pytest.warns(ReleaseWarning, match="'name' has a different value in nearly every record"):
        release = make_release(t, pm.recodings.identity_recoding(t))
    assert any("'name'" in w for w in release.certificate.warnings)


def test_second_different_release_warns() -> None:
    t = pm.Table(DF.assign(age=DF["age"] + 1), quasi_identifiers={"age": pm.Hierarchy.ordered()})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_release(t, pm.recodings.identity_recoding(t))
        make_release(t, pm.recodings.identity_recoding(t))  # the same once more tells nothing new
    with pytest.warns(ReleaseWarning, match="release number 2 of the same table"):
        make_release(t, pm.recodings.level_recoding(t, [1]))


def test_persons_are_counted_by_the_subject() -> None:
    df = pd.DataFrame({"who": list("aabbc"), "zip": list("11223"), "s": list("xyxyx")})
    t = pm.Table(df, quasi_identifiers={"zip": pm.Hierarchy.flat()}, subject="who", sensitive="s")
    release = make_release(t, pm.recodings.level_recoding(t, [0]), measures=[pm.KAnonymity()])
    assert release.certificate.privacy["k"] == 1  # two rows, one person
    whole = pm.Table(
        df.assign(s=list("xyxyy")),
        quasi_identifiers={"zip": pm.Hierarchy.flat()},
        subject="who",
        sensitive="s",
    )
    assert (
        make_release(whole, pm.recodings.level_recoding(whole, [1])).certificate.privacy["k"] == 3
    )


def test_published_records() -> None:
    t = table()
    published = np.array([1, 1, 0, 0, 1, 1, 0, 0], dtype=bool)
    release = make_release(
        t,
        pm.recodings.level_recoding(t, [1, 0]),
        suppression=published,
        measures=[pm.KAnonymity(), pm.GeneralLoss(), pm.FrequencyDiversity()],
    )
    assert sorted(release.rows) == [0, 1, 4, 5]
    assert release.certificate.privacy["k"] == 2


def test_granulated_age_counts_loss_in_base_intervals() -> None:
    t = pm.Table(DF, quasi_identifiers={"age": pm.Hierarchy.ordered(step=5)})
    release = make_release(
        t, pm.recodings.identity_recoding(t), measures=[pm.GeneralLoss()], shuffle=False
    )
    assert release.frame["age"].tolist()[:4] == ["20–24", "20–24", "20–24", "40–44"]
    assert release.certificate.utility["loss"] == 0
    assert release.certificate.method["loss_is_counted_in"] == {"age": "base intervals of the data"}


def test_writing(tmp_path: Path) -> None:
    t = table()
    release = make_release(t, pm.recodings.level_recoding(t, {"age": 1, "city": 1}), seed=0)
    files = release.write(tmp_path / "public.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(p.name for p in files)
    again = pd.read_csv(tmp_path / "public.csv")
    assert again["city"].tolist() == release.frame["city"].tolist()
    certificate = json.loads((tmp_path / "public.certificate.json").read_text(encoding="utf-8"))
    assert certificate["privacy"]["k"] == 4
    assert pm.audit.audit(again, quasi_identifiers=["age", "city"]).k == 4
    with pytest.raises(FileError, match="exists already"):
        release.to_csv(tmp_path / "public.csv")
    with pytest.raises(FileError, match="exists already"):
        release.write(tmp_path / "public.csv")
    release.write(tmp_path / "public.csv", force=True)
    release.write(tmp_path / "other.parquet")
    release.to_parquet(tmp_path / "plain.parquet")
    assert pd.read_parquet(tmp_path / "other.parquet").equals(release.frame)
    with pytest.raises(FileError, match=r"\.csv or \.parquet"):
        release.write(tmp_path / "public.txt")
    with pytest.raises(FileError, match="no folder"):
        release.to_csv(tmp_path / "none" / "public.csv")
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    t = table()
    release = make_release(t, pm.recodings.level_recoding(t, {"age": 1, "city": 1}))

    def fail(*args: object, **kwargs: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    with pytest.raises(FileError, match=r"public\.csv cannot be written"):
        release.write(tmp_path / "public.csv")
    assert list(tmp_path.iterdir()) == []


def test_html_is_escaped() -> None:
    df = pd.DataFrame({"a": ["<script>alert(1)</script>", "b", "b"], "s": list("xyx")})
    t = pm.Table(df, quasi_identifiers={"a": pm.Hierarchy.flat()}, sensitive="s")
    release = make_release(t, pm.recodings.identity_recoding(t))
    page = release._repr_html_()
    assert "<script>" not in page  # k is 1: no rows are shown
    df = pd.DataFrame({"a": ["<script>alert(1)</script>"] * 2 + ["b"] * 2, "s": list("xyyx")})
    t = pm.Table(df, quasi_identifiers={"a": pm.Hierarchy.flat()}, sensitive="s")
    page = make_release(t, pm.recodings.identity_recoding(t))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@settings(max_examples=60)
@given(data=st.data())
def test_labels_never_leak_a_value_outside_its_block(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 20))
    df = pd.DataFrame(
        {
            "num": data.draw(st.lists(st.integers(0, 12), min_size=n, max_size=n)),
            "cat": data.draw(st.lists(st.sampled_from("abcdef"), min_size=n, max_size=n)),
        }
    )
    t = pm.Table(
        df,
        quasi_identifiers={
            "num": pm.Hierarchy.intervals(0, 12, widths=[3, 6]),
            "cat": pm.Hierarchy.tree({"v": ["a", "e"], "w": [["b", "c"], ["d", "f"]]}),
        },
    )
    levels = [data.draw(st.integers(0, qi.max_level)) for qi in t.qis]
    recoding = pm.recodings.level_recoding(t, levels)
    assert from_json(t, json.loads(json.dumps(recoding.to_json()))).key() == recoding.key()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)  # one test, many releases
        release = make_release(t, recoding, measures=[pm.KAnonymity(), pm.GeneralLoss()])
    meanings = recoding.meanings()
    for column in df:
        for label, value in zip(release.frame[column], df[column].iloc[release.rows], strict=True):
            assert pm.hierarchy.canonical(value) in meanings[str(column)][str(label)]
    # The same label for the same block, and for no other.
    for own in meanings.values():
        leaves = [leaf for block in own.values() for leaf in block]
        assert len(leaves) == len(set(leaves))


def test_suppressed_values_are_not_told() -> None:
    df = pd.DataFrame(
        {
            "age": [20, 21, 22, 40, 41, 117],
            "job": pd.Categorical(["a", "a", "b", "b", "a", "spy"]),
            "s": list("xyxyxy"),
        }
    )
    t = pm.Table(
        df,
        quasi_identifiers={"age": pm.Hierarchy.ordered()},
        sensitive="s",
        insensitive="job",
    )
    release = make_release(
        t, pm.recodings.cut_recoding(t, [[0, 0, 1, 0, 1]]), suppression=pm.Budget(0.2), seed=1
    )
    told = release.certificate.to_json() + release.certificate.to_text()
    assert release.certificate.method["quasi_identifiers"] == {"age": "20–22 | 40–41"}
    assert "117" not in told
    assert "spy" not in list(release.frame["job"].cat.categories)
    assert t.fingerprint not in told


def test_the_seed_alone_does_not_undo_the_shuffle() -> None:
    t = table()
    release = make_release(t, pm.recodings.identity_recoding(t), seed=7)
    guess = np.argsort(np.random.default_rng(7).permutation(len(release)))
    assert not np.array_equal(release.rows[guess], np.arange(len(release)))


def test_what_is_hidden_among_persons_is_counted_in_persons() -> None:
    df = pd.DataFrame(
        {"age": [20] * 5 + [30] * 5, "who": ["A"] * 5 + list("BCDEF"), "ill": list("abcde") * 2}
    )
    t = pm.Table(
        df, quasi_identifiers={"age": pm.Hierarchy.ordered()}, subject="who", sensitive="ill"
    )
    measures = [
        pm.KAnonymity(),
        pm.WeightedK(),
        pm.AverageK(),
        pm.ProsecutorRisk(),
        pm.ProsecutorRisk(statistic="average").named("average_risk"),
        pm.RecordsAtRisk(tau=0.5),
        pm.Uniqueness(),
    ]
    release = make_release(t, pm.recodings.identity_recoding(t), measures=measures)
    privacy = release.certificate.privacy
    assert (privacy["k"], privacy["uniqueness"]) == (1, 0.5)  # A is alone, in five rows
    assert privacy["prosecutor_risk"] == {"max": 1.0, "average": (5 + 1) / 10}
    assert privacy["weighted_k"] == 3
    assert len(release.certificate.claims) == len(measures)
    assert any("count rows" in remark for remark in release.certificate.warnings)


@pytest.mark.parametrize(
    "values",
    [
        [0.0, -0.0, 1.0, 1.0],
        [39, 39.0, 40, 40.0],
        [Decimal("1.0"), Decimal("1.00"), Decimal("2"), Decimal("2")],
        [1e17, 1e17, 3e17, 3e17],
        np.array([0.1, 0.1, 0.7, 0.7], dtype=np.float32),
        pd.Categorical([1, 1, 2, 2]),
        [dt.date(2020, 1, 2), pd.Timestamp("2020-01-02"), dt.date(2021, 1, 2), dt.date(2021, 1, 2)],
    ],
    ids=repr,
)
def test_the_file_has_the_k_that_is_certified(values: Any, tmp_path: Path) -> None:
    object_columns = isinstance(values, list) and len({type(v) for v in values}) > 1
    column = pd.Series(values, dtype=object if object_columns else None)
    t = pm.Table(
        pd.DataFrame({"q": column, "s": list("abab")}),
        quasi_identifiers={"q": pm.Hierarchy.ordered()},
        sensitive="s",
    )
    release = make_release(
        t, pm.recodings.identity_recoding(t), measures=[pm.KAnonymity(), pm.GeneralLoss()]
    )
    release.to_csv(tmp_path / "a.csv")
    spelled = pd.read_csv(tmp_path / "a.csv", dtype=str)["q"]
    assert release.certificate.privacy["k"] == 2
    assert spelled.value_counts().tolist() == [2, 2]


def test_missing_and_its_look_alikes() -> None:
    roles = {"quasi_identifiers": {"q": pm.Hierarchy.flat()}}
    for text in ("", "missing"):
        df = pd.DataFrame({"q": [text, None, "a", "a"]})
        with pytest.raises(pm.errors.TableError, match="could not tell them apart"):
            pm.Table(df, **roles)


@pytest.mark.parametrize("wrong", [np.ones(7, dtype=bool), np.ones(8), "BelowThreshold"])
def test_suppression_is_a_policy_or_a_mask_of_records(wrong: Any) -> None:
    t = table()
    with pytest.raises(ReleaseError, match="expected a policy, or True or False for each of 8 rec"):
        make_release(t, pm.recodings.identity_recoding(t), suppression=wrong)


@pytest.mark.parametrize("wrong", [None, "identity"])
def test_a_recoding_is_a_recoding(wrong: Any) -> None:
    for suppression in (None, np.ones(8, dtype=bool)):
        with pytest.raises(ReleaseError, match="recoding: must be a Recoding such as solution"):
            make_release(table(), wrong, suppression=suppression)


def test_lowest_levels_are_kept() -> None:
    df = pd.DataFrame({"zip": ["14260", "14261", "90210"] * 2})
    t = pm.Table(
        df, quasi_identifiers={"zip": pm.QI(hierarchy=pm.Hierarchy.masking(), min_level=3)}
    )
    problem = pm.problems.ZeroSuppression(t)
    finest = problem.recoding(problem.space.finest())
    assert set(make_release(t, finest).frame["zip"]) == {"14***", "90***"}
    below = np.ones((1, problem.n_var), dtype=bool)
    assert not problem.valid(below)[0]
    out: dict[str, np.ndarray] = {}
    problem._evaluate(below, out)
    assert out["G"][0, -1] > 0
    with pytest.raises(RecodingError, match="may have levels 3 to 5"):
        pm.recodings.level_recoding(t, [0])
    with pytest.raises(RecodingError, match="leave its levels 3 to 5"):
        pm.recodings.cut_recoding(t, [np.ones(2)])


def test_the_top_level_of_a_single_value() -> None:
    df = pd.DataFrame({"q": ["a", "a"], "r": [1, 2]})
    t = pm.Table(df, quasi_identifiers={"q": pm.Hierarchy.flat(), "r": pm.Hierarchy.flat()})
    release = make_release(t, pm.recodings.level_recoding(t, [t.qis[0].max_level, 1]))
    assert set(release.frame["r"]) == {"*"}


def test_values_that_no_parquet_file_holds(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1, 2, 1, 2], "note": ["secret", 1, 1, 1]})
    table = pm.Table(frame, quasi_identifiers={"age": pm.Hierarchy.flat()}, insensitive=["note"])
    front = pm.optimize(pm.problems.Levels(table), budget=3, seed=1, progress=False)
    with pytest.raises(ReleaseError, match="column 'note' has values that a Parquet") as caught:
        front[0].write(tmp_path / "public.parquet")
    assert "secret" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_nested_values_do_not_end_a_search(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [1, 2, 1, 2], "seen": [[1], [2], None, [1]]})
    table = pm.Table(frame, quasi_identifiers={"age": pm.Hierarchy.flat()}, insensitive=["seen"])
    front = pm.optimize(pm.problems.Levels(table), budget=3, seed=1, progress=False)
    with pytest.raises(AuditError, match="column 'seen' holds values that cannot be compared"):
        front[0].write(tmp_path / "public.csv")


def test_columns_that_are_unique_only_together_are_warned_of() -> None:
    frame = pd.DataFrame(
        {
            "age": [30, 31] * 10,
            "town": [f"town{i // 5}" for i in range(20)],
            "street": [f"street{i % 5}" for i in range(20)],
            "colour": ["red", "blue"] * 10,
        }
    )
    table = pm.Table(
        frame,
        quasi_identifiers={"age": pm.Hierarchy.ordered()},
        insensitive=["town", "street", "colour"],
    )
    with pytest.warns(
        pm.release.ReleaseWarning, match="'town' and 'street' taken together are different"
    ):
        pm.make_release(table, pm.recodings.cut_recoding(table, [[0]]))


def test_a_release_of_nearly_the_same_table_is_warned_of() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 200), "zip": rng.integers(0, 50, 200)})

    def release(rows: pd.DataFrame) -> pm.Release:
        hierarchies = {name: pm.Hierarchy.ordered(range(60)) for name in ("age", "zip")}
        table = pm.Table(rows, quasi_identifiers=hierarchies)
        return pm.make_release(table, pm.recodings.cut_recoding(table, [[0] * 59, [0] * 59]))

    release(frame)
    with pytest.warns(pm.release.ReleaseWarning, match="work out who was added or removed"):
        release(frame[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release(pd.DataFrame({name: rng.integers(0, 60, 200) for name in frame}))
