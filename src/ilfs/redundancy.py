r"""Subsets instead of single features: what each feature adds to those picked before it.

The most relevant features are candidates; their cross products, one more pass over the rows, say which of them repeat
each other. Then features are picked one at a time, always the one with the largest

.. math:: \text{relevance}_j\,\big(1 - \max_{i} \rho_{ij}^2\big)
          \qquad\text{or}\qquad \sum_k \frac{c_{jk}^2}{v_j + \lambda}

``"novelty"`` asks how little of a relevant feature is explained by one already picked. ``"gain"`` asks what the feature
adds for each class :math:`k` to all that were picked together (see `ilfs.solvers.picking`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ilfs.arrays import Floats, Integers
from ilfs.execution import Plan, ask, one_blas_thread, together
from ilfs.parameters import check_choice, check_integer, check_within, is_integer
from ilfs.selector import PlannedSelector, Scores
from ilfs.solvers.picking import Picks, gaining_picks, novel_picks
from ilfs.statistics import Association, Classes, ClassMoments, Products
from ilfs.ties import RELATIVE_TOLERANCE, UNIT_FLOOR, stable_order

Redundancy = Literal["gain", "novelty"]

# The ridge of "gain". Over m samples the largest of n squared correlations is about 2 log(n) / m by chance alone: the
# more features were looked at for each sample, the less of what a pick seems to explain is to be believed. The result
# hardly depends on the two numbers between 0.3 and 1 and between 3 and 15.
LEAST_RIDGE, RIDGE_OF_CHANCE = 1.0, 7.5


@dataclass(frozen=True)
class PickedSubset:
    """Features in the order in which they were picked, and what was found about all of them.

    Parameters
    ----------
    scores : Scores
        What a picked feature added, as share of what the first did (never more than the one before it); at most 0, by
        relevance, for all others.
    candidates : ndarray of shape (n_candidates,)
        Columns that were looked at, most relevant first.
    novelty : ndarray of shape (n_features,)
        Share of the variance that the nearest feature picked before does not explain; NaN for no candidate.
    nearest : ndarray of shape (n_features,)
        That feature; -1 for the first picked, for one that has nothing to do with any before, and for no candidate.
    correlation : ndarray of shape (n_features,)
        With it; NaN if there is none.
    gain : ndarray of shape (n_features, n_classes) or None
        What each class gained by each feature, as share of its variance.
    """

    scores: Scores
    candidates: Integers
    novelty: Floats
    nearest: Integers
    correlation: Floats
    gain: Floats | None


class PicksSubsets(PlannedSelector):
    """Base of the selectors that may pick features one at a time, and then know which of them repeat each other."""

    candidates_: Integers
    novelty_: Floats
    nearest_: Integers
    nearest_correlation_: Floats

    relevance_: Floats

    def _plan(self, classes: Classes) -> Plan[Scores]:
        moments = yield from self._plan_relevance(classes)
        return (yield from self._plan_scores(classes, moments))

    def _plan_relevance(self, classes: Classes) -> Plan[ClassMoments]:
        """Find ``relevance_``, and return the moments of the features."""
        raise NotImplementedError

    def _plan_scores(self, classes: Classes, moments: ClassMoments) -> Plan[Scores]:
        """Score features by relevance and, if wanted, redundancy."""
        raise NotImplementedError

    def _plan_joint_scores(
        self, labels: Sequence[Classes], moments: Sequence[ClassMoments], all_rows: Classes
    ) -> Plan[Scores]:
        """Score features by what they add for all labels of an indicator matrix.

        Parameters
        ----------
        labels : sequence of Classes
            The two classes of each label.
        moments : sequence of ClassMoments
            Moments of the features under each label.
        all_rows : Classes
            All rows as one class.

        Returns
        -------
        plan of Scores
            One score for each feature.
        """
        raise NotImplementedError

    def _plan_labels(self, labellings: Sequence[Classes], all_rows: Classes) -> Plan[Scores]:
        """Score an indicator matrix; each step reads the rows once for all labels and for the joint picks."""
        fitted = {label: self._clone_for_label() for label in self._telling_labels(labellings)}
        of_label = {label: labellings[label] for label in fitted}
        moments = yield from together(
            [self._for_label(label, one._plan_relevance(of_label[label])) for label, one in fitted.items()]
        )
        self._average_relevance(list(fitted.values()))
        single = [
            self._for_label(label, one._plan_scores(of_label[label], moment))
            for (label, one), moment in zip(fitted.items(), moments, strict=True)
        ]
        joint = self._plan_joint_scores(list(of_label.values()), moments, all_rows)
        *scores, joint_scores = yield from together([*single, joint])
        for one, scores_of_one in zip(fitted.values(), scores, strict=True):
            one._rank(scores_of_one)
        self._keep_labels(fitted, len(labellings))
        return joint_scores

    def _average_relevance(self, fitted: list[Self]) -> None:
        """Average what the labels of an indicator matrix have found about each feature."""
        self.relevance_ = np.mean([one.relevance_ for one in fitted], axis=0)

    def _keep_subset(self, subset: PickedSubset) -> Scores:
        """Keep what was found about the candidates as attributes, and return the scores."""
        self.candidates_, self.novelty_ = subset.candidates, subset.novelty
        self.nearest_, self.nearest_correlation_ = subset.nearest, subset.correlation
        if subset.gain is not None:
            self.gain_ = subset.gain
        return subset.scores

    def families(self, top: int | None = None, *, at_least: float = 0.7) -> dict[int, Integers]:
        """Features that say about the same as one of the best.

        Parameters
        ----------
        top : int, optional
            How many of the best features have a family; by default those selected.
        at_least : float, default=0.7
            How alike a feature must be to the head of its family: the product of the absolute correlations along the
            chain of nearest features, from the feature to the head.

        Returns
        -------
        dict of int to ndarray
            For each of the best columns, best first, the columns of its family without itself, also best first. A
            feature belongs where its nearest feature does, and so to one family. Only candidates are looked at.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from ilfs import ILFS
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> selector = ILFS().fit(X, y)
        >>> for head, members in selector.families(2).items():
        ...     print(f"{X.columns[head]}:", ", ".join(X.columns[members][:3]))
        worst concave points: mean concave points, worst concavity, worst compactness
        worst radius: worst perimeter, mean radius, mean perimeter
        """
        check_is_fitted(self)
        check_within("at_least", at_least, 0, 1)
        if not hasattr(self, "nearest_"):
            raise ValueError("families need correlations of features, which redundancy=None does not look at")
        if top is not None:
            check_integer("top", top, 1)
        heads = self.order_[: self._n_selected() if top is None else top]
        head_of = {int(head): (int(head), 1.0) for head in heads}  # and how alike
        members: dict[int, list[int]] = {head: [] for head in head_of}
        for column in self.order_[len(members) :].tolist():  # a feature comes after its nearest one
            head, alike = head_of.get(int(self.nearest_[column]), (-1, 0.0))
            alike *= abs(float(self.nearest_correlation_[column]))
            if alike >= at_least:
                head_of[column] = head, alike
                members[head].append(column)
        return {head: np.array(columns, dtype=np.int64) for head, columns in members.items()}

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:
        more = super()._more_columns(names)
        if not hasattr(self, "nearest_"):
            return more
        nearest = np.where(self.nearest_ >= 0, names[self.nearest_], "")
        return more | {"novelty": self.novelty_, "nearest": nearest, "correlation": self.nearest_correlation_}


def check_redundancy(redundancy: Any, n_candidates: Any, choices: tuple[Any, ...] = ("gain", "novelty")) -> None:
    """Refuse what cannot be meant."""
    check_choice("redundancy", redundancy, choices)
    if n_candidates is not None and not (is_integer(n_candidates) and n_candidates >= 1):
        raise ValueError(f"n_candidates must be None (all features) or an integer >= 1, got {n_candidates!r}")


def most_relevant(
    relevance: Floats, usable: NDArray[np.bool_], n_candidates: int | None, tie_break: Floats | None = None
) -> Integers:
    """Columns to pick from, best first.

    Parameters
    ----------
    relevance : ndarray of shape (n_features,)
        Larger is better.
    usable : ndarray of bool of shape (n_features,)
        Features that say something.
    n_candidates : int or None
        How many at most; None is all of them.
    tie_break : ndarray of shape (n_features,), optional
        Orders features of the same relevance.

    Returns
    -------
    ndarray of shape (n,)
        Usable ones.
    """
    return relevance_order(relevance, usable, tie_break)[: np.count_nonzero(usable)][:n_candidates]


def relevance_order(relevance: Floats, usable: NDArray[np.bool_], tie_break: Floats | None) -> Integers:
    """All columns by relevance, best first, those that are not usable last."""
    largest = float(np.abs(relevance[usable]).max(initial=0.0))
    return stable_order(np.where(usable, relevance, -np.inf), tie_break, UNIT_FLOOR * largest, UNIT_FLOOR)


def association_with_labels(moments: Sequence[ClassMoments], classes: Sequence[Classes]) -> Association:
    """Return the association of features with every label of an indicator matrix.

    Parameters
    ----------
    moments : sequence of ClassMoments
        Moments of the features under each label, rows without the label being the first class.
    classes : sequence of Classes
        The two classes of each label.

    Returns
    -------
    Association
        Correlations of each feature with each label; labels may overlap, unlike classes. All samples count the same.
    """
    associations = [
        Association.from_moments(of_label, class_total=both.total)
        for of_label, both in zip(moments, classes, strict=True)
    ]
    correlation = np.column_stack([of_label.correlation[:, 1] for of_label in associations])
    return Association(associations[0].mean, associations[0].deviation, correlation, np.ones(1))


def above_median(relevance: Floats, usable: NDArray[np.bool_]) -> Floats:
    """Relevance from 0, the median of the usable features and everything below it, to 1, the best of them.

    Most features of a wide table say nothing, and their relevance is near the median: what is left of it must not make
    the newest noise a good pick.
    """
    if not usable.any():
        return np.zeros_like(relevance)
    middle, largest = float(np.median(relevance[usable])), float(relevance[usable].max())
    rounding = RELATIVE_TOLERANCE * float(np.abs(relevance[usable]).max())
    if largest - middle <= rounding:  # at least half of them are the best
        return np.where(usable & (relevance >= largest - rounding), 1.0, 0.0)
    above = np.where(relevance - middle > rounding, relevance - middle, 0.0)
    return np.where(usable, np.clip(above / (largest - middle), 0.0, 1.0), 0.0)


def pick(
    how: Redundancy,
    classes: Classes,
    relevance: Floats,
    usable: NDArray[np.bool_],
    candidates: Integers,
    association: Association,
    tie_break: Floats | None = None,
    labelling: int | None = 0,
) -> Plan[PickedSubset]:
    """Pick features one at a time; the rows are read once.

    Parameters
    ----------
    how : {"gain", "novelty"}
        Criterion by which the next feature is picked.
    classes : Classes
        Classes of the rows.
    relevance : ndarray of shape (n_features,)
        Larger is better.
    usable : ndarray of bool of shape (n_features,)
        Informative features.
    candidates : ndarray of shape (n_candidates,)
        Columns to pick from, best first.
    association : Association
        Association of the candidates with the classes, which also has the weight of each class.
    tie_break : ndarray of shape (n_features,), optional
        Orders features of the same relevance.
    labelling : int or None, default=0
        Labelling of the rows that the classes belong to; None for one class of all rows.

    Returns
    -------
    plan of PickedSubset
        The candidates in the order in which they were picked; all other features follow by relevance.
    """
    rho, covariance = yield from correlations(candidates, association, labelling)
    with one_blas_thread():
        if how == "novelty":
            picks, gain = novel_picks(above_median(relevance, usable)[candidates], rho), None
        else:
            ridge = ridge_of(np.count_nonzero(usable), effective_samples(classes, association.class_weight))
            picks, gain = gaining_picks(association.correlation, rho, ridge, covariance)
    return described(picks, gain, rho, candidates, relevance, usable, tie_break)


def correlations(
    candidates: Integers, association: Association, labelling: int | None = 0
) -> Plan[tuple[Floats, Floats]]:
    """Ask for the correlations of all pairs of candidates.

    Returns
    -------
    plan of two ndarrays of shape (n_candidates, n_candidates)
        Correlations over the rows that have both values, and over all rows with missing values at their means.
    """
    if not candidates.size:
        return np.empty((0, 0)), np.empty((0, 0))
    lie = np.argsort(candidates)  # columns are read in the order in which they lie in memory
    products = yield from ask(Products(association.take(lie)), candidates[lie], labelling)
    place = np.empty_like(lie)
    place[lie] = np.arange(lie.size)
    rho = products.correlation()[np.ix_(place, place)]
    np.fill_diagonal(rho, 1.0)
    return rho, rho if products.is_complete else products.filled()[np.ix_(place, place)]


def ridge_of(n_features: Any, n_samples: float) -> float:
    """How much the loss of the regression charges for a weight of 1."""
    return LEAST_RIDGE + RIDGE_OF_CHANCE * 2 * float(np.log(max(n_features, 1))) / n_samples


def effective_samples(classes: Classes, class_weight: Floats) -> float:
    """Number of samples of equal weight with the same information (Kish 1965): weighting up a rare class adds none."""
    fraction = class_weight * classes.total / np.sum(class_weight * classes.total)
    return float(1.0 / np.sum(fraction**2 / classes.total))


def described(
    picks: Picks,
    gain: Floats | None,
    rho: Floats,
    candidates: Integers,
    relevance: Floats,
    usable: NDArray[np.bool_],
    tie_break: Floats | None,
) -> PickedSubset:
    """What is known of the candidates as something known of all features."""
    n_features = relevance.size
    picked = candidates[picks.order]
    values = below_zero(relevance, usable)
    values[picked] = picks.value
    by_relevance = relevance_order(relevance, usable, tie_break)
    order = np.concatenate([picked, by_relevance[~np.isin(by_relevance, picked)]])
    novelty, correlation, nearest = np.full(n_features, np.nan), np.full(n_features, np.nan), np.full(n_features, -1)
    novelty[candidates] = picks.novelty
    has = picks.nearest >= 0
    nearest[candidates[has]] = candidates[picks.nearest[has]]
    correlation[candidates[has]] = rho[np.flatnonzero(has), picks.nearest[has]]
    of_all = None
    if gain is not None:
        of_all = np.zeros((n_features, gain.shape[1]))
        of_all[candidates] = gain
    return PickedSubset(Scores.along(order, values), candidates, novelty, nearest, correlation, of_all)


def below_zero(relevance: Floats, usable: NDArray[np.bool_]) -> Floats:
    """Relevance from -1 to 0, the largest; -1 for features that say nothing."""
    if not usable.any():
        return np.full(relevance.size, -1.0)
    least, largest = float(relevance[usable].min()), float(relevance[usable].max())
    span = largest - least
    scaled = (relevance - largest) / span if span > 0 else np.zeros_like(relevance)
    return np.where(usable, scaled, -1.0)
