"""Kernels for contiguous columns give the bits of the kernels for contiguous rows, also with unusual values."""

import numpy as np
import pytest

from ilfs.kernels.by_column import column_moments
from ilfs.kernels.moments import dense_moments
from ilfs.statistics.block import ColumnArrays
from ilfs.statistics.labels import encode_labels


def moments(kernel, *arguments, n_columns):
    found = np.full((3, 2, n_columns), -1.0)
    kernel(*arguments, *found)
    return found


@pytest.mark.parametrize("places", [[0], [3], [70], [3, 4], [0, 70], range(75)], ids=str)
@pytest.mark.parametrize(
    "values", [[np.nan], [np.inf], [-np.inf], [np.inf, -np.inf], [np.nan, np.inf], [1e300, -1e300]], ids=str
)
def test_moments_with_missing_and_infinite_values(places, values):
    X = np.random.default_rng(0).normal(size=(75, 19))
    X[places, 5] = np.resize(values, len(places))
    _, labels = encode_labels(np.arange(75) % 3 // 2, None)  # 50 and 25 rows: the last group of each class has a gap
    columns = ColumnArrays.from_array(np.asfortranarray(X))
    expected = moments(dense_moments, X, *labels.by_class, 0, 19, n_columns=19)
    found = moments(column_moments, columns.addresses, columns.like, *labels.groups, n_columns=19)
    np.testing.assert_array_equal(found, expected)
