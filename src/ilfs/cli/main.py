"""The command ``ilfs``: parse the command line, run the command, and report errors.

An error that the user can correct is printed as one line on stderr, without a traceback, and the exit code is 2.

This module imports almost nothing at the top, so that Ctrl-C during the import of scikit-learn also ends the command
with one line. The parser imports neither numpy nor scikit-learn: ``--help``, ``--version``, ``ilfs methods`` and usage
errors answer at once. A command imports them when it runs.
"""

import os
import sys

TYPE_CHECKING = False  # importing typing.TYPE_CHECKING would take longer than everything else here
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

INTERRUPTED = 130  # exit code that shells use for Ctrl-C: 128 + SIGINT


def note(message: Warning | str, *_: "Any", **__: "Any") -> None:
    """Print a warning as one line on stderr, without file name and line number."""
    print(f"ilfs: note: {message}", file=sys.stderr)


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run a command and return its exit code."""
    options = None
    try:
        import warnings

        options = command_line().parse_args(arguments)
        with warnings.catch_warnings():
            warnings.showwarning = note
            code: int = options.function(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of a pipe, such as head, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, ImportError, OSError) as error:
        if is_interrupt(error):
            return tell_stopped(options)
        print(f"ilfs: {error}", file=sys.stderr)
        return 2
    except BaseException as error:
        if not is_interrupt(error):
            raise
        return tell_stopped(options)
    return code


def is_interrupt(error: BaseException | None) -> bool:
    """Return True if an error is a KeyboardInterrupt or was caused by one.

    An import that is interrupted may raise another error.
    """
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def tell_stopped(options: "argparse.Namespace | None" = None) -> int:
    """Print that Ctrl-C has stopped the command, and return the exit code.

    A command that saves nothing on its way has its own sentence, ``stopped``, in its options.
    """
    sentence = getattr(options, "stopped", "stopped; finished work is saved, run the same command again to continue")
    print(f"ilfs: {sentence}", file=sys.stderr)
    return INTERRUPTED


def command_line() -> "argparse.ArgumentParser":
    """Build the parser of all commands and their options."""
    import argparse

    from ilfs import __version__
    from ilfs.cli import bench, datasets, methods, rank

    parser = argparse.ArgumentParser(prog="ilfs", description="Feature selection by ILFS and the methods around it.")
    parser.add_argument("--version", action="version", version=f"ilfs {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    rank.add_to(commands)
    bench.add_to(commands)
    datasets.add_to(commands)
    methods.add_to(commands)
    return parser
