"""Interactions as data for JSON."""

from typing import Any

from ilfs.report.interactions.sentences import found_sentence, power_sentence
from ilfs.report.interactions.summary import FoundSet, InteractionSummary


def interactions_as_data(summary: InteractionSummary, top: int | None = None) -> dict[str, Any]:
    """Describe interactions by numbers, words, lists and dicts that JSON can hold.

    Parameters
    ----------
    summary : InteractionSummary
        The result.
    top : int, optional
        Number of sets; all by default.

    Returns
    -------
    dict
        ``search`` (what was tested, and what could be found) and ``interactions``, strongest first.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.interactions import find_interactions
    >>> from ilfs.report.interactions import summarise_interactions
    >>> from ilfs.report.interactions.data import interactions_as_data
    >>> X = np.random.default_rng(0).normal(size=(300, 20))
    >>> found = interactions_as_data(summarise_interactions(find_interactions(X, X[:, 3] * X[:, 7] > 0)))
    >>> found["search"]["significant"], found["interactions"][0]["features"]
    (1, ['x3', 'x7'])
    """
    return {
        "search": {
            "order": summary.order,
            "level": summary.alpha,
            "tests": summary.n_tests,
            "significant": summary.n_significant,
            "sentence": found_sentence(summary),
            "power": power_sentence(summary) or None,
        },
        "interactions": [set_as_data(summary, rank, one) for rank, one in enumerate(summary.sets[:top], start=1)],
    }


def set_as_data(summary: InteractionSummary, rank: int, one: FoundSet) -> dict[str, Any]:
    """Describe one set."""
    return {
        "rank": rank,
        "features": list(one.names),
        "columns": list(one.columns),
        "statistic": one.statistic,
        "p_value": one.p_value,
        "adjusted_p_value": one.adjusted_p_value,
        "log10_adjusted_p_value": one.log10_adjusted_p_value,
        "effect": one.words,
        "class": summary.labels[one.group],
        "excess": one.excess,
        "ranks_alone": list(one.alone) or None,
    }
