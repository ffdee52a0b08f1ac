"""Errors and warnings of the library in the words of the command line.

The library names parameters (``memory_limit``, ``n_features_to_select="auto"``, ``y``), which a user of the command has
never seen. Here they become options (``--memory-limit``, ``--rule auto``, ``--target``). Names that a file contains may
hold any character, so a message is made printable before it reaches the terminal.
"""

import re

from ilfs.cli.option_words import in_options

MAX_MESSAGE_CHARACTERS = 1000  # of a message

# Clauses of the library that are more than names of parameters, which `option_words` replaces. The first ones are the
# longest, so that no part is replaced twice.
CLAUSES = {
    r"load the table if it fits, e\.g\. with ilfs\.read and a higher memory_limit": "raise --memory-limit if it fits",
    r"load the table if it fits": "raise --memory-limit if it fits, or use --engine memory",
    r"fill them \(sklearn\.impute\.SimpleImputer\), drop those columns or rows": "drop those columns (--drop) or rows",
    r": give a number, or wrap the method in ilfs\.selection\.SizeCV": ": give --top K",
    r": give a number, or use": ": give --top K, or use",
    r"n_features_to_select='(\w+)'": r"--rule \1",
    r"n_features_to_select=(0\.\d+)": r"--fraction \1",
    r"n_features_to_select=(\d+)": r"--top \1",
    r"n_features_to_select must be an integer >= 1, a fraction .*, got": "--top must be an integer >= 1, got",
    r"\bor give a number((?:, '\w+')*)": r"or give --top K",
    r"\brandom_state must be an integer >= 0, a numpy\.random\.Generator or None": "--seed must be an integer >= 0",
    r"\bmemory_limit must be a number of bytes >= 1, text such as '500MB' or '2GiB', or None": (
        "--memory-limit must be a size such as 500MB or 2GiB"
    ),
    r"^method '": "--method '",
    r"^out must": "the output must",
    r"^(source|path) must": "INPUT must",
    r"^y must": "--target must",
    r"\bInput X contains NaN, in": "values are missing in",
    r"\b(columns?) (.{1,400}?) of X\b": r"\1 \2",
    r"\bX must\b": "the table must",
    r"\bof X\b": "of the table",
    r"\bof y\b": "of the target",
    r"\bgot None\b": "got none",
}


def in_words_of_the_command(message: str) -> str:
    """Replace parameters and advice for Python in a message by those for the command line.

    Parameters
    ----------
    message : str
        Message of an error or a warning of the library.

    Returns
    -------
    str
        One printable line.

    Examples
    --------
    >>> from ilfs.cli.messages import in_words_of_the_command
    >>> in_words_of_the_command("n_features_to_select='auto' needs all rows in memory")
    '--rule auto needs all rows in memory'
    """
    for pattern, words in CLAUSES.items():
        message = re.sub(pattern, words, message)
    return plain(with_method_names(in_options(message)))


def with_method_names(message: str) -> str:
    """Replace lists of classes that a message advises by the names that ``--method`` takes.

    Examples
    --------
    >>> from ilfs.cli.messages import with_method_names
    >>> with_method_names("CFS takes no weights: use a method that does (ILFS, FisherScore)")
    'CFS takes no weights: use a method that does (--method ilfs or fisher)'
    """
    from ilfs.registry import list_methods

    names = {method.class_name: method.name for method in list_methods()}
    one = "|".join(names)
    some = rf"(?:{one})\b(?:, (?:{one})\b)*"
    advised = re.compile(rf"(?<=\(){some}(?=\))|\buse one of {some}|\buse (?:{one})\b")

    def option(match: re.Match[str]) -> str:
        start = "use " if match[0].startswith("use ") else ""
        found = [names[word] for word in match[0].removeprefix("use ").removeprefix("one of ").split(", ")]
        return f"{start}--method {' or '.join([', '.join(found[:-1]), found[-1]] if len(found) > 1 else found)}"

    return advised.sub(option, message)


def plain(text: str) -> str:
    r"""Make a text one printable line: control characters, which a terminal would obey, become spaces.

    Examples
    --------
    >>> from ilfs.cli.messages import plain
    >>> plain("a\x1b[31m\nb")
    'a [31m b'
    """
    line = " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
    return line if len(line) <= MAX_MESSAGE_CHARACTERS else f"{line[:MAX_MESSAGE_CHARACTERS]}..."
