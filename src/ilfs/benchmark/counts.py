"""How many results and classifiers a benchmark has, beside the paper's count of its tests."""

from dataclasses import dataclass

from ilfs.benchmark.evaluation.classifiers import LINEAR_SVM
from ilfs.benchmark.store.results import Results
from ilfs.benchmark.suites.suite import WITHOUT_CLASSIFIERS


@dataclass(frozen=True)
class TestCounts:
    """Numbers of results and of classifiers.

    Attributes
    ----------
    as_paper : int
        Results as the paper counts its 576 tests: one for each method and data set, or for each method, data set and
        class in the experiment ``"classes"``.
    subsets : int
        One for each method, data set and number of features, and for each class in the experiment ``"classes"``.
    classifiers : int
        Classifiers whose metrics are stored: one for each of these subsets in every split.
    fits : int
        All fits, with those of the cross-validation that chooses C. It is an upper bound: a class with few samples has
        fewer folds.
    """

    __test__ = False  # not a class of tests, for pytest

    as_paper: int
    subsets: int
    classifiers: int
    fits: int


def count_tests(results: Results) -> TestCounts:
    """Count the results of a suite and the classifiers that were trained for them.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"`` or ``"classes"``.

    Returns
    -------
    TestCounts
        Jobs that failed or are missing do not count.
    """
    if results.suite.experiment in WITHOUT_CLASSIFIERS:
        why = WITHOUT_CLASSIFIERS[results.suite.experiment]
        raise ValueError(f"suite {results.suite.name} has no tests to count, as it only {why}")
    by_class = results.suite.experiment == "classes"
    done = {row.key: (row.dataset, row.method) for row in results.rows.ravel() if row is not None and row.is_done}
    subsets, classifiers, fits = set(), 0, 0
    for classifier in results.classifiers:
        measured = results.metric_values[classifier]["ap" if by_class else "ap_macro"]
        found = [(*done[key], k, size) for key, size, k in measured if key in done and (k >= 0) == by_class]
        subsets.update(found)
        classifiers += len(found)
        fits += len(found) * (fits_of_svm(results) if classifier == LINEAR_SVM else 1)
    return TestCounts(len({one[:3] for one in subsets}), len(subsets), classifiers, fits)


def fits_of_svm(results: Results) -> int:
    """Fits of the linear SVM for one subset of features: every C in every fold, and the final one."""
    protocol = results.suite.protocol
    return len(protocol.Cs) * protocol.n_folds + 1 if len(protocol.Cs) > 1 else 1
