"""Base classes of the methods that need all rows at once."""

from typing import ClassVar

from ilfs.arrays import Integers
from ilfs.execution import AllRows, LabelledRows, one_blas_thread
from ilfs.selector.ranking import RankingSelector
from ilfs.selector.scores import Scores
from ilfs.sources import TableSource
from ilfs.validation import TooFewRowsError


class RowsSelector(RankingSelector):
    """Base of the methods that need all rows at once."""

    _lowest: ClassVar[float] = 0.0  # score of a column with one value; no other column may have a lower one

    def _with_constants(self, scores: Scores, rows: AllRows) -> Scores:
        return scores.with_constants(rows.columns, rows.n_features, self._lowest)


class SupervisedRowsSelector(RowsSelector):
    """Base of the methods that need all rows and their classes: they implement ``_score_rows``."""

    def _score_rows(self, rows: LabelledRows) -> Scores:
        """Score the columns that vary."""
        raise NotImplementedError

    def _score_source(self, source: TableSource) -> Scores:
        self.classes_ = source.labellings[0].labels
        rows = LabelledRows.from_source(source, n_jobs=self.n_jobs, missing=self._takes_missing)
        refuse_constant(rows.columns)
        with one_blas_thread():  # set once here, because changing the limit for every product takes time
            return self._with_constants(self._score_rows(rows), rows)


class UnsupervisedRowsSelector(RowsSelector):
    """Base of the methods that need all rows and no labels: they implement ``_score_rows``."""

    _reads_labels = False

    def _score_rows(self, rows: AllRows) -> Scores:
        """Score the columns that vary."""
        raise NotImplementedError

    def _score_source(self, source: TableSource) -> Scores:
        rows = AllRows.from_matrix(source.to_matrix(), self.n_jobs, missing=self._takes_missing)
        refuse_constant(rows.columns)
        with one_blas_thread():
            return self._with_constants(self._score_rows(rows), rows)


def refuse_constant(varying: Integers) -> None:
    """Raise if all columns are constant."""
    if not varying.size:
        raise TooFewRowsError("X must have a column with two different values, got none")
