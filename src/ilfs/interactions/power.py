r"""Power of the search for interactions: which pairs so many samples can find, and how many samples a pair needs.

Let a pattern, the product +1 of two balanced bits, occur in a fraction 1/2 + e of the samples of one class, which has a
fraction f of all samples. **The other samples are assumed to avoid it as much**, so that half of all samples show it: a
fraction 1/2 - e f / (1 - f) of the others. The squared correlation of the product with the classes
is then :math:`r^2 = 4 e^2 f / (1 - f)`, and the statistic of the pair has about a non-central chi-squared distribution
with non-centrality :math:`m r^2` for m samples. A pair is found if it exceeds the threshold of the search.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers

DEFAULT_POWER = 0.8  # probability with which a pair is to be found
NO_SAMPLES = 0.005  # fraction of samples that is formatted as 0 %
LARGEST_EXCESS = 0.5  # all samples of the class show the pattern, instead of half of them


@dataclass(frozen=True)
class Power:
    """Power of a search for pairs: the smallest effect that it finds with a given probability.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    label : object
        Class in which the pattern is more frequent: the largest one that holds at most half of the samples.
    fraction : float
        Fraction of the samples that belong to this class.
    noncentrality : float
        Non-centrality with which the statistic exceeds the threshold with probability ``power``.
    power : float
        Probability of finding a pair.
    """

    n_samples: int
    label: Any
    fraction: float
    noncentrality: float
    power: float = DEFAULT_POWER

    @classmethod
    def of_search(
        cls,
        labels: NDArray[Any],
        class_sizes: Integers,
        n_tests: int,
        alpha: float = 0.05,
        power: float = DEFAULT_POWER,
    ) -> Self:
        """Compute the power of a search.

        Parameters
        ----------
        labels : ndarray of shape (n_classes,)
            Class labels.
        class_sizes : ndarray of shape (n_classes,)
            Number of samples of each class.
        n_tests : int
            Number of tested sets.
        alpha : float, default=0.05
            Probability of at least one false set.
        power : float, default=0.8
            Probability with which a pair is to be found.

        Returns
        -------
        Power
            For patterns of one class against all others, which avoid the pattern as much.

        Examples
        --------
        Sixty samples find a pair among 10,000 features only if its pattern tells nearly all classes:

        >>> import numpy as np
        >>> from ilfs.interactions.power import Power
        >>> found = Power.of_search(np.array(["a", "b"]), np.array([30, 30]), n_tests=200_000_000)
        >>> round(found.smallest_excess, 2), found.samples_needed(0.5), found.samples_needed(0.3)
        (0.46, 52, 143)
        """
        from scipy.stats import chi2

        fractions = class_sizes / class_sizes.sum()
        fitting = np.where(fractions <= 0.5, fractions, -1.0)
        k = int(np.argmax(fitting))
        threshold = float(chi2.isf(alpha / max(n_tests, 1), len(labels) - 1))
        needed = noncentrality_for(threshold, len(labels) - 1, power)
        return cls(int(class_sizes.sum()), labels[k], float(fractions[k]), needed, power)

    @property
    def smallest_excess(self) -> float:
        """Smallest excess e that is found with the probability ``power``; above 0.5 if even a perfect pair is not."""
        return float(np.sqrt(self.noncentrality * (1 - self.fraction) / (4 * self.fraction * self.n_samples)))

    def condition(self, excess: float) -> str:
        """Say in words how frequent a pattern with an excess is in the class and in all others.

        Parameters
        ----------
        excess : float
            Fraction of the samples of the class that show the pattern, minus one half.

        Returns
        -------
        str
            A clause, to be put behind "if".

        Examples
        --------
        >>> import numpy as np
        >>> from ilfs.interactions.power import Power
        >>> found = Power.of_search(np.array(["a", "b"]), np.array([30, 60]), n_tests=1000)
        >>> found.condition(0.3)
        'at least 80 % of the samples of class a show its pattern, and at most 35 % of the others'
        """
        others = 0.5 - excess * self.fraction / (1 - self.fraction)
        own = "all" if excess >= LARGEST_EXCESS else f"at least {100 * (0.5 + excess):.0f} % of the"
        rest = "none" if others < NO_SAMPLES else f"at most {100 * others:.0f} %"
        return f"{own} samples of class {self.label} show its pattern, and {rest} of the others"

    def samples_needed(self, excess: float) -> int:
        """Return the number of samples with which an excess is found with the probability ``power``."""
        return int(np.ceil(self.noncentrality * (1 - self.fraction) / (4 * self.fraction * excess**2)))


def noncentrality_for(threshold: float, degrees_of_freedom: int, power: float) -> float:
    """Return the non-centrality of a chi-squared variable that exceeds a threshold with a given probability."""
    from scipy.optimize import brentq
    from scipy.stats import ncx2

    most = 4.0 * threshold + 100.0  # its mean is far above the threshold
    found = brentq(lambda value: float(ncx2.sf(threshold, degrees_of_freedom, value)) - power, 1e-9, most)
    return float(found)
