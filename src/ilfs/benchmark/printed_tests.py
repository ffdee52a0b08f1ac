"""The paper's tests, repeated on the numbers that it prints."""

from dataclasses import dataclass

from ilfs.benchmark import paper_tables as paper
from ilfs.benchmark.significance.paper import t_test, t_test_of_moments

N_VALUES = 100  # values behind a number of Table 4: 20 splits x 5 sizes
REFERENCE = "ilfs"


@dataclass(frozen=True)
class PrintedTest:
    """ILFS against the best other method on one of the paper's data sets.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    best : bool
        Whether ILFS has the largest mean: the paper's "success".
    other : str
        The best of the other methods.
    p_value : float
        p-value of the paper's two-sample t-test: from means, deviations and 100 values each in Table 4, over the 20
        classes in Table 3.
    """

    dataset: str
    best: bool
    other: str
    p_value: float


def printed_tests() -> tuple[PrintedTest, ...]:
    """Test ILFS against the best other method on each of the paper's ten data sets, by the numbers that it prints.

    Returns
    -------
    tuple of PrintedTest
        The eight data sets of Table 4, then VOC 2007 and VOC 2012.

    Examples
    --------
    >>> from ilfs.benchmark.printed_tests import printed_tests
    >>> found = printed_tests()
    >>> [one.dataset for one in found if one.best]
    ['colon', 'leukemia', 'prostate', 'lymphoma', 'lung', 'dexter', 'voc2007']
    >>> [one.dataset for one in found if one.best and one.p_value < 0.05]
    ['prostate', 'lymphoma', 'dexter']
    """
    on_datasets = [tested_on_dataset(name) for name in (*paper.MICROARRAYS, *paper.OTHER_DATASETS)]
    return (*on_datasets, *(tested_over_classes(name) for name in paper.VOC_DATASETS))


def tested_on_dataset(dataset: str) -> PrintedTest:
    """Test by the means and deviations of Table 4."""
    mean, deviation = paper.precision(), paper.deviation()
    other = max(others(), key=lambda method: mean[method, dataset])
    moments = [(mean[m, dataset], 100 * deviation[m, dataset], N_VALUES) for m in (REFERENCE, other)]
    best = mean[REFERENCE, dataset] > mean[other, dataset]
    return PrintedTest(dataset, best, other, t_test_of_moments(*moments).p_value)


def tested_over_classes(dataset: str) -> PrintedTest:
    """Test over the classes of Table 3."""
    values = paper.class_precision()
    other = max(others(), key=lambda method: values[dataset, "mean", method])
    classes = [row for name, row in paper.bold_methods() if name == dataset and row != "mean"]
    ours, theirs = ([values[dataset, row, m] for row in classes] for m in (REFERENCE, other))
    best = values[dataset, "mean", REFERENCE] > values[dataset, "mean", other]
    return PrintedTest(dataset, best, other, t_test(ours, theirs).p_value)


def others() -> list[str]:
    """Methods that the paper compares ILFS with."""
    return [name for name in paper.METHODS_OF_THE_PAPER if name != REFERENCE]
