"""Base classes of the primal and the dual SVMs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ilfs.arrays import Floats
from ilfs.execution import thread_map
from ilfs.solvers.svm.newton import Mask, minimum

MAX_REMOVED_FRACTION = 0.1  # fraction of the stored features that may have been removed before storage is compacted
MIN_RELATIVE_RIDGE = 1e-10  # relative to the diagonal of the equations; less cannot be solved in double precision


class ActiveSetSVM(ABC):
    """One linear SVM: Newton's method finds its active samples, and a linear system the solution for them.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        The two classes, -1 and 1.
    slack : ndarray of shape (n_samples,)
        Distance of each active sample from the margin in the solution of a similar problem, or 0.
    tol, max_iter
        Tolerance and largest number of steps of Newton's method.
    """

    active: Mask

    def __init__(self, y: Floats, slack: Floats, *, tol: float, max_iter: int) -> None:
        self.y, self.slack, self.tol, self.max_iter = y, slack, tol, max_iter
        self.converged, self.n_iter = True, 0

    @abstractmethod
    def _solve(self, active: Mask) -> tuple[Floats, Floats]:
        """Solve the equations of a set of active samples; return the solution and its decision values."""

    @abstractmethod
    def _inner(self, a: Floats, b: Floats) -> float:
        """Return ridge times the inner product of the weights of two solutions."""

    def _find_active(self) -> int:
        """Exchange samples until none is on the wrong side of the margin; return the number of steps."""
        optimum = minimum(
            self.y, self.active, self.slack, self._solve, self._inner, tol=self.tol, max_iter=self.max_iter
        )
        self.slack = optimum.slack
        self.converged &= optimum.converged
        self.n_iter = max(self.n_iter, optimum.n_iter)
        return optimum.n_iter


class SharedFeatures:
    """SVMs from which the same features are removed: one for each class, or a single one for two classes."""

    svms: Sequence[ActiveSetSVM]
    n_jobs: int | None
    _alive: Mask

    def _each_svm(self, function: Callable[[Any], None]) -> None:
        """Call a function with every SVM, in threads if there are several; a single one uses threads itself."""
        if len(self.svms) == 1:
            function(self.svms[0])
        else:
            list(thread_map(function, self.svms, self.n_jobs))

    @property
    def n_features(self) -> int:
        """Number of features that are left."""
        return int(np.count_nonzero(self._alive))

    @property
    def converged(self) -> bool:
        """True if every solution so far has converged."""
        return all(svm.converged for svm in self.svms)

    @property
    def n_iter(self) -> int:
        """Largest number of Newton steps that an SVM has needed for a solution."""
        return max(svm.n_iter for svm in self.svms)

    def _should_compact(self) -> bool:
        """Return True if so many stored features have been removed that compacting the storage saves time."""
        return self.n_features < (1 - MAX_REMOVED_FRACTION) * self._alive.size
