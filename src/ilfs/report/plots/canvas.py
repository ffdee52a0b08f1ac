"""What all pictures share: axes, colours, names of features as plain text, legends."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ilfs.importing import check_installed
from ilfs.ranking_table import split_direction
from ilfs.report.markup import printable, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# Okabe and Ito's colours for all kinds of colour vision, the light ones darkened for white paper; as in reports.
CLASS_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#b3589a", "#c88a00", "#3fa2d9", "#6a6f7a", "#8c3a10", "#5b52b5", "#7f8f1f",
)  # fmt: skip
ONE_COLOUR = CLASS_COLOURS[0]  # of features without a direction
SEVERAL_CLASSES = "several classes"  # in place of a class, if a direction names more than one
SOFT = "#7d8188"  # grey of notes, which can be read on white and on black
FAINT = "#b9bec7"  # grey of features that are not selected, and of the null
RULE = "#8b9099"  # grey of thresholds
GRID = {"color": "#8b9099", "alpha": 0.22, "linewidth": 0.7}
PALENESS = 0.68  # fraction of the background in the colour of features that are not selected
MAX_LABEL_LETTERS = 36
SMALL_POINTS, TINY_POINTS = 8.5, 7.5  # points
# Names may contain anything. They are neither formulas nor TeX, whatever the settings of matplotlib.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}


def get_axes(ax: "Axes | None", width: float, height: float) -> "Axes":
    """Return the given axes, or those of a new figure.

    Parameters
    ----------
    ax : matplotlib Axes or None
        Axes to draw into.
    width, height : float
        Size of a new figure in inches.

    Returns
    -------
    Axes
        Those given, or new ones.
    """
    check_installed("matplotlib", "report", "selector.plot")
    from matplotlib.axes import Axes

    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be the Axes of a matplotlib figure or None, got {type(ax).__name__}")
    return ax


def shown_name(name: Any, max_letters: int = MAX_LABEL_LETTERS) -> str:
    r"""Format a name in one line, shortened, without characters that the fonts do not have.

    Examples
    --------
    >>> from ilfs.report.plots.canvas import shown_name
    >>> shown_name("two\nlines"), shown_name("ENSG00000139618_BRCA2", 12)
    ('two lines', 'ENSG00…BRCA2')
    """
    text = " ".join(printable(name).split())
    return with_known_glyphs(shortened(text, max_letters))


def with_known_glyphs(text: str) -> str:
    """Replace characters that no font of the settings has: matplotlib would warn of each of them."""
    if text.isascii():
        return text
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont, get_font

    fonts = [get_font(findfont(FontProperties(family=[family]))) for family in rcParams["font.family"]]
    return "".join(
        mark if any(font.get_char_index(ord(mark)) for font in fonts) else "\N{WHITE SQUARE}" for mark in text
    )


def class_colours(labels: Sequence[str]) -> dict[str, str]:
    """Return a colour for each class; the first ones have colours of their own."""
    return {label: CLASS_COLOURS[k % len(CLASS_COLOURS)] for k, label in enumerate(labels)}


def class_of_direction(phrase: str, labels: Sequence[str]) -> str:
    """Return the class that a direction names.

    Parameters
    ----------
    phrase : str
        Such as "higher in tumour"; empty for none.
    labels : sequence of str
        All classes.

    Returns
    -------
    str
        The class; `SEVERAL_CLASSES` if more than one is named, and empty if none is.

    Examples
    --------
    >>> from ilfs.report.plots.canvas import class_of_direction
    >>> class_of_direction("lower in b", "abc"), class_of_direction("lower in a and b", "abc")
    ('b', 'several classes')
    """
    classes = split_direction(phrase, labels)[1]
    return classes[0] if len(classes) == 1 else SEVERAL_CLASSES if phrase else ""


def direction_colours(labels: Sequence[str], directions: Iterable[str]) -> dict[str, str]:
    """Return the colours of the directions that occur, in the order of the classes; none if these are too many.

    Parameters
    ----------
    labels : sequence of str
        All classes.
    directions : iterable of str
        Class that the direction of each feature names, as `class_of_direction` returns it.

    Returns
    -------
    dict of str to str
        Labels and colours.
    """
    if len(labels) > len(CLASS_COLOURS):
        return {}
    found = set(directions)
    return {
        label: colour for label, colour in (class_colours(labels) | {SEVERAL_CLASSES: SOFT}).items() if label in found
    }


def paler(ax: "Axes", colour: str) -> Any:
    """Mix a colour with that of the background; unlike a transparent one, it hides the grid."""
    from matplotlib.colors import to_rgb

    return tuple((1 - PALENESS) * np.array(to_rgb(colour)) + PALENESS * np.array(to_rgb(ax.get_facecolor())))


def quiet(ax: "Axes", *, grid: str = "both", left: bool = True) -> None:
    """Remove the frame except the axes, and draw a faint grid.

    Parameters
    ----------
    ax : Axes
        The axes.
    grid : {"x", "y", "both"}
        Direction of the grid.
    left : bool, default=True
        Keep the left axis; False for rows with names.
    """
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines["left"].set_visible(left)
    ax.spines[["left", "bottom"]].set_color(RULE)
    ax.tick_params(color=RULE, labelsize=SMALL_POINTS)
    ax.grid(True, axis=grid, **GRID)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def set_title(ax: "Axes", title: str, pad: float = 8.0) -> None:
    """Write a title above the left end of the axes."""
    ax.set_title(title, loc="left", fontsize=10.5, pad=pad, **PLAIN)


def whole_figure(ax: "Axes") -> "Figure":
    """Return the figure of axes, which may be in a part of it."""
    return ax.figure.canvas.figure


def points_of(ax: "Axes", pixels: float) -> float:
    """Convert pixels of a figure to points."""
    return pixels / whole_figure(ax).dpi * 72


def set_names(ax: "Axes", names: Sequence[str], max_letters: int = MAX_LABEL_LETTERS) -> None:
    """Write the names of features at the left, the first one at the top."""
    ax.set_yticks(range(len(names)), [shown_name(name, max_letters) for name in names], **PLAIN)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(names) - 0.4, -0.6)


def note(ax: "Axes", x: float, y: float, text: str, **options: Any) -> "Text":
    """Write a small grey text."""
    style: dict[str, Any] = {"color": SOFT, "fontsize": TINY_POINTS, "va": "center"} | PLAIN | options
    return ax.text(x, y, text, **style)


def colour_legend(ax: "Axes", colours: Mapping[str, str], prefix: str, **place: Any) -> None:
    """Explain the colours of classes, if there are any."""
    if not colours:
        return
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=f"{prefix}{shown_name(label, 24)}") for label, colour in colours.items()]
    legend = ax.legend(
        handles=handles, frameon=False, fontsize=SMALL_POINTS, handlelength=1.0, handleheight=1.0, **place
    )
    for text in legend.get_texts():
        text.set(**PLAIN)
