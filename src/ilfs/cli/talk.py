"""What a command tells on stderr beside its result on stdout."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from ilfs.words import counted

TITLE_WIDTH = 11  # columns of the titles: input, guessed, verdict, selected, set aside, warning, written
WARNING = "warning"  # title of sentences that are told even if the command is quiet
TITLE_COLOURS = {WARNING: ("yellow",), "guessed": ("cyan",)}
MAX_NAMED_COLUMNS = 4  # columns that are named for each reason why they were set aside
MAX_REASONS = 6
MAX_NAME_WIDTH = 24


class Talk:
    """Sentences on stderr, each beside a title; only warnings if the command is quiet.

    Parameters
    ----------
    quiet : bool
        Tell nothing but warnings.
    """

    def __init__(self, *, quiet: bool) -> None:
        from ilfs.report.terminal import Terminal

        self.quiet, self.terminal = quiet, Terminal.of_stream(sys.stderr)

    def tell(self, title: str, sentence: str, *colours: str) -> None:
        """Print a sentence beside a title."""
        if self.quiet and title != WARNING:
            return
        text = self.terminal.wrapped(title, sentence, TITLE_WIDTH)
        head = self.terminal.painted(text[:TITLE_WIDTH], *(colours or TITLE_COLOURS.get(title, ("dim",))))
        sys.stdout.flush()  # the result comes first if both go to one terminal or file
        print(head + text[TITLE_WIDTH:], file=sys.stderr)

    def tell_all(self, title: str, sentences: Iterable[str]) -> None:
        """Print several sentences under one title."""
        for number, sentence in enumerate(sentences):
            self.tell("" if number and title not in TITLE_COLOURS else title, sentence)


def set_aside_sentences(set_aside: Sequence[Any], ellipsis: str = "…") -> list[str]:
    """Say which columns are no features, by reason: their number, and the names of the first few.

    Parameters
    ----------
    set_aside : sequence of SetAside
        Columns with their reasons.
    ellipsis : str
        What stands in place of the middle of a long name.

    Returns
    -------
    list of str
        One sentence for each reason, the most frequent first.

    Examples
    --------
    >>> from ilfs.cli.talk import set_aside_sentences
    >>> from ilfs.preparing import SetAside
    >>> set_aside_sentences([SetAside("id", "names the rows"), *(SetAside(f"g{j}", "is constant") for j in range(9))])
    ['9 columns (g0, g1, g2, g3, ...): each is constant', 'id: names the rows']
    """
    by_reason: dict[str, list[str]] = {}
    for one in set_aside:
        by_reason.setdefault(one.reason, []).append(one.name)
    often = sorted(by_reason.items(), key=lambda pair: -len(pair[1]))
    sentences = [f"{names_text(names, ellipsis)}: {reason_for(names, reason)}" for reason, names in often[:MAX_REASONS]]
    n_more = sum(len(names) for _, names in often[MAX_REASONS:])
    if n_more:
        sentences.append(f"{counted(n_more, 'more column')} for other reasons, which the page (--report) lists")
    return sentences


def reason_for(names: Sequence[str], reason: str) -> str:
    """Let a reason that begins with a verb, such as "is" or "holds", go with one or several columns."""
    return f"each {reason}" if len(names) > 1 and reason.split(" ")[0].endswith("s") else reason


def names_text(names: Sequence[str], ellipsis: str) -> str:
    """Format some names of columns and their number."""
    from ilfs.text_table import shortened, visible

    some = ", ".join(shortened(visible(str(name)), MAX_NAME_WIDTH, ellipsis) for name in names[:MAX_NAMED_COLUMNS])
    if len(names) == 1:
        return some
    return f"{len(names):,} columns ({some}{', ...' if len(names) > MAX_NAMED_COLUMNS else ''})"
