"""The accessor ``selector.plot``: one method for each picture."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from ilfs.explanation import STRONG_CORRELATION
from ilfs.parameters import check_integer
from ilfs.report.interactions.network import MAX_NODES, InteractionNetwork
from ilfs.report.plots.canvas import get_axes
from ilfs.report.plots.families import FamilyMap, draw_families
from ilfs.report.plots.heatmap import HeatMap, draw_heatmap
from ilfs.report.plots.interactions import FIGURE_INCHES, draw_interactions, network_height
from ilfs.report.plots.pixels import Order, PixelMap, draw_pixels
from ilfs.report.plots.scores import BestFeatures, ScoreCurve, draw_curve, draw_scores
from ilfs.report.plots.volcano import Volcano, draw_volcano
from ilfs.report.summary import interactions_of
from ilfs.selector import RankingSelector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_INCHES = 0.27  # height of a feature with its name
DEFAULT_BARS, DEFAULT_NAMES, DEFAULT_HEATMAP_FEATURES = 20, 10, 50


class SelectorPlots:
    """Pictures of a fitted selector, by matplotlib (``pip install "ilfs[report]"``).

    Each method draws into the axes ``ax``, or into a new figure, and returns the axes.

    Parameters
    ----------
    selector : RankingSelector
        The selector.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import ILFS
    >>> selector = ILFS(3).fit(*load_wine(return_X_y=True, as_frame=True))
    >>> selector.plot
    <pictures of ILFS: scores, curve, volcano, families, heatmap, interactions, pixels>
    >>> from matplotlib.figure import Figure  # figures that no window shows; in a notebook, leave out ax
    >>> ax = selector.plot.scores(top=8, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()][:3]
    ['flavanoids', 'color_intensity', 'proline']
    """

    def __init__(self, selector: RankingSelector) -> None:
        self._selector = selector

    def __repr__(self) -> str:
        methods = "scores, curve, volcano, families, heatmap, interactions, pixels"
        return f"<pictures of {type(self._selector).__name__}: {methods}>"

    def scores(
        self, top: int = DEFAULT_BARS, *, input_features: Sequence[str] | None = None, ax: "Axes | None" = None
    ) -> "Axes":
        """Draw bars of the best features, and the curve of all scores in the corner.

        The colour of a bar is the class with the largest mean. Pale bars are features that are not selected. Scores
        that may be negative are drawn as dots.

        Parameters
        ----------
        top : int, default=20
            Number of features.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure.

        Returns
        -------
        Axes
            The axes.
        """
        check_is_fitted(self._selector)
        check_integer("top", top, 1)
        best = BestFeatures.from_selector(self._selector, top, input_features)
        ax = get_axes(ax, 7.2, 1.3 + ROW_INCHES * len(best.names))
        draw_scores(ax, best, ScoreCurve.from_selector(self._selector))
        return ax

    def curve(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the scores of all features by rank, and where the selection ends.

        If labels were permuted, the curve shows the statistic that was tested, and a band holds the values of 90 % of
        the permutations.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure.

        Returns
        -------
        Axes
            The axes.
        """
        check_is_fitted(self._selector)
        curve = ScoreCurve.from_selector(self._selector)
        ax = get_axes(ax, 6.4, 3.8)
        draw_curve(ax, curve)
        return ax

    def volcano(
        self, names: int = DEFAULT_NAMES, *, input_features: Sequence[str] | None = None, ax: "Axes | None" = None
    ) -> "Axes":
        """Draw the difference between classes against the q-value, for all features.

        Selected features have the colour of the class with the largest mean. The selector must have q-values: fit it
        with ``n_permutations``.

        Parameters
        ----------
        names : int, default=10
            Maximum number of selected features that are named, best first. Names that would cover others are left out.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure.

        Returns
        -------
        Axes
            The axes.
        """
        check_is_fitted(self._selector)
        check_integer("names", names, 0)
        volcano = Volcano.from_selector(self._selector, input_features)
        ax = get_axes(ax, 7.2, 5.2)
        draw_volcano(ax, volcano, names)
        return ax

    def families(
        self,
        top: int | None = None,
        *,
        at_least: float = STRONG_CORRELATION,
        input_features: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Draw the features that each selected feature represents, at their correlations with it.

        Parameters
        ----------
        top : int, optional
            Number of best features; by default the selected ones, but at most 20.
        at_least : float, default=0.7
            Smallest absolute correlation of a member with the head of its family.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure.

        Returns
        -------
        Axes
            The axes.
        """
        check_is_fitted(self._selector)
        shown = FamilyMap.from_selector(self._selector, top, at_least, input_features)
        if top is None:
            shown = shown.first(DEFAULT_BARS)
        ax = get_axes(ax, 8.4, 1.2 + ROW_INCHES * len(shown.families))
        draw_families(ax, shown)
        return ax

    def heatmap(
        self,
        X: Any,
        y: Any = None,
        top: int = DEFAULT_HEATMAP_FEATURES,
        *,
        input_features: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> "Axes":
        """Draw the values of the selected features in all samples as colours.

        Features are rows, similar ones beside each other. Samples are columns, ordered by class and within a class by
        their first principal component. Values are z-scores.

        Parameters
        ----------
        X : array, data frame, sparse matrix or any other table that ``fit`` takes
            The columns that ``fit`` has ranked.
        y : array of shape (n_samples,), or name of a column, optional
            Classes.
        top : int, default=50
            Maximum number of features: the best of the selected ones.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure.

        Returns
        -------
        Axes
            The axes.
        """
        check_is_fitted(self._selector)
        check_integer("top", top, 1)
        shown = HeatMap.from_selector(self._selector, X, y, top, input_features)
        ax = get_axes(ax, 8.4, 1.6 + 0.2 * max(len(shown.names), 8))
        draw_heatmap(ax, shown)
        return ax

    def interactions(
        self, max_nodes: int = MAX_NODES, *, input_features: Sequence[str] | None = None, ax: "Axes | None" = None
    ) -> "Axes":
        """Draw the network of interacting features.

        A line joins two features that tell the class together, beyond what each tells alone; a small diamond joins
        three, and at most eight of these are drawn. The thicker, the stronger. The colour is the class in which the
        pattern is more frequent. A dashed line is an opposite pattern, such as one value high and the other low. The
        selector must have searched for interactions: fit ``ILFS(interactions=2)``.

        Parameters
        ----------
        max_nodes : int, default=40
            Maximum number of features. The strongest sets are drawn, as long as there is room for their features.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure.

        Returns
        -------
        Axes
            The axes.
        """
        check_is_fitted(self._selector)
        check_integer("max_nodes", max_nodes, 2)
        found = interactions_of(self._selector, input_features)
        if found is None:
            raise ValueError(
                "interactions needs a selector that has searched for them, got one without interactions_: fit "
                "ILFS(interactions=2)"
            )
        network = InteractionNetwork.of_summary(found, max_nodes)
        ax = get_axes(ax, FIGURE_INCHES, network_height(network))
        draw_interactions(ax, network)
        return ax

    def pixels(self, shape: Sequence[int], *, order: Order = "C", ax: "Axes | None" = None) -> "Axes":
        """Draw the relevance or score of each pixel as an image, with the selected pixels marked.

        Parameters
        ----------
        shape : (height, width) or (height, width, n_colours)
            Shape of the images whose pixels are the features.
        order : {"C", "F"}, default="C"
            Order of the pixels in a row of the table: row by row, or column by column as MATLAB stores them.
        ax : matplotlib Axes, optional
            Axes to draw into; by default those of a new figure.

        Returns
        -------
        Axes
            The axes.
        """
        check_is_fitted(self._selector)
        shown = PixelMap.from_selector(self._selector, shape, order)
        ax = get_axes(ax, 5.4, 4.8)
        draw_pixels(ax, shown)
        return ax
