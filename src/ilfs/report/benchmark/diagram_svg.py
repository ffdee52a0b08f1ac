"""Draw a critical-difference diagram as SVG: as a file in black and white, or in the colours of a page."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from unicodedata import east_asian_width

from ilfs.benchmark.significance.diagram import Diagram, DiagramEntry
from ilfs.report.charts.drawing import svg

FONT_PX = 13.0
ROW_HEIGHT_PX = 22.0  # between two names
BAR_SPACING_PX = 9.0  # between two bars
GAP_PX = 8.0  # between a name and its line, and around everything
BAR_OVERHANG_PX = 1.5  # length of a bar beyond its first and last method
RULER_Y_PX, TICK_LABELS_Y_PX, AXIS_Y_PX = 2.6 * FONT_PX, 4.2 * FONT_PX, 5.0 * FONT_PX  # distances from the top
MIN_AXIS_PX, PX_PER_RANK = 320.0, 30.0  # minimum width of the axis, and of one rank


def diagram_svg(diagram: Diagram) -> str:
    """Draw a critical-difference diagram as a self-contained SVG.

    Black on white, in the default sans-serif font of the viewer.

    Parameters
    ----------
    diagram : Diagram
        The diagram as data, from `critical_difference_diagram` or `rank_diagram`.

    Returns
    -------
    str
        A whole SVG document, to be written to a file or put into a page.

    Examples
    --------
    >>> from ilfs.benchmark.significance.diagram import critical_difference_diagram
    >>> from ilfs.report.benchmark import diagram_svg
    >>> svg = diagram_svg(critical_difference_diagram(["ILFS", "Fisher", "MI"], [1.2, 1.9, 2.9], n_datasets=10))
    >>> svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"'), svg.count("<path")
    (True, 10)
    """
    layout = _Layout.from_diagram(diagram)
    size = f"{layout.width:.0f} {layout.height:.0f}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{size.split()[0]}" '
        f'height="{size.split()[1]}" role="img" font-family="sans-serif" font-size="{FONT_PX:g}" fill="black" '
        'stroke="none">',
        f"<title>{_about(diagram)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        *_drawing(diagram, layout),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def diagram_chart(diagram: Diagram, reference: str = "") -> str:
    """Draw a critical-difference diagram for a page, in the colours of its style sheet.

    Parameters
    ----------
    diagram : Diagram
        The diagram as data.
    reference : str, default=""
        Name of a method to emphasise.

    Returns
    -------
    str
        An SVG element.
    """
    layout = _Layout.from_diagram(diagram)
    parts = list(_drawing(diagram, layout, reference))
    return svg("Critical-difference diagram", _about(diagram), parts, (layout.width, layout.height))


def _about(diagram: Diagram) -> str:
    return (
        f"Mean ranks of {len(diagram.entries)} methods, best on the left. Methods joined by a bar do not differ by the "
        f"critical difference of {diagram.critical_difference:.2f}."
    )


def _drawing(diagram: Diagram, layout: "_Layout", reference: str = "") -> Iterable[str]:
    yield from _ruler(diagram, layout)
    yield from _axis(diagram, layout)
    yield from _names(diagram, layout, reference)
    yield from _bars(diagram, layout)


@dataclass(frozen=True)
class _Layout:
    """Positions in pixels."""

    left: float  # start of the axis
    right: float
    unit: float  # width of one rank
    levels: tuple[int, ...]  # level of each bar, 0 next to the axis
    first_row: float
    width: float
    height: float

    @classmethod
    def from_diagram(cls, diagram: Diagram) -> "_Layout":
        k = len(diagram.entries)
        axis = max(MIN_AXIS_PX, PX_PER_RANK * (k - 1))
        unit = axis / (k - 1)
        left, beside = (
            max((_width(_label(entry)) for entry in diagram.entries if entry.side == side), default=0.0) + 2 * GAP_PX
            for side in ("left", "right")
        )
        ruler = max(diagram.critical_difference * unit, _width(_ruler_text(diagram))) + GAP_PX
        levels = _bar_levels(diagram, unit)
        first_row = AXIS_Y_PX + BAR_SPACING_PX * (max(levels, default=-1) + 1) + ROW_HEIGHT_PX
        rows = max(entry.row for entry in diagram.entries)
        return cls(
            left=left,
            right=left + axis,
            unit=unit,
            levels=levels,
            first_row=first_row,
            width=left + max(axis + beside, ruler),
            height=first_row + ROW_HEIGHT_PX * rows + 0.5 * FONT_PX + GAP_PX,
        )

    def x(self, rank: float) -> float:
        return self.left + (rank - 1) * self.unit


def _bar_levels(diagram: Diagram, unit: float) -> tuple[int, ...]:
    """Lowest level for every bar at which it keeps a distance from the bar before it."""
    distance = 12.0 / unit
    ends: list[float] = []  # end of the last bar at every level, as a rank
    levels = []
    for first, last in diagram.groups:
        start = diagram.entries[first].rank
        level = next((i for i, end in enumerate(ends) if end + distance <= start), len(ends))
        ends[level : level + 1] = [diagram.entries[last].rank]
        levels.append(level)
    return tuple(levels)


def _ruler_text(diagram: Diagram) -> str:
    return f"critical difference {diagram.critical_difference:.2f}"


def _ruler(diagram: Diagram, layout: _Layout) -> Iterable[str]:
    start, end = layout.x(1), layout.x(1 + diagram.critical_difference)
    yield _text(start, RULER_Y_PX - 0.7 * FONT_PX, _ruler_text(diagram), "start")
    yield _line(f"M{start:.1f} {RULER_Y_PX - 4:.1f}v8m0-4H{end:.1f}m0-4v8")


def _axis(diagram: Diagram, layout: _Layout) -> Iterable[str]:
    yield _line(f"M{layout.left:.1f} {AXIS_Y_PX:.1f}H{layout.right:.1f}")
    for rank in range(1, len(diagram.entries) + 1):
        yield _line(f"M{layout.x(rank):.1f} {AXIS_Y_PX:.1f}v-5")
        yield _text(layout.x(rank), TICK_LABELS_Y_PX, str(rank), "middle")


def _names(diagram: Diagram, layout: _Layout, reference: str) -> Iterable[str]:
    for entry in diagram.entries:
        kind = " reference" if entry.name == reference else ""
        y = layout.first_row + ROW_HEIGHT_PX * entry.row
        on_left = entry.side == "left"
        end = layout.left - GAP_PX if on_left else layout.right + GAP_PX
        yield _line(f"M{layout.x(entry.rank):.1f} {AXIS_Y_PX:.1f}V{y:.1f}H{end:.1f}", kind=f"cd{kind}")
        outside = end - GAP_PX / 2 if on_left else end + GAP_PX / 2
        yield _text(outside, y + 0.35 * FONT_PX, _label(entry), "end" if on_left else "start", kind=f"cd{kind}")


def _bars(diagram: Diagram, layout: _Layout) -> Iterable[str]:
    for (first, last), level in zip(diagram.groups, layout.levels, strict=True):
        start, end = (layout.x(diagram.entries[entry].rank) for entry in (first, last))
        y = AXIS_Y_PX + BAR_SPACING_PX * (level + 1)
        yield _line(f"M{start - BAR_OVERHANG_PX:.1f} {y:.1f}H{end + BAR_OVERHANG_PX:.1f}", width=4, kind="cd-bar")


def _label(entry: DiagramEntry) -> str:
    """Format the name and the rank of a method, the rank next to the line."""
    # XML does not allow control characters
    name = "".join(letter if letter.isprintable() else " " for letter in entry.name)
    return f"{name}  {entry.rank:.2f}" if entry.side == "left" else f"{entry.rank:.2f}  {name}"


def _line(path: str, width: float = 1, kind: str = "cd") -> str:
    # The style sheet of a page overrides these colours by the class; a file of its own has no style sheet.
    return f'<path class="{kind}" d="{path}" fill="none" stroke="black" stroke-width="{width:g}"/>'


def _text(x: float, y: float, text: str, anchor: str, kind: str = "cd") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place} xml:space="preserve">{escape(text)}</text>'


def _width(text: str) -> float:
    """Upper estimate of the width of a text in a common sans-serif font, so that no name is cut."""
    return FONT_PX * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if letter in "mwMW@%" or east_asian_width(letter) in "WF":
        return 1.0
    return 0.75 if letter.isupper() else 0.63
