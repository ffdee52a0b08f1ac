"""Test whether two or three bits depend on each other in the same way in every class (equal odds ratios).

The samples of class k are counted in one cell for each combination of bits, 4 cells for two bits and 8 for three. The
sign s of a cell is the product of its bits as +1 and -1. The log odds ratio of a class is the sum of s log(count). The
log-linear model without the interaction of all bits with the class says that it is the same in every class.

Its fitted counts have the same margins as the counts. So within a class only one number t is free: a fitted count is
the count plus s t. For a given log odds ratio, t is unique, and it increases with the log odds ratio. The maximum of
the likelihood is where the sum of t over the classes is 0: one equation in one unknown, solved by Newton's method
within a bracket.

Two statistics compare the counts with the fitted ones, both with as many degrees of freedom as there are classes minus
one: Pearson's (the score test, also known as the test of Breslow and Day with the maximum-likelihood odds ratio) and
the likelihood ratio. Far out in the tail, where thousands of tests put the threshold, each of them may be far too
large: Pearson's if a fitted count is much smaller than 1, the likelihood ratio if many counts are 0. The smaller of the
two is returned.
"""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.kernels._jit import formula, kernel
from ilfs.kernels.bit_pairs import Words
from ilfs.kernels.popcount import ones_in

N_PAIR_CELLS = 4  # combinations of two bits
MAX_LOG_ODDS = 200.0  # bracket of the common log odds ratio, far beyond that of any counts
MAX_LOGIT = 50.0  # bracket of the logit of a shift, relative to its range
MAX_STEPS = 200  # of Newton's method or bisection
TOLERANCE = 1e-12  # of a log odds ratio or a logit, relative to 1 or to itself
TINY = 1e-300  # keeps the shift of an empty class finite


@kernel
def compare_odds_ratios(words: Words, present: Words, starts: Integers, sets: Integers) -> Floats:
    """Compute the statistic of equal odds ratios and the effect in each class, for sets of two or three bits.

    words and present are words x bits, the words of class k are starts[k] to starts[k + 1] - 1, sets is sets x bits.
    Returns the statistics and effects, sets x (1 + classes).
    """
    n_cells, n_classes = 1 << sets.shape[1], starts.size - 1
    cells, sign = np.empty((n_cells, n_classes)), cell_signs(sets.shape[1])
    shift, slope, values = np.empty(n_classes), np.empty(n_classes), np.empty((len(sets), 1 + n_classes))
    for i in range(len(sets)):
        count_cells(words, present, starts, sets[i], cells)
        values[i, 0] = equal_odds_statistic(cells, sign, shift, slope)
        write_effects(cells, shift, values[i, 1:])
    return values


@formula
def cell_signs(n_bits: int) -> Floats:
    """Return the sign of each cell. Bit b of the number of a cell says whether bit b of the set is +1."""
    sign = np.full(1 << n_bits, -1.0 if n_bits % 2 else 1.0)
    for u in range(sign.size):
        for b in range(n_bits):
            if u >> b & 1:
                sign[u] = -sign[u]
    return sign


@formula
def count_cells(words: Words, present: Words, starts: Integers, bits: Integers, cells: Floats) -> None:
    """Count the samples of each class with each combination of the bits, where all values are present."""
    for k in range(starts.size - 1):
        for u in range(cells.shape[0]):
            cells[u, k] = 0.0
        for w in range(starts[k], starts[k + 1]):
            here = present[w, bits[0]]
            for b in range(1, bits.size):
                here &= present[w, bits[b]]
            for u in range(cells.shape[0]):
                chosen = here
                for b in range(bits.size):
                    word = words[w, bits[b]]
                    chosen &= word if u >> b & 1 else ~word
                cells[u, k] += ones_in(chosen)


@formula
def equal_odds_statistic(cells: Floats, sign: Floats, shift: Floats, slope: Floats) -> float:
    """Compute the smaller of Pearson's statistic and the likelihood ratio, and write the shifts.

    slope is working memory.
    """
    for k in range(shift.size):
        shift[k] = 0.0
    if not has_finite_odds(cells, sign):
        return 0.0
    fit_equal_odds(cells, sign, shift, slope)
    pearson, ratio = 0.0, 0.0
    for u in range(cells.shape[0]):
        for k in range(cells.shape[1]):
            count, fitted = cells[u, k], cells[u, k] + sign[u] * shift[k]
            if fitted > 0.0:
                pearson += shift[k] * shift[k] / fitted
                if count > 0.0:
                    ratio += 2.0 * count * np.log(count / fitted)
    return min(pearson, ratio)


@formula
def write_effects(cells: Floats, shift: Floats, effect: Floats) -> None:
    """Write, for each class, the fraction of its samples that have the sign +1 beyond the fitted ones."""
    for k in range(shift.size):
        total = float(cells[:, k].sum())
        effect[k] = -0.5 * cells.shape[0] * shift[k] / total if total > 0.0 else 0.0


@formula
def has_finite_odds(cells: Floats, sign: Floats) -> bool:
    """Return whether the common odds ratio is neither 0 nor infinite; otherwise, the model fits the counts exactly."""
    has_plus, has_minus = False, False
    for k in range(cells.shape[1]):
        plus, minus = smallest_counts(cells, sign, k)
        has_plus, has_minus = has_plus or plus > 0.0, has_minus or minus > 0.0
    return has_plus and has_minus


@formula
def smallest_counts(cells: Floats, sign: Floats, k: int) -> tuple[float, float]:
    """Return the smallest counts of the cells with sign +1 and -1 of a class."""
    plus, minus = np.inf, np.inf
    for u in range(sign.size):
        if sign[u] > 0.0:
            plus = min(plus, cells[u, k])
        else:
            minus = min(minus, cells[u, k])
    return plus, minus


@formula
def fit_equal_odds(cells: Floats, sign: Floats, shift: Floats, slope: Floats) -> None:
    """Write the shifts of maximum likelihood, whose sum is 0, and their derivatives by the log odds ratio."""
    log_odds, low, high = 0.0, -MAX_LOG_ODDS, MAX_LOG_ODDS
    for u in range(sign.size):  # start with the odds ratio of all samples
        log_odds += sign[u] * np.log(cells[u].sum() + 0.5)
    for _ in range(MAX_STEPS):
        shift_classes(cells, sign, log_odds, shift, slope)
        excess = float(shift.sum())
        if excess > 0.0:
            high = log_odds
        else:
            low = log_odds
        nearer = next_guess(log_odds, excess, float(slope.sum()), low, high)
        if abs(nearer - log_odds) <= TOLERANCE * max(1.0, abs(log_odds)):
            break
        log_odds = nearer


@formula
def next_guess(guess: float, excess: float, slope: float, low: float, high: float) -> float:
    """Return the next guess of Newton's method, or the middle of the bracket if it would leave it."""
    if excess == 0.0:
        return guess
    nearer = guess - excess / slope if slope > 0.0 else high
    return nearer if low < nearer < high else 0.5 * (low + high)


@formula
def shift_classes(cells: Floats, sign: Floats, log_odds: float, shift: Floats, slope: Floats) -> None:
    """Write the shift of each class that gives it an odds ratio, and its derivative by the log odds ratio."""
    if cells.shape[0] == N_PAIR_CELLS:
        shift_pairs(cells, np.exp(log_odds), shift)
    else:
        for k in range(shift.size):
            shift[k] = shift_of_class(cells, sign, k, log_odds)
    for k in range(slope.size):
        slope[k] = 0.0
    for u in range(sign.size):
        for k in range(slope.size):
            slope[k] += 1.0 / (cells[u, k] + sign[u] * shift[k])
    for k in range(slope.size):
        slope[k] = 1.0 / slope[k]


@formula
def shift_pairs(cells: Floats, odds: float, shift: Floats) -> None:
    """Write the shift of each class of a pair: (a + t) (d + t) = odds (b - t) (c - t), a quadratic equation.

    The discriminant is written as a sum of positive terms, so that nothing cancels.
    """
    low, one, other, both = cells[0], cells[1], cells[2], cells[3]
    for k in range(shift.size):
        a, b, c, d = low[k], one[k], other[k], both[k]
        root = np.sqrt((a - d) ** 2 + odds * (odds * (b - c) ** 2 + 2.0 * (a + d) * (b + c) + 4.0 * (a * d + b * c)))
        shift[k] = 2.0 * (odds * b * c - a * d) / (a + d + odds * (b + c) + root + TINY)


@formula
def shift_of_class(cells: Floats, sign: Floats, k: int, log_odds: float) -> float:
    """Return the shift of a class for any number of bits, by Newton's method.

    The shift lies between minus the smallest count of sign +1 and the smallest one of sign -1. The unknown is the logit
    of its place between the two: the log odds ratio is nearly linear in it.
    """
    plus, minus = smallest_counts(cells, sign, k)
    width, logit, low, high = plus + minus, 0.0, -MAX_LOGIT, MAX_LOGIT
    if width <= 0.0:
        return 0.0
    for _ in range(MAX_STEPS):
        above, below = width / (1.0 + np.exp(-logit)), width / (1.0 + np.exp(logit))
        excess, slope = -log_odds, 0.0
        for u in range(sign.size):
            fitted = cells[u, k] - plus + above if sign[u] > 0.0 else cells[u, k] - minus + below
            excess += sign[u] * np.log(fitted)
            slope += above * below / (width * fitted)
        if excess > 0.0:
            high = logit
        else:
            low = logit
        nearer = next_guess(logit, excess, slope, low, high)
        if abs(nearer - logit) <= TOLERANCE * max(1.0, abs(logit)):
            break
        logit = nearer
    return float(width / (1.0 + np.exp(-logit)) - plus)
