"""Sentences on a comparison: which methods are best, which cannot be told apart, and what was measured."""

import numpy as np

from ilfs import __version__
from ilfs.choices import N_LISTED_CLASSES
from ilfs.selection import Comparison
from ilfs.selection.comparison import LEVEL, PairTest
from ilfs.selection.performance import N_RANDOM_ORDERS
from ilfs.words import counted, listed

REFERENCES = (
    "C. Nadeau, Y. Bengio, Inference for the Generalization Error, Machine Learning 52 (2003)",
    "R. Bouckaert, E. Frank, Evaluating the Replicability of Significance Tests for Comparing Learning Algorithms, "
    "PAKDD 2004",
    'J. Hsu, Simultaneous Confidence Intervals for All Distances from the "Best", Annals of Statistics 9 (1981)',
    "S. Nogueira, K. Sechidis, G. Brown, On the Stability of Feature Selection Algorithms, JMLR 18 (2018)",
)


def table_sentence(comparison: Comparison) -> str:
    """Describe the table and the folds."""
    sizes = ", ".join(f"{label}: {count:,}" for label, count in comparison.classes[:N_LISTED_CLASSES])
    more = "" if len(comparison.classes) <= N_LISTED_CLASSES else ", ..."
    classes = f"{len(comparison.classes)} classes ({sizes}{more})"
    return (
        f"{counted(comparison.n_samples, 'row')} x {counted(comparison.n_features, 'feature')}, {classes}; "
        f"{divisions(comparison)}"
        f"{', rows of a group together' if comparison.is_grouped else ''}"
    )


def divisions(comparison: Comparison) -> str:
    """Format the numbers of folds and repetitions."""
    repeated = f", repeated {comparison.n_repeats} times" if comparison.n_repeats > 1 else ""
    return f"{comparison.n_folds} folds{repeated}"


def best_sentence(comparison: Comparison, classifier: str) -> str:
    """Say which methods are best with a classifier, by the mean over all sizes."""
    if len(comparison.methods) < 2:
        return ""
    verdict = comparison.verdict(classifier)
    mean = comparison.mean_over_sizes[comparison.methods.index(verdict.best), comparison.classifiers.index(classifier)]
    first = f"{classifier}: {verdict.best} has the best mean {comparison.metric} over all sizes, {mean:.3f}"
    if not comparison.tests:
        return f"{first}; differences are not tested on one fold."
    if not verdict.worse:
        return f"{first}, but no method can be told apart from it."
    apart = f"; {listed(verdict.equal)} cannot be told apart from it" if verdict.equal else ""
    return f"{first}{apart}; {listed(verdict.worse)} {'is' if len(verdict.worse) == 1 else 'are'} significantly worse."


def random_sentence(comparison: Comparison, classifier: str) -> str:
    """Say which methods are better than random features."""
    if not comparison.tests:
        return ""
    above = comparison.verdict(classifier).above_random
    if not above:
        return f"{classifier}: no method is significantly better than random features, averaged over all sizes."
    rest = [name for name in comparison.methods if name not in above]
    others = f"; for {listed(rest)} the difference is not significant" if rest else ""
    are = "is" if len(above) == 1 else "are"
    return f"{classifier}: {listed(above)} {are} significantly better than random features{others}."


def test_sentence(comparison: Comparison) -> str:
    """Say how differences were tested, with the caveat."""
    if not comparison.tests:
        return "Differences are not tested: that needs two folds or more."
    return (
        f"Differences are tested by pairs over the same {comparison.scores.shape[2]} folds, by the corrected resampled "
        f"t-test on the mean over all sizes, at {100 * LEVEL:g} % after correction for several tests. With few rows "
        "or folds only large differences are found. This is one data set: the tests say nothing about others."
    )


def error_sentence() -> str:
    """Say what the standard errors are."""
    return (
        "Standard errors account for rows that folds share (Nadeau and Bengio); they do not fall to zero with more "
        "repetitions."
    )


def methods_paragraph(comparison: Comparison) -> str:
    """Describe how the comparison was made, ready to paste into a paper."""
    k, folds = comparison.k, comparison.scores.shape[2]
    stable = (
        f" Stability of the {k} best features was measured over {comparison.n_resamples} half-samples of the rows by "
        "Nogueira's index; for families, a feature replaced by one with an absolute correlation of at least 0.7 "
        "counted as chosen again."
        if comparison.n_resamples
        else ""
    )
    tested = (
        " Differences of the mean over all sizes were tested by pairs over the folds with the corrected resampled "
        "t-test of Nadeau and Bengio (2003): between methods and against random features with Holm's correction, and "
        "against the best method with a correction for comparisons with the best (Hsu 1981)."
        if comparison.tests
        else ""
    )
    grouped = " Rows of a group were kept in the same fold." if comparison.is_grouped else ""
    return (
        f"Feature selection methods ({listed(comparison.methods)}) were compared with ilfs {__version__} on "
        f"{counted(comparison.n_samples, 'sample')} and {counted(comparison.n_features, 'feature')}. In each of "
        f"{folds} folds ({divisions(comparison)}, stratified), each method ranked the features by the training rows "
        f"alone, and {listed(comparison.classifiers)} were trained on the first "
        f"{listed([f'{size:,}' for size in comparison.sizes.tolist()])} features and evaluated on the test rows by "
        f"{comparison.metric}.{grouped} The baseline is the mean of {N_RANDOM_ORDERS} random orders of the features in "
        f"each fold. Error bars are standard errors corrected for the overlap of training sets.{tested}{stable} "
        f"Random seed: {comparison.random_state}."
    )


def test_row(test: PairTest) -> list[object]:
    """Return a test as the row of a table."""
    interval = f"{test.low:+.3f} to {test.high:+.3f}".replace("-", "\N{MINUS SIGN}")
    verdict = "different" if test.is_significant else "cannot be told apart"
    return [test.first, test.second, test.difference, interval, test.p_value, test.adjusted, verdict]


def shown_sizes(comparison: Comparison, count: int = 3) -> list[int]:
    """Return indices of a few sizes, spread over all of them but not the smallest if there are more.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from ilfs.report.comparison.sentences import shown_sizes
    >>> shown_sizes(SimpleNamespace(sizes=np.array([1, 2, 3, 5, 10, 17, 30, 52, 92, 162, 284, 500])))
    [3, 6, 8]
    """
    n_sizes = comparison.sizes.size
    if n_sizes <= count:
        return list(range(n_sizes))
    places = np.linspace(0, n_sizes - 1, count + 2)[1:-1]
    return sorted({round(place) for place in places.tolist()})


def metric_title(comparison: Comparison) -> str:
    """Return the name of the metric with a capital letter and without underscores."""
    words = comparison.metric.replace("_", " ")
    return words[:1].upper() + words[1:]
