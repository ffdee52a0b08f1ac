"""Tests of two methods over data sets."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.benchmark.significance.effects import Effects, paired_effects
from ilfs.benchmark.significance.values import check_reference
from ilfs.paired_tests import holm, numbers, paired_differences
from ilfs.parameters import check_choice


@dataclass(frozen=True)
class SignedRanks:
    """Sums of the ranks of positive and of negative differences, the two-sided p-value, and the number of pairs."""

    plus: float
    minus: float
    p_value: float
    n_pairs: int


def wilcoxon_test(first: ArrayLike, second: ArrayLike) -> SignedRanks:
    """Wilcoxon's signed-ranks test, exact for any ties.

    The null hypothesis is that the differences are distributed symmetrically around 0. Tied absolute differences share
    their mean rank; the ranks of differences of 0 are split evenly between the two sums, as Demšar does. The p-value is
    the fraction of all choices of signs (of the differences that are not 0) whose sums are at least as unequal. scipy
    is exact only without ties.

    Parameters
    ----------
    first, second : array of shape (n_datasets,)
        Results of two methods, one for each data set; data sets with a NaN are left out. With 5 data sets or
        fewer no p-value can be below 0.05.

    Returns
    -------
    SignedRanks
        ``plus`` is the sum where the first is larger.

    Examples
    --------
    >>> from ilfs.benchmark.significance import wilcoxon_test
    >>> wilcoxon_test([0.9, 0.8, 0.7, 0.9, 0.8, 0.9], [0.8, 0.6, 0.4, 0.5, 0.3, 0.3])
    SignedRanks(plus=21.0, minus=0.0, p_value=0.03125, n_pairs=6)
    """
    from scipy.stats import rankdata

    differences = paired_differences(first, second, 1)
    ranks = rankdata(np.abs(differences))
    half_of_zeros = float(ranks[differences == 0].sum()) / 2
    plus, minus = float(ranks[differences > 0].sum()), float(ranks[differences < 0].sum())
    below = _distribution_of_rank_sum(ranks[differences != 0])[: round(2 * min(plus, minus)) + 1].sum()
    return SignedRanks(plus + half_of_zeros, minus + half_of_zeros, min(2 * float(below), 1.0), differences.size)


def _distribution_of_rank_sum(ranks: Floats) -> Floats:
    """Distribution of twice the sum of a random subset of the ranks; mean ranks are multiples of one half."""
    twice = np.rint(2 * ranks).astype(np.int64)
    probability = np.zeros(int(twice.sum()) + 1)
    probability[0] = 1.0
    for rank in twice:  # with probability 1/2 each, a rank is in the subset (and shifts the sum) or not
        chosen = np.zeros_like(probability)
        chosen[rank:] = probability[: probability.size - rank]
        probability = (probability + chosen) / 2
    return probability


@dataclass(frozen=True)
class MethodComparison:
    """Comparison of a reference with one method over data sets.

    Attributes
    ----------
    method : int
        Index of the other method.
    n_datasets, wins, ties, losses : int
        Number of data sets that both methods have, and on how many of them the reference is better, equal and worse.
    p_value : float
        p-value of Wilcoxon's signed-ranks test.
    adjusted : float
        p-value with Holm's correction for all methods compared.
    effects : Effects
        Effect sizes, with bootstrap intervals.
    """

    method: int
    n_datasets: int
    wins: int
    ties: int
    losses: int
    p_value: float
    adjusted: float
    effects: Effects


def compare_with(
    values: ArrayLike, reference: int = 0, *, higher_is_better: bool = True, confidence: float = 0.95, seed: int = 0
) -> tuple[MethodComparison, ...]:
    """Compare a reference with every other method over data sets: Wilcoxon, Holm, effect sizes.

    Each comparison uses the results of these two methods only. (Tests of mean ranks depend on which other methods are
    included.)

    Parameters
    ----------
    values : array of shape (n_datasets, n_methods)
        One result for each data set and method, as returned by `mean_over_splits`.
    reference : int, default=0
        Index of the method that is compared with the others.
    higher_is_better : bool, default=True
        False for times and errors: then differences are method minus reference, and positive still means a better
        reference.
    confidence : float, default=0.95
        Level of the intervals of the effect sizes.
    seed : int, default=0
        Seed of the bootstrap.

    Returns
    -------
    tuple of MethodComparison
        In the order of the methods. Methods that share fewer than three data sets with the reference are not in it.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.benchmark.significance import compare_with
    >>> values = np.random.default_rng(0).normal(size=(10, 3)) + np.array([0.0, 0.0, 3.0])
    >>> for one in compare_with(values, reference=2):
    ...     print(one.method, one.wins, one.losses, round(one.adjusted, 4), round(one.effects.mean.value, 1))
    0 10 0 0.0039 3.0
    1 10 0 0.0039 3.0
    """
    check_choice("higher_is_better", higher_is_better, (True, False))
    measured = numbers("values", values, 2) * (1 if higher_is_better else -1)
    check_reference(reference, measured.shape[1])
    ours = measured[:, reference]
    shared = np.sum(~np.isnan(measured) & ~np.isnan(ours)[:, None], axis=0)
    others = [j for j in range(measured.shape[1]) if j != reference and shared[j] > 2]
    p_values = np.array([wilcoxon_test(ours, measured[:, j]).p_value for j in others])
    return tuple(
        _comparison(j, paired_differences(ours, measured[:, j], 3), p, adjusted, confidence, seed)
        for j, p, adjusted in zip(others, p_values.tolist(), holm(p_values).tolist(), strict=True)
    )


def _comparison(
    method: int, differences: Floats, p_value: float, adjusted: float, confidence: float, seed: int
) -> MethodComparison:
    return MethodComparison(
        method=method,
        n_datasets=differences.size,
        wins=int(np.sum(differences > 0)),
        ties=int(np.sum(differences == 0)),
        losses=int(np.sum(differences < 0)),
        p_value=p_value,
        adjusted=adjusted,
        effects=paired_effects(differences, np.zeros_like(differences), confidence=confidence, seed=seed),
    )
