"""Memory limit for statistics of all pairs of features."""

from ilfs.memory import FREE_FRACTION, GIGABYTE, free_bytes

PAIR_BYTES = 8  # bytes per pair of features and matrix
PAIR_COPIES = 5  # matrices held at the same time: two being merged, one being computed, the correlations, one temporary


def check_pairs_fit(n_features: int, method: str, limit: float | None = None) -> None:
    """Raise an error if the correlations of all pairs of features would take too much memory.

    Parameters
    ----------
    n_features : int
        Number of features.
    method : str
        Name of the method, for the message.
    limit : float, optional
        Maximum number of bytes; half of the free memory by default.

    Examples
    --------
    >>> from ilfs.execution.limits import check_pairs_fit
    >>> check_pairs_fit(100_000, "CFS", limit=16e9)
    Traceback (most recent call last):
        ...
    ValueError: CFS keeps the correlations of all pairs of features if rows are read in blocks: 100,000 features need
    400.0 GB, the limit is 16.0 GB. Choose fewer features first, for example with FisherScore
    """
    limit = FREE_FRACTION * free_bytes() if limit is None else limit
    needed = PAIR_COPIES * PAIR_BYTES * n_features**2
    if needed > limit:
        raise ValueError(
            f"{method} keeps the correlations of all pairs of features if rows are read in blocks: "
            f"{n_features:,} features need {needed / GIGABYTE:.1f} GB, the limit is {limit / GIGABYTE:.1f} GB. "
            "Choose fewer features first, for example with FisherScore"
        )
