"""The paper's rules for bold numbers and asterisks, worked out from its tables.

Table 4: an asterisk marks the best method of a column ("``*`` indicates the top performance"). The caption does not
explain the bold numbers. On a data set these are the best one and all that are less than `BOLD_WITHIN` points below it;
of averages, minima and maxima it is the best one only. The rule gives the marks of all numbers but one: MI on LUNG is
0.26 points below the best and not bold.

Table 3: bold is "the top score of each class"; the three largest means are bold and have an asterisk.

Numbers are compared as they are printed, with two decimals.
"""

from collections.abc import Sequence

from ilfs.benchmark.paper_tables.printed import Mark

PRINTED_DECIMALS = 2
BOLD_WITHIN = 0.5  # percentage points below the best, on a data set of Table 4
N_STARS = 3  # means with an asterisk in Table 3


def marks_on_dataset(values: Sequence[float | None]) -> list[Mark]:
    """Mark the numbers of a data set by the rule of Table 4.

    Parameters
    ----------
    values : sequence of float or None
        Per cent, one number for each method; None if there is none.

    Returns
    -------
    list of {"", "bold", "star"}
        A star for the best, bold for those less than 0.5 points below it.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import marks_on_dataset
    >>> marks_on_dataset([96.35, 96.10, 91.58, None])
    ['star', 'bold', '', '']
    """
    best = max((printed(value) for value in values if value is not None), default=0.0)
    below = [None if value is None else printed(best - printed(value)) for value in values]
    return ["" if gap is None or gap >= BOLD_WITHIN else "star" if gap == 0 else "bold" for gap in below]


def best_of(values: Sequence[float | None], n_best: int = 1) -> list[bool]:
    """Mark the largest numbers, with all that equal the last of them.

    Parameters
    ----------
    values : sequence of float or None
        One number for each method; None if there is none.
    n_best : int, default=1
        How many are marked.

    Returns
    -------
    list of bool
        True for the largest.

    Examples
    --------
    >>> from ilfs.benchmark.paper_tables import best_of
    >>> best_of([81.21, 81.07, 80.97, None, 80.25], n_best=3)
    [True, True, True, False, False]
    """
    ranked = sorted((printed(value) for value in values if value is not None), reverse=True)
    return [value is not None and printed(value) >= ranked[:n_best][-1] for value in values]


def printed(value: float) -> float:
    """Round as the paper prints."""
    return round(value, PRINTED_DECIMALS)
