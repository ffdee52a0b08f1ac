"""The ranking as a table that fits a terminal: names, bars of the scores, class means, q-values and families.

The same numbers are formatted by several layouts, from the widest to the narrowest, and the first one that fits is
shown. A narrow terminal gets shorter names and bars; no column of numbers is left out before the names have become
short.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.explanation import STRONG_CORRELATION
from ilfs.ranking_table import CONFIRMED, HIGHER, IN, MEAN_PREFIX, NOT_CONFIRMED, RankingTable, shorter_direction
from ilfs.report.terminal import Terminal
from ilfs.selector import RankingSelector
from ilfs.text_table import COLUMN_GAP, MISSING_TEXT, aligned, display_width

N_MEAN_CLASSES = 2  # classes whose means are shown; more would not fit
SCORE_DIGITS = 3
COLOUR_OF_VERDICT = {CONFIRMED: ("green",), NOT_CONFIRMED: ("dim",)}


@dataclass(frozen=True)
class ScreenLayout:
    """Sizes of the parts of a line, in terminal columns.

    Parameters
    ----------
    name, label, nearest : int
        Longest name of a feature, of a class, and of the nearest feature (0: it is left out).
    bar : int
        Length of the longest bar.
    number : bool
        Show the score itself beside its bar.
    means, family, missing : bool
        Show class means, the number of features that are represented, and the fraction of missing values.
    """

    name: int
    label: int
    nearest: int
    bar: int
    number: bool = True
    means: bool = True
    family: bool = True
    missing: bool = True


WIDEST = ScreenLayout(name=60, label=20, nearest=40, bar=12)
SCREEN_LAYOUTS = (
    WIDEST,
    replace(WIDEST, name=40, nearest=24),
    replace(WIDEST, name=32, label=14, nearest=20, bar=10),
    replace(WIDEST, name=28, label=12, nearest=16, bar=8),
    ScreenLayout(name=24, label=10, nearest=12, bar=8, number=False),
    ScreenLayout(name=24, label=10, nearest=0, bar=8, number=False),
    ScreenLayout(name=20, label=9, nearest=0, bar=6, number=False),
    ScreenLayout(name=16, label=7, nearest=0, bar=5, number=False, missing=False),
    ScreenLayout(name=14, label=7, nearest=0, bar=4, number=False, means=False, missing=False),
    ScreenLayout(name=12, label=6, nearest=0, bar=4, number=False, means=False, family=False, missing=False),
)


@dataclass(frozen=True)
class ScreenColumn:
    """One column of the table on screen.

    Parameters
    ----------
    title : str
        Title in the last line of the header.
    words : list of str
        One word for each feature.
    is_number : bool
        Align on the right.
    above : str
        Title in a line above, over this column and the one before.
    role : str
        What the words are, if their colour depends on it: ``"score"`` or ``"q_value"``.
    """

    title: str
    words: list[str]
    is_number: bool = False
    above: str = ""
    role: str = ""


def ranking_screen(selector: RankingSelector, top: int = 20, terminal: Terminal | None = None) -> str:
    """Format the best features as a table that fits a terminal.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    top : int, default=20
        Number of features.
    terminal : Terminal, optional
        Width, colours and characters; by default 80 columns without colours.

    Returns
    -------
    str
        Lines for the terminal; no control characters of names are in it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ilfs import ILFS
    >>> from ilfs.report.ranking_screen import ranking_screen
    >>> from ilfs.report.terminal import Terminal
    >>> data = load_breast_cancer(as_frame=True)
    >>> selector = ILFS(n_permutations=20).fit(data.data, data.target_names[data.target])
    >>> print(ranking_screen(selector, 3, Terminal(80, has_unicode=False)))
                                                       mean in
       feature               score     higher in  benign  malignant  q-value  family
    1  worst concave points  ########  malignant  0.0744      0.182   0.0019  +11
    2  worst radius          ###       malignant    13.4       21.1   0.0019  +8
    3  mean concave points   ##        malignant  0.0257     0.0880   0.0019  +2
    """
    terminal = Terminal() if terminal is None else terminal
    table = selector.table(top)
    facts = RowFacts.from_selector(selector, table)
    fitting = (columns_of(table, facts, layout, terminal) for layout in SCREEN_LAYOUTS)
    return formatted(narrow_enough(fitting, terminal.width), colours_of(table, facts, terminal), terminal)


@dataclass(frozen=True)
class RowFacts:
    """Numbers on screen that are not columns of the ranking table.

    Parameters
    ----------
    bars : ndarray of shape (n_rows,)
        Scores from 0 to 1.
    n_represented : ndarray of int of shape (n_rows,), optional
        Number of other features in the family of each, shown or not; None if there are no families.
    is_selected, is_kept : ndarray of bool of shape (n_rows,)
        Selected features, and those that must be kept, which come first whatever their scores.
    labels : tuple of str
        Class labels.
    """

    bars: Floats
    n_represented: NDArray[np.int64] | None
    is_selected: NDArray[np.bool_]
    is_kept: NDArray[np.bool_]
    labels: tuple[str, ...]

    @classmethod
    def from_selector(cls, selector: RankingSelector, table: RankingTable) -> "RowFacts":
        """Collect what is known of the features of a table."""
        columns = table["column"]
        labels = tuple(title.removeprefix(MEAN_PREFIX) for title in table if title.startswith(MEAN_PREFIX))
        is_selected, is_kept = selector.get_support()[columns], np.isin(columns, selector._forced())
        return cls(scaled(selector.scores_)[columns], family_sizes(selector, columns), is_selected, is_kept, labels)


def scaled(scores: Floats) -> Floats:
    """Scale scores to the range from 0 to 1, for bars; 0 stays 0 unless all scores are negative."""
    known = scores[np.isfinite(scores)]
    best = float(known.max(initial=-np.inf))
    lowest = 0.0 if best > 0 else float(known.min(initial=np.inf))
    if not best > lowest:
        return np.zeros(scores.size)
    return np.asarray(np.clip((scores - lowest) / (best - lowest), 0.0, 1.0))


def family_sizes(selector: Any, columns: NDArray[Any]) -> NDArray[np.int64] | None:
    """Count the features that each of some features represents; None if the method knows no families."""
    if not hasattr(selector, "families") or not hasattr(selector, "nearest_"):
        return None
    members = selector._members(columns.tolist(), STRONG_CORRELATION)
    return np.array([len(members[column]) for column in columns.tolist()])


def columns_of(table: RankingTable, facts: RowFacts, layout: ScreenLayout, terminal: Terminal) -> list[ScreenColumn]:
    """Format all columns by a layout."""
    names = [terminal.name(name, layout.name) for name in table["feature"].tolist()]
    columns = [
        ScreenColumn("", [str(rank) for rank in table["rank"].tolist()], is_number=True),
        *kept_columns(facts),
        ScreenColumn("feature", names),
    ]
    columns += score_columns(table, facts, layout, terminal)
    columns += class_columns(table, facts, layout, terminal)
    if "q_value" in table:
        words = [probability(value) for value in table["q_value"]]
        columns.append(ScreenColumn("q-value", words, is_number=True, role="q_value"))
    if "missing" in table and layout.missing and np.any(table["missing"] > 0):
        columns.append(ScreenColumn("missing", [f"{100 * value:.0f} %" for value in table["missing"]], is_number=True))
    if layout.family:
        columns += family_columns(table, facts, layout, terminal)
    return columns


def kept_columns(facts: RowFacts) -> Iterable[ScreenColumn]:
    """Mark the features that must be kept, if there are any."""
    if facts.is_kept.any():
        yield ScreenColumn("", ["kept" if is_kept else "" for is_kept in facts.is_kept.tolist()])


def score_columns(
    table: RankingTable, facts: RowFacts, layout: ScreenLayout, terminal: Terminal
) -> Iterable[ScreenColumn]:
    """Format the scores, as numbers if there is room, and their bars."""
    bars = [terminal.bar(float(value), layout.bar) for value in facts.bars]
    if layout.number:
        yield ScreenColumn("score", [significant(value) for value in table["score"]], is_number=True)
    yield ScreenColumn("" if layout.number else "score", bars, role="score")


def class_columns(
    table: RankingTable, facts: RowFacts, layout: ScreenLayout, terminal: Terminal
) -> Iterable[ScreenColumn]:
    """Format the class in which each feature is higher or lower, and the class means or the effect."""
    if "direction" not in table:
        return
    is_pair = len(facts.labels) == N_MEAN_CLASSES
    words = [
        shorter_direction(phrase, lambda label: terminal.name(label, layout.label)) for phrase in table["direction"]
    ]
    if is_pair:
        words = [word.removeprefix(f"{HIGHER}{IN}") for word in words]
    yield ScreenColumn("higher in" if is_pair else "", [word or MISSING_TEXT for word in words])
    if layout.means and is_pair:
        for number, label in enumerate(facts.labels):
            means = [significant(value) for value in table[f"{MEAN_PREFIX}{label}"]]
            yield ScreenColumn(
                terminal.name(label, layout.label), means, is_number=True, above="mean in" * (number == 1)
            )
    elif layout.means and "effect" in table:
        yield ScreenColumn("effect", [f"{value:.2f}" for value in table["effect"]], is_number=True)


def family_columns(
    table: RankingTable, facts: RowFacts, layout: ScreenLayout, terminal: Terminal
) -> Iterable[ScreenColumn]:
    """Format the number of features that each feature represents, and the better one that it is most like."""
    if facts.n_represented is None or "nearest" not in table:
        return
    if facts.n_represented.any():
        yield ScreenColumn("family", [f"+{number}" if number else "" for number in facts.n_represented.tolist()])
    if layout.nearest:
        near = zip(table["nearest"].tolist(), table["correlation"].tolist(), strict=True)
        words = [f"{terminal.name(name, layout.nearest)} {value:.2f}" if name else "" for name, value in near]
        yield ScreenColumn("most like", words)


def significant(value: float) -> str:
    """Format a number with three significant digits, and without an exponent if it is not very small or large.

    Examples
    --------
    >>> from ilfs.report.ranking_screen import significant
    >>> [significant(value) for value in (0.0744, 17.462, 880.58, 12345.6, 3e-7, float("nan"))]
    ['0.0744', '17.5', '881', '12,346', '3.00e-07', '-']
    """
    if value != value:
        return MISSING_TEXT
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:#.{SCORE_DIGITS}g}".rstrip(".")


def probability(value: float) -> str:
    """Format a probability with two significant digits.

    Examples
    --------
    >>> from ilfs.report.ranking_screen import probability
    >>> probability(0.00191), probability(0.5), probability(1.0)
    ('0.0019', '0.5', '1')
    """
    return f"{value:.2g}"


def narrow_enough(layouts: Iterable[list[ScreenColumn]], width: int) -> list[ScreenColumn]:
    """Return the first layout that fits; the last one if none does."""
    columns: list[ScreenColumn] = []
    for columns in layouts:
        if total_width(columns) <= width:
            break
    return columns


def total_width(columns: Sequence[ScreenColumn]) -> int:
    """Count the terminal columns of a line."""
    widths = widths_of(columns)
    return sum(widths) + COLUMN_GAP * (len(widths) - 1)


def widths_of(columns: Sequence[ScreenColumn]) -> list[int]:
    """Return the terminal columns that each column takes."""
    return [max(map(display_width, [one.title, *one.words])) for one in columns]


def upper_header(columns: Sequence[ScreenColumn]) -> list[str]:
    """Return the line above the titles: a title in the middle of two columns; no line if there is none."""
    widths = widths_of(columns)
    for number, one in enumerate(columns):
        if one.above:
            start, span = (
                sum(widths[: number - 1]) + COLUMN_GAP * (number - 1),
                sum(widths[number - 1 : number + 1]) + COLUMN_GAP,
            )
            return [" " * start + one.above.center(span).rstrip()]
    return []


def formatted(
    columns: Sequence[ScreenColumn], colours: Callable[[int, str], tuple[str, ...]], terminal: Terminal
) -> str:
    """Join the columns to lines, with their titles above."""
    rows = [[one.title for one in columns], *([one.words[i] for one in columns] for i in range(len(columns[0].words)))]

    def paint(row: int, column: int, word: str) -> str:
        if row == 0:
            return terminal.painted(word, "bold")
        return terminal.painted(word, *colours(row - 1, columns[column].role))

    lines = aligned(rows, [one.is_number for one in columns], paint)
    return "\n".join([*(terminal.painted(line, "bold") for line in upper_header(columns)), *lines])


def colours_of(table: RankingTable, facts: RowFacts, terminal: Terminal) -> Callable[[int, str], tuple[str, ...]]:
    """Return a function that gives the colours of a word by its row and the role of its column."""
    verdicts = table["verdict"].tolist() if "verdict" in table else None

    def colours(row: int, role: str) -> tuple[str, ...]:
        if not terminal.has_colours:
            return ()
        if role == "q_value" and verdicts is not None:
            return COLOUR_OF_VERDICT.get(verdicts[row], ())
        if role == "score":
            return ("cyan",)
        return () if facts.is_selected[row] else ("dim",)

    return colours
