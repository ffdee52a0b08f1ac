"""Heat maps: a matrix as coloured squares."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from ilfs.arrays import Floats
from ilfs.report.charts.drawing import LETTER_PX, WIDTH_PX, svg, text_at
from ilfs.report.markup import escape, shortened

MAX_ROW_LETTERS, MAX_COLUMN_LETTERS, MAX_TOOLTIP_LETTERS = 20, 14, 60
MIN_NAMED_PX, MIN_LARGE_PX = 8.0, 13.0  # heights of a row from which on it has a name, and a name of usual size
MIN_LEFT_PX = 4.0  # margin of a map without names
MAX_VALUE_ROW_PX = 34.0  # height of a row whose values are written
MAX_SQUARE_PX = 44.0  # side of a square without its value
MAX_TOOLTIPS = 400  # squares that are drawn one by one, each with its tooltip
N_SHADES = 20  # opacities of the others
SLANT = 0.72  # height of a slanted name as a fraction of its length


def heat_map(
    values: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str] | None = None,
    *,
    title: str,
    description: str = "",
    low: float | None = None,
    high: float | None = None,
    diverging: bool = False,
    decimals: int | None = None,
    width: float = WIDTH_PX,
) -> str:
    """Draw a matrix as coloured squares.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_columns)
        The matrix; values that are not finite are left empty.
    rows, columns : sequence of str
        Names. Without ``columns``, the columns are those of ``rows`` and are not named again.
    title : str
        Name of the chart for screen readers.
    description : str, default=""
        What the chart shows, for screen readers.
    low, high : float, optional
        Values of the ends of the colour scale; by default the smallest and largest ones.
    diverging : bool, default=False
        Use a scale with two colours and 0 in its middle, such as for correlations.
    decimals : int, optional
        Write the values into the squares, with so many decimals.
    width : float
        Width in pixels, before scaling.

    Returns
    -------
    str
        An SVG element.

    Examples
    --------
    >>> from ilfs.report.charts import heat_map
    >>> heat_map([[1.0, 0.2], [0.2, 1.0]], ["a", "b"], title="Overlap").count("<rect")
    4
    """
    matrix = np.asarray(values, dtype=float)
    grid = HeatMapGrid.around(matrix, rows, columns, decimals is not None, width)
    ends = colour_ends(matrix, low, high, diverging)
    part = np.clip((matrix - ends[0]) / (ends[1] - ends[0]), 0.0, 1.0)
    parts = grid.names(rows, columns or ())
    if matrix.size > MAX_TOOLTIPS and decimals is None:
        parts += grid.shades(part, diverging)
    else:
        others = rows if columns is None else columns
        for i, j in np.argwhere(np.isfinite(matrix)).tolist():
            about = f"{shortened(rows[i], MAX_TOOLTIP_LETTERS)}, {shortened(others[j], MAX_TOOLTIP_LETTERS)}"
            parts += [grid.square(i, j, float(part[i, j]), diverging, f"{about}: {matrix[i, j]:.3g}")]
            parts += [grid.value(i, j, f"{matrix[i, j]:.{decimals}f}")] if decimals is not None else []
    size = (width, grid.top + grid.row_px * len(rows) + 4)
    return svg(title, description, parts, size, {"data-grid": grid.attribute()})


def colour_ends(matrix: Floats, low: float | None, high: float | None, diverging: bool) -> tuple[float, float]:
    """Return the values at the ends of the colour scale."""
    finite = matrix[np.isfinite(matrix)]
    bottom = float(finite.min(initial=np.inf)) if low is None else low
    top = float(finite.max(initial=-np.inf)) if high is None else high
    if diverging and finite.size:
        top = max(abs(bottom), abs(top))
        bottom = -top
    if not bottom < top:
        return (bottom - 0.5, bottom + 0.5) if isfinite(bottom) else (0.0, 1.0)
    return bottom, top


def colour_of(part: float, diverging: bool) -> tuple[str, float]:
    """Return the CSS class and the opacity of a value, given as a fraction of the colour scale."""
    return ("cold" if part < 0.5 else "warm", abs(2 * part - 1)) if diverging else ("cold", part)


@dataclass(frozen=True)
class HeatMapGrid:
    """Places of the squares of a heat map, in pixels."""

    left: float
    top: float
    column_px: float
    row_px: float

    @classmethod
    def around(
        cls, matrix: Floats, rows: Sequence[str], columns: Sequence[str] | None, has_values: bool, width: float
    ) -> "HeatMapGrid":
        """Leave room for the names."""
        left = 10 + LETTER_PX * max((len(shortened(name, MAX_ROW_LETTERS)) for name in rows), default=1)
        if not has_values and (width - left) / max(matrix.shape[1], 1) < MIN_NAMED_PX:  # too many rows for names
            left = MIN_LEFT_PX
        longest = max((len(shortened(name, MAX_COLUMN_LETTERS)) for name in columns or ()), default=0)
        column_px = (width - left - (4 + SLANT * LETTER_PX * longest)) / max(matrix.shape[1], 1)
        column_px = column_px if has_values else min(column_px, MAX_SQUARE_PX)
        row_px = min(column_px, MAX_VALUE_ROW_PX) if has_values else column_px
        return cls(left, 12 + SLANT * LETTER_PX * longest if longest else 4.0, column_px, row_px)

    def names(self, rows: Sequence[str], columns: Sequence[str]) -> list[str]:
        """Write the names of rows and columns."""
        kind = "name" if self.row_px >= MIN_LARGE_PX else "small"
        shown = rows if self.left > MIN_LEFT_PX else ()
        lines = [self.top + (i + 0.5) * self.row_px + 4 for i in range(len(shown))]
        parts = [
            text_at(self.left - 6, y, name, "end", kind, MAX_ROW_LETTERS) for y, name in zip(lines, shown, strict=True)
        ]
        for j, name in enumerate(columns):
            slanted = f"translate({self.left + (j + 0.5) * self.column_px:.1f} {self.top - 5:.1f}) rotate(-45)"
            word = text_at(0, 0, name, "start", "name", MAX_COLUMN_LETTERS)
            parts += [f'<g transform="{slanted}">{word}</g>']
        return parts

    def square(self, i: int, j: int, part: float, diverging: bool, about: str) -> str:
        """Draw one value: the colour says the sign, the opacity the size."""
        kind, strength = colour_of(part, diverging)
        x, y = self.left + j * self.column_px, self.top + i * self.row_px
        return (
            f'<rect class="{kind}" x="{x:.2f}" y="{y:.2f}" width="{self.column_px:.2f}" height="{self.row_px:.2f}" '
            f'fill-opacity="{strength:.2f}"><title>{escape(about)}</title></rect>'
        )

    def shades(self, part: Floats, diverging: bool) -> list[str]:
        """Draw many values without tooltips: squares of the same shade are one path."""
        squares: dict[tuple[str, float], list[str]] = {}
        w, h = self.column_px, self.row_px
        for i, j in np.argwhere(np.isfinite(part)).tolist():
            kind, strength = colour_of(float(part[i, j]), diverging)
            path = f"M{self.left + j * w:.1f} {self.top + i * h:.1f}h{w:.2f}v{h:.2f}h-{w:.2f}z"
            squares.setdefault((kind, round(N_SHADES * strength) / N_SHADES), []).append(path)
        return [
            f'<path class="{kind}" fill-opacity="{strength:g}" d="{"".join(paths)}"/>'
            for (kind, strength), paths in squares.items()
        ]

    def attribute(self) -> str:
        """Format the places, so that a script can find the square under the pointer."""
        return f"{self.left:.2f} {self.top:.2f} {self.column_px:.3f} {self.row_px:.3f}"

    def value(self, i: int, j: int, word: str) -> str:
        """Write a value into its square."""
        x, y = self.left + (j + 0.5) * self.column_px, self.top + (i + 0.5) * self.row_px
        return text_at(x, y + 4, word, "middle", "value")
