"""Columns that count rare events, such as the words of a text.

Words of one topic occur together, but each occurs in a few texts only. The second word of a topic is then worth nearly
as much as the first, because it occurs in other texts. And the tenth occurrence of a word in one text tells less than
the first. So if most candidates are such counts, the regression of ``redundancy="gain"`` has their logarithms as
columns, and a larger ridge, with which a pick takes less from similar features.
"""

from dataclasses import dataclass, replace

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.execution import Plan, ask, both, together
from ilfs.regression_terms import Further, FurtherColumns, inverse, one_class
from ilfs.solvers.picking import FurtherTerms
from ilfs.statistics import Association, ClassProfile, LogMoments, LogProducts, Profile
from ilfs.ties import RELATIVE_TOLERANCE

MIN_ZEROS = 0.8  # fraction of the values of a column of rare events that are zero
MIN_COLUMNS = 0.5  # fraction of the candidates that must be such columns
# On 13 text tables, factors of 3, 5 and 10 raised the average precision by 1.0, 1.3 and 1.5 points. With 10, one table
# lost 1.3 points with one of three classifiers.
RARE_EVENT_FACTOR = 5.0

Labelling = int | tuple[int, ...]


@dataclass(frozen=True)
class Regression:
    """Covariances of the columns of the regression of ``redundancy="gain"``.

    Parameters
    ----------
    of_classes : ndarray of shape (n_candidates, n_classes)
        Correlations of the linear columns with the classes.
    covariance : ndarray of shape (n_candidates, n_candidates)
        Correlations of the linear columns with each other.
    columns : FurtherColumns
        Further columns.
    further : tuple of ndarrays, or None
        Covariances of the further columns, if there are any.
    factor : float
        Factor of the ridge.
    """

    of_classes: Floats
    covariance: Floats
    columns: FurtherColumns
    further: Further | None
    factor: float = 1.0

    def terms(self, n_features: int, n_samples: float) -> FurtherTerms:
        """Return the terms of the further columns."""
        return self.columns.terms(self.of_classes, self.covariance, self.further, n_features, n_samples, self.factor)


def read_regression(
    columns: FurtherColumns, candidates: Integers, association: Association, labelling: Labelling
) -> Plan[tuple[Floats, Regression]]:
    """Read the columns of the regression in one pass over the rows, or two if the candidates count rare events.

    Parameters
    ----------
    columns : FurtherColumns
        Columns beside the linear ones. Shapes of counts are not used; products are used without logarithms.
    candidates : ndarray of shape (n_candidates,)
        Columns of the table.
    association : Association
        Association of the candidates with the classes.
    labelling : int or tuple of int
        Labelling of the classes; or all labels, and then all rows are one class.

    Returns
    -------
    plan of ndarray of shape (n_candidates, n_candidates), and Regression
        Correlations of the candidates as they are, and the covariances of the columns of the regression.
    """
    by_column = np.argsort(candidates)
    (rho, covariance, further), unit = yield from both(
        columns.read(candidates, association, labelling), find_counts(candidates[by_column], one_class(labelling))
    )
    if unit is None:
        return rho, Regression(association.correlation, covariance, columns, further)
    columns, further = columns.without_shapes(further)
    if further is not None:
        return rho, Regression(association.correlation, covariance, columns, further, RARE_EVENT_FACTOR)
    of_classes, of_pairs = yield from log_correlations(
        candidates[by_column], unit, association.take(by_column), labelling
    )
    place = inverse(by_column)
    return rho, Regression(of_classes[place], of_pairs[np.ix_(place, place)], columns, None, RARE_EVENT_FACTOR)


def find_counts(columns: Integers, labelling: int | None) -> Plan[Floats | None]:
    """Find out whether columns count rare events, in one pass over the rows.

    Parameters
    ----------
    columns : ndarray of int
        Candidates, in ascending order.
    labelling : int or None
        Labelling whose rows are read.

    Returns
    -------
    plan of ndarray of shape (n,), or None
        If most columns count rare events: the unit of each column, see `units`. None otherwise, and if values are
        missing.
    """
    if not columns.size:
        return None
    profile = yield from ask(Profile(), columns, labelling)
    return units(profile) if is_complete(profile) and count_rare_events(profile) else None


def is_complete(profile: ClassProfile) -> bool:
    """Return True if all columns have the same number of values in each class, up to rounding of weights."""
    most = profile.count.max(axis=1, keepdims=True)
    return bool((most - profile.count <= RELATIVE_TOLERANCE * most).all())


def units(profile: ClassProfile) -> Floats:
    """Return the mean of the values of each column that are not zero; 0 for a column with negative values.

    Logarithms of counts in this unit do not depend on whether words are counted one by one or in tens.

    Parameters
    ----------
    profile : ClassProfile
        Profile of the columns.

    Returns
    -------
    ndarray of shape (n,)
        0 for a column that cannot be a count, or has zeros only.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution import fold_of
    >>> from ilfs.rare_events import units
    >>> from ilfs.sources import table_source
    >>> from ilfs.statistics import Profile
    >>> X = np.array([[0.0, 0.0, -1.0], [2.0, 0.0, 1.0], [4.0, 0.0, 0.0]])
    >>> units(fold_of(table_source(X, np.array([0, 1, 1])))(Profile())).tolist()
    [3.0, 0.0, 0.0]
    """
    total, events = (profile.count * profile.mean).sum(axis=0), (profile.count - profile.zeros).sum(axis=0)
    is_count = (profile.negative == 0) & (events > 0)
    return np.asarray(np.divide(total, events, out=np.zeros_like(total), where=is_count))


def count_rare_events(profile: ClassProfile) -> bool:
    """Return True if most columns have no negative values and are zero in most rows.

    Parameters
    ----------
    profile : ClassProfile
        Profile of the columns.

    Returns
    -------
    bool
        True if at least `MIN_COLUMNS` of the columns are zero in more than `MIN_ZEROS` of their values.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.execution import fold_of
    >>> from ilfs.rare_events import count_rare_events
    >>> from ilfs.sources import table_source
    >>> from ilfs.statistics import Profile
    >>> X, y = np.eye(6), np.array([0, 1, 0, 1, 0, 1])  # each word occurs in one of six texts
    >>> [count_rare_events(fold_of(table_source(Z, y))(Profile())) for Z in (X, -X, X + 1)]
    [True, False, False]
    """
    count, zeros = profile.count.sum(axis=0), profile.zeros.sum(axis=0)
    is_rare = (zeros > MIN_ZEROS * count) & (profile.negative == 0)
    return bool(np.count_nonzero(is_rare) >= MIN_COLUMNS * is_rare.size)


def log_correlations(
    columns: Integers, unit: Floats, association: Association, labelling: Labelling
) -> Plan[tuple[Floats, Floats]]:
    """Correlate columns with the classes and with each other after the transformation log(1 + x / unit) of the counts.

    Parameters
    ----------
    columns : ndarray of int
        Candidates, in ascending order.
    unit : ndarray of shape (n,)
        Unit of each column; 0 for columns that are not transformed.
    association : Association
        Mean and deviation of the columns as they are, and the weight of a sample of each class.
    labelling : int or tuple of int
        Labelling of the classes; or all labels, and then all rows are one class.

    Returns
    -------
    plan of two ndarrays
        Correlations with the classes or labels, of shape (n, n_classes), and with each other.
    """
    labels = (labelling,) if isinstance(labelling, int) else labelling
    products, moments = yield from both(
        ask(LogProducts(near_centre(association, unit), unit), columns, one_class(labelling)),
        together([ask(LogMoments(unit), columns, label) for label in labels]),
    )
    rho = products.correlation()
    np.fill_diagonal(rho, 1.0)
    if isinstance(labelling, int):
        return Association.from_moments(moments[0], association.class_weight).correlation, rho
    return np.column_stack([Association.from_moments(one).correlation[:, 1] for one in moments]), rho


def near_centre(association: Association, unit: Floats) -> Association:
    """Approximate the means and deviations of log(1 + x / unit) by those of x.

    They are only used to centre and scale the products, so that columns far from 0 lose no digits.
    """
    mean, deviation, is_count = association.mean, association.deviation, unit > 0
    ratio = np.divide(mean, unit, out=np.zeros_like(mean), where=is_count)
    return replace(
        association,
        mean=np.where(is_count, np.log1p(ratio), mean),
        deviation=np.where(is_count, deviation / np.where(is_count, unit + mean, 1.0), deviation),
    )
