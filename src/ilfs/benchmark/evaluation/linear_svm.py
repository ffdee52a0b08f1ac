r"""The linear support vector machine of the benchmark, whose C is chosen by cross-validation.

The loss is the squared hinge, as in scikit-learn's ``LinearSVC``; the intercept is not penalised, and each of several
classes has an SVM of its own against the rest. Every class has the same total weight. Without these weights a strong
penalty pulls all decision values to the side of the larger class: the ranking of the samples is fine, but every sample
is predicted to be of that class.

C is the one with the best mean average precision over classes and folds. On many small data sets several C reach 1.0.
Ties are broken by the balanced accuracy of the out-of-fold predictions, then by the distance from the middle of the
grid. Features are standardised on the training rows of each fold.

The problem is solved exactly, by Newton's method: as long as the set of samples within the margin stays the same, the
solution is that of a linear system with one equation for each feature (or for each sample, if there are fewer samples).
Work is reused: every class starts from the products over all samples, each C starts from the margin of the next smaller
one, and the system is updated by the samples that crossed the margin (`ilfs.benchmark.evaluation.margin`).
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from ilfs.arrays import Floats, Integers
from ilfs.benchmark.evaluation.margin import MIN_CHOLESKY_SIZE, Margin
from ilfs.benchmark.evaluation.metrics import balanced_accuracy
from ilfs.benchmark.evaluation.precision import average_precision
from ilfs.solvers.svm.newton import Mask, minimum

TOL, MAX_ITER = 1e-6, 1000
CHOLESKY_JITTER = 1e-12  # added to the diagonal, relative to its mean, so that the factor exists
INTERCEPT_RIDGE = 1e-10  # so that the intercept is defined when all samples in the margin are of one class
EQUAL_SCORES = 1e-12  # largest difference of two cross-validation scores that count as equal


@dataclass(frozen=True)
class Choice:
    """Decision values of the test rows (rows) for each class (columns), and the chosen C."""

    decision: Floats
    C: float


def classify(
    X: Floats,
    y: Integers,
    T: Floats,
    n_classes: int,
    Cs: Sequence[float],
    n_folds: int,
    seed: int,
    groups: Integers | None = None,
) -> Choice:
    """Fit the SVM to rows X with classes y, and compute the decision values of rows T.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite numbers.
    y : ndarray of shape (n_samples,)
        Classes 0, 1, ... of which at least two occur.
    T : ndarray of shape (n_test, n_features)
        Test rows.
    n_classes : int
        Number of classes; the decision values have a column for each.
    Cs : sequence of float
        The grid of C, ascending.
    n_folds : int
        Folds of the cross-validation; fewer if a class has fewer samples or groups.
    seed : int
        Seed of the folds.
    groups : ndarray of shape (n_samples,), optional
        Groups of rows that must not be separated by the folds.

    Returns
    -------
    Choice
        Larger decision values mean more likely of that class.
    """
    C = choose(X, y, n_classes, Cs, n_folds, seed, groups)
    return Choice(decisions(X, y, T, n_classes, [C])[0], C)


def choose(
    X: Floats,
    y: Integers,
    n_classes: int,
    Cs: Sequence[float],
    n_folds: int,
    seed: int,
    groups: Integers | None = None,
) -> float:
    """Choose C by cross-validation; the middle of the grid if there are too few samples or groups for folds."""
    middle = (len(Cs) - 1) / 2
    held_out = [] if len(Cs) == 1 else list(folds_of(y, n_folds, seed, groups))
    if not held_out:
        return Cs[int(middle)]
    precision, predicted, seen = np.zeros(len(Cs)), np.zeros((len(Cs), len(y)), dtype=int), np.zeros(len(y), dtype=bool)
    for train, test in held_out:
        found = decisions(X[train], y[train], X[test], n_classes, Cs)
        precision += [macro_precision(y[test], decision) for decision in found]
        predicted[:, test], seen[test] = found.argmax(axis=2), True
    accuracy = np.array([balanced_accuracy(y[seen], of_c[seen]) for of_c in predicted])
    best = best_of(np.arange(len(Cs)), precision)
    best = best_of(best, accuracy)
    return Cs[int(best[np.abs(best - middle).argmin()])]


def best_of(candidates: Integers, scores: Floats) -> Integers:
    """Candidates with the largest score, up to rounding."""
    return np.asarray(candidates[scores[candidates] >= scores[candidates].max() - EQUAL_SCORES])


def macro_precision(y: Integers, decision: Floats) -> float:
    """Mean average precision of the classes that occur."""
    return float(np.mean([average_precision(y == k, decision[:, k]) for k in np.unique(y)]))


def folds_of(
    y: Integers, n_folds: int, seed: int, groups: Integers | None = None
) -> Iterator[tuple[Integers, Integers]]:
    """Training and validation rows of each fold, stratified; none if a class has fewer than 2 samples or groups.

    Folds of groups are balanced only as far as the groups allow: one whose training rows have a single class is
    skipped.
    """
    units = np.arange(y.size) if groups is None else groups
    n_folds = min(n_folds, *(int(np.unique(units[y == k]).size) for k in np.unique(y)))
    if n_folds < 2:
        return
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    for train, test in kind(n_folds, shuffle=True, random_state=seed).split(y, y, groups):
        if test.size and np.unique(y[train]).size > 1:
            yield train, test


def decisions(X: Floats, y: Integers, T: Floats, n_classes: int, Cs: Sequence[float]) -> Floats:
    """Decision values of shape (n_Cs, n_test, n_classes); classes without samples are at minus infinity."""
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale <= 1e-12 * (np.abs(mean) + 1e-300)] = np.inf  # a constant column is uninformative
    Z, Z_test = rotated((X - mean) / scale, (T - mean) / scale)
    values = np.full((len(Cs), len(T), n_classes), -np.inf)
    present = np.unique(y)
    if present.size < 2:
        raise ValueError("y must have at least two classes, got one")
    margin = Margin.from_all_samples(Z, balanced_weights(y))
    for k in present[1:] if present.size == 2 else present:
        for c, theta in enumerate(path(margin.copy(), np.where(y == k, 1.0, -1.0), Cs)):
            values[c, :, k] = theta[0] + Z_test @ theta[1:]
    if present.size == 2:
        values[:, :, present[0]] = -values[:, :, present[1]]
    return rounded(values)


def balanced_weights(y: Integers) -> Floats:
    """Sample weights of mean 1 that give every class that occurs the same total weight."""
    count = np.bincount(y)
    return len(y) / (np.count_nonzero(count) * count[y].astype(float))


def rounded(values: Floats) -> Floats:
    """Round to nine digits of the largest value of each C, so that equal samples have equal values."""
    size = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=(1, 2), keepdims=True)
    largest = np.where(size > 0, size, 1.0)
    return np.asarray(np.round(values / largest, 9) * largest)


def rotated(Z: Floats, Z_test: Floats) -> tuple[Floats, Floats]:
    """Express the samples in coordinates of their own span, if there are fewer samples than features.

    The penalty is the norm of the weights, which a rotation does not change, and the best weights lie in the span of
    the training samples. So the decision values stay the same, with fewer unknowns.
    """
    if Z.shape[0] >= Z.shape[1]:
        return Z, Z_test
    if len(Z) > MIN_CHOLESKY_SIZE:
        with suppress(np.linalg.LinAlgError):  # the samples are too close to dependent for a Cholesky factor
            return by_cholesky(Z, Z_test)
    # Z = U S V' and ZZ' = U S^2 U': coordinates are ZV = US, and those of the test rows Z_test V = Z_test Z'U / S.
    values, U = np.linalg.eigh(Z @ Z.T)
    kept = values > 1e-12 * max(values[-1], 1e-300)
    roots = np.sqrt(values[kept])
    return U[:, kept] * roots, Z_test @ (Z.T @ (U[:, kept] / roots))


def by_cholesky(Z: Floats, Z_test: Floats) -> tuple[Floats, Floats]:
    """Coordinates from a Cholesky factor of the inner products, which is faster for many samples than eigenvectors."""
    from scipy.linalg import solve_triangular

    # Any L with LL' = ZZ' holds valid coordinates of the training rows; those of the test rows solve L t = Z z.
    K = Z @ Z.T
    K.flat[:: len(K) + 1] += CHOLESKY_JITTER * K.trace() / len(K)
    factor: Floats = np.asarray(np.linalg.cholesky(K), dtype=np.float64)
    coordinates: Floats = solve_triangular(factor, Z @ Z_test.T, lower=True)
    return factor, coordinates.T


def path(margin: Margin, y: Floats, Cs: Sequence[float]) -> list[Floats]:
    """Intercept and weights for each C, ascending; each solution starts from the margin of the one before."""
    slack, active, solutions = np.zeros(y.size), np.ones(y.size, dtype=bool), []
    root_weights = np.sqrt(margin.weights)
    for C in Cs:
        # With the sum over the samples within the margin, the minimum of |w|^2 / 2 + C sum of weight * (y - f)^2 solves
        # (Z'WZ + I / (2 C)) theta = Z'Wy.
        penalty = np.full(margin.Z.shape[1], 1 / (2 * C))
        penalty[0] = INTERCEPT_RIDGE

        def solve(active: Mask, penalty: Floats = penalty) -> tuple[Floats, Floats]:
            theta = margin.solution(active, y, penalty)
            return theta, margin.Z @ theta

        def inner(a: Floats, b: Floats, penalty: Floats = penalty) -> float:
            return float(a * penalty @ b)

        found = minimum(y, active, slack, solve, inner, tol=TOL, max_iter=MAX_ITER, root_weights=root_weights)
        slack, active = found.slack, found.slack > 0
        if not active.any():  # not converged, as a minimum has samples within the margin: start from all of them
            active = np.ones(y.size, dtype=bool)
        solutions.append(solve(active)[0])
    return solutions
