"""Charts of the benchmark page: one colour for each method in all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ilfs.benchmark.methods.method import RANDOM
from ilfs.benchmark.significance.values import nan_mean
from ilfs.report.benchmark.points import Curve, DatasetCurves, StabilityPoint, TimePoint
from ilfs.report.benchmark.summary import ClassifierSummary, ExperimentSummary
from ilfs.report.charts import Series, bar_chart, line_chart, scatter
from ilfs.report.markup import escape, shortened

METHOD_COLOURS = (0, 1, 2, 3, 4, 5, 8, 9, 7)  # of the best methods, the reference first
GREY = 6  # of all others
MAX_ALL_SHOWN = 8  # with more methods, only the best ones are emphasised at first
N_EMPHASISED = 5
MAX_METHOD_LETTERS = 28
LOG_RATIO = 30  # an axis is logarithmic if its largest value is so many times the smallest
CHART_SIZE = (460, 290)
LARGE_CHART = (560, 380)


@dataclass(frozen=True)
class MethodStyle:
    """How a method looks in all charts: its colour, the CSS class of its marks, and whether it is emphasised."""

    colour: int
    mark: str
    is_shown: bool

    @property
    def kind(self) -> str:
        """CSS classes of its marks."""
        return f"m {self.mark}" if self.is_shown else f"m {self.mark} faded"


def method_styles(experiment: ExperimentSummary, number: int) -> dict[str, MethodStyle]:
    """Give each method a colour, the best ones those that are easiest to tell apart.

    Parameters
    ----------
    experiment : ExperimentSummary
        The results.
    number : int
        Number of the experiment on the page.

    Returns
    -------
    dict
        Styles by the name of the method: the reference first, then the others by their performance.
    """
    first = by_performance(experiment)
    colours = {name: METHOD_COLOURS[k] if k < len(METHOD_COLOURS) else GREY for k, name in enumerate(first)} | {
        RANDOM: GREY
    }
    is_few = len(first) <= MAX_ALL_SHOWN
    shown = set(first if is_few else [*first[: 1 + N_EMPHASISED], RANDOM])
    return {name: MethodStyle(colours[name], f"e{number}m{k}", name in shown) for k, name in enumerate(first)}


def by_performance(experiment: ExperimentSummary) -> list[str]:
    """Order the methods: the reference, then the others by their mean performance."""
    curves = experiment.classifiers[0].curves
    means = {
        name: [value for one in curves for curve in one.curves if curve.method == name for value in curve.means]
        for name in experiment.methods
    }
    overall = {name: float(nan_mean(np.array(values or [np.nan], dtype=float))) for name, values in means.items()}
    return sorted(
        experiment.methods,
        key=lambda name: (name != experiment.reference, name == RANDOM, -np.nan_to_num(overall[name], nan=-1.0)),
    )


def chips_html(styles: dict[str, MethodStyle]) -> str:
    """Format the legend of all charts: buttons that emphasise methods."""
    buttons = "".join(
        f'<button type="button" class="chip s{one.colour}" data-mark="{one.mark}" title="{escape(name)}" '
        f'aria-pressed="{"true" if one.is_shown else "false"}">{escape(shortened(name, MAX_METHOD_LETTERS))}</button>'
        for name, one in styles.items()
    )
    if len(styles) == 1:
        return f'<div class="chips">{buttons}</div>'
    all_or_none = "".join(
        f'<button type="button" class="chip plain-chip" data-all="{what}">{what}</button>' for what in ("all", "none")
    )
    return f'<div class="chips" role="group" aria-label="methods to emphasise">{buttons}{all_or_none}</div>'


def curves_chart(table: DatasetCurves, styles: dict[str, MethodStyle], y_title: str) -> str:
    """Draw performance against the number of features on a data set."""
    # Emphasised methods last, so that they are drawn above the others.
    curves = sorted(table.curves, key=lambda one: (styles[one.method].is_shown, one.method == next(iter(styles))))
    sizes = [size for one in curves for size in one.sizes]
    return line_chart(
        [curve_series(one, styles[one.method]) for one in curves],
        title=f"{table.title}: performance against the number of features",
        description=description_of(table),
        x_title="features",
        y_title=y_title,
        log_x=bool(sizes) and max(sizes) > LOG_RATIO * min(sizes),
        size=CHART_SIZE,
    )


def curve_series(curve: Curve, style: MethodStyle) -> Series:
    """Make a line with error bars of a curve."""
    means, deviations = (numbers(values) for values in (curve.means, curve.deviations))
    names = [
        f"{curve.method}, {size:g} features: {mean:.1f} %" + ("" if np.isnan(spread) else f" ± {spread:.1f}")
        for size, mean, spread in zip(curve.sizes, means, deviations, strict=True)
    ]
    return Series("", curve.sizes, means, means - deviations, means + deviations, names, style.colour, style.kind)


def numbers(values: Sequence[float | None]) -> np.ndarray:
    """Array of values, NaN where there is none."""
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def description_of(table: DatasetCurves) -> str:
    """Describe a chart of curves for screen readers: the value of each method with most features."""
    last = [(one.method, numbers(one.means)) for one in table.curves]
    words = [f"{name} {values[-1]:.1f} %" for name, values in last if values.size and not np.isnan(values[-1])]
    return f"With most features: {', '.join(words)}." if words else "No results."


def stability_chart(
    points: Sequence[StabilityPoint], styles: dict[str, MethodStyle], y_title: str, *, title: str, is_large: bool
) -> str:
    """Draw performance against stability, one point for each method: the mean of the given points."""
    series = []
    for name, style in styles.items():
        own = [one for one in points if one.method == name]
        if own:
            x, y = (float(np.mean([getattr(one, what) for one in own])) for what in ("stability", "performance"))
            about = name if is_large else f"{name}: stability {x:z.2f}, performance {y:.1f} %"
            series.append(Series("", [x], [y], names=[about], colour=style.colour, kind=style.kind))
    return scatter(
        series,
        title=title,
        description="; ".join(f"{one.names[0]}" for one in series if one.names),
        x_title="stability of the choice (1: always the same features)",
        y_title=y_title,
        labelled=is_large,
        size=LARGE_CHART if is_large else CHART_SIZE,
    )


def time_chart(points: Sequence[TimePoint], styles: dict[str, MethodStyle]) -> str:
    """Draw seconds against the number of values of the training data, both on logarithmic scales."""
    series = []
    for name, style in sorted(styles.items(), key=lambda one: one[1].is_shown):
        own = sorted((one for one in points if one.method == name != RANDOM), key=lambda one: one.n_values)
        if own:
            x, y = [one.n_values for one in own], [one.seconds for one in own]
            names = [f"{name}, {one.dataset}: {one.seconds:.3g} s" for one in own]
            series.append(Series("", x, y, names=names, colour=style.colour, kind=style.kind))
    return line_chart(
        series,
        title="Time against size",
        description="Median seconds to order the features once, for each method and data set.",
        x_title="values of the training data (rows x columns)",
        y_title="seconds",
        log_x=True,
        log_y=True,
        size=LARGE_CHART,
    )


def seconds_chart(points: Sequence[TimePoint], reference: str) -> str:
    """Draw the mean seconds of each method as bars, without the random order."""
    names = dict.fromkeys(one.method for one in points if one.method != RANDOM)
    seconds = {name: [one.seconds for one in points if one.method == name] for name in names}
    return seconds_bars({name: float(np.mean(values)) for name, values in seconds.items()}, reference)


def timing_chart(view: ClassifierSummary, reference: str) -> str:
    """Draw the seconds of the timing experiment as bars."""
    rows = view.tables[0].grid.rows
    return seconds_bars({str(row[0]): row[1] for row in rows if row[1] is not None}, reference)


def seconds_bars(seconds: dict[str, float], reference: str) -> str:
    """Draw the seconds of each method as bars, the fastest first."""
    names = sorted(seconds, key=lambda name: seconds[name])
    return bar_chart(
        names,
        [seconds[name] for name in names],
        title="Seconds of one fit",
        x_title="seconds",
        colours=[0 if name == reference else GREY for name in names],
        log_x=True,
        width=CHART_SIZE[0],
    )
