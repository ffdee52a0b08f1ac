r"""The classifier of the protocol: a linear support vector machine whose C is chosen by cross-validation.

The machine has squared hinge loss, as scikit-learn's ``LinearSVC``, and an intercept that is not penalised; of several
classes each has a machine of its own against the rest. It is solved exactly, by Newton's method: as long as the set of
samples within the margin stays the same, the solution is that of a system of equations as large as there are features
(or samples, if they are fewer). What can be shared is: the products of all samples begin every class, a machine begins
with the margin of the one with the next smaller C, and the system changes by the samples that crossed the margin.

C is the one with the best mean average precision over classes and folds, of equals the smallest. Features are
standardised on the rows that a machine learns from, in every fold anew.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold

from ilfs.arrays import Floats, Integers
from ilfs.benchmark.precision import average_precision
from ilfs.solvers.svm.newton import Mask, minimum

TOL, MAX_ITER = 1e-6, 1000
MANY = 300  # samples or features, from which triangles are worth their while
TRIFLE = 1e-12  # of the mean square of a sample
LEAST_RIDGE = 1e-10  # of the intercept, so that a margin with samples of one class has a solution


@dataclass(frozen=True)
class Verdict:
    """What the machines say of each test row (rows) about each class (columns), and the C that was chosen."""

    decision: Floats
    C: float


def classify(
    X: Floats, y: Integers, T: Floats, n_classes: int, Cs: Sequence[float], n_folds: int, seed: int
) -> Verdict:
    """Learn from rows X with classes y, say something about rows T.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite numbers.
    y : ndarray of shape (n_samples,)
        Classes 0, 1, ... of which at least two occur.
    T : ndarray of shape (n_test, n_features)
        Rows of which something is to be said.
    n_classes : int
        How many classes there are; the decision has a column for each.
    Cs : sequence of float
        What C may be, ascending.
    n_folds : int
        Of the cross-validation; fewer if a class has fewer samples.
    seed : int
        Of the folds.

    Returns
    -------
    Verdict
        Larger means more likely of that class.
    """
    C = Cs[0] if len(Cs) == 1 else choose(X, y, n_classes, Cs, n_folds, seed)
    return Verdict(decisions(X, y, T, n_classes, [C])[0], C)


def choose(X: Floats, y: Integers, n_classes: int, Cs: Sequence[float], n_folds: int, seed: int) -> float:
    """The C with the best mean average precision; the smallest if there are too few samples for folds."""
    n_folds = min(n_folds, int(np.bincount(y)[np.unique(y)].min()))
    if n_folds < 2:
        return Cs[0]
    precision = np.zeros(len(Cs))
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y):
        for c, decision in enumerate(decisions(X[train], y[train], X[test], n_classes, Cs)):
            precision[c] += np.mean([average_precision(y[test] == k, decision[:, k]) for k in np.unique(y[test])])
    return Cs[int(np.argmax(precision >= precision.max() - 1e-12))]


def decisions(X: Floats, y: Integers, T: Floats, n_classes: int, Cs: Sequence[float]) -> Floats:
    """Of shape (n_Cs, n_test, n_classes); classes without samples are at minus infinity."""
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale <= 1e-12 * (np.abs(mean) + 1e-300)] = np.inf  # a column with one value says nothing
    Z, Z_test = rotated((X - mean) / scale, (T - mean) / scale)
    said = np.full((len(Cs), len(T), n_classes), -np.inf)
    present = np.unique(y)
    if present.size < 2:
        raise ValueError("y must have at least two classes, got one")
    margin = Margin.of(Z)
    for k in present[1:] if present.size == 2 else present:
        for c, theta in enumerate(path(margin.copy(), np.where(y == k, 1.0, -1.0), Cs)):
            said[c, :, k] = theta[0] + Z_test @ theta[1:]
    if present.size == 2:
        said[:, :, present[0]] = -said[:, :, present[1]]
    return rounded(said)


def rounded(said: Floats) -> Floats:
    """To nine digits of the largest for each C, so that equal samples are said to be equal, however sums round."""
    size = np.where(np.isfinite(said), np.abs(said), 0.0).max(axis=(1, 2), keepdims=True)
    largest = np.where(size > 0, size, 1.0)
    return np.asarray(np.round(said / largest, 9) * largest)


def rotated(Z: Floats, Z_test: Floats) -> tuple[Floats, Floats]:
    """The same samples in the coordinates of their own span, if they are fewer than the features."""
    if Z.shape[0] >= Z.shape[1]:
        return Z, Z_test
    if len(Z) > MANY:
        with suppress(np.linalg.LinAlgError):  # of a span so small that a trifle does not help
            return by_cholesky(Z, Z_test)
    values, U = np.linalg.eigh(Z @ Z.T)
    kept = values > 1e-12 * max(values[-1], 1e-300)
    roots = np.sqrt(values[kept])
    return U[:, kept] * roots, Z_test @ (Z.T @ (U[:, kept] / roots))


def by_cholesky(Z: Floats, Z_test: Floats) -> tuple[Floats, Floats]:
    """The same by a triangle, which is faster where there are many samples; their own products grow by a trifle."""
    from scipy.linalg import solve_triangular

    K = Z @ Z.T
    K.flat[:: len(K) + 1] += TRIFLE * K.trace() / len(K)
    triangle: Floats = np.asarray(np.linalg.cholesky(K), dtype=np.float64)
    coordinates: Floats = solve_triangular(triangle, Z @ Z_test.T, lower=True)
    return triangle, coordinates.T


def solution(products: Floats, penalty: Floats, right: Floats) -> Floats:
    """Of a system with these products and a penalty on its diagonal."""
    H = products.copy()
    H.flat[:: len(H) + 1] += penalty
    if len(H) <= MANY:
        return np.asarray(np.linalg.solve(H, right), dtype=np.float64)
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, right, check_finite=False))


def path(margin: "Margin", y: Floats, Cs: Sequence[float]) -> list[Floats]:
    """Intercept and weights for one C after the other."""
    slack, active, solutions = np.zeros(y.size), np.ones(y.size, dtype=bool), []
    margin.answer = margin.Z.T @ y
    for C in Cs:
        penalty = np.full(margin.Z.shape[1], 1 / (2 * C))
        penalty[0] = LEAST_RIDGE

        def solve(active: Mask, penalty: Floats = penalty) -> tuple[Floats, Floats]:
            margin.move(active, y)
            theta = solution(margin.G, penalty, margin.answer)
            return theta, margin.Z @ theta

        def inner(a: Floats, b: Floats, penalty: Floats = penalty) -> float:
            return float(a * penalty @ b)

        found = minimum(y, active, slack, solve, inner, tol=TOL, max_iter=MAX_ITER)
        slack, active = found.slack, found.slack > 0
        if not active.any():
            active = np.ones(y.size, dtype=bool)
        solutions.append(solve(active)[0])
    return solutions


@dataclass
class Margin:
    """Products of the columns over the samples within the margin, ones in front, with each other and with y."""

    Z: Floats
    active: Mask
    G: Floats
    answer: Floats

    @classmethod
    def of(cls, Z: Floats) -> "Margin":
        """All samples."""
        Z = np.column_stack([np.ones(len(Z)), Z])
        return cls(Z, np.ones(len(Z), dtype=bool), Z.T @ Z, np.zeros(Z.shape[1]))

    def copy(self) -> "Margin":
        """Another, to be changed."""
        return Margin(self.Z, self.active, self.G, self.answer)

    def move(self, active: Mask, y: Floats) -> None:
        """Let these samples be within, by adding those that came and taking off those that went."""
        moved = np.flatnonzero(active != self.active)
        if moved.size > np.count_nonzero(active):
            Z = self.Z[active]
            self.G, self.answer = Z.T @ Z, y[active] @ Z
        elif moved.size:
            Z = self.Z[moved]
            sign = np.where(active[moved], 1.0, -1.0)
            self.G = self.G + (Z * sign[:, None]).T @ Z
            self.answer = self.answer + (sign * y[moved]) @ Z
        self.active = active.copy()
