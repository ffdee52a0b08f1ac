"""Volcano plot: size of the difference between classes against certainty."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.report.plots.canvas import (
    FAINT,
    ONE_COLOUR,
    PLAIN,
    RULE,
    SMALL_POINTS,
    class_of_direction,
    colour_legend,
    direction_colours,
    note,
    quiet,
    set_title,
    shown_name,
)
from ilfs.report.plots.labels import name_points
from ilfs.report.summary import class_labels
from ilfs.selector import RankingSelector
from ilfs.selector.description import DEFAULT_FDR
from ilfs.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ticker import MultipleLocator

HEADROOM = 1.22  # height of the axes as a multiple of the largest value, with room for names
SIDE_ROOM = 1.15  # the same for the effects
MANY_POINTS = 2000  # from which on points are pixels in SVG and PDF files
N_AVOIDED = 400  # points that names try not to cover: the highest ones


@dataclass(frozen=True)
class Volcano:
    """Numbers of a volcano plot, best feature first.

    Parameters
    ----------
    names : tuple of str
        All features.
    effect : ndarray of shape (n_features,)
        Difference of the class means in standard deviations; see `ilfs.effects`.
    q_values : ndarray of shape (n_features,)
        Smallest false discovery rate at which a feature is selected.
    is_selected : ndarray of bool of shape (n_features,)
        Features that ``transform`` keeps.
    directions : tuple of str
        Label of the class with the larger mean, or of the one that stands out of more than two; "several classes" if
        more than one does; empty for none.
    labels : tuple of str
        All classes.
    fdr : float
        False discovery rate that is accepted.
    """

    names: tuple[str, ...]
    effect: Floats
    q_values: Floats
    is_selected: NDArray[np.bool_]
    directions: tuple[str, ...]
    labels: tuple[str, ...]
    fdr: float

    @classmethod
    def from_selector(cls, selector: RankingSelector, input_features: Sequence[str] | None = None) -> Self:
        """Take effects and q-values of a fitted selector.

        Parameters
        ----------
        selector : RankingSelector
            A fitted selector with q-values.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.

        Returns
        -------
        Volcano
            The numbers.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from ilfs import FisherScore
        >>> from ilfs.report.plots.volcano import Volcano
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> volcano = Volcano.from_selector(FisherScore(5, n_permutations=20).fit(X, y))
        >>> volcano.names[0], round(float(volcano.effect[0]), 2), bool(volcano.q_values[0] < 0.05)
        ('worst concave points', -2.69, True)
        """
        table = selector.table(None, input_features)
        if "q_value" not in table:
            raise ValueError(
                "volcano needs q-values, which this selector has not computed: fit it with n_permutations=99, or wrap "
                "a method that scores features one by one in ilfs.selection.FDRSelector"
            )
        if "effect" not in table:
            raise ValueError(
                "volcano needs one class for each sample, since it shows differences between classes, got a selector "
                "without classes or with several labels: draw a selector of per_label_, or use plot.scores"
            )
        labels = class_labels(selector)
        return cls(
            names=tuple(map(str, table["feature"].tolist())),
            effect=np.asarray(table["effect"], dtype=np.float64),
            q_values=np.asarray(table["q_value"], dtype=np.float64),
            is_selected=selector.get_support()[table["column"]],
            directions=tuple(class_of_direction(phrase, labels) for phrase in table["direction"].tolist()),
            labels=labels,
            fdr=float(getattr(selector, "fdr", DEFAULT_FDR)),
        )

    def points(self) -> Floats:
        """Return the points, an array of shape (n_features, 2): effect, and minus the decimal logarithm of q.

        Infinite effects are a little larger than the largest finite one, and missing ones are 0.
        """
        largest = float(np.abs(self.effect[np.isfinite(self.effect)]).max(initial=0.0)) or 1.0
        edge = 1.08 * largest
        return np.column_stack([np.nan_to_num(self.effect, nan=0.0, posinf=edge, neginf=-edge), self.heights()])

    def heights(self) -> Floats:
        """Return minus the decimal logarithms of the q-values."""
        return np.asarray(-np.log10(np.maximum(self.q_values, np.finfo(np.float64).tiny))) + 0.0


def draw_volcano(ax: "Axes", volcano: Volcano, top: int = 10) -> None:
    """Draw effects against q-values, with the names of the best features.

    Parameters
    ----------
    ax : Axes
        The axes.
    volcano : Volcano
        The numbers.
    top : int, default=10
        Maximum number of names.
    """
    points = volcano.points()
    colours = direction_colours(volcano.labels, np.array(volcano.directions)[volcano.is_selected])
    draw_points(ax, volcano, points, colours)
    set_limits(ax, volcano, points)
    quiet(ax)
    draw_threshold(ax, volcano.fdr)
    ax.set_xlabel(effect_title(volcano.labels), fontsize=SMALL_POINTS, **PLAIN)
    ax.set_ylabel("q-value", fontsize=SMALL_POINTS)
    ax.yaxis.set_major_locator(whole_powers(ax.get_ylim()[1]))
    ax.yaxis.set_major_formatter(lambda height, _: q_text(height))
    n_selected = int(np.count_nonzero(volcano.is_selected))
    set_title(ax, f"Effect and q-value: {n_selected:,} of {counted(len(volcano.names), 'feature')} selected")
    if len(volcano.labels) > 2:  # of two classes, the sides of the picture are named
        # Large effects are seldom uncertain: this corner is free.
        colour_legend(ax, colours, "differs in ", loc="lower right", ncols=1 if len(colours) <= 4 else 2)
    best = np.flatnonzero(volcano.is_selected)[:top]
    if not best.size:
        best = np.arange(min(top, len(volcano.names)))
    highest = np.argsort(-points[:, 1], kind="stable")[:N_AVOIDED]
    name_points(ax, [volcano.names[k] for k in best], points[best, 0], points[best, 1], points[highest])


def draw_points(ax: "Axes", volcano: Volcano, points: Floats, colours: dict[str, str]) -> None:
    """Draw a point for each feature, those that are not selected in grey."""
    as_pixels = len(points) >= MANY_POINTS
    other = ~volcano.is_selected
    ax.scatter(points[other, 0], points[other, 1], s=9, color=FAINT, alpha=0.6, linewidth=0, rasterized=as_pixels)
    selected = np.flatnonzero(volcano.is_selected)
    found = [colours.get(volcano.directions[k], ONE_COLOUR) for k in selected]
    ax.scatter(
        points[selected, 0], points[selected, 1], s=26, c=found, linewidth=0, alpha=0.9, zorder=3, rasterized=as_pixels
    )


def set_limits(ax: "Axes", volcano: Volcano, points: Floats) -> None:
    """Leave room for names; if effects have two signs, put 0 in the middle."""
    width = SIDE_ROOM * (float(np.abs(points[:, 0]).max(initial=0.0)) or 1.0)
    highest = max(float(points[:, 1].max(initial=0.0)), -float(np.log10(volcano.fdr)))
    ax.set_ylim(-0.03 * highest, HEADROOM * highest)
    ax.set_xlim(-width if points[:, 0].min(initial=0.0) < 0 else -0.03 * width, width)


def draw_threshold(ax: "Axes", fdr: float) -> None:
    """Draw the accepted false discovery rate as a horizontal line."""
    height = -float(np.log10(fdr))
    ax.axhline(height, color=RULE, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    note(ax, 0.995, height, f"q = {fdr:g}", transform=ax.get_yaxis_transform(), ha="right", va="bottom")


def effect_title(labels: Sequence[str]) -> str:
    """Return the title of the axis of effects."""
    if len(labels) != 2:
        return "← lower in a class        effect, in standard deviations        higher in a class →"
    first, second = (shown_name(label, 16) for label in labels)
    return f"← higher in {first}        effect, in standard deviations        higher in {second} →"


def q_text(height: float) -> str:
    """Format a q-value by minus its decimal logarithm.

    Examples
    --------
    >>> from ilfs.report.plots.volcano import q_text
    >>> [q_text(height) for height in (0, 1, 2.0, 5)]
    ['1', '0.1', '0.01', '1e-05']
    """
    return f"{10.0**-height:.2g}"


def whole_powers(highest: float) -> "MultipleLocator":
    """Return ticks at whole powers of ten, or at halves of them if there are few."""
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(0.5 if highest < 1.6 else max(1, round(highest / 6)))
