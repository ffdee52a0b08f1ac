r"""Mutual information.

A feature is good if its value carries much information about the class. The values of the feature are divided into
bins and counted by bin b and class k. With :math:`n_{bk}` the counts, :math:`n_b` and :math:`n_k` their marginal sums
and :math:`n` their total, the score in nats is

.. math:: I(\mathrm{bin}(x_f); y) = \sum_{b,k} \frac{n_{bk}}{n} \log \frac{n\, n_{bk}}{n_b\, n_k}

This is the plug-in estimate: it takes the observed fractions for the chances. With ``estimate="posterior_mean"`` or
``"lower_bound"`` the chances have a Dirichlet prior, and the score is the mean, or a lower credible bound, of the
posterior distribution of the mutual information (`ilfs.solvers.information`). All estimates need only the counts.

References: T. M. Cover, J. A. Thomas, *Elements of Information Theory*, 2006; M. Zaffalon, M. Hutter, *Robust Feature
Selection by Mutual Information Distributions*, UAI 2002; for the posterior mean M. Hutter, *Distribution of Mutual
Information*, NIPS 2001; for the correction G. A. Miller, *Note on the bias of information estimates*, 1955.

Where we depart from the toolbox of the paper's authors:

- Bins have equal frequency by default, so that a strictly increasing transformation of a feature does not change its
  score; ``bins="width"`` gives bins of equal width. Equal values are always in the same bin, and a feature with at most
  ``n_bins`` distinct values has a bin for each of them.
- The joint counts and the marginal counts use the same bins. (The toolbox bins twice, by two different rules. A value
  on an edge may then be in different bins in the two counts, and scores on data with ties are arbitrary.)
- Empty entries of the table of counts stay 0; the toolbox fills them with 1e-5.
- The score is the mutual information itself, not divided by entropies. Any number of classes is allowed.

Where we depart from Zaffalon and Hutter:

- Their filter keeps the features whose information exceeds a threshold with a given probability. We rank by the bound
  that it exceeds with this probability; for any threshold their filter keeps the first features of this order.
- The variance is computed without the assumption that all counts are large; their expansion may be negative.
- A feature uses the samples in which it is present. They also use the classes of the other samples, by expectation
  maximization.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.metaestimators import available_if

from ilfs.arrays import Floats, Integers, read_only
from ilfs.effects import FeatureProfile
from ilfs.execution import LabelledRows, Plan, ask, blocks, both, fold_of, thread_map, together
from ilfs.execution.columns import column_blocks, gather_columns, row_major_columns
from ilfs.must_keep import MustKeep
from ilfs.parameters import check_between, check_choice, is_integer
from ilfs.permutations import HasNull, makes_no_permutations, statistic_of, tested
from ilfs.selector import PlannedSelector, Scores, SupervisedRowsSelector, refuse_constant
from ilfs.solvers.information import PRIORS, InformationPosterior, Prior
from ilfs.sources import TableSource
from ilfs.statistics import (
    Classes,
    ClassHistograms,
    ColumnValues,
    DistinctValues,
    Histograms,
    Profile,
    RowSample,
    SampledRows,
)
from ilfs.statistics.block import Block, DenseBlock, SparseBlock
from ilfs.statistics.labels import RowLabels, joint_size
from ilfs.ties import RELATIVE_TOLERANCE, UNIT_FLOOR

BLOCK_STORED_VALUES = 2**16  # stored values in a block of sparse columns
# If the rows are read in blocks, bins of equal frequency are estimated from a sample of the rows. It has about
# SAMPLED_VALUES values (256 MB), but never fewer or more rows than these.
MIN_SAMPLED_ROWS, MAX_SAMPLED_ROWS, SAMPLED_VALUES = 512, 4096, 2**25
SAMPLED_COLUMNS = 256  # columns of the sample that are sorted at a time: at most 8 MB
BLOCK_COUNTS = 2**16  # entries of the tables of counts whose posteriors are computed at a time: some 20 copies, 10 MB

T = TypeVar("T")
Binning = Literal["frequency", "width"]
Correction = Literal["miller-madow"] | None
Estimate = Literal["plugin", "posterior_mean", "lower_bound"]


def has_edges(selector: "MutualInformation") -> bool:
    """Return True if bin edges are given, so that rows can be counted as they come; raise an error otherwise."""
    if selector.edges is None:
        raise AttributeError("partial_fit needs given edges, because bins depend on all rows: pass edges=")
    return makes_no_permutations(selector)


class MutualInformation(HasNull, SupervisedRowsSelector, PlannedSelector):
    """Mutual information between a binned feature and the class.

    Every column is sorted once, which takes O(n_samples log n_samples) for each feature. Peak memory beyond the data is
    two copies of a block of 64 columns per thread (16 columns for 65,000 samples or more). A sparse matrix in CSR
    format is copied to CSC format. Missing values (NaN) are ignored: the bins and counts of each feature use the
    samples in which it is present.

    Parameters
    ----------
    n_features_to_select : int, float, "fdr", "auto" or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them. ``"fdr"``: all
        features whose q-value is at most ``fdr``, which may be none; they need not be the first of ``order_``. This
        makes at least 20 permutations of the labels. ``"auto"``: the number is found by cross-validation of a linear
        SVM, for rows in memory (see `ilfs.selection.SizeCV`).
    n_bins : int or "auto", default="auto"
        Maximum number of bins of a feature. A feature with no more distinct values than this has a bin for each value,
        and its score is the mutual information of the unbinned values. ``"auto"``: 1 + log2(n_samples), rounded down
        (Sturges' rule).
    bins : {"frequency", "width"}, default="frequency"
        ``"frequency"``: bins with numbers of values as equal as ties allow. ``"width"``: bins of equal width.
    correction : {None, "miller-madow"}, default=None
        Correction of the positive bias in small samples. ``"miller-madow"``: correct each entropy by the number of its
        nonzero counts, and raise negative results to 0. The correction matters if features have different numbers of
        bins. It corrects the plug-in estimate and must be None with the other estimates, which allow for the bias by
        their prior and their variance.
    edges : array of shape (n_edges,) or (n_features, n_edges), optional
        Inner bin edges in ascending order, used instead of ``n_bins`` and ``bins``: the same for all features, or one
        row for each feature. A value is in bin b if exactly b edges are less than or equal to it.
    estimate : {"plugin", "posterior_mean", "lower_bound"}, default="plugin"
        ``"plugin"``: the information of the observed fractions. The others take the posterior distribution of the
        information, given the counts. ``"posterior_mean"``: its mean, exactly. ``"lower_bound"``: the value that the
        information exceeds with the probability ``credibility``, by a Beta distribution with the posterior mean and
        variance; features with few samples, or whose counts may well be chance, score low.
    credibility : float, default=0.95
        Probability of the lower bound, strictly between 0 and 1.
    prior : {"uniform", "jeffreys", "perks"}, default="uniform"
        Dirichlet prior of the posterior estimates: the prior count of each pair of bin and class. ``"uniform"``: 1, so
        that all chances are equally likely beforehand. ``"jeffreys"``: 1/2. ``"perks"``: 1 divided by the number of
        pairs; such a prior is worth one sample, and trusts a feature with a handful of values too much. Bins and
        classes in which a feature has no values get no prior count.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None means 1 unless in a `joblib.parallel_config` context,
        -1 means all processors.
    n_permutations : int, default=0
        Number of permutations of the labels, from which ``p_values_`` and the verdict ``is_better_than_chance_`` are
        computed; 0 for none. All permutations are computed in the same reads of the rows. A number below 1 / ``fdr`` is
        raised to it, with a warning, because no p-value could be small enough. Each takes the memory of a fit without
        permutations, and one byte a row (two for more than 256 classes).
    random_state : int, numpy.random.Generator or None, default=0
        Random numbers of the permutations. An integer gives the same permutations in every fit.
    fdr : float, default=0.05
        False discovery rate of ``n_features_to_select="fdr"``, and level of the verdict ``is_better_than_chance_``.
    must_keep : sequence of str or int, optional
        Features that are kept in any case, by name or column index. They come first in ``order_``, best first; scores
        and p-values are those without it. With ``"fdr"`` they are selected whatever their q-values.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Estimated mutual information in nats, at least 0. The plug-in estimate is at most the entropy of the classes.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    n_bins_ : int
        Maximum number of bins that was used (not for an indicator matrix).
    classes_ : ndarray of shape (n_classes,)
        Class labels (not for an indicator matrix).
    posterior_mean_, posterior_std_ : ndarray of shape (n_features,)
        Posterior mean and standard deviation of the mutual information, in nats; 0 for constant features (only with
        ``estimate="posterior_mean"`` or ``"lower_bound"``, and not for an indicator matrix: see ``per_label_``).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: scores of each label against the rest; ``scores_`` is their mean. NaN for a
        label that all samples or no samples have.
    per_label_ : dict of int to MutualInformation
        If ``y`` is an indicator matrix: the fitted selector of each label.
    summary_ : Summary
        Only with ``edges`` and without permutations: statistics of the rows, to which ``partial_fit`` adds those of
        further rows.
    p_values_ : ndarray of shape (n_features,)
        Only with permutations: probability that the score of a feature without effect is as large as this one,
        estimated from the scores of all features under permuted labels; 1 for an uninformative feature. If ``y``
        is an indicator matrix: the smallest p-value over the labels, times the number of labels.
    q_values_ : ndarray of shape (n_features,)
        Only with permutations: smallest false discovery rate at which the feature is selected (Benjamini and Hochberg).
    chance_p_value_ : float
        Only with permutations: p-value of the mean of the ten largest scores, compared with that of each
        permutation. If ``y`` is an indicator matrix, these means are averaged over the labels.
    is_better_than_chance_ : bool
        Only with permutations: True if ``chance_p_value_`` is at most ``fdr``.
    n_permutations_ : int
        Only with permutations: their number.
    false_discovery_bound_ : float
        Only with ``n_features_to_select="fdr"``: upper bound on the proportion of false discoveries among the selected
        features, with a confidence of 95 % (`ilfs.null.false_discovery_bound`).
    n_features_ : int
        Only with ``n_features_to_select="auto"``: the number found.
    cv_results_ : dict of str to ndarray
        Only with ``n_features_to_select="auto"``: the table of `ilfs.selection.SizeCV`.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    References
    ----------
    .. [1] T. M. Cover, J. A. Thomas, "Elements of Information Theory", 2nd edition, Wiley 2006.
    .. [2] G. A. Miller, "Note on the bias of information estimates", Information Theory in Psychology, 1955.
    .. [3] M. Hutter, "Distribution of Mutual Information", Advances in Neural Information Processing Systems 14, 2001.
    .. [4] M. Zaffalon, M. Hutter, "Robust Feature Selection by Mutual Information Distributions", Uncertainty in
       Artificial Intelligence 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import MutualInformation
    >>> wine = load_wine()
    >>> selector = MutualInformation(n_features_to_select=3).fit(wine.data, wine.target)
    >>> list(selector.get_feature_names_out(wine.feature_names))
    ['flavanoids', 'color_intensity', 'proline']

    How certain are these scores?

    >>> selector = MutualInformation(estimate="lower_bound").fit(wine.data, wine.target)
    >>> selector.posterior_mean_[6].round(2), selector.posterior_std_[6].round(2), selector.scores_[6].round(2)
    (np.float64(0.48), np.float64(0.05), np.float64(0.4))
    """

    _scores_columns_alone = True

    def __init__(
        self,
        n_features_to_select: int | float | Literal["fdr", "auto"] | None = None,
        *,
        n_bins: int | Literal["auto"] = "auto",
        bins: Binning = "frequency",
        correction: Correction = None,
        edges: ArrayLike | None = None,
        estimate: Estimate = "plugin",
        credibility: float = 0.95,
        prior: Prior = "uniform",
        n_jobs: int | None = None,
        n_permutations: int = 0,
        random_state: int | np.random.Generator | None = 0,
        fdr: float = 0.05,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_bins = n_bins
        self.bins = bins
        self.correction = correction
        self.edges = edges
        self.estimate = estimate
        self.credibility = credibility
        self.prior = prior
        self.n_jobs = n_jobs
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.fdr = fdr
        self.must_keep = must_keep

    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
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
        groups : array of shape (n_samples,), optional
            Group of each row, such as its donor or batch. Labels are permuted within groups only, and the rows of a
            group are in the same fold of the rule ``"auto"``. Used for nothing else.

        Returns
        -------
        MutualInformation
            The fitted selector.
        """
        return self._fit(X, y, sample_weight, groups)

    @available_if(has_edges)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any = None, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows to those of earlier calls and rank the features by all of them; only with given ``edges``.

        The result is that of ``fit`` on all rows so far, those of an earlier ``fit`` included; ``fit`` itself begins
        anew. Only statistics of the rows are kept, in ``summary_``. As long as there is only one class, or all columns
        are constant, the selector is not fitted. Not available with permutations, which need the rows.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Some rows, at least one; NaN is a missing value.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            As for ``fit``. New classes may come with any call.
        classes : array of shape (n_classes,), optional
            All labels that may occur; another label in ``y`` is an error. By default any label may occur.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row, as for ``fit``.

        Returns
        -------
        MutualInformation
            The selector.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from ilfs import MutualInformation
        >>> X, y = load_wine(return_X_y=True)
        >>> selector = MutualInformation(edges=[1.0, 2.0, 5.0, 13.0, 600.0])
        >>> for start in range(0, 178, 50):
        ...     _ = selector.partial_fit(X[start : start + 50], y[start : start + 50])
        >>> selector.n_features_in_, selector.order_[:3].tolist()
        (13, [6, 11, 0])
        """
        return self._partial_fit(X, y, classes, sample_weight)

    def _score_rows(self, rows: LabelledRows) -> Scores:
        self.n_bins_ = sturges(rows.labels.weight.sum()) if self.n_bins == "auto" else int(self.n_bins)
        at_most = min(self.n_bins_, rows.X.shape[0])  # enough for a bin for every value
        if self.estimate != "plugin":
            posterior = rows_posterior(rows, at_most, self.bins == "width", self.prior)
            return self._posterior_scores(posterior, rows.columns, rows.n_features)
        compute = sparse_information if sparse.issparse(rows.X) else dense_information
        information, bias = compute(rows, rows.labels, at_most, self.bins == "width")
        return self._information_scores(information, bias)

    # With given edges, the counts are a mergeable statistic: tables in memory are then read in blocks, too.
    @property
    def _prefers_statistics(self) -> bool:  # type: ignore[override]
        return self.edges is not None

    def _score_source(self, source: TableSource) -> Scores:
        if self._prefers_statistics:
            return self._score_fold(fold_of(source, self.n_jobs))
        scores = super()._score_source(source)
        if source.permuted is not None:
            self._keep_test(tested(statistic_of(scores), self._permuted_scores(source), source.is_within_groups))
        return scores

    def _score_labels(self, source: TableSource) -> Scores:
        if self._prefers_statistics:
            return self._score_fold(fold_of(source, self.n_jobs))
        scores = super()._score_labels(source)
        if source.permuted is not None:
            self._join_tests()
        return scores

    def _permuted_scores(self, source: TableSource) -> Floats:
        """Score all columns of a table in memory under permuted labels; each column is cut into bins once."""
        assert source.permuted is not None
        rows = LabelledRows.from_source(source, n_jobs=self.n_jobs, missing=True)
        codes = source.permuted.codes[:, 0, source.row_labels(0).takes_part]
        at_most = min(self.n_bins_, rows.X.shape[0])

        def of_block(block: Block, cuts: Cuts) -> Floats:
            return np.array([self._values(counts, cuts.n_cuts) for counts in permuted_counts(block, cuts, codes)])

        scores = np.concatenate(cut_blocks(rows, at_most, self.bins == "width", of_block), axis=1)
        return rows.expand(scores, fill=np.nan)

    @property
    def n_reads(self) -> int:
        """Number of reads of all rows that ``fit`` makes if they are not in memory: one to find edges, one to count."""
        return 2 if self.edges is None else 1

    def _plan(self, classes: Classes) -> Plan[Scores]:
        """Count the values of each bin and class in one read of the rows, after another one if cuts must be found."""
        scores, _ = yield from self._plan_with_null([classes])
        return scores

    def _plan_with_null(self, labellings: Sequence[Classes]) -> Plan[tuple[Scores, Floats]]:
        self.classes_ = labellings[0].labels
        (cuts, values, (counts, *permuted)), profile = yield from both(self._plan_counts(labellings), ask(Profile()))
        columns, n_features = np.flatnonzero(values.varying), values.low.size
        refuse_constant(columns)
        self.profile_ = FeatureProfile.from_statistics(profile, labellings[0])
        if self.estimate == "plugin":
            information, bias = histogram_information(counts, cuts.n_cuts)
            scores = self._information_scores(information[columns], bias[columns])
        else:
            scores = self._posterior_scores(counts_posterior(counts, columns, self.prior), columns, n_features)
        return scores.with_constants(columns, n_features, self._lowest), self._all_values(permuted, cuts, columns)

    def _plan_statistics(self, labellings: Sequence[Classes], first: int = 0) -> Plan[Floats]:
        one = self._clone_for_null()
        cuts, values, counts = yield from one._plan_counts(labellings)
        return one._all_values(counts[first:], cuts, np.flatnonzero(values.varying))

    def _all_values(self, counts: Sequence[Floats], cuts: "Cuts", columns: Integers) -> Floats:
        """Score the columns that vary by counts under several labellings; NaN for the others."""
        every = np.full((len(counts), cuts.n_cuts.size), np.nan)
        for values, one in zip(every, counts, strict=True):
            values[columns] = self._values(one[:, columns], cuts.n_cuts[columns])
        return every

    def _values(self, counts: Floats, n_cuts: Integers) -> Floats:
        """Return the scores of some columns by their counts, and set no attributes."""
        if self.estimate == "plugin":
            return self._information_scores(*histogram_information(counts, n_cuts)).values
        posterior = counts_posterior(counts, np.arange(n_cuts.size), self.prior)
        return posterior.mean if self.estimate == "posterior_mean" else posterior.quantile(1 - self.credibility)

    def _plan_counts(self, labellings: Sequence[Classes]) -> Plan[tuple["Cuts", ColumnValues, list[Floats]]]:
        """Find the cuts, or use the given edges, and count under each labelling."""
        if self.edges is None:
            cuts, values = yield from self._plan_cuts(labellings[0])
            refuse_constant(np.flatnonzero(values.varying))  # before the second read
            histograms = yield from together(count_under(labellings, cuts))
        else:  # one read finds the constant columns and counts
            cuts = self._given_cuts()
            values, histograms = yield from both(ask(DistinctValues(1)), together(count_under(labellings, cuts)))
            values.checked()
        return cuts, values, [one.counts for one in histograms]

    def _given_cuts(self) -> "Cuts":
        """Return the given edges as cuts of every feature."""
        edges, n_features = np.asarray(self.edges, dtype=np.float64), self.n_features_in_
        if edges.ndim == 2 and len(edges) != n_features:
            raise ValueError(f"edges must have a row for each of the {n_features} features, got {len(edges)} rows")
        inner = np.ascontiguousarray(np.broadcast_to(edges, (n_features, edges.shape[-1])))
        self.n_bins_ = edges.shape[-1] + 1
        return Cuts(inner, np.full(n_features, inner.shape[1]))

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

    def _posterior_scores(self, posterior: InformationPosterior, columns: Integers, n_features: int) -> Scores:
        """Score the columns that vary by their posteriors; equal bounds are ordered by the posterior means."""
        self.posterior_mean_, self.posterior_std_ = np.zeros((2, n_features))
        self.posterior_mean_[columns], self.posterior_std_[columns] = posterior.mean, np.sqrt(posterior.variance)
        if self.estimate == "posterior_mean":
            return Scores(posterior.mean, floor=UNIT_FLOOR)
        return Scores(posterior.quantile(1 - self.credibility), posterior.mean, UNIT_FLOOR, UNIT_FLOOR)

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:
        found = {title: getattr(self, f"{title}_", None) for title in ("posterior_mean", "posterior_std")}
        return {title: values for title, values in found.items() if values is not None} | super()._more_columns(names)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("estimate", self.estimate, ("plugin", "posterior_mean", "lower_bound"))
        check_between("credibility", self.credibility, 0, 1)
        check_choice("prior", self.prior, PRIORS)
        check_n_bins(self.n_bins)
        check_edges(self.edges)
        check_choice("bins", self.bins, ("frequency", "width"))
        check_choice("correction", self.correction, (None, "miller-madow"))
        if self.correction is not None and self.estimate != "plugin":
            raise ValueError(
                f"correction must be None with estimate={self.estimate!r}, since it corrects the plug-in estimate, "
                f"got {self.correction!r}"
            )


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
    return sorted_columns(values, sample.weight, equal_weights=False)


def counts_posterior(counts: Floats, columns: Integers, prior: Prior) -> InformationPosterior:
    """Compute the posterior of the information of some columns from the counts of all columns."""
    width = max(1, BLOCK_COUNTS // (counts.shape[0] * counts.shape[2]))
    return join_posteriors(
        InformationPosterior.from_counts(counts[:, columns[some]], prior) for some in blocks(columns.size, width)
    )


def rows_posterior(rows: LabelledRows, n_bins: int, equal_width: bool, prior: Prior) -> InformationPosterior:
    """Compute the posterior of the information of every column; a block of columns is cut, counted and scored."""

    def of_block(block: Block, cuts: Cuts) -> InformationPosterior:
        return InformationPosterior.from_counts(Histograms(*cuts)(block).counts, prior)

    return join_posteriors(cut_blocks(rows, n_bins, equal_width, of_block))


def cut_blocks(rows: LabelledRows, n_bins: int, equal_width: bool, work: Callable[[Block, Cuts], T]) -> list[T]:
    """Call a function on blocks of a few columns with all rows, and on the cuts of these columns, in threads."""
    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X

    def of_block(columns: slice) -> T:
        block: Block
        if sparse.issparse(X):
            block = sparse_block(X, rows.labels, columns)
            return work(block, sparse_cuts(block, n_bins, equal_width))
        block = dense_block(X, rows.labels, columns)
        return work(block, dense_cuts(block, n_bins, equal_width))

    every = blocks(X.shape[1], sparse_width(X, rows.labels)) if sparse.issparse(X) else column_blocks(X)
    width = max(1, BLOCK_COUNTS // (rows.labels.n_classes * n_bins))
    narrow = [part for whole in every for part in parts_of(whole, width)]
    return list(thread_map(of_block, narrow, rows.n_jobs))


def permuted_counts(block: Block, cuts: Cuts, codes: NDArray[Any]) -> Iterable[Floats]:
    """Count the values of each bin and class under permuted labels.

    Parameters
    ----------
    block : DenseBlock or SparseBlock
        Some columns of all rows, which all take part.
    cuts : Cuts
        Inner bin edges of these columns.
    codes : ndarray of shape (n_permutations, n_rows)
        Class of each row under each permutation.

    Returns
    -------
    iterable of ndarray of shape (n_classes, n_columns, n_bins)
        Counts of each permutation.
    """
    from ilfs.kernels import bins

    labels = block.labels
    if isinstance(block, SparseBlock):
        permuted = (replace(labels, codes=one.astype(np.int64)) for one in codes)
        return (Histograms(*cuts)(block.with_labels(one)).counts for one in permuted)
    # Sums of weights other than 1 would round differently.
    size = joint_size(labels.n_classes, len(labels)) if labels.has_unit_weights else 1
    places = labels.n_classes ** np.arange(size)
    joint = np.array([places[: len(some)] @ some for some in np.split(codes, range(size, len(codes), size))])
    counts = np.zeros((len(joint), labels.n_classes**size, block.n_columns, cuts.cuts.shape[1] + 1))
    bins.permuted_histograms(read_only(block.X), block.first, joint, labels.weight, *cuts, counts)
    every = (digit_counts(one, labels.n_classes, size) for one in counts)
    return islice(chain.from_iterable(every), len(codes))


def digit_counts(counts: Floats, n_classes: int, n_digits: int) -> Iterator[Floats]:
    """Sum the counts of combinations of classes to those of the classes of each labelling.

    Parameters
    ----------
    counts : ndarray of shape (n_classes ** n_digits, n_columns, n_bins)
        Counts of each combination. Its digits are the classes under each labelling, the first one the lowest.
    n_classes : int
        Number of classes.
    n_digits : int
        Number of labellings.

    Yields
    ------
    ndarray of shape (n_classes, n_columns, n_bins)
        Counts of each labelling.
    """
    for digit in range(n_digits):
        by_digit = counts.reshape(-1, n_classes, n_classes**digit, *counts.shape[1:])
        yield by_digit.sum(axis=(0, 2))


def count_under(labellings: Sequence[Classes], cuts: Cuts) -> list[Plan[ClassHistograms]]:
    """Make plans that count the values of each bin under each labelling."""
    return [ask(Histograms(*cuts), labelling=number) for number in range(len(labellings))]


def parts_of(whole: slice, width: int) -> Iterator[slice]:
    """Cut a slice into slices of at most ``width`` columns."""
    for start in range(whole.start, whole.stop, width):
        yield slice(start, min(start + width, whole.stop))


def dense_block(X: NDArray[Any], labels: RowLabels, columns: slice) -> DenseBlock:
    """Make a block of some columns of a dense table."""
    values, first = row_major_columns(X, columns)
    width = columns.stop - columns.start
    return DenseBlock(values, labels, first, first + width, slice(0, width))


def dense_cuts(block: DenseBlock, n_bins: int, equal_width: bool) -> "Cuts":
    """Find the inner bin edges of the columns of a block that has all rows."""
    from ilfs.kernels import bins

    by_class, _, weight = block.labels.by_class
    values = gather_columns(block.X, slice(block.first, block.last), by_class)
    ordered, below = sorted_columns(values, weight, equal_weights=False)
    cuts, n_cuts = np.empty((block.n_columns, n_bins)), np.empty(block.n_columns, dtype=np.int64)
    bins.column_cuts(ordered.astype(np.float64), below, n_bins, equal_width, cuts, n_cuts)
    return Cuts(cuts, n_cuts)


def sparse_block(X: Any, labels: RowLabels, columns: slice) -> SparseBlock:
    """Make a block of some columns of a CSC matrix without duplicate entries."""
    ends = read_only(X.indptr)[columns.start : columns.stop + 1]
    width = columns.stop - columns.start
    return SparseBlock(read_only(X.data), read_only(X.indices), ends, labels, slice(0, width))


def sparse_cuts(block: SparseBlock, n_bins: int, equal_width: bool) -> "Cuts":
    """Find the inner bin edges of the columns of a block that has all rows."""
    from ilfs.kernels import bins

    entries = sorted_entries(block)
    cuts, n_cuts = np.empty((block.n_columns, n_bins)), np.empty(block.n_columns, dtype=np.int64)
    starts = block.indptr - block.indptr[0] + np.arange(block.n_columns + 1)
    values = entries.values.astype(np.float64)
    for j, (start, stop) in enumerate(pairwise(starts.tolist())):
        below = np.append(0.0, np.cumsum(entries.weight[start:stop]))
        bins.column_cuts(values[None, start:stop], below[None], n_bins, equal_width, cuts[j : j + 1], n_cuts[j : j + 1])
    return Cuts(cuts, n_cuts)


def join_posteriors(parts: Iterable[InformationPosterior]) -> InformationPosterior:
    """Join the posteriors of all blocks of columns."""
    every = list(parts)
    return InformationPosterior(
        np.concatenate([part.mean for part in every]),
        np.concatenate([part.variance for part in every]),
        np.concatenate([part.largest for part in every]),
    )


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
        ordered, below = sorted_columns(values, weight, equal_weights)
        found = np.empty(len(values)), np.empty(len(values))
        bins.dense_information(values, ordered, below, starts, weight, equal_weights, n_bins, equal_width, *found)
        return found

    return join_blocks(thread_map(of_block, column_blocks(rows.X), rows.n_jobs))


def sorted_columns(values: NDArray[Any], weight: Floats, equal_weights: bool) -> tuple[NDArray[Any], Floats]:
    """Sort the values in each row; return them and the weight of the values before each of them.

    If all weights are equal, the second array has one row, which serves all columns.
    """
    if equal_weights:
        return np.sort(values, axis=1), weight[0] * np.arange(weight.size + 1.0)[None]
    order = np.argsort(values, axis=1)
    below = np.zeros((len(values), weight.size + 1))
    np.cumsum(weight[order], axis=1, out=below[:, 1:])
    return np.take_along_axis(values, order, axis=1), below


def sparse_information(rows: LabelledRows, labels: RowLabels, n_bins: int, equal_width: bool) -> tuple[Floats, Floats]:
    """Compute what `dense_information` does, from the stored values of a sparse matrix."""
    from ilfs.kernels import bins

    X = rows.X.tocsc()

    def of_block(columns: slice) -> tuple[Floats, Floats]:
        block = sparse_block(X, labels, columns)
        entries = sorted_entries(block)
        found = np.empty(block.n_columns), np.empty(block.n_columns)
        bins.sparse_information(
            block.data, block.indices, block.indptr, entries.zeros, entries.values, entries.weight,
            labels.codes, labels.weight, n_bins, equal_width, *found,
        )  # fmt: skip
        return found

    return join_blocks(thread_map(of_block, blocks(X.shape[1], sparse_width(X, labels)), rows.n_jobs))


def sparse_width(X: Any, labels: RowLabels) -> int:
    """Return the number of sparse columns of a block."""
    n_columns = X.shape[1]
    width = min(n_columns * BLOCK_STORED_VALUES // max(1, X.nnz, n_columns), BLOCK_STORED_VALUES // labels.n_classes)
    return max(1, int(width))


class SortedEntries(NamedTuple):
    """Values of sparse columns in ascending order, one column after the other.

    Each column has one entry for each stored value and one for all its zeros (NaN, which sorts last, if it has none).

    Parameters
    ----------
    zeros : ndarray of shape (n_columns, n_classes)
        Weight of the values that are not stored.
    values, weight : ndarray of shape (n_stored + n_columns,)
        The entries and their weights.
    """

    zeros: Floats
    values: NDArray[Any]
    weight: Floats


def sorted_entries(block: SparseBlock) -> SortedEntries:
    """Sort the values of every column of a block."""
    width, labels = block.n_columns, block.labels
    stored = slice(block.indptr[0], block.indptr[-1])
    rows, column = block.indices[stored], np.repeat(np.arange(width), np.diff(block.indptr))
    zeros = weight_of_zeros(column, width, rows, labels)
    values = np.append(block.data[stored], np.where(zeros.any(axis=1), 0, np.nan).astype(block.data.dtype))
    weight = np.append(labels.weight[rows], zeros.sum(axis=1))
    order = np.lexsort([values, np.append(column, np.arange(width))])
    return SortedEntries(zeros, values[order], weight[order])


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
