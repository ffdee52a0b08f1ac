"""Parts that charts have in common: texts, legends, frames, and the SVG element around them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ilfs.report.charts.axes import Axis, tick_text
from ilfs.report.markup import escape, shortened

N_COLOURS = 10  # classes s0, s1, ... of the style sheet
WIDTH_PX, HEIGHT_PX = 460, 280
LETTER_PX = 6.4  # mean width of a letter of 12 px
LEGEND_LETTER_PX = 6.9  # with room for the larger letters of phones
LINE_PX = 17.0  # height of a line of text
MAX_NAME_LETTERS, MAX_TITLE_LETTERS = 26, 60


@dataclass(frozen=True)
class Frame:
    """The plot area of a chart: two axes with titles, and a legend above."""

    x: Axis
    y: Axis
    x_title: str
    y_title: str
    legend: Sequence[tuple[str, str]]  # class of the mark, label
    width: float = WIDTH_PX
    height: float = HEIGHT_PX

    def parts(self) -> list[str]:
        """Return grid lines, axes and legend."""
        bottom, left, right = self.y.start, self.x.start, self.x.end
        lines = "".join(f"M{left:.1f} {self.y(tick):.1f}H{right:.1f}" for tick in self.y.ticks())
        marks = "".join(f"M{self.x(tick):.1f} {bottom:.1f}v4" for tick in self.x.ticks())
        return [
            f'<path class="grid" d="{lines}"/>',
            f'<path class="axis" d="M{left:.1f} {bottom:.1f}H{right:.1f}{marks}"/>',
            *(text_at(left - 7, self.y(tick) + 4, tick_text(tick), "end", "tick") for tick in self.y.ticks()),
            *(text_at(self.x(tick), bottom + 18, tick_text(tick), "middle", "tick") for tick in self.x.ticks()),
            text_at((left + right) / 2, self.height - 5, self.x_title, "middle", "axis-title", MAX_TITLE_LETTERS),
            text_at(0, self.y.end - 12, self.y_title, "start", "axis-title", MAX_TITLE_LETTERS),
            *legend_parts(self.legend, self.width),
        ]


def frame_of(
    x: tuple[float, float],
    y: tuple[float, float],
    x_title: str,
    y_title: str,
    legend: Sequence[tuple[str, str]] = (),
    *,
    log_x: bool = False,
    log_y: bool = False,
    size: tuple[float, float] = (WIDTH_PX, HEIGHT_PX),
) -> Frame:
    """Place axes so that tick labels, titles and the legend have room.

    Parameters
    ----------
    x, y : tuple of two float
        Ends of the axes.
    x_title, y_title : str
        Titles of the axes.
    legend : sequence of (str, str), default=()
        CSS class of the mark and label of each entry.
    log_x, log_y : bool, default=False
        Logarithmic axes.
    size : tuple of two float
        Width and height of the chart.
    """
    width, height = size
    vertical = Axis(*y, 0.0, 1.0, log_y)
    left = 14 + LETTER_PX * max((len(tick_text(tick)) for tick in vertical.ticks()), default=1)
    top = 24 + LINE_PX * len(legend_lines(legend, width))
    return Frame(
        Axis(*x, left, width - 12, log_x), Axis(*y, height - 46, top, log_y), x_title, y_title, legend, width, height
    )


def legend_lines(legend: Sequence[tuple[str, str]], width: float) -> list[list[tuple[str, str]]]:
    """Distribute the entries of a legend over lines."""
    lines: list[list[tuple[str, str]]] = []
    used = width
    for mark, label in legend:
        needed = 34 + LEGEND_LETTER_PX * len(shortened(label, MAX_NAME_LETTERS))
        if used + needed > width:
            lines.append([])
            used = 0.0
        lines[-1].append((mark, label))
        used += needed
    return lines


def legend_parts(legend: Sequence[tuple[str, str]], width: float) -> list[str]:
    """Draw a legend at the top of a chart."""
    parts = []
    for k, line in enumerate(legend_lines(legend, width)):
        x, y = 0.0, 6 + LINE_PX * k
        for mark, label in line:
            parts += [f'<rect class="{mark}" x="{x:.1f}" y="{y - 5:.1f}" width="12" height="10" rx="2"/>']
            parts += [text_at(x + 17, y + 4, label, "start", "legend", MAX_NAME_LETTERS)]
            x += 34 + LEGEND_LETTER_PX * len(shortened(label, MAX_NAME_LETTERS))
    return parts


def text_at(x: float, y: float, text: str, anchor: str, kind: str, max_letters: int | None = None) -> str:
    """Draw a text; if it is shortened, the whole text is its tooltip."""
    short = text if max_letters is None else shortened(text, max_letters)
    whole = f"<title>{escape(text)}</title>" if short != text else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(short)}{whole}</text>'


def svg(
    title: str,
    description: str,
    parts: Sequence[str],
    size: tuple[float, float],
    attributes: Mapping[str, str] | None = None,
) -> str:
    """Put the parts of a drawing into an SVG element that scales with the page.

    Parameters
    ----------
    title, description : str
        Name of the chart and what it shows, for screen readers.
    parts : sequence of str
        SVG elements.
    size : tuple of two float
        Width and height in pixels, before scaling.
    attributes : mapping of str to str, optional
        Further attributes of the element.
    """
    more = "".join(f' {name}="{escape(value)}"' for name, value in (attributes or {}).items())
    return "\n".join(
        [
            f'<svg class="chart" viewBox="0 0 {size[0]:g} {size[1]:g}" role="img"{more}>',
            f"<title>{escape(title)}</title>",
            *([f"<desc>{escape(description)}</desc>"] if description else []),
            *filter(None, parts),
            "</svg>",
        ]
    )


def name_room(names: Sequence[str]) -> float:
    """Return the width of the longest name on the left of a chart, after shortening."""
    return 10 + LETTER_PX * max((len(shortened(name, MAX_NAME_LETTERS)) for name in names), default=1)
