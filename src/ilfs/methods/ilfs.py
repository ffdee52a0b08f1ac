r"""Infinite Latent Feature Selection.

Every sample says through every feature how well the feature represents it; those answers, in a few tokens, are
explained by two topics, relevancy and irrelevancy; a feature's share of relevancy weighs the edges of a graph, and the
sum over all its paths is the score.

.. math:: \check c = \big[(I - rA)^{-1} - I\big]\,\mathbf e, \qquad A = p\,p^\top, \qquad p_f = P(z_1 \mid f)

Reference: G. Roffo, S. Melzi, U. Castellani, A. Vinciarelli, *Infinite Latent Feature Selection: A Probabilistic Latent
Graph-Based Ranking Approach*, ICCV 2017.

Where we depart from the paper (the reasons and figures are in the documentation):

- The paper's prior :math:`\pi` is small for a well represented sample while its text wants it large; we take
  :math:`1 - \pi`, in every configuration.
- With more than two classes the own distance is compared with the mean of the others, so that chance is 1/2 for any
  number of classes; for two classes that is the paper's formula.
- ``evidence="posterior"``, ``topics="shrunk"``, ``leave_one_out``, ``class_weight="balanced"`` and ``redundancy`` are
  ours; `ILFS.paper` switches all of them off.
- A has rank one, so no matrix is inverted, and the ranking by path sums is the order of p: every feature for itself.
  By default features are therefore picked one at a time, by what each adds for the classes to those picked before it
  (``redundancy="gain"``); ``redundancy=None`` gives the path sums.
- Ties in p are broken by the mean log odds of the samples' own classes, then by column order.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ilfs.arrays import Floats
from ilfs.execution import Plan, ask
from ilfs.parameters import check_between, check_choice, check_integer
from ilfs.redundancy import (
    PicksSubsets,
    Redundancy,
    association_with_labels,
    check_redundancy,
    most_relevant,
    pick,
)
from ilfs.selector import PlannedSelector, Scores, StatisticsSelector
from ilfs.solvers import paths
from ilfs.statistics import Association, Classes, ClassMoments, Moments, TokenCounts, Tokens
from ilfs.statistics.tokens import ONE_SAMPLE_WEIGHT, Evidence, mean_log_odds
from ilfs.ties import UNIT_FLOOR
from ilfs.warn import warn

# Pseudo-counts of topics="shrunk": of each topic in a feature, as share of the samples, and of the ramps in a topic, as
# share of all counts. The result hardly depends on them between 0.2 and 0.5 and between 0.3 and 3.
RELEVANCE_PRIOR = 0.2
TOKEN_PRIOR = 1.0
FINE_INTERVALS = 60  # of [0, 1], from which pooled intervals are put together


class ILFS(PicksSubsets, StatisticsSelector):
    """Infinite Latent Feature Selection.

    Reads the data twice and needs memory for (classes + tokens) numbers a feature, whatever the number of samples; then
    once more, only the candidates, for the n_candidates^2 products of pairs that tell which of them repeat each other.
    Missing cells (NaN) are left out one by one: a feature is described by the samples it has, a pair of features by
    those that have both.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep: a number, a share of them, or half.
    n_tokens : int, default=6
        Number of intervals into which representativeness is divided.
    evidence : {"posterior", "distance"}, default="posterior"
        How well a feature represents a sample. ``"posterior"``: the probability of its class against the others (for
        two classes, that of two normal distributions of one variance). ``"distance"``: the paper's share of squared
        distances, which does not know the variance.
    intervals : {"uniform", "pooled"}, default="uniform"
        ``"uniform"``: [0, 1] in equal parts, as in the paper. ``"pooled"``: parts with the same number of cells, all
        features taken together.
    topics : {"shrunk", "anchored", "learned"}, default="shrunk"
        How the tokens of relevancy and irrelevancy are found. ``"learned"``: maximum likelihood, as in the paper.
        ``"anchored"``: kept at the ramps where learning starts. ``"shrunk"``: learned as mirror images of each other,
        with those ramps as a prior, and with pseudo-counts that keep relevance away from 0 and 1.
    leave_one_out : bool, default=True
        Compare a sample with the mean of its class without it.
    class_weight : {"balanced", None}, default="balanced"
        Let every class count the same, or every sample.
    redundancy : {"gain", "novelty", None}, default="gain"
        Whether a feature is judged by what it adds to better ones. ``"gain"``: the candidate is picked next by which a
        ridge regression of the classes on the picked features gains most, over all classes. ``"novelty"``: the one with
        the largest relevance (above the median of all features) times novelty, the share of its variance that the
        nearest picked feature does not explain. None: every feature for itself, by the path sums of the paper.
    n_candidates : int or None, default=1000
        How many of the most relevant features are picked from; the others follow by relevance. None is all of them.
        Without redundancy it has no meaning.
    damping : float, default=0.9
        Spectral radius of the weighted graph, in (0, 1). It scales the path sums, the scores of ``redundancy=None``,
        and does not change their order.
    max_iter : int, default=2000
        Most steps when learning the topics.
    tol : float, default=1e-6
        Learning stops when no relevance moves by more than this.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it. None is 1 unless in a `joblib.parallel_config` context, -1
        is all processors.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Of picked features what they added, as share of what the first did and never more than the one before, so from
        1 down to 0; of the others 0 or less, by relevance, down to -1 for a feature that says nothing. With
        ``redundancy=None`` the sum over all paths from the feature: relevance times one number for all.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_features,)
        Column indices, best first.
    relevance_ : ndarray of shape (n_features,)
        P(relevancy | feature). 0 for a feature that says nothing: constant, or present in fewer than two classes.
    candidates_ : ndarray of shape (n_candidates,)
        Columns that were picked from, most relevant first. This and the following four are there with redundancy.
    novelty_ : ndarray of shape (n_features,)
        Share of the variance that the nearest feature picked before does not explain: 1 for the first, 0 for a copy;
        NaN for no candidate.
    nearest_ : ndarray of shape (n_features,)
        That nearest feature; -1 for the first picked, for one that has nothing to do with any picked before, and for no
        candidate. See `families`.
    nearest_correlation_ : ndarray of shape (n_features,)
        Correlation with it, classes counting as class_weight says; NaN if there is none.
    gain_ : ndarray of shape (n_features, n_classes)
        With ``redundancy="gain"``: by how much the loss of the regression of each class (or label) fell when the
        feature was picked, as share of the variance of the class; 0 if it was not. The loss has a ridge, so this is
        less than what the feature explains.
    token_counts_ : ndarray of shape (n_features, n_tokens)
        Weight of the samples in each interval, badly represented first.
    token_edges_ : ndarray of shape (n_tokens + 1,)
        The intervals, from 0 to 1.
    topic_tokens_ : ndarray of shape (2, n_tokens)
        P(token | topic), relevancy first.
    topic_weights_ : ndarray of shape (2,)
        P(topic).
    loglik_ : ndarray of shape (n_steps + 1,)
        What learning increases, at the start and after every step: the log-likelihood of the tokens, plus the log
        density of the prior for ``topics="shrunk"``.
    n_iter_ : int
        Steps made.
    mean_log_odds_ : ndarray of shape (n_features,)
        Mean over the samples of the log odds of their own class; breaks ties of relevance. Minus infinity for a
        feature that says nothing.
    classes_ : ndarray of shape (n_classes,)
        The labels (not for an indicator matrix).
    scores_per_label_ : ndarray of shape (n_labels, n_features)
        If ``y`` is an indicator matrix: the scores of each label against the rest; NaN for a label that all samples
        have, or none. ``relevance_`` and ``mean_log_odds_`` are means over the labels, and with ``redundancy=None``
        ``scores_`` too; otherwise features are picked by that relevance, or by what they add for all labels.
    per_label_ : dict of int to ILFS
        If ``y`` is an indicator matrix: the fitted selector of each label, where the other attributes are.
    n_features_in_ : int
        Number of columns seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all of them are strings.

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
    ['alcohol', 'flavanoids', 'color_intensity']
    >>> selector.transform(wine.data).shape
    (178, 3)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_tokens: int = 6,
        evidence: Evidence = "posterior",
        intervals: Literal["uniform", "pooled"] = "uniform",
        topics: Literal["shrunk", "anchored", "learned"] = "shrunk",
        leave_one_out: bool = True,
        class_weight: Literal["balanced"] | None = "balanced",
        redundancy: Redundancy | None = "gain",
        n_candidates: int | None = 1000,
        damping: float = 0.9,
        max_iter: int = 2000,
        tol: float = 1e-6,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_tokens = n_tokens
        self.evidence = evidence
        self.intervals = intervals
        self.topics = topics
        self.leave_one_out = leave_one_out
        self.class_weight = class_weight
        self.redundancy = redundancy
        self.n_candidates = n_candidates
        self.damping = damping
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    @classmethod
    def paper(cls, n_features_to_select: int | float | None = None, **parameters: Any) -> Self:
        """The configuration that follows the text of the paper.

        The paper's share of distances, six equal intervals of [0, 1], topics learned by plain maximum likelihood, no
        leaving out, no balancing; oriented as the text says (many large tokens are good), not as its formula does. More
        than two classes, ties, missing values and constant columns are treated as everywhere in this package.

        Parameters
        ----------
        n_features_to_select : int, float or None, default=None
            How many features to keep.
        **parameters
            Any parameter of `ILFS` that is to differ.

        Returns
        -------
        ILFS
            Not yet fitted.

        Examples
        --------
        >>> from ilfs import ILFS
        >>> ILFS.paper(10)
        ILFS(class_weight=None, evidence='distance', leave_one_out=False,
             n_features_to_select=10, redundancy=None, topics='learned')
        """
        text: dict[str, Any] = {
            "n_tokens": 6,
            "evidence": "distance",
            "intervals": "uniform",
            "topics": "learned",
            "leave_one_out": False,
            "class_weight": None,
            "redundancy": None,
        }
        return cls(n_features_to_select, **(text | parameters))

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Rank the features of X by what they say about y.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers; NaN is a missing value.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, of any type; or an indicator matrix, where a sample may have several labels; or the
            name of the column of X that holds the classes.
        sample_weight : array of shape (n_samples,), optional
            How often each row counts: weight 2 is the same as the row twice, weight 0 as no row. Relative weights
            should be scaled to a mean of 1.

        Returns
        -------
        ILFS
            Itself, fitted.
        """
        return self._fit(X, y, sample_weight)

    def _plan_relevance(self, classes: Classes) -> Plan[ClassMoments]:
        """Learn the relevance of every feature, in two reads; return the moments of the features."""
        moments = (yield from ask(Moments())).checked()
        tokens = yield from ask(self._tokens(moments))
        counts = self._count_tokens(tokens, moments)
        relevance = self._fit_topics(counts, n_samples=float(classes.total.sum()))
        self._warn(classes, moments)
        self.classes_ = classes.labels
        self.relevance_ = np.where(moments.informative, relevance, 0.0)
        log_odds = mean_log_odds(moments, self.leave_one_out, self.class_weight == "balanced")
        self.mean_log_odds_ = np.where(moments.informative, log_odds, -np.inf)
        return moments

    def _plan_scores(self, classes: Classes, moments: ClassMoments) -> Plan[Scores]:
        """Score features by path sums, or by what each adds to those before it, which takes one more read."""
        if self.redundancy is None:
            return self._path_scores(paths.infinite_path_scores(self.relevance_, float(self.damping)))
        candidates = most_relevant(self.relevance_, moments.informative, self.n_candidates, self.mean_log_odds_)
        balance = classes.balance if self.class_weight == "balanced" else None
        association = Association.from_moments(moments.of_columns(candidates), balance, classes.total)
        subset = yield from pick(
            self.redundancy, classes, self.relevance_, moments.informative, candidates, association, self.mean_log_odds_
        )
        return self._keep_subset(subset)

    def _path_scores(self, sums: Floats) -> Scores:
        """Path sums, ties broken by the mean log odds."""
        return Scores(sums, self.mean_log_odds_, UNIT_FLOOR * float(sums.max()), UNIT_FLOOR)

    @property
    def _fine_edges(self) -> Floats:
        """Boundaries of the intervals that are counted, from which pooled ones are put together."""
        n_intervals = max(FINE_INTERVALS, 2 * self.n_tokens) if self.intervals == "pooled" else self.n_tokens
        return np.linspace(0.0, 1.0, n_intervals + 1)

    def _tokens(self, moments: ClassMoments) -> Tokens:
        """Describe the token counts."""
        return Tokens(moments, self._fine_edges, self.evidence, self.leave_one_out, self.class_weight == "balanced")

    def _count_tokens(self, tokens: TokenCounts, moments: ClassMoments) -> Floats:
        """Return counts of shape (n_tokens, n_features), 0 for an uninformative feature."""
        counts, edges = tokens.per_token(np.where(moments.informative, moments.total, 0.0)), self._fine_edges
        if self.intervals == "pooled":
            cuts = equal_frequency_cuts(counts.sum(axis=1), self.n_tokens)
            counts, edges = np.add.reduceat(counts, cuts[:-1], axis=0), edges[cuts]
        self.token_counts_, self.token_edges_ = counts.T, edges
        return counts

    def _fit_topics(self, counts: Floats, n_samples: float) -> Floats:
        """P(z1|f), the rest into attributes."""
        from ilfs.solvers import plsa

        if self.topics == "learned":
            topics = plsa.learned_topics(counts, max_iter=self.max_iter, tol=self.tol)
        elif self.topics == "anchored":
            topics = plsa.anchored_topics(counts)
        else:
            topics = plsa.shrunk_topics(
                counts,
                relevance_prior=RELEVANCE_PRIOR * n_samples,
                token_prior=TOKEN_PRIOR * float(counts.sum()),
                max_iter=self.max_iter,
                tol=self.tol,
            )
        if not topics.converged:
            warn(
                f"the topics did not settle to tol={self.tol:g} in max_iter={self.max_iter} steps",
                ConvergenceWarning,
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
                    f"leave_one_out needs more than one sample of a class (or a weight over 1): it is off for {some} "
                    f"({len(alone)} of {classes.n_classes} classes)",
                )
        if not moments.informative.any():
            warn("no feature differs between samples of two classes: all scores are the same")

    def _plan_labels(self, labellings: Sequence[Classes], all_rows: Classes) -> Plan[Scores]:
        """Score an indicator matrix: without redundancy by the mean of the labels' path sums."""
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
        self, labels: Sequence[Classes], moments: Sequence[ClassMoments], all_rows: Classes
    ) -> Plan[Scores]:
        assert self.redundancy is not None
        usable = np.any([of_label.informative for of_label in moments], axis=0)
        candidates = most_relevant(self.relevance_, usable, self.n_candidates, self.mean_log_odds_)
        association = association_with_labels([one.of_columns(candidates) for one in moments], labels)
        subset = yield from pick(
            self.redundancy, all_rows, self.relevance_, usable, candidates, association, self.mean_log_odds_, None
        )
        return self._keep_subset(subset)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_tokens", self.n_tokens, 2)
        check_choice("evidence", self.evidence, ("posterior", "distance"))
        check_choice("intervals", self.intervals, ("uniform", "pooled"))
        check_choice("topics", self.topics, ("shrunk", "anchored", "learned"))
        check_choice("leave_one_out", self.leave_one_out, (True, False))
        check_choice("class_weight", self.class_weight, ("balanced", None))
        check_redundancy(self.redundancy, self.n_candidates, ("gain", "novelty", None))
        check_between("damping", self.damping, 0, 1)
        check_integer("max_iter", self.max_iter, 1)
        check_between("tol", self.tol, 0, 1)

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:
        return {"relevance": self.relevance_} | super()._more_columns(names)

    def adjacency_matrix(self) -> Floats:
        """The graph: a_ij = P(relevancy | i) P(relevancy | j).

        For teaching; it has n_features x n_features cells, and nothing here needs it.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            Symmetric, of rank one.
        """
        check_is_fitted(self)
        return paths.adjacency(self.relevance_)

    def absorption_times(self) -> Floats:
        """Expected number of steps of the paper's random walk from each feature until it is absorbed.

        The walk goes from i to j with probability r a_ij, where r makes the largest row sum equal to ``damping``, and
        is absorbed with what remains. Good features keep the walk longest.

        Returns
        -------
        ndarray of shape (n_features,)
            At least 1; in the order of ``relevance_``.
        """
        check_is_fitted(self)
        self._check_parameters()
        return paths.absorption_times(self.relevance_, float(self.damping), "rows")

    def expected_visits(self, features: ArrayLike) -> Floats:
        """Expected number of visits of the same walk to some features, from each feature.

        Parameters
        ----------
        features : array of int
            Column indices; the visits to all of them are added up.

        Returns
        -------
        ndarray of shape (n_features,)
            The fundamental matrix of the absorbing chain times the indicator of those features.
        """
        check_is_fitted(self)
        self._check_parameters()
        visited = np.zeros(self.n_features_in_)
        visited[np.asarray(features)] = 1.0
        return paths.fundamental_product(self.relevance_, visited, float(self.damping), "rows")


def equal_frequency_cuts(mass: Floats, n_parts: int) -> NDArray[np.int64]:
    """Cut intervals of this mass into so many parts of about equal mass, none of them empty of intervals.

    Returns the index of the first interval of every part, and the number of intervals.
    """
    below = np.concatenate([[0.0], np.cumsum(mass)])
    cuts = np.empty(n_parts + 1, dtype=np.int64)
    cuts[0], cuts[-1] = 0, mass.size
    for part in range(1, n_parts):
        nearest = int(np.abs(below - below[-1] * part / n_parts).argmin())
        cuts[part] = min(max(nearest, cuts[part - 1] + 1), mass.size - (n_parts - part))
    return cuts
