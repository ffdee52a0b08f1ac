"""The critical-difference diagram: mean ranks on an axis, and bars over methods that Nemenyi's test cannot tell apart.

This module computes the diagram as plain data; `ilfs.report.benchmark.diagram_svg` draws it. A bar joins methods of
which the first and the last differ by less than the critical difference, so that no two of them differ significantly.
Bars that lie within another and bars of one method are left out.

Reference: J. Demšar, *Statistical Comparisons of Classifiers over Multiple Data Sets*, JMLR 7 (2006). His axis has the
best method on the right; ours on the left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.benchmark.significance.ranks import check_mean_ranks, critical_difference


@dataclass(frozen=True)
class DiagramEntry:
    """A method in the diagram: its name and mean rank, and on which side and in which row (0 on top) its name is."""

    name: str
    rank: float
    side: Literal["left", "right"]
    row: int


@dataclass(frozen=True)
class Diagram:
    """A critical-difference diagram as data.

    Attributes
    ----------
    entries : tuple of DiagramEntry
        Best first; methods of equal rank in the order they were given.
    groups : tuple of (int, int)
        First and last entry of every bar.
    critical_difference : float
        Critical difference of two mean ranks.
    """

    entries: tuple[DiagramEntry, ...]
    groups: tuple[tuple[int, int], ...]
    critical_difference: float


def critical_difference_diagram(
    names: Sequence[str], mean_ranks: ArrayLike, n_datasets: int, *, alpha: float = 0.05
) -> Diagram:
    """Lay out the critical-difference diagram.

    Parameters
    ----------
    names : sequence of str
        Names of the methods.
    mean_ranks : array of shape (n_methods,)
        Mean ranks, 1 is best, such as `friedman_test` returns.
    n_datasets : int
        Number of data sets.
    alpha : float, default=0.05
        Level of Nemenyi's test.

    Returns
    -------
    Diagram
        Positions of names and bars.

    Examples
    --------
    Demšar's example. At the level 10 %, C4.5 differs from the two variants with m, and C4.5+cf from none:

    >>> from ilfs.benchmark.significance.diagram import critical_difference_diagram
    >>> names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    >>> diagram = critical_difference_diagram(names, [3.143, 2.000, 2.893, 1.964], 14, alpha=0.1)
    >>> [entry.name for entry in diagram.entries]
    ['C4.5+m+cf', 'C4.5+m', 'C4.5+cf', 'C4.5']
    >>> diagram.groups
    ((0, 2), (2, 3))
    """
    R = check_mean_ranks(mean_ranks)
    if len(names) != R.size:
        raise ValueError(f"names must be as many as mean_ranks, got {len(names)} and {R.size}")
    apart = critical_difference(R.size, n_datasets, alpha)
    order = np.argsort(R, kind="stable")
    half = (R.size + 1) // 2
    entries = tuple(
        # the outermost names are on top, so that no line crosses another
        DiagramEntry(str(names[i]), float(R[i]), "left" if p < half else "right", p if p < half else R.size - 1 - p)
        for p, i in enumerate(order.tolist())
    )
    return Diagram(entries, joined_groups(R[order], apart), apart)


def joined_groups(ranks: Floats, apart: float) -> tuple[tuple[int, int], ...]:
    """First and last index of every maximal run of two or more sorted ranks that lie within the critical difference."""
    groups: list[tuple[int, int]] = []
    for first in range(ranks.size - 1):
        last = int(np.searchsorted(ranks - ranks[first], apart)) - 1
        if last > max(first, groups[-1][1] if groups else 0):
            groups.append((first, last))
    return tuple(groups)
