"""Forest accuracy: a measure of what a random forest learns from a release."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from privmoo._util.checks import choice, whole_number
from privmoo.data.facts import leaf_offsets
from privmoo.data.table import Table
from privmoo.errors import Hint, MeasureError, PrivmooError
from privmoo.groups.groups import GroupBatch, Stage
from privmoo.learning.experiment import prepare
from privmoo.learning.scores import Learner, score_split
from privmoo.measures.base import FloatArray
from privmoo.measures.records import released_records
from privmoo.measures.staged import Staged
from privmoo.recodings.base import Recoding
from privmoo.recodings.blocks import BlockRecoding
from privmoo.release.draft import released_frame
from privmoo.release.release import Release

__all__ = ["ForestAccuracy"]


class ForestAccuracy(Staged):
    """The accuracy of a random forest that is trained on the release. More is better.

    Majeed & Hwang 2023, Table VII; the forest predicts the table's target from all other released
    columns, over splits that are the same for all candidates. It trains a forest for every candidate and
    split, so it takes seconds while other measures take milliseconds: choose a small budget.

    Args:
        trees: The number of trees in the forest.
        repeats: The number of splits into training and test records; the value is their mean.
        test_size: The share of records to test on.
        tested_on: The `"released"` rows of the test records, as in the paper, or their `"original"` rows.
        seed: The seed of the splits and forests.
        stage: `"after"` or `"before"` suppression.

    >>> import privmoo as pm
    >>> df = pd.DataFrame({"age": list(range(40)), "y": ["a"] * 20 + ["b"] * 20})
    >>> table = pm.Table(df, quasi_identifiers={"age": pm.Hierarchy.ordered()}, target="y")
    >>> ForestAccuracy(trees=5)(pm.group(table)) > 0.9
    True
    """

    name = "accuracy"
    label = "accuracy of a random forest"
    sense = "max"
    needs: ClassVar[frozenset[str]] = frozenset({"sizes", "labels"})

    def __init__(
        self,
        *,
        trees: int = 50,
        repeats: int = 1,
        test_size: float = 1 / 3,
        tested_on: Literal["released", "original"] = "released",
        seed: int = 0,
        stage: Stage = "after",
    ) -> None:
        for name, number in (("trees", trees), ("repeats", repeats)):
            whole_number(name, number, error=MeasureError)
        choice("tested_on", tested_on, ("released", "original"), error=MeasureError)
        self.trees, self.repeats, self.test_size = trees, repeats, test_size
        self.tested_on, self.seed = tested_on, seed
        super().__init__(stage=stage)

    def check(self, table: Table) -> None:
        """Raise if the table has no target."""
        super().check(table)
        if table.target is None:
            raise MeasureError(
                f"{self.name}: the table has no target to predict",
                hint=Hint(parameter="target", call="Table"),
            )

    def batch(self, groups: GroupBatch) -> FloatArray:
        """Train one forest for every candidate and split."""
        self.check(groups.table)
        records_of = released_records(groups, self.name)
        return np.array(
            [self._of(groups, c, rows) if len(rows) else 0.0 for c, rows in enumerate(records_of)]
        )

    def _of(self, groups: GroupBatch, c: int, records: NDArray[np.int64]) -> float:
        from sklearn.ensemble import RandomForestClassifier

        table = groups.table
        recoding = _recoding(groups, c, self.name)
        bare_release = Release(
            released_frame(table, recoding, records),
            None,  # type: ignore[arg-type]  # it is only learned from, never released
            records,
            recoding.meanings(),
        )
        try:
            learning = prepare(
                table,
                {"release": bare_release},
                repeats=self.repeats,
                test_size=self.test_size,
                seed=self.seed,
            )
        except PrivmooError:
            if len(records) == table.n_records:
                raise
            return 0.0  # so much is suppressed that nothing can be learned
        forest = RandomForestClassifier(self.trees, random_state=self.seed, n_jobs=1)
        learner, n_classes = Learner("RF", forest, self.seed), len(learning.classes)
        rows: list[dict[str, Any]] = []
        for split in learning.splits:
            original, release = learning.methods
            rows += score_split(learner, original, release, split, n_classes, None)
        frame = pd.DataFrame(rows)
        return float(frame.loc[frame["tested_on"] == self.tested_on, "accuracy"].mean())

    def range(self, table: Table) -> tuple[float, float]:
        """Return the range of the accuracy, from 0 to 1."""
        return 0.0, 1.0


def _recoding(groups: GroupBatch, c: int, measure: str) -> Recoding:
    if groups.cells is not None:
        return groups.cells[c]
    blocks, offsets = groups.need_blocks(measure)[c], leaf_offsets(groups.table)
    parts = [blocks[a:b] for a, b in pairwise(offsets)]
    return BlockRecoding(groups.table.qis, parts)
