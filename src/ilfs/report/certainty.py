"""Sentences on how sure a ranking is, and how many features its rule selects."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.interactions import Interactions
from ilfs.interactions.words import text_of_log10
from ilfs.report.interactions.sentences import kinds_of_sets
from ilfs.report.summary import attribute, shape_fractions
from ilfs.selector import RankingSelector
from ilfs.ties import UNIT_FLOOR, first_of_largest
from ilfs.words import counted

MAIN_FRACTION = 0.5  # of what a feature added, from which on the spread of its values is the main reason of its pick
SPREAD_UNSEEN = (
    "This test compares class means; it does not see the spread of the values, for which the first feature was picked"
)


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
    13 of 13 features have q-values of at most 0.1; with 95 % confidence, none of them is there by chance
    """
    return [*verdict_sentence(selector), *rule_sentence(selector)]


def verdict_sentence(selector: RankingSelector) -> list[str]:
    """Say whether the best features are better than chance, alone and together, as far as that was tested.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.

    Returns
    -------
    list of str
        One sentence on single features, and one on pairs and triples if some are significant, all without a full stop.
    """
    alone, together = single_sentence(selector), sets_sentence(selector)
    if together:
        alone = [
            f"single features: {sentence.replace('the best features are', 'the best are', 1)}" for sentence in alone
        ]
    return alone + together


def sets_sentence(selector: RankingSelector) -> list[str]:
    """Say how many sets of features are significant, if there are any."""
    found = significant_sets(selector)
    if found is None:
        return []
    smallest = text_of_log10(float(found.log10_adjusted_p_values.min()))
    tell = "tells" if found.n_pairs + found.n_triples == 1 else "tell"
    return [f"together: {found.different_sets} {tell} the class (smallest adjusted p = {smallest})"]


def significant_sets(selector: RankingSelector) -> Interactions | None:
    """Return the sets of features that were found to tell the class together; None if there are none."""
    found: Interactions | None = attribute(selector, "interactions_")
    return found if found is not None and len(found) else None


def is_found(selector: Any) -> bool:
    """Return True if the best features are better than chance, or if features tell the class together."""
    return bool(getattr(selector, "is_better_than_chance_", False)) or significant_sets(selector) is not None


def single_sentence(selector: RankingSelector) -> list[str]:
    """Say whether the best single features are better than chance, if that was tested."""
    p_value = getattr(selector, "chance_p_value_", None)
    if p_value is None:
        return []
    n_permutations, level = getattr(selector, "n_permutations_", 0), getattr(selector, "fdr", 0.0)
    trials = f"{n_permutations} permutations of the labels"
    if not getattr(selector, "is_better_than_chance_", False):
        unseen = f". {SPREAD_UNSEEN}" if is_first_for_spread(selector) else ""
        return [f"the best features are NOT better than under {trials} (p = {p_value:.2g}, above {level:g}){unseen}"]
    if p_value <= 1 / (1 + n_permutations):
        trials, least = f"each of {trials}", f", the smallest value that {n_permutations} permutations can give"
    else:
        least = ""
    return [f"the best features are better than under {trials} (p = {p_value:.2g}{least})"]


def is_first_for_spread(selector: RankingSelector) -> bool:
    """Return True if the first feature was picked mainly for the spread of its values, which the test does not see."""
    fractions = shape_fractions(selector)
    return fractions is not None and bool(fractions[0] >= MAIN_FRACTION)


def rule_sentence(selector: RankingSelector) -> list[str]:
    """Say how many features are selected, if a rule has found their number."""
    rule = getattr(selector, "n_features_to_select", None)
    if not isinstance(rule, str):
        return []
    curve = curve_sentence(getattr(selector, "cv_results_", {}), getattr(selector, "n_features_", 0))
    return [selection_sentence(selector), *(curve if rule == "auto" else [])]


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
    some = f"{n_selected:,} of {counted(n_features, 'feature')}"
    if rule == "auto":
        best = f"the best {some} predict the classes nearly as well as any other number of them (linear SVM)"
        return best + kept_words(selector)
    if rule == "absorption":
        return f"the random walk of ILFS returns to about {some}{kept_words(selector)}"
    if rule == "fdr":
        return fdr_sentence(selector)
    kept = kept_words(selector)
    if rule is None:
        return f"the best {some}, which is half of them{kept}"
    asked = "as many as were asked for" if isinstance(rule, int) else f"the fraction {rule:g} that was asked for"
    return f"the best {some}, {asked}{kept}"


def kept_words(selector: RankingSelector) -> str:
    """Say how many of the selected features must be kept, as the end of a sentence; empty if none must be."""
    n_kept = selector._forced().size
    return f"; {n_kept:,} of them must be kept and {'comes' if n_kept == 1 else 'come'} first" if n_kept else ""


def fdr_sentence(selector: Any) -> str:
    """Say how many features are selected by their false discovery rate, and how many because they must be kept."""
    bound, is_found = getattr(selector, "false_discovery_bound_", None), selector.q_values_ <= selector.fdr
    n_found, n_kept = int(np.count_nonzero(is_found)), int(np.count_nonzero(~is_found[selector._forced()]))
    have = "has a q-value" if n_found == 1 else "have q-values"
    sentence = f"{n_found:,} of {counted(selector.n_features_in_, 'feature')} {have} of at most {selector.fdr:g}"
    if n_found and bound is not None:
        sentence += f"; with 95 % confidence, {by_chance(round(bound * n_found))} there by chance"
    sentence = f"{sentence}; besides, {counted(n_kept, 'feature')} that must be kept" if n_kept else sentence
    return sentence + unselected_words(selector)


def unselected_words(selector: Any) -> str:
    """Say which features the rule leaves out although they tell the class together, as the end of a sentence."""
    found, left = significant_sets(selector), unselected_members(selector)
    if found is None or not left.size:
        return ""
    wanted = np.union1d(np.flatnonzero(selector.get_support()), left)
    n_best = int(np.isin(selector.order_[: wanted.size], wanted).sum())
    those = "all of these" if n_best == wanted.size else f"{n_best:,} of these {wanted.size:,}"
    more, are = "other " if wanted.size > left.size else "", "is" if left.size == 1 else "are"
    return (
        f". The rule tests each feature alone: {counted(left.size, f'{more}feature')} of significant "
        f"{kinds_of_sets(found.columns)} {are} left out; n_features_to_select={wanted.size} keeps {those}"
    )


def unselected_members(selector: Any) -> Integers:
    """Return the columns that are in significant sets and not selected."""
    found = significant_sets(selector)
    if found is None:
        return np.empty(0, np.int64)
    members = np.unique(found.columns[found.columns >= 0])
    return np.asarray(members[~selector.get_support()[members]])


def by_chance(most: int) -> str:
    """Format a bound on the number of false discoveries, with the verb."""
    if most == 0:
        return "none of them is"
    return f"at most {most:,} of them {'is' if most == 1 else 'are'}"


def curve_sentence(results: Mapping[str, NDArray[Any]], size: int) -> list[str]:
    """State the metric of the chosen size and of the best one, and how many sizes do not differ from the best.

    Parameters
    ----------
    results : mapping of str to ndarray
        The table ``cv_results_``, or an empty one.
    size : int
        The chosen number of features.

    Returns
    -------
    list of str
        One sentence; none if the table is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.cross_validation import results_table
    >>> from ilfs.report.certainty import curve_sentence
    >>> scores = np.array([[0.6, 0.8, 0.9], [0.7, 0.9, 0.8], [0.6, 0.7, 0.9]])
    >>> print(*curve_sentence(results_table({"n_features": np.array([1, 5, 20])}, scores), 5))
    the mean accuracy over 3 folds is 0.800 (standard error 0.058) with 5 features and 0.867 (0.033) with 20, the best
    number; 1 of the 3 numbers that were compared is within one standard error of the best
    """
    if not results:
        return []
    from ilfs.cross_validation import good_enough  # imports much of scikit-learn

    sizes, mean, error = results["n_features"], results["mean_test_score"], results["std_error"]
    n_folds = sum(name.startswith("split") for name in results)
    best, chosen = first_of_largest(mean, UNIT_FLOOR), int(np.flatnonzero(sizes == size)[0])
    n_good = int(np.count_nonzero(good_enough(mean, error, "one_se")))
    if n_folds == 1:  # a callback has stopped the loop
        return [
            f"the accuracy in one fold is {mean[chosen]:.3f} with {counted(sizes[chosen], 'feature')}, the best number"
        ]
    sentence = (
        f"the mean accuracy over {n_folds} folds is {mean[chosen]:.3f} (standard error {error[chosen]:.3f}) with "
    )
    sentence += counted(sizes[chosen], "feature")
    if chosen != best:
        sentence += f" and {mean[best]:.3f} ({error[best]:.3f}) with {sizes[best]:,}"
    is_good = f"{n_good} of the {sizes.size} numbers that were compared {'is' if n_good == 1 else 'are'}"
    return [f"{sentence}, the best number; {is_good} within one standard error of the best"]
