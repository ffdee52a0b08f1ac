"""Correlations of all pairs of features, for methods without labels whose rows are read in blocks."""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution.limits import check_pairs_fit
from ilfs.execution.plan import Plan, ask
from ilfs.execution.rows import MissingValuesError
from ilfs.statistics import Association, ClassMoments, Moments, Products


def complete_moments() -> Plan[ClassMoments]:
    """Ask for the moments of all rows as one class; raise `MissingValuesError` if values are missing."""
    moments = (yield from ask(Moments(), labelling=None)).checked()
    incomplete = np.flatnonzero(moments.total < moments.total.max())
    if incomplete.size:
        raise MissingValuesError(incomplete)
    return moments


def pair_correlations(moments: ClassMoments, columns: Integers, method: str) -> Plan[Floats]:
    """Ask for the correlations of all pairs of some columns.

    Parameters
    ----------
    moments : ClassMoments
        Moments of all columns, all rows as one class.
    columns : ndarray of int
        The columns.
    method : str
        Name of the method, for the error message if memory is too small.

    Returns
    -------
    plan of ndarray of shape (n_columns, n_columns)
        Pearson's correlations.
    """
    check_pairs_fit(columns.size, method)
    association = Association.from_moments(moments.of_columns(columns))
    products = yield from ask(Products(association), columns, labelling=None)
    return products.filled()
