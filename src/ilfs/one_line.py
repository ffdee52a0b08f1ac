"""Messages of errors, fit for a line of a terminal or a value of a table."""

MAX_CHARACTERS = 500


def in_one_line(error: BaseException) -> str:
    r"""Type and message of an error, without characters that terminals and tables cannot show.

    Parameters
    ----------
    error : BaseException
        Any, also one whose message cannot be made.

    Returns
    -------
    str
        At most `MAX_CHARACTERS` characters of the message.

    Examples
    --------
    >>> from ilfs.one_line import in_one_line
    >>> in_one_line(ValueError("first\nsecond"))
    'ValueError: first second'
    """
    try:
        words = str(error)
    except Exception:
        return f"{type(error).__name__}: it cannot say why"
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in words).split())
    return f"{type(error).__name__}: " + (line if len(line) <= MAX_CHARACTERS else f"{line[:MAX_CHARACTERS]}...")
