"""Second test of the sets that a screen has found: equal odds ratios of the bits in all classes.

The statistic of the screen is additive: it compares the fraction of a class with the sum of what the bits say alone.
Two strong markers of unequal classes break this sum, even if they are independent within every class. Their odds ratio
is 1 in every class, however, so that a test of equal odds ratios tells them from an interaction.
"""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.interactions.bits import PackedBits


def keep_unequal_odds(bits: PackedBits, sets: Integers, statistic: Floats, threshold: float) -> tuple[Integers, Floats]:
    """Keep the sets that are significant in both tests.

    Parameters
    ----------
    bits : PackedBits
        The bits.
    sets : ndarray of shape (n_sets, 2) or (n_sets, 3)
        Numbers of the bits of each set that the screen has found.
    statistic : ndarray of shape (n_sets,)
        Statistic of the screen.
    threshold : float
        Least statistic. Both tests have the same degrees of freedom, and hence the same threshold.

    Returns
    -------
    sets : ndarray
        Sets whose odds ratios differ between the classes, too.
    values : ndarray of shape (n_sets, 1 + n_classes)
        The smaller one of the two statistics, and the effect in each class.
    """
    from ilfs.kernels.odds_ratios import compare_odds_ratios

    values = compare_odds_ratios(bits.words, bits.present, bits.starts, sets)
    values[:, 0] = np.minimum(values[:, 0], statistic)
    kept = values[:, 0] >= threshold
    return sets[kept], values[kept]
