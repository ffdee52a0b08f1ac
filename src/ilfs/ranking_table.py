"""The ranking of features as a table: columns for programs, frames, text and CSV for readers.

The **verdict** on a feature follows from its q-value, the smallest false discovery rate at which it would be selected:

- *confirmed*: the q-value is at most ``fdr``;
- *tentative*: it is at most twice ``fdr``, so that more samples may decide;
- *not confirmed*: it is larger. This does not prove that the feature is unrelated to the classes.

If the features were also selected on many subsamples of the rows, a confirmed feature must be selected on at least
`MIN_FREQUENCY` of them; otherwise it is tentative. This is the smallest threshold for which Meinshausen and Bühlmann
(*Stability selection*, 2010) recommend their bound on false selections. A feature that repeats another one is often
passed over, although it depends on the classes, so a low frequency alone does not reject it.
"""

import importlib
import io
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats
from ilfs.files import write_text_atomically
from ilfs.spreadsheet import CsvLines, neutralised
from ilfs.text_table import MISSING_TEXT, aligned, format_value
from ilfs.words import listed

CONFIRMED, TENTATIVE, NOT_CONFIRMED = "confirmed", "tentative", "not confirmed"
HIGHER, LOWER = "higher", "lower"  # first words of a direction
IN = " in "  # between them and the classes
MIN_FREQUENCY = 0.6  # fraction of the subsamples on which a confirmed feature must be selected
TENTATIVE_FACTOR = 2.0  # times `fdr`: largest q-value of a tentative feature

SCORE_DECIMALS = 4
DECIMALS = dict.fromkeys(("effect", "log2_fold_change", "missing", "nonzero", "novelty", "correlation"), 2)
DECIMALS["statistic"] = 1
PROBABILITIES = ("p_value", "adjusted_p_value", "q_value")  # two significant digits
SHORT_TITLES = {"log2_fold_change": "log2_fc", "selection_frequency": "frequency"}  # in the text
OTHER_FORMATS = {".feather", ".gz", ".html", ".json", ".ods", ".parquet", ".pdf", ".xls", ".xlsx", ".zip"}

MEAN_PREFIX = "mean_"
# Columns that every table has, or may have, in this order. Further columns of a method come last.
ORDER = (
    "rank", "feature", "column", "score", "relevance", "p_value", "q_value", "verdict", "selected",
    "selection_frequency", "direction", "effect", "log2_fold_change", MEAN_PREFIX, "missing", "nonzero",
    "novelty", "nearest", "correlation",
)  # fmt: skip
ONLY_IN_FULL = ("column", "p_value", MEAN_PREFIX)  # columns that the text leaves out
USUAL = {"missing": 0.0, "nonzero": 1.0}  # the text leaves these columns out if all values are these


class RankingTable(dict[str, NDArray[Any]]):
    """Columns of a ranking, best feature first.

    It is a dict of arrays of equal length: ``table["feature"]``, ``pandas.DataFrame(table)``. `to_pandas` and
    `to_polars` make data frames, `to_csv` a file. ``print`` shows it as text.

    - ``rank``, ``feature`` (name), ``column`` (index), ``score``, and ``relevance`` if the method has it;
    - ``p_value``, ``q_value`` and ``verdict`` (confirmed, tentative or not confirmed), if labels were permuted;
    - ``selected``, if the features were chosen by a rule such as ``n_features_to_select="fdr"``;
    - ``selection_frequency``, if the selector has it;
    - ``direction``: in which class or classes the feature is higher or lower than in the others, such as ``higher in
      tumour``; empty if all class means are equal. With more than two classes, the class means are divided at their
      largest gap, and the classes of the smaller side are named, at most three (`ilfs.effects`);
    - ``effect``: difference of the class means in standard deviations within classes. Two classes: Cohen's d, second
      class minus first. More classes: the mean of the classes in ``direction`` minus the mean of all other values;
    - ``log2_fold_change``: binary logarithm of the quotient of the same two means, without a pseudo-count. Only if no
      value of the whole table is negative. If the table holds logarithms, ignore it: differences of means are then
      fold changes;
    - ``mean_<label>``: class means, for at most ten classes;
    - ``missing``, ``nonzero``: fraction of the rows without a value, and fraction of the values that are not zero;
    - ``novelty``, ``nearest``, ``correlation``: what the feature adds to the nearest better one, its name, and their
      correlation, if features were picked one at a time;
    - further columns of the method.

    Columns that a selector does not know are left out.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ilfs import FisherScore
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> table = FisherScore().fit(X, y).table(top=2)
    >>> print(table)
    rank  feature                score  direction    effect  log2_fc  nonzero
       1  worst concave points  1.7009  higher in 0   -2.69    -1.29     0.98
       2  worst perimeter       1.5837  higher in 0   -2.60    -0.70     1.00
    >>> table.to_pandas()[["feature", "mean_0", "mean_1"]].round(3)
                    feature   mean_0  mean_1
    0  worst concave points    0.182   0.074
    1       worst perimeter  141.370  87.006
    """

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<RankingTable of {len(self['feature'])} features: {', '.join(self)}>"

    def to_pandas(self) -> Any:
        """Return a data frame of pandas, which must be installed."""
        return frame_package("pandas").DataFrame(dict(self))

    def to_polars(self) -> Any:
        """Return a data frame of polars, which must be installed."""
        return frame_package("polars").DataFrame(dict(self))

    def to_text(self, columns: Sequence[str] | None = None) -> str:
        """Format the table with aligned columns.

        Parameters
        ----------
        columns : sequence of str, optional
            Titles of the columns to show. By default all of them, without column indices, p-values and class means, and
            without fractions of missing and non-zero values if they are 0 and 1 for all features.

        Returns
        -------
        str
            One line for each feature, below a line of titles.
        """
        titles = [title for title in self if not is_left_out(title, self[title])] if columns is None else columns
        if unknown := [title for title in titles if title not in self]:
            raise ValueError(f"columns must be among {', '.join(self)}, got {unknown[0]!r}")
        shown = {title: self[title] for title in titles}
        words = [[SHORT_TITLES.get(title, title), *formatted(title, values)] for title, values in shown.items()]
        is_number = [values.dtype.kind not in "OUST" for values in shown.values()]
        return "\n".join(aligned(list(zip(*words, strict=True)), is_number))

    def to_csv(self, path: str | os.PathLike[str], *, spreadsheet_safe: bool = False) -> Path:
        """Write all columns as CSV, so that the file appears complete or not at all.

        Several threads or processes may write to one path: the file holds the table of one of them.

        Parameters
        ----------
        path : path-like
            The file; its folder must exist.
        spreadsheet_safe : bool, default=False
            Put an apostrophe before names that a spreadsheet would run as a formula: those that start with ``=``,
            ``+``, ``-``, ``@``, a tab or a line break.

        Returns
        -------
        Path
            The file written.
        """
        path = Path(path)
        check_csv_path(path)
        write_text_atomically(path, csv_text(self, spreadsheet_safe))
        return path


def frame_package(name: str) -> Any:
    """Import a package of data frames."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"to_{name} needs {name}, which is not installed: pip install {name}") from None


def in_order(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Sort columns as in `ORDER`; others come last, in the order in which they are given."""

    def place(title: str) -> int:
        known = MEAN_PREFIX if title.startswith(MEAN_PREFIX) else title
        return ORDER.index(known) if known in ORDER else len(ORDER)

    return {title: columns[title] for title in sorted(columns, key=place)}


def verdicts(q_values: Floats, fdr: float, frequency: Floats | None = None) -> NDArray[np.str_]:
    """Decide which features are confirmed, tentative and not confirmed; see the module for the rule.

    Parameters
    ----------
    q_values : ndarray of shape (n_features,)
        Smallest false discovery rate at which each feature is selected.
    fdr : float
        False discovery rate.
    frequency : ndarray of shape (n_features,), optional
        Fraction of subsamples of the rows on which each feature is selected.

    Returns
    -------
    ndarray of str of shape (n_features,)
        The verdicts.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.ranking_table import verdicts
    >>> verdicts(np.array([0.01, 0.01, 0.08, 0.2]), 0.05, np.array([0.9, 0.1, 0.9, 0.9])).tolist()
    ['confirmed', 'tentative', 'tentative', 'not confirmed']
    """
    is_stable = True if frequency is None else frequency >= MIN_FREQUENCY
    confirmed, possible = (q_values <= fdr) & is_stable, q_values <= TENTATIVE_FACTOR * fdr
    return np.where(confirmed, CONFIRMED, np.where(possible, TENTATIVE, NOT_CONFIRMED))


def direction_phrase(side: str, labels: Sequence[str]) -> str:
    """Say in which classes a feature is higher or lower; empty for no classes.

    Parameters
    ----------
    side : {"higher", "lower"}
        Side of the classes.
    labels : sequence of str
        Their labels.

    Returns
    -------
    str
        A phrase, which `split_direction` takes apart.

    Examples
    --------
    >>> from ilfs.ranking_table import direction_phrase
    >>> direction_phrase("lower", ["tumour"]), direction_phrase("higher", ["a", "b", "c"])
    ('lower in tumour', 'higher in a, b and c')
    """
    return f"{side}{IN}{listed(labels)}" if len(labels) else ""


def split_direction(phrase: str, labels: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Find the side and the classes in a direction.

    Parameters
    ----------
    phrase : str
        As `direction_phrase` returns it.
    labels : sequence of str
        All class labels.

    Returns
    -------
    side : str
        "higher" or "lower"; empty for an empty phrase.
    classes : tuple of str
        The classes; none if they are not among the labels.

    Examples
    --------
    >>> from ilfs.ranking_table import split_direction
    >>> split_direction("higher in a and b", ["a", "b", "c"])
    ('higher', ('a', 'b'))
    """
    side, _, rest = phrase.partition(IN)
    classes = (rest,) if rest in labels else tuple(re.split(", | and ", rest))
    return side, classes if rest and set(classes) <= set(labels) else ()


def shorter_direction(phrase: str, shorten: Callable[[str], str]) -> str:
    """Shorten the classes of a direction, and keep its side.

    Examples
    --------
    >>> from ilfs.ranking_table import shorter_direction
    >>> shorter_direction("lower in adenocarcinoma", lambda label: label[:5] + ".")
    'lower in adeno.'
    """
    side, _, classes = phrase.partition(IN)
    return f"{side}{IN}{shorten(classes)}" if classes else ""


def is_left_out(title: str, values: NDArray[Any]) -> bool:
    """Return True for a column that the text does not show."""
    return title.startswith(ONLY_IN_FULL) or (title in USUAL and bool(np.all(values == USUAL[title])))


def formatted(title: str, values: NDArray[Any]) -> list[str]:
    """Format a column: floats with fixed decimals, with an exponent if these would hide the largest."""
    if values.dtype.kind != "f":
        return [str(value) or MISSING_TEXT for value in values]
    if title in PROBABILITIES:
        return [f"{value:.2g}" for value in values]
    decimals = DECIMALS.get(title, SCORE_DECIMALS)
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    exponent = largest != 0 and not 1e-2 <= largest < 1e6
    return [format_value(float(value), decimals, exponent=bool(exponent)) for value in values]


def check_csv_path(path: str | os.PathLike[str]) -> None:
    """Raise an error if a path is not that of a CSV file, or its folder does not exist.

    Parameters
    ----------
    path : path-like
        The file to write.
    """
    path = Path(path)
    if path.suffix.lower() in OTHER_FORMATS:
        raise ValueError(f"path must be that of a CSV file, the only format that is written, got {str(path)!r}")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"the folder of {str(path)!r} does not exist: make it first")


def csv_text(table: RankingTable, spreadsheet_safe: bool, delimiter: str = ",") -> str:
    """Format all columns as CSV; missing values are empty."""
    text = io.StringIO(newline="")
    writer = CsvLines(text, delimiter)
    writer.writerow(table)
    # An empty value in place of NaN, which is the only value that does not equal itself.
    columns = [
        ["" if value != value else value for value in (safe(values) if spreadsheet_safe else values).tolist()]
        for values in table.values()
    ]
    for row in zip(*columns, strict=True):
        writer.writerow(row)
    return text.getvalue()


def safe(values: NDArray[Any]) -> NDArray[Any]:
    """Put an apostrophe before words that a spreadsheet would run as a formula."""
    return values if values.dtype.kind in "biuf" else np.array([*map(neutralised, values.tolist())], dtype=object)
