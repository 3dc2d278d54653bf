"""What a knower of the method infers: against worlds that are enumerated by hand and by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.attacks import child_counts, downcode, minimality
from privmoo.attacks.downcoding import is_minimal
from privmoo.attacks.worlds import arrangements, count_arrangements
from privmoo.errors import AttackError

TOWNS = ["A", "A", "B", "B", "B", "B"]
ILLS = ["HIV", "HIV", "flu", "cold", "cough", "gout"]


@pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")
def test_certified_three_and_posterior_one() -> None:
    frame = pd.DataFrame({"town": TOWNS, "ill": ILLS})
    table = pm.Table(
        frame,
        quasi_identifiers={"town": pm.Hierarchy.tree({"land": ["A", "B"]})},
        sensitive="ill",
    )
    problem = pm.problems.Levels(
        table,
        objectives=[pm.FrequencyDiversity(), pm.GeneralLoss()],
        suppression=pm.NoSuppression(),
    )
    front = pm.exact_front(problem, progress=False)
    release = front.where(min_l=2).best("loss").release()
    assert release.certificate.privacy["sensitive"]["ill"]["l"] == 3
    rows = release.frame
    belief = minimality(
        rows.groupby("town").ngroup().to_numpy(),
        pd.factorize(rows["ill"])[0],
        [pd.factorize(frame["town"])[0]],
        l=2,
    )
    assert belief.exact and belief.tried == 360
    assert belief.largest == 1.0 > 1 / 3
    assert belief.success == pytest.approx((2 + 4 / 4) / 6)


def slow_minimality(
    classes: list[int], values: list[int], finer: list[list[int]], least: float
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]] | None:
    """Go through all permutations of persons and run the method on each."""

    def diverse(groups: list[int], world: tuple[int, ...]) -> bool:
        for g in set(groups):
            members = [v for v, of in zip(world, groups, strict=True) if of == g]
            if max(members.count(v) for v in members) * least > len(members):
                return False
        return True

    shares = np.zeros((len(values), max(values) + 1))
    published = sorted(zip(classes, values, strict=True))
    for world in itertools.permutations(values):
        if sorted(zip(classes, world, strict=True)) != published:
            continue
        if any(diverse(groups, world) for groups in finer):
            continue
        shares[np.arange(len(values)), world] += 1
    return shares / shares[0].sum() if shares.any() else None


@given(st.data())
def test_minimality_equals_running_the_method_on_all_tables(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 6))
    lists = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    values = data.draw(lists)
    values = np.unique(values, return_inverse=True)[1].tolist()
    classes = data.draw(lists)
    finer = data.draw(st.lists(lists, min_size=0, max_size=2))
    least = data.draw(st.sampled_from([1.5, 2, 3]))
    expected = slow_minimality(classes, values, finer, least)
    arguments = np.array(classes), np.array(values), [np.array(g) for g in finer], least
    if expected is None:
        with pytest.raises(AttackError, match="none of"):
            minimality(*arguments)
        return
    assert minimality(*arguments).shares == pytest.approx(expected)


def test_drawn_worlds_agree_with_all_worlds() -> None:
    rng = np.random.default_rng(2)
    classes, values = np.arange(9) // 5, rng.integers(0, 3, 9)
    finer = [rng.integers(0, 3, 9), rng.integers(0, 2, 9)]
    exact = minimality(classes, values, finer, 2)
    drawn = minimality(classes, values, finer, 2, most_worlds=0, samples=20_000, seed=5)
    assert exact.exact and not drawn.exact
    assert drawn.shares == pytest.approx(exact.shares, abs=0.05)
    assert drawn.largest <= exact.largest
    assert drawn.success == pytest.approx(exact.success, abs=0.03)


def test_a_lower_bound_of_noise_claims_nothing() -> None:
    """Four values, each as likely as the others: the largest estimate is above 1/4, the bound is not."""
    values = np.tile(np.arange(4), 25)
    belief = minimality(np.zeros(100, int), values, [], 2, samples=300)
    assert belief.shares.max() > 0.25 and belief.largest <= 0.25
    assert belief.success == pytest.approx(0.25, abs=0.02)


def test_arrangements_are_counted() -> None:
    groups = [[0, 0, 1], [2, 3]]
    worlds = list(arrangements(groups, [np.array([0, 2, 4]), np.array([1, 3])]))
    assert len(worlds) == len({tuple(w) for w in worlds}) == count_arrangements(groups) == 6


def test_downcoding_undoes_a_minimal_local_recoding() -> None:
    """Two records may become one group of `*` only if their values differ, so one of each is certain."""

    def publish(cells: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[str]:
        same = cells[0] == cells[1]
        return [str(c) for c in cells] if same else ["*", "*"]

    belief = downcode([[0, 1], [0, 1]], lambda cells: publish(cells) == ["*", "*"])
    assert belief.exact and belief.tried == 4 and belief.consistent == 2
    # 90 % have value 0, but each of the two has it with one half: a gain over the label alone
    common = downcode(
        [[0, 1], [0, 1]],
        lambda cells: publish(cells) == ["*", "*"],
        weights=np.array([0.9, 0.1]),
        samples=4_000,
    )
    assert common.shares[:, 0] == pytest.approx([0.5, 0.5], abs=0.05)
    assert child_counts(2, (0.9, 0.1), 2).expected == pytest.approx((0.5, 0.5))


@given(
    st.integers(1, 6),
    st.lists(st.floats(0.05, 1.0), min_size=2, max_size=3),
    st.integers(1, 4),
)
def test_child_counts_equal_all_tables(size: int, shares: list[float], k: int) -> None:
    total, sums, counts_seen = 0.0, np.zeros(len(shares)), []
    chances = np.array(shares) / sum(shares)
    for world in itertools.product(range(len(shares)), repeat=size):
        counts = [world.count(child) for child in range(len(shares))]
        # the rule by hand: no child can leave with its members, nor can the whole group move down
        finer = any(n >= k and (n == size or size - n >= k) for n in counts)
        if size >= k:
            assert is_minimal(counts, k) is not finer
        if is_minimal(counts, k):
            chance = float(np.prod(chances[list(world)]))
            total += chance
            sums += chance * np.array(counts) / size
            counts_seen.append(counts)
    if not counts_seen:
        with pytest.raises(AttackError, match="no group"):
            child_counts(size, tuple(shares), k)
        return
    assume(total > 1e-9)
    belief = child_counts(size, tuple(shares), k)
    assert belief.expected == pytest.approx(sums / total)
    assert belief.fewest == tuple(np.min(counts_seen, axis=0))
    assert belief.largest == tuple(np.max(counts_seen, axis=0))
    assert belief.ruled_out == pytest.approx(1 - total, abs=1e-9)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(AttackError, match="one for each of 2 persons"):
        minimality(np.zeros(3, int), np.zeros(2, int), [], 2)
    with pytest.raises(AttackError, match="at least one value"):
        downcode([[]], lambda cells: True)
    with pytest.raises(AttackError, match="merge children"):
        child_counts(500, (1.0,) * 9, 2)
