"""Columns that count rare events, such as the words of a text.

Words of one topic occur together, but each occurs in a few texts only. The second word of a topic is then worth nearly
as much as the first, because it occurs in other texts. So the regression of ``redundancy="gain"`` has a larger ridge,
with which a pick takes less from similar features, if most of the candidates are such counts.
"""

import numpy as np

from ilfs.arrays import Integers
from ilfs.execution import Plan, ask
from ilfs.statistics import ClassProfile, Profile

MIN_ZEROS = 0.8  # fraction of the values of a column of rare events that are zero
MIN_COLUMNS = 0.5  # fraction of the candidates that must be such columns
# On 13 text tables, factors of 3, 5 and 10 raised the average precision by 1.0, 1.3 and 1.5 points. With 10, one table
# lost 1.3 points with one of three classifiers.
RARE_EVENT_FACTOR = 5.0


def plan_ridge_factor(columns: Integers, labelling: int | None) -> Plan[float]:
    """Find the factor of the ridge, in one pass over the rows.

    Parameters
    ----------
    columns : ndarray of int
        Candidates.
    labelling : int or None
        Labelling whose rows are read.

    Returns
    -------
    plan of float
        `RARE_EVENT_FACTOR` if the columns count rare events, otherwise 1.
    """
    if not columns.size:
        return 1.0
    profile = yield from ask(Profile(), np.sort(columns), labelling)
    return RARE_EVENT_FACTOR if are_rare_events(profile) else 1.0


def are_rare_events(profile: ClassProfile) -> bool:
    """Return True if most columns have no negative values and are rarely different from zero.

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
    >>> from ilfs.rare_events import are_rare_events
    >>> from ilfs.sources import table_source
    >>> from ilfs.statistics import Profile
    >>> X, y = np.eye(6), np.array([0, 1, 0, 1, 0, 1])  # each word occurs in one of six texts
    >>> [are_rare_events(fold_of(table_source(Z, y))(Profile())) for Z in (X, -X, X + 1)]
    [True, False, False]
    """
    count, zeros = profile.count.sum(axis=0), profile.zeros.sum(axis=0)
    is_rare = (zeros > MIN_ZEROS * count) & (profile.negative == 0)
    return bool(np.count_nonzero(is_rare) >= MIN_COLUMNS * is_rare.size)
