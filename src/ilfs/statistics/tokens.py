"""Token counts of every feature: the number of samples in each token.

A token is one of several grades of how well the feature represents a sample, from badly to well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from ilfs.arrays import Floats, read_only
from ilfs.cached import cached_property
from ilfs.kernels.contrast import Contrast
from ilfs.statistics.block import Block, SparseBlock
from ilfs.statistics.description import Description
from ilfs.statistics.moments import ClassMoments

Evidence = Literal["posterior", "distance", "distance_sum"]

# Largest log odds that the distance of two class means can give. If the variance within the classes is 0, the log odds
# would be infinite; but the sharpness must stay finite, because 0 times infinity is NaN.
MAX_LOG_ODDS = 1e12
GRID_BITS = 44  # bits of a token count that are kept, about thirteen digits
MEANS_ERROR = 64 * np.finfo(np.float64).eps  # relative rounding error of means, which are sums of many values
# A class of at most this weight has no mean left without one sample. Weights that sum to 1 may exceed 1 by rounding.
ONE_SAMPLE_WEIGHT = 1.0 + 1e-9


@dataclass(frozen=True)
class TokenCounts:
    """Weight of the samples whose evidence reaches each boundary between tokens, for every feature.

    Parameters
    ----------
    at_least : ndarray of shape (n_tokens - 1, n_features)
        Weight of the samples whose evidence reaches the threshold.
    """

    at_least: Floats

    def merge(self, other: Self) -> Self:
        """Add the counts of two sets of rows."""
        return type(self)(self.at_least + other.at_least)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Put the counts of neighbouring columns side by side."""
        return cls(np.hstack([part.at_least for part in parts]))

    def per_token(self, total: Floats) -> Floats:
        """Return the weight of the samples in each token.

        Parameters
        ----------
        total : ndarray of shape (n_features,)
            Weight of the values of each feature; 0 for a feature whose counts are to be 0.

        Returns
        -------
        ndarray of shape (n_tokens, n_features)
            Every value has a token: the first one gets the values that reach no threshold.
        """
        reached = np.vstack([total, np.where(total > 0, self.at_least, 0.0), np.zeros_like(total)])
        return on_grid(np.maximum(reached[:-1] - reached[1:], 0.0), float(total.max(initial=0.0)))


@dataclass(frozen=True)
class Tokens(Description[TokenCounts]):
    """Description of the token counts of every feature.

    Parameters
    ----------
    moments : ClassMoments
        Moments of all rows.
    edges : ndarray of shape (n_tokens + 1,)
        Boundaries between tokens, from 0 to 1.
    evidence : {"posterior", "distance", "distance_sum"}
        How well a feature represents a sample: see `ilfs.ILFS`.
    leave_one_out : bool
        Compare a sample with the mean of its class without this sample.
    balanced : bool
        Give every class the same total weight.
    """

    moments: ClassMoments
    edges: Floats
    evidence: Evidence = "posterior"
    leave_one_out: bool = True
    balanced: bool = True

    def has_same_scale(self, other: "Tokens") -> bool:
        """Return whether another description has the same evidence and the same edges."""
        return self.evidence == other.evidence and np.array_equal(self.edges, other.edges)

    @cached_property
    def contrast(self) -> Contrast:
        """Coefficients of the evidence of a value, for every class and feature."""
        return self.compute_contrast()

    def compute_contrast(self) -> Contrast:
        """Compute the coefficients, and do not keep them."""
        exact = class_contrast(self.moments, self.evidence, self.leave_one_out, self.balanced)
        # The distance has no common unit over the classes, so the bound of a class must not depend on another.
        scatter = self.moments.scatter
        furthest = np.sqrt(scatter.sum(axis=0) if self.evidence == "posterior" else scatter)
        return exact._replace(constant=exact.constant + rounding_bound(exact, self.moments, furthest))

    @cached_property
    def thresholds(self) -> Floats:
        """Inner edges in the unit of the evidence, padded with infinity to the multiple that the kernel needs."""
        from ilfs.kernels.evidence import THRESHOLDS_PER_SWEEP

        inner = self.edges[1:-1]
        inner = inner if self.evidence != "posterior" else np.log(inner / (1.0 - inner))
        return np.append(inner, np.full(-inner.size % THRESHOLDS_PER_SWEEP, np.inf))

    def __call__(self, block: Block) -> TokenCounts:
        """Count the tokens of one block."""
        from ilfs.kernels.by_column import column_tokens
        from ilfs.kernels.evidence import dense_tokens, sparse_tokens
        from ilfs.kernels.two_classes import two_class_tokens

        contrast = Contrast(*(np.ascontiguousarray(array[..., block.columns]) for array in self.contrast))
        thresholds, is_fraction, labels = self.thresholds, self.evidence != "posterior", block.labels
        at_least = np.zeros((thresholds.size, block.n_columns))
        if isinstance(block, SparseBlock):
            sparse_tokens(
                block.data, block.indices, block.indptr, labels.codes, labels.weight,
                labels.class_rows, labels.class_total, contrast, is_fraction, thresholds, at_least,
            )  # fmt: skip
        elif block.is_row_major:
            dense_tokens(
                read_only(block.X), *labels.by_class, block.first, block.last, contrast, is_fraction, thresholds,
                at_least,
            )  # fmt: skip
        elif (columns := block.unweighted_columns()) is not None:
            addresses, like, second = columns.addresses, columns.like, labels.is_second
            if second is None:
                column_tokens(addresses, like, *labels.groups, contrast, is_fraction, thresholds, at_least)
            else:
                two_class_tokens(addresses, like, second, contrast, is_fraction, thresholds, at_least)
        else:
            return TokenCounts.join([self(strip) for strip in block.row_major_strips()])
        return TokenCounts(at_least[: self.edges.size - 2])


def on_grid(weights: Floats, total: float) -> Floats:
    """Round sums of weights to thirteen digits of the total, on a binary grid.

    Learned topics amplify a change in the last bit of a count to one in the second digit of a relevance. On the grid,
    the same weights added in another order give the same counts.
    """
    if total <= 0.0:
        return weights
    unit = 2.0 ** (np.ceil(np.log2(total)) - GRID_BITS)
    return np.asarray(np.round(weights / unit) * unit)


def class_contrast(moments: ClassMoments, evidence: Evidence, leave_one_out: bool, balanced: bool) -> Contrast:
    """Compute the coefficients of the evidence of a value, for every class and feature.

    Let z be the distance of a value from the mean of its class k, and e the distances of the K class means from their
    mean. Over the other classes j, the mean of (z + e_k - e_j)^2 is

        z^2 + 2 K e_k / (K - 1) z + (sum of e^2 + K e_k^2) / (K - 1).
    """
    n_classes = moments.n_observed
    n_others = np.maximum(n_classes - 1, 1)
    e = distances_of_means(moments)
    linear = 2 * n_classes * e / n_others
    constant = (np.sum(e**2, axis=0) + n_classes * e**2) / n_others
    left_out = leave_one_out_factor(moments.count) if leave_one_out else np.ones_like(moments.count)
    # The posterior compares that mean with left_out z^2; their difference has the square term 1 - left_out. The
    # distance is a ratio of the two, for which the kernel needs left_out itself.
    square = 1 - left_out if evidence == "posterior" else left_out
    if evidence == "distance_sum":
        # sum / (sum + own) is mean / (mean + own / (K - 1)), with the sum and the mean over the other classes.
        square = square / n_others
    sharpness = half_precision(moments) if evidence == "posterior" else np.ones_like(moments.total)
    weight = class_balance(moments) if balanced else np.ones_like(moments.count)
    return Contrast(moments.mean, square, linear, constant, sharpness, weight)


def distances_of_means(moments: ClassMoments) -> Floats:
    """Compute the distances of the class means from their mean; all are 0 if they are pure rounding.

    Otherwise the distance evidence of a value at the mean of a class without spread would be a quotient of two
    rounding errors.
    """
    centre = moments.offset.sum(axis=0) / np.maximum(moments.n_observed, 1)
    e = np.where(moments.count > 0, moments.offset - centre, 0.0)
    return np.asarray(np.where(np.ptp(e, axis=0) > MEANS_ERROR * np.sqrt(moments.scatter.sum(axis=0)), e, 0.0))


def rounding_bound(contrast: Contrast, moments: ClassMoments, furthest: Floats) -> Floats:
    """Bound the amount by which rounding can lower the evidence of a value.

    A value exactly half way between its class and the others has evidence 0, which is a boundary between tokens. This
    happens for all values of a feature with equal class means, and with `leave_one_out` for the only value of a feature
    that is not 0. Adding the bound to the evidence puts such values on the same side in every column, layout and unit.
    It must be positive for a class of equal values, too, if those of another class differ: `ilfs.kernels.cuts` compares
    values with the ends of intervals, which would otherwise meet in this value.

    Parameters
    ----------
    contrast : Contrast
        Coefficients without the bound.
    moments : ClassMoments
        Moments of all rows.
    furthest : ndarray of shape (n_classes, n_features) or (n_features,)
        No value is further from the mean of its class.
    """
    value = furthest + np.abs(moments.mean)
    terms = (np.abs(contrast.square) * furthest + np.abs(contrast.linear)) * value + contrast.constant
    # The difference of two class means may itself be pure rounding.
    terms += (furthest + np.ptp(moments.offset, axis=0)) * furthest
    return np.asarray(MEANS_ERROR * terms)


def half_precision(moments: ClassMoments) -> Floats:
    """Compute 1 / (2 variance) of each feature, limited so that log odds stay below `MAX_LOG_ODDS`."""
    # The log odds of a value at the mean of its class are at most (largest distance of class means)^2 / (2 variance).
    variance, apart = moments.pooled_variance, np.ptp(moments.offset, axis=0) ** 2
    least = np.maximum(variance, apart / (2 * MAX_LOG_ODDS))
    return np.asarray(np.divide(0.5, least, out=np.ones_like(least), where=least > np.finfo(np.float64).tiny))


def leave_one_out_factor(count: Floats) -> Floats:
    """Compute (n / (n - 1))^2: squared distance to the class mean without the sample, over that to the mean with it.

    A class of one sample has no mean without it; its factor is 1.
    """
    return np.asarray(np.divide(count, count - 1.0, out=np.ones_like(count), where=count > ONE_SAMPLE_WEIGHT) ** 2)


def class_balance(moments: ClassMoments) -> Floats:
    """Compute the weight m / (K n_k) of a sample, which gives all observed classes the same total weight."""
    fair = moments.total / np.maximum(moments.n_observed, 1)
    return np.divide(fair, moments.count, out=np.zeros_like(moments.count), where=moments.count > 0)


def mean_log_odds(moments: ClassMoments, leave_one_out: bool, balanced: bool) -> Floats:
    """Compute the mean log odds of the samples' own classes in closed form.

    The log odds are (square z^2 + linear z + constant) sharpness. Over a class, z^2 sums to the scatter and z to 0.
    """
    contrast = class_contrast(moments, "posterior", leave_one_out, balanced)
    of_class = contrast.square * moments.scatter + contrast.constant * moments.count
    summed = contrast.sharpness * np.sum(contrast.class_weight * of_class, axis=0)
    return np.asarray(np.divide(summed, moments.total, out=np.zeros_like(summed), where=moments.total > 0))
