"""Options that say which table is read and how, shared by ``ilfs rank``, ``ilfs explain`` and ``ilfs compare``.

INPUT and the options that take several names (``--drop a b``) compete for words: in ``ilfs rank --drop a b table.csv``
the parser counts the file among the names. If no INPUT is left, the last names of such an option that are files become
the INPUT (`taken_inputs`).
"""

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from ilfs.choices import INPUT_FORMATS, PARQUET_ENDINGS, STANDARD_INPUT

ENGINES = ("auto", "memory", "stream", "dask")
LIST_OPTIONS = ("drop", "only", "must_keep", "method", "methods", "feature")  # options that take several words
# Options that `ilfs.preparing.prepare` takes as they are.
PREPARE_OPTIONS = (
    "target", "samples", "transpose", "id", "weight", "groups", "encode", "input_format", "engine", "memory_limit",
)  # fmt: skip
MAX_PATH = 40  # characters of INPUT in the line that counts the seconds of reading
INPUT_HELP = (
    "a file (csv, tsv, parquet, feather, npz, svmlight, arff, mat, h5ad, xlsx, also compressed), a folder or pattern "
    "of Parquet files, several Parquet files, the name of a data set (ilfs datasets), or - for standard input"
)


def add_input(parser: argparse.ArgumentParser) -> None:
    """Add the argument INPUT."""
    parser.add_argument("input", nargs="*", metavar="INPUT", help=INPUT_HELP)


def add_table(parser: argparse.ArgumentParser, *, with_groups: bool = True) -> None:
    """Add INPUT and the options that name its columns.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of a command.
    with_groups : bool, default=True
        Add ``--groups``, for commands that permute labels or divide the rows.
    """
    add_input(parser)
    group = parser.add_argument_group("the table")
    group.add_argument(
        "--target",
        metavar="COLUMN",
        help="column that holds the classes (if not given, it is guessed, and the guess is printed)",
    )
    group.add_argument(
        "--samples",
        metavar="FILE",
        help="table of the samples, with the classes; its rows are matched with those of INPUT by the names of the "
        "samples",
    )
    group.add_argument(
        "--transpose",
        action=argparse.BooleanOptionalAction,
        help="INPUT has features in rows and samples in columns (recognised and told)",
    )
    group.add_argument(
        "--drop", nargs="+", action="extend", default=[], metavar="NAME", help="columns that are no features, by name "
        "or pattern such as 'AFFX*'",
    )  # fmt: skip
    group.add_argument(
        "--only", nargs="+", action="extend", default=[], metavar="NAME", help="the only features, by name or pattern"
    )
    add_columns(group, with_groups)
    if not with_groups:
        parser.set_defaults(groups=None)
    group.add_argument(
        "--input-format", choices=INPUT_FORMATS, metavar="FORMAT", help=f"format of INPUT: {', '.join(INPUT_FORMATS)} "
        "(by its name; csv for standard input)",
    )  # fmt: skip


def add_columns(group: Any, with_groups: bool) -> None:
    """Add the options that say what some columns hold."""
    group.add_argument("--id", metavar="COLUMN", help="column that names the rows, which is no feature")
    group.add_argument("--weight", metavar="COLUMN", help="column that holds the weights of the rows")
    if with_groups:
        group.add_argument(
            "--groups",
            metavar="COLUMN",
            help="column such as a donor: labels are permuted within groups, and the rows of a group are in one fold",
        )
    group.add_argument(
        "--encode", action="store_true", help="make numbers of columns of text instead of setting them aside"
    )


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the rows are held."""
    group = parser.add_argument_group("memory and computers")
    group.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="memory, stream (blocks from disk) or dask; auto, the default, chooses between the first two",
    )
    group.add_argument("--scheduler", metavar="ADDRESS", help="Dask scheduler, tcp://..., for --engine dask")
    group.add_argument(
        "--memory-limit", metavar="SIZE", help="memory for the table, such as 500MB or 2GB (half of the free memory)"
    )
    group.add_argument("--jobs", type=int, default=-1, metavar="N", help="number of threads (-1: one per core)")


def check_engine(options: argparse.Namespace) -> None:
    """Raise an error if options on the engine contradict each other."""
    from ilfs.memory import bytes_of

    if options.scheduler is not None and options.engine != "dask":
        raise ValueError(f"--scheduler needs --engine dask, got --engine {options.engine}")
    if options.memory_limit is not None and options.engine in ("memory", "dask"):
        raise ValueError(f"--memory-limit needs --engine auto or stream, got --engine {options.engine}")
    if options.jobs == 0:
        raise ValueError("--jobs must be an integer other than 0, got 0")
    bytes_of(options.memory_limit)


def input_of(options: argparse.Namespace) -> str:
    """Return INPUT: a path, or a pattern that stands for the Parquet files that a shell has listed.

    Parameters
    ----------
    options : argparse.Namespace
        Its lists of names lose those that turn out to be the INPUT.

    Returns
    -------
    str
        What is read.
    """
    inputs = list(options.input) or taken_inputs(options)
    if not inputs:
        raise ValueError("INPUT is missing: name the file, for example ilfs rank table.csv --target COLUMN")
    if len(inputs) == 1:
        return str(inputs[0])
    others = [one for one in inputs if not one.lower().endswith(PARQUET_ENDINGS)]
    if others:
        raise ValueError(
            f"INPUT must be one file, or several Parquet files, got {len(inputs)} arguments, of which {others[0]!r} is "
            "no Parquet file: quote names that contain spaces"
        )
    return pattern_of(inputs)


def pattern_of(paths: list[str]) -> str:
    """Return a pattern that stands for some files: the shell has replaced ``parts/*.parquet`` by their names.

    Parameters
    ----------
    paths : list of str
        Paths of files.

    Returns
    -------
    str
        A pattern that matches these files and no others; if there is none, an error is raised.
    """
    from glob import glob

    folders = [one.split("/") for one in paths]
    if len({len(one) for one in folders}) == 1:
        pattern = "/".join(pattern_of_words(sorted(set(words))) for words in zip(*folders, strict=True))
        if sorted(glob(pattern)) == sorted(set(paths)):
            return pattern
    raise ValueError(
        f"INPUT must be one file, a folder or a pattern, got {len(paths)} files that are no pattern of their folder: "
        "put them into a folder of their own"
    )


def pattern_of_words(words: list[str]) -> str:
    """Return a pattern for some names: their common beginning and end, and a wildcard between."""
    from glob import escape
    from os.path import commonprefix

    start = commonprefix(words)  # noqa: RUF071  of the characters of a name
    ends = [word[len(start) :] for word in words]
    end = commonprefix([one[::-1] for one in ends])[::-1]  # noqa: RUF071
    middles = [one[: len(one) - len(end)] for one in ends]
    if middles == [""]:
        return escape(start)
    wildcard = f"[{''.join(middles)}]" if all(len(one) == 1 and one.isalnum() for one in middles) else "*"
    return escape(start) + wildcard + escape(end)


def taken_inputs(options: argparse.Namespace) -> list[str]:
    """Take INPUT from the end of an option that has swallowed it, as in ``--drop a b table.csv``."""
    for name in LIST_OPTIONS:
        values = getattr(options, name, None)
        if not isinstance(values, list) or not values:
            continue
        start = len(values)
        while start > 0 and is_input(values[start - 1]):
            start -= 1
        if 0 < start < len(values):
            taken = values[start:]
            del values[start:]
            return taken
    return []


def is_input(word: str) -> bool:
    """Return True if a word is the path of a file or folder, or stands for standard input."""
    return word == STANDARD_INPUT or Path(word).exists()


def connection(options: argparse.Namespace) -> AbstractContextManager[Any]:
    """Connect to the Dask scheduler, if one is named."""
    if options.scheduler is None:
        return nullcontext()
    from ilfs.execution.dask import connected

    return connected(options.scheduler)


def call_of(function: Callable[..., Any], path: str, given: dict[str, Any]) -> str:
    """Format a call as Python code, without the arguments that are the defaults.

    Parameters
    ----------
    function : callable
        The function.
    path : str
        Its first argument.
    given : dict of str to object
        Its other arguments, by name.

    Returns
    -------
    str
        Python code.

    Examples
    --------
    >>> from ilfs.cli.table_options import call_of
    >>> from ilfs.preparing import prepare
    >>> call_of(prepare, "counts.tsv", {"samples": "sheet.csv", "target": None})
    "prepare('counts.tsv', samples='sheet.csv')"
    """
    from inspect import signature

    usual = signature(function).parameters
    words = [f"{name}={value!r}" for name, value in given.items() if value != usual[name].default]
    return f"{function.__name__}({', '.join([repr(path), *words])})"


def open_prepared(path: str, options: argparse.Namespace, *, needs_target: bool = True) -> Any:
    """Open the table as the options say.

    Parameters
    ----------
    path : str
        INPUT, as `input_of` returns it.
    options : argparse.Namespace
        Those of `add_table` and `add_engine`.
    needs_target : bool, default=True
        The method needs classes, so that a table without them is an error.

    Returns
    -------
    ilfs.preparing.PreparedTable
        The table, with what was guessed and set aside in the words of the command.
    """
    from dataclasses import replace

    from ilfs.cli.messages import in_words_of_the_command, plain
    from ilfs.cli.option_words import in_options
    from ilfs.cli.progress import WaitLine
    from ilfs.preparing import prepare

    with WaitLine(f"reading {plain(path)[:MAX_PATH]}", quiet=getattr(options, "quiet", False)):
        given = {name: getattr(options, name) for name in PREPARE_OPTIONS}
        given |= {"drop": tuple(options.drop), "only": tuple(options.only), "needs_target": needs_target}
        table = prepare(path, **given)
        options.preparation = call_of(prepare, path, given)
    return replace(
        table,
        guesses=tuple(map(in_words_of_the_command, table.guesses)),
        warnings=tuple(map(in_words_of_the_command, table.warnings)),
        set_aside=tuple(replace(one, reason=in_options(one.reason)) for one in table.set_aside),
    )
