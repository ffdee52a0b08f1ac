"""Charts of a whole ranking that do not depend on what the reader chooses."""

import numpy as np

from ilfs.arrays import Floats, Integers
from ilfs.null import log_spaced
from ilfs.report.charts import Band, Series, bar_chart, column_chart, heat_map, line_chart
from ilfs.report.page.document import figure
from ilfs.report.summary import RankingSummary

N_CURVE_POINTS = 200  # of the score curve
N_STABLE = 20  # features in the stability plot


def ranking_figures(summary: RankingSummary) -> str:
    """Draw all charts of a ranking for which there are data."""
    drawn = [
        score_figure(summary),
        null_figure(summary),
        volcano_figure(summary),
        sizes_figure(summary),
        topics_figure(summary),
        stability_figure(summary),
        correlation_figure(summary),
    ]
    return f'<div class="figures">\n{"".join(drawn)}\n</div>'


def score_curve(summary: RankingSummary) -> tuple[Integers, Floats]:
    """Return ranks and scores at about equal distances on a logarithmic scale."""
    ranks = log_spaced(summary.n_features, N_CURVE_POINTS)
    return ranks, np.asarray(summary.table["score"], dtype=float)[ranks - 1]


def statistic_is_score(summary: RankingSummary) -> bool:
    """Return True if the statistic of the test is the score, so that one chart shows both."""
    curve = summary.null_curve
    if curve is None:
        return False
    scores = np.asarray(summary.table["score"], dtype=float)[curve.ranks - 1]
    return bool(np.allclose(scores, curve.observed, rtol=1e-6, atol=0.0))


def score_figure(summary: RankingSummary) -> str:
    """Draw the scores along the ranking, with the band of permuted labels if they are the statistic of the test."""
    ranks, scores = score_curve(summary)
    bands = []
    caption = "Score of each feature along the ranking. A dashed line is the cut, if the best features are chosen."
    if "novelty" in summary.table and np.isnan(summary.table["novelty"]).any():
        caption += " Features with scores below 0 were no candidates (n_candidates); they follow by relevance."
    if statistic_is_score(summary) and (curve := summary.null_curve) is not None:
        bands = [Band("permuted labels, 5 to 95 %", curve.ranks, curve.low, curve.high)]
        caption += " The band is what the best features reach under permuted labels."
    drawn = line_chart(
        [Series("score", ranks, scores)],
        title="Scores along the ranking",
        x_title="rank",
        y_title="score",
        bands=bands,
        log_x=True,
        points=summary.n_features <= 30,
    )
    return figure(drawn, caption, kind="by-rank")


def null_figure(summary: RankingSummary) -> str:
    """Draw the largest statistics beside those under permuted labels, if the statistic is not the score."""
    curve = summary.null_curve
    if curve is None or statistic_is_score(summary) or not curve.ranks.size:
        return ""
    name = "relevance" if "relevance" in summary.table else "statistic"
    drawn = line_chart(
        [Series(f"observed {name}", curve.ranks, curve.observed)],
        title=f"Largest values of the {name}, with the labels as they are and permuted",
        x_title=f"features sorted by {name}",
        y_title=name,
        bands=[Band("permuted labels, 5 to 95 %", curve.ranks, curve.low, curve.high)],
        log_x=True,
        points=False,
    )
    return figure(
        drawn, f"The {name} of each feature on its own, which is what is tested. Above the band: better than chance."
    )


def volcano_figure(summary: RankingSummary) -> str:
    """Return the figure into which a script draws effect against certainty; none without classes."""
    if "effect" not in summary.table:
        return ""
    what = "certainty (q-value)" if "q_value" in summary.table else "score"
    below = " The dashed line is the false discovery rate." if "q_value" in summary.table else ""
    caption = f"Effect against {what}; chosen features are coloured.{below} Click a point to see the feature."
    return f'<figure id="volcano" data-interactive hidden><figcaption>{caption}</figcaption></figure>'


def sizes_figure(summary: RankingSummary) -> str:
    """Draw performance against number of features."""
    curve = summary.sizes
    if curve is None:
        return ""
    line = Series("", curve.sizes, curve.mean, curve.mean - curve.error, curve.mean + curve.error)
    drawn = line_chart(
        [line],
        title="Cross-validated performance against number of features",
        x_title="number of features",
        y_title="score",
        log_x=True,
        mark_x=curve.chosen or None,
    )
    return figure(
        drawn,
        "Cross-validated score of a classifier against the number of features; bars are standard errors, the dashed "
        f"line is the number chosen, {curve.chosen:,}.",
    )


def topics_figure(summary: RankingSummary) -> str:
    """Draw the token distributions of the two topics."""
    tokens = summary.tokens
    if tokens is None:
        return ""
    labels = [f"{low:.2f}–{high:.2f}" for low, high in zip(tokens.edges[:-1], tokens.edges[1:], strict=True)]  # noqa: RUF001
    drawn = column_chart(
        labels,
        [("relevancy", tokens.topics[0]), ("irrelevancy", tokens.topics[1])],
        title="Token distributions of the two topics",
        x_title="how well a feature represents a sample",
        y_title="probability",
    )
    return figure(
        drawn,
        "The two topics that the method has learned. A relevant feature represents most samples well (right); an "
        "irrelevant one represents them badly (left).",
    )


def stability_figure(summary: RankingSummary) -> str:
    """Draw how often the best features were chosen on half of the rows."""
    result = summary.stability
    if result is None:
        return ""
    n_chosen = int(np.count_nonzero(result.selection_frequency))
    table = result.table(min(N_STABLE, max(n_chosen, 1)))
    name_of = dict(zip(summary.table["column"].tolist(), map(str, summary.names.tolist()), strict=True))
    drawn = bar_chart(
        [name_of[column] for column in table["column"].tolist()],
        table["selection_frequency"],
        title="Selection frequency on half-samples",
        x_title="fraction of the half-samples",
        texts=[f"{value:.2f}" for value in table["selection_frequency"]],
    )
    return figure(
        drawn,
        f"How often a feature was among the best {result.k:,} on {result.n_resamples:,} random halves of the rows: the "
        f"{len(table['feature'])} most frequent ones.",
    )


def correlation_figure(summary: RankingSummary) -> str:
    """Draw the correlations of the selected features, similar ones side by side."""
    found = summary.correlations
    if found is None:
        return ""
    names = [str(summary.names[place]) for place in found.columns.tolist()]
    drawn = heat_map(
        found.correlation, names, title="Correlations of the selected features", low=-1.0, high=1.0, diverging=True
    )
    first = f"the best {len(names)} " if summary.n_selected > len(names) else f"the {len(names)} "
    return figure(
        drawn,
        f"Correlations of {first}selected features, similar ones side by side. Orange: positive, blue: negative, "
        "paper: none. Point at a square to read it.",
        kind="correlations",
    )
