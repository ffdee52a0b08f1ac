"""Edge weights of the graph of Inf-FS: a weighted mean of the spread of two features and their lack of correlation."""

from typing import Any

from ilfs.kernels._jit import kernel


@kernel
def write_edges(correlations: Any, row_spread: Any, column_spread: Any, alpha: float) -> None:
    """Replace correlations r_ij by edges alpha max(s_i, s_j) + (1 - alpha) (1 - abs(r_ij)), in place."""
    n_rows, n_columns = correlations.shape
    for i in range(n_rows):
        for j in range(n_columns):
            novelty = max(0.0, 1.0 - abs(correlations[i, j]))  # rounding may make abs(r_ij) exceed 1
            correlations[i, j] = alpha * max(row_spread[i], column_spread[j]) + (1.0 - alpha) * novelty
