"""Statements and numbers of the paper that its own tables contradict."""

from ilfs.benchmark.paper_tables.marking import best_of
from ilfs.benchmark.paper_tables.printed import (
    GROUPS,
    MEAN,
    METHODS_OF_THE_PAPER,
    MICROARRAYS,
    OTHER_DATASETS,
    VOC_DATASETS,
    bold_methods,
    class_precision,
    dataset_rows,
    precision,
)

MAX_ROUNDING_ERROR = 0.011  # largest rounding error of a mean of numbers with two decimals


def paper_slips() -> list[str]:
    """Slips of the paper, as sentences.

    Returns
    -------
    list of str
        Averages that differ from the mean of their numbers, bold numbers that are not the best, and sentences of the
        text that the tables contradict. All are computed from the printed tables.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import paper_slips
    >>> len(paper_slips())
    12
    """
    return [*average_slips(), *bold_slips(), *text_slips()]


def average_slips() -> list[str]:
    """Averages of Tables 3 and 4 that differ from the mean of their numbers."""
    slips = []
    for (dataset, row, method), printed in class_precision().items():
        if row == MEAN:
            slips += _average_slip(f"Table 3, {dataset}, {method}", printed, _of_classes(dataset, method))
    for method in METHODS_OF_THE_PAPER:
        for group, sets in GROUPS.items():
            values = [precision()[method, name] for name in sets]
            slips += _average_slip(f"Table 4, {group}, {method}", precision()[method, group], values)
    return slips


def _of_classes(dataset: str, method: str) -> list[float]:
    return [value for (d, c, m), value in class_precision().items() if (d, m) == (dataset, method) and c != MEAN]


def _average_slip(where: str, printed: float, values: list[float]) -> list[str]:
    mean = sum(values) / len(values)
    return (
        [f"{where}: {printed:.2f} printed, {mean:.2f} is the mean of its numbers"]
        if abs(mean - printed) > MAX_ROUNDING_ERROR
        else []
    )


def bold_slips() -> list[str]:
    """Classes of Table 3 whose bold number is not "the top score of each class", as the caption says."""
    slips = []
    for (dataset, row), bold in bold_methods().items():
        if row == MEAN:
            continue
        values = [class_precision()[dataset, row, method] for method in METHODS_OF_THE_PAPER]
        best = tuple(m for m, is_best in zip(METHODS_OF_THE_PAPER, best_of(values), strict=True) if is_best)
        if bold != best:
            said = f"{' and '.join(bold) or 'none'} bold"
            slips.append(
                f"Table 3, {dataset}, {row}: {said}, {max(values):.2f} of {' and '.join(best)} is the top score"
            )
    return slips


def text_slips() -> list[str]:
    """Sentences of the text that the tables contradict."""
    return [_minimum_slip(), _all_scenarios_slip(), _noise_slip()]


def _minimum_slip() -> str:
    least = {m: min(precision()[m, name] for name in MICROARRAYS) for m in METHODS_OF_THE_PAPER}
    first, second, *_ = sorted(least, key=lambda m: -least[m])
    ahead = least[first] - least[second]
    return (
        f'Text, "on DNA Microarray data the overall minimum value reported by the ILFS is +8.35 % over the second best '
        f'(FSV)": the second best is {second} with {least[second]:.2f}, {ahead:.2f} points behind; 8.35 points are the '
        f"distance to FSV with {least['fsv']:.2f}"
    )


def _all_scenarios_slip() -> str:
    best = {
        name: max(METHODS_OF_THE_PAPER, key=lambda m: precision()[m, name]) for name in (*MICROARRAYS, *OTHER_DATASETS)
    } | {name: max(METHODS_OF_THE_PAPER, key=lambda m: class_precision()[name, MEAN, m]) for name in VOC_DATASETS}
    others = [f"{method} on {name}" for name, method in best.items() if method != "ilfs"]
    return (
        'Conclusion, "attaining the highest performance levels across all the challenging scenarios": '
        f"another method is the best on {len(others)} of {len(best)} data sets ({', '.join(others)})"
    )


def _noise_slip() -> str:
    without = [name for name in MICROARRAYS if not dataset_rows()[name].noise]
    return (
        'Text, "many outliers (as in the genetic datasets, where samples are often contaminated)": Table 1 has no '
        f"cross for noise at {' and '.join(without)}"
    )
