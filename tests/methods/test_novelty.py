import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from brute_force import correlations, picked_by_gain, picked_by_novelty, unit_columns
from helpers import needs_callbacks, planted
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    VarianceThreshold,
    chi2,
    f_classif,
    mutual_info_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from ilfs import ILFS, METHODS, FisherScore, LaplacianScore, Novelty, novel_order
from ilfs.execution import one_blas_thread
from ilfs.methods.novelty import finite, scores_of


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Use one BLAS thread: with several test processes, more threads are much slower."""
    with one_blas_thread():
        yield


def repeated(n_samples=80, n_classes=2, seed=0):
    """Create twenty nonnegative columns: three informative ones, two noisy copies of each, and noise."""
    X, y = planted(n_samples, 20, n_informative=3, n_classes=n_classes, shift=1.5, seed=seed)
    rng = np.random.default_rng(seed + 1)
    X[:, 3:9] = np.repeat(X[:, :3], 2, axis=1) + 0.3 * rng.normal(size=(n_samples, 6))
    return X - X.min(axis=0), y


def expected_order(relevance, X, weight=None):
    """Compute the order by relevance times novelty from the definition."""
    by_relevance = np.argsort(-relevance, kind="stable")
    middle = np.median(relevance)
    r = np.maximum((relevance - middle) / (relevance.max() - middle), 0)[by_relevance]
    picks, _ = picked_by_novelty(r, correlations(X[:, by_relevance], weight))
    order = by_relevance[picks].tolist()
    return order + [j for j in by_relevance.tolist() if j not in order]


def same(one, two):
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.order_, two.order_)


class TestRelevance:
    @pytest.mark.parametrize("name", METHODS)
    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_every_method_gives_its_scores(self, name):
        X, y = repeated()
        done = Novelty(METHODS[name]()).fit(X, y)
        alone = METHODS[name]().fit(X, y)
        np.testing.assert_array_equal(done.relevance_, alone.relevance_ if name == "ilfs" else alone.scores_)
        assert isinstance(done.selector_, METHODS[name])
        np.testing.assert_array_equal(done.order_, expected_order(done.relevance_, X))

    @pytest.mark.parametrize("function", [f_classif, chi2, lambda X, y: f_classif(X, y)[0]])
    def test_a_function_gives_its_scores(self, function):
        X, y = repeated(n_classes=3)
        done = Novelty(function).fit(X, y)
        scores = function(X, y)
        np.testing.assert_array_equal(done.relevance_, scores[0] if isinstance(scores, tuple) else scores)
        np.testing.assert_array_equal(done.order_, expected_order(done.relevance_, X))
        assert done.selector_ is function

    def test_a_function_may_return_scores_without_p_values(self):
        X, y = repeated()

        def information(X, y):
            return mutual_info_classif(X, y, random_state=0)

        done = Novelty(information).fit(X, y)
        np.testing.assert_array_equal(done.relevance_, information(X, y))

    @pytest.mark.parametrize(
        ("selector", "relevance"),
        [
            (SelectKBest(k=2), lambda s: s.scores_),
            (ExtraTreesClassifier(20, random_state=0), lambda s: s.feature_importances_),
            (LogisticRegression(), lambda s: np.abs(s.coef_[0])),
            (RFE(LogisticRegression(), n_features_to_select=3), lambda s: -s.ranking_.astype(float)),
            (SelectFromModel(LogisticRegression()), lambda s: np.abs(s.estimator_.coef_[0])),
            (SelectFromModel(ExtraTreesClassifier(20, random_state=0)), lambda s: s.estimator_.feature_importances_),
        ],
        ids=lambda value: str(value) if isinstance(value, BaseEstimator) else "",
    )
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_selectors_and_models_of_scikit_learn_give_their_scores(self, selector, relevance, convert):
        X, y = repeated()
        done, alone = Novelty(selector, 3).fit(convert(X), y), clone(selector).fit(convert(X), y)
        np.testing.assert_allclose(done.relevance_, relevance(alone))
        np.testing.assert_array_equal(done.order_, expected_order(relevance(alone), X))
        assert done.transform(X).shape == (80, 3)

    def test_relevance_is_the_norm_of_the_coefficients_over_classes(self):
        X, y = repeated(n_classes=3)
        model = LogisticRegression(max_iter=1000)
        done, alone = Novelty(model).fit(X, y), clone(model).fit(X, y)
        np.testing.assert_allclose(done.relevance_, np.sqrt((alone.coef_**2).sum(axis=0)))

    def test_sparse_coefficients_are_supported(self):
        X, y = repeated()
        done = Novelty(SVC(kernel="linear")).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(done.relevance_, Novelty(SVC(kernel="linear")).fit(X, y).relevance_, rtol=1e-3)

    @pytest.mark.parametrize("scores", [{0: np.ones((3, 10))}, np.ones((1, 10))])
    def test_scores_of_another_shape_are_ignored(self, scores):
        X, y = repeated()
        model = LogisticRegression().fit(X, y)
        model.scores_ = scores  # as in LogisticRegressionCV, where they belong to folds and parameters
        np.testing.assert_array_equal(scores_of(model), np.abs(model.coef_[0]))

    @pytest.mark.parametrize("selector", [VarianceThreshold(), KMeans(2)], ids=str)
    def test_a_selector_without_scores_is_rejected(self, selector):
        with pytest.raises(
            ValueError, match="selector must have scores_, feature_importances_, coef_ or ranking_ after fitting"
        ):
            Novelty(selector).fit(*repeated())

    @pytest.mark.parametrize("bad", [None, "fisher", 3, FisherScore], ids=str)
    def test_an_invalid_selector_is_rejected(self, bad):
        with pytest.raises(ValueError, match=r"selector must be an estimator or a function of \(X, y\), got"):
            Novelty(bad).fit(*repeated())

    def test_a_wrong_number_of_scores_is_rejected(self):
        with pytest.raises(ValueError, match=r"a score for each of the 20 features, got shape \(3,\)"):
            Novelty(lambda X, y: np.ones(3)).fit(*repeated())

    def test_infinite_scores_come_first_and_missing_ones_last(self):
        X, y = repeated()
        scores = np.arange(20.0)
        scores[[4, 7]], scores[5], scores[6] = np.inf, np.nan, -np.inf
        done = Novelty(lambda X, y: scores).fit(X, y)
        assert done.order_[0] == 4
        assert done.order_[-2:].tolist() == [5, 6]
        assert done.order_.tolist().index(7) < 19
        assert np.isfinite(done.scores_).all()
        assert done.candidates_[:3].tolist() == [4, 7, 19]

    def test_infinite_scores_are_replaced_by_max_plus_range(self):
        assert finite(np.array([1.0, 3.0, np.inf])).tolist() == [1, 3, 5]
        assert finite(np.array([-3.0, -1.0, np.inf])).tolist() == [-3, -1, 1]
        assert finite(np.array([2.0, np.inf])).tolist() == [2, 3]
        assert finite(np.array([np.inf])).tolist() == [1]

    def test_features_with_an_infinite_f_statistic_are_ranked(self):
        X, y = repeated()
        X[:, [10, 12]] = np.column_stack([y, 1.0 - y])
        with np.errstate(divide="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done = Novelty(f_classif).fit(X, y)
        assert done.order_[0] == 10
        assert done.scores_[12] <= 0

    def test_features_keep_their_order_if_all_scores_are_nan(self):
        done = Novelty(lambda X, y: np.full(20, np.nan)).fit(*repeated())
        np.testing.assert_array_equal(done.scores_, np.full(20, -1.0))
        assert done.order_.tolist() == list(range(20))


class TestILFS:
    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("n_candidates", [5, 1000])
    @pytest.mark.parametrize("inside", ["gain", "novelty"])
    def test_novelty_of_ilfs_matches_ilfs_with_novelty(self, n_classes, n_candidates, inside):
        X, y = repeated(n_classes=n_classes)  # classes of equal size, so that balancing has no effect
        X, y = X[: 80 // n_classes * n_classes], y[: 80 // n_classes * n_classes]
        done = Novelty(ILFS(redundancy=inside), n_candidates=n_candidates).fit(X, y)
        own = ILFS(redundancy="novelty", n_candidates=n_candidates).fit(X, y)
        np.testing.assert_array_equal(done.relevance_, own.relevance_)
        np.testing.assert_allclose(done.scores_, own.scores_, rtol=1e-9, atol=1e-12)
        picked = own.scores_ > 0
        np.testing.assert_array_equal(done.ranking_[picked], own.ranking_[picked])
        np.testing.assert_array_equal(done.relevance_[done.order_], own.relevance_[own.order_])  # equal except for ties

    def test_gain_of_ilfs_matches_ilfs_with_gain(self):
        X, y = repeated(n_classes=3)
        done, own = Novelty(ILFS(), redundancy="gain").fit(X, y), ILFS(shapes=False).fit(X, y)
        np.testing.assert_array_equal(done.order_, own.order_)
        np.testing.assert_array_equal(done.gain_, own.gain_)

    @pytest.mark.parametrize("how", ["gain", "novelty"])
    def test_several_labels_match_ilfs(self, how):
        X, _ = repeated()
        Y = (np.random.default_rng(0).random((80, 3)) < 0.4).astype(int)
        done, own = Novelty(ILFS(), redundancy=how).fit(X, Y), ILFS(redundancy=how, shapes=False).fit(X, Y)
        np.testing.assert_allclose(done.relevance_, own.relevance_, rtol=1e-12)
        np.testing.assert_array_equal(done.order_, own.order_)
        assert list(done.per_label_) == [0, 1, 2]
        assert done.scores_per_label_.shape == (3, 20)

    @pytest.mark.parametrize("how", ["gain", "novelty"])
    @pytest.mark.parametrize("method", [lambda how: Novelty(ILFS(), redundancy=how), lambda how: ILFS(redundancy=how)])
    def test_a_label_that_all_samples_have_is_left_out(self, how, method):
        X, _ = repeated()
        Y = (np.random.default_rng(0).random((80, 3)) < 0.4).astype(int)
        with pytest.warns(UserWarning, match=r"labels \[1\] of y are the same for all samples"):
            done = method(how).fit(X, np.insert(Y, 1, 1, axis=1))
        np.testing.assert_array_equal(done.scores_, method(how).fit(X, Y).scores_)
        assert list(done.per_label_) == [0, 2, 3]


class TestGain:
    def test_gain_balances_the_classes(self):
        X, y = repeated()
        y = np.where(np.random.default_rng(0).random(80) < 0.4, 0, y)
        done = Novelty(FisherScore(), redundancy="gain").fit(X, y)
        sizes = np.bincount(y)
        weight = (sizes.mean() / sizes)[y]
        candidates = FisherScore().fit(X, y).order_
        Z, T = (unit_columns(A, weight) for A in (X[:, candidates], y[:, None] == np.arange(2)))
        ridge = 1 + 15 * np.log(20) / (weight.sum() ** 2 / (weight**2).sum())
        picks, gains = picked_by_gain(Z, T, ridge, 10)
        np.testing.assert_array_equal(done.order_[:10], candidates[picks])
        np.testing.assert_allclose(done.gain_[candidates[picks]], gains, rtol=1e-7)

    @pytest.mark.parametrize("selector", [FisherScore(), LaplacianScore(), f_classif, SelectKBest(k=2)])
    def test_gain_requires_y(self, selector):
        with pytest.raises(ValueError, match="fit requires y to be passed, but the target y is None"):
            Novelty(selector, redundancy="gain").fit(repeated()[0])

    def test_redundancy_none_is_rejected(self):
        with pytest.raises(ValueError, match="redundancy must be 'gain' or 'novelty', got None"):
            Novelty(FisherScore(), redundancy=None).fit(*repeated())


class TestLabels:
    def test_relevance_is_the_mean_over_labels_and_features_are_picked_once(self):
        X, _ = repeated()
        Y = (np.random.default_rng(0).random((80, 3)) < 0.4).astype(int)
        X[:, :3] += 2 * Y
        done = Novelty(FisherScore()).fit(X, Y)
        relevance = np.mean([FisherScore().fit(X, label).scores_ for label in Y.T], axis=0)
        np.testing.assert_allclose(done.relevance_, relevance)
        np.testing.assert_array_equal(done.order_, expected_order(relevance, X))
        assert list(done.families(2)) == done.order_[:2].tolist()
        assert "nearest" in done.table()

    def test_unsupervised_methods_need_no_labels(self):
        X, y = repeated()
        for selector in (LaplacianScore(), METHODS["mcfs"](), METHODS["cfs"]()):
            same(Novelty(selector).fit(X), Novelty(selector).fit(X, y))
            assert not hasattr(Novelty(selector).fit(X, y), "classes_")

    def test_labels_are_optional_for_an_unsupervised_function_in_select_k_best(self):
        X, y = repeated()
        selector = SelectKBest(lambda X, y=None: X.var(axis=0), k=2)
        without, with_labels = Novelty(selector).fit(X), Novelty(selector).fit(X, y)
        np.testing.assert_array_equal(without.order_, with_labels.order_)
        np.testing.assert_allclose(without.scores_, with_labels.scores_, rtol=1e-12)

    def test_labels_are_passed_to_selectors_that_do_not_require_them(self):
        with pytest.raises(ValueError, match="requires y"):
            Novelty(SelectKBest(k=2)).fit(repeated()[0])
        with pytest.raises(ValueError, match="same number of rows"):
            Novelty(SelectKBest(k=2)).fit(repeated()[0], [1, 2])


class TestRows:
    def test_integer_weights_equal_repeated_rows(self):
        X, y = repeated()
        times = np.random.default_rng(0).integers(0, 4, size=80)
        for selector in (FisherScore(), ILFS()):
            weighted = Novelty(selector).fit(X, y, sample_weight=times)
            again = Novelty(selector).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
            np.testing.assert_array_equal(weighted.order_, again.order_)
            np.testing.assert_allclose(weighted.scores_, again.scores_, rtol=1e-7, atol=1e-7)

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, sparse.csc_array])
    def test_weights_are_passed_to_models_of_scikit_learn(self, convert):
        X, y = repeated()
        X[X < 1.5] = 0.0
        weight = np.random.default_rng(0).uniform(0.1, 3, size=80)
        for selector in (LogisticRegression(), RFE(LogisticRegression(), n_features_to_select=2)):
            alone = clone(selector).fit(convert(X), y, sample_weight=weight)
            done = Novelty(selector).fit(convert(X), y, sample_weight=weight)
            np.testing.assert_array_equal(done.relevance_, scores_of(alone))
            np.testing.assert_array_equal(done.order_, expected_order(done.relevance_, X, weight))

    @pytest.mark.parametrize(
        ("selector", "name"),
        [
            (LaplacianScore(), "LaplacianScore"),
            (METHODS["relieff"](), "ReliefF"),
            (f_classif, "f_classif"),
            (SelectKBest(k=2), "SelectKBest"),
        ],
    )
    def test_weights_are_rejected_if_the_selector_does_not_support_them(self, selector, name):
        X, y = repeated()
        with pytest.raises(TypeError, match=f"sample_weight needs a selector that supports it, {name} does not"):
            Novelty(selector).fit(X, y, sample_weight=np.ones(80))

    def test_unknown_fit_parameters_are_rejected(self):
        with pytest.raises(TypeError, match="fit takes X, y and sample_weight, got 'groups'"):
            Novelty(FisherScore()).fit(*repeated(), groups=[1])

    def test_weights_are_routed_by_scikit_learn(self):
        X, y = repeated()
        weight = np.random.default_rng(0).uniform(0.1, 3, size=80)
        with config_context(enable_metadata_routing=True):
            one = Novelty(FisherScore(), 3).set_fit_request(sample_weight=True)
            model = LogisticRegression().set_fit_request(sample_weight=False)
            piped = make_pipeline(one, model).fit(X, y, sample_weight=weight)
        same(piped[0], Novelty(FisherScore(), 3).fit(X, y, sample_weight=weight))

    @pytest.mark.parametrize("rows", [slice(None), slice(0, 5)])
    def test_missing_values_are_allowed_if_the_selector_supports_them(self, rows):
        X, y = repeated()
        X[rows, :][np.random.default_rng(0).random(X[rows].shape) < 0.2] = np.nan
        done = Novelty(FisherScore()).fit(X, y)
        np.testing.assert_array_equal(done.order_, expected_order(done.relevance_, X))
        for selector, name in ((LaplacianScore(), "LaplacianScore"), (f_classif, "f_classif")):
            with pytest.raises(ValueError, match=f"contains NaN, in .* of 20 columns.* {name} takes no missing values"):
                Novelty(selector).fit(X, y)

    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
    def test_missing_values_are_found_if_all_columns_have_equally_many(self, convert):
        X, y = repeated()
        X[3] = np.nan
        with pytest.raises(ValueError, match=r"contains NaN, in .* of 20 columns.* f_classif takes no missing values"):
            Novelty(f_classif).fit(convert(X), y)
        with pytest.raises(ValueError, match=r"contains NaN, in .* of 1 column.* f_classif takes no missing values"):
            Novelty(f_classif).fit(convert(X[:, :1]), y)

    def test_sparse_input_is_allowed_if_the_selector_supports_it(self):
        X, y = repeated()
        X[X < 1.5] = 0.0
        one, two = (Novelty(FisherScore()).fit(Z, y) for Z in (X, sparse.csr_array(X)))
        np.testing.assert_array_equal(one.order_, two.order_)
        with pytest.raises(TypeError, match="Sparse data was passed for X, but InfFS needs all values"):
            Novelty(METHODS["inf_fs"]()).fit(sparse.csr_array(X), y)

    def test_feature_names_are_kept(self):
        X, y = repeated()
        names = [f"gene {j}" for j in range(20)]
        done = Novelty(FisherScore(), 4).fit(pd.DataFrame(X, columns=names), y)
        assert list(done.get_feature_names_out()) == [names[j] for j in sorted(done.order_[:4])]
        assert done.table(2)["nearest"][1] == names[done.order_[0]]


class TestAsAnEstimator:
    def test_parameters_of_the_selector_can_be_set(self):
        novelty = Novelty(ILFS(), 3).set_params(selector__n_tokens=4, n_candidates=7)
        assert novelty.selector.n_tokens == 4
        assert novelty.get_params()["selector__n_tokens"] == 4
        copy = clone(novelty)
        assert copy.selector is not novelty.selector
        assert copy.get_params(deep=False).keys() == novelty.get_params(deep=False).keys()

    def test_the_selector_given_is_not_fitted(self):
        selector = FisherScore()
        Novelty(selector).fit(*repeated())
        assert not hasattr(selector, "scores_")

    def test_pickling_keeps_the_fitted_state(self):
        X, y = repeated()
        done = Novelty(FisherScore(), 3).fit(X, y)
        again = pickle.loads(pickle.dumps(done))
        same(done, again)
        np.testing.assert_array_equal(again.transform(X), done.transform(X))

    def test_it_works_in_pipelines_and_grid_search(self):
        X, y = repeated()
        pipeline = make_pipeline(Novelty(ILFS(redundancy=None)), LogisticRegression())
        grid = {"novelty__selector__n_tokens": [4, 6], "novelty__n_features_to_select": [1, 3]}
        search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
        assert search.best_score_ > 0.8
        assert search.best_estimator_[0].selector_.n_tokens == search.best_params_["novelty__selector__n_tokens"]

    @needs_callbacks
    def test_callbacks_of_the_inner_selector_are_called(self):
        class Listener:
            max_propagation_depth = None

            def __init__(self):
                self.begun = self.ended = 0

            def setup(self, estimator, context):
                pass

            def teardown(self, estimator, context):
                pass

            def on_fit_task_begin(self, estimator, context):
                self.begun += 1

            def on_fit_task_end(self, estimator, context):
                self.ended += 1

        X, y = repeated()
        inner, outer = Listener(), Listener()
        done = Novelty(METHODS["rfe"]().set_callbacks(inner)).set_callbacks(outer).fit(X, y)
        same(done, Novelty(METHODS["rfe"]()).fit(X, y))
        assert outer.begun == outer.ended == 1
        assert inner.begun == inner.ended > 10  # features are eliminated one after the other

    def test_a_custom_estimator_is_supported(self):
        class Spread(BaseEstimator):
            def fit(self, X, y=None):
                self.scores_ = X.var(axis=0)
                return self

        X, _ = repeated()
        done = Novelty(Spread()).fit(X)
        np.testing.assert_array_equal(done.order_, expected_order(X.var(axis=0), X))


class TestOrder:
    @pytest.mark.parametrize("weight", [None, "some"])
    @pytest.mark.parametrize("missing", [0.0, 0.2])
    def test_order_matches_the_definition(self, weight, missing):
        X, _ = repeated()
        rng = np.random.default_rng(0)
        X[rng.random(X.shape) < missing] = np.nan
        relevance = rng.random(20)
        weight = None if weight is None else rng.uniform(0, 3, size=80)
        order = novel_order(relevance, X, sample_weight=weight)
        np.testing.assert_array_equal(order, expected_order(relevance, X, weight))

    def test_order_equals_that_of_the_selector(self):
        X, y = repeated()
        done = Novelty(f_classif, n_candidates=6).fit(X, y)
        np.testing.assert_array_equal(novel_order(f_classif(X, y)[0], X, n_candidates=6), done.order_)
        frame, stored = pd.DataFrame(X), sparse.csr_array(X)
        for table in (frame, stored, X.tolist()):
            np.testing.assert_array_equal(novel_order(done.relevance_, table, n_candidates=6, n_jobs=2), done.order_)

    def test_features_of_unknown_relevance_come_last(self):
        X, _ = repeated()
        relevance = np.arange(20.0)
        relevance[[3, 8]] = np.nan
        assert novel_order(relevance, X)[-2:].tolist() == [3, 8]
        assert novel_order(np.full(20, np.nan), X).tolist() == list(range(20))

    def test_equally_relevant_features_are_ordered_by_novelty(self):
        X, _ = repeated()
        order = novel_order(np.ones(20), X)
        assert order[0] == 0
        assert sorted(order) == list(range(20))

    @pytest.mark.parametrize(
        ("relevance", "message"),
        [
            (np.ones(19), r"relevance must have shape \(20,\), a number for each column of X, got \(19,\)"),
            (np.ones((20, 1)), r"relevance must have shape \(20,\)"),
            (3.0, r"relevance must have shape \(20,\)"),
            (None, r"relevance must have shape \(20,\)"),
            (["much"] * 20, "relevance must be a number for each column of X, got"),
            ([[1], [2, 3]], "relevance must be a number for each column of X, got"),
        ],
    )
    def test_invalid_relevance_is_rejected(self, relevance, message):
        with pytest.raises(ValueError, match=message):
            novel_order(relevance, repeated()[0])

    @pytest.mark.parametrize(
        ("spoil", "message"),
        [
            (lambda X: X[:1], "1 sample.* while a minimum of 2 is required"),
            (lambda X: X[0], "Expected 2D array, got 1D array"),
            (lambda X: X[:, :0], "0 feature"),
            (lambda X: X.astype(str), "not compatible with arrays of bytes/strings"),
            (lambda X: np.where(X[4, 7] == X, np.inf, X), "column 7 of X holds infinity"),
            (lambda X: X * np.append(np.ones(19), 1e200), "column 19 of X has values too far apart to be squared"),
            (lambda X: X + 1j, "Complex data not supported"),
        ],
    )
    def test_invalid_tables_are_rejected(self, spoil, message):
        with pytest.raises(ValueError, match=message):
            novel_order(np.arange(20.0), spoil(repeated()[0]))

    @pytest.mark.parametrize("n_candidates", [0, -1, 2.0, "all"])
    def test_invalid_n_candidates_is_rejected(self, n_candidates):
        with pytest.raises(ValueError, match=r"n_candidates must be None \(all features\) or an integer >= 1, got"):
            novel_order(np.arange(20.0), repeated()[0], n_candidates=n_candidates)

    @pytest.mark.parametrize("weight", [np.ones(3), np.zeros(80), -np.ones(80), np.full(80, np.nan)])
    def test_invalid_weights_are_rejected(self, weight):
        with pytest.raises(ValueError, match="sample_weight"):
            novel_order(np.arange(20.0), repeated()[0], sample_weight=weight)

    def test_invalid_n_jobs_is_rejected(self):
        with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0, got 0"):
            novel_order(np.arange(20.0), repeated()[0], n_jobs=0)
