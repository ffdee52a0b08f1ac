"""Words for lists and numbers of things."""

from collections.abc import Sequence


def listed(names: Sequence[str]) -> str:
    """Join names by commas and "and".

    Examples
    --------
    >>> from ilfs.report.benchmark.words import listed
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(n: int, what: str) -> str:
    """Format a number of things.

    Examples
    --------
    >>> from ilfs.report.benchmark.words import counted
    >>> counted(1, "split"), counted(20, "split")
    ('1 split', '20 splits')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
