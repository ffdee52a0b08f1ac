"""Permuted labels: further labellings of the same rows, for permutation tests.

A permutation moves the labels of the rows and leaves values and weights where they are. It depends on the class codes
in the order of the rows, on the random numbers and on the groups, and on nothing else. So a table in memory and a
stream of any batches get the same labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.statistics.labels import LEFT_OUT, Classes, RowLabels

SEED_KEY = 0x696C6673  # sets the random numbers of an integer seed apart from those of other programs


@dataclass(frozen=True)
class PermutedLabels:
    """Class codes of all rows under every permutation.

    A code takes one byte for up to 256 classes, two bytes for up to 65,536. So 20 permutations of one label take 20
    bytes a row: 25 MB for 1.25 million rows.

    Parameters
    ----------
    codes : ndarray of shape (n_permutations, n_labels, n_rows)
        Class of each row, in the smallest unsigned integer type; 0 for a row that takes no part.
    labellings : tuple of Classes
        Classes of each permutation of each label: all labels of the first permutation, then all of the second, ...
        The numbers of rows are those of the observed labels; the total weights differ if rows have weights.
    """

    codes: NDArray[np.unsignedinteger[Any]]
    labellings: tuple[Classes, ...]

    @classmethod
    def draw(
        cls,
        observed: Sequence[RowLabels],
        classes: Sequence[Classes],
        n_permutations: int,
        random_state: int | np.random.Generator | None = 0,
        groups: NDArray[Any] | None = None,
    ) -> Self:
        """Permute the labels of the rows that take part.

        All labels of an indicator matrix are moved together, so that they stay as dependent as they are.

        Parameters
        ----------
        observed : sequence of RowLabels
            Labels of all rows, for each labelling.
        classes : sequence of Classes
            Classes of each labelling.
        n_permutations : int
            Number of permutations.
        random_state : int, numpy.random.Generator or None, default=0
            Source of random numbers.
        groups : ndarray of shape (n_rows,), optional
            Group of each row; labels are then moved within groups only.

        Returns
        -------
        PermutedLabels
            The permuted labels.

        Examples
        --------
        >>> import numpy as np
        >>> from ilfs.sources.permutations import PermutedLabels
        >>> from ilfs.statistics.labels import encode_labels
        >>> classes, labels = encode_labels(np.array(["b", "a", "b", "a"]))
        >>> permuted = PermutedLabels.draw([labels], [classes], 3, groups=np.array([1, 1, 2, 2]))
        >>> permuted.codes[:, 0].sum(axis=1), permuted.codes[:, 0, :2].sum(axis=1), permuted.codes.dtype
        (array([2, 2, 2], dtype=uint64), array([1, 1, 1], dtype=uint64), dtype('uint8'))
        """
        counted = np.flatnonzero(observed[0].takes_part)
        n_classes = max(one.n_classes for one in classes)
        small = np.array([one.codes[counted] for one in observed], dtype=np.min_scalar_type(max(n_classes - 1, 0)))
        in_groups = None if groups is None else group_codes(groups, small, counted)
        rng = generator_of(random_state)
        codes = np.zeros((n_permutations, len(observed), len(observed[0])), dtype=small.dtype)
        for one in codes:
            one[:, counted] = small[:, random_order(counted.size, rng, in_groups)]
        weight = observed[0].weight[counted]
        return cls(codes, tuple(permuted_classes(codes[..., counted], classes, weight)))

    @property
    def n_labels(self) -> int:
        """Number of observed labellings."""
        return int(self.codes.shape[1])

    def row_labels(self, number: int, rows: slice, weight: Floats) -> RowLabels:
        """Return the labels of some rows under one of ``labellings``.

        Parameters
        ----------
        number : int
            Number of the labelling, from 0 on.
        rows : slice
            The rows.
        weight : ndarray of shape (n,)
            Their weights; rows of weight 0 take no part.
        """
        permutation, label = divmod(number, self.n_labels)
        codes = np.where(weight > 0, self.codes[permutation, label, rows].astype(np.int64), LEFT_OUT)
        return RowLabels(codes, weight, self.labellings[number].n_classes)

    def block_labels(self, rows: slice, weight: Floats) -> tuple[RowLabels, ...]:
        """Return the labels of some rows under all of ``labellings``."""
        return tuple(self.row_labels(number, rows, weight) for number in range(len(self.labellings)))

    def among(self, places: Sequence[Integers], labellings: tuple[Classes, ...]) -> Self:
        """Return these labels among more classes; ``places`` are the new codes of the classes of each label."""
        kind = np.min_scalar_type(max(one.n_classes for one in labellings) - 1)
        codes = np.empty(self.codes.shape, dtype=kind)
        for label, of_label in enumerate(places):
            codes[:, label] = of_label[self.codes[:, label]]
        return type(self)(codes, labellings)

    def digest(self) -> str:
        """Return a text that tells if two draws are the same, and nothing about them."""
        return sha256(self.codes.tobytes()).hexdigest()

    def of_label(self, label: int) -> Self:
        """Return the permutations of one label of an indicator matrix."""
        return type(self)(self.codes[:, label : label + 1], self.labellings[label :: self.n_labels])


def generator_of(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """Return a generator; for an integer, one with other random numbers than ``numpy.random.default_rng`` gives.

    A user who shuffles columns, or labels, with ``default_rng(0)`` would otherwise use the permutations of the test
    itself: each shuffled column would look like a perfect feature under one of them.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    seed = None if random_state is None else int(random_state)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(SEED_KEY,))))


def random_order(n_rows: int, rng: np.random.Generator, groups: Integers | None = None) -> Integers:
    """Draw a random order of rows, in which every row keeps its group."""
    if groups is None:
        return rng.permutation(n_rows)
    order = np.empty(n_rows, dtype=np.int64)
    # Sorted by group, once in the order of the rows and once at random within each group.
    order[np.argsort(groups, kind="stable")] = np.lexsort([rng.random(n_rows), groups])
    return order


def group_codes(groups: NDArray[Any], codes: NDArray[Any], counted: Integers) -> Integers:
    """Number the groups of the rows that take part; raise if no label could move."""
    numbers: Integers = np.unique(groups[counted], return_inverse=True)[1].ravel()
    first = np.full(numbers.max(initial=0) + 1, counted.size)
    np.minimum.at(first, numbers, np.arange(counted.size))
    if (codes == codes[:, first[numbers]]).all():
        raise ValueError(
            "groups must contain a group with samples of two classes, got one class in every group: labels are "
            "permuted within groups, so no label could move"
        )
    return numbers


def permuted_classes(codes: NDArray[Any], classes: Sequence[Classes], weight: Floats) -> list[Classes]:
    """Return the classes of each permutation of each label, with the weights of their rows."""
    if (weight == 1.0).all():
        return list(classes) * len(codes)
    return [
        Classes(one.labels, one.rows, np.bincount(of_label, weight, minlength=one.n_classes).astype(np.float64))
        for of_permutation in codes
        for one, of_label in zip(classes, of_permutation, strict=True)
    ]


def check_groups(groups: Any, n_rows: int) -> NDArray[Any]:
    """Validate the groups of the rows.

    Parameters
    ----------
    groups : array
        Number or name of the group of each row.
    n_rows : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n_rows,)
        The groups.
    """
    checked = np.asarray(groups)
    if checked.shape != (n_rows,):
        raise ValueError(f"groups must have shape ({n_rows},), a group for each row of X, got {checked.shape}")
    if checked.dtype.kind == "O":
        missing = np.array([value is None or value != value for value in checked.tolist()], dtype=bool)
        checked = np.where(missing, "", checked).astype(str)
    else:
        missing = np.isnan(checked) if checked.dtype.kind in "fc" else np.zeros(n_rows, dtype=bool)
    if missing.any():
        raise ValueError(f"groups must have a value for each row, got none in row {int(missing.argmax())}")
    return checked
