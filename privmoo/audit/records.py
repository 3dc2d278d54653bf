"""Measures record by record: which original values remain, and what an attacker can infer."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from privmoo.audit.labels import Meanings, read_positions, require
from privmoo.audit.values import canonical, canonical_codes, factorize
from privmoo.errors import AuditError

__all__ = ["StatedNoise", "disclosure_risks", "kept_values", "mean_levels", "numbers_of_labels"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
_FAR = 40.0  # scales of noise: a row farther away has no weight beside one that fits
_POINTS = 256


@dataclass(frozen=True)
class StatedNoise:
    """The Laplace noise on a numeric column, as the publisher states it.

    Attributes:
        scales: The scale of the noise on every released row.
        step: The unit to which noise was rounded.
        low: The lower bound of the released numbers.
        high: Their upper bound.
    """

    scales: FloatArray
    step: float
    low: float = -np.inf
    high: float = np.inf


def numbers_of_labels(column: pd.Series[Any], name: Hashable) -> tuple[FloatArray, FloatArray]:
    """Return both ends of every released number or interval such as ``20–29``.

    Args:
        column: The released values.
        name: The column's name, for errors.

    >>> [ends.tolist() for ends in numbers_of_labels(pd.Series(["20–29", "31"]), "age")]
    [[20.0, 31.0], [29.0, 31.0]]
    """
    codes, strings = canonical_codes(column, name)
    ends = np.empty((len(strings), 2))
    for i, text in enumerate(strings):
        low, _, high = text.partition("–")
        try:
            ends[i] = float(low), float(high or low)
        except ValueError:
            row = int((codes == i).argmax())
            raise AuditError(
                f"column {str(name)!r}: released row {row} is neither a number nor an interval"
            ) from None
    return ends[codes, 0], ends[codes, 1]


def kept_values(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    meanings: Meanings,
    numeric: Collection[Hashable],
    rows: Sequence[int] | IntArray,
) -> pd.DataFrame:
    """Return per released row and quasi-identifier whether the original value is published unchanged.

    A label keeps the value that it alone stands for.

    Args:
        original: The quasi-identifiers before anonymization.
        released: The release.
        meanings: Per column and label the values it stands for.
        numeric: The columns that are numbers.
        rows: The original row of every released row.

    >>> df, out = pd.DataFrame({"age": [1, 2]}), pd.DataFrame({"age": [1, 3]})
    >>> kept_values(df, out, meanings={}, numeric=["age"], rows=[0, 1])["age"].tolist()
    [True, False]
    """
    positions = _positions(original, released, rows)
    is_kept = {}
    for name in original.columns:
        if name in numeric:
            low, high = numbers_of_labels(released[name], name)
            original_values = original[name].to_numpy(np.float64)[positions]
            is_kept[name] = (low == original_values) & (high == original_values)
            continue
        codes, strings = canonical_codes(released[name], name)
        alone = [_leaves(meanings, name, text) for text in strings]
        single = np.array(
            [next(iter(leaves)) if len(leaves) == 1 else None for leaves in alone], object
        )
        original_codes, original_strings = canonical_codes(original[name], name)
        original_values = np.array(original_strings, object)[original_codes][positions]
        is_kept[name] = single[codes] == original_values
    return pd.DataFrame(is_kept)


def mean_levels(
    released: pd.DataFrame,
    levels: Mapping[Any, Mapping[str, float]],
    columns: Sequence[Hashable],
    records: IntArray | None = None,
) -> pd.Series[float]:
    """Return per quasi-identifier the mean of level / height over the released rows.

    Args:
        released: The release.
        levels: Per column and label its level divided by the hierarchy's height; a column without an
            entry has level 0.
        columns: The quasi-identifiers.
        records: How many records every row stands for; 1 by default.

    >>> mean_levels(pd.DataFrame({"sex": ["*", "f"]}), {"sex": {"*": 1.0, "f": 0.0}}, ["sex"]).tolist()
    [0.5]
    """
    means = {}
    for name in columns:
        codes, strings = canonical_codes(released[name], name)
        column_levels = levels.get(name)
        try:
            label_levels = [
                0.0 if column_levels is None else column_levels[text] for text in strings
            ]
        except KeyError:
            raise AuditError(f"levels: column {str(name)!r} has a label without a level") from None
        means[name] = float(np.average(np.array(label_levels)[codes], weights=records))
    return pd.Series(means, dtype=np.float64)


def disclosure_risks(
    original: pd.DataFrame,
    released: pd.DataFrame,
    *,
    sensitive: Hashable,
    meanings: Meanings,
    numeric: Collection[Hashable],
    rows: Sequence[int] | IntArray,
    noise: Mapping[Any, StatedNoise] | None = None,
) -> FloatArray:
    """Return per released person the share of the secret among the rows that fit the original values.

    The attacker knows the columns of `original`, and the noise. A released row fits if its labels cover the
    known categories. Its weight is the probability that the known numbers with noise, rounded and kept
    within the bounds, are the released ones, or lie in the released interval. Numbers without noise must
    be equal, or lie in the interval. The risk is the share of the person's sensitive value among the rows
    that fit; if none does, the value's share in the release.

    Args:
        original: What the attacker knows about every original row.
        released: The release.
        sensitive: A column of the release.
        meanings: Per column and label the values it stands for.
        numeric: The columns that are numbers.
        rows: The original row of every released row.
        noise: The noise of numeric columns, by name.

    >>> df = pd.DataFrame({"age": [1, 2, 2]})
    >>> out = pd.DataFrame({"age": [1, 2, 2], "ill": ["x", "x", "y"]})
    >>> disclosure_risks(df, out, sensitive="ill", meanings={}, numeric=["age"], rows=[0, 1, 2]).tolist()
    [1.0, 0.5, 0.5]
    """
    positions = _positions(original, released, rows)
    require(released, [sensitive], "sensitive")
    secret = factorize(released[sensitive].astype(object), sensitive)[0]
    secret = np.where(secret < 0, secret.max() + 1, secret)
    prior = np.bincount(secret) / len(released)
    categories: list[Hashable] = [name for name in original.columns if name not in numeric]
    numbers: list[Hashable] = [name for name in original.columns if name in numeric]
    shape = (len(released), len(numbers))
    persons_known = original.iloc[positions]
    points = persons_known[numbers].to_numpy(np.float64).reshape(shape)
    ends = [numbers_of_labels(released[name], name) for name in numbers]
    scale = np.zeros(shape)
    for j, name in enumerate(numbers):
        if noise and name in noise:
            scale[:, j] = noise[name].scales
            ends[j] = _unrounded(*ends[j], noise[name])
    cells = _Cells(
        np.array([low for low, _ in ends]).T.reshape(shape),
        np.array([high for _, high in ends]).T.reshape(shape),
        scale,
        secret,
    )
    risk = np.empty(len(released))
    for persons, fitting in _pairs(persons_known, released, categories, meanings):
        questions, place = np.unique(
            np.column_stack([points[persons], secret[persons]]), axis=0, return_inverse=True
        )
        shares = cells.shares(questions[:, :-1], questions[:, -1].astype(np.int64), fitting)
        risk[persons] = np.where(np.isnan(shares), prior[questions[:, -1].astype(int)], shares)[
            place.ravel()
        ]
    return risk


def _unrounded(
    low: FloatArray, high: FloatArray, noise: StatedNoise
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of all sums that were rounded, and moved to a bound, into released intervals.

    `Laplace.before_rounding` states the same rule for the optimiser; the audit shares no code with it.
    """
    at_bottom, at_top = low <= noise.low, high >= noise.high
    return (
        np.where(at_bottom, -np.inf, low - noise.step / 2),
        np.where(at_top, np.inf, high + noise.step / 2),
    )


def _log_probability(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the log of the probability that standard Laplace noise lies from `left` to `right`."""
    # The distribution is symmetric: the side where most of the interval lies is turned to the right.
    left_of_zero = right < -left
    near, far = np.where(left_of_zero, -right, left), np.where(left_of_zero, -left, right)
    beyond = np.maximum(near, 0.0)  # e^-beyond / 2 is the probability of more than `beyond`
    logs: FloatArray = -beyond + np.log(0.5) + np.log(-np.expm1(-(far - beyond)))
    both_sided = near < 0
    inner = -0.5 * np.expm1(near[both_sided])  # from `near` to 0
    logs[both_sided] = np.log(np.exp(logs[both_sided]) + inner)
    return logs


@dataclass(frozen=True)
class _Cells:
    """Released numbers: both ends before rounding, the scale of their noise, the secrets behind them."""

    low: FloatArray
    high: FloatArray
    scale: FloatArray
    secret: IntArray

    def shares(self, points: FloatArray, secrets: IntArray, fitting: IntArray) -> FloatArray:
        """Return the share of each secret among the fitting rows; nan if nothing fits.

        Args:
            points: The known numbers of persons.
            secrets: The sensitive value of each person.
            fitting: The released rows that fit the known categories.
        """
        if not points.shape[1] or not len(fitting):
            counts = np.bincount(self.secret[fitting], minlength=int(secrets.max()) + 1)
            with np.errstate(invalid="ignore"):
                return np.asarray(counts[secrets] / np.float64(len(fitting)))
        # A row that is far away in one number is far away, so only rows near each few points are compared.
        loudest = self.scale[fitting].max(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            j = int(np.argmax(np.nan_to_num(np.ptp(points, axis=0) / loudest)))
        low, high, reach = self.low[fitting, j], self.high[fitting, j], _FAR * loudest[j]
        likeliest = self._best_logs(fitting)
        result = np.empty(len(points))
        order = np.argsort(points[:, j], kind="stable")
        for begin in range(0, len(points), _POINTS):
            chunk = order[begin : begin + _POINTS]
            first, last = points[chunk[0], j], points[chunk[-1], j]
            near = (low <= last + reach) & (high >= first - reach)
            chunk_shares, best = self._weigh(points[chunk], secrets[chunk], fitting[near])
            alone = best < likeliest - _FAR / 4  # only distant rows fit this person
            if alone.any() and not near.all():
                chunk_shares[alone] = self._weigh(
                    points[chunk][alone], secrets[chunk][alone], fitting
                )[0]
            result[chunk] = chunk_shares
        return result

    def _best_logs(self, rows: IntArray) -> float:
        """Return the log of the probability of the row that its own numbers make likeliest."""
        best = 0.0
        for j in range(self.low.shape[1]):
            scale = self.scale[rows, j]
            noised = scale > 0
            half = (self.high[rows, j][noised] - self.low[rows, j][noised]) / 2 / scale[noised]
            best += 0.0 if len(half) < len(rows) else float(_log_probability(-half, half).max())
        return best

    def _weigh(
        self, points: FloatArray, secrets: IntArray, rows: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the share of each secret among some rows, and the log of the largest weight."""
        logs = np.zeros((len(points), len(rows)))
        for j in range(points.shape[1]):
            x, scale = points[:, j, None], self.scale[rows, j]
            left, right = self.low[rows, j] - x, self.high[rows, j] - x
            noised = np.broadcast_to(scale > 0, left.shape)
            logs[~noised & ((left > 0) | (right < 0))] = -np.inf
            scales = np.broadcast_to(scale, left.shape)[noised]
            logs[noised] += _log_probability(left[noised] / scales, right[noised] / scales)
        best = logs.max(axis=1, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            weights = np.where(np.isfinite(logs), np.exp(logs - best[:, None]), 0.0)
            matching = np.where(self.secret[rows] == secrets[:, None], weights, 0.0).sum(axis=1)
            return matching / weights.sum(axis=1), best


def _pairs(
    original: pd.DataFrame, released: pd.DataFrame, categories: list[Hashable], meanings: Meanings
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield persons with the same known categories, and the rows whose labels cover them."""
    everyone = np.arange(len(released))
    if not categories:
        yield everyone, everyone
        return
    person, row = np.zeros(len(released), np.int64), np.zeros(len(released), np.int64)
    texts = []
    for name in categories:
        codes, strings = canonical_codes(original[name], name)
        labels, names = canonical_codes(released[name], name)
        person = pd.factorize(person * len(strings) + codes)[0]
        row = pd.factorize(row * len(names) + labels)[0]
        texts.append((codes, strings, labels, names))
    _, first_person = np.unique(person, return_index=True)
    _, first_row = np.unique(row, return_index=True)
    fits = np.ones((len(first_person), len(first_row)), np.bool_)
    for name, (codes, strings, labels, names) in zip(categories, texts, strict=True):
        code_of = {text: i for i, text in enumerate(strings)}
        covers = np.zeros((len(names), len(strings)), np.bool_)
        for i, text in enumerate(names):
            covers[i, [code_of[x] for x in _leaves(meanings, name, text) if x in code_of]] = True
        fits &= covers[labels[first_row]][:, codes[first_person]].T
    by_person, by_row = np.argsort(person, kind="stable"), np.argsort(row, kind="stable")
    starts = [np.searchsorted(k[o], np.arange(n + 1)) for k, o, n in (
        (person, by_person, len(first_person)), (row, by_row, len(first_row)),
    )]  # fmt: skip
    for i in range(len(first_person)):
        parts = [by_row[starts[1][r] : starts[1][r + 1]] for r in np.flatnonzero(fits[i])]
        fitting = np.concatenate(parts) if parts else np.empty(0, np.int64)
        yield by_person[starts[0][i] : starts[0][i + 1]], fitting


def _leaves(meanings: Meanings, name: Hashable, text: str) -> Collection[str]:
    return meanings.get(name, {}).get(text, [canonical(text)])


def _positions(
    original: pd.DataFrame, released: pd.DataFrame, rows: Sequence[int] | IntArray
) -> IntArray:
    require(original, list(original.columns), "original")
    require(released, list(original.columns), "released")
    positions = read_positions(rows, original, released)
    if positions is None:
        raise AuditError("rows: name the original row of every released row")
    return np.asarray(positions, np.int64)
