r"""Constants and helpers that the searches by Euclidean and by Manhattan distance share.

Both searches have two steps. The first computes all distances fast, in float32 where that is faster, with a proven
bound on the error: every sample has a *slack*, and the computed distance of i and j is off by at most
:math:`\text{slack}_i + \text{slack}_j`. Let :math:`U_k` be the k-th smallest of the upper bounds (distance + slack) of
a sample. At least k others are no farther than :math:`U_k`, so no sample whose lower bound (distance - slack) exceeds
:math:`U_k` can be among the k nearest. The second step computes the distances of the remaining candidates in float64.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from ilfs.arrays import Integers

FLOAT32_ROUNDING, FLOAT64_ROUNDING = 2.0**-24, 2.0**-53  # largest relative error of rounding one number
# Features per float32 sum. Longer sums are sums of such sums, because the error bound grows with the number of terms.
SUMMED_FEATURES = 4096
SPARE_CANDIDATES = 8  # candidates kept beyond those asked for: room for samples that only the second step can exclude
PAIRS_PER_TASK = 4096  # pairs of samples whose float64 distances one thread computes per task
MAX_SPARSE_DENSITY = 0.1  # fraction of values stored, up to which sparse products are faster than dense ones


def is_very_sparse(X: Any) -> bool:
    """Return True if X is a sparse matrix for which sparse products are faster than dense ones."""
    return bool(sparse.issparse(X) and X.nnz < MAX_SPARSE_DENSITY * X.shape[0] * X.shape[1])


def join_pairs(pairs: Iterable[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    """Concatenate lists of pairs, each given as the array of first and the array of second samples."""
    first, second = zip(*pairs, strict=True)
    return np.concatenate(first), np.concatenate(second)
