"""Attacks with a control group: against slow versions, and on releases whose danger is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.attacks import infer_values, link_tables, read_rows, single_out
from privmoo.attacks.intervals import difference, wilson
from privmoo.errors import AttackError

COLUMNS = ["age", "sex", "zip"]


def people(seed: int, n: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "sex": rng.choice(["f", "m"], n),
            "zip": rng.integers(0, 30, n),
            "ill": rng.choice(list("abcd"), n),
        }
    )


def released(df: pd.DataFrame, k: int) -> pd.DataFrame:
    table = pm.Table(
        df,
        quasi_identifiers={
            "age": pm.Hierarchy.ordered(range(20, 60)),
            "sex": pm.Hierarchy.flat(),
            "zip": pm.Hierarchy.ordered(range(30)),
        },
        sensitive="ill",
    )
    labels = pm.baselines.mondrian(table, k).apply(table, np.arange(len(df)))
    return labels.assign(ill=df["ill"])


def slow_fits(label: str, value: object) -> bool:
    if label == "*":
        return True
    low, _, high = label.partition("–")
    if low.isdigit():
        return int(low) <= int(str(value)) <= int(high or low)
    return label == str(value)


@given(st.integers(0, 10**6))
def test_fitting_rows_are_those_whose_labels_stand_for_the_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = {
        "age": ["*", "20–39", "30–59", "25"],
        "sex": ["*", "f", "m"],
        "zip": ["0–9", "*", "7"],
    }
    release = pd.DataFrame({name: rng.choice(labels[name], 6) for name in COLUMNS})
    known = people(seed, 20)
    rows = read_rows(release, [known], COLUMNS)
    distinct = release.drop_duplicates()
    for person, values in zip(rows.people[0], known.to_dict("records"), strict=True):
        expected = sum(
            all(slow_fits(str(row[name]), values[name]) for name in COLUMNS)
            for row in distinct.to_dict("records")
        )
        if expected:
            assert len(rows.fitting(person)) == expected
        else:
            assert len(rows.fitting(person)) >= 1


def test_labels_of_all_kinds_are_read() -> None:
    release = pd.DataFrame({"x": ["[20, 30)", "20-29", "{20, 35}", "old", "*", "31"]})
    rows = read_rows(
        release,
        [pd.DataFrame({"x": [20, 29, 30, 35, 99]})],
        ["x"],
        meanings={"x": {"old": ["35", "99"]}},
    )
    covers = rows.columns[0].covers[rows.columns[0].labels]
    by_label = {
        rows.columns[0].texts[label]: covers[i].tolist()
        for i, label in enumerate(rows.columns[0].labels)
    }
    assert by_label["[20, 30)"] == by_label["20-29"] == [True, True, False, False, False]
    assert by_label["{20, 35}"] == [True, False, False, True, False]
    assert by_label["old"] == [False, False, False, True, True]
    assert all(by_label["*"]) and not any(by_label["31"])
    # nobody is 31: the nearest rows of 30 are those that may be 30, here only `*`
    assert [
        rows.columns[0].texts[rows.columns[0].labels[r]] for r in rows.fitting(np.array([2]))
    ] == ["*"]


def test_publishing_everything_is_found_to_be_dangerous() -> None:
    df, control = people(1, 400), people(2, 400)
    rows = read_rows(df, [df, control], COLUMNS, sensitive="ill")
    inference = infer_values(rows)
    assert inference.rate > 0.85 and inference.control_rate < 0.4 and inference.gain[1] > 0.4
    singling = single_out(rows, size=3)
    assert singling.rate > 0.7 and singling.control_rate < 0.3 and singling.gain[1] > 0.4
    linking = link_tables(rows, [0])
    assert linking.gain[0] >= 0


def test_a_release_of_other_people_is_found_to_be_harmless() -> None:
    """The people of the table and the control people have the same distribution: no gain but by chance."""
    published, df, control = people(1, 300), people(2, 300), people(3, 300)
    rows = read_rows(released(published, 3), [df, control], COLUMNS, sensitive="ill")
    for outcome in (
        infer_values(rows),
        single_out(rows, size=3, secret=True),
        link_tables(rows, [0, 1], attempts=200),
    ):
        gain, low, high = outcome.gain
        assert low <= 0 <= high and abs(gain) < 0.12


def test_fewer_control_people_do_not_make_a_release_look_harmless() -> None:
    """A description fits one of fewer people more easily, so both are counted among equally many."""
    published, df, control = people(1, 900), people(2, 900), people(3, 90)
    rows = read_rows(released(published, 3), [df, control], COLUMNS, sensitive="ill")
    gain, low, high = single_out(rows, size=3, secret=True).gain
    assert low <= 0 <= high and abs(gain) < 0.12


def test_more_k_leaves_less_to_be_inferred() -> None:
    df, control = people(4, 600), people(5, 600)
    gains = [
        infer_values(read_rows(released(df, k), [df, control], COLUMNS, sensitive="ill")).gain[0]
        for k in (2, 50)
    ]
    assert gains[0] > gains[1] + 0.1


def test_inference_equals_a_slow_attacker() -> None:
    df, control = people(6, 60), people(7, 60)
    release = released(df, 3)
    outcome = infer_values(read_rows(release, [df, control], COLUMNS, sensitive="ill"))
    popularity = release["ill"].value_counts()
    right = 0
    for person in df.to_dict("records"):
        fits = [
            all(slow_fits(str(row[n]), person[n]) for n in COLUMNS)
            for row in release.to_dict("records")
        ]
        counts = release["ill"][fits].value_counts()
        best = max(counts.index, key=lambda value: (counts[value], popularity[value]))
        tied = [
            v
            for v in counts.index
            if (counts[v], popularity[v]) == (counts[best], popularity[best])
        ]
        right += best == person["ill"] if len(tied) == 1 else 0
        if len(tied) > 1:
            break
    else:
        assert outcome.target == (right, 60)


def test_an_end_of_a_tight_range_describes_one_person() -> None:
    """Three people between 20 and 29: one is 20, one is 29, and the release says that both exist."""
    df = pd.DataFrame({"age": [20, 25, 29], "sex": list("fff")})
    release = pd.DataFrame({"age": ["20–29"] * 3, "sex": list("fff")})
    rows = read_rows(
        release, [df, pd.DataFrame({"age": [21, 22, 23], "sex": list("fff")})], ["age", "sex"]
    )
    assert single_out(rows, size=2, ends=True).target == (2, 2)
    assert single_out(rows, size=2, ends=True).control == (0, 2)
    assert single_out(rows, size=2).target == (0, 1)


def test_intervals_of_shares() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)  # Newcombe 1998, Table I
    assert difference((9, 10), (3, 10))[1:] == pytest.approx((0.1705, 0.8090), abs=1e-4)  # Table II
    assert difference((10, 10), (0, 20))[1:] == pytest.approx((0.6791, 1.0), abs=1e-4)


def test_wrong_input_is_refused_in_one_sentence() -> None:
    df = people(1, 5)
    with pytest.raises(
        AttackError, match=r"release: column 'aeg' is not in it; did you mean 'age'"
    ):
        read_rows(df, [df], ["aeg"])
    with pytest.raises(
        AttackError, match=r"column 'sex', row 1 .* say what the labels of 'sex' stand for"
    ):
        read_rows(df.assign(sex=["f", "diverse", "f", "f", "f"]), [df[["sex"]]], ["sex"])
    with pytest.raises(AttackError, match="name the column"):
        infer_values(read_rows(df, [df, df], COLUMNS))
    with pytest.raises(AttackError, match="but not all"):
        link_tables(read_rows(df, [df, df], COLUMNS), [0, 1, 2])
