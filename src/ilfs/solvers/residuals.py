r"""Terms of a regression as residuals from the terms of their features, computed from covariances alone.

A shape term is only worth what the linear term of its feature does not say already, and a product term what the linear
and shape terms of its features do not. The residual of a column from its parents p is :math:`x - \sum_p b_p x_p` with
:math:`b = C_{pp}^{-1} C_{px}`, where :math:`C` are the covariances. So the covariances of residuals follow from those
of the columns.
"""

import numpy as np
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.solvers.picking import FurtherTerms

MIN_VARIANCE = 1e-6  # a residual with a smaller fraction of the variance of its column is rounding
MIN_EIGENVALUE = 1e-8  # of the correlations of the parents of a column, relative to the largest


def residual_terms(
    linear: Floats,
    of_linear: Floats,
    further: Floats,
    of_further: Floats,
    features: Integers,
    ridge: Floats,
) -> FurtherTerms:
    """Replace columns by their residuals from the columns of their features.

    Parameters
    ----------
    linear : ndarray of shape (n, n)
        Covariances of the linear columns of the candidates.
    of_linear : ndarray of shape (n, n_classes)
        Covariances of the linear columns with the classes.
    further : ndarray of shape (n + n_further, n_further)
        Covariances of all columns with the further ones: shapes first, then products.
    of_further : ndarray of shape (n_further, n_classes)
        Covariances of the further columns with the classes.
    features : ndarray of shape (n_further, 3)
        Candidates that each further column needs; -1 in unused places.
    ridge : ndarray of shape (n_further,)
        Penalty of the squared coefficient of each further column.

    Returns
    -------
    FurtherTerms
        The residuals. The residual of a column that its parents determine is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.residuals import residual_terms
    >>> further = np.array([[0.6], [1.0]])  # a column with correlation 0.6 to that of its feature
    >>> of_linear, of_further, features = np.array([[0.5]]), np.array([[0.4]]), np.array([[0, -1, -1]])
    >>> terms = residual_terms(np.eye(1), of_linear, further, of_further, features, np.array([3.0]))
    >>> terms.covariance.ravel().round(2), terms.of_classes.round(2)
    (array([0.  , 0.64]), array([[0.1]]))
    """
    n = len(linear)
    whole = np.block([[linear, further[:n]], [further[:n].T, further[n:]]])
    of_classes = np.vstack([of_linear, of_further])
    slopes = slopes_on_parents(whole, parents_of(features, n), n)
    covariance = whole[n:] - slopes @ whole  # of the residuals with the columns
    covariance[:, n:] -= covariance @ slopes.T  # with the residuals
    of_residuals = of_classes[n:] - slopes @ of_classes
    vanish = covariance[:, n:].diagonal() <= MIN_VARIANCE * further[n:].diagonal()
    covariance[vanish], of_residuals[vanish] = 0.0, 0.0
    covariance[:, n:][:, vanish] = 0.0
    return FurtherTerms(features, ridge, np.ascontiguousarray(covariance.T), of_residuals)


def parents_of(features: Integers, n: int) -> Integers:
    """Return the columns that each further column is made orthogonal to; -1 in unused places.

    They are the linear columns of its features, and for a product also their shapes.
    """
    is_shape = features[:, 1] < 0
    shape = np.full(n + 1, -1)  # the last place is for -1
    shape[features[is_shape, 0]] = n + np.flatnonzero(is_shape)
    return np.hstack([features, np.where(is_shape[:, None], -1, shape[features])])


def slopes_on_parents(covariance: Floats, parents: Integers, n: int) -> sparse.csr_array:
    """Regress each further column on its parents; return the coefficients as a matrix of further x all columns."""
    columns = n + np.arange(len(parents))
    is_used = parents >= 0
    among = covariance[parents[:, :, None], parents[:, None, :]] * (is_used[:, :, None] & is_used[:, None, :])
    own = covariance[parents, columns[:, None]] * is_used
    inverse = np.linalg.pinv(among, rcond=MIN_EIGENVALUE, hermitian=True) if len(parents) else among
    slopes = (inverse @ own[:, :, None])[:, :, 0]
    row, place = np.nonzero(is_used)
    return sparse.csr_array((slopes[row, place], (row, parents[row, place])), shape=(len(parents), len(covariance)))
