"""Inner loop of forward selection by gain.

The regression has terms: the linear term of each candidate, and further terms, each of which needs one to three
candidates. The terms that enter are the pivots of a Cholesky factorisation of the covariance matrix plus ridge. Each
subtracts a matrix of rank one from the covariances. The kernel makes several picks without updating the whole matrix:
it updates only the rows that it needs. `ilfs.solvers.picking` then subtracts the changes of all these picks by one
matrix product, which is much faster.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel

MAX_FEATURES = 3  # that a term may need


class Regression(NamedTuple):
    """State of the regression. The terms are the linear terms of the candidates, then shape terms, then products.

    Attributes
    ----------
    classes : ndarray of shape (n_classes, n_terms)
        Covariances of the terms with the residuals of the classes.
    variance : ndarray of shape (n_terms,)
        Variance of each term that the terms entered before do not explain.
    with_shape : ndarray of shape (n_candidates,)
        Covariance of linear and shape term of each candidate that the terms entered before do not explain.
    covariance : ndarray of shape (n_terms, n_terms)
        Covariances before the picks of this call; only the diagonal and the values above it are valid.
    ridge : ndarray of shape (n_terms,)
        Penalty of the squared coefficient of each term.
    steps : ndarray of shape (n_steps, n_terms)
        Memory for the rows of the Cholesky factor of this call.
    """

    classes: Floats
    variance: Floats
    with_shape: Floats
    covariance: Floats
    ridge: Floats
    steps: Floats


class Needs(NamedTuple):
    """Candidates that the further terms need.

    Attributes
    ----------
    shape : ndarray of shape (n_candidates,)
        Shape term of each candidate; -1 if it has none.
    first : int
        Number of the first product term.
    features : ndarray of shape (n_products, 3)
        Candidates that each product term needs; -1 in unused places.
    starts, products : ndarray
        Candidate i is needed by the products ``products[starts[i]:starts[i + 1]]``, counted from 0.
    entered : ndarray of shape (n_products,)
        True for products that are in the regression.
    """

    shape: Integers
    first: int
    features: Integers
    starts: Integers
    products: Integers
    entered: NDArray[Any]


class Candidates(NamedTuple):
    """State of the candidates: their correlations, which are not picked yet, and the nearest picked one of each."""

    correlation: Floats
    waiting: NDArray[Any]
    novelty: Floats
    nearest: Integers
    forced: NDArray[Any]


class Tolerance(NamedTuple):
    """Gains tie if they differ by at most ``relative`` times the largest or by ``least_gain``, novelties by ``floor``.

    Of tied candidates the first is picked. A candidate with a novelty of at most ``floor`` is a copy of a pick.
    """

    relative: float
    floor: float
    least_gain: float


class Found(NamedTuple):
    """Results: picks in their order and their values, and the gains of the candidates (classes x candidates).

    ``shape_gain`` is the part of ``gain`` that comes from the shape terms.
    """

    order: Integers
    value: Floats
    gain: Floats
    shape_gain: Floats


@kernel
def pick_some(
    regression: Regression,
    needs: Needs,
    candidates: Candidates,
    tolerance: Tolerance,
    n_forced: int,
    n_picked: int,
    found: Found,
) -> tuple[int, int]:
    """Pick candidates while ``steps`` has room; return the number of all picks and the number of steps.

    A move adds one candidate, or all candidates that a product needs. Its value is the gain of the terms that it makes
    available for each candidate that it adds. No step is made if no move has a gain.

    The first ``n_forced`` picks are chosen among the candidates of the mask ``forced``, even if they gain nothing.
    """
    n, n_products = candidates.waiting.size, needs.entered.size
    alone, values, gains = np.empty(n), np.empty(n + n_products), np.empty(n_products)
    is_eligible, row = np.empty(n, dtype=np.bool_), np.empty(regression.variance.size)
    chosen, lowered = np.empty(MAX_FEATURES, dtype=np.int64), np.empty(len(regression.classes))
    entering = np.empty(len(regression.steps), dtype=np.int64)
    s = 0
    while n_picked < n:
        is_forced = n_picked < n_forced
        for i in range(n):
            allowed = candidates.forced[i] if is_forced else candidates.novelty[i] > 0.0
            is_eligible[i] = candidates.waiting[i] and allowed
        gains_alone(regression, needs.shape, is_eligible, alone)
        product_gains(regression, needs, gains)
        value_moves(needs, candidates.waiting, is_eligible, is_forced, alone, gains, values)
        move = first_of_the_largest(values, tolerance, is_forced)
        if move < 0:
            break
        size = members_of(needs, candidates.waiting, alone, move, n, chosen)
        n_terms = terms_of(needs, candidates.waiting, chosen, size, s, entering)
        if n_terms < 0:
            break
        for a in range(n_terms):
            enter(regression, needs.shape, entering[a], s, row, lowered)
            add_gains(needs, chosen, size, entering[a], lowered, found)
            s += 1
        for a in range(size):
            found.order[n_picked], found.value[n_picked] = chosen[a], values[move]
            n_picked += 1
            candidates.waiting[chosen[a]] = False
            update_nearest(candidates, chosen[a], tolerance.floor)
    return n_picked, s


@formula
def gains_alone(regression: Regression, shape: Integers, is_eligible: NDArray[Any], alone: Floats) -> None:
    """Compute the decrease of the loss by the linear and the shape term of each eligible candidate; -1 for others."""
    classes, variance, ridge = regression.classes, regression.variance, regression.ridge
    for i in range(alone.size):
        alone[i] = -1.0
        if is_eligible[i]:
            total = 0.0
            for k in range(len(classes)):
                total += classes[k, i] * classes[k, i]
            alone[i] = total / (variance[i] + ridge[i])
            u = shape[i]
            if u >= 0:
                # The shape term as it is after the linear term has entered.
                slope = regression.with_shape[i] / (variance[i] + ridge[i])
                total = 0.0
                for k in range(len(classes)):
                    left = classes[k, u] - slope * classes[k, i]
                    total += left * left
                alone[i] += total / (max(variance[u] - slope * regression.with_shape[i], 0.0) + ridge[u])


@formula
def product_gains(regression: Regression, needs: Needs, gains: Floats) -> None:
    """Compute the decrease of the loss by each product term; 0 for those in the regression."""
    for h in range(gains.size):
        gains[h], t = 0.0, needs.first + h
        if not needs.entered[h]:
            for k in range(len(regression.classes)):
                gains[h] += regression.classes[k, t] * regression.classes[k, t]
            gains[h] /= regression.variance[t] + regression.ridge[t]


@formula
def value_moves(
    needs: Needs,
    waiting: NDArray[Any],
    is_eligible: NDArray[Any],
    is_forced: bool,
    alone: Floats,
    gains: Floats,
    values: Floats,
) -> None:
    """Compute the values of all moves: single candidates first, then products; -1 if a move is not allowed."""
    n = alone.size
    for i in range(n):
        values[i] = alone[i]
        if is_eligible[i]:
            for a in range(needs.starts[i], needs.starts[i + 1]):
                h = needs.products[a]
                if is_complete_with(needs, waiting, h, i, -1, -1):
                    values[i] += gains[h]
    for h in range(gains.size):
        values[n + h] = -1.0
        if not is_forced:
            values[n + h] = value_of_product(needs, waiting, is_eligible, alone, gains, h)


@formula
def value_of_product(
    needs: Needs, waiting: NDArray[Any], is_eligible: NDArray[Any], alone: Floats, gains: Floats, h: int
) -> float:
    """Compute the value of picking all missing candidates of product h; -1 if fewer than two are missing."""
    missing, total = 0, 0.0
    first, second, third = needs.features[h, 0], needs.features[h, 1], needs.features[h, 2]
    for place in range(MAX_FEATURES):
        i = needs.features[h, place]
        if i >= 0 and waiting[i]:
            if not is_eligible[i]:
                return -1.0
            missing += 1
            total += alone[i]
            for a in range(needs.starts[i], needs.starts[i + 1]):
                other = needs.products[a]
                # Count each product once: at the first of the candidates that it lacks.
                if first_missing(needs, waiting, other) == i and is_complete_with(
                    needs, waiting, other, first, second, third
                ):
                    total += gains[other]
    return total / missing if missing > 1 else -1.0


@formula
def is_complete_with(needs: Needs, waiting: NDArray[Any], h: int, first: int, second: int, third: int) -> bool:
    """Return whether product h is not in the regression and lacks only some of three candidates."""
    for place in range(MAX_FEATURES):
        i = needs.features[h, place]
        if i >= 0 and waiting[i] and i not in (first, second, third):
            return False
    return not needs.entered[h]


@formula
def first_missing(needs: Needs, waiting: NDArray[Any], h: int) -> int:
    """Return the first candidate of product h that is not picked; -1 if all are."""
    for place in range(MAX_FEATURES):
        i: int = needs.features[h, place]
        if i >= 0 and waiting[i]:
            return i
    return -1


@formula
def first_of_the_largest(values: Floats, tolerance: Tolerance, is_forced: bool) -> int:
    """Return the first move with the largest value up to rounding; -1 if none has a gain, unless one must be made."""
    largest = -1.0
    for j in range(values.size):
        largest = max(largest, values[j])
    if largest <= tolerance.least_gain and not is_forced:
        return -1
    least = largest - max(tolerance.relative * largest, tolerance.least_gain)
    j = 0
    while values[j] < least:
        j += 1
    return j


@formula
def members_of(needs: Needs, waiting: NDArray[Any], alone: Floats, j: int, n: int, chosen: Integers) -> int:
    """Write the candidates that move j adds, the one with the largest gain first; return their number."""
    if j < n:
        chosen[0] = j
        return 1
    size = 0
    for place in range(MAX_FEATURES):
        i = needs.features[j - n, place]
        if i >= 0 and waiting[i]:
            a = size
            while a > 0 and alone[chosen[a - 1]] < alone[i]:
                chosen[a] = chosen[a - 1]
                a -= 1
            chosen[a] = i
            size += 1
    return size


@formula
def terms_of(needs: Needs, waiting: NDArray[Any], chosen: Integers, size: int, s: int, entering: Integers) -> int:
    """Write the terms that enter with some candidates; return their number, or -1 if there is no room after s steps.

    Products that enter are marked as entered.
    """
    n_terms, last = 0, -1
    first, second, third = chosen[0], chosen[1] if size > 1 else last, chosen[2] if size > 2 else last
    for a in range(size):
        i = chosen[a]
        n_terms += (2 if needs.shape[i] >= 0 else 1) + needs.starts[i + 1] - needs.starts[i]
    if s + n_terms > entering.size:  # an upper bound: products may be counted twice, or lack other candidates
        return -1
    n_terms = 0
    for a in range(size):
        i = chosen[a]
        entering[n_terms] = i
        n_terms += 1
        if needs.shape[i] >= 0:
            entering[n_terms] = needs.shape[i]
            n_terms += 1
    for a in range(size):
        for b in range(needs.starts[chosen[a]], needs.starts[chosen[a] + 1]):
            h = needs.products[b]
            if is_complete_with(needs, waiting, h, first, second, third):
                needs.entered[h] = True
                entering[n_terms] = needs.first + h
                n_terms += 1
    return n_terms


@formula
def enter(regression: Regression, shape: Integers, t: int, s: int, row: Floats, lowered: Floats) -> None:
    """Let term t enter as step s, and write by how much it lowers the loss of each class."""
    classes, variance, steps = regression.classes, regression.variance, regression.steps
    n = row.size
    remaining_row(regression.covariance, steps, s, t, row)
    row[t] = variance[t]  # summed in another order: use the number from which the gain was computed
    root = np.sqrt(variance[t] + regression.ridge[t])
    # Row s of the Cholesky factor. Its squares are the variances that the term explains.
    for a in range(n):
        steps[s, a] = row[a] / root
        variance[a] = max(variance[a] - steps[s, a] * steps[s, a], 0.0)
    for i in range(shape.size):
        if shape[i] >= 0:
            regression.with_shape[i] -= steps[s, i] * steps[s, shape[i]]
    # The term lowers the loss of class k by c_tk^2 / (v_t + ridge). The residuals lose their part along the term.
    for k in range(len(classes)):
        factor = classes[k, t] / root
        lowered[k] = factor * factor
        for a in range(n):
            classes[k, a] -= factor * steps[s, a]


@formula
def add_gains(needs: Needs, chosen: Integers, size: int, t: int, lowered: Floats, found: Found) -> None:
    """Add the gains of a term to its candidate; those of a product are divided among the candidates of the move."""
    for a in range(size):
        i = chosen[a]
        for k in range(lowered.size):
            if t == i:
                found.gain[k, i] += lowered[k]
            elif t == needs.shape[i]:
                found.gain[k, i] += lowered[k]
                found.shape_gain[k, i] += lowered[k]
            elif t >= needs.first:
                found.gain[k, i] += lowered[k] / size


@formula
def remaining_row(covariance: Floats, steps: Floats, s: int, j: int, row: Floats) -> None:
    """Compute row j of the covariances after s steps of this call."""
    n = row.size
    # Values below the diagonal are not valid: take those of column j above the diagonal instead.
    # Loops instead of slices: Numba needs three seconds to compile the shape check of a slice assignment.
    for i in range(j):
        row[i] = covariance[i, j]
    for i in range(j, n):
        row[i] = covariance[j, i]
    for t in range(s):
        factor = steps[t, j]
        for i in range(n):
            row[i] -= factor * steps[t, i]


@formula
def update_nearest(candidates: Candidates, j: int, floor: float) -> None:
    """Update novelty and nearest pick of the waiting candidates to which pick j is nearer than all picks before."""
    correlation, waiting, novelty = candidates.correlation, candidates.waiting, candidates.novelty
    for i in range(novelty.size):
        new = 1.0 - correlation[j, i] * correlation[j, i]
        if waiting[i] and new < novelty[i] - floor:
            novelty[i] = new if new > floor else 0.0
            candidates.nearest[i] = j
