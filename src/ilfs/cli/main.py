"""The command ``ilfs``: parse the command line, run the command, and report errors.

Exit codes: 0, 1 if a job of a benchmark failed, 2 after an error, 130 after Ctrl-C, 143 after SIGTERM. An error is
printed as one line on stderr. With ``--debug`` its traceback is printed, too.

This module imports almost nothing at the top, so that Ctrl-C during the import of scikit-learn also ends the command
with one line. The parser imports neither numpy nor scikit-learn: ``--help``, ``--version``, ``ilfs methods`` and usage
errors answer at once. A command imports them when it runs.
"""

import os
import sys

TYPE_CHECKING = False  # importing typing.TYPE_CHECKING would take longer than everything else here
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import Any, TextIO

    from ilfs.cli.parser import Parser

FAILED = 2  # exit code after an error
COMMANDS = ("rank", "interactions", "compare", "explain", "apply", "methods", "datasets", "bench", "completion")
NAME_OPTIONS = (
    "rank",
    "interactions",
    "compare",
    "explain",
    "apply",
)  # commands whose messages name options instead of parameters
OBJECTS_BETWEEN_COLLECTIONS = 100_000
INTERRUPTED = 130  # exit code that shells use for Ctrl-C: 128 + SIGINT
TERMINATED = 143  # the same for SIGTERM
OUT_OF_MEMORY = "there is not enough memory: try --engine stream, a smaller --memory-limit, or fewer --jobs"
EPILOG = """first steps:
  ilfs rank table.csv                                 rank the columns of your table
  ilfs rank table.csv --target y --report page.html   the same, with a page to explore
  ilfs methods                                        what --method takes

ilfs COMMAND --help shows the options of a command, with examples.
"""


def note_for(options: "argparse.Namespace") -> "Callable[..., None]":
    """Return a function that prints a warning as one line on stderr, without file name and line number."""

    def note(message: Warning | str, *_: "Any", **__: "Any") -> None:
        if not getattr(options, "quiet", False):
            print(f"ilfs: note: {words_for(options)(str(message))}", file=sys.stderr)

    return note


def words_for(options: "argparse.Namespace | None") -> "Callable[[str], str]":
    """Return a function that formats a message in one line; for some commands it names options, not parameters."""
    from ilfs.cli.messages import in_words_of_the_command, plain

    return in_words_of_the_command if getattr(options, "names_options", False) else plain


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run a command and return its exit code."""
    options = None
    try:
        import warnings

        given = sys.argv[1:] if arguments is None else list(arguments)
        show_any_name(sys.stdout)
        show_any_name(sys.stderr)
        if not given:
            command_line().print_help()
            return 0
        options = command_line(given[:1]).parse_args(given)
        options.command = repeatable(given)
        with warnings.catch_warnings():
            warnings.showwarning = note_for(options)
            collect_rarely()
            code = run_command(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of a pipe, such as head, has closed it
        discard(sys.stdout)
        return 0
    except BaseException as error:
        if is_interrupt(error):
            return tell_stopped(options)
        if isinstance(error, Terminated):
            tell_stopped(options)
            return TERMINATED
        if not isinstance(error, Exception):
            raise
        return tell_error(error, options)
    return code


class Terminated(SystemExit):
    """The process shall end: SIGTERM, as schedulers and ``timeout`` send it."""


def end_in_order_at_sigterm() -> bool:
    """Let SIGTERM raise `Terminated`, so that no half-written file is left behind; return whether that was done."""
    import signal

    owner = os.getpid()

    def stop(*_: object) -> None:
        if os.getpid() != owner:  # a process that was forked from this one has nothing to clean up
            os._exit(TERMINATED)
        raise Terminated(TERMINATED)

    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return False
    try:
        signal.signal(signal.SIGTERM, stop)
    except ValueError:  # a thread of another program runs the command
        return False
    return True


def end_at_once_at_sigterm() -> None:
    """Undo `end_in_order_at_sigterm`."""
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def collect_rarely() -> None:
    """Collect cyclic garbage less often: imports create many objects and no garbage, and took 15 % longer."""
    import gc

    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])


def run_command(options: "argparse.Namespace") -> int:
    """Run a command; if it is quiet, silence the log, such as messages on compiled kernels."""
    import logging

    log = logging.getLogger("ilfs")
    before = log.level
    if getattr(options, "quiet", False):
        log.setLevel(logging.ERROR)
    catches_sigterm = end_in_order_at_sigterm()
    try:
        code: int = options.function(options)
        return code
    finally:
        log.setLevel(before)
        if catches_sigterm:
            end_at_once_at_sigterm()


def repeatable(arguments: "Sequence[str]") -> str:
    """Format a command line so that a shell reads it as it was given."""
    from shlex import join

    return join(["ilfs", *arguments])


def show_any_name(stream: "TextIO") -> None:
    """Write characters that the encoding of an output stream lacks as escape sequences instead of failing."""
    if hasattr(stream, "reconfigure"):  # the streams of pytest and notebooks have none
        stream.reconfigure(errors="backslashreplace")


def discard(stream: "TextIO") -> None:
    """Make Python's last flush of a stream succeed if its reader or disk takes no more data."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def tell_error(error: Exception, options: "argparse.Namespace | None" = None) -> int:
    """Print an error as one line, and with ``--debug`` its traceback before it; return the exit code."""
    if getattr(options, "debug", False):
        import traceback

        traceback.print_exception(error)
    print(f"ilfs: {sentence_of(error, words_for(options))}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:  # the disk that stdout is written to is full
        discard(sys.stdout)
    return FAILED


def sentence_of(error: Exception, words: "Callable[[str], str]") -> str:
    """Describe an error in one line.

    Errors that the library raises on purpose have a message for the user. Others name their type, too.
    """
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    if isinstance(error, OSError):
        return words(os_sentence(error))
    if isinstance(error, ValueError | TypeError | ImportError):
        return words(str(error) or type(error).__name__)
    kind = type(error).__name__
    return words(f"{kind}: {error}; this should not happen: run the command again with --debug, and report it")


def os_sentence(error: OSError) -> str:
    """Describe an error of the operating system: the file and the reason, without its number."""
    if error.strerror is None:
        return str(error)
    where = "standard output" if error.filename is None else repr(str(error.filename))
    return f"{where}: {error.strerror}"


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

    A command that saves nothing on its way has its own sentence, ``stopped``, in its options. Without options, the
    command had not begun.
    """
    saved = "stopped; finished work is saved, run the same command again to continue"
    sentence = "stopped" if options is None else getattr(options, "stopped", saved)
    print(f"ilfs: {sentence}", file=sys.stderr)
    return INTERRUPTED


def command_line(given: "Sequence[str]" = ()) -> "Parser":
    """Build the parser of all commands and their options.

    Parameters
    ----------
    given : sequence of str, default=()
        First word of a command line. If it is a command, the other commands are neither imported nor added: that
        would take longer than all else that ``ilfs methods`` does.

    Returns
    -------
    Parser
        The parser of ``ilfs``.
    """
    from importlib import import_module

    from ilfs import __version__
    from ilfs.cli.parser import Parser, add_debug

    parser = Parser(prog="ilfs", description="Find the columns of a table that matter.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"ilfs {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in [one for one in COMMANDS if one in given] or COMMANDS:
        import_module(f"ilfs.cli.{name}").add_to(commands)
        commands.choices[name].set_defaults(names_options=name in NAME_OPTIONS)
    add_debug(parser)
    return parser
