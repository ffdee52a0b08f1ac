"""Strip plots: all values of a few groups, with boxes of their quartiles."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.report.charts.axes import Axis, span
from ilfs.report.charts.bars import vertical_grid
from ilfs.report.charts.drawing import MAX_NAME_LETTERS, N_COLOURS, WIDTH_PX, name_room, svg, text_at
from ilfs.report.charts.lines import flat

STRIP_PX = 44.0  # height of a strip with its space
SPREAD_PX = 12.0  # points are spread by at most this much up and down
BOX_PX = 9.0  # half of the height of a box
BOX_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def strip_plot(
    groups: Sequence[tuple[str, ArrayLike]],
    *,
    title: str,
    x_title: str,
    description: str = "",
    width: float = WIDTH_PX,
    seed: int = 0,
) -> str:
    """Draw the values of several groups as points in horizontal strips, with boxes of their quartiles.

    Parameters
    ----------
    groups : sequence of (str, array-like)
        Label and values of each group; values that are not finite are left out.
    title, x_title : str
        Name of the chart for screen readers, and title of the axis.
    description : str, default=""
        What the chart shows, for screen readers.
    width : float
        Width in pixels, before scaling.
    seed : int, default=0
        Random numbers that spread the points of a strip.

    Returns
    -------
    str
        An SVG element.

    Examples
    --------
    >>> from ilfs.report.charts import strip_plot
    >>> strip_plot([("a", [1, 2, 3]), ("b", [2, 4])], title="Values", x_title="size").count('class="box')
    2
    """
    axis = Axis(*span(flat([values for _, values in groups])), name_room([label for label, _ in groups]), width - 12)
    height = STRIP_PX * len(groups) + 50
    parts = vertical_grid(axis, height, x_title)
    rng = np.random.default_rng(seed)
    for k, (label, values) in enumerate(groups):
        found = np.asarray(values, dtype=float)
        found, y = found[np.isfinite(found)], 26 + STRIP_PX * k
        parts += [text_at(axis.start - 7, y + 4, label, "end", "name", MAX_NAME_LETTERS)]
        parts += strip(found, y, f"s{k % N_COLOURS}", axis, rng) if found.size else []
    return svg(title, description, parts, (width, height))


def strip(values: Floats, y: float, colour: str, axis: Axis, rng: np.random.Generator) -> list[str]:
    """Draw the points of a group as one path of round dots, and the box of its quartiles."""
    spread = rng.uniform(-SPREAD_PX, SPREAD_PX, values.size)
    dots = "".join(f"M{axis(v):.1f} {y + d:.1f}h0" for v, d in zip(values.tolist(), spread.tolist(), strict=True))
    low, first, median, third, high = (axis(float(q)) for q in np.quantile(values, BOX_QUANTILES))
    top, tall = y - BOX_PX, 2 * BOX_PX
    box = f"M{low:.1f} {y:.1f}H{first:.1f}M{first:.1f} {top:.1f}H{third:.1f}v{tall:g}H{first:.1f}z"
    rest = f"M{third:.1f} {y:.1f}H{high:.1f}M{median:.1f} {top:.1f}v{tall:g}"
    return [f'<path class="dots {colour}" d="{dots}"/>', f'<path class="box {colour}" d="{box}{rest}"/>']
