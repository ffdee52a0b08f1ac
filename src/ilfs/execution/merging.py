"""Merging: one fixed tree for every engine.

Floating-point sums depend on the order of their terms. All engines therefore merge the statistics of blocks along the
same tree: leaves of a block first to last, then blocks in groups of `FAN_IN`, groups in groups of `FAN_IN`, and so on.
Equal block boundaries then give equal bits in memory, from a stream and on a cluster. The tree keeps one statistic per
level, so a stream of any length needs little memory.
"""

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from ilfs.statistics.description import S

FAN_IN = 8  # children of an inner node of the tree; a worker of a cluster holds so many statistics at once
K = TypeVar("K", bound=Hashable)


def merged_in_place(before: S, after: S) -> S:
    """Merge two statistics; the first one may be overwritten."""
    merged: S = getattr(before, "merge_in_place", before.merge)(after)
    return merged


class MergeTree(Generic[S]):
    """Merge statistics that arrive in the order of their rows.

    Parameters
    ----------
    n_leaves : int, default=1
        Number of statistics (leaves) per block of full height.
    in_place : bool, default=False
        Allow large statistics to be overwritten by the merged ones. Set it only if nobody else holds them.
    """

    def __init__(self, n_leaves: int = 1, in_place: bool = False) -> None:
        self._n_leaves, self._in_place = n_leaves, in_place
        self._merged: list[S | None] = []
        self._counts: list[int] = []

    def add(self, statistic: S) -> None:
        """Merge the statistic of the next rows."""
        level = 0
        while True:
            if level == len(self._merged):
                self._merged.append(None)
                self._counts.append(0)
            before = self._merged[level]
            statistic = statistic if before is None else self._merge(before, statistic)
            self._counts[level] += 1
            if self._counts[level] < (FAN_IN if level else self._n_leaves):
                self._merged[level] = statistic
                return
            # This node of the tree is complete: it is the next child of the node above it.
            self._merged[level], self._counts[level] = None, 0
            level += 1

    def _merge(self, before: S, after: S) -> S:
        return merged_in_place(before, after) if self._in_place else before.merge(after)

    def result(self) -> S:
        """Merge the statistics left on all levels; higher levels hold earlier rows."""
        result: S | None = None
        for merged in self._merged:
            if merged is not None:
                result = merged if result is None else self._merge(merged, result)
        if result is None:
            raise ValueError("a statistic needs at least one block of rows, got none")
        return result


def merge_parts(pairs: Iterable[tuple[K, S]]) -> dict[K, S]:
    """Merge the statistics of several independent parts, such as strips of columns, that arrive in mixed order.

    Parameters
    ----------
    pairs : iterable of (part, statistic)
        Statistics in the order of their rows, each with the part that it belongs to.

    Returns
    -------
    dict
        The statistic of all rows of each part, parts in the order of their first arrival.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution.merging import merge_parts
    >>> from ilfs.statistics import TokenCounts
    >>> counts = [TokenCounts(np.array([[float(i)]])) for i in range(4)]
    >>> merged = merge_parts(zip("abab", counts))
    >>> merged["a"].at_least, merged["b"].at_least
    (array([[2.]]), array([[4.]]))
    """
    trees: dict[K, MergeTree[S]] = {}
    for part, statistic in pairs:
        if part not in trees:
            trees[part] = MergeTree()
        trees[part].add(statistic)
        del statistic  # may be large: do not keep it while the next one is computed
    return {part: trees.pop(part).result() for part in list(trees)}
