"""Columns chosen by their names or by shell patterns such as ``AFFX*``."""

from collections.abc import Sequence
from fnmatch import translate
from re import compile as compiled

from ilfs.sources.roles import MAX_NAME_LENGTH, near_names

MARKS = "*?["  # characters that make a name a pattern


def match_columns(patterns: str | Sequence[str], names: Sequence[str], option: str) -> list[str]:
    """Find the columns that names or shell patterns stand for.

    Parameters
    ----------
    patterns : str or sequence of str
        Names of columns, or patterns with ``*``, ``?`` and ``[...]``; upper and lower case differ. A column that is
        called exactly like a pattern is taken by its name.
    names : sequence of str
        Names of all columns.
    option : str
        Name of the parameter or option in messages, such as ``"drop"`` or ``"--must-keep"``.

    Returns
    -------
    list of str
        The columns in the order of ``names``, each once.

    Examples
    --------
    >>> from ilfs.preparing import match_columns
    >>> match_columns(["AFFX*", "age"], ["age", "AFFX-1", "TP53", "AFFX-2"], "drop")
    ['age', 'AFFX-1', 'AFFX-2']
    """
    known, found = set(names), set[str]()
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        matches = {pattern} if pattern in known else _matches(pattern, names)
        if not matches:
            raise ValueError(_no_match(pattern, names, option))
        found |= matches
    return [name for name in names if name in found]


def columns_among(patterns: Sequence[str], names: Sequence[str]) -> set[str]:
    """Find the columns that names or patterns stand for; those that match no column are ignored.

    Examples
    --------
    >>> from ilfs.preparing.patterns import columns_among
    >>> sorted(columns_among(["don*", "other"], ["donor", "kind"]))
    ['donor']
    """
    known = set(names)
    return {name for pattern in patterns for name in ({pattern} if pattern in known else _matches(pattern, names))}


def _matches(pattern: str, names: Sequence[str]) -> set[str]:
    """Find the names that a pattern matches; a text without wildcards is no pattern."""
    if not any(mark in pattern for mark in MARKS):
        return set()
    fits = compiled(translate(pattern)).match
    return {name for name in names if fits(name)}


def _no_match(pattern: str, names: Sequence[str], option: str) -> str:
    near = near_names(pattern.strip("*?"), names) or list(names[:3])
    such_as = ", ".join(one[:MAX_NAME_LENGTH] for one in near)
    return f"{option} must match at least one column (such as {such_as}), got {pattern[:MAX_NAME_LENGTH]!r}"
