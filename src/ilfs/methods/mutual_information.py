r"""Mutual information.

A feature is good if its value carries much information about the class. The values of the feature are divided into
bins and counted by bin b and class k. With :math:`n_{bk}` the counts, :math:`n_b` and :math:`n_k` their marginal sums
and :math:`n` their total, the score in nats is

.. math:: I(\mathrm{bin}(x_f); y) = \sum_{b,k} \frac{n_{bk}}{n} \log \frac{n\, n_{bk}}{n_b\, n_k}

References: T. M. Cover, J. A. Thomas, *Elements of Information Theory*, 2006; for the correction G. A. Miller, *Note on
the bias of information estimates*, 1955.

Where we depart from the toolbox of the paper's authors:

- Bins have equal frequency by default, so that a strictly increasing transformation of a feature does not change its
  score; ``bins="width"`` gives bins of equal width. Equal values are always in the same bin, and a feature with at most
  ``n_bins`` distinct values has a bin for each of them.
- The joint counts and the marginal counts use the same bins. (The toolbox bins twice, by two different rules. A value
  on an edge may then be in different bins in the two counts, and scores on data with ties are arbitrary.)
- Empty entries of the table of counts stay 0; the toolbox fills them with 1e-5.
- The score is the mutual information itself, not divided by entropies. Any number of classes is allowed.
"""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ilfs.arrays import Floats, Integers, read_only
from ilfs.execution import LabelledRows, Plan, ask, blocks, both, fold_of, thread_map
from ilfs.execution.columns import column_blocks, gather_columns
from ilfs.parameters import check_choice, is_integer
from ilfs.selector import PlannedSelector, Scores, SupervisedRowsSelector, refuse_constant
from ilfs.sources import TableSource
from ilfs.statistics import Classes, ColumnValues, DistinctValues, Histograms, RowSample, SampledRows
from ilfs.statistics.labels import RowLabels
from ilfs.ties import RELATIVE_TOLERANCE, UNIT_FLOOR

BLOCK_STORED_VALUES = 2**16  # stored values in a block of sparse columns
# If the rows are read in blocks, bins of equal frequency are estimated from a sample of the rows. It has about
# SAMPLED_VALUES values (256 MB), but never fewer or more rows than these.
MIN_SAMPLED_ROWS, MAX_SAMPLED_ROWS, SAMPLED_VALUES = 512, 4096, 2**25
SAMPLED_COLUMNS = 256  # columns of the sample that are sorted at a time: at most 8 MB

Binning = Literal["frequency", "width"]
Correction = Literal["miller-madow"] | None


class MutualInformation(SupervisedRowsSelector, PlannedSelector):
    """Mutual information between a binned feature and the class.

    Every column is sorted once, which takes O(n_samples log n_samples) for each feature. Peak memory beyond the data is
    two copies of a block of 64 columns per thread (16 columns for 65,000 samples or more). A sparse matrix in CSR
    format is copied to CSC format. Missing values (NaN) are ignored: the bins and counts of each feature use the
    samples in which it is present.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them.
    n_bins : int or "auto", default="auto"
        Maximum number of bins of a feature. A feature with no more distinct values than this has a bin for each value,
        and its score is the mutual information of the unbinned values. ``"auto"``: 1 + log2(n_samples), rounded down
        (Sturges' rule).
    bins : {"frequency", "width"}, default="frequency"
        ``"frequency"``: bins with numbers of values as equal as ties allow. ``"width"``: bins of equal width.
    correction : {None, "miller-madow"}, default=None
        Correction of the positive bias in small samples. ``"miller-madow"``: correct each entropy by the number of its
        nonzero counts, and raise negative results to 0. The correction matters if features have different numbers of
        bins.
    edges : array of shape (n_edges,) or (n_features, n_edges), optional
        Inner bin edges in ascending order, used instead of ``n_bins`` and ``bins``: the same for all features, or one
        row for each feature. A value is in bin b if exactly b edges are less than or equal to it.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mutual information in nats, between 0 and the entropy of the classes.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    n_bins_ : int
        Maximum number of bins that was used (not for an indicator matrix).
    classes_ : ndarray of shape (n_classes,)
        Class labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: scores of each label against the rest; ``scores_`` is their mean. NaN for a
        label that all samples or no samples have.
    per_label_ : dict of int to MutualInformation
        If ``y`` is an indicator matrix: the fitted selector of each label.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    References
    ----------
    .. [1] T. M. Cover, J. A. Thomas, "Elements of Information Theory", 2nd edition, Wiley 2006.
    .. [2] G. A. Miller, "Note on the bias of information estimates", Information Theory in Psychology, 1955.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import MutualInformation
    >>> wine = load_wine()
    >>> selector = MutualInformation(n_features_to_select=3).fit(wine.data, wine.target)
    >>> list(selector.get_feature_names_out(wine.feature_names))
    ['flavanoids', 'color_intensity', 'proline']
    """

    _scores_columns_alone = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_bins: int | Literal["auto"] = "auto",
        bins: Binning = "frequency",
        correction: Correction = None,
        edges: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_bins = n_bins
        self.bins = bins
        self.correction = correction
        self.edges = edges
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Rank the features of X by their mutual information with y.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, if a sample may have several labels; or the
            name of the column of X that holds the classes.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row, also in the bins: 2 has the same effect as repeating the row, 0 as leaving it out.

        Returns
        -------
        MutualInformation
            The fitted selector.
        """
        return self._fit(X, y, sample_weight)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        self.n_bins_ = sturges(rows.labels.weight.sum()) if self.n_bins == "auto" else int(self.n_bins)
        compute = sparse_information if sparse.issparse(rows.X) else dense_information
        at_most = min(self.n_bins_, rows.X.shape[0])  # enough for a bin for every value
        information, bias = compute(rows, rows.labels, at_most, self.bins == "width")
        return self._information_scores(information, bias)

    # With given edges, the counts are a mergeable statistic: tables in memory are then read in blocks, too.
    @property
    def _prefers_statistics(self) -> bool:  # type: ignore[override]
        return self.edges is not None

    def _score_source(self, source: TableSource) -> Scores:
        if self._prefers_statistics:
            return self._score_fold(fold_of(source, self.n_jobs))
        return super()._score_source(source)

    def _score_labels(self, source: TableSource) -> Scores:
        if self._prefers_statistics:
            return self._score_fold(fold_of(source, self.n_jobs))
        return super()._score_labels(source)

    def _plan(self, classes: Classes) -> Plan[Scores]:
        """Read the rows in blocks: once to find the cuts or check the columns, and once to count."""
        self.classes_ = classes.labels
        cuts, values = yield from (self._plan_cuts(classes) if self.edges is None else self._plan_given_cuts())
        columns = np.flatnonzero(values.varying)
        refuse_constant(columns)
        histograms = yield from ask(Histograms(*cuts))
        information, bias = histogram_information(histograms.counts, cuts.n_cuts)
        return self._information_scores(information[columns], bias[columns]).with_constants(
            columns, values.low.size, self._lowest
        )

    def _plan_given_cuts(self) -> Plan[tuple["Cuts", ColumnValues]]:
        """Use the given edges; the rows are read once to find constant columns."""
        values = (yield from ask(DistinctValues(1))).checked()
        edges = np.asarray(self.edges, dtype=np.float64)
        if edges.ndim == 2 and len(edges) != values.low.size:
            raise ValueError(f"edges must have a row for each of the {values.low.size} features, got {len(edges)} rows")
        cuts = np.ascontiguousarray(np.broadcast_to(edges, (values.low.size, edges.shape[-1])))
        self.n_bins_ = edges.shape[-1] + 1
        return Cuts(cuts, np.full(len(cuts), cuts.shape[1])), values

    def _plan_cuts(self, classes: Classes) -> Plan[tuple["Cuts", ColumnValues]]:
        """Find the cuts between the bins in one read of the rows.

        They are exact for features with few distinct values and for bins of equal width. Otherwise they are estimated
        from a sample of the rows.
        """
        self.n_bins_ = sturges(classes.total.sum()) if self.n_bins == "auto" else int(self.n_bins)
        at_most = int(min(self.n_bins_, classes.rows.sum()))
        size = sample_size(self.n_features_in_) if self.bins == "frequency" else 1
        values, sample = yield from both(ask(DistinctValues(at_most)), ask(SampledRows(size)))
        return sampled_cuts(values.checked(), sample, at_most, self.bins == "width"), values

    def _information_scores(self, information: Floats, bias: Floats) -> Scores:
        """Apply the correction; values below 0 become 0 and still order the features among themselves."""
        if self.correction == "miller-madow":
            information = information - bias
        return Scores(np.maximum(information, 0.0), information, UNIT_FLOOR, UNIT_FLOOR)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_n_bins(self.n_bins)
        check_edges(self.edges)
        check_choice("bins", self.bins, ("frequency", "width"))
        check_choice("correction", self.correction, (None, "miller-madow"))


def check_n_bins(n_bins: Any) -> None:
    """Validate `n_bins`."""
    if not (isinstance(n_bins, str) and n_bins == "auto") and not (is_integer(n_bins) and n_bins >= 2):
        raise ValueError(f"n_bins must be an integer >= 2 or 'auto', got {n_bins!r}")


def check_edges(edges: Any) -> None:
    """Validate `edges`."""
    if edges is None:
        return
    try:
        numbers = np.asarray(edges, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"edges must be numbers, got {edges!r}") from None
    if numbers.ndim not in (1, 2) or numbers.shape[-1] < 1:
        raise ValueError(
            f"edges must have shape (n_edges,) or (n_features, n_edges) with n_edges >= 1, got shape {numbers.shape}"
        )
    if not np.isfinite(numbers).all() or (np.diff(numbers, axis=-1) <= 0).any():
        raise ValueError("edges must be finite numbers in ascending order, each larger than the one before")


def sample_size(n_features: int) -> int:
    """Return the number of rows to sample from a table with ``n_features`` columns."""
    return int(np.clip(SAMPLED_VALUES // n_features, MIN_SAMPLED_ROWS, MAX_SAMPLED_ROWS))


class Cuts(NamedTuple):
    """Inner bin edges of all features: those of feature j are ``cuts[j, :n_cuts[j]]``."""

    cuts: Floats
    n_cuts: Integers


def sampled_cuts(values: ColumnValues, sample: RowSample, n_bins: int, equal_width: bool) -> Cuts:
    """Find the inner bin edges of all features.

    A feature with at most ``n_bins`` distinct values is cut at each of them. Bins of equal width follow from the
    minimum and maximum of a feature. Bins of equal frequency are estimated from the sample. If the sample contains all
    rows, they are the same as for a table in memory. Otherwise, by the inequality of Dvoretzky, Kiefer and Wolfowitz,
    with probability 0.95 the fraction of the rows below a cut has an error of at most 1.36 / sqrt(sample size) for all
    cuts of a feature at once: 2.1 % for 4096 rows.
    """
    from ilfs.kernels import bins

    n_features = values.low.size
    cuts, n_cuts = np.full((n_features, max(n_bins - 1, 1)), np.inf), np.zeros(n_features, dtype=np.int64)
    known = values.is_complete
    n_cuts[known] = np.maximum(values.n_values[known] - 1, 0)
    cuts[known, : n_bins - 1] = values.values[known, 1:n_bins]
    rest = np.flatnonzero(~known)
    if equal_width:
        parts = np.arange(1, n_bins) / n_bins
        low, high = values.low[rest, None], values.high[rest, None]
        cuts[rest], n_cuts[rest] = low + (high - low) * parts, n_bins - 1
        return Cuts(cuts, n_cuts)
    for some in blocks(rest.size, SAMPLED_COLUMNS):
        columns = rest[some]
        found, n_found = np.empty((columns.size, n_bins)), np.empty(columns.size, dtype=np.int64)
        bins.column_cuts(*ordered_columns(sample, columns), n_bins, False, found, n_found)
        cuts[columns], n_cuts[columns] = found[:, : n_bins - 1], n_found
    return Cuts(cuts, n_cuts)


def ordered_columns(sample: RowSample, columns: Integers) -> tuple[Floats, Floats]:
    """Sort the sampled values of some columns.

    Returns
    -------
    values : ndarray of shape (n_columns, n_rows)
        Each row has the values of one column in ascending order, missing values last.
    below : ndarray of shape (n_columns, n_rows + 1)
        Sums of the weights of the first 0, 1, 2, ... values.
    """
    X = sample.X[:, columns]
    values = np.ascontiguousarray((X.toarray() if sparse.issparse(X) else X).T, dtype=np.float64)
    order = np.argsort(values, axis=1)
    below = np.zeros((columns.size, values.shape[1] + 1))
    np.cumsum(sample.weight[order], axis=1, out=below[:, 1:])
    return np.take_along_axis(values, order, axis=1), below


def histogram_information(counts: Floats, n_cuts: Integers) -> tuple[Floats, Floats]:
    """Compute the mutual information of every feature with the classes, and its bias, from the counts."""
    from ilfs.kernels import bins

    information, bias = np.zeros((2, n_cuts.size))
    bins.histogram_information(counts, n_cuts, information, bias)
    return information, bias


def sturges(n_samples: float) -> int:
    """Return the number of bins by Sturges' rule, at least 2."""
    # The tolerance: fractional weights may sum to slightly less than a power of two.
    return max(2, 1 + int(np.log2(n_samples * (1 + RELATIVE_TOLERANCE))))


def dense_information(rows: LabelledRows, labels: RowLabels, n_bins: int, equal_width: bool) -> tuple[Floats, Floats]:
    """Compute the mutual information of every column with the classes, and its bias in small samples."""
    from ilfs.kernels import bins

    by_class, starts, weight = labels.by_class
    equal_weights = bool((weight == weight[0]).all())

    def of_block(columns: slice) -> tuple[Floats, Floats]:
        values = gather_columns(rows.X, columns, by_class)
        if equal_weights:
            ordered, below = np.sort(values, axis=1), weight[0] * np.arange(weight.size + 1.0)[None]
        else:
            order = np.argsort(values, axis=1)
            ordered, below = np.take_along_axis(values, order, axis=1), np.zeros((len(values), weight.size + 1))
            np.cumsum(weight[order], axis=1, out=below[:, 1:])
        found = np.empty(len(values)), np.empty(len(values))
        bins.dense_information(values, ordered, below, starts, weight, equal_weights, n_bins, equal_width, *found)
        return found

    return join_blocks(thread_map(of_block, column_blocks(rows.X), rows.n_jobs))


def sparse_information(rows: LabelledRows, labels: RowLabels, n_bins: int, equal_width: bool) -> tuple[Floats, Floats]:
    """Compute what `dense_information` does, from the stored values of a sparse matrix."""
    from ilfs.kernels import bins

    X = rows.X.tocsc()
    data, indices, indptr = map(read_only, (X.data, X.indices, X.indptr))

    def of_block(columns: slice) -> tuple[Floats, Floats]:
        width, ends = columns.stop - columns.start, indptr[columns.start : columns.stop + 1]
        stored = slice(ends[0], ends[-1])
        column = np.repeat(np.arange(width), np.diff(ends))
        zeros = weight_of_zeros(column, width, indices[stored], labels)
        # All zeros of a column are one more entry with their total weight; NaN, which sorts last, if it has no zeros.
        values = np.append(data[stored], np.where(zeros.any(axis=1), 0, np.nan).astype(data.dtype))
        weight = np.append(labels.weight[indices[stored]], zeros.sum(axis=1))
        order = np.lexsort([values, np.append(column, np.arange(width))])
        found = np.empty(width), np.empty(width)
        bins.sparse_information(
            data, indices, ends, zeros, values[order], weight[order], labels.codes, labels.weight,
            n_bins, equal_width, *found,
        )  # fmt: skip
        return found

    n_columns = X.shape[1]
    width = min(n_columns * BLOCK_STORED_VALUES // max(1, X.nnz, n_columns), BLOCK_STORED_VALUES // labels.n_classes)
    return join_blocks(thread_map(of_block, blocks(n_columns, max(1, width)), rows.n_jobs))


def weight_of_zeros(column: Integers, n_columns: int, row: Integers, labels: RowLabels) -> Floats:
    """Return the weight of the values that are not stored, by column and class."""
    n_classes = labels.n_classes
    entry = column * n_classes + labels.codes[row]  # position in a table of columns x classes
    stored = np.bincount(entry, minlength=n_columns * n_classes).reshape(n_columns, n_classes)
    weight = np.bincount(entry, labels.weight[row], minlength=n_columns * n_classes).reshape(n_columns, n_classes)
    # Compare numbers of rows, not weights: rounding would leave a small weight in a column without zeros.
    return np.asarray(np.where(stored < labels.class_rows, labels.class_total - weight, 0.0))


def join_blocks(parts: Iterable[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Join the information and the bias of all blocks of columns."""
    information, bias = np.concatenate(list(parts), axis=1)
    return information, bias
