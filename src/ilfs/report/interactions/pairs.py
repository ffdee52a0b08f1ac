"""The strongest pairs as small pictures: each sample is a point, at the ranks of its two values."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.report.charts.drawing import N_COLOURS, svg, text_at
from ilfs.report.class_values import ReadRows, sampled_points
from ilfs.report.interactions.summary import FoundSet, InteractionSummary, PairValues
from ilfs.report.markup import escape, shortened

N_PAIRS = 6  # pictures
PICTURE_PX, LEFT_PX, BOTTOM_PX, TOP_PX = 220.0, 4.0, 22.0, 20.0
CUTS = ((0.5,), (0.25, 0.75))  # ranks at which a level bit and a size bit change
MAX_AXIS_LETTERS = 26


def pictured_pairs(summary: InteractionSummary) -> list[FoundSet]:
    """Return the strongest pairs, each two features once."""
    found: dict[tuple[int, ...], FoundSet] = {}
    for one in summary.sets:
        if len(one.columns) == 2:
            found.setdefault(one.columns, one)
        if len(found) == N_PAIRS:
            break
    return list(found.values())


def pictured_columns(summary: InteractionSummary) -> Integers:
    """Return the columns of the strongest pairs, ascending."""
    return np.array(sorted({column for one in pictured_pairs(summary) for column in one.columns}), dtype=np.int64)


def with_values(summary: InteractionSummary, rows: ReadRows) -> InteractionSummary:
    """Add the values of the strongest pairs.

    Parameters
    ----------
    summary : InteractionSummary
        The result of a search.
    rows : ReadRows
        Values of the columns that `pictured_columns` returns.

    Returns
    -------
    InteractionSummary
        With the ranks of a sample of the rows.
    """
    if not rows.values.shape[1]:
        return summary
    kept = sampled_points(rows.codes, len(rows.labels), np.random.default_rng(0))
    ranks = np.column_stack([mean_ranks(values) for values in rows.values.T])
    found = PairValues(pictured_columns(summary), ranks[kept], rows.codes[kept], rows.labels)
    return replace(summary, values=found)


def mean_ranks(values: Floats) -> Floats:
    """Return ranks from 0 to 1; equal values share the mean of their ranks, and missing values are NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.report.interactions.pairs import mean_ranks
    >>> mean_ranks(np.array([3.0, 1.0, 3.0, np.nan, 9.0]))
    array([0.5  , 0.125, 0.5  ,   nan, 0.875])
    """
    from scipy.stats import rankdata

    ranks = np.full(values.size, np.nan)
    there = ~np.isnan(values)
    ranks[there] = (rankdata(values[there]) - 0.5) / max(np.count_nonzero(there), 1)
    return ranks


def pairs_html(summary: InteractionSummary) -> str:
    """Draw the strongest pairs, with a caption; empty without values."""
    if summary.values is None or not pictured_pairs(summary):
        return ""
    drawn = "\n".join(f"<figure>{pair_chart(one, summary.values)}</figure>" for one in pictured_pairs(summary))
    classes = "".join(
        f'<span class="key s{k % N_COLOURS}">{escape(shortened(label, 24))}</span>'
        for k, label in enumerate(summary.values.labels[:N_COLOURS])
    )
    return (
        f'<div class="pairs">\n<p class="keys">{classes}</p>\n<div class="pair-figures">\n{drawn}\n</div>\n'
        '<p class="soft">The strongest pairs. A point is a sample; the axes go from its lowest to its highest value, '
        "by rank. The dashed lines are the medians or quartiles.</p>\n</div>"
    )


def pair_chart(one: FoundSet, values: PairValues) -> str:
    """Draw the samples at the ranks of two features, coloured by class.

    Parameters
    ----------
    one : FoundSet
        A pair.
    values : PairValues
        Ranks of its features.

    Returns
    -------
    str
        An SVG element.
    """
    x, y = (values.ranks[:, int(np.searchsorted(values.columns, column))] for column in one.columns)
    left, right, top, bottom = LEFT_PX, PICTURE_PX - LEFT_PX, TOP_PX, PICTURE_PX - BOTTOM_PX
    across, up = left + x * (right - left), bottom - y * (bottom - top)
    known = ~(np.isnan(x) | np.isnan(y))
    cuts = cut_lines(one.bits, (left, right, top, bottom))
    parts = [
        f'<path class="axis" d="M{left} {top}H{right}V{bottom}H{left}z"/>',
        *(dots(across, up, known & (values.codes == code), code) for code in range(len(values.labels))),
        f'<path class="mark" d="{cuts}"/>',
        text_at(left, top - 7, f"↑ {one.names[1]}", "start", "tick", MAX_AXIS_LETTERS),
        text_at(right, bottom + 15, f"{one.names[0]} →", "end", "tick", MAX_AXIS_LETTERS),
    ]
    return svg(f"{one.names[0]} and {one.names[1]}", one.words, parts, (PICTURE_PX, PICTURE_PX))


def dots(across: Floats, up: Floats, chosen: Floats, code: int) -> str:
    """Draw the samples of a class."""
    path = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(across[chosen], up[chosen], strict=True))
    return f'<path class="dots s{code % N_COLOURS}" d="{path}"/>'


def cut_lines(bits: Sequence[int], frame: tuple[float, float, float, float]) -> str:
    """Draw lines where the bits of the two features change."""
    left, right, top, bottom = frame
    vertical = "".join(f"M{left + cut * (right - left):.1f} {top}V{bottom}" for cut in CUTS[bits[0]])
    horizontal = "".join(f"M{left} {bottom - cut * (bottom - top):.1f}H{right}" for cut in CUTS[bits[1]])
    return vertical + horizontal
