r"""Candidates of ``redundancy="gain"`` that do not all repeat each other.

The candidates are the most relevant features. In an image or a spectrum, these may all come from one place: a thousand
columns that follow one or two directions, while columns that are needed for the other classes are left out. So the most
relevant features, the *pool*, are compared with a *sample* a quarter as large, taken evenly from all features in the
order of their relevance. The pool is *narrow* if two conditions hold:

1. Its effective rank is below that of the sample, although it is larger (`ilfs.solvers.breadth`).
2. The sample explains the classes nearly as well. Explained is what the picks with the largest gains add. The rest is

   .. math:: u = 1 - \frac1K \sum_k \sum_j g_{jk},

   where :math:`g_{jk}` is the gain of pick j for class k.

In place of a narrow pool, half of the candidates are the most relevant features, and the other half are taken evenly
from those that follow by relevance. As many features count as there are features with a correlation above chance.

The sample is read together with the most relevant features. So another pass over the rows is needed only if these are
narrow.
"""

from collections.abc import Callable

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution import Plan, both
from ilfs.redundancy import NO_COLUMNS, PickedSubset, Redundancy, effective_samples
from ilfs.statistics import Association, Classes

MIN_POOL = 100  # candidates; fewer are not compared with a sample
SAMPLE_RATIO = 4  # size of the pool relative to the sample
PICK_RATIO = 10  # size of the pool relative to the number of picks that are compared
# A pool that spans fewer directions than the sample is narrow if what it leaves unexplained, relative to the sample, is
# above this limit. It was 0.90 to 1.9 for images and spectra with a narrow pool, and at most 0.88 for other tables.
MAX_UNEXPLAINED_RATIO = 0.92
# Features above chance, relative to the size of the pool. With fewer, the pool has most of them already.
MIN_RELEVANT_RATIO = 1.5

PickFrom = Callable[[Integers], Plan[PickedSubset]]
Associate = Callable[[Integers], Association]


def pick_from_pool(
    how: Redundancy,
    pick_from: PickFrom,
    order: Integers,
    n_candidates: int | None,
    classes: Classes,
    associate: Associate,
    kept: Integers = NO_COLUMNS,
) -> Plan[PickedSubset]:
    """Pick from the most relevant features; with ``"gain"``, from a broader pool if these are narrow.

    Parameters
    ----------
    how : {"gain", "novelty"}
        Criterion by which the next feature is picked.
    pick_from : callable
        Plan that picks from the given columns, which are ordered by relevance.
    order : ndarray of int
        Columns of all usable features, most relevant first.
    n_candidates : int or None
        Size of the pool; None means all usable features.
    classes : Classes
        Classes of the rows.
    associate : callable
        Association of the given columns with the classes.
    kept : ndarray of int, optional
        Columns that are candidates in any case, if they are usable.

    Returns
    -------
    plan of PickedSubset
        Its ``candidates`` are the pool. One pass over the rows, and another one if the most relevant features are
        narrow.
    """
    pool = with_kept(order, order[:n_candidates], kept)
    if how != "gain" or n_candidates is None or not may_be_spread(order.size, n_candidates):
        return (yield from pick_from(pool))
    n_relevant = count_relevant(associate(order), classes)
    if not may_be_spread(n_relevant, n_candidates):
        return (yield from pick_from(pool))
    sample = with_kept(order, evenly(order, n_candidates // SAMPLE_RATIO), kept)
    of_pool, of_sample = yield from both(pick_from(pool), pick_from(sample))
    if not is_narrow(of_pool, of_sample, n_candidates // PICK_RATIO):
        return of_pool
    return (yield from pick_from(with_kept(order, spread(order[:n_relevant], n_candidates), kept)))


def may_be_spread(n_relevant: int, n_candidates: int) -> bool:
    """Return True if a pool is large enough to be compared with a sample, and lacks many relevant features."""
    return n_candidates >= MIN_POOL and n_relevant > MIN_RELEVANT_RATIO * n_candidates


def count_relevant(association: Association, classes: Classes) -> int:
    """Count the features with a correlation above chance, from their association with the classes."""
    return count_above_chance(association.correlation, effective_samples(classes, association.class_weight))


def count_above_chance(correlation: Floats, n_samples: float) -> int:
    """Count the features whose largest squared correlation with a class is above log(n_features) / n_samples.

    Parameters
    ----------
    correlation : ndarray of shape (n_features, n_classes)
        Correlations of features with classes.
    n_samples : float
        Effective number of samples.

    Returns
    -------
    int
        An uninformative feature is counted with a probability of about 1 / sqrt(n_features) for each class.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.candidates import count_above_chance
    >>> count_above_chance(np.array([[0.1, -0.1], [0.6, 0.0], [0.0, -0.5]]), n_samples=10)  # log(3) / 10 = 0.33 ** 2
    2
    """
    chance = np.log(max(len(correlation), 1)) / n_samples
    return int(np.count_nonzero(np.any(correlation**2 > chance, axis=1)))


def unexplained(subset: PickedSubset, n_picks: int) -> float:
    """Return the fraction of the class indicators that the picks with the largest gains leave, averaged over classes.

    Parameters
    ----------
    subset : PickedSubset
        Picks by gain.
    n_picks : int
        Number of picks.

    Returns
    -------
    float
        Between 0 and 1.
    """
    assert subset.gain is not None
    gains = subset.gain[subset.candidates].mean(axis=1)
    return 1.0 - float(np.sort(gains)[-n_picks:].sum())


def is_narrow(pool: PickedSubset, sample: PickedSubset, n_picks: int) -> bool:
    """Return True if a pool repeats itself and explains the classes hardly better than a small sample of all features.

    Parameters
    ----------
    pool, sample : PickedSubset
        Picks by gain from each.
    n_picks : int
        Number of picks that are compared.

    Returns
    -------
    bool
        True if the pool has a smaller effective rank than the sample, and leaves more than `MAX_UNEXPLAINED_RATIO` of
        what the sample leaves unexplained.
    """
    if pool.effective_rank >= sample.effective_rank:
        return False
    return unexplained(pool, n_picks) > MAX_UNEXPLAINED_RATIO * unexplained(sample, n_picks)


def evenly(order: Integers, n: int) -> Integers:
    """Take n columns from an order at equal distances, beginning with the first.

    Parameters
    ----------
    order : ndarray of int
        Columns.
    n : int
        Number of columns to take, at most ``order.size``.

    Returns
    -------
    ndarray of shape (n,)
        Different columns of the order.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.candidates import evenly
    >>> evenly(np.arange(10), 4)
    array([0, 2, 5, 7])
    """
    return order[np.arange(n) * order.size // n]


def spread(order: Integers, n: int) -> Integers:
    """Take the first n / 2 columns of an order, and as many of the others at equal distances.

    Parameters
    ----------
    order : ndarray of int
        Columns.
    n : int
        Number of columns to take, at most ``order.size``.

    Returns
    -------
    ndarray of shape (n,)
        Different columns, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.candidates import spread
    >>> spread(np.arange(12), 6)
    array([0, 1, 2, 3, 6, 9])
    """
    n_first = n // 2
    return np.concatenate([order[:n_first], evenly(order[n_first:], n - n_first)])


def with_kept(order: Integers, pool: Integers, kept: Integers) -> Integers:
    """Append those columns of an order that must be candidates, if they are not in the pool."""
    missing = kept[~np.isin(kept, pool)]
    return np.concatenate([pool, order[np.isin(order, missing)]])
