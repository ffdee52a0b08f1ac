"""Bar charts: horizontal bars with names, and groups of columns."""

from collections.abc import Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from ilfs.report.charts.axes import Axis, NoTicks, span, tick_text
from ilfs.report.charts.drawing import (
    HEIGHT_PX,
    LETTER_PX,
    MAX_NAME_LETTERS,
    N_COLOURS,
    WIDTH_PX,
    Frame,
    frame_of,
    name_room,
    svg,
    text_at,
)
from ilfs.report.charts.lines import flat

ROW_PX = 22.0  # height of a bar with its space
SMALL_LETTER_PX = 5.4
BELOW_PX = 44.0  # room for ticks and title of the axis


def bar_chart(
    labels: Sequence[str],
    values: ArrayLike,
    *,
    title: str,
    x_title: str,
    description: str = "",
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
    colours: Sequence[int] | None = None,
    texts: Sequence[str] | None = None,
    log_x: bool = False,
    width: float = WIDTH_PX,
) -> str:
    """Draw horizontal bars with names on the left and numbers on the right.

    Parameters
    ----------
    labels : sequence of str
        Names of the bars, from top to bottom.
    values : array-like
        Their lengths; a bar that is not finite is left out, but named.
    title, x_title : str
        Name of the chart for screen readers, and title of the axis.
    description : str, default=""
        What the chart shows, for screen readers.
    low, high : array-like, optional
        Ends of error bars.
    colours : sequence of int, optional
        Index of the colour of each bar; 0 by default.
    texts : sequence of str, optional
        Numbers as they are to be written; three significant digits by default.
    log_x : bool, default=False
        Logarithmic axis; bars then start at its lower end.
    width : float
        Width in pixels, before scaling.

    Returns
    -------
    str
        An SVG element.

    Examples
    --------
    >>> from ilfs.report.charts import bar_chart
    >>> bar_chart(["ilfs", "fisher"], [0.9, 0.8], title="Accuracy", x_title="accuracy").count('class="bar s0"')
    2
    """
    lengths = np.asarray(values, dtype=float)
    words = [f"{v:.3g}" if isfinite(v) else "" for v in lengths] if texts is None else list(texts)
    right = width - 12 - LETTER_PX * max((len(word) for word in words), default=1)
    limits = span(flat([lengths, low, high]), is_log=log_x, zero=not log_x)
    axis = Axis(*limits, name_room(labels), right, log_x)
    height = 12 + ROW_PX * len(labels) + BELOW_PX
    parts = vertical_grid(axis, height, x_title)
    for k, (label, word) in enumerate(zip(labels, words, strict=True)):
        colour = f"s{(0 if colours is None else colours[k]) % N_COLOURS}"
        y = 10 + ROW_PX * k
        parts += [text_at(axis.start - 7, y + 12, label, "end", "name", MAX_NAME_LETTERS)]
        parts += [horizontal_bar(axis, y + 2, float(lengths[k]), colour), text_at(width, y + 12, word, "end", "tick")]
        if low is not None and high is not None:
            parts += [whisker(axis, y + 8.5, float(np.asarray(low)[k]), float(np.asarray(high)[k]))]
    return svg(title, description, parts, (width, height))


def vertical_grid(axis: Axis, height: float, x_title: str) -> list[str]:
    """Draw grid lines, tick labels and title of a horizontal axis at the bottom of a chart."""
    bottom = height - BELOW_PX
    lines = "".join(f"M{axis(tick):.1f} 4V{bottom:.1f}" for tick in axis.ticks())
    return [
        f'<path class="grid" d="{lines}"/>',
        *(text_at(axis(tick), bottom + 16, tick_text(tick), "middle", "tick") for tick in axis.ticks()),
        text_at((axis.start + axis.end) / 2, height - 6, x_title, "middle", "axis-title", 60),
    ]


def horizontal_bar(axis: Axis, y: float, length: float, colour: str) -> str:
    """Draw a bar from zero, or from the lower end of a logarithmic axis."""
    if not isfinite(length) or (axis.is_log and length <= 0):
        return ""
    origin, end = axis(axis.low if axis.is_log else 0.0), axis(length)
    return bar(min(origin, end), y, abs(end - origin), 13, colour)


def bar(x: float, y: float, width: float, height: float, colour: str) -> str:
    """Draw a bar."""
    return f'<rect class="bar {colour}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="1.5"/>'


def whisker(axis: Axis, y: float, low: float, high: float) -> str:
    """Draw a horizontal error bar."""
    if not (isfinite(low) and isfinite(high)) or (axis.is_log and low <= 0):
        return ""
    return f'<path class="error" d="M{axis(low):.1f} {y - 3:.1f}v6m0 -3H{axis(high):.1f}m0 -3v6"/>'


def column_chart(
    labels: Sequence[str],
    series: Sequence[tuple[str, ArrayLike]],
    *,
    title: str,
    x_title: str,
    y_title: str,
    description: str = "",
    size: tuple[float, float] = (WIDTH_PX, HEIGHT_PX),
) -> str:
    """Draw groups of columns, such as histograms of several classes.

    Parameters
    ----------
    labels : sequence of str
        Names of the groups, from left to right.
    series : sequence of (str, array-like)
        Label and heights of the columns of each colour.
    title, x_title, y_title : str
        Name of the chart for screen readers, and titles of the axes.
    description : str, default=""
        What the chart shows, for screen readers.
    size : tuple of two float
        Width and height in pixels, before scaling.

    Returns
    -------
    str
        An SVG element.

    Examples
    --------
    >>> from ilfs.report.charts import column_chart
    >>> topics = [("relevancy", [0.1, 0.9]), ("irrelevancy", [0.6, 0.4])]
    >>> column_chart(["bad", "good"], topics, title="Topics", x_title="token", y_title="probability").count("bar s")
    4
    """
    heights = span(flat([values for _, values in series]), zero=True)
    legend = [(f"fill s{k % N_COLOURS}", label) for k, (label, _) in enumerate(series)] if len(series) > 1 else []
    base = frame_of((0.0, float(max(len(labels), 1))), heights, x_title, y_title, legend, size=size)
    frame = Frame(NoTicks(base.x.low, base.x.high, base.x.start, base.x.end), base.y, x_title, y_title, legend, *size)
    parts = frame.parts()
    for group, label in enumerate(labels):
        parts += column_group(frame, group, label, [float(np.asarray(values)[group]) for _, values in series])
    return svg(title, description, parts, size)


def column_group(frame: Frame, group: int, label: str, heights: Sequence[float]) -> list[str]:
    """Draw the columns of one group and its name below them."""
    slot = frame.x(1.0) - frame.x(0.0)
    thick = min(0.72 * slot / max(len(heights), 1), 34.0)
    middle = frame.x(group + 0.5)
    kind = "tick" if LETTER_PX * len(label) < 0.8 * slot else "tick small"
    parts = [text_at(middle, frame.y.start + 18, label, "middle", kind, max(3, int(slot / SMALL_LETTER_PX)))]
    for k, height in enumerate(heights):
        top, x = frame.y(height), middle + (k - len(heights) / 2) * thick
        parts += [bar(x + 0.5, top, thick - 1, frame.y(0.0) - top, f"s{k % N_COLOURS}")]
    return parts
