"""Words for lists, numbers of things and times, in messages and reports."""

from collections.abc import Sequence


def listed(names: Sequence[str]) -> str:
    """Join names by commas and "and".

    Examples
    --------
    >>> from ilfs.words import listed
    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def counted(number: int, noun: str) -> str:
    """Format a number with its noun.

    Examples
    --------
    >>> from ilfs.words import counted
    >>> counted(1, "row"), counted(2000, "row"), counted(2, "class")
    ('1 row', '2,000 rows', '2 classes')
    """
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def p_value_text(value: float) -> str:
    """Format a probability with two significant digits; one that is too small for a number is not printed as 0.

    Examples
    --------
    >>> from ilfs.words import p_value_text
    >>> p_value_text(0.00191), p_value_text(0.5), p_value_text(1.0), p_value_text(0.0)
    ('0.0019', '0.5', '1', '<1e-300')
    """
    return f"{value:.2g}" if value >= 1e-300 or value != value else "<1e-300"


def seconds_text(seconds: float) -> str:
    """Format a number of seconds with two digits or more.

    Examples
    --------
    >>> from ilfs.words import seconds_text
    >>> seconds_text(0.00123), seconds_text(4.56), seconds_text(1234.5)
    ('0.0012', '4.6', '1,234')
    """
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.2g}"
