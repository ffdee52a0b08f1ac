"""Random halves of the rows, with the same numbers of rows of each class and without dividing groups."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.sources.permutations import check_groups, generator_of
from ilfs.statistics.labels import RowLabels


def half_samples(
    observed: Sequence[RowLabels],
    n_resamples: int,
    random_state: int | np.random.Generator | None = 0,
    groups: Any = None,
    *,
    complementary_pairs: bool = True,
) -> NDArray[np.bool_]:
    """Draw halves of the rows without replacement.

    A half has half of the rows of each class, rounded down. With groups, it has half of the groups of each class; if a
    group has rows of several classes, or a row several labels, half of all groups or rows.

    Parameters
    ----------
    observed : sequence of RowLabels
        Labels of all rows: of one labelling, or of each column of an indicator matrix.
    n_resamples : int
        Number of halves.
    random_state : int, numpy.random.Generator or None, default=0
        Random numbers.
    groups : array of shape (n_rows,), optional
        Group of each row; the rows of a group are taken or left out together.
    complementary_pairs : bool, default=True
        The second half of each pair has no row of the first; if the number of rows of a class is odd, one of them is in
        neither.

    Returns
    -------
    ndarray of bool of shape (n_resamples, n_rows)
        Rows of each half. Rows of weight 0 are in none.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.selection.half_samples import half_samples
    >>> from ilfs.statistics.labels import encode_labels
    >>> y = np.array(["a", "a", "b", "b", "b", "b"])
    >>> halves = half_samples([encode_labels(y)[1]], n_resamples=4)
    >>> [sorted(y[rows].tolist()) for rows in halves]
    [['a', 'b', 'b'], ['a', 'b', 'b'], ['a', 'b', 'b'], ['a', 'b', 'b']]
    >>> (halves[0] & halves[1]).any()
    np.False_
    """
    n_rows = len(observed[0])
    counted = np.flatnonzero(observed[0].takes_part)
    units = np.arange(counted.size) if groups is None else group_numbers(check_groups(groups, n_rows)[counted])
    strata = strata_of(
        units, [labels.codes[counted] for labels in observed], what="rows" if groups is None else "groups"
    )
    rng = generator_of(random_state)
    taken = np.zeros((n_resamples, n_rows), dtype=bool)
    step = 2 if complementary_pairs else 1
    for first in range(0, n_resamples, step):
        for half, chosen in zip(taken[first : first + step], halves_of_units(strata, rng), strict=False):
            half[counted] = chosen[units]
    return taken


def group_numbers(groups: NDArray[Any]) -> Integers:
    """Number the groups from 0 on."""
    return np.asarray(np.unique(groups, return_inverse=True)[1]).ravel()


def strata_of(units: Integers, codes: Sequence[Integers], what: str) -> Integers:
    """Return the stratum of each unit: its class, or 0 if a unit has rows of several classes or a row several labels.

    Parameters
    ----------
    units : ndarray of shape (n_rows,)
        Number of the unit of each row.
    codes : sequence of ndarray of shape (n_rows,)
        Class of each row under each labelling.
    what : str
        Name of the units in error messages.
    """
    n_units = int(units.max()) + 1
    first = np.full(n_units, units.size)
    np.minimum.at(first, units, np.arange(units.size))
    of_unit = codes[0][first]
    if len(codes) > 1 or (codes[0] != of_unit[units]).any():
        of_unit = np.zeros(n_units, dtype=np.int64)
    sizes = np.bincount(of_unit)
    if (sizes == 1).any():
        of_each = "" if of_unit.max() == 0 else " of each class"
        raise ValueError(f"stability needs at least 2 {what}{of_each} to take half of them, got 1")
    return np.asarray(of_unit, dtype=np.int64)


def halves_of_units(strata: Integers, rng: np.random.Generator) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Draw two halves of the units without a common unit, with the same number of units of each stratum."""
    order = np.lexsort([rng.random(strata.size), strata])  # by stratum, at random within each
    sizes = np.bincount(strata)
    place = np.arange(strata.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # within the stratum
    half = np.repeat(sizes // 2, sizes)
    first, second = np.zeros(strata.size, dtype=bool), np.zeros(strata.size, dtype=bool)
    first[order], second[order] = place < half, (place >= half) & (place < 2 * half)
    return first, second
