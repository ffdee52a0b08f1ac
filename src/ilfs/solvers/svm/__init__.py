r"""Linear SVMs that are solved exactly while features are removed one after another.

They have the squared hinge loss and an intercept that is not penalised,

.. math:: \min_{w, b}\; \tfrac12 |w|^2 + C \sum_i \max(0,\, 1 - y_i (w^\top x_i + b))^2 .

The samples with :math:`y_i (w^\top x_i + b) < 1` are called active. As long as their set stays the same, the objective
is that of a ridge regression, so its minimum is the solution of one linear system, with as many equations as there are
features (`Primal`) or samples (`Dual`). Its inverse is kept. Removing a feature, and adding a sample to the active set
or taking one out, are corrections of rank one.
"""

from ilfs.solvers.svm.dual import Dual
from ilfs.solvers.svm.primal import Primal

__all__ = ["Dual", "Primal"]
