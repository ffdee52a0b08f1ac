r"""Linear support vector machines that are solved exactly and lose one feature after the other.

The machine is the one with squared hinge loss and an intercept that is not penalised,

.. math:: \min_{w, b}\; \tfrac12 |w|^2 + C \sum_i \max(0,\, 1 - y_i (w^\top x_i + b))^2 .

The samples with :math:`y_i (w^\top x_i + b) < 1` are called active. As long as their set stays the same the objective
is that of a ridge regression, so its minimum is the solution of one system of linear equations: as large as there are
features (`Primal`) or samples (`Dual`). Its inverse is kept. To remove a feature, and to let a sample enter or leave
the active set, are corrections of rank one.
"""

from ilfs.solvers.svm.dual import Dual
from ilfs.solvers.svm.primal import Primal

__all__ = ["Dual", "Primal"]
