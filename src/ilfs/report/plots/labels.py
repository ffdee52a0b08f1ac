"""Places of names beside points, so that no name covers another one."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.report.plots.canvas import PLAIN, SOFT, TINY_POINTS, shown_name, whole_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

DISTANCES = (7.0, 13.0, 22.0, 34.0, 50.0, 70.0)  # pixels from the point to the name, at 100 dots per inch
N_DIRECTIONS = 16
MIN_GAP_PX = np.array([7.0, 2.0])  # pixels between names, beside and above each other
POINT_GAP = 2.0  # pixels between a name and a point
COST_OF_COVERED_POINT = 6.0  # pixels of distance that a name may go to leave one more point free
LEADER_FROM = 12.0  # pixels from which on a line connects point and name
MAX_LETTERS = 24


def place_boxes(anchors: Floats, sizes: Floats, bounds: Floats, points: Floats) -> Floats:
    """Find places for boxes beside their points, most important box first.

    Parameters
    ----------
    anchors : ndarray of shape (n_boxes, 2)
        Points that the boxes belong to.
    sizes : ndarray of shape (n_boxes, 2)
        Widths and heights.
    bounds : ndarray of shape (4,)
        Left, bottom, right and top: boxes stay within.
    points : ndarray of shape (n_points, 2)
        Points that the boxes should not cover, if possible; the anchors are among them.

    Returns
    -------
    ndarray of shape (n_boxes, 2)
        Centres of the boxes. NaN if there is no place where a box covers neither another box nor an anchor.

    Examples
    --------
    Two boxes of width 4 and height 2 beside the same point:

    >>> import numpy as np
    >>> from ilfs.report.plots.labels import place_boxes
    >>> anchors = np.array([[50.0, 50.0], [50.0, 50.0]])
    >>> place_boxes(anchors, np.array([[4.0, 2.0]] * 2), np.array([0.0, 0, 100, 100]), anchors)
    array([[50., 58.],
           [50., 42.]])
    """
    placed: list[Floats] = []  # left, bottom, right and top of each
    centres = np.full(anchors.shape, np.nan)
    for k, (anchor, size) in enumerate(zip(anchors, sizes, strict=True)):
        places, distance = candidates(anchor, size)
        boxes = np.hstack([places - size / 2, places + size / 2])
        free = is_inside(boxes, bounds) & ~covers(boxes, anchors).any(axis=1)
        for box in placed:
            free &= ~overlaps(boxes, box)
        if free.any():
            cost = np.where(free, distance + COST_OF_COVERED_POINT * covers(boxes, points).sum(axis=1), np.inf)
            best = int(np.argmin(cost))
            centres[k] = places[best]
            placed.append(boxes[best])
    return centres


def candidates(anchor: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Return centres of a box around a point, and their distances from it; above the point comes first."""
    turn = np.arange(N_DIRECTIONS)
    # Above, below, then alternately from the vertical to the horizontal: wide names fit there best.
    angle = math.pi / 2 + math.pi * (turn % 2) + 2 * math.pi * (turn // 2) / N_DIRECTIONS
    towards = np.column_stack([np.cos(angle), np.sin(angle)])
    towards[np.abs(towards) < 1e-12] = 0.0
    distance = np.repeat(DISTANCES, N_DIRECTIONS)
    directions = np.tile(towards, (len(DISTANCES), 1))
    # Steep directions differ only in where the name begins, so a little more distance prefers the straight ones.
    return anchor + directions * (distance[:, None] + size / 2), distance + 0.1 * np.abs(directions[:, 0])


def is_inside(boxes: Floats, bounds: Floats) -> NDArray[np.bool_]:
    """Check which boxes lie within bounds."""
    return np.asarray((boxes[:, :2] >= bounds[:2]).all(axis=1) & (boxes[:, 2:] <= bounds[2:]).all(axis=1))


def overlaps(boxes: Floats, other: Floats) -> NDArray[np.bool_]:
    """Check which boxes overlap another one, or come too near to it."""
    return np.asarray(
        (boxes[:, :2] < other[2:] + MIN_GAP_PX).all(axis=1) & (boxes[:, 2:] > other[:2] - MIN_GAP_PX).all(axis=1)
    )


def covers(boxes: Floats, points: Floats) -> NDArray[np.bool_]:
    """Check which boxes cover which points; returns an array of shape (n_boxes, n_points)."""
    above = (points[None] >= boxes[:, None, :2] - POINT_GAP).all(axis=2)
    return np.asarray(above & (points[None] <= boxes[:, None, 2:] + POINT_GAP).all(axis=2))


def name_points(ax: "Axes", names: "Sequence[str]", x: Floats, y: Floats, all_points: Floats, **text: Any) -> None:
    """Write names beside points, as many as there is room for.

    Parameters
    ----------
    ax : Axes
        The axes, whose limits must be final.
    names : sequence of str
        Names, most important first.
    x, y : ndarray of shape (n_names,)
        Places of the points.
    all_points : ndarray of shape (n_points, 2)
        Points that names should not cover.
    text : dict
        Options of the texts.
    """
    if not names:
        return
    figure = whole_figure(ax)
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()  # the layout moves the axes, and with them the points
    pixel = figure.dpi / 100  # distances are given for 100 dots per inch
    options: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": TINY_POINTS} | PLAIN | text
    texts = [
        ax.annotate(shown_name(name, MAX_LETTERS), (a, b), xytext=(0, 0), textcoords="offset points", **options)
        for name, a, b in zip(names, x, y, strict=True)
    ]
    extents = [one.get_window_extent() for one in texts]
    sizes = np.array([[extent.width, extent.height] for extent in extents]) / pixel
    to_pixels = ax.transData.transform
    anchors, points = to_pixels(np.column_stack([x, y])) / pixel, to_pixels(all_points) / pixel
    centres = place_boxes(anchors, sizes, np.array(ax.bbox.extents) / pixel, points)
    for one, anchor, centre, size in zip(texts, anchors, centres, sizes, strict=True):
        move_text(ax, one, anchor, centre, size)


def move_text(ax: "Axes", text: Any, anchor: Floats, centre: Floats, size: Floats) -> None:
    """Put a text at its place, with a line to its point if that is far away; remove it if there is no place."""
    if np.isnan(centre).any():
        text.remove()
        return
    offset = (centre - anchor) * 0.72  # pixels at 100 dots per inch to points
    text.set_position(tuple(offset))
    nearest = np.clip(anchor, centre - size / 2, centre + size / 2)  # of the edge of the text
    if np.hypot(*(nearest - anchor)) > LEADER_FROM:
        line = {"arrowstyle": "-", "color": SOFT, "lw": 0.6, "shrinkA": 1, "shrinkB": 3}
        end = tuple((nearest - anchor) * 0.72)
        ax.annotate("", text.xy, xytext=end, textcoords="offset points", arrowprops=line)
