"""Sentences on how sure a ranking is, and how many features its rule selects."""

import numpy as np

from ilfs.selector import RankingSelector


def certainty_sentences(selector: RankingSelector) -> list[str]:
    """Say whether the best features are better than chance, and how many features are selected by a rule.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.

    Returns
    -------
    list of str
        Sentences without a full stop; none if the selector has neither a test nor a rule.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import FisherScore
    >>> from ilfs.report.certainty import certainty_sentences
    >>> for sentence in certainty_sentences(FisherScore("fdr", fdr=0.1).fit(*load_wine(return_X_y=True))):
    ...     print(sentence)
    the best features are better than under each of 20 permutations of the labels (p = 0.048, the smallest value that 20
    permutations can give)
    13 of 13 features have a false discovery rate of at most 0.1; with 95 % confidence, at most 0 of them are there by
    chance
    """
    return [*verdict_sentence(selector), *rule_sentence(selector)]


def verdict_sentence(selector: RankingSelector) -> list[str]:
    """Say whether the best features are better than chance, if that was tested."""
    p_value = getattr(selector, "chance_p_value_", None)
    if p_value is None:
        return []
    n_permutations, level = getattr(selector, "n_permutations_", 0), getattr(selector, "fdr", 0.0)
    trials = f"{n_permutations} permutations of the labels"
    if not getattr(selector, "is_better_than_chance_", False):
        return [f"the best features are NOT better than under {trials} (p = {p_value:.2g}, above {level:g})"]
    if p_value <= 1 / (1 + n_permutations):
        trials, least = f"each of {trials}", f", the smallest value that {n_permutations} permutations can give"
    else:
        least = ""
    return [f"the best features are better than under {trials} (p = {p_value:.2g}{least})"]


def rule_sentence(selector: RankingSelector) -> list[str]:
    """Say how many features are selected, if a rule has found their number."""
    rule = getattr(selector, "n_features_to_select", None)
    return [selection_sentence(selector)] if isinstance(rule, str) else []


def selection_sentence(selector: RankingSelector) -> str:
    """Say how many features are selected, and why that many.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.

    Returns
    -------
    str
        A sentence without a full stop.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import FisherScore
    >>> from ilfs.report.certainty import selection_sentence
    >>> selection_sentence(FisherScore(5).fit(*load_wine(return_X_y=True)))
    'the best 5 of 13 features, as many as were asked for'
    """
    rule = getattr(selector, "n_features_to_select", None)
    n_selected, n_features = int(np.count_nonzero(selector._get_support_mask())), selector.n_features_in_
    some = f"{n_selected:,} of {n_features:,} features"
    if rule == "auto":
        return f"the best {some} predict the classes nearly as well as any other number of them (linear SVM)"
    if rule == "absorption":
        return f"the random walk of ILFS returns to about {some}"
    if rule == "fdr":
        return fdr_sentence(selector, some, n_selected)
    if rule is None:
        return f"the best {some}, which is half of them"
    asked = "as many as were asked for" if isinstance(rule, int) else f"the fraction {rule:g} that was asked for"
    return f"the best {some}, {asked}"


def fdr_sentence(selector: RankingSelector, some: str, n_selected: int) -> str:
    """Say how many features are selected by their false discovery rate."""
    level, bound = getattr(selector, "fdr", 0.0), getattr(selector, "false_discovery_bound_", None)
    sentence = f"{some} have a false discovery rate of at most {level:g}"
    if not n_selected or bound is None:
        return sentence
    return f"{sentence}; with 95 % confidence, at most {round(bound * n_selected):,} of them are there by chance"
