import numpy as np
import pytest
from scipy import sparse

from ilfs.execution.columns import gather_columns


def strided(X):
    """Copy of X that is neither C nor Fortran contiguous."""
    return np.repeat(X, 2, axis=1)[:, ::2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "layout", [np.ascontiguousarray, np.asfortranarray, strided, sparse.csr_array, sparse.csc_array]
)
def test_gathered_columns_are_contiguous_for_every_layout(layout, dtype):
    rng = np.random.default_rng(0)
    X, rows = rng.normal(size=(70, 40)).astype(dtype), rng.permutation(70)[:50]
    found = gather_columns(layout(X), slice(3, 24), rows)
    np.testing.assert_array_equal(found, X[rows, 3:24].T)
    assert found.flags.c_contiguous
    assert found.dtype == dtype
