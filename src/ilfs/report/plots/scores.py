"""Pictures of the scores: bars of the best features, and the curve of all features by rank."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.null import NullCurve
from ilfs.report.plots.canvas import (
    FAINT,
    ONE_COLOUR,
    RULE,
    SMALL_POINTS,
    SOFT,
    TINY_POINTS,
    class_of_direction,
    colour_legend,
    direction_colours,
    note,
    paler,
    points_of,
    quiet,
    set_names,
    set_title,
)
from ilfs.report.summary import attribute, class_labels
from ilfs.selector import RankingSelector
from ilfs.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MIN_BARS_BESIDE_CURVE = 8  # with fewer bars, the small curve in the corner would be too flat
# The corner of the bars for the legend and the small curve, in fractions of the axes.
CORNER_LEFT, CORNER_TOP, CURVE_TOP = 0.6, 0.74, 0.48
BELOW_CURVE_POINTS = 32  # the labels of the small curve
Q_WIDTH = 0.11  # fraction of the axes for a q-value behind a bar
MAX_MARKERS = 60  # features up to which each point of the curve is marked
INFINITE_BAR = 1.15  # length of the bar of an infinite score, as a multiple of the largest finite score


@dataclass(frozen=True)
class BestFeatures:
    """Numbers of the bars.

    Parameters
    ----------
    names : tuple of str
        Best feature first.
    scores : ndarray of shape (n_shown,)
        Their scores.
    is_selected : ndarray of bool of shape (n_shown,)
        Features that ``transform`` keeps.
    directions : tuple of str
        Label of the class with the larger mean, or of the one that stands out of more than two; "several classes" if
        more than one does; empty for none. No entries without classes.
    q_values : ndarray of shape (n_shown,) or None
        Their q-values, if computed.
    labels : tuple of str
        All classes.
    method : str
        Class of the selector.
    n_features, n_selected : int
        Number of all features, and of those selected.
    """

    names: tuple[str, ...]
    scores: Floats
    is_selected: NDArray[np.bool_]
    directions: tuple[str, ...]
    q_values: Floats | None
    labels: tuple[str, ...]
    method: str
    n_features: int
    n_selected: int

    @classmethod
    def from_selector(
        cls, selector: RankingSelector, top: int = 20, input_features: Sequence[str] | None = None
    ) -> Self:
        """Take the best features of a fitted selector.

        Parameters
        ----------
        selector : RankingSelector
            A fitted selector.
        top : int, default=20
            Number of features.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.

        Returns
        -------
        BestFeatures
            The numbers.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from ilfs import FisherScore
        >>> from ilfs.report.plots.scores import BestFeatures
        >>> best = BestFeatures.from_selector(FisherScore(2).fit(*load_wine(return_X_y=True, as_frame=True)), top=3)
        >>> best.names, best.is_selected.tolist(), best.directions
        (('flavanoids', 'proline', 'od280/od315_of_diluted_wines'), [True, True, False], ('2', '0', '2'))
        """
        table, mask, labels = selector.table(top, input_features), selector.get_support(), class_labels(selector)
        return cls(
            names=tuple(map(str, table["feature"].tolist())),
            scores=np.asarray(table["score"], dtype=np.float64),
            is_selected=mask[table["column"]],
            directions=tuple(class_of_direction(phrase, labels) for phrase in table.get("direction", ())),
            q_values=table.get("q_value"),
            labels=labels,
            method=selector._description()[0],
            n_features=selector.n_features_in_,
            n_selected=int(np.count_nonzero(mask)),
        )

    @property
    def n_first_selected(self) -> int | None:
        """Number of selected features if they are the first ones of the ranking, else None."""
        n_shown = int(np.count_nonzero(self.is_selected))
        return n_shown if self.is_selected[:n_shown].all() else None


@dataclass(frozen=True)
class ScoreCurve:
    """Numbers of the curve of all features.

    Parameters
    ----------
    values : ndarray of shape (n_shown,)
        Values by rank, best first: of all features, or of the candidates if features were picked one at a time.
    selected : ndarray of int
        Ranks of the selected features, from 1 on.
    title : str
        What the values are.
    n_features : int
        Number of all features.
    null : NullCurve or None
        The same values under permuted labels, if known: ranks and quantiles.
    """

    values: Floats
    selected: Integers
    title: str
    n_features: int
    null: NullCurve | None = None

    @classmethod
    def from_selector(cls, selector: RankingSelector) -> Self:
        """Take the scores of a fitted selector; if labels were permuted, the statistic that was tested.

        Parameters
        ----------
        selector : RankingSelector
            A fitted selector.

        Returns
        -------
        ScoreCurve
            The numbers.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from ilfs import FisherScore
        >>> from ilfs.report.plots.scores import ScoreCurve
        >>> curve = ScoreCurve.from_selector(FisherScore(2).fit(*load_wine(return_X_y=True)))
        >>> curve.values.round(2).tolist()[:3], curve.selected.tolist(), curve.title
        ([2.67, 2.38, 2.17], [1, 2], 'score')
        """
        mask, null = selector.get_support(), attribute(selector, "null_curve_")
        tested = None if null is None else tested_statistic(selector, null)
        if tested is None:
            # Scores of features that are no candidates have another scale: the curve would have a step.
            candidates = attribute(selector, "candidates_")
            order = selector.order_[: None if candidates is None else candidates.size]
            title, values, null = "score", selector.scores_, None
        else:
            title, values = tested
            order = np.argsort(-values, kind="stable")
        selected = 1 + np.flatnonzero(mask[order])
        return cls(values[order].astype(np.float64), selected, title, selector.n_features_in_, null)

    @property
    def n_first_selected(self) -> int | None:
        """Number of selected features if they are the first ones of the curve, else None."""
        n_selected = self.selected.size
        return n_selected if n_selected and self.selected[-1] == n_selected else None


def tested_statistic(selector: RankingSelector, null: NullCurve) -> tuple[str, Floats] | None:
    """Return title and values of the attribute that was compared with its values under permuted labels."""
    if not null.observed.size:
        return None
    for title, name in (("relevance", "relevance_"), ("score", "scores_")):
        values = attribute(selector, name)
        if values is not None and np.isclose(np.nanmax(values), null.observed[0], rtol=1e-9):
            return title, values
    return None


def draw_scores(ax: "Axes", best: BestFeatures, curve: ScoreCurve | None = None, title: str | None = None) -> None:
    """Draw bars of the best features, and the curve of all features in the free corner.

    Parameters
    ----------
    ax : Axes
        The axes.
    best : BestFeatures
        Numbers of the bars.
    curve : ScoreCurve, optional
        Numbers of the curve; without it, only the bars are drawn.
    title : str, optional
        Title; by default method and number of features.
    """
    draws_curve = curve is not None and len(best.names) >= MIN_BARS_BESIDE_CURVE
    colours = direction_colours(best.labels, best.directions)
    lengths = finite_lengths(best.scores)
    draw_bars(ax, best, lengths, [colours.get(one, ONE_COLOUR) for one in padded(best.directions, len(best.names))])
    set_names(ax, best.names)
    quiet(ax, grid="x", left=False)
    ax.set_xlabel("score", fontsize=SMALL_POINTS)
    ax.set_xlim(*score_limits(lengths, CORNER_TOP if draws_curve else 0.3, best.q_values is not None))
    draw_q_values(ax, best, lengths)
    draw_cut_below(ax, best, lengths)
    place = (1.0, CURVE_TOP + 0.03) if draws_curve else (1.0, 0.02)
    legend = "higher in " if len(best.labels) == 2 else "differs in "
    colour_legend(ax, colours, legend, loc="lower right", bbox_to_anchor=place, borderaxespad=0)
    set_title(ax, title or f"{best.method}: best {len(best.names)} of {counted(best.n_features, 'feature')}")
    if draws_curve and curve is not None:
        bottom = max(0.09, BELOW_CURVE_POINTS / points_of(ax, ax.bbox.height))
        corner = ax.inset_axes((CORNER_LEFT + 0.03, bottom, 0.97 - CORNER_LEFT, CURVE_TOP - 0.05 - bottom))
        draw_curve(corner, curve, small=True)


def padded(directions: tuple[str, ...], n: int) -> tuple[str, ...]:
    """Return the directions, or empty ones if there are none."""
    return directions or ("",) * n


def finite_lengths(scores: Floats) -> Floats:
    """Return lengths of bars: infinite scores are a little longer than the largest finite one, NaN becomes 0."""
    largest = float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0)) or 1.0
    return np.nan_to_num(scores, nan=0.0, posinf=INFINITE_BAR * largest, neginf=-INFINITE_BAR * largest)


def draw_bars(ax: "Axes", best: BestFeatures, lengths: Floats, colours: Sequence[str]) -> None:
    """Draw bars from 0; dots if scores are negative, since a longer bar would then be a worse one."""
    rows = np.arange(lengths.size)
    shades = [colour if on else paler(ax, colour) for colour, on in zip(colours, best.is_selected, strict=True)]
    if lengths.min(initial=0.0) < 0:
        ax.hlines(rows, lengths.min() - span_of(lengths), lengths, colors=FAINT, linewidth=1, zorder=1)
        ax.scatter(lengths, rows, c=shades, s=42, zorder=3, linewidth=0)
    else:
        ax.barh(rows, lengths, height=0.7, color=shades)


def span_of(values: Floats) -> float:
    """Return the distance from the smallest to the largest value, 1 if they are equal."""
    return float(np.ptp(values)) or 1.0


def score_limits(lengths: Floats, corner_top: float, has_q: bool) -> tuple[float, float]:
    """Return limits of the scores such that no bar enters the corner at the bottom right.

    Parameters
    ----------
    lengths : ndarray of shape (n_shown,)
        Ends of the bars, best first.
    corner_top : float
        Height of the corner, as a fraction of the axes.
    has_q : bool
        Bars are followed by their q-values.

    Returns
    -------
    low, high : float
        Limits.

    Examples
    --------
    Ten equal bars get 59 % of the width:

    >>> import numpy as np
    >>> from ilfs.report.plots.scores import score_limits
    >>> low, high = score_limits(np.ones(10), 0.7, has_q=False)
    >>> round((1 - low) / (high - low), 2)
    0.59
    """
    low = 0.0 if lengths.min() >= 0 else float(lengths.min()) - 0.08 * span_of(lengths)
    behind = Q_WIDTH if has_q else 0.01
    in_corner = lengths[int((1 - corner_top) * lengths.size) :]
    widths = [(float(lengths.max()) - low) / (0.98 - behind)]
    if in_corner.size:
        widths.append((float(in_corner.max()) - low) / (CORNER_LEFT - behind))
    return low, low + (max(widths) or 1.0)


def draw_q_values(ax: "Axes", best: BestFeatures, lengths: Floats) -> None:
    """Write the q-values behind the bars, and a sign behind the bar of an infinite score."""
    low, high = ax.get_xlim()
    q_values = np.full(lengths.size, np.nan) if best.q_values is None else best.q_values
    for row, (length, q_value, score) in enumerate(zip(lengths, q_values, best.scores, strict=True)):
        words = ["∞"] * bool(np.isposinf(score)) + [f"q {q_value:.2g}"] * bool(np.isfinite(q_value))
        if words:
            note(ax, max(length, low) + 0.012 * (high - low), row, "  ".join(words))


def draw_cut_below(ax: "Axes", best: BestFeatures, lengths: Floats) -> None:
    """Draw a line below the last selected feature, if the features after it are shown."""
    n_selected = best.n_first_selected
    if not n_selected or n_selected == len(best.names):
        return
    ax.axhline(n_selected - 0.5, color=RULE, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
    low, high = ax.get_xlim()
    behind = 0.02 if best.q_values is None else Q_WIDTH + 0.04  # the note begins behind the bars and their q-values
    end = float(lengths[n_selected - 1 : n_selected + 1].max()) + behind * (high - low)
    note(ax, end, n_selected - 0.56, f"{n_selected} selected", va="bottom")


def draw_curve(ax: "Axes", curve: ScoreCurve, *, small: bool = False) -> None:
    """Draw the values of all features by rank, the selected ones, and the values under permuted labels.

    Parameters
    ----------
    ax : Axes
        The axes.
    curve : ScoreCurve
        Numbers of the curve.
    small : bool, default=False
        The axes are a small part of another picture.
    """
    values = np.where(np.isfinite(curve.values), curve.values, np.nan)
    ranks, size = np.arange(1, values.size + 1), TINY_POINTS - 0.5 if small else SMALL_POINTS
    draw_null(ax, curve.null, size)
    marks_all = values.size <= MAX_MARKERS and not small
    style: dict[str, Any] = {"marker": "o", "markersize": 3} if marks_all else {}
    ax.plot(ranks, values, color=ONE_COLOUR, linewidth=1.4 if small else 1.8, zorder=3, **style)
    if curve.n_first_selected is not None:
        ax.axvline(curve.n_first_selected, color=RULE, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    elif curve.selected.size:
        area = 11 if small else 18
        ax.scatter(curve.selected, values[curve.selected - 1], s=area, color="#d55e00", zorder=4, linewidth=0)
    quiet(ax, grid="y")
    set_rank_axis(ax, values.size)
    ax.tick_params(labelsize=size)
    ax.set_xlabel(rank_title(curve), fontsize=size)
    ax.set_ylabel("" if small else curve.title, fontsize=size)
    if small:
        ax.set_title(curve_title(curve), fontsize=size, loc="left", pad=3)
        ax.locator_params(axis="y", nbins=3)
    else:
        set_title(ax, curve_title(curve))


def curve_title(curve: ScoreCurve) -> str:
    """Return the title of a curve, which says how many features it shows."""
    which = "all" if curve.values.size == curve.n_features else "the best"
    return f"{curve.title.capitalize()} of {which} {counted(curve.values.size, 'feature')}"


def rank_title(curve: ScoreCurve) -> str:
    """Return the title of the axis of ranks, which explains the selected features."""
    if not curve.selected.size:
        return "rank"
    if curve.n_first_selected is not None:
        return f"rank (dashed: {curve.selected.size:,} selected)"
    return f"rank by {curve.title} (orange: {curve.selected.size:,} selected)"


def set_rank_axis(ax: "Axes", n_features: int) -> None:
    """Let ranks grow on a logarithmic scale, with plain numbers."""
    from matplotlib.ticker import LogLocator

    ax.set_xscale("log")
    ax.set_xlim(0.93, max(n_features, 2) * 1.05)
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if n_features <= 300 else (1,)))
    ax.xaxis.set_major_formatter(lambda rank, _: f"{rank:,.0f}")
    ax.xaxis.set_minor_formatter(lambda *_: "")


def draw_null(ax: "Axes", null: NullCurve | None, size: float) -> None:
    """Draw the values under permuted labels: a band for 90 % of the permutations, and their median."""
    if null is None:
        return
    ax.fill_between(null.ranks, null.low, null.high, color=FAINT, alpha=0.55, linewidth=0, label="permuted labels")
    ax.plot(null.ranks, null.median, color=SOFT, linewidth=0.9)
    ax.legend(frameon=False, fontsize=size, loc="best", borderaxespad=0.1, handlelength=1.2)
