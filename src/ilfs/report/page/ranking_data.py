"""The data that the scripts of a ranking page read."""

import re
import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.explanation import MIN_SHAPE_FRACTION
from ilfs.ranking_table import MEAN_PREFIX, USUAL
from ilfs.report.class_values import ClassValues, CorrelationMap
from ilfs.report.page.encoding import MANTISSA_BITS, Payload
from ilfs.report.summary import RankingSummary, TokenSummary
from ilfs.words import counted

TOKEN_LEVELS = 255
HIDDEN = ("column", "p_value", "selected")  # columns that the table on the page leaves out; CSV files have them
# Columns that the table on the page begins with, because a phone shows only a few.
FIRST = ("rank", "feature", "score", "q_value", "verdict", "direction", "effect")
MAX_MEANS = 3  # classes whose means stand beside the effect
MIN_FIXED, MAX_FIXED = 1e-2, 1e6  # largest values of a column that is shown with four decimals
MAX_FILE_LETTERS = 60
MAX_SETS = 2000  # interactions that the details of a feature may list
COLUMN_TITLES = {
    "feature": "feature", "q_value": "q-value", "p_value": "p-value", "log2_fold_change": "log2 fold change",
    "selection_frequency": "frequency", "nearest": "most like",
}  # fmt: skip
KINDS = {"rank": "integer", "column": "integer", "p_value": "probability", "q_value": "probability"} | dict.fromkeys(
    ("missing", "nonzero", "novelty", "correlation", "selection_frequency"), "fraction"
) | dict.fromkeys(("effect", "log2_fold_change"), "effect")  # fmt: skip
COLUMN_HELP = {
    "rank": "place in the ranking; 1 is the best",
    "feature": "name of the feature",
    "score": "larger is better",
    "relevance": "how well the feature alone represents the samples of their classes",
    "q_value": "smallest false discovery rate at which the feature is selected; each feature is tested alone",
    "verdict": "confirmed, tentative or not confirmed, by the q-value; not confirmed does not mean irrelevant",
    "direction": "class in which the feature is higher; of three classes and more, those on the smaller side of the "
    "largest gap between the class means, and whether the feature is higher or lower there",
    "effect": "difference of the class means in standard deviations within classes",
    "log2_fold_change": "binary logarithm of the quotient of the class means; ignore it if the table holds logarithms",
    "missing": "fraction of the rows without a value",
    "nonzero": "fraction of the values that are not zero",
    "novelty": "fraction of the variance that the most similar better feature does not explain",
    "nearest": "the most similar better feature",
    "correlation": "correlation with the most similar better feature",
    "selection_frequency": "fraction of the subsamples on which the feature was selected",
}

CANDIDATE_SCORE = (
    "larger is better; only the n_candidates features with the largest relevance were picked from, the others follow "
    "by relevance, with scores below 0"
)


def ranking_data(summary: RankingSummary) -> bytes:
    """Encode all columns, values and tokens of a ranking for the scripts of its page."""
    payload = Payload()
    header: dict[str, Any] = {
        "n": summary.n_features,
        "file": file_name(summary.title),
        "names": [str(name) for name in summary.names.tolist()],
        "classes": list(summary.class_labels),
        "fdr": summary.certainty.fdr if summary.certainty else 0.05,
        "selected": payload.integers(summary.selected.astype(np.uint8)),
        "nearest": None if summary.nearest is None else payload.integers(summary.nearest),
        "shown": shown_columns(summary),
        "columns": [column_data(payload, summary, title) for title in summary.table],
        "values": None if summary.values is None else values_data(payload, summary.values, summary.valued),
        "map": None if summary.correlations is None else map_data(payload, summary.correlations),
        "tokens": None if summary.tokens is None else tokens_data(payload, summary.tokens),
        "sets": sets_data(summary),
        "shapes": shapes_data(summary),
    }
    return payload.to_bytes(header)


def column_data(payload: Payload, summary: RankingSummary, title: str) -> dict[str, Any]:
    """Encode a column of the table."""
    values = summary.table[title]
    mean = f"mean in {title.removeprefix(MEAN_PREFIX)}"
    described = {
        "key": title,
        "title": mean if title.startswith(MEAN_PREFIX) else COLUMN_TITLES.get(title, title.replace("_", " ")),
        "about": mean if title.startswith(MEAN_PREFIX) else about_column(summary, title),
        "kind": kind_of(summary, title, values),
    }
    if described["kind"] == "name":
        return described
    if described["kind"] == "word":
        return described | payload.words(values.tolist())
    if described["kind"] == "integer":
        return described | {"values": payload.integers(values)}
    exact = {"bits": MANTISSA_BITS} if title == "score" else {}
    return described | {"values": payload.floats(values, **exact)}


def about_column(summary: RankingSummary, title: str) -> str:
    """Explain a column; the score of a method that picks features depends on whether a feature was a candidate."""
    has_others = "novelty" in summary.table and bool(np.isnan(summary.table["novelty"]).any())
    return CANDIDATE_SCORE if title == "score" and has_others else COLUMN_HELP.get(title, "")


def kind_of(summary: RankingSummary, title: str, values: NDArray[Any]) -> str:
    """Return how the values of a column are formatted."""
    if title == "feature" or (title == "nearest" and summary.nearest is not None):
        return "name"
    if values.dtype.kind in "OUSTb":
        return "word"
    if title in KINDS or values.dtype.kind in "iu":
        return KINDS.get(title, "integer")
    return "number" if title.startswith(MEAN_PREFIX) else decimals_of(values)


def decimals_of(values: NDArray[Any]) -> str:
    """Return "fixed" if four decimals suit a column, "exponent" for very small or very large numbers."""
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    return "fixed" if largest == 0 or MIN_FIXED <= largest < MAX_FIXED else "exponent"


def shown_columns(summary: RankingSummary) -> list[str]:
    """Return the columns of the table on the page."""
    shown = [title for title, values in summary.table.items() if not is_hidden(title, values)]
    means = (
        [title for title in shown if title.startswith(MEAN_PREFIX)] if len(summary.class_labels) <= MAX_MEANS else []
    )
    first = [*(title for title in FIRST if title in shown), *means]
    return [*first, *(title for title in shown if title not in first)]


def is_hidden(title: str, values: NDArray[Any]) -> bool:
    """Return True for a column that the table on the page does not show."""
    return title in HIDDEN or (title in USUAL and bool(np.all(values == USUAL[title])))


def values_data(payload: Payload, values: ClassValues, places: NDArray[Any] | None) -> dict[str, Any]:
    """Encode the values of the best features."""
    return {
        "places": payload.integers(np.empty(0, dtype=int) if places is None else places),
        "labels": list(values.labels),
        "codes": payload.integers(values.codes),
        "numbers": payload.levels(np.ascontiguousarray(values.values.T)),
        "quantiles": payload.floats(values.quantiles),
        "note": values_note(values),
    }


def values_note(values: ClassValues) -> str:
    """Say which rows the points and boxes show."""
    n_points = values.codes.size
    rows = (
        counted(values.n_rows, "row")
        if n_points == values.n_rows
        else f"a sample of {n_points:,} of {counted(values.n_rows, 'row')}"
    )
    return f"Points: {rows}. Boxes: quartiles and median; whiskers: 5 to 95 %."


def map_data(payload: Payload, found: CorrelationMap) -> dict[str, Any]:
    """Encode the correlations of the selected features."""
    return {"places": payload.integers(found.columns), "correlation": payload.floats(found.correlation)}


def tokens_data(payload: Payload, tokens: TokenSummary) -> dict[str, Any]:
    """Encode the token histograms."""
    levels = np.rint(TOKEN_LEVELS * np.nan_to_num(tokens.fractions)).astype(np.uint8)
    return {
        "n": tokens.fractions.shape[1],
        "edges": [round(float(edge), 4) for edge in tokens.edges],
        "fractions": payload.integers(levels),
    }


def sets_data(summary: RankingSummary) -> list[dict[str, Any]]:
    """Describe the strongest interactions by the places of their features in the ranking."""
    if summary.interactions is None:
        return []
    place = {column: place for place, column in enumerate(summary.table["column"].tolist())}
    return [
        {
            "places": " ".join(str(place[column]) for column in one.columns),
            "words": f"{one.words} (adjusted p-value {one.p_text})",
        }
        for one in summary.interactions.sets[:MAX_SETS]
    ]


def shapes_data(summary: RankingSummary) -> dict[str, float]:
    """Return the places of the features that were picked for the spread of their values, with its part of the gain."""
    if summary.shape_fraction is None:
        return {}
    places = np.flatnonzero(summary.shape_fraction >= MIN_SHAPE_FRACTION).tolist()
    return {str(place): round(float(summary.shape_fraction[place]), 2) for place in places}


def file_name(title: str) -> str:
    """Make a name for downloads from the title: ASCII letters, digits, dots, hyphens and underscores.

    Examples
    --------
    >>> from ilfs.report.page.ranking_data import file_name
    >>> file_name("Feature ranking of Zoë's data.csv"), file_name("../..")
    ('Feature_ranking_of_Zoe_s_data.csv', 'ranking')
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    words = re.sub(r"[^A-Za-z0-9.-]+", "_", plain).strip("._-")
    return words[:MAX_FILE_LETTERS] or "ranking"
