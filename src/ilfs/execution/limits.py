"""Memory limit for statistics of all pairs of features."""

import os
from pathlib import Path

PAIR_BYTES = 8  # bytes per pair of features and matrix
PAIR_COPIES = 5  # matrices held at the same time: two being merged, one being computed, the correlations, one temporary
FREE_FRACTION = 0.5  # fraction of the free memory that may be used
GIGABYTE = 1e9


def free_bytes() -> int:
    """Return the free memory in bytes: all memory if only that is known, and 8 GB if nothing is known."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return int(8 * GIGABYTE)


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
