r"""Posterior distribution of mutual information, given a table of counts.

The chances :math:`p_{kb}` of class k and bin b have a Dirichlet prior. After counts were seen they are again Dirichlet
distributed, with parameters :math:`n_{kb}` = count + prior count and the total :math:`N`. So the mutual information
:math:`I(p)` has a distribution, too. Hutter gives its mean in closed form and its variance up to :math:`O(N^{-3})`.

That expansion assumes that every :math:`n_{kb}` is large; with an empty entry and a small prior count it can be
negative. We compute the variance in another way. With :math:`S(q) = \sum_a q_a \log q_a`,

.. math:: I = S(p_{kb}) - S(p_k) - S(p_b), \qquad
    \mathrm{Var}\, I = \mathrm{Var}\, S(p_{kb}) + \dots - 2\, \mathrm{Cov}(S(p_{kb}), S(p_k)) - \dots
    + 2\, \mathrm{Cov}(S(p_k), S(p_b)).

All terms but the last have closed forms in digamma and trigamma functions (after D. H. Wolpert, D. R. Wolf). In the
last one, :math:`p_k` and :math:`p_b` overlap in :math:`p_{kb}`. The conditional mean of a polynomial in :math:`p_b`
given :math:`p_k` is a polynomial in :math:`p_k` of the same degree. Therefore Jacobi polynomials :math:`P_d` of
different degrees are uncorrelated, and

.. math:: \mathrm{Cov}(f(p_k), f(p_b)) = \sum_{d \ge 1} \frac{\mathrm{Cov}(P_d(p_k), P_d(p_b))}{(d!)^2}\,
    \mathrm{E}\, f^{(d)}(p'_k)\; \mathrm{E}\, f^{(d)}(p'_b), \qquad f(q) = q \log q,

where :math:`p'` has both parameters of its Beta distribution increased by d. We stop after degree 2. Compared with
Monte Carlo on 270 tables, the standard deviation is wrong by at most 2 % from 5 counts on and 1 % from 20 counts on.

All logarithms are taken relative to those of the mean chances, :math:`\log (n / N)`: differences of large sums would
otherwise lose as many digits as :math:`N^2` has; now as many as :math:`N` has.

References: M. Hutter, *Distribution of Mutual Information*, NIPS 2001; M. Zaffalon, M. Hutter, *Robust Feature
Selection by Mutual Information Distributions*, UAI 2002; D. H. Wolpert, D. R. Wolf, *Estimating Functions of
Probability Distributions from a Finite Set of Samples*, Physical Review E 52, 1995.
"""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, digamma, zeta

from ilfs.arrays import Floats

Prior = Literal["uniform", "jeffreys", "perks"]
PRIORS: tuple[Prior, ...] = ("uniform", "jeffreys", "perks")

# Fraction of the largest variance that a distribution on [0, largest] with the given mean can have. The approximate
# variance is kept below it, so that a Beta distribution with these moments exists.
LARGEST_VARIANCE_FRACTION = 0.99


@dataclass(frozen=True)
class InformationPosterior:
    """Posterior mean and variance of the mutual information of each feature with the class.

    Parameters
    ----------
    mean, variance : ndarray of shape (n_features,)
        In nats and squared nats.
    largest : ndarray of shape (n_features,)
        Largest possible value: the logarithm of the number of classes or of bins, whichever is smaller.
    """

    mean: Floats
    variance: Floats
    largest: Floats

    @classmethod
    def from_counts(cls, counts: Floats, prior: Prior) -> Self:
        """Compute the posterior of every feature.

        Parameters
        ----------
        counts : ndarray of shape (n_classes, n_features, n_bins)
            Weight of the values by class and bin. Classes and bins without values are left out: for a feature with
            values in fewer than two classes or bins, the information is 0.
        prior : {"uniform", "jeffreys", "perks"}
            Prior count of every pair of class and bin: 1, 1/2 or 1 / number of pairs.

        Examples
        --------
        >>> import numpy as np
        >>> from ilfs.solvers.information import InformationPosterior
        >>> counts = np.array([[[9.0, 1.0]], [[2.0, 8.0]]])  # two classes, one feature, two bins
        >>> posterior = InformationPosterior.from_counts(counts, "perks")
        >>> posterior.mean.round(4), (posterior.variance**0.5).round(4)
        (array([0.2658]), array([0.1174]))
        """
        n, is_informative = with_prior(np.ascontiguousarray(np.moveaxis(counts, 0, 1)), prior)
        pairs = Simplex.from_parameters(n.reshape(len(n), -1))
        classes, bins = Simplex.from_parameters(n.sum(axis=2)), Simplex.from_parameters(n.sum(axis=1))
        evidence = n * (pairs.log_mean.reshape(n.shape) - classes.log_mean[:, :, None] - bins.log_mean[:, None, :])
        mean = (evidence.sum(axis=(1, 2)) / pairs.total[:, 0]) + pairs.mean - classes.mean - bins.mean
        variance = information_variance(n, evidence, pairs, classes, bins)
        largest = np.log(np.minimum((n.sum(axis=2) > 0).sum(axis=1), (n.sum(axis=1) > 0).sum(axis=1)))
        mean = np.clip(np.where(is_informative, mean, 0.0), 0.0, largest)
        bound = LARGEST_VARIANCE_FRACTION * mean * (largest - mean)
        return cls(mean, np.clip(np.where(is_informative, variance, 0.0), 0.0, bound), largest)

    def quantile(self, probability: float) -> Floats:
        """Return a quantile of the Beta distribution on [0, largest] that has this mean and variance."""
        varies = self.variance > 0
        mean = np.divide(self.mean, self.largest, out=np.zeros_like(self.mean), where=varies)
        variance = np.divide(self.variance, self.largest**2, out=np.ones_like(self.mean), where=varies)
        size = mean * (1 - mean) / variance - 1  # sum of the two parameters of the Beta distribution
        a, b = np.where(varies, mean * size, 1.0), np.where(varies, (1 - mean) * size, 1.0)
        return np.where(varies, self.largest * betaincinv(a, b, probability), self.mean)


def with_prior(counts: Floats, prior: Prior) -> tuple[Floats, NDArray[np.bool_]]:
    """Add the prior counts, and mark the features with values in at least two classes and two bins.

    Other features get a table of ones, which avoids divisions by zero; it must be ignored.
    """
    has_class, has_bin = counts.sum(axis=2) > 0, counts.sum(axis=1) > 0
    n_classes, n_bins = has_class.sum(axis=1), has_bin.sum(axis=1)
    is_informative = (n_classes > 1) & (n_bins > 1)
    cells = has_class[:, :, None] & has_bin[:, None, :]
    each = {"perks": 1.0 / np.maximum(n_classes * n_bins, 1), "jeffreys": 0.5, "uniform": 1.0}[prior]
    n = np.where(cells, counts + np.reshape(each, (-1, 1, 1)), 0.0)
    return np.where(is_informative[:, None, None], n, 1.0), is_informative


@dataclass(frozen=True)
class Simplex:
    """Moments of g(p) = p (log p - log mean) for chances p that are Dirichlet distributed, one distribution a row.

    Entries with the parameter 0 are chances that are 0.

    Parameters
    ----------
    x : ndarray of shape (n, n_chances)
        Parameters.
    total : ndarray of shape (n, 1)
        Their sums N.
    log_mean : ndarray of shape (n, n_chances)
        log (x / N), 0 if x is 0.
    first : ndarray of shape (n, n_chances)
        E g(p) N / x.
    pair : ndarray of shape (n, n_chances)
        Factor in mixed moments: E g(p) q = x y pair / N (N + 1) for another chance q with the parameter y, and
        E g(p) g(q) = x y (pair of p * pair of q - trigamma(N + 2)) / N (N + 1).
    own : ndarray of shape (n, n_chances)
        E p g(p) N (N + 1) / x (x + 1).
    own_square : ndarray of shape (n, n_chances)
        E g(p)^2 N (N + 1) / x (x + 1).
    """

    x: Floats
    total: Floats
    log_mean: Floats
    first: Floats
    pair: Floats
    own: Floats
    own_square: Floats

    @classmethod
    def from_parameters(cls, x: Floats) -> Self:
        """Compute the moments."""
        total = x.sum(axis=1, keepdims=True)
        log_mean = np.log(np.divide(x, total, out=np.ones_like(x), where=x > 0))
        digamma_x, digamma_total = digamma(x + 1) - log_mean, digamma(total + 1)
        pair = digamma_x - digamma_total - 1 / (total + 1)  # digamma(z + 1) = digamma(z) + 1 / z
        own = pair + 1 / (x + 1)
        return cls(
            x, total, log_mean, digamma_x - digamma_total, pair, own, own**2 + trigamma(x + 2) - trigamma(total + 2)
        )

    @property
    def scale(self) -> Floats:
        """Return N (N + 1) of every row."""
        return (self.total * (self.total + 1))[:, 0]

    @property
    def mean(self) -> Floats:
        """Return the mean of the sum of g(p)."""
        return np.asarray((self.x * self.first).sum(axis=1) / self.total[:, 0])

    @property
    def variance(self) -> Floats:
        """Return the variance of the sum of g(p)."""
        xu = self.x * self.pair
        different = xu.sum(axis=1) ** 2 - (xu**2).sum(axis=1)
        pairs = self.total[:, 0] ** 2 - (self.x**2).sum(axis=1)
        same = (self.x * (self.x + 1) * self.own_square).sum(axis=1)
        return np.asarray((same + different - pairs * trigamma(self.total[:, 0] + 2)) / self.scale - self.mean**2)


def trigamma(x: Floats) -> Floats:
    """Return the trigamma function."""
    return np.asarray(zeta(2.0, x))


def information_variance(n: Floats, evidence: Floats, pairs: Simplex, classes: Simplex, bins: Simplex) -> Floats:
    """Return the variance of the mutual information.

    I is a linear part, the sum of p_kb log(n_kb N / n_k n_b), plus the sums of g over pairs, minus those over classes
    and bins. ``evidence`` is n_kb log(n_kb N / n_k n_b).
    """
    by_class, by_bin = evidence.sum(axis=2), evidence.sum(axis=1)
    linear = (
        covariance_with_linear(pairs, evidence.reshape(len(n), -1))
        - covariance_with_linear(classes, by_class)
        - covariance_with_linear(bins, by_bin)
    )
    own = linear_variance(n, evidence) + pairs.variance + classes.variance + bins.variance
    nested = nested_covariance(n, pairs, classes, axis=2) + nested_covariance(n, pairs, bins, axis=1)
    return np.asarray(own + 2 * (linear - nested + overlapping_covariance(n, classes, bins)))


def linear_variance(n: Floats, evidence: Floats) -> Floats:
    """Return the variance of the linear part: (K - J^2) / (N + 1) in the notation of Hutter."""
    total = n.sum(axis=(1, 2))
    logs = np.divide(evidence, n, out=np.zeros_like(n), where=n > 0)
    mean = evidence.sum(axis=(1, 2)) / total
    return np.asarray((n * (logs - mean[:, None, None]) ** 2).sum(axis=(1, 2)) / (total * (total + 1)))


def covariance_with_linear(part: Simplex, evidence: Floats) -> Floats:
    """Return the covariance of the linear part and the sum of g(p) over a partition of the pairs.

    ``evidence`` is summed over the pairs in each part. A pair inside p is p times an independent fraction of p.
    """
    total = evidence.sum(axis=1, keepdims=True)
    inside = (evidence * (part.x + 1) * part.own).sum(axis=1)
    outside = ((total - evidence) * part.x * part.pair).sum(axis=1)
    return np.asarray((inside + outside) / part.scale - total[:, 0] / part.total[:, 0] * part.mean)


def nested_covariance(n: Floats, pairs: Simplex, sums: Simplex, axis: int) -> Floats:
    """Return the covariance of the sum of g over all pairs and the sum of g over sums of pairs along an axis.

    A pair in the sum p_k is p_k q with q independent of p_k, so that g(p_k q) = q g(p_k) + p_k g(q).
    """
    xu = (pairs.x * pairs.pair).reshape(n.shape).sum(axis=axis)
    yv = sums.x * sums.pair
    other_sums = xu.sum(axis=1) * yv.sum(axis=1) - (xu * yv).sum(axis=1)
    other_sizes = sums.total[:, 0] ** 2 - (sums.x**2).sum(axis=1)
    # The mean of g(q) is q0 (E log p_kb - E log p_k) with the mean q0 = n_kb / n_k.
    mean_within = (n * (pairs.first.reshape(n.shape) - np.expand_dims(sums.first, axis))).sum(axis=axis)
    same_sum = ((sums.x + 1) * (sums.x * sums.own_square + sums.own * mean_within)).sum(axis=1)
    mixed = other_sums + same_sum - other_sizes * trigamma(sums.total[:, 0] + 2)
    return np.asarray(mixed / sums.scale - pairs.mean * sums.mean)


def overlapping_covariance(n: Floats, classes: Simplex, bins: Simplex) -> Floats:
    """Return the covariance of the sums of g over classes and over bins, up to Jacobi polynomials of degree 2.

    Given p_k, p_b is p_k q + (1 - p_k) s with independent fractions q and s. The coefficient of p_k^d in the
    conditional mean of p_b^d is the regression of one polynomial on the other.
    """
    total = classes.total[:, :, None]
    a, b = classes.x[:, :, None], bins.x[:, None, :]
    rest, outside = total - a, b - n
    is_pair = n > 0
    a, rest = np.where(is_pair, a, 1.0), np.where(is_pair, rest, 1.0)
    q, s = n / a, outside / rest
    q2, s2 = q * (n + 1) / (a + 1), s * (outside + 1) / (rest + 1)
    norm = a * rest / (total**2 * (total + 1))  # squared norm of the monic Jacobi polynomial of degree 1
    norm2 = norm * 2 * (a + 1) * (rest + 1) * total / ((total + 1) * (total + 2) ** 2 * (total + 3))
    # Means of the first two derivatives of g: 1 + log p - log mean, and 1 / p.
    first = (1 + classes.pair[:, :, None]) * (1 + bins.pair[:, None, :])
    second = (total + 3) ** 2 / ((a + 1) * (b + 1))
    terms = (q - s) * norm * first + (q2 - 2 * q * s + s2) * norm2 / 4 * second
    return np.asarray(np.where(is_pair, terms, 0.0).sum(axis=(1, 2)))
