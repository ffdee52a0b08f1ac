"""The parser of the command line: usage errors in one line, and small helpers for the options of the commands."""

import argparse
import re
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

RAW_STARTS = ("examples:", "first steps:")  # of texts whose line breaks are kept
UNKNOWN = "unrecognized arguments: "  # as argparse begins the message
USAGE_ERROR = 2  # exit code of a mistake that the user can correct


class HelpFormatter(argparse.HelpFormatter):
    """Fit descriptions to the width of the terminal, and keep the line breaks of examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        is_raw = text.startswith(RAW_STARTS)
        return indent + text.rstrip() if is_raw else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """A parser that reports a usage error in one line and keeps the line breaks of examples."""

    def __init__(self, **options: Any) -> None:
        self.commands: Any = None  # what `add_subparsers` returns
        super().__init__(**{"formatter_class": HelpFormatter} | options)

    def add_subparsers(self, **options: Any) -> Any:
        """Add commands below this one, and remember them.

        Parameters
        ----------
        **options
            As for `argparse.ArgumentParser.add_subparsers`.
        """
        self.commands = super().add_subparsers(**options)
        return self.commands

    @property
    def actions(self) -> list[argparse.Action]:
        """Options and arguments of this parser."""
        return list(self._actions)  # argparse has no public list of them

    def error(self, message: str) -> NoReturn:
        """Print one line on stderr and exit.

        Parameters
        ----------
        message : str
            What is wrong.
        """
        from ilfs.cli.messages import plain

        print(f"ilfs: {plain(message)}{self._suggestion(message)}; see {self.prog} --help", file=sys.stderr)
        raise SystemExit(USAGE_ERROR)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; the parser of a command itself refuses unknown ones, so that its own help is named.

        Parameters
        ----------
        args, namespace
            As for `argparse.ArgumentParser`.

        Returns
        -------
        tuple
            The namespace, and an empty list.
        """
        found, unknown = super().parse_known_args(args, namespace)
        if unknown and not subcommands(self):
            self.error(f"{UNKNOWN}{' '.join(unknown)}")
        return found, unknown

    def _suggestion(self, message: str) -> str:
        """Name the option or choice that is most similar to a wrong one, as the end of a message."""
        from difflib import get_close_matches

        wrong, known = "", list(options_of(self))
        if message.startswith(UNKNOWN):
            wrong = next((word for word in message.removeprefix(UNKNOWN).split() if word.startswith("-")), "")
        elif choice := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
            wrong, known = choice[1], [word.strip("' ") for word in choice[2].split(",")]
        near = get_close_matches(wrong.split("=")[0], known, n=1)
        return f": did you mean {near[0]}?" if near else ""


def leaves(parser: Parser) -> Iterator[Parser]:
    """Yield the parsers of all commands that can be run.

    Parameters
    ----------
    parser : Parser
        The parser of ``ilfs``, or of one of its commands.

    Yields
    ------
    Parser
        Parsers without actions of their own, and those that also run without an action.
    """
    inner = subcommands(parser)
    if not inner or parser.get_default("function") is not None:
        yield parser
    for one in inner.values():
        yield from leaves(one)


def subcommands(parser: Parser) -> dict[str, Parser]:
    """Return the parsers of the commands below a parser by their names."""
    return {} if parser.commands is None else dict(parser.commands.choices)


def options_of(parser: Parser) -> dict[str, argparse.Action]:
    """Return the options of a parser by their names, such as ``--target``."""
    return {name: action for action in parser.actions for name in action.option_strings}


def add_debug(parser: Parser) -> None:
    """Add ``--debug`` to every command."""
    for one in leaves(parser):
        if "--debug" not in options_of(one):
            one.add_argument("--debug", action="store_true", help="show the traceback of an error")
