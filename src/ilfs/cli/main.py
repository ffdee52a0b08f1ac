"""The command line. Whatever the user can put right is one line on stderr and exit code 2, never a traceback.

Hardly anything is imported before ``main`` runs: Ctrl-C while scikit-learn is being imported ends the command in one
line, too. The parser imports neither numpy nor scikit-learn, so that ``--help``, ``--version``, ``ilfs methods`` and
usage errors answer at once; a command imports them when it runs.
"""

import os
import sys

TYPE_CHECKING = False  # that of typing takes longer to import than everything else here
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

STOPPED = 130  # what shells call the end by Ctrl-C


def note(message: Warning | str, *_: "Any", **__: "Any") -> None:
    """A warning, as a user of the command is to see it."""
    print(f"ilfs: note: {message}", file=sys.stderr)


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run a command; its exit code."""
    try:
        import warnings

        options = command_line().parse_args(arguments)
        with warnings.catch_warnings():
            warnings.showwarning = note
            code: int = options.function(options)
        sys.stdout.flush()
    except BrokenPipeError:  # who read it has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, ImportError, OSError) as error:
        if is_interrupt(error):
            return tell_stopped()
        print(f"ilfs: {error}", file=sys.stderr)
        return 2
    except BaseException as error:
        if not is_interrupt(error):
            raise
        return tell_stopped()
    return code


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is Ctrl-C, or was caused by it: an import that is interrupted may raise another error."""
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def tell_stopped() -> int:
    """Say that Ctrl-C has ended the command; its exit code."""
    print("ilfs: stopped; what is finished is kept, and the same command goes on", file=sys.stderr)
    return STOPPED


def command_line() -> "argparse.ArgumentParser":
    """All commands with their options."""
    import argparse

    from ilfs import __version__
    from ilfs.cli import bench, datasets, methods

    parser = argparse.ArgumentParser(prog="ilfs", description="Feature selection by ILFS and the methods around it.")
    parser.add_argument("--version", action="version", version=f"ilfs {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    bench.add_to(commands)
    datasets.add_to(commands)
    methods.add_to(commands)
    return parser
