import numpy as np
import pytest
from scipy import sparse

from ilfs.execution import LabelledRows
from ilfs.neighbours import class_neighbours
from ilfs.sources import table_source


def neighbours_of(X, y, i, k):
    """Neighbours of sample i and their weights, as a dict."""
    rows = LabelledRows.from_source(table_source(X, np.asarray(y)))
    pairs, _ = class_neighbours(rows, k, np.arange(X.shape[0]), iter)
    here = pairs.first == i
    return dict(zip(pairs.second[here].tolist(), pairs.weight[here].tolist(), strict=True))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("bin_number", [109951162777, 54975581388, 9000000001])
def test_rounding_does_not_break_a_tie(form, bin_number):
    # Both samples of class "b" are v / 3 from the middle one, up to rounding of the division by the range 3. v / 3 is
    # half way between two multiples of 2^-40: comparing distances rounded to such multiples would break the tie.
    v = 3 * (bin_number + 0.5) * 2.0**-40
    middle = 0.7
    X = np.array([[0.0], [3.0], [middle], [middle - v], [middle + v]])
    assert neighbours_of(form(X), ["a", "b", "a", "b", "b"], 2, 1) == {0: 1.0, 3: 0.5, 4: 0.5}


def test_distances_that_differ_by_more_than_the_tolerance_do_not_tie():
    X = np.array([[0.0], [1.0], [0.5], [0.5 - 1e-3], [0.5 + 1e-3 * (1 + 1e-6)]])
    assert neighbours_of(X, ["a", "b", "a", "b", "b"], 2, 1) == {0: 1.0, 3: 1.0}
