"""The critical-difference diagram: mean ranks on an axis, and bars over methods that Nemenyi's test cannot tell apart.

First plain data (`critical_difference_diagram`), then a picture of them (`diagram_svg`), so that the one can be tested
and the other replaced. A bar joins methods of which the first and the last differ by less than the critical difference:
a set in which no two differ. Bars that lie within another and bars of one method are left out.

Reference: J. Demšar, *Statistical Comparisons of Classifiers over Multiple Data Sets*, JMLR 7 (2006). His axis has the
best method on the right; ours on the left.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.benchmark.significance.ranks import check_mean_ranks, critical_difference

FONT = 13.0  # pixels, as all that follow
ROW = 22.0  # between two names
STEP = 9.0  # between two bars
GAP = 8.0  # between a name and its line, and around everything
OVERHANG = 1.5  # of a bar beyond its first and last method
RULER, TICK_LABELS, AXIS = 2.6 * FONT, 4.2 * FONT, 5.0 * FONT  # from the top
LEAST_AXIS, UNIT = 320.0, 30.0  # width of the axis, and of one rank where there are many


@dataclass(frozen=True)
class Place:
    """A method in the diagram: its name and mean rank, and on which side and in which row (0 on top) its name is."""

    name: str
    rank: float
    side: Literal["left", "right"]
    row: int


@dataclass(frozen=True)
class Diagram:
    """A critical-difference diagram as data.

    Attributes
    ----------
    places : tuple of Place
        Best first; methods of equal rank in the order they were given.
    groups : tuple of (int, int)
        First and last place of every bar.
    critical_difference : float
        In ranks.
    """

    places: tuple[Place, ...]
    groups: tuple[tuple[int, int], ...]
    critical_difference: float


def critical_difference_diagram(
    names: Sequence[str], mean_ranks: ArrayLike, n_datasets: int, *, alpha: float = 0.05
) -> Diagram:
    """Lay out the critical-difference diagram.

    Parameters
    ----------
    names : sequence of str
        Of the methods.
    mean_ranks : array of shape (n_methods,)
        1 is best, such as `friedman_test` gives.
    n_datasets : int
        Over how many data sets.
    alpha : float, default=0.05
        Level of Nemenyi's test.

    Returns
    -------
    Diagram
        Where names and bars go.

    Examples
    --------
    Demšar's example. At 10 % C4.5 differs from the two with m, and its variant with cf from none:

    >>> from ilfs.benchmark.significance.diagram import critical_difference_diagram
    >>> names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    >>> diagram = critical_difference_diagram(names, [3.143, 2.000, 2.893, 1.964], 14, alpha=0.1)
    >>> [place.name for place in diagram.places]
    ['C4.5+m+cf', 'C4.5+m', 'C4.5+cf', 'C4.5']
    >>> diagram.groups
    ((0, 2), (2, 3))
    """
    R = check_mean_ranks(mean_ranks)
    if len(names) != R.size:
        raise ValueError(f"names must be as many as mean_ranks, got {len(names)} and {R.size}")
    apart = critical_difference(R.size, n_datasets, alpha)
    order = np.argsort(R, kind="stable")
    half = (R.size + 1) // 2
    places = tuple(
        # leftmost and rightmost on top, so that no line crosses another
        Place(str(names[i]), float(R[i]), "left" if p < half else "right", p if p < half else R.size - 1 - p)
        for p, i in enumerate(order.tolist())
    )
    return Diagram(places, joined_groups(R[order], apart), apart)


def joined_groups(ranks: Floats, apart: float) -> tuple[tuple[int, int], ...]:
    """First and last of every largest run of sorted ranks that lie closer together than this, of two or more."""
    groups: list[tuple[int, int]] = []
    for first in range(ranks.size - 1):
        last = int(np.searchsorted(ranks - ranks[first], apart)) - 1
        if last > max(first, groups[-1][1] if groups else 0):
            groups.append((first, last))
    return tuple(groups)


def diagram_svg(diagram: Diagram) -> str:
    """Draw the diagram as an SVG that needs nothing else.

    Black on white; the font is the reader's sans-serif.

    Parameters
    ----------
    diagram : Diagram
        Such as `critical_difference_diagram` gives.

    Returns
    -------
    str
        A whole SVG document, to be written to a file or put into a page.

    Examples
    --------
    >>> from ilfs.benchmark.significance.diagram import critical_difference_diagram, diagram_svg
    >>> svg = diagram_svg(critical_difference_diagram(["ILFS", "Fisher", "MI"], [1.2, 1.9, 2.9], n_datasets=10))
    >>> svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"'), svg.count("<path")
    (True, 10)
    """
    layout = _Layout.of(diagram)
    size = f"{layout.width:.0f} {layout.height:.0f}"
    about = (
        f"Mean ranks of {len(diagram.places)} methods, best on the left. Methods joined by a bar do not differ by the "
        f"critical difference of {diagram.critical_difference:.2f}."
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{size.split()[0]}" '
        f'height="{size.split()[1]}" role="img" font-family="sans-serif" font-size="{FONT:g}" fill="black" '
        'stroke="none">',
        f"<title>{about}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        *_ruler(diagram, layout),
        *_axis(diagram, layout),
        *_names(diagram, layout),
        *_bars(diagram, layout),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


@dataclass(frozen=True)
class _Layout:
    """Where things are, in pixels."""

    left: float  # of the axis
    right: float
    unit: float  # of one rank
    levels: tuple[int, ...]  # of the bars, 0 next to the axis
    first_row: float
    width: float
    height: float

    @classmethod
    def of(cls, diagram: Diagram) -> "_Layout":
        k = len(diagram.places)
        axis = max(LEAST_AXIS, UNIT * (k - 1))
        unit = axis / (k - 1)
        left, beside = (
            max((_width(_label(place)) for place in diagram.places if place.side == side), default=0.0) + 2 * GAP
            for side in ("left", "right")
        )
        ruler = max(diagram.critical_difference * unit, _width(_ruler_text(diagram))) + GAP
        levels = _bar_levels(diagram, unit)
        first_row = AXIS + STEP * (max(levels, default=-1) + 1) + ROW
        rows = max(place.row for place in diagram.places)
        return cls(
            left=left,
            right=left + axis,
            unit=unit,
            levels=levels,
            first_row=first_row,
            width=left + max(axis + beside, ruler),
            height=first_row + ROW * rows + 0.5 * FONT + GAP,
        )

    def x(self, rank: float) -> float:
        return self.left + (rank - 1) * self.unit


def _bar_levels(diagram: Diagram, unit: float) -> tuple[int, ...]:
    """The lowest level for every bar at which it keeps a distance from the one before it."""
    distance = 12.0 / unit
    ends: list[float] = []  # of the last bar at every level, as a rank
    levels = []
    for first, last in diagram.groups:
        start = diagram.places[first].rank
        level = next((i for i, end in enumerate(ends) if end + distance <= start), len(ends))
        ends[level : level + 1] = [diagram.places[last].rank]
        levels.append(level)
    return tuple(levels)


def _ruler_text(diagram: Diagram) -> str:
    return f"critical difference {diagram.critical_difference:.2f}"


def _ruler(diagram: Diagram, layout: _Layout) -> Iterable[str]:
    start, end = layout.x(1), layout.x(1 + diagram.critical_difference)
    yield _text(start, RULER - 0.7 * FONT, _ruler_text(diagram), "start")
    yield _line(f"M{start:.1f} {RULER - 4:.1f}v8m0-4H{end:.1f}m0-4v8")


def _axis(diagram: Diagram, layout: _Layout) -> Iterable[str]:
    yield _line(f"M{layout.left:.1f} {AXIS:.1f}H{layout.right:.1f}")
    for rank in range(1, len(diagram.places) + 1):
        yield _line(f"M{layout.x(rank):.1f} {AXIS:.1f}v-5")
        yield _text(layout.x(rank), TICK_LABELS, str(rank), "middle")


def _names(diagram: Diagram, layout: _Layout) -> Iterable[str]:
    for place in diagram.places:
        y = layout.first_row + ROW * place.row
        on_left = place.side == "left"
        end = layout.left - GAP if on_left else layout.right + GAP
        yield _line(f"M{layout.x(place.rank):.1f} {AXIS:.1f}V{y:.1f}H{end:.1f}")
        outside = end - GAP / 2 if on_left else end + GAP / 2
        yield _text(outside, y + 0.35 * FONT, _label(place), "end" if on_left else "start")


def _bars(diagram: Diagram, layout: _Layout) -> Iterable[str]:
    for (first, last), level in zip(diagram.groups, layout.levels, strict=True):
        start, end = (layout.x(diagram.places[place].rank) for place in (first, last))
        y = AXIS + STEP * (level + 1)
        yield _line(f"M{start - OVERHANG:.1f} {y:.1f}H{end + OVERHANG:.1f}", width=4)


def _label(place: Place) -> str:
    """The name, and next to its line the rank."""
    # XML has no place for control characters
    name = "".join(letter if letter.isprintable() else " " for letter in place.name)
    return f"{name}  {place.rank:.2f}" if place.side == "left" else f"{place.rank:.2f}  {name}"


def _line(path: str, width: float = 1) -> str:
    return f'<path d="{path}" fill="none" stroke="black" stroke-width="{width:g}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" xml:space="preserve">{escape(text)}</text>'


def _width(text: str) -> float:
    """About the most that a text takes in a common sans-serif font; a name must not be cut."""
    return FONT * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if letter in "mwMW@%" or east_asian_width(letter) in "WF":
        return 1.0
    return 0.75 if letter.isupper() else 0.63
