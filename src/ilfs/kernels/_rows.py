"""Rows taken eight at a time.

Eight rows share one load and store of the sums that they add to, and as many streams of memory keep the machine's
prefetching busy. The last group of a class is filled up with its last row at weight 0.
"""

from typing import Any

from numpy.typing import NDArray

from ilfs.kernels._jit import formula

EIGHT = 8
TILE = 4096  # columns read of a row before the next: long enough to stream, short enough for the nearer caches


@formula
def eight(values: NDArray[Any], a: int, last: int) -> tuple[Any, ...]:
    """values[a:a + 8], the last one repeated beyond last."""
    return (
        values[a],
        values[min(a + 1, last)],
        values[min(a + 2, last)],
        values[min(a + 3, last)],
        values[min(a + 4, last)],
        values[min(a + 5, last)],
        values[min(a + 6, last)],
        values[min(a + 7, last)],
    )


@formula
def eight_weights(weight: NDArray[Any], a: int, last: int) -> tuple[float, ...]:
    """weight[a:a + 8], 0 beyond last."""
    return (
        weight[a],
        weight[a + 1] if a + 1 <= last else 0.0,
        weight[a + 2] if a + 2 <= last else 0.0,
        weight[a + 3] if a + 3 <= last else 0.0,
        weight[a + 4] if a + 4 <= last else 0.0,
        weight[a + 5] if a + 5 <= last else 0.0,
        weight[a + 6] if a + 6 <= last else 0.0,
        weight[a + 7] if a + 7 <= last else 0.0,
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
