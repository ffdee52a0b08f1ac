"""The records of the registry match the classes, and names give selectors."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from helpers import planted
from platforms import needs_repository
from scipy import sparse
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression

import ilfs
from ilfs import METHODS, FisherScore, MutualInformation, Novelty, list_methods
from ilfs.benchmark.paper_tables import METHODS_OF_THE_PAPER
from ilfs.registry import BY_NAME, classes_with, make_selector
from ilfs.selector import RankingSelector

DOCS = Path(__file__).parents[1] / "docs"
every = pytest.mark.parametrize("method", list_methods(), ids=lambda method: method.name)
plain = pytest.mark.parametrize(  # those that wrap no other selector
    "method", [one for one in list_methods() if not one.wraps_another], ids=lambda method: method.name
)


def selector_of(method):
    """Return the selector of a record with default parameters; it wraps FisherScore if it needs another selector."""
    return make_selector(f"{method.name}(fisher)" if method.wraps_another else method.name)


def table():
    return planted(n_samples=60, n_features=12, n_informative=4)


def fits(selector, X, y, **fit_params):
    """Return True if the selector accepts the data, and False if it raises one of the usual errors."""
    try:
        selector.fit(X, y, **fit_params)
    except (TypeError, ValueError):
        return False
    return True


class TestRecords:
    def test_names_and_classes_are_unique(self):
        assert len({one.name for one in list_methods()}) == len({one.path for one in list_methods()}) == 15

    def test_the_twelve_of_the_paper_come_first(self):
        twelve = [one.name for one in list_methods() if one.in_paper]
        assert set(twelve) == set(METHODS_OF_THE_PAPER)
        assert list(METHODS) == twelve == [one.name for one in list_methods()[:12]]
        assert all(METHODS[one.name] is one.load() for one in list_methods()[:12])

    @pytest.mark.parametrize("module", [ilfs, ilfs.methods])
    def test_every_class_is_exported(self, module):
        assert {one.class_name for one in list_methods()} <= set(module.__all__)
        assert all(getattr(module, one.class_name) is one.load() for one in list_methods())

    def test_every_selector_class_of_the_package_is_registered(self):
        selectors = [getattr(ilfs.methods, name) for name in ilfs.methods.__all__]
        classes = {one for one in selectors if inspect.isclass(one) and issubclass(one, RankingSelector)}
        assert classes == {one.load() for one in list_methods()}

    @every
    def test_the_path_of_a_record_is_that_of_its_class(self, method):
        selector_class = method.load()
        assert method.path == f"{selector_class.__module__}.{selector_class.__qualname__}"
        assert method.class_name == selector_class.__name__

    @every
    def test_descriptions_are_single_lines(self, method):
        for words in (method.title, method.summary, method.complexity, method.reference):
            assert words == " ".join(words.split()) != ""
            assert "|" not in words  # they are put into Markdown tables
        assert method.kind in ("filter", "wrapper", "embedded")

    @needs_repository
    @every
    def test_the_page_exists_and_names_the_class(self, method):
        page, _, heading = method.page.partition("#")
        text = (DOCS / page).read_text()
        assert method.class_name in text
        assert not heading or f"## {heading.replace('-', ' ')}" in text.lower()

    @plain
    def test_the_reference_matches_the_docstring(self, method):
        described = " ".join(inspect.getmodule(method.load()).__doc__.split()).replace("*", "")
        assert method.reference in described


def settings_of(method):
    """Parameters that decide whether a method streams."""
    return [{}, {"correlation": "pearson"}] if method.name == "inf_fs" else [{}]


class TestAbilities:
    @every
    def test_abilities_match_the_flags_of_the_class(self, method):
        selector_class = method.load()
        if method.wraps_another:
            flags = [getattr(selector_class, name) for name in ("_reads_labels", "_takes_sparse", "_takes_missing")]
            assert all(isinstance(flag, property) for flag in flags)
            return
        selector = selector_class()
        assert method.supervised is selector._reads_labels
        assert method.sparse is selector._takes_sparse
        assert method.missing is selector._takes_missing

    @every
    def test_abilities_are_none_exactly_for_methods_that_wrap_another(self, method):
        abilities = [method.sparse, method.missing, method.weights, method.multilabel]
        assert [one is None for one in abilities] == [method.wraps_another] * 4
        assert ("selector" in inspect.signature(method.load()).parameters) is method.wraps_another

    @every
    def test_abilities_match_the_tags_of_scikit_learn(self, method):
        tags, inner = selector_of(method).__sklearn_tags__(), BY_NAME["fisher"] if method.wraps_another else method
        assert tags.target_tags.required is inner.supervised
        assert tags.input_tags.sparse is inner.sparse
        assert tags.input_tags.allow_nan is inner.missing

    @plain
    def test_only_supervised_methods_need_labels(self, method):
        X, y = table()
        assert fits(selector_of(method), X, None) is not method.supervised
        if not method.supervised:
            scores = selector_of(method).fit(X, y).scores_
            np.testing.assert_array_equal(selector_of(method).fit(X, y[::-1]).scores_, scores)

    @plain
    def test_sparse_input_and_missing_values_are_accepted_as_recorded(self, method):
        X, y = table()
        assert fits(selector_of(method), sparse.csr_array(np.where(X > 0, X, 0.0)), y) is method.sparse
        X[3, 2] = np.nan
        assert fits(selector_of(method), X, y) is method.missing

    @plain
    def test_weights_are_accepted_if_fit_has_the_parameter(self, method):
        X, y = table()
        assert ("sample_weight" in inspect.signature(method.load().fit).parameters) is method.weights
        assert fits(selector_of(method), X, y, sample_weight=np.ones(60)) is method.weights

    @plain
    def test_several_labels_are_scored_one_by_one(self, method):
        X, y = table()
        done = selector_of(method).fit(X, np.column_stack([y == 0, np.arange(60) % 2]).astype(int))
        assert hasattr(done, "scores_per_label_") is method.multilabel

    @plain
    def test_a_method_streams_as_recorded(self, method):
        streams = {make_selector(method.name, **parameters)._streams for parameters in settings_of(method)}
        assert streams == ({True, False} if method.streams is None else {method.streams})

    @pytest.mark.parametrize("inner", ["fisher", "relieff", "ls"])
    def test_a_method_that_wraps_another_has_the_abilities_of_the_other(self, inner):
        selector, record, (X, y) = make_selector(f"novelty({inner})"), BY_NAME[inner], table()
        assert fits(selector, X, None) is not record.supervised
        assert fits(selector, sparse.csr_array(np.where(X > 0, X, 0.0)), y) is record.sparse
        assert fits(selector, X, y, sample_weight=np.ones(60)) is record.weights
        labels = np.column_stack([y, np.arange(60) % 2])
        assert hasattr(make_selector(f"novelty({inner})").fit(X, labels), "scores_per_label_") is record.multilabel
        X[3, 2] = np.nan
        assert fits(selector, X, y) is record.missing

    @pytest.mark.parametrize("ability", ["sparse", "missing", "weights", "multilabel", "streams"])
    def test_messages_list_the_classes_that_have_an_ability(self, ability):
        able = [one.class_name for one in list_methods() if getattr(one, ability)]
        assert classes_with(ability).split(", ") == able
        assert "ILFS" in able
        assert "Novelty" not in able

    def test_an_error_lists_the_methods_with_the_ability(self):
        X, y = table()
        with pytest.raises(TypeError, match=re.escape(f"takes sparse tables ({classes_with('sparse')})")):
            make_selector("rfe").fit(sparse.csr_array(X), y)
        X[3, 2] = np.nan
        with pytest.raises(ValueError, match=re.escape(f"leaves them out ({classes_with('missing')})")):
            make_selector("rfe").fit(X, y)


class TestMakeSelector:
    @every
    def test_a_name_gives_its_class(self, method):
        name = f"{method.name}(fisher)" if method.wraps_another else method.name
        selector = make_selector(name, n_features_to_select=3)
        assert type(selector) is method.load()
        assert selector.n_features_to_select == 3

    def test_a_name_in_parentheses_gives_a_wrapped_selector(self):
        selector = make_selector("novelty(mi)", n_candidates=50)
        assert isinstance(selector, Novelty)
        assert isinstance(selector.selector, MutualInformation)
        assert selector.n_candidates == 50
        twice = make_selector("novelty( novelty(fisher))")
        assert isinstance(twice.selector.selector, FisherScore)
        assert isinstance(make_selector("novelty", selector=FisherScore()).selector, FisherScore)

    def test_a_name_must_be_a_string(self):
        with pytest.raises(
            TypeError, match=r"^name must be a string such as 'fisher', got <class 'ilfs.methods.fisher"
        ):
            make_selector(FisherScore)

    def test_an_import_path_gives_its_class(self):
        selector = make_selector(
            "sklearn.feature_selection.SelectKBest", score_func="import:sklearn.feature_selection.f_classif", k=3
        )
        assert isinstance(selector, SelectKBest)
        assert selector.score_func is f_classif
        inner = {"selector": "sklearn.linear_model.LogisticRegression", "parameters": {"C": 0.5}}
        model = make_selector("sklearn.feature_selection.SelectFromModel", estimator=inner).estimator
        assert isinstance(model, LogisticRegression)
        assert model.C == 0.5

    def test_novelty_wraps_a_class_given_by_import_path(self):
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
    def test_a_wrong_name_or_parameter_is_rejected_in_one_sentence(self, name, parameters, message):
        with pytest.raises(ValueError, match=message):
            make_selector(name, **parameters)

    def test_an_error_of_a_class_of_the_user_is_reported_in_one_sentence(self, tmp_path, monkeypatch):
        (tmp_path / "fragile_selector.py").write_text(
            "from sklearn.base import BaseEstimator\nclass Fragile(BaseEstimator):\n"
            "    def __init__(self):\n        raise OSError('no\\ndisk')\n    def fit(self, X, y): ...\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(ValueError, match=r"^method 'fragile_selector.Fragile' cannot be made: OSError: no disk$"):
            make_selector("fragile_selector.Fragile")
