"""Recoder: the recoding of a chosen solution as a scikit-learn transformer of new rows."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from privmoo._util.checks import choice
from privmoo._util.data_frames import AnyFrame, as_pandas, is_frame
from privmoo.data.columns import QIColumn
from privmoo.errors import ColumnError, TableError, nearest
from privmoo.hierarchy.canonical import MISSING, canonical
from privmoo.recodings.base import Recoding
from privmoo.recodings.columns import PublishedColumn

__all__ = ["Recoder"]

Unknown = Literal["error", "suppress"]
STAR = "*"
_log = logging.getLogger(__name__)


class Recoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Recode new rows as a solution recodes the table, in a pipeline of scikit-learn.

    Quasi-identifiers become the labels of the solution, and other columns pass through. **k does not
    carry over to new rows**: a person may be alone with a combination of labels that many people of the
    table share. Use it so that a learner sees new rows as it saw the release, not to publish them; rows
    to publish need a search and an audit of their own. Rows that the solution would leave out are recoded
    like others. A pickled recoder holds the domains of the columns and no records.

    Args:
        recoding: The recoding of a solution of cuts or levels. Regions, clusters and noise do not depend
            on values alone.
        handle_unknown: What becomes of a value that the table's domain does not have: an `"error"`, or
            `"*"` with `"suppress"`. A number between two values of one label gets that label.
        as_numbers: Whether labels of numeric columns become the mean of the numbers they stand for.

    Attributes:
        mapping_: Per quasi-identifier the label of every value; see `Recoding.mapping`.

    >>> import privmoo as pm
    >>> table = pm.Table(pd.DataFrame({"age": [20, 21, 40, 41]}),
    ...                  quasi_identifiers={"age": pm.Hierarchy.ordered()})
    >>> front = pm.optimize(pm.problems.Cuts(table), budget=3, seed=1, progress=False)
    >>> recoder = Recoder(front.where(min_k=2).best("loss").recoding).set_output(transform="pandas")
    >>> recoder.fit_transform(pd.DataFrame({"age": [41, 20]}))["age"].tolist()
    ['40–41', '20–21']
    """

    def __init__(
        self,
        recoding: Recoding | None = None,
        *,
        handle_unknown: Unknown = "error",
        as_numbers: bool = False,
    ) -> None:
        self.recoding = recoding
        self.handle_unknown = handle_unknown
        self.as_numbers = as_numbers

    def fit(self, X: AnyFrame | NDArray[Any], y: object = None) -> Self:
        """Look up the recoding, and check that the rows have all quasi-identifiers.

        Nothing is learnt from the rows but the names of their columns.

        Args:
            X: Rows with the table's quasi-identifiers, in a data frame; or in an array whose first
                columns they are, in the order of `table.qi_names`.
            y: Ignored.

        Raises:
            RecodingError: The recoding is not a function of values.
            ColumnError: A quasi-identifier is missing.
        """
        if self.recoding is None or not hasattr(self.recoding, "mapping"):
            raise TableError(
                "recoding: a Recoder needs one; pass front.where(min_k=5).best('loss').recoding"
            )
        choice("handle_unknown", self.handle_unknown, ("error", "suppress"), error=TableError)
        self.mapping_ = self.recoding.mapping()
        self._columns = tuple(self.recoding.columns)
        self._check(self._frame(X, reset=True))
        return self

    def transform(self, X: AnyFrame | NDArray[Any]) -> Any:
        """Return rows with recoded quasi-identifiers, in the same columns.

        Args:
            X: Rows with the columns that `fit` saw.

        Raises:
            TableError: A value is not in the domain of the table, and `handle_unknown` is `"error"`.
        """
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        _log.info(
            "%d new rows are recoded; the k of the release does not hold for them", len(frame)
        )
        recoded = {
            column.name: self._series(column, frame[column.name]) for column in self._columns
        }
        return frame.assign(**recoded) if is_frame(X) else frame.assign(**recoded).to_numpy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """Return the rows as a frame whose columns have the names of the table."""
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return as_pandas(X, what="X")
        rows = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        names: Sequence[str] = [column.name for column in self._columns]
        if rows.shape[1] < len(names):
            raise ColumnError(
                f"X: {len(names)} quasi-identifiers need as many columns, and there are {rows.shape[1]}"
            )
        others = [f"x{place}" for place in range(len(names), rows.shape[1])]
        columns = dict(zip([*names, *others], rows.T, strict=True))
        return pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})

    def _check(self, frame: pd.DataFrame) -> None:
        for column in self._columns:
            if column.name not in frame.columns:
                raise ColumnError(
                    f"X: there is no column {column.name!r}{nearest(column.name, frame.columns)}"
                )

    def _series(self, column: PublishedColumn, values: pd.Series[Any]) -> pd.Series[Any]:
        """Return the labels of a column, or the numbers they stand for."""
        codes, distinct = pd.factorize(values, use_na_sentinel=False)
        leaves = [_leaf(column, value) for value in distinct]
        if -1 in leaves and self.handle_unknown == "error":
            row = int(np.flatnonzero(codes == leaves.index(-1))[0])
            raise TableError(
                f"X: column {column.name!r}, row {row} (counted from 0): the value is not in the domain of "
                "the table; pass handle_unknown='suppress' to recode such values as *"
            ).at(column.name, row)
        numbers = column.qi.numbers
        if self.as_numbers and numbers is not None:
            means = _means(column, numbers)
            return pd.Series(np.array([means[leaf] for leaf in leaves])[codes], index=values.index)
        labels = list(self.mapping_[column.name].values())
        texts = [STAR if leaf < 0 else labels[leaf] for leaf in leaves]
        return pd.Series(np.array(texts, dtype=object)[codes], index=values.index, dtype="str")


def _leaf(column: PublishedColumn, value: object) -> int:
    """Return the leaf of a value, or a leaf with the same label; -1 if there is none."""
    qi = column.qi
    if qi.hierarchy is not None:
        code = qi.hierarchy.code_of(value)
        if code is not None:
            return code
    else:
        text = canonical(value)
        if text in qi.leaves:
            return qi.leaves.index(text)
    return -1 if canonical(value) == MISSING else _leaf_around(qi, column.codes, value)


def _leaf_around(qi: QIColumn, cells: NDArray[Any], value: object) -> int:
    """Return the leaf below a number if the leaf above has the same label; -1 otherwise."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return -1
    if qi.numbers is None or np.isnan(qi.numbers).any() or (np.diff(qi.numbers) <= 0).any():
        return -1
    above = int(np.searchsorted(qi.numbers, number))
    if not 0 < above < len(qi.numbers) or cells[above - 1] != cells[above]:
        return -1
    return above - 1


def _means(column: PublishedColumn, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean number of every leaf's label; last, that of the whole domain, for unknown values."""
    start, stop = column.leaf_ranges()
    spans = zip(start.tolist(), stop.tolist(), strict=True)
    means = np.array([np.mean(numbers[first:last]) for first, last in spans])
    return np.append(means[column.codes], np.nanmean(numbers))
