"""A comparison as text for the screen."""

from textwrap import wrap

import numpy as np

from ilfs.arrays import Floats
from ilfs.choices import N_COMPARED_RANKS
from ilfs.report.comparison.sentences import (
    best_sentence,
    error_sentence,
    metric_title,
    random_sentence,
    shown_sizes,
    table_sentence,
    test_sentence,
)
from ilfs.selection import Comparison
from ilfs.selection.comparison import MethodStability
from ilfs.text_table import MISSING_TEXT, aligned, format_value, shortened, visible
from ilfs.words import counted, seconds_text

MAX_LINE_WIDTH = 100  # letters of a line of a sentence
NAME_LETTERS = 40  # of the name of a feature
BEST, EQUAL = "**", "*"  # marks of the best method, and of those that cannot be told apart from it


def comparison_text(comparison: Comparison, top: int = N_COMPARED_RANKS, width: int = MAX_LINE_WIDTH) -> str:
    """Format a comparison as tables with aligned columns.

    Parameters
    ----------
    comparison : Comparison
        The comparison.
    top : int, default=10
        Number of features of the rankings side by side.
    width : int, default=100
        Largest number of letters in a line of a sentence; tables may be wider.

    Returns
    -------
    str
        Performance with each classifier, properties of the methods, agreement, and the best features.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs.report import comparison_text
    >>> from ilfs.selection import compare
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = compare(["fisher", "mi"], X, y, sizes=[1, 3, 9], stability=False)
    >>> for line in comparison_text(found).splitlines()[:8]:
    ...     print(line)
    178 rows x 13 features, 3 classes (0: 59, 1: 71, 2: 48); 5 folds, repeated 2 times
    <BLANKLINE>
    Accuracy, linear SVM, by number of features (± standard error)
    method              1 feature   3 features   9 features    all sizes  enough
    fisher        *   0.76 ± 0.03  0.92 ± 0.02  0.97 ± 0.01  0.88 ± 0.02       9
    mi            **  0.81 ± 0.03  0.93 ± 0.02  0.97 ± 0.01  0.90 ± 0.02       9
    random            0.62 ± 0.04  0.81 ± 0.04  0.95 ± 0.02  0.79 ± 0.02       9
    all features                                             0.97 ± 0.01
    """
    blocks = [
        wrap(table_sentence(comparison), width),
        *(performance_lines(comparison, name, width) for name in comparison.classifiers),
        method_lines(comparison, width),
        agreement_lines(comparison, width),
        ranking_lines(comparison, top),
        left_out_lines(comparison, width),
        wrap(f"{test_sentence(comparison)} {error_sentence()}", width),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def performance_lines(comparison: Comparison, classifier: str, width: int) -> list[str]:
    """Format the performance with one classifier at a few sizes, and the verdict below."""
    place, sizes = comparison.classifiers.index(classifier), shown_sizes(comparison)
    counts = [int(comparison.sizes[i]) for i in sizes]
    titles = [counted(count, "feature") for count in counts]
    marks = marks_of(comparison, classifier)
    rows = [["method", "", *titles, "all sizes", "enough"]]
    for i, name in enumerate(comparison.names):
        at_sizes = [plus_minus(comparison.mean[i, place, j], comparison.error[i, place, j]) for j in sizes]
        over_all = plus_minus(comparison.mean_over_sizes[i, place], comparison.error_over_sizes[i, place])
        rows.append([name, marks.get(name, ""), *at_sizes, over_all, f"{comparison.sufficient_sizes[i, place]:,}"])
    rows += all_features_row(comparison, place, len(sizes))
    title = f"{metric_title(comparison)}, {classifier}, by number of features (± standard error)"
    legend = [f"{BEST} best mean over all sizes, {EQUAL} cannot be told apart from it"] if marks else []
    legend += ["enough: fewest features within one standard error of the best number"] if len(sizes) > 1 else []
    sentences = [*legend, best_sentence(comparison, classifier), random_sentence(comparison, classifier)]
    lines = aligned(rows, [False, False, *[True] * (len(sizes) + 2)])
    return [*wrap(title, width), *lines, *(line for sentence in sentences for line in wrap(sentence, width))]


def all_features_row(comparison: Comparison, place: int, n_sizes: int) -> list[list[str]]:
    """Return the row of all features, which has one number; none if they were not evaluated."""
    values = comparison.all_features[place]
    if np.isnan(values).any():
        return []
    words = plus_minus(float(values.mean()), float(comparison.all_features_error[place]))
    return [["all features", *[""] * (n_sizes + 1), words, ""]]


def marks_of(comparison: Comparison, classifier: str) -> dict[str, str]:
    """Return the marks of the best method and of those that cannot be told apart from it."""
    if len(comparison.methods) < 2 or not comparison.tests:
        return {}
    verdict = comparison.verdict(classifier)
    return {verdict.best: BEST} | dict.fromkeys(verdict.equal, EQUAL)


def method_lines(comparison: Comparison, width: int) -> list[str]:
    """Format stability, time and overlap with the first method."""
    k, first = comparison.k, comparison.methods[0]
    header = ["method", f"stability at {k}", "of families", "seconds", f"in common with {first}"]
    rows = [
        [
            name,
            *stability_words(comparison.stability[i]),
            seconds_text(float(comparison.seconds[i])),
            MISSING_TEXT if i == 0 else f"{round(k * comparison.overlap[0, i])} of {k}",
        ]
        for i, name in enumerate(comparison.methods)
    ]
    title = f"Stability of the {k} best features (1: always the same, 0: as at random), time of a fit on all rows"
    notes = [line for note in comparison.notes for line in wrap(note, width)]
    return [*wrap(title, width), *aligned([header, *rows], [False, True, True, True, True]), *notes]


def stability_words(found: MethodStability | None) -> list[str]:
    """Format the stability of features, with its interval, and that of families."""
    if found is None:
        return [MISSING_TEXT, MISSING_TEXT]
    value, low, high = map(two_decimals, (found.features.value, *found.features.interval()))
    return [f"{value} ({low} to {high})", two_decimals(found.families.value)]


def two_decimals(value: float) -> str:
    """Format a number with two decimals; a dash for NaN."""
    return format_value(float(value), 2)


def agreement_lines(comparison: Comparison, width: int) -> list[str]:
    """Format the agreement of all pairs: overlap below the diagonal, rank correlation above."""
    if len(comparison.methods) < 2:
        return []
    rows = [["", *comparison.methods]]
    for i, name in enumerate(comparison.methods):
        words = [agreement_word(comparison.overlap, comparison.spearman, i, j) for j in range(len(comparison.methods))]
        rows.append([name, *words])
    title = f"Agreement: rank correlation (Spearman) above the diagonal, overlap of the {comparison.k} best below"
    return [*wrap(title, width), *aligned(rows, [False, *[True] * len(comparison.methods)])]


def agreement_word(below: Floats, above: Floats, i: int, j: int) -> str:
    """Format the value of a pair of methods."""
    if i == j:
        return "."
    return f"{100 * below[i, j]:.0f} %" if j < i else f"{above[i, j]:z.2f}"


def ranking_lines(comparison: Comparison, top: int) -> list[str]:
    """Format the best features by their mean rank, with their rank under each method."""
    chosen = comparison.order[:top]
    names = [shortened(visible(str(comparison.feature_names[j])), NAME_LETTERS, "…") for j in chosen]
    ranks = [[f"{rank:,}" for rank in comparison.rankings[:, j]] for j in chosen]
    header, rows = ["feature", *comparison.methods], [[name, *of] for name, of in zip(names, ranks, strict=True)]
    title = f"Ranks of the {counted(len(chosen), 'feature')} with the best mean rank"
    return [title, *aligned([header, *rows], [False, *[True] * len(comparison.methods)])]


def left_out_lines(comparison: Comparison, width: int) -> list[str]:
    """Name the methods that are not compared."""
    return [line for one in comparison.left_out for line in wrap(f"{one.name} is left out: {one.reason}", width)]


def plus_minus(mean: float, error: float) -> str:
    """Format a mean with its standard error.

    Examples
    --------
    >>> from ilfs.report.comparison.text import plus_minus
    >>> plus_minus(0.8234, 0.041), plus_minus(0.8234, float("nan"))
    ('0.82 ± 0.04', '0.82')
    """
    return f"{mean:z.2f}" if np.isnan(error) else f"{mean:z.2f} ± {error:.2f}"
