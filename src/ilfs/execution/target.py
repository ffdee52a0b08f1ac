"""Classes and weights of the rows, as the kernels want them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers


@dataclass(frozen=True)
class Target:
    """``codes[i]`` is the class of row i, -1 if its weight is 0; ``classes`` are the labels that take part."""

    classes: NDArray[Any]
    codes: Integers
    weight: Floats

    @classmethod
    def from_labels(cls, y: NDArray[Any], sample_weight: Floats | None = None) -> Self:
        """Encode labels; a row of weight 0 is treated as absent, and so is a class that has only such rows."""
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        classes, codes = np.unique(y[weight > 0], return_inverse=True)
        every = np.full(len(y), -1)
        every[weight > 0] = codes
        return cls(classes, every, weight)

    @property
    def class_rows(self) -> Integers:
        """Number of rows of each class."""
        return np.bincount(self.codes[self.codes >= 0], minlength=self.classes.size)

    @property
    def class_total(self) -> Floats:
        """Sum of the weights of each class."""
        here = self.codes >= 0
        return np.bincount(self.codes[here], self.weight[here], minlength=self.classes.size).astype(np.float64)

    @property
    def class_balance(self) -> Floats:
        """Weight m / (K n_k) of a sample that makes every class count the same."""
        return np.asarray(self.class_total.mean() / self.class_total)

    def one_against_rest(self) -> Floats:
        """What each linear machine is to say of each row, 1 or -1: one for two classes, otherwise one a class."""
        classes = np.arange(self.classes.size) if self.classes.size > 2 else np.array([1])
        return np.where(self.codes == classes[:, None], 1.0, -1.0)

    def sorted_rows(self, start: int, stop: int) -> tuple[Integers, Integers, Floats]:
        """Rows start:stop grouped by class, counted from start; where each class begins; their weights."""
        codes = self.codes[start:stop]
        if self.classes.size < 2**15:
            codes = codes.astype(np.int16)  # numpy sorts these by counting
        order = np.argsort(codes, kind="stable")
        order = order[np.searchsorted(codes[order], 0) :]
        starts = np.searchsorted(codes[order], np.arange(self.classes.size + 1))
        return order, starts, self.weight[start:stop][order]
