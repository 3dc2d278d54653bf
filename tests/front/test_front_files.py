"""Fronts in files: what comes back, what is refused, and what hostile files cannot do."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from privmoo import registry
from privmoo.errors import AuditError, CheckpointError, FileError, ProblemError
from privmoo.front.front import Front
from privmoo.groups import GroupBatch
from privmoo.measures import GeneralLoss, JournalistRisk, KAnonymity, Uniqueness, measure
from privmoo.problems import Cuts
from privmoo.suppression import BelowThreshold, Budget, Suppression, ViolatingGroups
from tests.scenery.fronts import EVERY, FRONT, PROBLEM, TABLE, made_table

# Tests release one table many times, which a publisher should not.
pytestmark = pytest.mark.filterwarnings("ignore::privmoo.release.release.ReleaseWarning")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "a.front"
    FRONT.save(path)
    return path


def test_save_and_load(saved: Path) -> None:
    alone = Front.load(saved)
    assert alone == FRONT and alone.objectives == FRONT.objectives
    assert alone.X.dtype == bool and np.array_equal(alone.dominated, FRONT.dominated)
    assert alone.where(max_loss=0.5).best("k").values == FRONT.where(max_loss=0.5).best("k").values
    with pytest.raises(ProblemError, match=r"loaded without its table.*Front.load\(path, table="):
        alone[0].release()
    assert "k-anonymity" in alone[0].explain() and "Measured" in alone[0]._repr_html_()
    with_table = Front.load(saved, table=TABLE)
    with_problem = Front.load(saved, problem=PROBLEM)
    for i in (0, 3, len(FRONT) - 1):
        expected = FRONT[i].release(seed=2)
        for loaded in (with_table, with_problem):
            release = loaded[i].release(seed=2)
            assert release.frame.equals(expected.frame)
            assert release.certificate.claims == expected.certificate.claims
            assert loaded[i].explain() == FRONT[i].explain()
    with_table.save(saved, force=True)
    assert Front.load(saved) == FRONT
    assert alone.merge(with_table) == FRONT


def test_nothing_is_overwritten_unasked(saved: Path) -> None:
    with pytest.raises(FileError, match="exists already"):
        FRONT.save(saved)


def test_another_table_or_problem_is_refused(saved: Path) -> None:
    other = made_table(domain="observed", target="ill")
    with pytest.raises(CheckpointError, match="was computed on another table"):
        Front.load(saved, table=other)
    with pytest.raises(CheckpointError, match=r"belongs to another problem \(Cuts\)"):
        Front.load(saved, problem=Cuts(TABLE, suppression=Budget(0.2)))


def test_a_file_that_lies_is_found_out_at_the_release(saved: Path) -> None:
    values = FRONT.values.copy()
    values[:, 0] += 1
    rewrite(saved, {"values.npy": npy(values)})
    with pytest.raises(AuditError, match="k: the optimiser claims"):
        Front.load(saved, table=TABLE)[1].release()


def recoded(path: Path, **cuts: Any) -> bytes:
    own = {"age": [0], "job": [1]} | cuts
    recodings = [{"kind": "cuts", "cuts": {k: v for k, v in own.items() if v is not None}}]
    return head_with(path, recodings=recodings * len(FRONT))


@pytest.mark.parametrize(
    "change",
    [
        lambda p: recoded(p, age=[99]),
        lambda p: recoded(p, age=[-1]),
        lambda p: recoded(p, age=["x"]),
        lambda p: recoded(p, age=[True]),
        lambda p: recoded(p, age=None),
        lambda p: recoded(p, age={}),
        lambda p: recoded(p, job=[0]),
        lambda p: head_with(p, recodings=[{"kind": "levels", "levels": 3}] * len(FRONT)),
        lambda p: head_with(
            p, recodings=[{"kind": "levels", "levels": {"age": "1", "job": 0}}] * len(FRONT)
        ),
        lambda p: head_with(p, recodings=[{"kind": ["cuts"]}] * len(FRONT)),
        lambda p: described(p, {"policy": "Budget", "fraction": "x"}),
        lambda p: described(p, {"policy": "Budget", "fraction": [0.1]}),
        lambda p: described(p, {"policy": "Budget", "fraction": 7}),
        lambda p: described(p, {"policy": "BelowThreshold", "k": "5"}),
        lambda p: described(p, {"policy": "Budget"}),
    ],
)
def test_recodings_and_policies_that_cannot_be(
    saved: Path, change: Callable[[Path], bytes]
) -> None:
    rewrite(saved, {"front.json": change(saved)})
    with pytest.raises(CheckpointError, match=r"^front: .*Front.load\(path, problem=") as raised:
        Front.load(saved, table=TABLE)[0].release()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "policy",
    [
        Budget(0.2),
        BelowThreshold(2),
        ViolatingGroups(KAnonymity() >= 2),
        ViolatingGroups(KAnonymity() >= 2.0000001, Uniqueness().named("alone") <= 1 / 3),
    ],
    ids=str,
)
def test_a_saved_front_is_released_without_its_problem(policy: Suppression, tmp_path: Path) -> None:
    front = Front.of(Cuts(TABLE, suppression=policy), EVERY[:40])
    front.save(tmp_path / "a.front")
    loaded = Front.load(tmp_path / "a.front", table=TABLE)
    assert loaded[0].suppression == policy
    assert loaded[0].release(seed=2).frame.equals(front[0].release(seed=2).frame)


@dataclass(frozen=True)
class DropSmall(Suppression):
    """A policy of a program, which a file names but cannot bring."""

    def keep(self, groups: GroupBatch) -> NDArray[np.bool_]:
        return groups.sizes > 1


def test_a_policy_that_is_not_registered_is_named(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.front"
    Front.of(Cuts(TABLE, suppression=DropSmall()), EVERY[:40]).save(file)
    sentence = r"uses the policy 'DropSmall', which is not registered; .*registry\.register"
    with pytest.raises(ProblemError, match=sentence):
        Front.load(file, table=TABLE)[0].release()
    registry.register("policies", "DropSmall", DropSmall)
    try:
        assert Front.load(file, table=TABLE)[0].suppression == DropSmall()
    finally:
        registry.unregister("policies", "DropSmall")
    registry.register("policies", "DropSmall", "no_such_module:DropSmall")
    try:
        with pytest.raises(ProblemError, match="'DropSmall', which cannot be used"):
            Front.load(file, table=TABLE)[0].release()
    finally:
        registry.unregister("policies", "DropSmall")
    rewrite(file, {"front.json": described(file, None)})
    with pytest.raises(ProblemError, match="does not state its suppression policy"):
        Front.load(file, table=TABLE)[0].release()


def described(path: Path, policy: dict[str, Any] | None) -> bytes:
    with zipfile.ZipFile(path) as archive:
        description = json.loads(archive.read("front.json"))["description"]
    return head_with(path, description=description | {"suppression": policy})


@pytest.mark.parametrize(
    "change",
    [
        {"name": "kk"},
        {"name": "loss"},
        {"stage": "before"},
        {"sense": "min"},
        {"parameters": {"population": "x"}},
        {"parameters": {"c": 3}},
    ],
)
def test_a_measure_under_a_false_name_is_refused(saved: Path, change: dict[str, Any]) -> None:
    with zipfile.ZipFile(saved) as archive:
        quantities = json.loads(archive.read("front.json"))["quantities"]
    assert quantities[0]["key"] == "k"
    quantities[0] |= change
    rewrite(saved, {"front.json": head_with(saved, quantities=quantities)})
    with pytest.raises(CheckpointError, match=r"^front: "):
        Front.load(saved, table=TABLE)
    if "parameters" not in change:  # with the problem, its own are used
        with pytest.raises(CheckpointError, match="its measures are not those of the problem"):
            Front.load(saved, problem=PROBLEM)


def test_measures_with_own_names_are_checked_too(tmp_path: Path) -> None:
    problem = Cuts(TABLE, objectives=(KAnonymity().named("crowd"), GeneralLoss()))
    front = Front.of(problem, EVERY)
    path = tmp_path / "named.front"
    front.save(path)
    assert Front.load(path, table=TABLE)[0].release().certificate.claims
    values = front.values.copy()
    values[:, 0] += 1
    rewrite(path, {"values.npy": npy(values)})
    with pytest.raises(AuditError, match="k: the optimiser claims"):
        Front.load(path, table=TABLE)[1].release()


def test_a_population_is_not_written_into_the_file(tmp_path: Path) -> None:
    people = pd.concat([TABLE.frame[["age", "job"]]] * 2, ignore_index=True)
    risk = JournalistRisk(population=people)
    problem = Cuts(TABLE, objectives=(risk, GeneralLoss()))
    Front.of(problem, EVERY[:40]).save(tmp_path / "a.front")
    with zipfile.ZipFile(tmp_path / "a.front") as archive:
        quantities = json.loads(archive.read("front.json"))["quantities"]
    assert quantities[0]["parameters"]["population"] == "<DataFrame>"
    assert len(Front.load(tmp_path / "a.front", table=TABLE)[0].release())


def test_decisions_that_are_none_of_the_problem(saved: Path) -> None:
    for X in (FRONT.X[:, 1:], FRONT.X.astype(int) * 7):
        rewrite(saved, {"X.npy": npy(np.ascontiguousarray(X))})
        with pytest.raises(CheckpointError, match="not possible ones of the problem"):
            Front.load(saved, problem=PROBLEM)


def test_custom_measures_are_stored_by_name_never_as_code(tmp_path: Path) -> None:
    @measure(sense="min", bounds=(0, 1))
    def alone(groups: Any) -> float:
        return float((groups.sizes == 1).sum() / max(groups.n_records, 1))

    problem = Cuts(TABLE, objectives=(alone, GeneralLoss()))
    front = Front.of(problem, EVERY)
    front.save(tmp_path / "own.front")
    loaded = Front.load(tmp_path / "own.front", table=TABLE)
    assert loaded == front and loaded[0].alone == front[0].alone
    assert len(loaded[-1].release(seed=0)) == 150


def npy(array: NDArray[Any]) -> bytes:
    content = io.BytesIO()
    np.save(content, array, allow_pickle=True)
    return content.getvalue()


def claiming(shape: tuple[int, ...]) -> bytes:
    """An array without content whose header claims a shape."""
    content = npy(np.zeros((0, 3)))
    header = content[10:128].replace(b"(0, 3)", str(shape).encode()).rstrip() + b"\n"
    return content[:8] + len(header).to_bytes(2, "little") + header


def rewrite(path: Path, changes: dict[str, bytes | None]) -> None:
    with zipfile.ZipFile(path) as archive:
        parts: dict[str, bytes | None] = {n: archive.read(n) for n in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (parts | changes).items():
            if content is not None:
                archive.writestr(name, content)


def head_with(path: Path, **changes: Any) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return json.dumps(json.loads(archive.read("front.json")) | changes).encode()


@pytest.mark.parametrize(
    "change",
    [
        lambda p: {"front.json": b"{"},
        lambda p: {"front.json": b"[" * 100_000},
        lambda p: {"front.json": b"[]"},
        lambda p: {"front.json": head_with(p, format="privmoo front 99")},
        lambda p: {"front.json": head_with(p, quantities=[])},
        lambda p: {"front.json": head_with(p, quantities=[{"key": 7}])},
        lambda p: {"front.json": head_with(p, n_objectives=99)},
        lambda p: {"front.json": head_with(p, recodings=[1, 2])},
        lambda p: {"front.json": head_with(p, run=None)},
        lambda p: {"values.npy": None},
        lambda p: {"evil.py": b"print(1)"},
        lambda p: {"values.npy": b"\x93NUMPY"},
        lambda p: {"values.npy": npy(np.array([object()], dtype=object))},
        lambda p: {"values.npy": npy(FRONT.values)[:-8]},
        lambda p: {"values.npy": npy(FRONT.values * np.nan)},
        lambda p: {"values.npy": npy(FRONT.values[:, 1:])},
        lambda p: {"X.npy": npy(FRONT.X[1:])},
        lambda p: {"X.npy": npy(np.zeros((1, 1))).replace(b"(1, 1)", b"(9**9,)")},
        lambda p: {"X.npy": claiming((0, 2**62))},
        lambda p: {"X.npy": claiming((2**62, 0))},
        lambda p: {"values.npy": claiming((0, 2**62, 2**62))},
    ],
)
def test_hostile_files(saved: Path, change: Callable[[Path], dict[str, bytes | None]]) -> None:
    rewrite(saved, change(saved))
    with pytest.raises(CheckpointError, match=r"^front: ") as raised:
        Front.load(saved)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 400


def test_a_header_that_claims_terabytes_takes_no_memory(saved: Path) -> None:
    content = npy(np.zeros((2, 3)))
    header = content[10:128].replace(b"(2, 3)", b"(99999999999, 9999)").rstrip() + b"\n"
    claims = content[:8] + len(header).to_bytes(2, "little") + header + content[128:]
    rewrite(saved, {"values.npy": claims})
    with pytest.raises(CheckpointError, match="has another size than it says"):
        Front.load(saved)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255), cut=st.booleans())
def test_damaged_files(tmp_path: Path, share: float, flip: int, cut: bool) -> None:
    path = tmp_path / "b.front"
    FRONT.save(path, force=True)
    content = path.read_bytes()
    place = int(share * len(content))
    tail = b"" if cut else bytes([content[place] ^ flip]) + content[place + 1 :]
    path.write_bytes(content[:place] + tail)
    try:
        loaded = Front.load(path)
    except CheckpointError:
        return
    assert loaded == FRONT  # zip has bytes that mean nothing


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no file"):
        Front.load(tmp_path / "none.front")
