"""Rows taken eight at a time.

Eight rows share one load and store of the sums that they add to, and as many streams of memory keep the machine's
prefetching busy. The last group of a class is filled up with its last row at weight 0.
"""

from typing import Any

from numpy.typing import NDArray

from ilfs.kernels._jit import formula

EIGHT = 8  # and not another number: the loops are written out
TILE = 4096  # columns read of a row before the next: long enough to stream, short enough for the nearer caches


@formula
def eight(values: NDArray[Any], a: int, final: int) -> tuple[Any, ...]:
    """values[a:a + 8], the final one repeated beyond it."""
    return (
        values[a],
        values[min(a + 1, final)],
        values[min(a + 2, final)],
        values[min(a + 3, final)],
        values[min(a + 4, final)],
        values[min(a + 5, final)],
        values[min(a + 6, final)],
        values[min(a + 7, final)],
    )


@formula
def eight_weights(weight: NDArray[Any], a: int, final: int) -> tuple[float, ...]:
    """weight[a:a + 8], 0 beyond the final one."""
    return (
        weight[a],
        weight[a + 1] if a + 1 <= final else 0.0,
        weight[a + 2] if a + 2 <= final else 0.0,
        weight[a + 3] if a + 3 <= final else 0.0,
        weight[a + 4] if a + 4 <= final else 0.0,
        weight[a + 5] if a + 5 <= final else 0.0,
        weight[a + 6] if a + 6 <= final else 0.0,
        weight[a + 7] if a + 7 <= final else 0.0,
    )


@formula
def eight_slices(X: NDArray[Any], i: tuple[Any, ...], low: int, high: int) -> tuple[NDArray[Any], ...]:
    """Columns low:high of eight rows."""
    return (
        X[i[0], low:high],
        X[i[1], low:high],
        X[i[2], low:high],
        X[i[3], low:high],
        X[i[4], low:high],
        X[i[5], low:high],
        X[i[6], low:high],
        X[i[7], low:high],
    )
