"""Scores of pixels as an image, for features that are the pixels of images."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.parameters import check_choice, is_integer
from ilfs.report.plots.canvas import SMALL_POINTS, TINY_POINTS, points_of, set_title
from ilfs.selector import RankingSelector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHADES = "cividis"  # looks the same with all kinds of colour vision
PICK = "#ff7a1a"
MAX_STEP = 1.0  # largest distance of the lowest value from the next one, in ranges of the others
N_NUMBERED = 9  # best pixels, which are numbered

Order = Literal["C", "F"]


@dataclass(frozen=True)
class PixelMap:
    """Numbers of a picture of pixels.

    Parameters
    ----------
    image : ndarray of shape (height, width)
        Relevance or score of each pixel; NaN if it is not finite. The mean over the colours of a colour image.
    title : str
        What the values are.
    picks : ndarray of int of shape (n_selected, 2)
        Row and column of the selected pixels, best first.
    """

    image: Floats
    title: str
    picks: Integers

    @classmethod
    def from_selector(cls, selector: RankingSelector, shape: Sequence[int], order: Order = "C") -> Self:
        """Arrange the scores of a fitted selector as an image.

        Parameters
        ----------
        selector : RankingSelector
            A fitted selector.
        shape : (height, width) or (height, width, n_colours)
            Shape of the images.
        order : {"C", "F"}, default="C"
            Order of the pixels in a row of the table: row by row, or column by column as MATLAB stores them.

        Returns
        -------
        PixelMap
            The numbers.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from ilfs import ILFS
        >>> from ilfs.report.plots.pixels import PixelMap
        >>> shown = PixelMap.from_selector(ILFS(3).fit(*load_digits(return_X_y=True)), (8, 8))
        >>> shown.image.shape, shown.title, shown.picks.shape
        ((8, 8), 'relevance', (3, 2))
        """
        shape = check_shape(shape, selector.n_features_in_)
        check_choice("order", order, ("C", "F"))
        title = "relevance" if hasattr(selector, "relevance_") else "score"
        values = np.asarray(selector.relevance_ if title == "relevance" else selector.scores_, dtype=np.float64)
        image = np.where(np.isfinite(values), values, np.nan).reshape(shape, order=order)
        best = selector.order_[selector.get_support()[selector.order_]]
        places = np.column_stack(np.unravel_index(best, shape, order=order))
        return cls(image.mean(axis=2) if image.ndim == 3 else image, title, places[:, :2])


def check_shape(shape: Any, n_features: int) -> tuple[int, ...]:
    """Check that images of a shape have as many values as there are features.

    Parameters
    ----------
    shape : object
        Height and width, and the number of colours if there are several.
    n_features : int
        Number of features.

    Returns
    -------
    tuple of int
        The shape.
    """
    found = tuple(shape) if isinstance(shape, Sequence | np.ndarray) and not isinstance(shape, str) else ()
    if len(found) not in (2, 3) or not all(is_integer(side) and side >= 1 for side in found):
        raise ValueError(f"shape must be (height, width) or (height, width, n_colours), got {shape!r}")
    sides = tuple(int(side) for side in found)
    if (product := int(np.prod(sides))) != n_features:
        raise ValueError(
            f"shape must have as many values as there are features, {n_features:,}, got {shape!r}: {product:,}"
        )
    return sides


def draw_pixels(ax: "Axes", shown: PixelMap) -> None:
    """Draw the image, and mark the selected pixels; the best of them are numbered.

    Parameters
    ----------
    ax : Axes
        The axes.
    shown : PixelMap
        The numbers.
    """
    low = lowest_shade(shown.image)
    image = ax.imshow(np.ma.masked_invalid(shown.image), cmap=SHADES, interpolation="nearest", vmin=low)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    numbered, others = shown.picks[:N_NUMBERED], shown.picks[N_NUMBERED:]
    area = (0.62 * pixel_points(ax, shown)) ** 2
    ax.scatter(others[:, 1], others[:, 0], s=np.clip(0.3 * area, 14, 70), color=PICK, linewidth=0)
    ax.scatter(numbered[:, 1], numbered[:, 0], s=np.clip(area, 70, 260), color=PICK, linewidth=0)
    for rank, (row, column) in enumerate(numbered.tolist(), start=1):
        text: dict[str, Any] = {
            "ha": "center",
            "va": "center_baseline",
            "color": "black",
            "fontweight": "bold",
            "clip_on": True,
        }
        ax.text(column, row, str(rank), fontsize=TINY_POINTS, **text)
    extend = "min" if np.nanmin(shown.image) < low else "neither"
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.04, pad=0.03, shrink=0.6, aspect=20, extend=extend)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=TINY_POINTS, length=2)
    bar.set_label(shown.title, fontsize=SMALL_POINTS)
    bar.ax.locator_params(nbins=4)
    set_title(ax, f"{shown.title.capitalize()} of {shown.image.size:,} pixels, {len(shown.picks):,} selected")


def lowest_shade(image: Floats) -> float:
    """Return the value with the darkest colour: pixels that never change would hide the differences of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.report.plots.pixels import lowest_shade
    >>> lowest_shade(np.array([[0.0, 0.6], [0.7, 0.8]])), lowest_shade(np.array([[0.5, 0.6], [0.7, 0.8]]))
    (0.6, 0.5)
    """
    values = np.unique(image[np.isfinite(image)])
    if values.size > 2 and values[1] - values[0] > MAX_STEP * (values[-1] - values[1]):
        return float(values[1])
    return float(values[0]) if values.size else 0.0


def pixel_points(ax: "Axes", shown: PixelMap) -> float:
    """Return the side of a pixel of the image, in points."""
    height, width = shown.image.shape
    return points_of(ax, min(ax.bbox.width / width, ax.bbox.height / height))
