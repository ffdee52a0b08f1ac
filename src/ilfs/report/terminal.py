"""Terminals: width, colours, and the characters that they can show."""

import os
import sys
import textwrap
from dataclasses import dataclass
from typing import Any, TextIO

from ilfs.text_table import shortened, visible

TERMINAL_WIDTH = 80  # columns of a terminal that does not tell its size
PIPE_WIDTH = 120  # columns of text that goes to a file or a pipe, if COLUMNS does not say otherwise
MIN_WIDTH = 40
CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
EIGHTHS = " ▏▎▍▌▋▊▉█"  # blocks of 0 to 8 eighths of a character


@dataclass(frozen=True)
class Terminal:
    """Width, colours and characters of a terminal, or of a file in its place.

    Parameters
    ----------
    width : int
        Number of columns.
    has_colours : bool
        Colours may be used.
    has_unicode : bool
        Other characters than those of ASCII can be shown.

    Examples
    --------
    >>> from ilfs.report.terminal import Terminal
    >>> plain = Terminal(width=80, has_colours=False, has_unicode=False)
    >>> plain.bar(0.5, 8), plain.painted("yes", "green"), plain.name("a-very-long-name", 9)
    ('####', 'yes', 'a-v...ame')
    """

    width: int = 80
    has_colours: bool = False
    has_unicode: bool = True

    @classmethod
    def of_stream(cls, stream: TextIO) -> "Terminal":
        """Find out what an output stream can show.

        Colours need a terminal, and that the variable ``NO_COLOR`` is empty and ``TERM`` is not ``dumb``.

        Parameters
        ----------
        stream : text file
            Such as ``sys.stdout``.
        """
        is_terminal = stream.isatty()
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        return cls(max(width_of(stream), MIN_WIDTH), is_terminal and not plain, can_show("█…", stream))

    @property
    def ellipsis(self) -> str:
        """Text that replaces the middle of a long name."""
        return "…" if self.has_unicode else "..."

    def painted(self, text: str, *colours: str) -> str:
        """Return a text in colours, if there are any."""
        codes = ";".join(CODES[colour] for colour in colours)
        return f"\x1b[{codes}m{text}\x1b[0m" if self.has_colours and text and codes else text

    def bar(self, fraction: float, width: int) -> str:
        """Draw a bar whose length is a fraction of some columns; every positive fraction is seen."""
        if not fraction > 0:  # also NaN
            return ""
        eighths = max(1, round(8 * width * min(fraction, 1.0)))
        if not self.has_unicode:
            return "#" * max(1, round(eighths / 8))
        return EIGHTHS[8] * (eighths // 8) + EIGHTHS[eighths % 8].strip()

    def name(self, text: Any, width: int) -> str:
        """Make a name from a file harmless, and shorten it in the middle to some columns."""
        return shortened(visible(str(text)), width, self.ellipsis)

    def wrapped(self, title: str, sentence: str, indent: int) -> str:
        """Format a sentence in lines of the terminal's width, beside a title."""
        return textwrap.fill(
            visible(sentence),
            width=max(self.width, MIN_WIDTH),
            initial_indent=f"{title:{indent}}",
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )


def width_of(stream: TextIO) -> int:
    """Return the columns of a stream: those that the variable ``COLUMNS`` says, or those of its own terminal."""
    if (given := os.environ.get("COLUMNS", "")).isdecimal() and int(given) > 0:
        return int(given)
    if not stream.isatty():
        return PIPE_WIDTH
    try:
        # Not `shutil.get_terminal_size`: it asks for the terminal of stdout, which may be a file while stderr is none.
        return os.get_terminal_size(stream.fileno()).columns or TERMINAL_WIDTH
    except (AttributeError, OSError, ValueError):
        return TERMINAL_WIDTH


def can_show(marks: str, stream: Any = None) -> bool:
    """Return True if the encoding of an output stream has some characters."""
    try:
        marks.encode(getattr(stream or sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
