"""Number of directions that a set of features spans."""

import numpy as np

from ilfs.arrays import Floats


def effective_rank(correlation: Floats) -> float:
    r"""Compute the effective number of directions that features span, from their correlations.

    It is :math:`(\sum_i e_i)^2 / \sum_i e_i^2` for the eigenvalues :math:`e_i` of the matrix. The first sum is the
    trace, and the second is the sum of all squared correlations. So no eigenvalue is computed.

    Parameters
    ----------
    correlation : ndarray of shape (n, n)
        Correlations of all pairs of features.

    Returns
    -------
    float
        1 for copies of one feature, n for n uncorrelated features, and never more than the rank of the matrix; 0 for no
        feature.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.solvers.breadth import effective_rank
    >>> effective_rank(np.ones((5, 5))), effective_rank(np.eye(5))
    (1.0, 5.0)
    """
    if not correlation.size:
        return 0.0
    return float(correlation.trace() ** 2 / np.vdot(correlation, correlation))
