"""Line charts and scatter plots."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.report.charts.axes import span
from ilfs.report.charts.drawing import HEIGHT_PX, MAX_NAME_LETTERS, N_COLOURS, WIDTH_PX, Frame, frame_of, svg, text_at
from ilfs.report.charts.labels import place_labels
from ilfs.report.markup import escape


@dataclass(frozen=True)
class Series:
    """Points of one colour.

    Parameters
    ----------
    label : str
        Name in the legend; empty for none.
    x, y : sequence of float
        Coordinates. Points that are not finite are left out.
    low, high : sequence of float, optional
        Ends of error bars.
    names : sequence of str, optional
        Tooltips of the points.
    colour : int, optional
        Index of the colour; that of the place in the list of series by default.
    kind : str, default=""
        Further CSS classes of its marks, for styles and scripts.
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    names: Sequence[str] | None = None
    colour: int | None = None
    kind: str = ""


@dataclass(frozen=True)
class Band:
    """A shaded area between two curves, such as a range of what chance gives."""

    label: str
    x: ArrayLike
    low: ArrayLike
    high: ArrayLike


def line_chart(
    series: Sequence[Series],
    *,
    title: str,
    x_title: str,
    y_title: str,
    description: str = "",
    bands: Sequence[Band] = (),
    log_x: bool = False,
    log_y: bool = False,
    zero: bool = False,
    points: bool = True,
    mark_x: float | None = None,
    size: tuple[float, float] = (WIDTH_PX, HEIGHT_PX),
) -> str:
    """Draw lines, with error bars and shaded bands if given.

    Parameters
    ----------
    series : sequence of Series
        The lines.
    title, x_title, y_title : str
        Name of the chart for screen readers, and titles of the axes.
    description : str, default=""
        What the chart shows, for screen readers.
    bands : sequence of Band, default=()
        Shaded areas behind the lines.
    log_x, log_y : bool, default=False
        Logarithmic axes.
    zero : bool, default=False
        Let the vertical axis contain 0.
    points : bool, default=True
        Draw the points.
    mark_x : float, optional
        Draw a vertical line here; the axis contains it.
    size : tuple of two float
        Width and height in pixels, before scaling.

    Returns
    -------
    str
        An SVG element.

    Examples
    --------
    >>> from ilfs.report.charts import Series, line_chart
    >>> line = Series("ILFS", [1, 10, 100], [0.7, 0.9, 0.95], low=[0.6, 0.85, 0.93], high=[0.8, 0.95, 0.97])
    >>> drawn = line_chart([line], title="Accuracy", x_title="features", y_title="accuracy", log_x=True)
    >>> drawn.startswith('<svg class="chart"'), drawn.count("<circle")
    (True, 3)
    """
    x = flat([s.x for s in series] + [b.x for b in bands] + [mark_x])
    y = flat([v for s in series for v in (s.y, s.low, s.high)] + [v for b in bands for v in (b.low, b.high)])
    legend = [*((f"fill {colour_class(s, k)}", s.label) for k, s in enumerate(series) if s.label)]
    legend += [("band", b.label) for b in bands if b.label]
    legend = legend if len(legend) > 1 else []
    limits = span(x, is_log=log_x), span(y, is_log=log_y, zero=zero)
    frame = frame_of(*limits, x_title, y_title, legend, log_x=log_x, log_y=log_y, size=size)
    parts = frame.parts() + [band_path(band, frame) for band in bands]
    for k, one in enumerate(series):
        parts += line_parts(one, colour_class(one, k), frame, points)
    if mark_x is not None:
        parts += [f'<path class="mark" d="M{frame.x(mark_x):.1f} {frame.y.start:.1f}V{frame.y.end:.1f}"/>']
    return svg(title, description, parts, size, axis_data(frame))


def axis_data(frame: Frame) -> dict[str, str]:
    """Return attributes that let a script convert values of the x axis to pixels."""
    x, y = frame.x, frame.y
    return {
        "data-x": f"{x.low:.6g} {x.high:.6g} {x.start:.1f} {x.end:.1f} {'log' if x.is_log else 'linear'}",
        "data-y": f"{y.low:.6g} {y.high:.6g} {y.start:.1f} {y.end:.1f} {'log' if y.is_log else 'linear'}",
    }


def flat(arrays: Sequence[Any]) -> Floats:
    """Join arrays of numbers, without those that are None."""
    found = [np.asarray(array, dtype=float).ravel() for array in arrays if array is not None]
    return np.concatenate(found) if found else np.empty(0)


def line_parts(series: Series, colour: str, frame: Frame, points: bool) -> list[str]:
    """Draw a line with its points and error bars; it is broken where a point is missing."""
    found = finite_points(series, frame)
    if not found:
        return []
    steps = ["M", *("L" if after[0] == before[0] + 1 else "M" for before, after in pairwise(found))]
    path = "".join(f"{step}{x:.1f} {y:.1f}" for step, (_, x, y) in zip(steps, found, strict=True))
    parts = [f'<path class="line {colour}" d="{path}"/>', *error_bars(series, colour, frame, found)]
    return parts + ([dot(series, k, x, y, colour) for k, x, y in found] if points else [])


def error_bars(series: Series, colour: str, frame: Frame, found: Sequence[tuple[int, float, float]]) -> list[str]:
    """Draw error bars as one path."""
    if series.low is None or series.high is None:
        return []
    low, high = np.asarray(series.low, dtype=float), np.asarray(series.high, dtype=float)
    ends = [(x, low[k], high[k]) for k, x, _ in found if isfinite(low[k]) and isfinite(high[k])]
    if frame.y.is_log:
        ends = [end for end in ends if end[1] > 0]
    path = "".join(f"M{x - 3:.1f} {frame.y(a):.1f}h6m-3 0V{frame.y(b):.1f}m-3 0h6" for x, a, b in ends)
    return [f'<path class="error {colour}" d="{path}"/>'] if path else []


def dot(series: Series, k: int, x: float, y: float, colour: str, radius: float = 3.0) -> str:
    """Draw a point with its tooltip."""
    name = "" if series.names is None else f"<title>{escape(series.names[k])}</title>"
    return f'<circle class="dot {colour}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}">{name}</circle>'


def band_path(band: Band, frame: Frame) -> str:
    """Draw a shaded area."""
    x, low, high = (np.asarray(v, dtype=float) for v in (band.x, band.low, band.high))
    there = np.isfinite(low) & np.isfinite(high) & ((x > 0) | (not frame.x.is_log)) & ((low > 0) | (not frame.y.is_log))
    upper = [(frame.x(a), frame.y(b)) for a, b in zip(x[there], high[there], strict=True)]
    lower = [(frame.x(a), frame.y(b)) for a, b in zip(x[there], low[there], strict=True)]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in upper + lower[::-1])
    return f'<polygon class="band" points="{points}"/>'


def scatter(
    series: Sequence[Series],
    *,
    title: str,
    x_title: str,
    y_title: str,
    description: str = "",
    log_x: bool = False,
    log_y: bool = False,
    zero: bool = False,
    labelled: bool = False,
    diagonal: bool = False,
    size: tuple[float, float] = (WIDTH_PX, HEIGHT_PX),
) -> str:
    """Draw points, with error bars if given.

    Parameters
    ----------
    series : sequence of Series
        The points.
    title, x_title, y_title : str
        Name of the chart for screen readers, and titles of the axes.
    description : str, default=""
        What the chart shows, for screen readers.
    log_x, log_y : bool, default=False
        Logarithmic axes.
    zero : bool, default=False
        Let both axes contain 0.
    labelled : bool, default=False
        Write the names beside the points, for a few points.
    diagonal : bool, default=False
        Draw the line of equal values.
    size : tuple of two float
        Width and height in pixels, before scaling.

    Returns
    -------
    str
        An SVG element.

    Examples
    --------
    >>> from ilfs.report.charts import Series, scatter
    >>> points = Series("", [1, 2], [3, 4], names=["first", "<second>"])
    >>> "&lt;second&gt;" in scatter([points], title="Two points", x_title="x", y_title="y")
    True
    """
    x = span(flat([s.x for s in series]), is_log=log_x, zero=zero)
    y = span(flat([v for s in series for v in (s.y, s.low, s.high)]), is_log=log_y, zero=zero)
    legend = [(f"fill {colour_class(s, k)}", s.label) for k, s in enumerate(series) if s.label]
    frame = frame_of(x, y, x_title, y_title, legend if len(legend) > 1 else (), log_x=log_x, log_y=log_y, size=size)
    parts = frame.parts()
    low, high = max(x[0], y[0]), min(x[1], y[1])
    if diagonal and low < high:
        parts += [
            f'<path class="mark" d="M{frame.x(low):.1f} {frame.y(low):.1f}L{frame.x(high):.1f} {frame.y(high):.1f}"/>'
        ]
    for k, one in enumerate(series):
        found = finite_points(one, frame)
        parts += error_bars(one, colour_class(one, k), frame, found)
        parts += [dot(one, i, px, py, colour_class(one, k), 3.5) for i, px, py in found]
    if labelled:
        parts += point_labels(series, frame)
    return svg(title, description, parts, size, axis_data(frame))


def point_labels(series: Sequence[Series], frame: Frame) -> list[str]:
    """Write the names of points beside them, where they cover no other; those of the first series come nearest."""
    found = [(one, *point) for one in series if one.names is not None for point in finite_points(one, frame)]
    names = [one.names[k] for one, k, _, _ in found if one.names is not None]
    places = place_labels(names, [(x, y) for _, _, x, y in found], frame)
    return [
        text_at(at.x, at.y, name, "start", f"point {one.kind}".rstrip(), MAX_NAME_LETTERS)
        for (one, *_), name, at in zip(found, names, places, strict=True)
    ]


def colour_class(series: Series, place: int) -> str:
    """Return the CSS classes of a series."""
    return f"s{(place if series.colour is None else series.colour) % N_COLOURS} {series.kind}".rstrip()


def finite_points(series: Series, frame: Frame) -> list[tuple[int, float, float]]:
    """Return index and pixels of the points of a series that can be drawn."""
    x, y = np.asarray(series.x, dtype=float), np.asarray(series.y, dtype=float)
    drawn = np.isfinite(x) & np.isfinite(y) & ((x > 0) | (not frame.x.is_log)) & ((y > 0) | (not frame.y.is_log))
    return [(int(k), frame.x(float(x[k])), frame.y(float(y[k]))) for k in np.flatnonzero(drawn)]
