"""Heat map: values of the selected features in all samples, ordered by class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.report.class_values import ALL_ROWS, correlations, neighbour_order, read_rows
from ilfs.report.plots.canvas import (
    PLAIN,
    SMALL_POINTS,
    TINY_POINTS,
    class_colours,
    colour_legend,
    points_of,
    set_names,
    set_title,
    shown_name,
)
from ilfs.selector import RankingSelector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

LARGEST_Z = 2.5  # z-scores beyond this have the colour of this one
Z_COLOURS = "RdBu_r"
MISSING_COLOUR = "#d9dce1"
STRIP_HEIGHT, STRIP_GAP = 6.0, 2.5  # of the classes above the values, in points
PADS = {False: 8.0, True: 30.0}  # points between values and title, without and with classes
LETTER_POINTS = 5.0  # width of a letter in the size `SMALL_POINTS`


@dataclass(frozen=True)
class HeatMap:
    """Numbers of a heat map.

    Parameters
    ----------
    z : ndarray of shape (n_features, n_samples)
        z-scores, in the order in which they are drawn; NaN is missing.
    names : tuple of str
        Features, similar ones beside each other.
    labels : tuple of str
        Classes, in the order of the samples; none without classes.
    sizes : ndarray of int of shape (n_classes,)
        Number of samples in each class.
    n_selected : int
        Number of selected features, of which the best are shown.
    n_rows : int
        Number of rows of the table, of which a sample is shown if there are many.
    """

    z: Floats
    names: tuple[str, ...]
    labels: tuple[str, ...]
    sizes: Integers
    n_selected: int
    n_rows: int

    @classmethod
    def from_selector(
        cls,
        selector: RankingSelector,
        X: Any,
        y: Any = None,
        top: int = 50,
        input_features: Sequence[str] | None = None,
    ) -> Self:
        """Read the selected features of a table and order them.

        Features are ordered by average linkage of their correlations, samples by class and within a class by their
        first principal component. Of a large table, a random sample of the rows is shown.

        Parameters
        ----------
        selector : RankingSelector
            A fitted selector.
        X : array, data frame, sparse matrix or any other table that ``fit`` takes
            The columns that ``fit`` has ranked.
        y : array of shape (n_samples,), or name of a column, optional
            Classes. By default those of the column that ``fit`` has taken them from, if X has it.
        top : int, default=50
            Maximum number of selected features, the best ones.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.

        Returns
        -------
        HeatMap
            The numbers.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from ilfs import ILFS
        >>> from ilfs.report.plots.heatmap import HeatMap
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> shown = HeatMap.from_selector(ILFS(4).fit(X, y), X, y)
        >>> shown.z.shape, shown.labels, shown.sizes.tolist()
        ((4, 178), ('0', '1', '2'), [59, 71, 48])
        """
        names, mask = selector._names(input_features), selector.get_support()
        best = selector.order_[mask[selector.order_]][:top]
        if not best.size:
            raise ValueError("heatmap needs a selected feature, got none: select a number of features")
        found = read_rows(selector, X, y, best)
        if found is None or not found.codes.size:
            raise ValueError("heatmap needs rows of a table, got none: pass the table that the selector was fitted on")
        z = z_scores(found.values)
        features, samples = feature_order(found.values), sample_order(z, found.codes)
        shown = tuple(str(names[column]) for column in best[features].tolist())
        labels = () if found.labels == (ALL_ROWS,) else found.labels
        sizes = np.bincount(found.codes, minlength=len(labels))
        return cls(z[np.ix_(samples, features)].T, shown, labels, sizes, int(np.count_nonzero(mask)), found.n_rows)


def z_scores(values: Floats) -> Floats:
    """Standardise columns to mean 0 and standard deviation 1, without missing values; constant columns become 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.report.plots.heatmap import z_scores
    >>> z_scores(np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.],
           [nan,  0.]])
    """
    known = np.isfinite(values)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, values, 0.0).sum(axis=0) / count
    centred = values - mean
    deviation = np.sqrt((np.where(known, centred, 0.0) ** 2).sum(axis=0) / count)
    is_constant = deviation <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
    z = np.where(is_constant, 0.0, centred / np.where(is_constant, 1.0, deviation))
    return np.where(known, z, np.nan)


def feature_order(values: Floats) -> Integers:
    """Order features so that correlated ones are neighbours, by average linkage.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        Values; NaN is missing.

    Returns
    -------
    ndarray of shape (n_features,)
        Positions of the features.
    """
    n_features = values.shape[1]
    if n_features < 3:
        return np.arange(n_features)
    return neighbour_order(1.0 - np.nan_to_num(correlations(values)))


def sample_order(z: Floats, codes: Integers) -> Integers:
    """Order samples by class, and within a class by their first principal component.

    Parameters
    ----------
    z : ndarray of shape (n_samples, n_features)
        z-scores.
    codes : ndarray of shape (n_samples,)
        Class of each sample.

    Returns
    -------
    ndarray of shape (n_samples,)
        Positions of the samples.
    """
    filled = np.nan_to_num(z)
    members = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    return np.concatenate([rows[np.argsort(first_component(filled[rows]), kind="stable")] for rows in members])


def first_component(rows: Floats) -> Floats:
    """Return the first principal component of rows; its largest loading is positive."""
    centred = rows - rows.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    loading = vectors[:, -1]
    return np.asarray(centred @ loading * np.sign(loading[np.argmax(np.abs(loading))]))


def draw_heatmap(ax: "Axes", shown: HeatMap) -> None:
    """Draw z-scores as colours, features in rows, with a strip of the classes above.

    Parameters
    ----------
    ax : Axes
        The axes.
    shown : HeatMap
        The numbers.
    """
    image = draw_values(ax, shown)
    set_names(ax, shown.names)
    ax.set_ylim(len(shown.names) - 0.5, -0.5)
    ax.tick_params(axis="y", labelsize=SMALL_POINTS if len(shown.names) <= 30 else TINY_POINTS)
    n_samples = shown.z.shape[1]
    ax.set_xticks([])
    of_all = "" if n_samples == shown.n_rows else f" of {shown.n_rows:,}"
    ax.set_xlabel(f"{n_samples:,}{of_all} samples", fontsize=SMALL_POINTS)
    for spine in ax.spines.values():
        spine.set_visible(False)
    n_shown = len(shown.names)
    some = "The" if n_shown == shown.n_selected else f"The best {n_shown} of"
    set_title(ax, f"{some} {shown.n_selected:,} selected features", pad=PADS[bool(shown.labels)])
    draw_classes(ax, shown)
    draw_scale(ax, image)


def draw_values(ax: "Axes", shown: HeatMap) -> "AxesImage":
    """Draw the z-scores; missing values are grey."""
    from matplotlib import colormaps

    colours = colormaps[Z_COLOURS].with_extremes(bad=MISSING_COLOUR)
    z = np.ma.masked_invalid(shown.z)
    return ax.imshow(z, colours, aspect="auto", interpolation="nearest", vmin=-LARGEST_Z, vmax=LARGEST_Z)


def draw_classes(ax: "Axes", shown: HeatMap) -> None:
    """Draw a strip with the colour of each class above the samples, and lines between the classes."""
    if not shown.labels:
        return
    ends = np.cumsum(shown.sizes)
    colours = class_colours(shown.labels)
    point = 1 / points_of(ax, ax.bbox.height)
    strip = ax.inset_axes((0, 1 + STRIP_GAP * point, 1, STRIP_HEIGHT * point), sharex=ax)
    for label, end, size in zip(shown.labels, ends, shown.sizes, strict=True):
        strip.axvspan(end - size - 0.5, end - 0.5, color=colours[label], linewidth=0)
    strip.set_axis_off()
    for end in ends[:-1]:
        ax.axvline(end - 0.5, color="white", linewidth=1.6)
    if not draw_class_names(strip, shown, ends):
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.04), "ncols": min(len(shown.labels), 5)}
        colour_legend(ax, colours, "", **place)


def draw_class_names(strip: "Axes", shown: HeatMap, ends: Integers) -> bool:
    """Write the classes above the strip; return False if a name is too long for its part of the strip."""
    width = points_of(strip, strip.bbox.width) / max(int(ends[-1]), 1)  # of a sample
    names = [shown_name(label, 24) for label in shown.labels]
    if any(len(name) * LETTER_POINTS > size * width for name, size in zip(names, shown.sizes, strict=True)):
        return False
    for name, end, size in zip(names, ends, shown.sizes, strict=True):
        place: dict[str, Any] = {
            "xy": (end - size / 2 - 0.5, 1),
            "xycoords": ("data", "axes fraction"),
            "xytext": (0, 3),
        }
        strip.annotate(
            name, **place, textcoords="offset points", ha="center", va="bottom", fontsize=SMALL_POINTS, **PLAIN
        )
    return True


def draw_scale(ax: "Axes", image: "AxesImage") -> None:
    """Explain the colours of the values."""
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.025, pad=0.015, shrink=0.5, aspect=26, extend="both")
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=TINY_POINTS, length=2)
    bar.set_label("z-score", fontsize=TINY_POINTS)
    bar.set_ticks([-2, 0, 2])
