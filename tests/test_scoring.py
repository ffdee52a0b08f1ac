"""Methods as score functions, on their own and in scikit-learn's selectors."""

import pickle

import numpy as np
import pytest
from helpers import planted
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import GenericUnivariateSelect, SelectKBest, SelectPercentile
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from ilfs import FisherScore, MutualInformation, Novelty, list_methods, scorer
from ilfs.registry import make_selector

NAMES = [f"{one.name}(fisher)" if one.wraps_another else one.name for one in list_methods()]
UNSUPERVISED = [one.name for one in list_methods() if one.supervised is False]
every = pytest.mark.parametrize("name", NAMES)


def table():
    return planted(n_samples=60, n_features=12, n_informative=4)


@every
def test_scores_are_those_of_the_selector(name):
    X, y = table()
    np.testing.assert_array_equal(scorer(name)(X, y), make_selector(name).fit(X, y).scores_)


@every
@pytest.mark.parametrize(
    "selector", [SelectKBest(k=4), SelectPercentile(percentile=34), GenericUnivariateSelect(mode="k_best", param=4)]
)
def test_selectors_of_scikit_learn_accept_a_scorer(name, selector):
    X, y = table()
    done = clone(selector).set_params(score_func=scorer(name)).fit(X, y)
    np.testing.assert_array_equal(done.scores_, make_selector(name).fit(X, y).scores_)
    assert done.transform(X).shape == (60, 4)


@pytest.mark.parametrize("name", UNSUPERVISED)
def test_unsupervised_scorers_need_no_labels(name):
    X, y = table()
    scores = scorer(name)(X, y)
    np.testing.assert_array_equal(scorer(name)(X), scores)
    np.testing.assert_array_equal(scorer(name)(X, None), scores)
    np.testing.assert_array_equal(SelectKBest(scorer(name), k=4).fit(X).scores_, scores)


def test_parameters_are_those_of_the_class():
    score = scorer("mi", n_bins=4, bins="width")
    X, y = table()
    np.testing.assert_array_equal(score(X, y), MutualInformation(n_bins=4, bins="width").fit(X, y).scores_)
    assert score.get_params() == MutualInformation(n_bins=4, bins="width").get_params()
    assert score.set_params(n_bins=6) is score
    assert score.get_params()["n_bins"] == 6


def test_a_wrapped_selector_keeps_its_parameters():
    score = scorer("novelty(mi)").set_params(selector__n_bins=4)
    X, y = table()
    np.testing.assert_array_equal(score(X, y), Novelty(MutualInformation(n_bins=4)).fit(X, y).scores_)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        (
            "fisher",
            {"weight": "equal"},
            "^fisher has no parameter 'weight'; it has n_features_to_select, weighting, n_jobs, n_permutations, "
            "random_state, fdr, must_keep$",
        ),
        ("fischer", {}, r"did you mean 'fisher'\?$"),
        ("novelty", {}, r"^novelty needs another method: write novelty\(fisher\)"),
    ],
)
def test_an_invalid_name_or_parameter_is_rejected_at_construction(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        scorer(name, **parameters)


def test_set_params_rejects_an_unknown_parameter():
    with pytest.raises(ValueError, match="Invalid parameter 'weight' for estimator FisherScore"):
        scorer("fisher").set_params(weight="equal")


def test_invalid_data_are_rejected_as_by_the_selector():
    X, y = table()
    with pytest.raises(TypeError, match="Sparse data was passed for X, but SVMRFE needs all values"):
        scorer("rfe")(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="y"):
        scorer("fisher")(X)


def test_a_class_without_scores_is_rejected():
    score = scorer("sklearn.feature_selection.VarianceThreshold")
    with pytest.raises(ValueError, match=r"^a scorer needs a method that has scores_, .*, got 'sklearn.*Threshold'$"):
        score(*table())


def test_a_class_of_another_package_is_accepted():
    X, y = table()
    score = scorer("sklearn.ensemble.ExtraTreesClassifier", n_estimators=5, random_state=0)
    np.testing.assert_array_equal(score(X, y), score.selector.fit(X, y).feature_importances_)


def test_a_call_does_not_change_the_scorer():
    score = scorer("fisher")
    before = pickle.dumps(score)
    score(*table())
    assert pickle.dumps(score) == before


@every
def test_copies_are_equal_and_independent(name):
    score = scorer(name)
    for copy in (clone(score), pickle.loads(pickle.dumps(score)), clone(SelectKBest(score)).score_func):
        assert copy == score
        assert copy is not score
        assert repr(copy) == repr(score) == f"scorer({name!r})"
        copy.set_params(n_jobs=2)
        assert copy != score
        assert score.get_params()["n_jobs"] is None


def test_scorers_are_equal_if_class_and_parameters_are():
    assert scorer("mi", n_bins="auto") == scorer("mi") == scorer("ilfs.MutualInformation")
    assert scorer("mi", n_bins=4) != scorer("mi")
    assert scorer("ls") != scorer("mcfs")
    assert scorer("novelty(mi)") == scorer("novelty", selector=MutualInformation())
    assert scorer("novelty(mi)") != scorer("novelty(fisher)")
    assert scorer("novelty(mi)") != scorer("novelty", selector=MutualInformation(n_bins=4))
    assert scorer("mi") != MutualInformation()
    with pytest.raises(TypeError, match="unhashable"):
        hash(scorer("mi"))


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (scorer("mi", n_bins=4), "scorer('mi', n_bins=4)"),
        (scorer("mi", n_bins="auto"), "scorer('mi')"),
        (scorer("novelty(mi)", n_candidates=9), "scorer('novelty(mi)', n_candidates=9)"),
        (scorer("novelty", selector=FisherScore(3)), "scorer('novelty', selector=FisherScore(n_features_to_select=3))"),
    ],
)
def test_the_repr_is_the_call_that_makes_the_scorer(score, text):
    assert repr(score) == text
    assert eval(text) == score
    assert text in repr(SelectKBest(score, k=3)).replace("\n", "").replace("  ", "")


def test_a_scorer_has_an_html_representation():
    drawn = make_pipeline(SelectKBest(scorer("mi", n_bins=4)), GaussianNB())._repr_html_()
    assert "n_bins=4" in drawn


def test_a_grid_search_varies_parameters_and_scorers():
    X, y = table()
    model = make_pipeline(SelectKBest(scorer("mi"), k=3), GaussianNB())
    search = GridSearchCV(model, {"selectkbest__score_func__n_bins": [2, 5]}, cv=3, n_jobs=1).fit(X, y)
    assert search.best_estimator_[0].score_func.get_params()["n_bins"] == search.best_params_.popitem()[1]
    assert model[0].score_func == scorer("mi")
    among = [scorer("fisher"), scorer("relieff", n_neighbors=5), scorer("ls")]
    found = GridSearchCV(model, {"selectkbest__score_func": among}, cv=3).fit(X, y).best_params_
    assert found["selectkbest__score_func"] in among[:2]


def test_novelty_accepts_a_scorer_as_a_score_function():
    X, y = table()
    done = Novelty(scorer("mi"), 3).fit(X, y)
    np.testing.assert_array_equal(done.order_, Novelty(MutualInformation(), 3).fit(X, y).order_)
