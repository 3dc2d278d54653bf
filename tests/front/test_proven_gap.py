"""What an exact search has proven when it ends early: in numbers, in words, in a picture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo.errors import ProblemError
from privmoo.exact import exact_front
from privmoo.plot.fronts import picture_of
from tests.scenery.cuts import random_cuts
from tests.scenery.levels import Clock


def stopped(problem: pm.AnonymizationProblem, looks: int) -> pm.Front:
    """The front of a search that ends after some looks at the clock."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("privmoo.exact.stopwatch.time", Clock())
        return exact_front(problem, seconds=looks + 0.5, progress=False)


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_the_true_front_lies_in_the_gap(seed: int, looks: int) -> None:
    problem = random_cuts(np.random.default_rng(seed))
    whole, front = exact_front(problem, progress=False), stopped(problem, looks)
    gap = front.gap()
    ks, losses = whole.column("k"), whole.column("loss")
    for k, found, possible in zip(gap.k, gap.found, gap.possible, strict=True):
        true = losses[ks >= k].min(initial=np.inf)
        assert possible <= true + 1e-9
        assert np.isnan(found) or true <= found + 1e-9
    assert whole.gap().closed and gap.closed >= front.proven
    assert set(ks) <= set(gap.k) or gap.k.max() >= ks.max()


def test_words_numbers_and_the_band() -> None:
    for seed in range(40):
        front = stopped(random_cuts(np.random.default_rng(seed)), 2)
        if not front.proven and not front.gap().closed:
            break
    gap = front.gap()
    table = gap.to_frame()
    assert list(table.columns) == ["found", "possible", "gap"] and (table["gap"] >= 0).all()
    widest = int(gap.k[int(gap.widths.argmax())])
    said = gap.at(widest)
    assert said.startswith(f"at k = {widest} no recoding of this kind has less loss than ")
    assert said in repr(gap) and repr(gap) in repr(front)
    assert "no recoding of this kind exists" in gap.at(10**6)
    band = picture_of(front).band
    assert band is not None and (band.possible <= band.found + 1e-9).all()
    ax = front.plot()
    assert "not decided" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_nothing_is_proven_about_a_search() -> None:
    problem = random_cuts(np.random.default_rng(3))
    front = pm.Front.of(problem, [problem.space.coarsest()], stairs=True)
    with pytest.raises(
        ProblemError, match=r"^gap: nothing is proven about this front; compute exa"
    ):
        front.gap()
    assert picture_of(front).band is None
