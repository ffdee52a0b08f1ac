r"""Infinite Latent Feature Selection.

For every sample and feature, a number from 0 to 1 says how well the feature represents the sample, that is, how much
closer it is to its own class than to the others. These numbers are divided into a few intervals, the tokens. A latent
variable model (PLSA) with two topics, relevancy and irrelevancy, explains how often each token occurs in each feature.
The probability of relevancy given the feature weights the edges of a graph of the features. The score of a feature is
the sum over all paths that start at it:

.. math:: \check c = \big[(I - rA)^{-1} - I\big]\,\mathbf e, \qquad A = p\,p^\top, \qquad p_f = P(z_1 \mid f)

Reference: G. Roffo, S. Melzi, U. Castellani, A. Vinciarelli, *Infinite Latent Feature Selection: A Probabilistic Latent
Graph-Based Ranking Approach*, ICCV 2017.

Where we depart from the paper (the documentation has the reasons and measurements):

- The paper's prior :math:`\pi` is small for a well represented sample, although the text says that it should be large.
  We use :math:`1 - \pi` unless ``literal_sign`` is set.
- With more than two classes, the distance to the sample's own class is compared with the mean distance to the other
  classes, unless ``evidence="distance_sum"`` is set. So the value at chance level is 1/2 for any number of classes. For
  two classes both are the paper's formula.
- The paper does not say when to stop learning the topics. `ILFS.paper` makes one step; see there.
- ``evidence="posterior"``, ``topics="shrunk"``, ``leave_one_out``, ``class_weight="balanced"``, ``redundancy`` and
  ``shapes`` are additions; `ILFS.paper` switches all of them off.
- A has rank one, so no matrix is inverted, and the path sums have the order of p: every feature is scored on its own.
  By default, features are therefore picked one at a time, by what each adds to the features picked before it
  (``redundancy="gain"``). ``redundancy=None`` gives the path sums.
- Ties in p are broken by the mean log odds of the samples' own classes, then by column order.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ilfs.arrays import Floats, Integers
from ilfs.candidates import pick_from_pool
from ilfs.execution import Plan, ask, both
from ilfs.interactions.finding import check_order, interactions_in
from ilfs.interactions.result import Interactions
from ilfs.must_keep import MustKeep
from ilfs.parameters import check_between, check_choice, check_integer
from ilfs.permutations import HasNull
from ilfs.redundancy import (
    FeatureStatistics,
    PickedSubset,
    PicksSubsets,
    Redundancy,
    above_median,
    association_with_labels,
    check_redundancy,
    most_relevant,
    pick,
    shapes_of_labels,
    with_strong_shapes,
)
from ilfs.selector import PlannedSelector, Scores, StatisticsSelector
from ilfs.solvers import paths
from ilfs.sources import Source, TableSource
from ilfs.statistics import (
    Association,
    Classes,
    ClassMoments,
    ProductTerms,
    ShapeAssociation,
    Shapes,
    TokenCounts,
    Tokens,
)
from ilfs.statistics.tokens import ONE_SAMPLE_WEIGHT, Evidence, mean_log_odds
from ilfs.ties import UNIT_FLOOR, tolerance
from ilfs.warn import warn

# Pseudo-counts of topics="shrunk". The results hardly change for values from 0.2 to 0.5 and from 0.3 to 3.
RELEVANCE_PRIOR = 0.2  # pseudo-counts of each topic in a feature, as a fraction of the number of samples
TOKEN_PRIOR = 1.0  # pseudo-counts of the initial token distribution of a topic, as a fraction of all counts
PAPER_CONFIGURATION: dict[str, Any] = {  # the parameters that the text of the paper determines
    "n_tokens": 6,
    "evidence": "distance",
    "intervals": "uniform",
    "topics": "learned",
    "leave_one_out": False,
    "class_weight": None,
    "redundancy": None,
    "shapes": False,
}
MAX_LOW_FRACTION = 0.25  # of relevancy in the lower half of the tokens; topics without a meaning would have 1/2
FINE_INTERVALS = 60  # minimum number of equal intervals of [0, 1] that are merged to pooled intervals


class ILFS(HasNull, PicksSubsets, StatisticsSelector):
    """Infinite Latent Feature Selection.

    Features are scored by their relevance for the classes, which is learned from the distances of the samples to the
    class means. By default, features are then picked one at a time, so that they do not repeat each other.

    The data are read twice. Memory is a few times (n_classes + n_tokens) numbers for each feature and does not depend
    on the number of samples. With redundancy, the candidates are read once more, and n_candidates^2 products of pairs
    are stored; with shapes, up to four times as many. There is a fourth pass if the most relevant features are too
    similar to each other, or if they count rare events.
    Missing values (NaN) are ignored: each feature uses the samples in which it is present, and each pair of features
    the samples in which both are present.

    Parameters
    ----------
    n_features_to_select : int, float, "fdr", "auto", "absorption" or None, default=None
        Number of features to keep: an integer, a fraction of all features, or None for half of them. ``"fdr"``: all
        features whose q-value is at most ``fdr``, which may be none; they need not be the first of ``order_``. This
        makes at least 20 permutations of the labels. ``"auto"``: the number is found by cross-validation of a linear
        SVM, for rows in memory (see `ilfs.selection.SizeCV`). ``"absorption"``: the effective number of features to
        which the paper's random walk returns; it costs nothing, and is no test against chance (see
        `absorption_size`).
    n_tokens : int, default=6
        Number of intervals into which [0, 1], the range of the evidence, is divided.
    evidence : {"posterior", "distance", "distance_sum"}, default="posterior"
        Measure of how well a feature represents a sample. ``"posterior"``: probability of the sample's own class
        against the other classes (for two classes, that of two normal distributions with a common variance).
        ``"distance"``: squared distance to the other classes, divided by its sum with the squared distance to the own
        class, as in the paper; it does not depend on the variance. The distances to several other classes are averaged.
        ``"distance_sum"``: they are summed, as Eq. 3 of the paper is printed. This is the same for two classes; for
        more, uninformative features look better, and from ``n_tokens`` classes on they all have the last token.
    literal_sign : bool, default=False
        If True, count tokens of the paper's prior as it is printed, which is small for a well represented sample. The
        best features then come last. Only for comparison with the paper.
    intervals : {"uniform", "pooled"}, default="uniform"
        ``"uniform"``: intervals of equal width, as in the paper. ``"pooled"``: intervals that contain about equal
        numbers of values, counted over all features together.
    topics : {"shrunk", "anchored", "learned"}, default="shrunk"
        Estimation of the token distributions of the two topics. ``"learned"``: maximum likelihood, as in the paper.
        ``"anchored"``: fixed at the linear ramps at which learning starts. ``"shrunk"``: learned as mirror images of
        each other, with these ramps as a prior and with pseudo-counts that keep relevance away from 0 and 1.
    leave_one_out : bool, default=True
        If True, a sample is left out of the mean of its class when it is compared with it.
    class_weight : {"balanced", None}, default="balanced"
        ``"balanced"``: all classes have the same total weight. None: all samples have the same weight.
    redundancy : {"gain", "novelty", None}, default="gain"
        Criterion of the next pick. ``"gain"``: the candidate that most decreases the loss of a ridge regression of the
        classes on the picked features, summed over all classes. ``"novelty"``: the candidate with the largest product
        of relevance (above the median of all features) and novelty, the fraction of its variance that the nearest
        picked feature does not explain. None: features are not picked, but scored on their own by the path sums of the
        paper.
    n_candidates : int or None, default=1000
        Number of features to pick from, the candidates; all others follow by relevance. They are the most relevant
        features, with two exceptions for ``redundancy="gain"``. With ``shapes``, some are features with other shapes.
        And if the most relevant ones are so similar to each other that a small sample of all features explains the
        classes as well, half of the candidates are spread over all features that are relevant at all. None means all
        features. Ignored with ``redundancy=None``.
    shapes : bool, default=True
        With ``redundancy="gain"``: let the regression see how far a feature is from its mean, beside the feature
        itself. So features are found whose classes have the same mean but not the same spread. Up to a quarter of the
        candidates are then features with strong evidence for this, whatever their relevance.
    interactions : {False, 2, 3}, default=False
        Search for features that are informative only together. 2: all pairs of features are tested
        (`ilfs.interactions.find_interactions`). 3: all triples, too, if there are at most about a thousand features.
        Features of significant sets become candidates, and the product of a set enters the regression of
        ``redundancy="gain"`` once all its features are picked. If no set is significant, the order is the one without
        interactions. Needs all rows in memory and, if there are weights, whole numbers as weights.
    damping : float, default=0.9
        Spectral radius of the scaled graph rA, in (0, 1). It scales the path sums, which are the scores with
        ``redundancy=None``, and does not change their order.
    max_iter : int, default=2000
        Maximum number of steps when learning the topics.
    tol : float or None, default=1e-6
        Learning stops when no relevance changes by more than this in one step. None: always make ``max_iter`` steps.
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
        Features that are kept in any case, by name or column index. They are candidates, and are picked first, best
        first. The next pick is the best one given all of them. With ``"fdr"`` they are selected whatever their
        q-values. p-values do not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        For picked features, the criterion as a fraction of that of the first pick, never more than that of the pick
        before: from 1 down to 0. All other features have scores from 0 down to -1, by relevance; -1 for an
        uninformative feature. With ``redundancy=None``, the sum over all paths from the feature, which is proportional
        to its relevance. With ``must_keep``, the criterion of a pick is a fraction of that of the best candidate alone,
        and picks are limited by other picks of the same kind only: those of ``must_keep`` may have lower scores than
        features after them.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    relevance_ : ndarray of shape (n_features,)
        P(relevancy | feature). 0 for an uninformative feature, which is constant or present in fewer than two classes.
    candidates_ : ndarray of shape (n_candidates,)
        Column indices of the candidates, most relevant first; with ``shapes``, features that are candidates for their
        shapes come last. Not with ``redundancy=None``.
    novelty_ : ndarray of shape (n_features,)
        Fraction of the variance that the nearest feature picked before does not explain: 1 for the first pick, 0 for a
        copy; NaN if the feature is not a candidate. Not with ``redundancy=None``.
    nearest_ : ndarray of shape (n_features,)
        Column index of the nearest feature: the most correlated one among those picked before. -1 for the first pick,
        for a feature that is uncorrelated with all picks before it, and for features that are not candidates. See
        `families`. Not with ``redundancy=None``.
    nearest_correlation_ : ndarray of shape (n_features,)
        Correlation with the nearest feature, with classes weighted by ``class_weight``; NaN if there is none. Not with
        ``redundancy=None``.
    gain_ : ndarray of shape (n_features, n_classes)
        Only with ``redundancy="gain"``: decrease of the loss of each class (or label) when the feature was picked, as a
        fraction of the variance of the class; 0 if it was not picked. Because of the ridge, this is less than the
        fraction of the variance that the feature explains.
    shape_gain_ : ndarray of shape (n_features, n_classes)
        Only with ``redundancy="gain"`` and ``shapes``: part of ``gain_`` that comes from the shape of the feature, that
        is, from the distance of its values from the mean.
    interactions_ : Interactions
        Only with ``interactions``: the significant pairs and triples, strongest first, with their effects. See
        `ilfs.interactions.Interactions`; ``interactions_.table()`` is a table of them.
    token_counts_ : ndarray of shape (n_features, n_tokens)
        Weight of the samples in each interval; the first interval has the samples that are represented worst.
    token_edges_ : ndarray of shape (n_tokens + 1,)
        Edges of the intervals, from 0 to 1.
    topic_tokens_ : ndarray of shape (2, n_tokens)
        P(token | topic), relevancy first.
    topic_weights_ : ndarray of shape (2,)
        P(topic), relevancy first.
    loglik_ : ndarray of shape (n_steps + 1,)
        Objective of the learning, at the start and after every step: the log-likelihood of the tokens, plus the log
        density of the prior with ``topics="shrunk"``.
    n_iter_ : int
        Number of steps.
    mean_log_odds_ : ndarray of shape (n_features,)
        Mean over the samples of the log odds of their own class, which breaks ties in relevance. Minus infinity for an
        uninformative feature.
    classes_ : ndarray of shape (n_classes,)
        Class labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: scores of each label against the rest. NaN for a label that all samples or no
        samples have. ``relevance_`` and ``mean_log_odds_`` are then means over the labels, as is ``scores_`` with
        ``redundancy=None``. Otherwise features are picked by this relevance, or by their gain for all labels together.
    per_label_ : dict of int to ILFS
        If ``y`` is an indicator matrix: the fitted selector of each label, with the attributes of tokens and topics.
    p_values_ : ndarray of shape (n_features,)
        Only with permutations: probability that the relevance of a feature without effect is as large as this one,
        estimated from the relevances of all features under permuted labels; 1 for an uninformative feature. Relevance
        is about class means: a feature whose classes differ only in spread, which is picked for its shape, has no small
        p-value. If ``y`` is an indicator matrix: the smallest p-value over the labels, times the number of labels.
    q_values_ : ndarray of shape (n_features,)
        Only with permutations: smallest false discovery rate at which the feature is selected (Benjamini and Hochberg).
    chance_p_value_ : float
        Only with permutations: p-value of the mean of the ten largest relevances, compared with that of each
        permutation. If ``y`` is an indicator matrix, these means are averaged over the labels.
    is_better_than_chance_ : bool
        Only with permutations: True if ``chance_p_value_`` is at most ``fdr``.
    n_permutations_ : int
        Only with permutations: their number.
    false_discovery_bound_ : float
        Only with ``n_features_to_select="fdr"``: upper bound on the proportion of false discoveries among the selected
        features, with a confidence of 95 % (`ilfs.null.false_discovery_bound`).
    n_features_ : int
        Only with ``n_features_to_select="auto"`` or ``"absorption"``: the number found.
    cv_results_ : dict of str to ndarray
        Only with ``n_features_to_select="auto"``: the table of `ilfs.selection.SizeCV`.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    References
    ----------
    .. [1] G. Roffo, S. Melzi, U. Castellani, A. Vinciarelli, "Infinite Latent Feature Selection: A Probabilistic Latent
       Graph-Based Ranking Approach", ICCV 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import ILFS
    >>> wine = load_wine()
    >>> selector = ILFS(n_features_to_select=3).fit(wine.data, wine.target)
    >>> list(selector.get_feature_names_out(wine.feature_names))
    ['flavanoids', 'color_intensity', 'proline']
    >>> selector.transform(wine.data).shape
    (178, 3)
    """

    _has_walk = True

    interactions_: Interactions

    def __init__(
        self,
        n_features_to_select: int | float | Literal["fdr", "auto", "absorption"] | None = None,
        *,
        n_tokens: int = 6,
        evidence: Evidence = "posterior",
        literal_sign: bool = False,
        intervals: Literal["uniform", "pooled"] = "uniform",
        topics: Literal["shrunk", "anchored", "learned"] = "shrunk",
        leave_one_out: bool = True,
        class_weight: Literal["balanced"] | None = "balanced",
        redundancy: Redundancy | None = "gain",
        n_candidates: int | None = 1000,
        shapes: bool = True,
        interactions: Literal[False, 2, 3] = False,
        damping: float = 0.9,
        max_iter: int = 2000,
        tol: float | None = 1e-6,
        n_jobs: int | None = None,
        n_permutations: int = 0,
        random_state: int | np.random.Generator | None = 0,
        fdr: float = 0.05,
        must_keep: MustKeep = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_tokens = n_tokens
        self.evidence = evidence
        self.literal_sign = literal_sign
        self.intervals = intervals
        self.topics = topics
        self.leave_one_out = leave_one_out
        self.class_weight = class_weight
        self.redundancy = redundancy
        self.n_candidates = n_candidates
        self.shapes = shapes
        self.interactions = interactions
        self.damping = damping
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.fdr = fdr
        self.must_keep = must_keep

    @classmethod
    def paper(cls, n_features_to_select: int | float | None = None, **parameters: Any) -> Self:
        """Create a selector with the configuration of the paper.

        It uses the paper's evidence from distances, six equal intervals of [0, 1] and topics learned by maximum
        likelihood, without leaving samples out, balancing classes or removing redundancy. A feature with many large
        tokens is good, as the text of the paper says; by its formula it would be bad (``literal_sign=True``). With more
        than two classes, the distances to the others are averaged, not summed as in Eq. 3
        (``evidence="distance_sum"``).

        The paper gives no rule for when to stop learning. One step is made: with more steps the topic relevancy comes
        to hold badly and well represented samples alike, and the ranking gets worse. ``max_iter=2000, tol=1e-6`` learns
        until convergence. Ties, missing values and constant columns are treated as in every other configuration.

        Parameters
        ----------
        n_features_to_select : int, float or None, default=None
            Number of features to keep.
        **parameters
            Other parameters of `ILFS`, which override this configuration.

        Returns
        -------
        ILFS
            A selector that is not fitted.

        Examples
        --------
        >>> from ilfs import ILFS
        >>> ILFS.paper(10)
        ILFS(class_weight=None, evidence='distance', leave_one_out=False, max_iter=1,
             n_features_to_select=10, redundancy=None, shapes=False, tol=None,
             topics='learned')
        """
        return cls(n_features_to_select, **(PAPER_CONFIGURATION | {"max_iter": 1, "tol": None} | parameters))

    @classmethod
    def toolbox(cls, n_features_to_select: int | float | None = None, **parameters: Any) -> Self:
        """Create a selector that follows the code that the paper's authors published.

        Their toolbox (FSLib, version 5.2 of 2017) computes new token distributions of the topics in each step, but
        never uses them. So the topics stay at the ramps, and only the relevance is learned, until convergence. The rest
        is as in `paper`. What the toolbox does differently in details is in the documentation.

        Parameters
        ----------
        n_features_to_select : int, float or None, default=None
            Number of features to keep.
        **parameters
            Other parameters of `ILFS`, which override this configuration.

        Returns
        -------
        ILFS
            A selector that is not fitted.

        Examples
        --------
        >>> from ilfs import ILFS
        >>> ILFS.toolbox(10)
        ILFS(class_weight=None, evidence='distance', leave_one_out=False,
             n_features_to_select=10, redundancy=None, shapes=False, topics='anchored')
        """
        return cls(n_features_to_select, **(PAPER_CONFIGURATION | {"topics": "anchored"} | parameters))

    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Rank the features of X by their relevance for y.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, if a sample may have several labels; or the
            name of the column of X that holds the classes.
        sample_weight : array of shape (n_samples,), optional
            Weight of each row: 2 has the same effect as repeating the row, 0 as leaving it out. Scale relative weights
            to a mean of 1.
        groups : array of shape (n_samples,), optional
            Group of each row, such as its donor or batch. Labels are permuted within groups only, and the rows of a
            group are in the same fold of the rule ``"auto"``. Used for nothing else.

        Returns
        -------
        ILFS
            The fitted selector.
        """
        return self._fit(X, y, sample_weight, groups)

    @property
    def n_reads(self) -> int:
        """Number of reads of all rows that ``fit`` makes if they are not in memory: moments, tokens, products.

        It makes another one if the most relevant features repeat each other (see `ilfs.candidates`), or if they count
        rare events (see `ilfs.rare_events`).
        """
        return 2 if self.redundancy is None else 3

    def _plan_relevance(self, classes: Classes) -> Plan[FeatureStatistics]:
        """Learn the relevance of every feature in two passes over the rows; return statistics of the features."""
        moments = yield from self._plan_moments(classes)
        tokens, shapes = yield from both(ask(self._tokens(moments)), self._plan_shapes(moments))
        self._learn_relevance(classes, moments, tokens)
        return shapes

    def _plan_shapes(self, moments: ClassMoments) -> Plan[FeatureStatistics]:
        """Sum the shapes of the features, if the picks use them."""
        if not (self.shapes and self.redundancy == "gain"):
            return FeatureStatistics(moments)
        shapes = Shapes.from_moments(moments)
        return FeatureStatistics(moments, shapes, (yield from ask(shapes)))

    def _plan_topics(self, classes: Classes) -> Plan[ClassMoments]:
        """Learn the relevance without the mean log odds, which only break ties, and without shapes."""
        moments = yield from self._plan_moments(classes)
        self._learn_topics(classes, moments, (yield from ask(self._tokens(moments))))
        return moments

    def _learn_relevance(self, classes: Classes, moments: ClassMoments, tokens: TokenCounts) -> None:
        """Learn the topics from the token counts, and set the relevance of every feature."""
        self._learn_topics(classes, moments, tokens)
        self._break_ties(moments)

    def _break_ties(self, moments: ClassMoments) -> None:
        """Set the mean log odds, which break ties in relevance."""
        log_odds = mean_log_odds(moments, self.leave_one_out, self.class_weight == "balanced")
        self.mean_log_odds_ = np.where(moments.informative, log_odds, -np.inf)

    def _learn_topics(self, classes: Classes, moments: ClassMoments, tokens: TokenCounts) -> None:
        counts = self._count_tokens(tokens, moments)
        relevance = self._fit_topics(counts, n_samples=float(classes.total.sum()))
        self._warn(classes, moments)
        self.classes_ = classes.labels
        self.relevance_ = np.where(moments.informative, relevance, 0.0)

    # The statistic of the permutation test is the relevance: scores are relative to that of the first pick.

    def _plan_statistic(self, classes: Classes) -> Plan[Floats]:
        moments = yield from self._plan_topics(classes)
        return np.where(moments.informative, self.relevance_, np.nan)

    def _observed_statistic(self, scores: Scores) -> Floats:  # noqa: ARG002
        return np.where(np.isneginf(self.mean_log_odds_), np.nan, self.relevance_)

    def _clone_for_null(self) -> Self:
        return super()._clone_for_null().set_params(redundancy=None, interactions=False)  # type: ignore[no-any-return]

    # Interactions need the rows themselves, not only statistics of them: they are found before the plan is run.

    def _score_any(self, source: Source) -> Scores:
        if self.interactions and isinstance(source, TableSource):
            self.interactions_ = interactions_in(source, self.interactions, n_jobs=self.n_jobs)
        return super()._score_any(source)

    @property
    def _streams(self) -> bool:  # type: ignore[override]
        """Without interactions, the order needs only statistics of the rows."""
        return not self.interactions

    @property
    def _title(self) -> str:
        return f"ILFS(interactions={self.interactions})" if self.interactions else super()._title

    def _clone_of_label(self, label: int) -> Self:
        one = super()._clone_of_label(label)
        if self.interactions:
            one.interactions_ = self.interactions_.of_label(label)
        return one

    def _products(self) -> ProductTerms | None:
        """Return the product terms of the interactions, None if there are none."""
        found = self.interactions_.product_terms() if self.interactions else None
        return found if found is not None and len(found.columns) else None

    def _plan_scores(self, classes: Classes, statistics: FeatureStatistics) -> Plan[Scores]:
        """Score features by path sums, or pick them one at a time in one more pass over the rows."""
        if self.redundancy is None:
            return self._path_scores(paths.infinite_path_scores(self.relevance_, float(self.damping)))
        moments = statistics.moments
        weight = classes.balance if self.class_weight == "balanced" else np.ones(classes.n_classes)
        return (
            yield from self._plan_picks(
                classes,
                moments.informative,
                lambda columns: Association.from_moments(moments.of_columns(columns), weight, classes.total),
                statistics.shape_association(weight, classes.total),
            )
        )

    def _plan_picks(
        self,
        classes: Classes,
        usable: NDArray[np.bool_],
        associate: Callable[[Integers], Association],
        shapes: ShapeAssociation | None,
        labelling: int | tuple[int, ...] = 0,
    ) -> Plan[Scores]:
        """Pick features one at a time; ``associate`` computes the association of columns with the classes."""
        assert self.redundancy is not None
        forced, products, tie_break = self._forced(), self._products(), self.mean_log_odds_
        kept = forced if products is None else np.union1d(forced, products.columns)

        def pick_from(pool: Integers) -> Plan[PickedSubset]:
            candidates = with_strong_shapes(pool, shapes, usable, kept)
            return pick(
                self.redundancy,
                classes,
                self.relevance_,
                usable,
                candidates,
                associate(candidates),
                tie_break,
                labelling,
                forced,
                None if shapes is None else shapes.take(candidates),
                products,
            )

        order = most_relevant(self.relevance_, usable, None, tie_break)
        subset = yield from pick_from_pool(
            self.redundancy, pick_from, order, self.n_candidates, classes, associate, kept
        )
        return self._keep_subset(subset)

    def _path_scores(self, sums: Floats) -> Scores:
        """Return path sums as scores; ties are broken by the mean log odds."""
        return Scores(sums, self.mean_log_odds_, UNIT_FLOOR * float(sums.max()), UNIT_FLOOR)

    @property
    def _fine_edges(self) -> Floats:
        """Edges of the intervals in which values are counted; pooled intervals are unions of them."""
        n_intervals = max(FINE_INTERVALS, 2 * self.n_tokens) if self.intervals == "pooled" else self.n_tokens
        return np.linspace(0.0, 1.0, n_intervals + 1)

    def _tokens(self, moments: ClassMoments) -> Tokens:
        """Describe the token counts as a statistic."""
        return Tokens(moments, self._fine_edges, self.evidence, self.leave_one_out, self.class_weight == "balanced")

    def _count_tokens(self, tokens: TokenCounts, moments: ClassMoments) -> Floats:
        """Return counts of shape (n_tokens, n_features), 0 for an uninformative feature."""
        counts, edges = tokens.per_token(np.where(moments.informative, moments.total, 0.0)), self._fine_edges
        if self.intervals == "pooled":
            cuts = equal_frequency_cuts(counts.sum(axis=1), self.n_tokens)
            counts, edges = np.add.reduceat(counts, cuts[:-1], axis=0), edges[cuts]
        if self.literal_sign:
            # The token of pi is that of 1 - pi, counted from the other end.
            counts, edges = counts[::-1], 1.0 - edges[::-1]
        self.token_counts_, self.token_edges_ = counts.T, edges
        return np.ascontiguousarray(counts)

    def _fit_topics(self, counts: Floats, n_samples: float) -> Floats:
        """Learn the topics, set their attributes, and return P(relevancy | feature)."""
        from ilfs.solvers import plsa

        if self.topics == "learned":
            topics = plsa.learned_topics(counts, max_iter=self.max_iter, tol=self.tol or 0.0)
        elif self.topics == "anchored":
            topics = plsa.anchored_topics(counts)
        else:
            topics = plsa.shrunk_topics(
                counts,
                relevance_prior=RELEVANCE_PRIOR * n_samples,
                token_prior=TOKEN_PRIOR * float(counts.sum()),
                max_iter=self.max_iter,
                tol=self.tol or 0.0,
            )
        if self.tol is not None and not topics.converged:
            warn(
                f"the topics did not converge to tol={self.tol:g} in max_iter={self.max_iter} steps",
                ConvergenceWarning,
            )
        if not prefers_high_tokens(topics.tokens):
            warn(
                "the topic relevancy has lost its meaning: it holds many badly represented samples, or fewer well "
                "represented ones than irrelevancy, so relevance_ does not measure relevance. Make fewer "
                "steps (max_iter=1, tol=None) or choose topics='shrunk' or 'anchored'",
            )
        self.topic_tokens_, self.topic_weights_ = topics.tokens, topics.weights
        self.loglik_, self.n_iter_ = topics.loglik, topics.loglik.size - 1
        return topics.relevance

    def _warn(self, classes: Classes, moments: ClassMoments) -> None:
        if self.leave_one_out:
            alone = classes.labels[classes.total <= ONE_SAMPLE_WEIGHT].tolist()
            if alone:
                some = ", ".join(repr(label) for label in alone[:5]) + (", ..." if len(alone) > 5 else "")
                warn(
                    "leave_one_out needs more than one sample of a class (or a weight over 1): it is not applied to "
                    f"{some} ({len(alone)} of {classes.n_classes} classes)",
                )
        if not moments.informative.any():
            warn("no feature differs between samples of two classes: all scores are the same")

    def _plan_labels(self, labellings: Sequence[Classes], all_rows: Classes) -> Plan[Scores]:
        """Score the features for an indicator matrix; without redundancy by the mean path sums over the labels."""
        plan = PlannedSelector if self.redundancy is None else PicksSubsets
        return plan._plan_labels(self, labellings, all_rows)

    def _average_labels(self, fitted: list[Self]) -> Scores:
        self._average_relevance(fitted)
        return self._path_scores(super()._average_labels(fitted).values)

    def _average_relevance(self, fitted: list[Self]) -> None:
        super()._average_relevance(fitted)
        self.mean_log_odds_ = np.mean([one.mean_log_odds_ for one in fitted], axis=0)
        self.n_iter_ = max(one.n_iter_ for one in fitted)

    def _plan_joint_scores(
        self, labels: Mapping[int, Classes], statistics: Sequence[FeatureStatistics], all_rows: Classes
    ) -> Plan[Scores]:
        moments = [of_label.moments for of_label in statistics]
        return self._plan_picks(
            all_rows,
            np.any([of_label.informative for of_label in moments], axis=0),
            lambda columns: association_with_labels([one.of_columns(columns) for one in moments], labels.values()),
            shapes_of_labels(labels.values(), statistics),
            tuple(labels),
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_tokens", self.n_tokens, 2)
        check_choice("evidence", self.evidence, ("posterior", "distance", "distance_sum"))
        check_choice("literal_sign", self.literal_sign, (True, False))
        check_choice("intervals", self.intervals, ("uniform", "pooled"))
        check_choice("topics", self.topics, ("shrunk", "anchored", "learned"))
        check_choice("leave_one_out", self.leave_one_out, (True, False))
        check_choice("class_weight", self.class_weight, ("balanced", None))
        check_redundancy(self.redundancy, self.n_candidates, ("gain", "novelty", None))
        check_choice("shapes", self.shapes, (True, False))
        check_order("interactions", self.interactions, (False, 2, 3))
        if self.interactions and self.redundancy != "gain":
            raise ValueError(
                f"interactions={self.interactions} must be used with redundancy='gain', got "
                f"redundancy={self.redundancy!r}"
            )
        check_between("damping", self.damping, 0, 1)
        check_integer("max_iter", self.max_iter, 1)
        if self.tol is not None:
            check_between("tol", self.tol, 0, 1)

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:
        return {"relevance": self.relevance_} | super()._more_columns(names)

    def _rank(self, scores: Scores) -> Self:
        super()._rank(scores)
        if self._uses_rule("absorption"):
            self.n_features_ = self.absorption_size()
        return self

    def _n_selected(self) -> int:
        return self.absorption_size() if self._uses_rule("absorption") else super()._n_selected()

    def absorption_size(self) -> int:
        """Compute a number of features from the paper's absorbing random walk.

        It is the effective number of features to which the walk returns (`ilfs.solvers.paths.effective_returns`), on
        the graph of the relevance above the median of all features that have any. ``n_features_to_select="absorption"``
        selects so many features, the first of ``order_``. The documentation explains the rule and compares it with
        others.

        Returns
        -------
        int
            The nearest integer, at least 1. It depends on ``relevance_`` only.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from ilfs import ILFS
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> ILFS().fit(X, y).absorption_size()
        10
        """
        check_is_fitted(self)
        size = paths.effective_returns(above_median(self.relevance_, self.relevance_ > 0))
        return max(1, int(size + 0.5 + float(tolerance(size))))  # the nearest integer

    def _facts(self, column: int, names: NDArray[Any]) -> dict[str, Any]:
        facts = super()._facts(column, names)
        if not hasattr(self, "token_counts_") or self.literal_sign:
            return facts
        counts, is_well = self.token_counts_[column], self.token_edges_[:-1] >= 0.5 - UNIT_FLOOR
        total = float(counts.sum())
        return facts | {"well_represented": float(counts[is_well].sum()) / total if total > 0 else None}

    def adjacency_matrix(self) -> Floats:
        """Compute the matrix of the graph: a_ij = P(relevancy | i) P(relevancy | j).

        It is meant for teaching: the scores are computed without this matrix of n_features x n_features values.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            Symmetric matrix of rank one.
        """
        check_is_fitted(self)
        return paths.adjacency(self.relevance_)

    def absorption_times(self) -> Floats:
        """Compute the expected number of steps until the paper's random walk is absorbed.

        The walk goes from i to j with probability r a_ij, where r makes the largest row sum equal to ``damping``. With
        the remaining probability it is absorbed. From good features it takes longest.

        Returns
        -------
        ndarray of shape (n_features,)
            Expected number of steps from each feature, at least 1; it increases with ``relevance_``.
        """
        check_is_fitted(self)
        self._check_parameters()
        return paths.absorption_times(self.relevance_, float(self.damping), "rows")

    def expected_visits(self, features: ArrayLike) -> Floats:
        """Compute the expected number of visits of the paper's random walk to some features.

        The walk is that of `absorption_times`.

        Parameters
        ----------
        features : array of int
            Column indices; the visits to all of them are summed.

        Returns
        -------
        ndarray of shape (n_features,)
            Expected number of visits if the walk starts at each feature: the fundamental matrix of the absorbing chain
            times the indicator vector of the given features.
        """
        check_is_fitted(self)
        self._check_parameters()
        visited = np.zeros(self.n_features_in_)
        visited[np.asarray(features)] = 1.0
        return paths.fundamental_product(self.relevance_, visited, float(self.damping), "rows")


def prefers_high_tokens(tokens: Floats) -> bool:
    """Return whether the topic relevancy still prefers high tokens, as at the start of the learning.

    Parameters
    ----------
    tokens : ndarray of shape (2, n_tokens)
        P(token | topic), relevancy first.

    Returns
    -------
    bool
        False if the highest token is less probable under relevancy than under irrelevancy; or if the lowest one is more
        probable and the lower half of the tokens has more than `MAX_LOW_FRACTION` of relevancy.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.methods.ilfs import prefers_high_tokens
    >>> prefers_high_tokens(np.array([[0.1, 0.3, 0.6], [0.6, 0.3, 0.1]]))
    True
    >>> prefers_high_tokens(np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]))
    False
    >>> prefers_high_tokens(np.array([[0.02, 0.08, 0.9], [0.0, 1.0, 0.0]]))  # a few badly represented samples
    True
    """
    relevancy, irrelevancy = tokens
    low = float(relevancy[: relevancy.size // 2].sum())
    has_low_tokens = relevancy[0] > irrelevancy[0] and low > MAX_LOW_FRACTION
    return bool(relevancy[-1] >= irrelevancy[-1] and not has_low_tokens)


def equal_frequency_cuts(mass: Floats, n_parts: int) -> NDArray[np.int64]:
    """Divide consecutive intervals into parts of about equal mass, each of at least one interval.

    Parameters
    ----------
    mass : ndarray of shape (n_intervals,)
        Mass of each interval.
    n_parts : int
        Number of parts, at most n_intervals.

    Returns
    -------
    ndarray of shape (n_parts + 1,)
        Index of the first interval of every part, and n_intervals.
    """
    below = np.concatenate([[0.0], np.cumsum(mass)])
    cuts = np.empty(n_parts + 1, dtype=np.int64)
    cuts[0], cuts[-1] = 0, mass.size
    for part in range(1, n_parts):
        nearest = int(np.abs(below - below[-1] * part / n_parts).argmin())
        # At least one interval for this part, and one for each of the parts after it.
        cuts[part] = min(max(nearest, cuts[part - 1] + 1), mass.size - (n_parts - part))
    return cuts
