"""Sentences on how sure a ranking is."""

import numpy as np
import pytest
from helpers import planted

from ilfs import ILFS, FisherScore
from ilfs.cross_validation import results_table
from ilfs.report.certainty import by_chance, certainty_sentences, curve_sentence, selection_sentence

SIZES = np.array([1, 10, 1000])


def test_a_test_of_means_is_said_not_to_see_the_spread():
    rng, y = np.random.default_rng(0), np.arange(200) % 2
    X = rng.normal(size=(200, 20))
    plain = ILFS(n_permutations=20).fit(X, y)
    X[y == 1, 4] *= 4
    spread = ILFS(n_permutations=20).fit(X, y)
    assert spread.order_[0] == 4
    assert not spread.is_better_than_chance_
    unseen = "This test compares class means; it does not see the spread of the values, for which the first feature was"
    assert unseen in certainty_sentences(spread)[0]
    shape = plain.shape_gain_.sum(axis=1)[plain.order_[0]] / plain.gain_.sum(axis=1)[plain.order_[0]]
    assert (unseen in certainty_sentences(plain)[0]) == (shape >= 0.5)


def sentence_of(scores, size):
    (sentence,) = curve_sentence(results_table({"n_features": SIZES}, np.array(scores)), size)
    return sentence


def test_a_flat_curve_is_said_to_be_flat():
    assert sentence_of([[0.7, 0.9, 0.7], [0.9, 0.9, 0.9], [0.8, 0.7, 0.9]], 1) == (
        "the mean accuracy over 3 folds is 0.800 (standard error 0.058) with 1 feature and 0.833 (0.067) with 10, the "
        "best number; 3 of the 3 numbers that were compared are within one standard error of the best"
    )


def test_the_best_number_is_stated_once():
    assert sentence_of([[0.5, 0.6, 0.9], [0.5, 0.6, 0.9]], 1000) == (
        "the mean accuracy over 2 folds is 0.900 (standard error 0.000) with 1,000 features, the best number; 1 of the "
        "3 numbers that were compared is within one standard error of the best"
    )


def test_one_fold_has_no_standard_error():
    assert sentence_of([[0.5, 0.75, 0.7]], 10) == "the accuracy in one fold is 0.750 with 10 features, the best number"


def test_a_fitted_selector_states_its_own_curve():
    X, y = planted(n_samples=60, n_features=8)
    fitted = FisherScore("auto").fit(X, y)
    results = fitted.cv_results_
    chosen = list(results["n_features"]).index(fitted.n_features_)
    first, second = certainty_sentences(fitted)
    assert first.startswith(f"the best {fitted.n_features_} of 8 features predict the classes nearly as well")
    assert f"{results['mean_test_score'][chosen]:.3f} (standard error {results['std_error'][chosen]:.3f})" in second
    assert f"{results['mean_test_score'].max():.3f}" in second


@pytest.mark.parametrize("number", [3, 0.5, None])
def test_a_given_number_needs_no_sentence(number):
    assert certainty_sentences(FisherScore(number).fit(*planted(n_samples=60, n_features=8))) == []


def test_the_rule_counts_its_own_features_apart_from_those_that_must_be_kept():
    X, y = planted(n_samples=60, n_features=8, shift=1.5)
    plain = FisherScore("fdr", n_permutations=99).fit(X, y)
    found = set(np.flatnonzero(plain.q_values_ <= plain.fdr).tolist())
    weak, strong = min(set(range(8)) - found), min(found)
    kept = FisherScore("fdr", n_permutations=99, must_keep=[weak, strong]).fit(X, y)
    assert kept.get_support().sum() == len(found) + 1
    assert selection_sentence(kept) == f"{selection_sentence(plain)}; besides, 1 feature that must be kept"
    assert selection_sentence(plain).startswith(f"{len(found)} of 8 features ha")


@pytest.mark.parametrize("size", [4, 0.5, None, "auto"])
def test_features_that_must_be_kept_are_mentioned_with_every_size(size):
    X, y = planted(n_samples=60, n_features=8)
    one = selection_sentence(FisherScore(size, must_keep=[7]).fit(X, y))
    two = selection_sentence(FisherScore(size, must_keep=[6, 7]).fit(X, y))
    assert one.endswith("; 1 of them must be kept and comes first")
    assert two.endswith("; 2 of them must be kept and come first")


@pytest.mark.parametrize(
    ("most", "said"), [(0, "none of them is"), (1, "at most 1 of them is"), (2, "at most 2 of them are")]
)
def test_a_bound_agrees_with_its_verb(most, said):
    assert by_chance(most) == said
