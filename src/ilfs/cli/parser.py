"""The parser of the command line: usage errors in one line, and small helpers for the options of the commands."""

import argparse
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

RAW_STARTS = ("examples:", "first steps:")  # of texts whose line breaks are kept
USAGE_ERROR = 2  # exit code of a mistake that the user can correct


class HelpFormatter(argparse.HelpFormatter):
    """Fit descriptions to the width of the terminal, and keep the line breaks of examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        is_raw = text.startswith(RAW_STARTS)
        return indent + text.rstrip() if is_raw else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser that reports a usage error in one line and keeps the line breaks of examples."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": HelpFormatter} | options)

    def error(self, message: str) -> NoReturn:
        """Print one line on stderr and exit.

        Parameters
        ----------
        message : str
            What is wrong.
        """
        from ilfs.cli.messages import plain

        print(f"ilfs: {plain(message)}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(USAGE_ERROR)


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all commands that can be run.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser of ``ilfs``, or of one of its commands.

    Yields
    ------
    argparse.ArgumentParser
        Parsers without actions of their own, and those that also run without an action.
    """
    inner = subcommands(parser)
    if not inner or parser.get_default("function") is not None:
        yield parser
    for one in inner.values():
        yield from leaves(one)


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the commands below a parser by their names."""
    for action in parser._actions:  # argparse has no public list of them
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def add_debug(parser: argparse.ArgumentParser) -> None:
    """Add ``--debug`` to every command."""
    for one in leaves(parser):
        if "--debug" not in one._option_string_actions:
            one.add_argument("--debug", action="store_true", help="show the traceback of an error")
