r"""Comparison of methods on one table: which one to use.

Each method is fitted once on all rows, for its ranking and its time, and once in each fold, on the training rows. On
the first :math:`k` features of its order there, classifiers are trained and scored on the test rows, for several
:math:`k`. So selection is inside the folds, and all methods see the same folds. Features drawn at random are the
baseline.

The difference of two methods is their mean metric over all sizes, paired by fold. It is tested by the corrected
resampled t-test of Nadeau and Bengio (`ilfs.paired_tests`). Three questions are asked, each with its own correction for
several tests: which methods differ (Holm, all pairs), which are better than random features (Holm), and which are worse
than the best one (`ilfs.selection.comparison.Verdict`).

Folds of one table share their rows. The correction for this is approximate, and no test on one table tells which method
is better on others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.choices import DEFAULT_HALF_SAMPLES, DEFAULT_REPEATS
from ilfs.cross_validation import SEED_BITS, Samples
from ilfs.fitted import order_of
from ilfs.methods.novelty import takes_weight
from ilfs.one_line import reason_of
from ilfs.paired_tests import corrected_t_test, holm
from ilfs.parameters import check_integer, is_boolean, is_integer
from ilfs.registry import classes_with, method_of
from ilfs.selection.comparison import RANDOM_BASELINE, Comparison, LeftOut, MethodStability, PairTest
from ilfs.selection.performance import Folds, class_counts, numbered, repeated_splits
from ilfs.selection.resampling import stability as measure_stability
from ilfs.selection.wrapping import WrapsSelectors, as_selector, ranking_clone, ranking_of
from ilfs.selector import RankingSelector, Scores
from ilfs.sources import Source, TableSource
from ilfs.sources.tables import table_source
from ilfs.validation import check_n_jobs

DEFAULT_TOP = 20  # best features for overlap and stability
MIN_FEATURES_FOR_TOP = 100  # with fewer features, a fifth of them are compared
MAX_SECONDS_TIMED_TWICE = 5.0  # the first fit of a method may load compiled code
TRAINING_SECONDS = 0.004  # rough time to train and score a classifier, for the estimate of the time left


@dataclass(frozen=True)
class CompareProgress:
    """Progress of a comparison.

    Parameters
    ----------
    fraction : float
        Fraction of the work that is done.
    doing : str
        Description of the next step.
    """

    fraction: float
    doing: str


@dataclass(frozen=True)
class Ranked:
    """A method that was fitted on all rows: its order, its time, and the selector for fits on some rows."""

    name: str
    selector: Any
    order: Integers
    seconds: float


def compare(
    selectors: Any,
    X: Any,
    y: Any = None,
    *,
    sizes: Sequence[int] | None = None,
    cv: Any = 5,
    n_repeats: int = DEFAULT_REPEATS,
    classifiers: Any = None,
    scoring: Any = None,
    k: int | None = None,
    stability: bool | int = True,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Callable[[CompareProgress], None] | None = None,
) -> Comparison:
    """Compare methods on one table: rankings, agreement, performance, stability and time.

    A method that cannot take the table, because it has missing values for example, is left out, with the reason in the
    result. All rows must be in memory.

    Parameters
    ----------
    selectors : list of str or estimators, or mapping of str to them
        Names of methods such as ``"fisher"``, or selectors that have ``order_``, ``ranking_`` or ``scores_`` after
        fitting; a mapping gives them names. Their own numbers of features are not used.
    X : array, data frame, sparse matrix or source
        The table, in memory.
    y : array of shape (n_samples,), or str, optional
        Class of every sample, or the name of a column. Methods that read no labels are allowed; the classifiers need
        the classes in any case.
    sizes : sequence of int, optional
        Numbers of features. By default about twelve, from 1 to the number of features but at most 500.
    cv : int, splitter or iterable of splits, default=5
        Folds. An integer is a number of stratified, shuffled folds; if ``groups`` are given, the rows of a group are in
        the same fold.
    n_repeats : int, default=2
        Number of divisions of the rows into folds, if ``cv`` is an integer. Repetition r has the seed
        ``random_state + r``.
    classifiers : list of estimators, or mapping of str to them, optional
        Classifiers. By default a linear SVM and the k nearest neighbours (k = 5), both on standardised features;
        missing values are replaced by the mean of their feature in the training rows.
    scoring : str or callable, optional
        Metric, as in `sklearn.model_selection.cross_val_score`; accuracy by default.
    k : int, optional
        Number of best features for overlap and stability. By default 20, or a fifth of the features if there are fewer
        than 100.
    stability : bool or int, default=True
        Whether to measure the stability of the ``k`` best features, or an even number of half-samples (20 by default).
    groups : array of shape (n_samples,), optional
        Group of each row, such as its donor.
    sample_weight : array of shape (n_samples,), optional
        Weight of each row, for methods and classifiers; methods that take none are left out.
    random_state : int, numpy.random.Generator, RandomState instance or None, default=0
        Seed of folds, classifiers, half-samples and random features.
    n_jobs : int, optional
        Number of processes. The result does not depend on it.
    progress : callable, optional
        Called with a `CompareProgress` before each step.

    Returns
    -------
    Comparison
        Plain data. `ilfs.report.comparison_text` formats it.

    See Also
    --------
    ilfs.report.write_comparison_page : The result as a page.
    ilfs.selection.SizeCV : The number of features of one method.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ilfs.selection import compare
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = compare(["ilfs", "fisher"], X, y, sizes=[2, 5, 10], n_repeats=1, stability=False)
    >>> found
    Comparison of ilfs, fisher on 569 rows x 30 features, 5 folds
    >>> found.mean[:, 0].round(2).tolist()
    [[0.94, 0.96, 0.97], [0.93, 0.96, 0.96], [0.8, 0.91, 0.96]]
    >>> found.verdict("linear SVM").best
    'ilfs'
    """
    named = named_selectors(selectors)
    n_resamples = check_options(n_repeats, stability, n_jobs)
    seed = integer_seed(random_state)
    work = Work(progress)
    with ComparedSelectors(list(named.values())).opened_table(X, y, sample_weight) as (source, to_fit):
        samples = Samples.from_source(source)
        top = check_top(k, source.n_features)
        splits = repeated_splits(cv, n_repeats, samples, groups, seed)
        folds = Folds.for_samples(samples, splits, classifiers, scoring, sizes, seed)
        ranked, left_out = rank_on_all_rows(dict(zip(named, to_fit, strict=True)), source, work)
        work.plan(planned_seconds(ranked, folds, n_resamples))
        scores, every, failed = score_in_folds(ranked, folds, n_jobs, work)
        ranked = [one for one in ranked if one.name in scores]
        refuse_none(ranked, left_out + failed)
        measured = stabilities(ranked, source, n_resamples, top, groups, seed, n_jobs, work)
    return Comparison(
        feature_names=np.array(source.feature_names, dtype=object),
        classes=class_counts(samples.y, samples.weight),
        left_out=tuple(left_out + failed),
        random_state=seed,
        is_grouped=groups is not None,
        metric=metric_name(scoring),
        **division_fields(folds, n_repeats if is_integer(cv) else 1),
        **ranking_fields(ranked, top),
        **score_fields([*(one.name for one in ranked), RANDOM_BASELINE], folds, scores, every),
        **stability_fields(measured, n_resamples),
    )


def division_fields(folds: Folds, n_repeats: int) -> dict[str, Any]:
    """Return the fields of a `Comparison` that describe the folds."""
    n_train, n_test = folds.rows
    n_folds = len(folds.splits) // n_repeats
    return {"n_train": n_train, "n_test": n_test, "n_folds": n_folds, "n_repeats": n_repeats}


def ranking_fields(ranked: list[Ranked], k: int) -> dict[str, Any]:
    """Return the fields of a `Comparison` that come from the fits on all rows."""
    rankings = np.array([ranking_of(one.order) for one in ranked])
    return {
        "methods": tuple(one.name for one in ranked),
        "selectors": tuple(code_of(one.selector) for one in ranked),
        "rankings": rankings,
        "seconds": np.array([one.seconds for one in ranked]),
        "k": k,
        "spearman": spearman_matrix(rankings),
        "kendall": kendall_matrix(rankings),
        "overlap": overlap_matrix(rankings, k),
    }


def score_fields(names: list[str], folds: Folds, scores: dict[str, Floats], every: Floats) -> dict[str, Any]:
    """Return the fields of a `Comparison` that come from the folds, with the tests of the differences."""
    values = np.array([scores[name] for name in names])
    classifiers = tuple(folds.evaluators)
    return {
        "classifiers": classifiers,
        "sizes": folds.sizes,
        "scores": values,
        "all_features": every,
        "tests": pair_tests(names, classifiers, values, *folds.rows),
    }


def stability_fields(measured: list[MethodStability | str | None], n_resamples: int) -> dict[str, Any]:
    """Return the fields of a `Comparison` that come from the half-samples."""
    return {
        "stability": tuple(one if isinstance(one, MethodStability) else None for one in measured),
        "notes": tuple(note for note in measured if isinstance(note, str)),
        "n_resamples": n_resamples,
    }


class ComparedSelectors(WrapsSelectors):
    """Selectors whose table is validated once for all of them; each may still refuse it.

    Parameters
    ----------
    selectors : list of estimators
        The selectors.
    """

    _takes_sparse = True
    _takes_missing = True
    _reads_labels = True
    n_jobs = None

    def __init__(self, selectors: list[Any]) -> None:
        self.selectors = selectors

    def _wrapped(self) -> list[Any]:
        return self.selectors

    def _score_stream(self, source: Source) -> Scores:  # noqa: ARG002
        raise TypeError(
            "compare needs all rows in memory, since it fits methods on several sets of rows: load the table if it "
            f"fits, or rank it by a method that reads rows in blocks ({classes_with('streams')})"
        )

    @contextmanager
    def opened_table(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[TableSource, list[Any]]]:
        """Validate a table; yield it with the names of its columns, and the selectors to fit on its matrix."""
        with self._opened(X, y, sample_weight) as opened:
            source = self._in_memory(opened)
            if len(source.labellings) > 1:
                raise ValueError(
                    f"compare takes one class for each row, got an indicator matrix of {len(source.labellings)} "
                    "labels: compare one label at a time"
                )
            if source.n_features < 2:
                raise ValueError(f"compare needs two features or more to rank, got {source.n_features}")
            names = [str(name) for name in self._names(None)]
            yield table_source(source.to_matrix(), source.y, source.sample_weight, names), self._to_fit()


@dataclass
class Work:
    """Progress of a comparison: report each step before it begins."""

    progress: Callable[[CompareProgress], None] | None
    total: float = 0.0  # seconds, as far as they are known
    done: float = 0.0

    def plan(self, seconds: float) -> None:
        """Set the expected time of all further steps."""
        self.total, self.done = seconds, 0.0

    def report(self, doing: str, finished: float = 0.0) -> None:
        """Report the next step, after one that was expected to take some seconds."""
        self.done += finished
        if self.progress is not None:
            self.progress(CompareProgress(min(self.done / self.total, 1.0) if self.total else 0.0, doing))


def planned_seconds(ranked: list[Ranked], folds: Folds, n_resamples: int) -> float:
    """Estimate the time of the folds and half-samples from the times of the fits on all rows."""
    of_fits = sum(one.seconds for one in ranked)
    of_training = (len(ranked) + 1) * folds.n_trained * TRAINING_SECONDS
    return len(folds.splits) * (of_fits + of_training) + n_resamples / 2 * of_fits


# Options


def named_selectors(selectors: Any) -> dict[str, Any]:
    """Make the selectors, and name them: by the mapping, the name given, or the method or class.

    Examples
    --------
    >>> from ilfs import ILFS
    >>> from ilfs.selection.comparing import named_selectors
    >>> list(named_selectors(["mi", ILFS(), ILFS(n_tokens=4)]))
    ['mi', 'ilfs', 'ilfs (2)']
    """
    if isinstance(selectors, Mapping):
        named = {str(name): as_selector(one, "each of the selectors") for name, one in selectors.items()}
    else:
        listed = list(selectors) if isinstance(selectors, list | tuple | np.ndarray) else [selectors]
        given = [one for one in listed if isinstance(one, str)]
        if repeated := [name for place, name in enumerate(given) if name in given[:place]]:
            raise ValueError(f"selectors must be different, got {repeated[0]!r} twice")
        made = [as_selector(one, "each of the selectors") for one in listed]
        names = [one if isinstance(one, str) else method_name(one) for one in listed]
        named = dict(zip(numbered(names), made, strict=True))
    if not named or RANDOM_BASELINE in named:
        what = f"a name other than {RANDOM_BASELINE!r}, the baseline" if named else "at least one method"
        raise ValueError(f"selectors must have {what}, got {list(named)}")
    return named


def method_name(selector: Any) -> str:
    """Return the short name of a method, or the class of another selector."""
    method = method_of(type(selector))
    return type(selector).__name__ if method is None else method.name


def check_options(n_repeats: Any, stability: Any, n_jobs: Any) -> int:
    """Validate options; return the number of half-samples, 0 for none."""
    check_integer("n_repeats", n_repeats, 1)
    check_n_jobs(n_jobs)
    if is_boolean(stability):
        return DEFAULT_HALF_SAMPLES if stability else 0
    if not is_integer(stability) or stability < 2 or stability % 2:
        raise ValueError(f"stability must be True, False or an even number of half-samples, got {stability!r}")
    return int(stability)


def check_top(k: Any, n_features: int) -> int:
    """Return the number of best features to compare, by default 20 or a fifth of all."""
    if k is None:
        return DEFAULT_TOP if n_features >= MIN_FEATURES_FOR_TOP else max(1, n_features // 5)
    check_integer("k", k, 1)
    if k >= n_features:
        raise ValueError(f"k must be less than the number of features, {n_features}, got {k}")
    return int(k)


def integer_seed(random_state: Any) -> int:
    """Return the seed itself, or an integer drawn from a generator; None draws one from the system."""
    if is_integer(random_state) and random_state >= 0:
        return int(random_state)
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**SEED_BITS))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**SEED_BITS - 1))
    raise ValueError(f"random_state must be an integer >= 0, a generator or None, got {random_state!r}")


def metric_name(scoring: Any) -> str:
    """Return the name of the metric; the method ``score`` of classifiers is their accuracy."""
    if scoring is None:
        return "accuracy"
    return scoring if isinstance(scoring, str) else str(getattr(scoring, "__name__", type(scoring).__name__))


def code_of(selector: Any) -> str:
    """Format a selector as code in one line."""
    return " ".join(repr(selector).split())


# Fits on all rows


def rank_on_all_rows(named: dict[str, Any], source: TableSource, work: Work) -> tuple[list[Ranked], list[LeftOut]]:
    """Fit each method on all rows; leave out those that cannot take the table."""
    ranked, left_out = [], []
    for name, selector in named.items():
        work.report(f"{name}: all rows")
        try:
            ranked.append(ranked_on(name, selector, source))
        except Exception as error:  # a method may fail in any way, and the others are still compared
            left_out.append(LeftOut(name, reason_of(error)))
    refuse_none(ranked, left_out)
    return ranked, left_out


def refuse_none(ranked: list[Ranked], left_out: list[LeftOut]) -> None:
    """Raise if no method is left."""
    if not ranked:
        raise ValueError(f"no method takes the table; {left_out[0].name}: {left_out[0].reason}")


def ranked_on(name: str, selector: Any, source: TableSource) -> Ranked:
    """Fit a method on all rows, and take the time; a short fit is timed twice, since the first loads compiled code."""
    plain = ranking_clone(selector)
    fitted, seconds = timed_fit(plain, source)
    if seconds < MAX_SECONDS_TIMED_TWICE:
        fitted, again = timed_fit(plain, source)
        seconds = min(seconds, again)
    return Ranked(name, plain, np.asarray(order_of(fitted), dtype=np.int64), seconds)


def timed_fit(selector: Any, source: TableSource) -> tuple[Any, float]:
    """Fit a copy of a selector on a table; return it and the time."""
    one = ranking_clone(selector)
    begun = perf_counter()
    if isinstance(one, RankingSelector):
        one.fit(source)
        return one, perf_counter() - begun
    if source.sample_weight is not None and not takes_weight(one):
        raise TypeError(f"{type(one).__name__} takes no weights, but the table has weights of its rows")
    samples = Samples.from_source(source)
    weight = {} if samples.weight is None else {"sample_weight": samples.weight}
    one.fit(samples.X, samples.y, **weight)
    return one, perf_counter() - begun


# Fits in the folds


def score_in_folds(
    ranked: list[Ranked], folds: Folds, n_jobs: int | None, work: Work
) -> tuple[dict[str, Floats], Floats, list[LeftOut]]:
    """Score all methods, the baseline and all features in all folds.

    Returns
    -------
    scores : dict of str to ndarray of shape (n_classifiers, n_folds, n_sizes)
        Scores of the methods that could be fitted in all folds, and of the baseline.
    every : ndarray of shape (n_classifiers, n_folds)
        Scores of all features.
    failed : list of LeftOut
        Methods whose fit failed in a fold.
    """
    names = [*(one.name for one in ranked), RANDOM_BASELINE, "all features"]
    seconds = [*(one.seconds for one in ranked), 0.0, 0.0]
    n_folds = len(folds.splits)
    found: dict[str, list[Any]] = {name: [] for name in names}
    results = folds.run([one.selector for one in ranked], n_jobs)
    work.report(f"fold 1 of {n_folds}: {names[0]}")
    for number, result in enumerate(results):
        fold, place = divmod(number, len(names))
        found[names[place]].append(result)
        following = min(fold + (place + 1) // len(names), n_folds - 1)
        trained = folds.n_trained * TRAINING_SECONDS if place < len(names) - 1 else 0.0
        work.report(f"fold {following + 1} of {n_folds}: {names[(place + 1) % len(names)]}", seconds[place] + trained)
    every = np.array(found.pop("all features"))[:, :, 0].T
    failed = [LeftOut(name, first_failure(of_folds)) for name, of_folds in found.items() if first_failure(of_folds)]
    scores = {
        name: np.array(of_folds).swapaxes(0, 1) for name, of_folds in found.items() if not first_failure(of_folds)
    }
    return scores, every, failed


def first_failure(of_folds: list[Any]) -> str:
    """Return the reason of the first fold in which a fit failed, empty if there is none."""
    return next((f"fold {i + 1}: {one}" for i, one in enumerate(of_folds) if isinstance(one, str)), "")


# Half-samples


def stabilities(
    ranked: list[Ranked],
    source: TableSource,
    n_resamples: int,
    k: int,
    groups: Any,
    seed: int,
    n_jobs: int | None,
    work: Work,
) -> list[MethodStability | str | None]:
    """Measure the stability of each method; a sentence where that fails, None if there are no half-samples."""
    found: list[MethodStability | str | None] = []
    finished = 0.0
    for one in ranked:
        work.report(f"stability of {one.name}", finished)
        found.append(stability_of(one, source, n_resamples, k, groups, seed, n_jobs) if n_resamples else None)
        finished = n_resamples / 2 * one.seconds
    return found


def stability_of(
    one: Ranked, source: TableSource, n_resamples: int, k: int, groups: Any, seed: int, n_jobs: int | None
) -> MethodStability | str:
    """Measure the stability of a method, or tell why that fails."""
    options: dict[str, Any] = {"groups": groups, "random_state": seed, "n_jobs": n_jobs}
    try:
        if isinstance(one.selector, RankingSelector):
            found = measure_stability(one.selector, source, None, n_resamples, k, **options)
        else:
            samples = Samples.from_source(source)
            options["sample_weight"] = samples.weight
            found = measure_stability(one.selector, samples.X, samples.y, n_resamples, k, **options)
    except Exception as error:  # the rest of the comparison is still of use
        return f"the stability of {one.name} was not measured: {reason_of(error)}"
    return MethodStability(found.nogueira, found.families)


# Agreement and tests


def spearman_matrix(rankings: Integers) -> Floats:
    """Spearman's rank correlation of all pairs of rankings without ties.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.selection.comparing import spearman_matrix
    >>> spearman_matrix(np.array([[1, 2, 3], [1, 3, 2]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    n = rankings.shape[1]
    centred = rankings - (n + 1) / 2
    return np.asarray(12 * (centred @ centred.T) / (n * (n * n - 1)))


def kendall_matrix(rankings: Integers) -> Floats:
    """Kendall's rank correlation of all pairs of rankings."""
    from scipy.stats import kendalltau

    found = np.eye(len(rankings))
    for i, j in combinations(range(len(rankings)), 2):
        found[i, j] = found[j, i] = kendalltau(rankings[i], rankings[j]).statistic
    return found


def overlap_matrix(rankings: Integers, k: int) -> Floats:
    """Fraction of the k best features that two rankings have in common, for all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.selection.comparing import overlap_matrix
    >>> overlap_matrix(np.array([[1, 2, 3, 4], [1, 3, 2, 4]]), k=2)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    best = (rankings <= k).astype(np.float64)
    return np.asarray(best @ best.T / k)


def pair_tests(
    names: Sequence[str], classifiers: Sequence[str], scores: Floats, n_train: float, n_test: float
) -> tuple[PairTest, ...]:
    """Test the difference of all pairs of methods with each classifier; none with fewer than two folds.

    Parameters
    ----------
    names, classifiers : sequence of str
        Names of the methods and of the classifiers.
    scores : ndarray of shape (n_methods, n_classifiers, n_folds, n_sizes)
        Scores of all methods.
    n_train, n_test : float
        Mean numbers of rows for training and for testing.

    Returns
    -------
    tuple of PairTest
        Holm's correction is over all pairs of methods, and for itself over all tests against the baseline.
    """
    of_folds = scores.mean(axis=3)
    if of_folds.shape[2] < 2:
        return ()
    pairs = [(c, i, j) for c in range(len(classifiers)) for i, j in combinations(range(len(names)), 2)]
    found = [corrected_t_test(of_folds[i, c], of_folds[j, c], n_train=n_train, n_test=n_test) for c, i, j in pairs]
    p_values = np.array([one.p_value for one in found])
    against_random = np.array([RANDOM_BASELINE in (names[i], names[j]) for _, i, j in pairs])
    adjusted = np.fmax(*(holm(np.where(chosen, p_values, np.nan)) for chosen in (against_random, ~against_random)))
    return tuple(
        PairTest(classifiers[c], names[i], names[j], one.mean, one.low, one.high, one.p_value, p_value)
        for (c, i, j), one, p_value in zip(pairs, found, adjusted.tolist(), strict=True)
    )
