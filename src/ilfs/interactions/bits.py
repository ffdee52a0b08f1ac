"""The values of features as bits, packed into words of 64 samples.

The rank R of a value within its feature, from 0 to 1, gives two bits:

- the **level** bit, "high": R > 1/2, that is, the value is above the median;
- the **size** bit, "extreme": R is further than 1/4 from 1/2, that is, the value is outside of the quartiles.

Equal values have the mean of their ranks, so they have the same bits. A missing value has no bits.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.execution import LabelledRows, thread_map
from ilfs.execution.columns import column_blocks, gather_columns
from ilfs.statistics.labels import WORD_BITS, RowLabels

LEVEL, SIZE = 0, 1  # kinds of bits
MIN_SAMPLES = 2  # of each side of a bit; with fewer, a bit marks one outlier
MAX_REPEATED_ROWS = 10_000_000  # by weights; their bits take megabytes for each feature


@dataclass(frozen=True)
class PackedBits:
    """Bits of the features, one word for 64 samples of a class.

    Parameters
    ----------
    words : ndarray of uint64 of shape (n_words, n_bits)
        The bits. Those of features without missing values come first.
    present : ndarray of uint64 of shape (n_words, n_bits)
        Samples in which the value is present.
    starts : ndarray of shape (n_classes + 1,)
        First word of each class, and the number of words.
    ones, there : ndarray of shape (n_classes, n_bits)
        Number of ones, and of samples in which the value is present, in each class.
    total : ndarray of shape (n_classes,)
        Number of samples of each class.
    columns : ndarray of shape (n_bits,)
        Column of the table that the bit belongs to.
    kinds : ndarray of int8 of shape (n_bits,)
        0 for a level bit, 1 for a size bit.
    n_complete : int
        Number of bits without missing values.
    cuts : ndarray of shape (n_features, 3)
        Lower quartile, median and upper quartile of each column of the table; NaN for a constant column.
    """

    words: NDArray[np.uint64]
    present: NDArray[np.uint64]
    starts: Integers
    ones: Floats
    there: Floats
    total: Floats
    columns: Integers
    kinds: NDArray[np.int8]
    n_complete: int
    cuts: Floats

    @classmethod
    def from_rows(cls, rows: LabelledRows) -> Self:
        """Compute and pack the bits of all features; drop bits with fewer than two ones or zeros.

        A size bit that is equal or opposite to the level bit is dropped, too: the feature has two values, for example.
        """
        every, class_sizes = repeated_rows(rows.labels)
        n, total = rows.columns.size, class_sizes.astype(np.float64)
        starts = np.concatenate([[0], np.cumsum(-(-class_sizes // WORD_BITS))])
        words, present = np.zeros((starts[-1], 2 * n), np.uint64), np.zeros((starts[-1], n), np.uint64)
        cuts = pack_columns(rows, every, class_sizes, starts, words, present)
        there, ones = class_counts(present, starts), class_counts(words, starts)
        equal = np.bitwise_xor(words[:, :n], words[:, n:])
        kept = kept_bits(ones.sum(axis=0), there.sum(axis=0), class_counts(equal, starts).sum(axis=0))
        is_complete = (there.sum(axis=0) == total.sum())[kept % n]
        kept = np.concatenate([kept[is_complete], kept[~is_complete]])
        return cls(
            words.take(kept, axis=1),  # in C order, unlike words[:, kept]: the kernels read neighbouring bits
            present.take(kept % n, axis=1),
            starts,
            ones.take(kept, axis=1),
            there.take(kept % n, axis=1),
            total,
            rows.columns[kept % n],
            (kept // n).astype(np.int8),
            int(is_complete.sum()),
            rows.expand(cuts, np.nan, axis=0),
        )

    @property
    def n_bits(self) -> int:
        """Number of bits."""
        return self.columns.size

    def take(self, bits: Integers) -> Self:
        """Return some of the bits, in ascending order."""
        return type(self)(
            self.words.take(bits, axis=1),
            self.present.take(bits, axis=1),
            self.starts,
            self.ones.take(bits, axis=1),
            self.there.take(bits, axis=1),
            self.total,
            self.columns[bits],
            self.kinds[bits],
            int(np.count_nonzero(bits < self.n_complete)),
            self.cuts,
        )


def repeated_rows(labels: RowLabels) -> tuple[Integers, Integers]:
    """Return the rows sorted by class, each as often as its weight says, and the number of them in each class."""
    weight = labels.by_class.weight
    if (weight != np.floor(weight)).any():
        broken = float(weight[weight != np.floor(weight)][0])
        raise ValueError(f"sample_weight must hold whole numbers if interactions are searched, got {broken:g}")
    if weight.sum() > max(MAX_REPEATED_ROWS, weight.size):
        raise ValueError(
            f"sample_weight must have a sum of at most {MAX_REPEATED_ROWS:,} if interactions are searched, because a "
            f"row is repeated as often as its weight says, got a sum of {weight.sum():,.0f}"
        )
    counts = np.repeat(np.arange(labels.n_classes), np.diff(labels.by_class.starts))
    sizes = np.bincount(counts, weight, minlength=labels.n_classes).astype(np.int64)
    return np.repeat(labels.by_class.rows, weight.astype(np.int64)), sizes


def pack_columns(
    rows: LabelledRows,
    every: Integers,
    class_sizes: Integers,
    starts: Integers,
    words: NDArray[np.uint64],
    present: NDArray[np.uint64],
) -> Floats:
    """Write the level bits to the first half of the words, the size bits to the second half; return the cuts."""
    from ilfs.kernels.bit_cuts import find_cuts, pack_bits

    n, row_starts = rows.columns.size, np.concatenate([[0], np.cumsum(class_sizes)])
    X = rows.X.tocsc() if sparse.issparse(rows.X) else rows.X
    cuts = np.full((n, 3), np.nan)

    def pack(block: slice) -> None:
        values: Any = gather_columns(X, block, every)
        find_cuts(np.sort(values, axis=1), cuts[block])
        level, size = words[:, block], words[:, n + block.start : n + block.stop]
        pack_bits(values, cuts[block], row_starts, starts, level, size, present[:, block])

    for _ in thread_map(pack, column_blocks(X), rows.n_jobs):
        pass
    return cuts


def class_counts(words: NDArray[np.uint64], starts: Integers) -> Floats:
    """Count the ones of each bit in each class."""
    from ilfs.kernels.bit_cuts import count_ones

    counts = np.zeros((starts.size - 1, words.shape[1]))
    count_ones(words, starts, counts)
    return counts


def kept_bits(ones: Floats, present: Floats, unequal: Floats) -> Integers:
    """Return the numbers of the bits that vary; level bit j of n has number j, size bit j number n + j."""
    varies = (ones >= MIN_SAMPLES) & (np.tile(present, 2) - ones >= MIN_SAMPLES)
    is_new = (unequal > 0) & (unequal < present)
    varies[present.size :] &= is_new | ~varies[: present.size]
    return np.flatnonzero(varies)
