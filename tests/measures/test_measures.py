"""Measures: published numbers, the conformance suite, and everything that is refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privmoo as pm
from privmoo import datasets, measures
from privmoo.audit import Audit, audit, count_tables
from privmoo.errors import MeasureError, PrivmooError
from privmoo.evaluation.engine import group
from privmoo.measures import Measure, measure, measure_by_name
from privmoo.recodings.candidates import Candidates
from privmoo.testing import check_measure, evaluate, example_table

# also with other than the usual parameters
UNUSUAL: list[Measure] = [
    measures.TCloseness(distance="ordered"),
    measures.TCloseness(distance="ordered", reference="original"),
    measures.BetaLikeness(enhanced=True),
    measures.BetaLikeness(enhanced=True, reference="original"),
    measures.DeltaDisclosure(reference="original"),
    measures.ProsecutorRisk(statistic="average"),
    measures.JournalistRisk(statistic="average", sampling_fraction=0.3),
    measures.RecordsAtRisk(0.25, count=True),
    measures.Homogeneity(count=True),
    measures.Similarity(0),
    measures.GeneralLoss(aggregate="geometric"),
    measures.Discernibility(star=True),
    measures.InformationLoss(scale="standard"),
]


def close(got: float, expected: float) -> bool:
    return bool(np.isclose(got, expected, rtol=1e-9, atol=1e-12))


def test_published_numbers() -> None:
    for table, classes, at_risk, homogeneous in (
        (datasets.german_credit(), 310, (959, 828, 698), 279),
        (datasets.adult("wei"), 1900, (6506, 4906, 3910), 634),
    ):
        groups = group(table)
        assert groups.n_groups == classes
        for tau, records in zip((0.05, 0.075, 0.1), at_risk, strict=True):
            assert measures.RecordsAtRisk(tau, count=True)(groups) == records
        assert measures.Homogeneity(count=True)(groups) == homogeneous


def test_prosecutor_risk_of_arx(shared_data: Path) -> None:
    groups = group(datasets.load_arx(shared_data / "arx_adult"))
    assert groups.n_records == 30162
    assert measures.ProsecutorRisk(statistic="average")(groups) == 0.6465751607983555


def test_clusters_bring_their_own_loss() -> None:
    table = pm.Table(pd.DataFrame({"a": [1, 2, 2, 5]}), quasi_identifiers=["a"])
    chunk = Candidates(labels=np.array([[0, 0, 1]], np.int32), losses=np.array([[0.5, 0.2, 0.0]]))
    assert close(evaluate(measures.GeneralLoss(), table, chunk)[0], (0.5 + 2 * 0.2) / 4)
    suppressed = evaluate(measures.GeneralLoss(), table, chunk, pm.BelowThreshold(2))
    assert close(suppressed[0], (0.5 + 2 * 0.2 + 1) / 4)
    for m in (measures.Precision(), measures.GeneralLoss(aggregate="geometric")):
        with pytest.raises(MeasureError, match="clusters"):
            evaluate(m, table, chunk)
    blocks = Candidates(blocks=np.array([[0, 1, 2]], np.uint32))
    with pytest.raises(MeasureError, match="il: needs clusters"):
        evaluate(measures.InformationLoss(), table, blocks)


def test_ordered_distance_follows_the_type_of_the_values() -> None:
    found = []
    for values in ([2, 10, 2, 10, 3, 3], ["2", "10", "2", "10", "3", "3"]):
        frame = pd.DataFrame({"a": [1, 1, 1, 2, 2, 2], "s": values})
        table = pm.Table(frame, quasi_identifiers=["a"], sensitive="s")
        found.append(measures.TCloseness(distance="ordered")(group(table)))
        result = audit(frame, quasi_identifiers="a", sensitive="s")
        assert close(found[-1], result.measure("t", distance="ordered"))
    assert found[0] != found[1]  # text goes by its letters


def test_many_values_per_group() -> None:
    """Groups of more than a few values are sorted another way."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.integers(0, 3, 400), "s": rng.integers(0, 90, 400) ** 2})
    table = pm.Table(frame, quasi_identifiers=["a"], sensitive="s")
    result = audit(frame, quasi_identifiers="a", sensitive="s")
    for m in (
        measures.TCloseness(distance="ordered"),
        measures.RecursiveDiversity(3),
        measures.RecursiveDiversity(0.5),
    ):
        assert close(m(group(table)), result.measure(m.name, **m.parameters))


SETTINGS: dict[str, dict[str, Any]] = {
    "recursive_l": {"c": 2},
    "at_risk": {"tau": 0.3},
    "skewness": {"factor": 1.2},
    "similarity": {"level": 1},
    "journalist_risk": {"sampling_fraction": 0.1},
    "marketer_risk": {"population": pd.concat([example_table().frame] * 2, ignore_index=True)},
}
# A forest takes seconds per candidate, and its splits depend on the order of the records.
NAMES = [name for name in measures.names() if name != "accuracy"]
BUILT_IN = [measure_by_name(name, **SETTINGS.get(name, {})) for name in NAMES]


@pytest.mark.parametrize("m", [*BUILT_IN, *UNUSUAL], ids=repr)
def test_built_in_measures_conform(m: Measure) -> None:
    check_measure(m)


@pytest.mark.parametrize("m", BUILT_IN, ids=lambda m: m.name)
def test_survives_the_way_to_another_process(m: Measure) -> None:
    table = example_table()
    m.check(table)
    other = pickle.loads(pickle.dumps(m))  # noqa: S301, made here
    assert repr(other) == repr(m) and other.range(table) == m.range(table)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "suppression"])
def test_before_suppression_nothing_is_audited(name: str) -> None:
    if name == "discernibility":
        m = measure_by_name(name, star=True)
    else:
        m = measure_by_name(name, **SETTINGS.get(name, {}), stage="before")
    assert m.key == f"{name}_before" and m.stage == "before" and not m.audited
    if name != "il":
        check_measure(m)


@measure(sense="min", bounds=(0, 1))
def small_groups(groups: pm.groups.Grouping) -> float:
    """Share of records in groups below ten."""
    return float(groups.sizes[groups.sizes < 10].sum() / groups.n_records)


@numba.njit  # type: ignore[untyped-decorator]  # numba has no types
def _largest(starts: Any, stops: Any, sizes: Any, out: Any) -> None:
    for c in range(len(starts)):
        out[c] = sizes[starts[c] : stops[c]].max() if stops[c] > starts[c] else 0


@measure(sense="min", bounds=(0, 60), batched=True)
def largest_group(groups: pm.groups.GroupBatch) -> Any:
    """Size of the largest group."""
    out = np.empty(len(groups))
    _largest(groups.starts, groups.stops, groups.sizes, out)
    return out


@pytest.mark.parametrize("m", [small_groups, largest_group], ids=repr)
def test_custom_measures_conform(m: Measure) -> None:
    check_measure(m)


def broken(function: Any, **options: Any) -> Measure:
    defaults: dict[str, Any] = {"sense": "min", "bounds": (0, 1e6), "name": "broken"}
    return measure(**{**defaults, **options})(function)


class Claims(measures.AverageK):
    """Says the opposite of the truth."""

    coarser = "worse"  # type: ignore[assignment]


class Forgets(measures.RecordsAtRisk):
    """Does not pass its parameter on."""

    def __init__(self, tau: float = 0.2, **options: Any) -> None:
        super().__init__(0.5 if tau == 0.2 else 0.1, **options)


class Uncounted(measures.AverageK):
    """Is audited, but the audit does not know it."""

    name = "uncounted"


CALLS = iter(range(10**6))


@pytest.mark.parametrize(
    ("m", "sentence"),
    [
        (broken(lambda g: g.sizes[0]), "order of the groups"),
        (broken(lambda g: g.sizes.max(), bounds=(0, 5)), "outside its range"),
        (broken(lambda g: next(CALLS)), "second time"),
        (broken(lambda g: g.table.frame["age"] @ range(60)), "order of the records"),
        (broken(lambda gs: gs.n_groups / len(gs), batched=True), "alone"),
        (Claims(), "merging groups"),
        (Forgets(), "parameters"),
        (Uncounted(), "the audit has no formula for it"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_breaches_are_found(m: Measure, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_measure(m)


def test_a_measure_without_a_formula_is_refused_before_it_is_searched() -> None:
    said = r"^uncounted: Uncounted says audited = True, but .* formula.*; write one with @formula"
    for parts in ({"objectives": [Uncounted()]}, {"constraints": [Uncounted() >= 1]}):
        with pytest.raises(MeasureError, match=said):
            pm.problems.Cuts(example_table(), **parts)


@pytest.mark.parametrize("bounds", [(0, 1), (0.0, 1.0)])
def test_whole_bounds_do_not_make_whole_values(bounds: tuple[float, float]) -> None:
    @pm.measure(sense="min", bounds=bounds)
    def half(groups: pm.groups.Grouping) -> float:
        return 0.5

    assert half(pm.group(example_table())) == 0.5


def test_nan_is_refused() -> None:
    groups = group(example_table())
    with pytest.raises(MeasureError, match="returned NaN for candidate 0"):
        broken(lambda g: float("nan"))(groups)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: measures.RecordsAtRisk(0), "tau: must be above 0 and at most 1"),
        (lambda: measures.RecordsAtRisk(1.01), "tau: must be above 0 and at most 1"),
        (lambda: measures.RecordsAtRisk(True), "tau: must be above 0 and at most 1"),
        (lambda: measures.RecordsAtRisk(0.1, count=1), "count: must be True or False"),
        (lambda: measures.RecursiveDiversity(0), "c: must be a finite number above 0"),
        (lambda: measures.Skewness(-1), "factor: must be a finite number above 0"),
        (lambda: measures.Skewness(float("nan")), "factor: must be a finite number above 0"),
        (lambda: measures.Similarity(-1), "level: must be a whole number of at least 0"),
        (lambda: measures.Similarity(0.5), "level: must be a whole number of at least 0"),
        (lambda: measures.JournalistRisk(), "either population or sampling_fraction, got neither"),
        (
            lambda: measures.MarketerRisk(population=pd.DataFrame(), sampling_fraction=0.1),
            "either population or sampling_fraction, got both",
        ),
        (lambda: measures.JournalistRisk(sampling_fraction=0), "sampling_fraction: must be"),
        (lambda: measures.JournalistRisk(population=pd.DataFrame()), "population: it has no rows"),
        (lambda: measures.TCloseness(distance="oredred"), "did you mean 'ordered'"),
        (lambda: measures.BetaLikeness(reference="all"), "reference: must be one of"),
        (lambda: measures.ProsecutorRisk(statistic="mean"), "statistic: must be one of"),
        (lambda: measures.KAnonymity(stage="during"), "stage: must be one of"),
        (lambda: measures.GeneralLoss(aggregate="sum"), "aggregate: must be one of"),
        (lambda: measures.InformationLoss(scale="log"), "scale: must be one of"),
        (lambda: measure_by_name("entropy-l"), "did you mean 'entropy_l'"),
        (lambda: measure_by_name("at_risk"), "takes the parameters"),
        (lambda: measure_by_name("k", tau=1), "takes the parameters"),
    ],
)
def test_bad_parameters(make: Any, sentence: str) -> None:
    with pytest.raises(MeasureError, match=sentence) as caught:
        make()
    assert "\n" not in str(caught.value)


PLAIN = pm.Table(
    pd.DataFrame({"a": [1.0, 2.0, None], "s": list("xyx")}),
    quasi_identifiers=["a"],
    sensitive="s",
)


@pytest.mark.parametrize(
    ("m", "sentence"),
    [
        (measures.TCloseness(distance="hierarchical"), "needs a hierarchy of 's'"),
        (measures.Similarity(1), "no sensitive attribute has a hierarchy"),
        (measures.ClassificationMetric(), "the table has no target"),
        (measures.InformationLoss(), "column 'a' has missing values"),
        (measures.MarketerRisk(population=pd.DataFrame({"b": [1]})), "column 'a' is not in it"),
        (measures.MarketerRisk(population=pd.DataFrame({"a": [1, 2, 3]})), "row 2"),
        (measures.MarketerRisk(population=pd.DataFrame({"a": [1, 2]})), "like row 2 than"),
    ],
)
def test_measures_that_do_not_fit_the_table(m: Measure, sentence: str) -> None:
    with pytest.raises(PrivmooError, match=sentence) as caught:
        m.check(PLAIN)
    assert "\n" not in str(caught.value)


def test_more_that_does_not_fit() -> None:
    table = example_table()
    with pytest.raises(MeasureError, match="has levels 0 to 1, got level=2"):
        measures.Similarity(2).check(table)
    no_sensitive = pm.Table(pd.DataFrame({"a": [1, 2]}), quasi_identifiers=["a"])
    with pytest.raises(MeasureError, match="no sensitive attribute"):
        measures.Homogeneity().check(no_sensitive)
    more = pd.DataFrame({"a": [1, 2, None]})
    with pytest.raises(MeasureError, match="missing values, but the table's has none"):
        measures.JournalistRisk(population=more).check(no_sensitive)


def test_a_population_is_not_printed() -> None:
    m = measures.JournalistRisk(population=pd.DataFrame({"a": [12345, 67890]}))
    assert repr(m) == "JournalistRisk(statistic='max', population=<2 rows>)"


def test_constraints() -> None:
    table = example_table()
    constraint = measures.KAnonymity() >= 5
    constraint.check(table)
    assert constraint.violation(np.array([3.0, 8.0])).tolist() == [2.0, -3.0]
    with pytest.raises(MeasureError, match="cannot be satisfied"):
        (measures.KAnonymity() >= 61).check(table)
    with pytest.raises(MeasureError, match="strict"):
        measures.KAnonymity() > 5  # noqa: B015


class Shaped(Measure):
    """A measure with parameters of its own and any further options."""

    name = "shaped"

    def __init__(self, shape: str, **options: Any) -> None:
        super().__init__()


@pytest.mark.parametrize(
    ("kind", "arguments", "options", "message"),
    [
        (pm.KAnonymity, (5,), {}, r"does not take the bound 5; .* write KAnonymity\(\) >= 5"),
        (pm.KAnonymity, (), {"k": 5}, r"no parameter 'k'; .* write KAnonymity\(\) >= 5"),
        (measures.DistinctDiversity, (), {"l": 3}, r"'l'; .* write DistinctDiversity\(\) >= 3"),
        (measures.DistinctDiversity, ("ill",), {}, "type str here; its parameters are stage"),
        (pm.KAnonymity, (), {"stag": "before"}, "no parameter 'stag'; did you mean 'stage'?"),
        (
            pm.KAnonymity,
            (),
            {"zzzz": "ill"},
            "no parameter 'zzzz'; its parameters are columns, stage",
        ),
        (measures.RecordsAtRisk, (), {}, r"needs the parameter 'tau'; .*\(tau=...\)"),
        (measures.RecordsAtRisk, (0.1, 0.2), {}, r"write RecordsAtRisk\(0.1\) <= 0.2"),
        (measures.RecordsAtRisk, (0.1,), {"k": 2}, r"write RecordsAtRisk\(0.1\) <= 2"),
        (measures.RecordsAtRisk, (0.1,), {"tau": 0.2}, "got one parameter twice"),
        (Shaped, (), {"size": 2}, "Shaped needs the parameter 'shape'"),
    ],
)
def test_arguments_that_a_measure_does_not_take(
    kind: Any, arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(MeasureError, match=message):
        kind(*arguments, **options)
    assert Shaped("round", size=2).name == "shaped"


@pytest.mark.parametrize(
    ("values", "expected"),
    [("xyz", 3), ("xxyyzz", 3), ("abcdefg" * 3, 7), ("aaaabcde", 4), ("xxy", None)],
)
def test_entropy_loses_no_whole_number(values: str, expected: int | None) -> None:
    frame = pd.DataFrame({"a": 1, "ill": list(values)})
    table = pm.Table(frame, quasi_identifiers=["a"], sensitive="ill")
    measured = pm.EntropyDiversity()(pm.group(table))
    assert measured == pytest.approx(table.audit().entropy_l, rel=1e-13)
    if expected is None:
        assert measured == pytest.approx(3 / 2 ** (2 / 3)) and measured != round(measured)
    else:
        assert measured == table.audit().entropy_l == expected
        assert (pm.EntropyDiversity() >= expected).violation(np.array([measured])) <= 0


@given(st.integers(1, 60), st.integers(1, 10_000))
def test_values_that_are_equally_frequent_have_their_number_as_entropy_diversity(
    number: int, times: int
) -> None:
    frame = pd.DataFrame({"a": 1, "ill": np.arange(number).astype(str), "n": times})
    counts = count_tables({"ill": frame}, quasi_identifiers=["a"], sensitive=["ill"], count="n")
    assert Audit(counts).entropy_l == number
