"""Base class of the baselines: the ranking of another package, completed to all columns.

A baseline ranks some columns. Those that it does not rank follow by Fisher score, and constant columns come last, so
that each baseline orders all columns of any table. Baselines do not accept missing values; the benchmark imputes them.
"""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from ilfs.arrays import Floats
from ilfs.execution import LabelledRows
from ilfs.methods.fisher import FisherScore
from ilfs.selector import Scores, SupervisedRowsSelector
from ilfs.statistics.labels import RowLabels

INSTALL_COMMAND = 'pip install "ilfs[baselines]"'


class Baseline(SupervisedRowsSelector):
    """A selector of another package, with ties and unranked columns ordered by Fisher score."""

    _takes_missing = False

    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features of X by their relevance for the classes in y.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers without missing values. A sparse matrix is accepted if the selector's tags allow it.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, where a sample may have several labels.

        Returns
        -------
        selector
            Itself.
        """
        return self._fit(X, y)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        fisher = FisherScore(n_jobs=self.n_jobs).fit(rows.X, rows.labels.codes).scores_
        return Scores(self._values(with_short_indices(rows.X), rows.labels), tie_break=fisher)

    @abstractmethod
    def _values(self, X: Any, labels: RowLabels) -> Floats:
        """Score of each column, larger is better; 0 for columns that the baseline does not rank."""

    def _n_wanted(self, X: Any) -> int:
        """Number of columns that the baseline has to pick."""
        return min(self._n_selected(), int(X.shape[1]))


def with_short_indices(X: Any) -> Any:
    """Convert a sparse matrix to CSC with 32-bit indices: scikit-learn's trees and liblinear reject 64-bit ones."""
    if not sparse.issparse(X):
        return X
    X = X.tocsc()
    return sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def points(picks: Any, n_features: int) -> Floats:
    """Scores of picked columns: n for the first of n picks, 1 for the last, 0 for all other columns."""
    values = np.zeros(n_features)
    values[np.asarray(picks, dtype=int)] = np.arange(len(picks), 0, -1)
    return values


def standardised(X: Any) -> Any:
    """Scale columns to mean 0 and variance 1; sparse columns are only scaled, to keep their zeros."""
    return StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X.astype(np.float64))
