"""The records of the registry say what the classes do, and names lead to selectors."""

import pytest
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression

from ilfs import FisherScore, MutualInformation, Novelty, list_methods
from ilfs.registry import make_selector

every = pytest.mark.parametrize("method", list_methods(), ids=lambda method: method.name)


class TestMakeSelector:
    @every
    def test_a_name_leads_to_its_class(self, method):
        name = f"{method.name}(fisher)" if method.wraps_another else method.name
        selector = make_selector(name, n_features_to_select=3)
        assert type(selector) is method.load()
        assert selector.n_features_to_select == 3

    def test_a_method_around_another_one(self):
        selector = make_selector("novelty(mi)", n_candidates=50)
        assert isinstance(selector, Novelty)
        assert isinstance(selector.selector, MutualInformation)
        assert selector.n_candidates == 50
        twice = make_selector("novelty(novelty(fisher))")
        assert isinstance(twice.selector.selector, FisherScore)
        assert isinstance(make_selector("novelty", selector=FisherScore()).selector, FisherScore)

    def test_a_class_by_its_import_path(self):
        selector = make_selector(
            "sklearn.feature_selection.SelectKBest", score_func="import:sklearn.feature_selection.f_classif", k=3
        )
        assert isinstance(selector, SelectKBest)
        assert selector.score_func is f_classif
        inner = {"selector": "sklearn.linear_model.LogisticRegression", "parameters": {"C": 0.5}}
        model = make_selector("sklearn.feature_selection.SelectFromModel", estimator=inner).estimator
        assert isinstance(model, LogisticRegression)
        assert model.C == 0.5

    def test_a_class_around_which_novelty_is_put(self):
        selector = make_selector("novelty(sklearn.feature_selection.SelectKBest)")
        assert isinstance(selector.selector, SelectKBest)

    @pytest.mark.parametrize(
        ("name", "parameters", "message"),
        [
            ("fischer", {}, r"^method 'fischer' is none of ilfs, .*, novelty, and cannot .*; did you mean 'fisher'\?$"),
            ("FisherScore", {}, r"did you mean 'fisher'\?$"),
            ("LaplacianScore", {}, r"did you mean 'ls'\?$"),
            ("novelty(fischer)", {}, r"^method 'fischer' .*; did you mean 'fisher'\?$"),
            ("novelty", {}, r"^novelty needs another method: write novelty\(fisher\), or give the parameter selector$"),
            ("novelty()", {}, r"^method 'novelty\(\)' is none of .*; did you mean 'novelty'\?$"),
            ("novelty(mi", {}, r"^method 'novelty\(mi' is none of .*; did you mean 'novelty'\?$"),
            ("fisher(mi)", {}, r"^fisher\(mi\): fisher wraps no other method, only novelty does$"),
            ("novelty(mi)", {"selector": FisherScore()}, r"^novelty\(mi\) has a selector already, got the parameter"),
            (
                "fisher",
                {"weight": 1},
                r"^fisher has no parameter 'weight'; it has n_features_to_select, weighting, n_jobs",
            ),
            ("", {}, "^method '' is none of ilfs"),
            (
                "sklearn.feature_selection.f_classif",
                {},
                "must be a subclass of sklearn.base.BaseEstimator with fit, got",
            ),
            ("no_such_package.Own", {}, "there is no module no_such_package among the installed packages"),
            ("novelty", {"selector": {"selector": 3}}, "^the selector of an inner estimator must be a name, got 3$"),
            (
                "novelty",
                {"selector": {"selector": "mi", "parameters": 3}},
                "^the parameters of inner estimator 'mi' must be a mapping, got 3$",
            ),
        ],
    )
    def test_a_wrong_name_or_parameter_is_one_sentence(self, name, parameters, message):
        with pytest.raises(ValueError, match=message):
            make_selector(name, **parameters)

    def test_an_error_of_a_foreign_class_is_one_sentence(self, tmp_path, monkeypatch):
        (tmp_path / "fragile_selector.py").write_text(
            "from sklearn.base import BaseEstimator\nclass Fragile(BaseEstimator):\n"
            "    def __init__(self):\n        raise OSError('no\\ndisk')\n    def fit(self, X, y): ...\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(ValueError, match=r"^method 'fragile_selector.Fragile' cannot be made: OSError: no disk$"):
            make_selector("fragile_selector.Fragile")
