r"""Subsets of features that do not repeat each other.

The most relevant features are the candidates. One more pass over the rows gives the correlations of all pairs of
candidates. Then features are picked one at a time; the next pick is the candidate with the largest value of

.. math:: \text{relevance}_j\,\big(1 - \max_{i} \rho_{ij}^2\big)
          \qquad\text{or}\qquad \sum_k \frac{c_{jk}^2}{v_j + \lambda}

The first is ``"novelty"``: relevance times the fraction of the feature's variance that no single picked feature i
explains. The second is ``"gain"``: the decrease of the loss of a ridge regression of all classes k on the picked
features, where :math:`v_j` and :math:`c_{jk}` are the variance of the feature and its covariance with the class that
the picked features leave unexplained (see `ilfs.solvers.picking`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ilfs.arrays import Floats, Integers
from ilfs.execution import Plan, one_blas_thread, together
from ilfs.explanation import STRONG_CORRELATION
from ilfs.parameters import check_choice, check_integer, check_within, is_integer
from ilfs.rare_events import read_regression
from ilfs.regression_terms import FurtherColumns, correlations, ridge_of
from ilfs.selector import PlannedSelector, Scores
from ilfs.solvers.breadth import effective_rank
from ilfs.solvers.picking import Gains, Picks, novel_picks, picks_by_terms
from ilfs.statistics import (
    Association,
    Classes,
    ClassMoments,
    ClassShapes,
    ProductTerms,
    ShapeAssociation,
    Shapes,
)
from ilfs.ties import RELATIVE_TOLERANCE, UNIT_FLOOR, stable_order

Redundancy = Literal["gain", "novelty"]

SHAPE_CANDIDATES = 0.25  # maximum fraction of candidates that are there for their shapes
NO_COLUMNS: Integers = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class FeatureStatistics:
    """Statistics of all features that are known before the candidates are chosen.

    Parameters
    ----------
    moments : ClassMoments
        Moments of the features.
    shapes : Shapes or None
        How shapes are computed; None if they are not used.
    sums : ClassShapes or None
        Sums of the shapes.
    """

    moments: ClassMoments
    shapes: Shapes | None = None
    sums: ClassShapes | None = None

    def shape_association(self, class_weight: Floats, class_total: Floats) -> ShapeAssociation | None:
        """Return the association of the shapes with the classes; None if they are not used."""
        if self.shapes is None or self.sums is None:
            return None
        return ShapeAssociation.from_sums(self.shapes, self.sums, self.moments, class_weight, class_total)


@dataclass(frozen=True)
class PickedSubset:
    """Scores of all features and the redundancy found among the candidates.

    Parameters
    ----------
    scores : Scores
        Scores from 1 down to 0 for picked features: their contribution as a fraction of that of the first pick, never
        more than that of the pick before. Scores of at most 0, by relevance, for all others. If features must be kept,
        the fractions are those of the best candidate alone, and the features that must be kept do not limit the others.
    candidates : ndarray of shape (n_candidates,)
        Columns of the candidates, most relevant first.
    novelty : ndarray of shape (n_features,)
        Fraction of the variance that the nearest feature picked before does not explain; NaN if not a candidate.
    nearest : ndarray of shape (n_features,)
        Column of the nearest feature, the most correlated one among those picked before. -1 for the first pick, for a
        feature that is uncorrelated with all picks before it, and for features that are not candidates.
    correlation : ndarray of shape (n_features,)
        Correlation with the nearest feature; NaN if there is none.
    gain : ndarray of shape (n_features, n_classes) or None
        Decrease of the loss of each class when the feature was picked, as a fraction of the variance of the class.
    shape_gain : ndarray of shape (n_features, n_classes) or None
        Part of the gain that comes from the shape terms.
    effective_rank : float
        Effective number of directions that the candidates span.
    """

    scores: Scores
    candidates: Integers
    novelty: Floats
    nearest: Integers
    correlation: Floats
    gain: Floats | None
    shape_gain: Floats | None
    effective_rank: float


class PicksSubsets(PlannedSelector):
    """Base class of selectors that can pick features one at a time and avoid redundant ones."""

    candidates_: Integers
    novelty_: Floats
    nearest_: Integers
    nearest_correlation_: Floats

    relevance_: Floats
    redundancy: Any

    def _plan(self, classes: Classes) -> Plan[Scores]:
        statistics = yield from self._plan_relevance(classes)
        return (yield from self._plan_scores(classes, statistics))

    def _plan_relevance(self, classes: Classes) -> Plan[FeatureStatistics]:
        """Compute ``relevance_`` and return the statistics of the features."""
        raise NotImplementedError

    def _plan_scores(self, classes: Classes, statistics: FeatureStatistics) -> Plan[Scores]:
        """Score features by relevance and, if requested, redundancy."""
        raise NotImplementedError

    def _plan_joint_scores(
        self, labels: Mapping[int, Classes], statistics: Sequence[FeatureStatistics], all_rows: Classes
    ) -> Plan[Scores]:
        """Score features jointly for all labels of an indicator matrix.

        Parameters
        ----------
        labels : mapping of int to Classes
            The two classes of each informative label, by its column of the indicator matrix.
        statistics : sequence of FeatureStatistics
            Statistics of the features under each label.
        all_rows : Classes
            All rows as one class.

        Returns
        -------
        plan of Scores
            One score for each feature.
        """
        raise NotImplementedError

    def _plan_labels(self, labellings: Sequence[Classes], all_rows: Classes) -> Plan[Scores]:
        """Score the features for an indicator matrix.

        Each step reads the rows once, for all labels and for the joint picks together.
        """
        fitted = {label: self._clone_of_label(label) for label in self._informative_labels(labellings)}
        of_label = {label: labellings[label] for label in fitted}
        statistics = yield from together(
            [self._for_label(label, one._plan_relevance(of_label[label])) for label, one in fitted.items()]
        )
        self._average_relevance(list(fitted.values()))
        single = [
            self._for_label(label, one._plan_scores(of_label[label], of_features))
            for (label, one), of_features in zip(fitted.items(), statistics, strict=True)
        ]
        joint = self._plan_joint_scores(of_label, statistics, all_rows)
        *scores, joint_scores = yield from together([*single, joint])
        for one, scores_of_one in zip(fitted.values(), scores, strict=True):
            one._rank(scores_of_one)
        self._keep_labels(fitted, len(labellings))
        return joint_scores

    def _clone_of_label(self, label: int) -> Self:  # noqa: ARG002
        """Return an unfitted selector for one label of an indicator matrix."""
        return self._clone_for_label()

    def _average_relevance(self, fitted: list[Self]) -> None:
        """Set ``relevance_`` to the mean over the labels of an indicator matrix."""
        self.relevance_ = np.mean([one.relevance_ for one in fitted], axis=0)

    def _keep_subset(self, subset: PickedSubset) -> Scores:
        """Set the fitted attributes of the picks and return the scores."""
        self.candidates_, self.novelty_ = subset.candidates, subset.novelty
        self.nearest_, self.nearest_correlation_ = subset.nearest, subset.correlation
        if subset.gain is not None:
            self.gain_ = subset.gain
        if subset.shape_gain is not None:
            self.shape_gain_ = subset.shape_gain
        return subset.scores

    def families(
        self,
        top: int | None = None,
        *,
        at_least: float = STRONG_CORRELATION,
        input_features: Sequence[str] | None = None,
    ) -> dict[Any, dict[Any, float]]:
        """Group redundant features into families, each headed by one of the best features.

        Parameters
        ----------
        top : int, optional
            Number of best features to find the family of; by default the selected features.
        at_least : float, default=0.7
            Minimum absolute similarity of a feature to the head of its family, from 0 to 1.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.

        Returns
        -------
        dict of dicts
            For each of the best features, best first, the other members of its family, also best first, and their
            similarities to the head. Features are given by name, or by column index if they have no names or two have
            the same. The family of a feature does not depend on which others are asked for or selected: it has all
            features ranked later that repeat it. If the head is the nearest feature of a member, the similarity is
            their correlation. Otherwise it is the product of the correlations along the chain of nearest features from
            the member to the head. So a member may head a smaller family, all of which is in this one, too. Features
            that are not candidates are in no family.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from ilfs import ILFS
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> families = ILFS().fit(X, y).families(2)
        >>> list(families)
        ['worst concave points', 'worst radius']
        >>> for name, correlation in list(families["worst radius"].items())[:3]:
        ...     print(f"{name}: {correlation:.3f}")
        worst perimeter: 0.993
        worst area: 0.984
        mean radius: 0.966
        """
        check_is_fitted(self)
        check_within("at_least", at_least, 0, 1)
        if not hasattr(self, "nearest_"):
            raise ValueError(
                "families needs the correlations of features, which redundancy=None does not compute: fit with "
                "redundancy='gain' or redundancy='novelty'"
            )
        if top is not None:
            check_integer("top", top, 1)
        heads = self.order_[self.get_support()[self.order_]] if top is None else self.order_[:top]
        found = self._members(heads.tolist(), at_least)
        names = self._names(input_features).tolist()
        has_names = input_features is not None or hasattr(self, "feature_names_in_")
        if not has_names or len(set(names)) < len(names):
            return found
        return {names[head]: {names[one]: value for one, value in members.items()} for head, members in found.items()}

    def _members(self, heads: Sequence[int], at_least: float) -> dict[int, dict[int, float]]:
        """Return the other members of the families of some columns, and their similarities to the head."""
        members: dict[int, dict[int, float]] = {head: {} for head in heads}
        similar: dict[int, dict[int, float]] = {}  # column: the heads it is similar to, itself among them
        # Best first, so that the nearest feature of a column comes before the column.
        for column in self.order_.tolist():
            correlation = float(self.nearest_correlation_[column])
            above = {
                head: value * correlation
                for head, value in similar.get(int(self.nearest_[column]), {}).items()
                if abs(value * correlation) >= at_least
            }
            for head, value in above.items():
                members[head][column] = value
            if column in members:
                above[column] = 1.0
            if above:
                similar[column] = above
        return members

    def _facts(self, column: int, names: NDArray[Any]) -> dict[str, Any]:
        facts = super()._facts(column, names)
        if not hasattr(self, "nearest_"):
            return facts
        repeated = {
            str(names[one]): value for one, value in self._members([column], STRONG_CORRELATION)[column].items()
        }
        return facts | {"criterion": self.redundancy, "repeated_by": repeated}

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:
        more = super()._more_columns(names)
        if not hasattr(self, "nearest_"):
            return more
        nearest = np.where(self.nearest_ >= 0, names[self.nearest_], "")
        return more | {"novelty": self.novelty_, "nearest": nearest, "correlation": self.nearest_correlation_}


def check_redundancy(redundancy: Any, n_candidates: Any, choices: tuple[Any, ...] = ("gain", "novelty")) -> None:
    """Validate `redundancy` and `n_candidates`."""
    check_choice("redundancy", redundancy, choices)
    if n_candidates is not None and not (is_integer(n_candidates) and n_candidates >= 1):
        raise ValueError(f"n_candidates must be None (all features) or an integer >= 1, got {n_candidates!r}")


def most_relevant(
    relevance: Floats,
    usable: NDArray[np.bool_],
    n_candidates: int | None,
    tie_break: Floats | None = None,
    forced: Integers = NO_COLUMNS,
) -> Integers:
    """Choose the candidates: the most relevant usable features.

    Parameters
    ----------
    relevance : ndarray of shape (n_features,)
        Larger is better.
    usable : ndarray of bool of shape (n_features,)
        Informative features.
    n_candidates : int or None
        Maximum number of candidates; None means all usable features.
    tie_break : ndarray of shape (n_features,), optional
        Orders features with equal relevance, larger first.
    forced : ndarray of int, optional
        Columns that must be kept: if usable, they are candidates in any case.

    Returns
    -------
    ndarray of shape (n,)
        Column indices, best first.
    """
    order = relevance_order(relevance, usable, tie_break)[: np.count_nonzero(usable)]
    candidates, others = order[:n_candidates], order[order.size if n_candidates is None else n_candidates :]
    return np.concatenate([candidates, others[np.isin(others, forced)]])


def with_strong_shapes(
    candidates: Integers, shapes: ShapeAssociation | None, usable: NDArray[np.bool_], forced: Integers = NO_COLUMNS
) -> Integers:
    """Put features with a strong shape in the place of the least relevant candidates.

    Parameters
    ----------
    candidates : ndarray of shape (n_candidates,)
        Columns, most relevant first.
    shapes : ShapeAssociation or None
        Association of the shapes of all features with the classes; None if shapes are not used.
    usable : ndarray of bool of shape (n_features,)
        Informative features.
    forced : ndarray of int, optional
        Columns that must stay candidates.

    Returns
    -------
    ndarray of shape (n_candidates,)
        At most a fraction `SHAPE_CANDIDATES` of them are exchanged.
    """
    if shapes is None:
        return candidates
    is_new = usable & shapes.is_strong(int(np.count_nonzero(usable)))
    is_new[candidates] = False
    order = stable_order(np.where(is_new, shapes.explained, -1.0), None, UNIT_FLOOR, UNIT_FLOOR)
    new = order[: min(np.count_nonzero(is_new), int(SHAPE_CANDIDATES * candidates.size))]
    replaceable = candidates[~np.isin(candidates, forced)]
    replaced = replaceable[max(replaceable.size - new.size, 0) :]
    return np.concatenate([candidates[~np.isin(candidates, replaced)], new[: replaced.size]])


def relevance_order(relevance: Floats, usable: NDArray[np.bool_], tie_break: Floats | None) -> Integers:
    """Sort all columns by relevance, best first and unusable ones last."""
    largest = float(np.abs(relevance[usable]).max(initial=0.0))
    return stable_order(np.where(usable, relevance, -np.inf), tie_break, UNIT_FLOOR * largest, UNIT_FLOOR)


def association_with_labels(moments: Sequence[ClassMoments], classes: Collection[Classes]) -> Association:
    """Compute the association of features with every label of an indicator matrix.

    Parameters
    ----------
    moments : sequence of ClassMoments
        Moments of the features under each label, rows without the label being the first class.
    classes : collection of Classes
        The two classes of each label.

    Returns
    -------
    Association
        Correlations of each feature with each label. Labels may overlap, unlike classes, so samples are not balanced.
    """
    associations = [
        Association.from_moments(of_label, class_total=both.total)
        for of_label, both in zip(moments, classes, strict=True)
    ]
    correlation = np.column_stack([of_label.correlation[:, 1] for of_label in associations])
    return Association(associations[0].mean, associations[0].deviation, correlation, np.ones(1))


def shapes_of_labels(labels: Collection[Classes], statistics: Sequence[FeatureStatistics]) -> ShapeAssociation | None:
    """Compute the association of shapes with every label of an indicator matrix; None if shapes are not used."""
    each = [
        of_label.shape_association(np.ones(both.n_classes), both.total)
        for of_label, both in zip(statistics, labels, strict=True)
    ]
    used = [one for one in each if one is not None]
    return ShapeAssociation.over_labels(used) if used else None


def above_median(relevance: Floats, usable: NDArray[np.bool_]) -> Floats:
    """Scale relevance to [0, 1]: 0 at the median of the usable features and below it, 1 at the maximum.

    Most features of a wide table are uninformative, and their relevance is near the median. Without subtracting it,
    uncorrelated noise would be picked, because it has a high novelty and some relevance.
    """
    if not usable.any():
        return np.zeros_like(relevance)
    middle, largest = float(np.median(relevance[usable])), float(relevance[usable].max())
    rounding = RELATIVE_TOLERANCE * float(np.abs(relevance[usable]).max())
    if largest - middle <= rounding:  # at least half of the features tie for the maximum
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
    labelling: int | tuple[int, ...] = 0,
    forced: Integers = NO_COLUMNS,
    shapes: ShapeAssociation | None = None,
    products: ProductTerms | None = None,
) -> Plan[PickedSubset]:
    """Pick features one at a time, in one pass over the rows.

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
        Association of the candidates with the classes, and the weight of each class.
    tie_break : ndarray of shape (n_features,), optional
        Orders features with equal relevance, larger first.
    labelling : int or tuple of int, default=0
        Column of the indicator matrix that the classes belong to; or all columns for which features are picked, and
        then all rows are one class.
    forced : ndarray of int, optional
        Columns that must be kept. Those among the candidates are picked first.
    shapes : ShapeAssociation, optional
        Association of the shapes of the candidates with the classes. By default, the regression of ``"gain"`` has no
        shape terms.
    products : ProductTerms, optional
        Sets of features with a product term in the regression of ``"gain"``. Sets with a feature that is not a
        candidate are ignored.

    Returns
    -------
    plan of PickedSubset
        The candidates in the order in which they were picked; all other features follow by relevance.
    """
    first = np.flatnonzero(np.isin(candidates, forced))
    gains = None
    if how == "novelty":
        rho, _ = yield from correlations(candidates, association, labelling)
        with one_blas_thread():
            picks = novel_picks(above_median(relevance, usable)[candidates], rho, first)
    else:
        n_usable, n_samples = int(np.count_nonzero(usable)), effective_samples(classes, association.class_weight)
        columns = FurtherColumns.among(candidates, n_usable, association.correlation.shape[1], shapes, products)
        rho, regression = yield from read_regression(columns, candidates, association, labelling)
        with one_blas_thread():
            terms = regression.terms(n_usable, n_samples)
            ridge = regression.factor * ridge_of(n_usable, n_samples)
            picks, gains = picks_by_terms(regression.of_classes, rho, ridge, terms, regression.covariance, first)
    return expand_to_all_features(picks, gains, rho, candidates, relevance, usable, tie_break, shapes is not None)


def effective_samples(classes: Classes, class_weight: Floats) -> float:
    """Compute the effective sample size (Kish 1965): a larger weight of a rare class adds no information."""
    # (sum w)^2 / sum w^2 over the samples, where w = fraction / total for each sample of a class, so that sum w = 1.
    fraction = class_weight * classes.total / np.sum(class_weight * classes.total)
    return float(1.0 / np.sum(fraction**2 / classes.total))


def expand_to_all_features(
    picks: Picks,
    gains: Gains | None,
    rho: Floats,
    candidates: Integers,
    relevance: Floats,
    usable: NDArray[np.bool_],
    tie_break: Floats | None,
    has_shapes: bool,
) -> PickedSubset:
    """Expand results for the candidates to all features."""
    n_features = relevance.size
    picked = candidates[picks.order]
    values = below_zero(relevance, usable)
    values[picked] = picks.value
    by_relevance = relevance_order(relevance, usable, tie_break)
    order = np.concatenate([picked, by_relevance[~np.isin(by_relevance, picked)]])
    novelty, correlation, nearest = np.full(n_features, np.nan), np.full(n_features, np.nan), np.full(n_features, -1)
    novelty[candidates] = picks.novelty
    has_nearest = picks.nearest >= 0
    nearest[candidates[has_nearest]] = candidates[picks.nearest[has_nearest]]
    correlation[candidates[has_nearest]] = rho[np.flatnonzero(has_nearest), picks.nearest[has_nearest]]
    gain, shape_gain = None, None
    if gains is not None:
        gain, shape_gain = np.zeros((2, n_features, gains.total.shape[1]))
        gain[candidates], shape_gain[candidates] = gains.total, gains.of_shapes
    if not has_shapes:
        shape_gain = None
    scores = Scores.along(order, values, picks.n_forced)
    return PickedSubset(scores, candidates, novelty, nearest, correlation, gain, shape_gain, effective_rank(rho))


def below_zero(relevance: Floats, usable: NDArray[np.bool_]) -> Floats:
    """Scale relevance to [-1, 0], with 0 at the maximum and -1 for uninformative features."""
    if not usable.any():
        return np.full(relevance.size, -1.0)
    least, largest = float(relevance[usable].min()), float(relevance[usable].max())
    span = largest - least
    scaled = (relevance - largest) / span if span > 0 else np.zeros_like(relevance)
    return np.where(usable, scaled, -1.0)
