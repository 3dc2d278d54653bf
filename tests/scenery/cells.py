"""Random tables published cell by cell, and the obvious versions of what is measured on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

import privmoo as pm
from privmoo.audit import StatedNoise
from privmoo.recodings.cells import CellRecoding
from privmoo.recodings.columns import Intervals, Labels, Noised, PublishedColumn
from privmoo.recodings.nodes import node_cells, numeric_columns
from privmoo.recodings.noise import Laplace

TREE = {"one": ["a"], "two": ["b", "c"], "three": ["d", "e", "f"]}


def random_table(rng: np.random.Generator, n: int | None = None, **roles: object) -> pm.Table:
    """Two numbers, a tree, a flat category and text of digits; two sensitive attributes."""
    n = int(rng.integers(4, 30)) if n is None else n
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 26, n),
            "pay": rng.integers(0, 5, n) / 4,
            "job": rng.choice(list("abcdef"), n),
            "sex": rng.choice(["f", "m"], n),
            "zip": rng.choice(["120", "121", "200"], n),
            "ill": rng.choice(["x", "y", "z"], n),
            "town": rng.choice(["p", "q"], n),
        }
    )
    frame.loc[:1, "ill"] = ["x", "y"]
    frame.loc[:1, "town"] = ["p", "q"]
    return pm.Table(
        frame,
        quasi_identifiers={
            "age": pm.Hierarchy.intervals(18, 30, widths=[2, 4]),
            "pay": None,
            "job": pm.QI(hierarchy=pm.Hierarchy.tree(TREE), weight=2.0),
            "sex": None,
            "zip": pm.Hierarchy.masking(),
        },
        sensitive=["ill", "town"],
        **roles,
    )


def random_cells(table: pm.Table, rng: np.random.Generator) -> CellRecoding:
    """Every record at levels of its own; numbers with noise, or intervals of clusters."""
    columns: list[PublishedColumn] = []
    parts = rng.integers(0, 2, table.n_records).astype(np.int8)
    owner = rng.integers(0, 1 + rng.integers(1, table.n_records), table.n_records)
    strict = rng.random() < 0.5
    for j, own in enumerate(numeric_columns(table)):
        if own is None:
            nodes = node_cells(table)[j]
            level = rng.integers(0, nodes.height, table.n_records, endpoint=True)
            leaves = table.tuples[table.row_tuple, j]
            columns.append(Labels.of_nodes(table, j, nodes.ids[level, leaves]))
            continue
        step = 1.0 if table.qi_names[j] == "age" else 0.25
        low, high = (18.0, 30.0) if step == 1 else (0.0, 1.25)
        noised = np.clip(own + step * rng.integers(-2, 3, len(own)), low, high)
        # Without scales the attacker takes numbers as they are.
        scales = tuple(rng.choice([0.1, 0.5, 3.0], 2)) if rng.random() < 0.7 else ()
        noise = (
            Laplace(scales=scales, parts=parts, step=step, low=low, high=high) if scales else None
        )
        if not strict:
            columns.append(Noised.of_numbers(table, j, noised, step=step, noise=noise))
            continue
        clusters, place = np.unique(owner, return_inverse=True)
        members = [noised[place == c] for c in range(len(clusters))]
        ends = (_lows(members), _highs(members))
        columns.append(Intervals.of_classes(table, j, ends, place, noise=noise))
    return CellRecoding(table, columns, parts=parts)


def _lows(parts: list[np.ndarray]) -> np.ndarray:
    return np.array([part.min() for part in parts])


def _highs(parts: list[np.ndarray]) -> np.ndarray:
    return np.array([part.max() for part in parts])


def weight(
    released: object,
    known: object,
    meaning: Mapping[str, list[str]],
    noise: tuple[float, float, float, float] | None,
) -> float:
    """The probability of a released cell for a person of whom this is known, read as a person would."""
    if isinstance(known, str):
        return float(known in meaning.get(str(released), [str(released)]))
    ends = str(released).partition("–")
    low, high = float(ends[0]), float(ends[2] or ends[0])
    if noise is None:
        return float(low <= float(known) <= high)
    scale, step, bottom, top = noise
    total = 0.0
    most = 60  # so many steps lead out of every domain
    for steps in range(-most, most + 1):
        moved = min(max(float(known) + steps * step, bottom), top)
        if low - step / 4 < moved < high + step / 4:
            left = -math.inf if steps == -most else (steps - 0.5) * step / scale
            right = math.inf if steps == most else (steps + 0.5) * step / scale
            if left > 0:  # far tails are precise on the other side only
                left, right = -right, -left
            total += cumulative(right) - cumulative(left)
    return total


def cumulative(x: float) -> float:
    """The cumulative distribution of standard Laplace noise."""
    return math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2


def obvious_risks(
    table: pm.Table,
    released: pd.DataFrame,
    rows: np.ndarray,
    meanings: Mapping[str, Mapping[str, list[str]]],
    secret: str,
    known: Sequence[str],
    noise: Mapping[str, StatedNoise] | None = None,
) -> list[float]:
    """Person by person, row by row; distances are far from where a float ends."""
    texts = [
        name
        for name, own in zip(table.qi_names, numeric_columns(table), strict=True)
        if own is None
    ]
    original = table.frame.astype(dict.fromkeys(texts, "str"))
    values = list(released[secret])
    risks = []
    for place, row in enumerate(rows):
        weights = []
        for r in range(len(released)):
            fit = 1.0
            for name in known:
                own = original[name].iloc[row]
                law = None
                if noise and name in noise:
                    stated = noise[name]
                    law = float(stated.scales[r]), stated.step, stated.low, stated.high
                fit *= weight(released[name].iloc[r], own, meanings.get(name, {}), law)
            weights.append(fit)
        if not sum(weights):
            weights = [1.0] * len(values)
        told = sum(w for w, value in zip(weights, values, strict=True) if value == values[place])
        risks.append(told / sum(weights))
    return risks
