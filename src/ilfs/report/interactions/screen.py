"""Interactions as a table that fits a terminal."""

from collections.abc import Iterable
from dataclasses import dataclass

from ilfs.report.interactions.summary import FoundSet, InteractionSummary
from ilfs.report.ranking_screen import ScreenColumn, formatted, narrow_enough, significant
from ilfs.report.terminal import Terminal


@dataclass(frozen=True)
class SetLayout:
    """Sizes of the parts of a line, in terminal columns, and which numbers are shown."""

    name: int
    label: int
    statistic: bool = True
    alone: bool = True


SET_LAYOUTS = (
    SetLayout(name=40, label=24),
    SetLayout(name=24, label=20),
    SetLayout(name=18, label=14),
    SetLayout(name=18, label=14, statistic=False),
    SetLayout(name=14, label=13, statistic=False),
    SetLayout(name=15, label=13, statistic=False, alone=False),
    SetLayout(name=12, label=13, statistic=False, alone=False),
    SetLayout(name=8, label=13, statistic=False, alone=False),
)


def interactions_screen(summary: InteractionSummary, top: int = 20, terminal: Terminal | None = None) -> str:
    """Format the strongest sets as a table that fits a terminal.

    Parameters
    ----------
    summary : InteractionSummary
        The result.
    top : int, default=20
        Number of sets.
    terminal : Terminal, optional
        Width, colours and characters; by default 80 columns without colours.

    Returns
    -------
    str
        Lines for the terminal; empty if there are no sets.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.interactions import find_interactions
    >>> from ilfs.report.interactions import interactions_screen, summarise_interactions
    >>> X = np.random.default_rng(0).normal(size=(300, 20))
    >>> y = np.where(X[:, 3] * X[:, 7] > 0, "sick", "well")
    >>> print(interactions_screen(summarise_interactions(find_interactions(X, y))))
       features  together     more often in  statistic  adjusted p
    1  x3 & x7   high & high  sick                 269     1.5e-57
    """
    shown = summary.sets[:top]
    if not shown:
        return ""
    terminal = Terminal() if terminal is None else terminal
    fitting = (list(columns_of(summary, shown, layout, terminal)) for layout in SET_LAYOUTS)
    return formatted(narrow_enough(fitting, terminal.width), lambda _row, _role: (), terminal)


def columns_of(
    summary: InteractionSummary, shown: Iterable[FoundSet], layout: SetLayout, terminal: Terminal
) -> Iterable[ScreenColumn]:
    """Format all columns by a layout."""
    sets = list(shown)
    yield ScreenColumn("", [str(rank) for rank in range(1, len(sets) + 1)], is_number=True)
    names = (" & ".join(terminal.name(name, layout.name) for name in one.names) for one in sets)
    yield ScreenColumn("features", list(names))
    yield ScreenColumn("together", [one.pattern for one in sets])
    yield ScreenColumn("more often in", [terminal.name(summary.labels[one.group], layout.label) for one in sets])
    if layout.statistic:
        yield ScreenColumn("statistic", [significant(one.statistic) for one in sets], is_number=True)
    yield ScreenColumn("adjusted p", [one.p_text for one in sets], is_number=True)
    if layout.alone and sets[0].alone:
        yield ScreenColumn("ranks alone", [" & ".join(f"{rank:,}" for rank in one.alone) for one in sets])
