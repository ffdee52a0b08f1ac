import numpy as np
import pytest
from scipy.stats import rankdata

from ilfs.kernels.ranks import write_unit_ranks


@pytest.mark.parametrize(
    "values", [np.arange(5.0), np.array([3.0, 1.0, 3.0, 3.0, 0.0, 1.0]), np.array([0.0, -0.0, 1.0])]
)
def test_equal_values_get_the_mean_of_their_ranks(values):
    ranks = np.empty((1, values.size))
    write_unit_ranks(values[None], np.argsort(values)[None], ranks)
    expected = rankdata(values) - (values.size + 1) / 2
    np.testing.assert_allclose(ranks[0], expected / np.linalg.norm(expected), rtol=1e-14, atol=1e-16)
