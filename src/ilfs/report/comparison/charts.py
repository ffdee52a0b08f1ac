"""Charts of a comparison: performance, agreement, stability and time."""

import numpy as np

from ilfs.arrays import Floats
from ilfs.report.charts import Band, Series, bar_chart, heat_map, line_chart, scatter
from ilfs.report.charts.drawing import N_COLOURS
from ilfs.report.comparison.sentences import metric_title
from ilfs.selection import Comparison
from ilfs.words import counted, seconds_text

MANY_METHODS = 6  # with more, matrices are drawn wider
RANDOM_COLOUR = 6  # grey
DODGE = 1.025  # factor between neighbouring lines along the axis, so that their error bars do not hide each other
LINE_FRACTION = 0.012  # thickness of the line of all features, of the range of the means
WIDE_PX = 620.0
CURVE_PX, SCATTER_PX = (520.0, 350.0), (460.0, 320.0)


def colour_of(place: int) -> int:
    """Return the index of the colour of a method, which is never that of the baseline."""
    others = [colour for colour in range(N_COLOURS) if colour != RANDOM_COLOUR]
    return others[place % len(others)]


def colours(comparison: Comparison) -> list[int]:
    """Return the colours of the methods and of the baseline."""
    return [*(colour_of(place) for place in range(len(comparison.methods))), RANDOM_COLOUR]


def performance_chart(comparison: Comparison, place: int) -> str:
    """Draw the metric of a classifier against the number of features, with error bars."""
    mean, error = comparison.mean[:, place], comparison.error[:, place]
    middle = (len(comparison.names) - 1) / 2
    series = [
        Series(
            name,
            comparison.sizes * DODGE ** (i - middle),
            mean[i],
            mean[i] - error[i],
            mean[i] + error[i],
            [
                f"{name}, {counted(size, 'feature')}: {value:.3f}"
                for size, value in zip(comparison.sizes, mean[i], strict=True)
            ],
            colour,
        )
        for i, (name, colour) in enumerate(zip(comparison.names, colours(comparison), strict=True))
    ]
    return line_chart(
        series,
        title=f"{metric_title(comparison)} of {comparison.classifiers[place]} against number of features",
        description="One line for each method, and one for random features, with standard errors.",
        x_title="number of features",
        y_title=metric_title(comparison),
        bands=all_features_band(comparison, place),
        log_x=True,
        size=CURVE_PX,
    )


def all_features_band(comparison: Comparison, place: int) -> list[Band]:
    """Return the mean with all features as a flat line; none if they were not evaluated."""
    values = comparison.all_features[place]
    if np.isnan(values).any() or comparison.sizes.size < 2:
        return []
    mean, half = float(values.mean()), LINE_FRACTION * float(np.ptp(comparison.mean[:, place])) / 2
    ends = comparison.sizes[[0, -1]].astype(float)
    return [Band(f"all {counted(comparison.n_features, 'feature')}", ends, [mean - half] * 2, [mean + half] * 2)]


def correlation_chart(comparison: Comparison) -> str:
    """Draw the rank correlations of all pairs of methods."""
    about = "Spearman's rank correlation of the rankings of all features, for all pairs of methods."
    return matrix_chart(comparison, comparison.spearman, "Rank correlation", about, low=-1.0)


def overlap_chart(comparison: Comparison) -> str:
    """Draw the overlap of the best features of all pairs of methods."""
    about = f"Fraction of the {comparison.k} best features that two methods have in common."
    return matrix_chart(comparison, comparison.overlap, "Overlap", about, low=0.0)


def matrix_chart(comparison: Comparison, values: Floats, title: str, about: str, low: float) -> str:
    """Draw a matrix of all pairs of methods, with values from ``low`` to 1."""
    names = list(comparison.methods)
    return heat_map(
        without_diagonal(values),
        names,
        names,
        title=title,
        description=about,
        low=low,
        high=1.0,
        diverging=low < 0,
        decimals=2,
        width=WIDE_PX if len(names) > MANY_METHODS else SCATTER_PX[0],
    )


def without_diagonal(matrix: Floats) -> Floats:
    """Return a copy of a matrix in which nothing is shown for a method and itself."""
    values = matrix.copy()
    np.fill_diagonal(values, np.nan)
    return values


def stability_values(comparison: Comparison) -> list[float]:
    """Return Nogueira's index of each method, NaN where it was not measured."""
    return [float("nan") if one is None else one.features.value for one in comparison.stability]


def stability_chart(comparison: Comparison, place: int) -> str:
    """Draw performance against stability, a point for each method."""
    mean, error = comparison.mean_over_sizes[:-1, place], comparison.error_over_sizes[:-1, place]
    stable = stability_values(comparison)
    series = [
        Series("", [stable[i]], [mean[i]], [mean[i] - error[i]], [mean[i] + error[i]], [name], colour_of(i))
        for i, name in enumerate(comparison.methods)
    ]
    return scatter(
        series,
        title=f"{metric_title(comparison)} of {comparison.classifiers[place]} against stability",
        description="One point for each method; the best methods are at the top right.",
        x_title=f"stability of the {comparison.k} best features",
        y_title=f"mean {comparison.metric} over all sizes",
        labelled=True,
        size=SCATTER_PX,
    )


def index_chart(comparison: Comparison) -> str:
    """Draw the stability of features and of families as bars with 95 % intervals."""
    labels, values, low, high, of_bars = [], [], [], [], []
    for i, (name, one) in enumerate(zip(comparison.methods, comparison.stability, strict=True)):
        if one is None:
            continue
        for what, index in (("", one.features), (", families", one.families)):
            labels.append(name + what)
            values.append(index.value)
            low.append(index.interval()[0])
            high.append(index.interval()[1])
            of_bars.append(colour_of(i))
    return bar_chart(
        labels,
        values,
        title="Stability",
        description=f"Nogueira's index of the {comparison.k} best features, and of families of correlated features.",
        x_title="stability (1: always the same features, 0: as at random)",
        low=low,
        high=high,
        colours=of_bars,
        texts=[f"{value:z.2f}" for value in values],
    )


def time_chart(comparison: Comparison) -> str:
    """Draw the time of a fit on all rows, on a logarithmic axis."""
    return bar_chart(
        list(comparison.methods),
        comparison.seconds,
        title="Time of a fit",
        description="Seconds that a fit on all rows takes.",
        x_title="seconds for a fit on all rows",
        colours=colours(comparison)[:-1],
        texts=[f"{seconds_text(float(one))} s" for one in comparison.seconds],
        log_x=True,
    )
