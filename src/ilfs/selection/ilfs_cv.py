"""Parameters of ILFS by cross-validation, with one reading of the statistics for all candidates of a fold.

The paper names the validation over several numbers of intervals T as future work. Moments do not depend on T, evidence
or topics, token counts do not depend on the topics. So a fold reads its training rows once for the moments, once for
the token counts of all pairs of T and evidence, and once for the correlations of the features that any candidate picks
from.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress, product
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import clone

from ilfs.arrays import Floats, Integers
from ilfs.cross_validation import Rule, Samples, SizeEvaluator, Split, good_enough, results_table
from ilfs.execution import Plan, Read, ask, both, fold_of, run_plan, together
from ilfs.methods.ilfs import ILFS
from ilfs.permutations import without_warnings
from ilfs.selection.search import CrossValidationSearch
from ilfs.selector import Scores
from ilfs.sources import table_source
from ilfs.statistics import Association, Classes, Moments, Products, ProductTerms, ShapeColumns, Terms

T = TypeVar("T")

SEARCHED = ("n_tokens", "evidence", "topics")


class ILFSCV(CrossValidationSearch):
    """ILFS with number of tokens, evidence, topics and number of features chosen by cross-validation.

    All combinations are compared. Each fold reads its training rows three times, for all combinations together, instead
    of three times for each. As in `SizeCV`, features are selected inside the folds. The score of the choice is
    slightly optimistic, because it was chosen among many: to report it, evaluate `ILFSCV` on other rows.

    All rows must be in memory.

    Parameters
    ----------
    n_tokens : sequence of int, default=(4, 6, 8, 12)
        Numbers of tokens to compare.
    evidence : sequence of {"posterior", "distance", "distance_sum"}, default=("posterior", "distance")
        Kinds of evidence to compare.
    topics : sequence of {"shrunk", "anchored", "learned"}, default=("shrunk", "anchored")
        Estimations of the topics to compare.
    selector : ILFS, optional
        Gives the other parameters; ``ILFS()`` by default. Its own tokens, evidence and topics are the simplest
        configuration of the rule ``"one_se"``.
    estimator : estimator, optional
        Model whose performance is measured. By default a linear SVM on standardised features; missing values, if there
        are any, are replaced by the mean of their feature.
    sizes : sequence of int, optional
        Numbers of features to compare. By default about twelve sizes, from 1 to the number of features but at most 500,
        each a constant factor larger than the one before, up to rounding.
    scoring : str or callable, optional
        Metric, as in `sklearn.model_selection.cross_val_score`. By default the ``score`` method of the estimator:
        accuracy, for a classifier.
    cv : int, splitter or iterable of splits, optional
        Folds, as in `SizeCV`; by default 5 stratified, shuffled folds.
    rule : {"one_se", "best"}, default="one_se"
        Choice among all combinations of parameters and sizes. ``"one_se"``: of those whose mean score is within one
        standard error of the best, the parameters that differ least from those of ``selector``, and then the smallest
        size. ``"best"``: the best mean score; among equal ones the same rule.
    random_state : int, numpy.random.Generator, RandomState instance or None, default=0
        Seed of the default folds and of the default estimator. A generator gives one integer, which seeds both.
    n_jobs : int, default=None
        Number of folds that are computed at the same time, in processes; the result does not depend on it. None means 1
        unless in a `joblib.parallel_config` context, -1 means all processors.

    Attributes
    ----------
    best_params_ : dict
        ``n_tokens``, ``evidence`` and ``topics`` that were chosen.
    n_features_ : int
        The number of features that was chosen.
    best_score_ : float
        Mean score of the choice over the folds.
    cv_results_ : dict of str to ndarray
        A table with a row for each combination of parameters and size, for example for `pandas.DataFrame`:
        ``n_tokens``, ``evidence``, ``topics``, ``n_features``, ``mean_test_score``, ``std_error`` (standard error of
        the mean over the folds; NaN for one fold) and ``split0_test_score``, ``split1_test_score``, ...
    selector_ : ILFS
        The selector with the chosen parameters, fitted on all rows.
    order_ : ndarray of shape (n_features,)
        Column indices by this selector, best first. The first ``n_features_`` of them are selected.
    ranking_ : ndarray of shape (n_features,)
        Rank of each feature; 1 is the best.
    scores_ : ndarray of shape (n_features,)
        Scores of the features by this selector.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all of them are strings.

    Notes
    -----
    With ``redundancy="gain"``, the relevance only determines the candidates. So on tables with no more features than
    ``n_candidates`` all combinations give nearly the same order, and there is little to choose from.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ilfs import ILFS
    >>> from ilfs.selection import ILFSCV
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> search = ILFSCV(n_tokens=(2, 6, 12), selector=ILFS(redundancy=None), sizes=[2, 4, 8], rule="best").fit(X, y)
    >>> search.best_params_, search.n_features_
    ({'n_tokens': 6, 'evidence': 'posterior', 'topics': 'shrunk'}, 8)
    """

    def __init__(
        self,
        n_tokens: Sequence[int] = (4, 6, 8, 12),
        evidence: Sequence[str] = ("posterior", "distance"),
        topics: Sequence[str] = ("shrunk", "anchored"),
        *,
        selector: ILFS | None = None,
        estimator: Any = None,
        sizes: Sequence[int] | None = None,
        scoring: Any = None,
        cv: Any = None,
        rule: Rule = "one_se",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_tokens = n_tokens
        self.evidence = evidence
        self.topics = topics
        self.selector = selector
        self.estimator = estimator
        self.sizes = sizes
        self.scoring = scoring
        self.cv = cv
        self.rule = rule
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, groups: Any = None, **fit_params: Any) -> Self:
        """Find the parameters and the number of features, and rank the features on all rows.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            Numbers, in memory; NaN is a missing value.
        y : array of shape (n_samples,) or (n_samples, n_labels)
            Class of every sample, or an indicator matrix.
        groups : array of shape (n_samples,), optional
            Group of every sample, such as the donor of a cell, for the splitter.
        **fit_params : dict
            ``sample_weight``, the weight of each row. It also goes to the estimator and the metric, as in `SizeCV`.

        Returns
        -------
        ILFSCV
            The fitted search.
        """
        if unknown := sorted(set(fit_params) - {"sample_weight"}):
            raise TypeError(f"fit takes X, y, groups and sample_weight, got {unknown[0]!r}")
        return super().fit(X, y, groups, **fit_params)

    def _wrapped(self) -> list[Any]:
        return [ILFS() if self.selector is None else self.selector]

    def _candidates(self) -> list[dict[str, Any]]:
        """Return all combinations of parameters, those that differ least from the selector's own first."""
        own = self._wrapped()[0].get_params()
        grid = product(*(dict.fromkeys(getattr(self, name)) for name in SEARCHED))
        candidates = [dict(zip(SEARCHED, values, strict=True)) for values in grid]
        return sorted(candidates, key=lambda one: sum(one[name] != own[name] for name in SEARCHED))

    def _fold_function(self) -> Callable[..., Floats]:
        plain = self._wrapped()[0]._clone_for_folds()
        return partial(configuration_scores, plain, self._candidates())

    def _choose(self, sizes: Integers, scores: Floats) -> Any:
        candidates = self._candidates()
        rows = {name: np.repeat([one[name] for one in candidates], sizes.size) for name in SEARCHED}
        rows["n_features"] = np.tile(sizes, len(candidates))
        self.cv_results_ = results_table(rows, scores.reshape(len(scores), -1))
        # The first row that is good enough has the simplest parameters, and of these the smallest size.
        mean = self.cv_results_["mean_test_score"]
        chosen = int(np.argmax(good_enough(mean, self.cv_results_["std_error"], self.rule)))
        self.best_params_, self.best_score_ = candidates[chosen // sizes.size], float(mean[chosen])
        self.n_features_ = int(rows["n_features"][chosen])
        return clone(self._wrapped()[0]).set_params(**self.best_params_)

    def _check_parameters(self) -> None:
        if self.selector is not None and not isinstance(self.selector, ILFS):
            raise ValueError(f"selector must be an ILFS or None, got {self.selector!r}")
        super()._check_parameters()
        for name in SEARCHED:
            values = getattr(self, name)
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or not len(values):
                raise ValueError(f"{name} must be a list of values to compare, got {values!r}")
        for parameters in self._candidates():
            clone(self._wrapped()[0]).set_params(**parameters)._check_parameters()


def configuration_scores(
    plain: ILFS,
    candidates: Sequence[dict[str, Any]],
    evaluator: SizeEvaluator,
    samples: Samples,
    split: Split,
    fit_params: dict[str, Any],  # noqa: ARG001
) -> Floats:
    """Score all candidates in one fold.

    Parameters
    ----------
    plain : ILFS
        Gives the parameters that are not searched.
    candidates : sequence of dict
        Values of the searched parameters.
    evaluator : SizeEvaluator
        Scores orders of features.
    samples : Samples
        All rows.
    split : tuple of two ndarrays
        Training rows and test rows.
    fit_params : dict
        Not used: weights are part of the samples.

    Returns
    -------
    ndarray of shape (n_candidates, n_sizes)
        One score for each candidate and size.
    """
    train, test = (samples.take(rows) for rows in split)
    selectors = [clone(plain).set_params(**parameters) for parameters in candidates]
    return evaluator.scores(orders_of(selectors, train), train, test)


def orders_of(selectors: Sequence[ILFS], samples: Samples) -> list[Integers]:
    """Fit several selectors that differ in `SEARCHED` parameters, in the same reads, and return their orders."""
    if selectors[0].interactions:  # the search needs the rows themselves
        with without_warnings():
            return [one.fit(samples.X, samples.y, samples.weight).order_ for one in selectors]
    fold = fold_of(table_source(samples.X, samples.y, samples.weight), selectors[0].n_jobs)
    for one in selectors:
        one.n_features_in_ = fold.n_features
    if len(fold.labellings) > 1:
        plan = together([one._plan_labels(fold.labellings, fold.all_rows) for one in selectors])
    else:
        plan = plan_configurations(selectors, fold.classes)
    with without_warnings():  # the fit on all rows warns
        return [scores.order() for scores in run_plan(plan, fold)]


def plan_configurations(selectors: Sequence[ILFS], classes: Classes) -> Plan[list[Scores]]:
    """Score the features by several selectors: moments once, tokens once for each number of tokens and evidence."""
    moments = (yield from ask(Moments())).checked()
    by_tokens: dict[tuple[int, str], list[ILFS]] = {}
    for one in selectors:
        by_tokens.setdefault((one.n_tokens, one.evidence), []).append(one)
    counts, statistics = yield from both(
        together([ask(alike[0]._tokens(moments)) for alike in by_tokens.values()]),
        selectors[0]._plan_shapes(moments),  # they do not depend on the parameters that differ
    )
    for alike, tokens in zip(by_tokens.values(), counts, strict=True):
        for one in alike:
            one._learn_relevance(classes, moments, tokens)
    return (yield from with_shared_products(together([one._plan_scores(classes, statistics) for one in selectors])))


def with_shared_products(plan: Plan[T]) -> Plan[T]:
    """Run a plan, and answer requests for products that it makes at the same time by one for all of their columns."""
    answers = None
    while True:
        try:
            reads = plan.send(answers)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        asks_products = [isinstance(read.description, Products | Terms) for read in reads]
        joint = JointProducts.from_reads(list(compress(reads, asks_products))) if any(asks_products) else None
        if joint is None or not joint.saves_work:  # the candidates have little in common
            answers = yield reads
            continue
        others = [read for read, is_product in zip(reads, asks_products, strict=True) if not is_product]
        products, *of_others = yield [Read(joint.description, joint.columns), *others]
        left = iter(of_others)
        answers = [
            joint.part(products, read) if is_product else next(left)
            for read, is_product in zip(reads, asks_products, strict=True)
        ]


@dataclass(frozen=True)
class JointProducts:
    """One request for products that answers several.

    Parameters
    ----------
    columns : ndarray of int
        All columns that are requested, in ascending order.
    shaped : ndarray of int
        Those of them whose shapes are requested, in ascending order.
    description : Products or Terms
        Description of their products.
    saves_work : bool
        True if there are fewer products than in all requests together.
    """

    columns: Integers
    shaped: Integers
    description: Any
    saves_work: bool

    @classmethod
    def from_reads(cls, reads: Sequence[Read[Any]]) -> Self:
        """Combine requests for products, with or without shapes but without sets of features."""
        wanted = [np.asarray(read.columns) for read in reads]
        columns, first = np.unique(np.concatenate(wanted), return_index=True)
        descriptions: list[Any] = [read.description for read in reads]
        association = joined([one.association for one in descriptions], first)
        some = [(one, of) for one, of in zip(wanted, descriptions, strict=True) if isinstance(of, Terms)]
        shaped, shapes = joint_shapes(some, columns)
        description = Terms(association, shapes, ProductTerms.none()) if some else Products(association)
        separate = sum(one.size**2 for one in wanted)
        separate += sum((one.size + of.shapes.features.size) ** 2 - one.size**2 for one, of in some)
        has_sets = any(len(of.products.columns) for _, of in some)
        return cls(columns, shaped, description, (columns.size + shaped.size) ** 2 <= separate and not has_sets)

    def part(self, products: Any, read: Read[Any]) -> Any:
        """Return the answer to one of the requests."""
        wanted, description = np.asarray(read.columns), read.description
        features = np.searchsorted(self.columns, wanted)
        if not isinstance(description, Terms):
            return products.take(features)
        return products.take_terms(features, np.searchsorted(self.shaped, wanted[description.shapes.features]))


def joined(associations: Sequence[Association], first: Integers) -> Association:
    """Concatenate associations, and return those of some of the features."""
    mean, deviation, correlation = (
        np.concatenate([getattr(one, name) for one in associations])[first]
        for name in ("mean", "deviation", "correlation")
    )
    return Association(mean, deviation, correlation, associations[0].class_weight)


def joint_shapes(some: Sequence[tuple[Integers, Terms]], columns: Integers) -> tuple[Integers, ShapeColumns]:
    """Return all columns whose shapes are requested, in ascending order, and their shapes."""
    if not some:
        return np.empty(0, np.int64), ShapeColumns.none()
    shaped, first = np.unique(np.concatenate([wanted[of.shapes.features] for wanted, of in some]), return_index=True)
    centre, scale, mean, deviation = (
        np.concatenate([getattr(of.shapes, name) for _, of in some])[first]
        for name in ("centre", "scale", "mean", "deviation")
    )
    return shaped, ShapeColumns(np.searchsorted(columns, shaped), centre, scale, mean, deviation)
