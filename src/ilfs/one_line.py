"""Error messages in one line, for terminals and tables."""

MAX_CHARACTERS = 500  # of a message


def in_one_line(error: BaseException) -> str:
    r"""Format the type and message of an error in one line, without control characters.

    Parameters
    ----------
    error : BaseException
        Any error, even one whose ``__str__`` fails.

    Returns
    -------
    str
        The name of the type and at most `MAX_CHARACTERS` characters of the message.

    Examples
    --------
    >>> from ilfs.one_line import in_one_line
    >>> in_one_line(ValueError("first\nsecond"))
    'ValueError: first second'
    """
    try:
        words = str(error)
    except Exception:
        return f"{type(error).__name__}: its message cannot be formatted"
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in words).split())
    return f"{type(error).__name__}: " + (line if len(line) <= MAX_CHARACTERS else f"{line[:MAX_CHARACTERS]}...")


def reason_of(error: BaseException) -> str:
    """Format an error as a reason in one line: the message of an error about the input, any other with its type.

    Examples
    --------
    >>> from ilfs.one_line import reason_of
    >>> reason_of(ValueError("k must be positive")), reason_of(KeyError("k"))
    ('k must be positive', "KeyError: 'k'")
    """
    line = in_one_line(error)
    return line.partition(": ")[2] if isinstance(error, ValueError | TypeError) and str(error) else line
