"""A file with an overview of a fitted selector: best features, score curve, differences and certainty, values."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from ilfs.choices import PICTURE_ENDINGS
from ilfs.files import write_atomically
from ilfs.importing import check_installed
from ilfs.report.certainty import certainty_sentences
from ilfs.report.plots.canvas import PLAIN, SOFT, shown_name
from ilfs.report.plots.heatmap import HeatMap, draw_heatmap
from ilfs.report.plots.scores import BestFeatures, ScoreCurve, draw_curve, draw_scores
from ilfs.report.plots.volcano import Volcano, draw_volcano
from ilfs.selector import RankingSelector
from ilfs.summaries import Summary
from ilfs.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

DOTS_PER_INCH = 160
N_BARS, N_NAMED_POINTS, N_HEATMAP_FEATURES = 20, 8, 40
WIDTH_INCHES, HEIGHT_INCHES = 12.0, 6.8  # inches, without the heat map
MARGIN = 0.1  # inches
# No date in the file, so that equal pictures are equal files.
METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def check_plot_path(path: str | os.PathLike[str]) -> Path:
    """Check the path of a picture, and that matplotlib is installed, before any work is done.

    Parameters
    ----------
    path : path-like
        The file to write; it ends in ``.png``, ``.svg`` or ``.pdf``, and its folder exists.

    Returns
    -------
    Path
        The path.

    Examples
    --------
    >>> from ilfs.report.plots import check_plot_path
    >>> check_plot_path("best.jpg")
    Traceback (most recent call last):
    ...
    ValueError: the file of a picture must end in .png, .svg or .pdf, got 'best.jpg'
    """
    path = Path(path)
    if path.suffix.lower() not in PICTURE_ENDINGS:
        raise ValueError(f"the file of a picture must end in .png, .svg or .pdf, got {str(path)!r}")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"the folder of {str(path)!r} does not exist: make it first")
    check_installed("matplotlib", "report", "a picture")
    return path


def write_plot(
    selector: RankingSelector,
    path: str | os.PathLike[str],
    X: Any = None,
    y: Any = None,
    *,
    input_features: Sequence[str] | None = None,
    title: str | None = None,
) -> Path:
    """Write a picture of a fitted selector, so that the file appears complete or not at all.

    It shows the best features as bars and the scores of all features; the differences between classes against
    q-values, if there are any; and the values of the selected features, if X is given. No window is needed or opened,
    and the settings of matplotlib stay as they are.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    path : path-like
        The file; it ends in ``.png``, ``.svg`` or ``.pdf``, and its folder must exist.
    X : array, data frame, sparse matrix or any other table that ``fit`` takes, optional
        The columns that ``fit`` has ranked, for a heat map.
    y : array of shape (n_samples,), or name of a column, optional
        Classes of the rows of X.
    input_features : sequence of str, optional
        Names of the columns, if ``fit`` did not see them.
    title : str, optional
        Title of the picture; by default method, and number of features.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import ILFS
    >>> from ilfs.report.plots import write_plot
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> path = write_plot(ILFS(3).fit(X, y), tempfile.mkdtemp() + "/wine.png")
    >>> path.read_bytes()[1:4]
    b'PNG'
    """
    path = check_plot_path(path)
    check_is_fitted(selector)
    figure = overview(selector, X, y, input_features=input_features, title=title)
    ending = path.suffix.lower()
    with write_atomically(path) as file:
        figure.savefig(file, format=ending[1:], dpi=DOTS_PER_INCH, metadata=METADATA[ending])
    return path


def overview(
    selector: RankingSelector,
    X: Any = None,
    y: Any = None,
    *,
    input_features: Sequence[str] | None = None,
    title: str | None = None,
) -> "Figure":
    """Draw the overview of a fitted selector into a figure that belongs to no window; see `write_plot`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    has_volcano, has_values = can_draw_volcano(selector), can_draw_values(selector, X)
    best = BestFeatures.from_selector(selector, N_BARS, input_features)
    values = HeatMap.from_selector(selector, X, y, N_HEATMAP_FEATURES, input_features) if has_values else None
    extra = 0.0 if values is None else 1.6 + 0.19 * max(len(values.names), 8)
    margins = ConstrainedLayoutEngine(w_pad=MARGIN, h_pad=MARGIN)
    figure = Figure(figsize=(WIDTH_INCHES, HEIGHT_INCHES + extra), layout=margins)
    FigureCanvasAgg(figure)
    n_rows = 1 if values is None else 2
    rows = figure.subfigures(n_rows, 1, squeeze=False, height_ratios=[HEIGHT_INCHES, extra][:n_rows])[:, 0]
    left, right = rows[0].subfigures(1, 2, width_ratios=[1.15, 1])
    draw_scores(left.subplots(), best, title=f"Best {counted(len(best.names), 'feature')}")
    panels = right.subplots(2 if has_volcano else 1, 1, squeeze=False, height_ratios=[0.8, 1.2][: 1 + has_volcano])
    draw_curve(panels[0, 0], ScoreCurve.from_selector(selector))
    if values is not None:
        draw_heatmap(rows[1].subplots(), values)
    write_titles(figure, rows[0], selector, best, title)
    if has_volcano:  # last: names of points need the final layout
        draw_volcano(panels[1, 0], Volcano.from_selector(selector, input_features), N_NAMED_POINTS)
    return figure


def can_draw_volcano(selector: RankingSelector) -> bool:
    """Return True if a selector has q-values and one class for each sample."""
    return {"q_value", "effect"} <= set(selector.table(1))


def can_draw_values(selector: RankingSelector, X: Any) -> bool:
    """Return True if there are rows, and features to show of them: a rule may select none."""
    return X is not None and not isinstance(X, Summary) and bool(selector.get_support().any())


def write_titles(
    figure: "Figure", first_row: "SubFigure", selector: RankingSelector, best: BestFeatures, title: str | None
) -> None:
    """Write the title, and below it how sure the result is."""
    default = f"{best.method}: {best.n_selected:,} of {counted(best.n_features, 'feature')} selected"
    heading = default if title is None else shown_name(title, 100)
    sentences = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in certainty_sentences(selector)]
    figure.suptitle(heading, x=0.01, ha="left", fontsize=13, fontweight="bold", **PLAIN)
    if sentences:
        first_row.suptitle("\n".join(sentences), x=0.01, ha="left", fontsize=9, color=SOFT, **PLAIN)
