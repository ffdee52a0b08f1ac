import pickle
import warnings

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import planted
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ilfs import ILFS
from ilfs.selector import Scores, n_selected

NAMES = [f"gene {j}" for j in range(10)]


@pytest.fixture(scope="module")
def table():
    return planted(n_samples=60, n_features=10, n_informative=3)


def labelled(seed=0):
    """Return noise and an indicator matrix of three labels; each label shifts one column."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((80, 3)) < 0.4).astype(int)
    X = rng.normal(size=(80, 8))
    X[:, :3] += 2 * Y
    return X, Y


class TestScores:
    def test_larger_is_better_and_ties_keep_column_order(self):
        assert Scores(np.array([1.0, 3.0, 1.0, 2.0])).order().tolist() == [1, 3, 0, 2]

    def test_tie_break_comes_before_column_order(self):
        scores = Scores(np.array([1.0, 3.0, 1.0, 1.0]), np.array([0.0, -9.0, 5.0, 0.0]))
        assert scores.order().tolist() == [1, 2, 0, 3]

    def test_infinite_tie_breaks_are_ordered(self):
        scores = Scores(np.zeros(3), np.array([-np.inf, -1.0, np.inf]))
        assert scores.order().tolist() == [2, 1, 0]


class TestValues:
    @pytest.mark.parametrize("value", ["n/a", "", "1,5"])
    def test_text_among_numbers_is_rejected_with_column_and_row(self, value):
        frame = pd.DataFrame({"TP53": [1, 2, 3, 4], "BRCA1": [1, value, 3, 5]})
        with pytest.raises(ValueError, match=rf"columns of X must hold numbers, 'BRCA1' has '{value}' in row 1"):
            ILFS().fit(frame, [0, 1, 0, 1])
        with pytest.raises(ValueError, match=rf"columns of X must hold numbers, 1 has '{value}' in row 1"):
            ILFS().fit(frame.to_numpy(), [0, 1, 0, 1])

    def test_a_value_that_is_not_a_number_is_rejected_with_column_and_row(self):
        frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": pd.Series([1, 2, pd.NA, 5], dtype=object)})
        with pytest.raises(TypeError, match=r"columns of X must hold numbers, 'b' has <NA> in row 2"):
            ILFS().fit(frame, [0, 1, 0, 1])

    def test_none_is_a_missing_value(self):
        frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": pd.Series([1, 2, None, 5], dtype=object)})
        expected = ILFS().fit(frame.astype(float), [0, 1, 0, 1]).scores_
        np.testing.assert_array_equal(ILFS().fit(frame, [0, 1, 0, 1]).scores_, expected)


class TestNumberOfFeatures:
    @pytest.mark.parametrize(
        ("wanted", "kept"),
        [(1, 1), (7, 7), (10, 10), (np.int64(4), 4), (0.3, 3), (0.35, 3), (0.01, 1), (1.0, 10), (None, 5)],
    )
    def test_a_number_a_fraction_or_half_is_selected(self, table, wanted, kept):
        X, y = table
        selector = ILFS(wanted).fit(X, y)
        assert selector.transform(X).shape == (60, kept)
        assert set(selector.get_support(indices=True)) == set(selector.order_[:kept])

    def test_half_of_one_column_is_one(self, table):
        X, y = table
        assert ILFS().fit(X[:, :1], y).get_support().tolist() == [True]

    def test_more_features_than_x_has_are_clipped_with_a_warning(self, table):
        X, y = table
        with pytest.warns(UserWarning, match="n_features_to_select=11 is more than the 10 features of X"):
            selector = ILFS(11).fit(X, y)
        assert selector.transform(X).shape == (60, 10)
        assert selector.n_features_to_select == 11

    def test_a_fraction_does_not_lose_a_feature_to_rounding(self):
        assert n_selected(0.29, 100) == 29  # 0.29 * 100 is 28.999999999999996

    def test_the_number_of_features_may_change_after_fitting(self, table):
        X, y = table
        selector = ILFS(2).fit(X, y)
        assert selector.set_params(n_features_to_select=4).transform(X).shape == (60, 4)

    @pytest.mark.parametrize("wanted", [0, -1, 0.0, 1.5, -0.5, np.nan, True, "all", [3], np.inf])
    def test_any_other_number_of_features_is_rejected(self, table, wanted):
        with pytest.raises(
            ValueError, match=r"n_features_to_select must be an integer >= 1, a fraction .* got "
        ) as error:
            ILFS(wanted).fit(*table)
        assert repr(wanted) in str(error.value)


class TestInputIsNotModified:
    @pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
    def test_input_is_not_changed_and_may_be_read_only(self, table, convert):
        X, y = convert(table[0]), table[1].copy()
        weight = np.linspace(0.5, 2, 60)
        arrays = [y, weight] + ([X.data, X.indices, X.indptr] if sparse.issparse(X) else [X])
        before = [array.copy() for array in arrays]
        for array in arrays:
            array.flags.writeable = False
        ILFS().fit(X, y, weight).transform(X)
        for array, was in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, was)

    def test_a_writeable_array_stays_writeable(self, table):
        X, y = table[0].copy(), table[1].copy()
        ILFS().fit(X, y)
        assert X.flags.writeable

    def test_indicator_matrix_is_not_changed(self):
        X, Y = labelled()
        Y.flags.writeable = False
        ILFS().fit(X, Y)

    def test_parameters_are_not_changed(self, table):
        selector = ILFS(0.3, n_jobs=2)
        before = selector.get_params()
        selector.fit(*table)
        assert selector.get_params() == before


class TestScikitLearn:
    def test_a_clone_is_unfitted_and_a_pickled_selector_gives_the_same_result(self, table):
        X, y = table
        selector = ILFS(3, n_tokens=5).fit(X, y)
        assert clone(selector).get_params() == selector.get_params()
        assert not hasattr(clone(selector), "scores_")
        again = pickle.loads(pickle.dumps(selector))
        np.testing.assert_array_equal(again.transform(X), selector.transform(X))
        np.testing.assert_array_equal(again.scores_, selector.scores_)

    def test_an_unfitted_selector_raises_not_fitted_error(self, table):
        for use in (lambda s: s.transform(table[0]), lambda s: s.get_support(), lambda s: s.table()):
            with pytest.raises(NotFittedError):
                use(ILFS())

    def test_inverse_transform_fills_with_zeros(self, table):
        X, y = table
        selector = ILFS(3).fit(X, y)
        back = selector.inverse_transform(selector.transform(X))
        mask = selector.get_support()
        np.testing.assert_array_equal(back[:, mask], X[:, mask])
        np.testing.assert_array_equal(back[:, ~mask], 0)

    def test_sparse_stays_sparse(self, table):
        X, y = table
        kept = ILFS(3).fit(sparse.csr_array(X), y).transform(sparse.csr_array(X))
        assert sparse.issparse(kept)
        np.testing.assert_array_equal(kept.toarray(), ILFS(3).fit(X, y).transform(X))

    def test_feature_names_out_are_in_column_order(self, table):
        X, y = table
        selector = ILFS(3).fit(X, y)
        expected = [f"x{j}" for j in sorted(selector.order_[:3])]
        assert selector.get_feature_names_out().tolist() == expected
        assert selector.get_feature_names_out(NAMES).tolist() == [NAMES[j] for j in sorted(selector.order_[:3])]

    def test_a_selector_works_in_a_pipeline(self, table):
        X, y = table
        model = make_pipeline(StandardScaler(), ILFS(3), LogisticRegression()).fit(X, y)
        assert model.score(X, y) > 0.9
        assert model[:-1].get_feature_names_out().size == 3

    def test_a_grid_search_finds_the_number_of_features(self):
        X, y = planted(n_samples=90, n_features=200, n_informative=4, shift=1.5)
        model = make_pipeline(ILFS(), LogisticRegression())
        search = GridSearchCV(model, {"ilfs__n_features_to_select": [4, 200]}, cv=3).fit(X, y)
        assert search.best_params_ == {"ilfs__n_features_to_select": 4}

    def test_weights_reach_the_selector_through_a_pipeline(self, table):
        X, y = table
        weight = np.random.default_rng(0).integers(0, 5, size=60).astype(float)
        with config_context(enable_metadata_routing=True):
            model = Pipeline(
                [
                    ("select", ILFS(3).set_fit_request(sample_weight=True)),
                    ("classify", LogisticRegression().set_fit_request(sample_weight=False)),
                ]
            ).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(model["select"].scores_, ILFS().fit(X, y, weight).scores_)
        assert not np.allclose(model["select"].scores_, ILFS().fit(X, y).scores_)

    def test_weights_reach_the_selector_through_a_grid_search(self, table):
        X, y = table
        weight = np.random.default_rng(0).integers(1, 5, size=60).astype(float)
        with config_context(enable_metadata_routing=True):
            model = Pipeline(
                [
                    ("select", ILFS().set_fit_request(sample_weight=True)),
                    (
                        "classify",
                        LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
                    ),
                ]
            )
            model.set_score_request(sample_weight=True)  # scikit-learn 1.6 also needs the request of the pipeline
            search = GridSearchCV(model, {"select__n_features_to_select": [2, 3]}, cv=3)
            search.fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(search.best_estimator_["select"].scores_, ILFS().fit(X, y, weight).scores_)

    def test_weights_without_a_fit_request_are_rejected_by_a_pipeline(self, table):
        X, y = table
        with config_context(enable_metadata_routing=True), pytest.raises(ValueError, match="sample_weight"):
            make_pipeline(ILFS(), LogisticRegression()).fit(X, y, sample_weight=np.ones(60))

    def test_a_second_fit_removes_the_attributes_of_the_first(self, table):
        X, y = table
        many, Y = labelled()
        again = ILFS().fit(many, Y).fit(X, y)
        assert vars(again).keys() == vars(ILFS().fit(X, y)).keys()
        again = ILFS().fit(X, y).fit(many, Y)
        assert vars(again).keys() == vars(ILFS().fit(many, Y)).keys()

    def test_a_failed_fit_removes_the_attributes_of_the_last(self, table):
        X, y = table
        selector = ILFS().fit(X, y)
        with pytest.raises(ValueError, match="same number of rows"):
            selector.fit(X[:, :3], y[:-1])
        with pytest.raises(NotFittedError):
            selector.table()

    @pytest.mark.parametrize("wanted", [0, "all"])
    def test_parameters_changed_after_fitting_are_checked(self, table, wanted):
        selector = ILFS().fit(*table).set_params(n_features_to_select=wanted)
        with pytest.raises(ValueError, match="n_features_to_select must be"):
            selector.transform(table[0])

    @pytest.mark.parametrize("top", [0, -1, 2.5, "3"])
    def test_an_invalid_number_of_rows_of_the_ranking_is_rejected(self, table, top):
        with pytest.raises(ValueError, match="top must be an integer >= 1"):
            ILFS().fit(*table).table(top)

    def test_the_number_of_blas_threads_does_not_change_the_result(self):
        X, y = planted(n_samples=30, n_features=100_000)
        fits = []
        for threads in (1, 2):
            with threadpool_limits(threads):
                fits.append(ILFS().fit(X, y))
        for name in ("scores_", "topic_weights_", "relevance_", "loglik_"):
            np.testing.assert_array_equal(getattr(fits[0], name), getattr(fits[1], name))

    def test_a_fit_without_names_removes_the_names_of_the_last(self, table):
        X, y = table
        selector = ILFS().fit(pd.DataFrame(X, columns=NAMES), y).fit(X, y)
        assert not hasattr(selector, "feature_names_in_")
        assert selector.table()["feature"][0] == f"x{selector.order_[0]}"


class TestDataFrames:
    @pytest.mark.parametrize("frame", [pd.DataFrame, lambda X, columns: pl.DataFrame(X, schema=columns)])
    def test_a_frame_equals_its_array_and_keeps_names(self, table, frame):
        X, y = table
        selector = ILFS(3).fit(frame(X, columns=NAMES), y)
        np.testing.assert_array_equal(selector.scores_, ILFS().fit(X, y).scores_)
        assert selector.feature_names_in_.tolist() == NAMES
        assert selector.get_feature_names_out().tolist() == [NAMES[j] for j in sorted(selector.order_[:3])]

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_transform_returns_a_frame_if_set_output_says_so(self, table, library):
        X, y = table
        frame = pd.DataFrame(X, columns=NAMES) if library == "pandas" else pl.DataFrame(X, schema=NAMES)
        selector = ILFS(3).set_output(transform=library).fit(frame, y)
        kept = selector.transform(frame)
        assert isinstance(kept, pd.DataFrame if library == "pandas" else pl.DataFrame)
        assert list(kept.columns) == selector.get_feature_names_out().tolist()
        np.testing.assert_array_equal(kept.to_numpy(), X[:, selector.get_support()])

    def test_labels_may_be_a_series_of_either_library(self, table):
        X, y = table
        names = np.array(["no", "yes"])[y]
        expected = ILFS().fit(X, names).scores_
        for labels in (
            pd.Series(names, index=range(100, 160)),
            pd.Series(names, dtype="category"),
            pd.Series(names, dtype="string"),
            pl.Series(names),
            pl.Series(names, dtype=pl.Categorical),
            list(names),
        ):
            np.testing.assert_array_equal(ILFS().fit(X, labels).scores_, expected)

    @pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean"])
    def test_labels_may_have_a_nullable_dtype(self, table, dtype):
        X, y = table
        labels = pd.Series(y == 1 if dtype == "boolean" else y, dtype=dtype)
        np.testing.assert_array_equal(ILFS().fit(X, labels).scores_, ILFS().fit(X, y).scores_)

    def test_nullable_pandas_columns_may_have_missing_values(self, table):
        X, y = table
        numbers = np.round(10 * X[:, :3])
        missing = np.random.default_rng(0).random(numbers.shape) < 0.2
        frame = pd.DataFrame(
            {
                "integers": pd.array(numbers[:, 0].astype(int), dtype="Int64"),
                "floats": pd.array(numbers[:, 1], dtype="Float64"),
                "booleans": pd.array(numbers[:, 2] > 0, dtype="boolean"),
            }
        ).mask(missing)
        expected = np.where(missing, np.nan, np.column_stack([numbers[:, :2], numbers[:, 2] > 0]))
        np.testing.assert_array_equal(ILFS().fit(frame, y).scores_, ILFS().fit(expected, y).scores_)

    def test_polars_columns_may_have_missing_values(self, table):
        X, y = table
        numbers = np.round(10 * X[:, :2])
        missing = np.random.default_rng(0).random(60) < 0.2
        integers = [None if gone else int(x) for gone, x in zip(missing, numbers[:, 0], strict=True)]
        frame = pl.DataFrame({"integers": integers, "floats": numbers[:, 1]})
        expected = np.column_stack([np.where(missing, np.nan, numbers[:, 0]), numbers[:, 1]])
        np.testing.assert_array_equal(ILFS().fit(frame, y).scores_, ILFS().fit(expected, y).scores_)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_infinity_is_rejected_with_the_column_name(self, table, frame):
        X, y = table
        columns = dict(zip(NAMES, X.T.copy(), strict=True))
        columns["gene 4"][7] = -np.inf
        with pytest.raises(ValueError, match=r"column 'gene 4' .*infinity"):
            ILFS().fit(frame(columns), y)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_text_is_rejected_with_the_column_name(self, table, frame):
        X, y = table
        with pytest.raises(ValueError, match="columns of X must hold numbers, 'town' holds String"):
            ILFS().fit(frame({"size": X[:, 0], "town": ["here"] * 60}), y)

    def test_dates_are_rejected_with_the_column_name(self, table):
        X, y = table
        frame = pd.DataFrame({"size": X[:, 0], "day": pd.Timestamp("2017-10-22")})
        with pytest.raises(ValueError, match="columns of X must hold numbers, 'day' holds Datetime"):
            ILFS().fit(frame, y)

    def test_duplicate_column_names_are_rejected(self, table):
        X, y = table
        with pytest.raises(ValueError, match="columns of X must have different names, 'a' occurs 2 times"):
            ILFS().fit(pd.DataFrame(X[:, :3], columns=["a", "b", "a"]), y)

    def test_columns_without_text_names_are_numbered(self, table):
        X, y = table
        selector = ILFS(2).fit(pd.DataFrame(X), y)
        assert not hasattr(selector, "feature_names_in_")
        assert selector.get_feature_names_out()[0].startswith("x")

    def test_a_lazy_frame_gives_the_scores_of_the_array(self, table):
        X, y = table
        assert np.array_equal(ILFS().fit(pl.DataFrame(X).lazy(), y).scores_, ILFS().fit(X, y).scores_)

    @pytest.mark.parametrize("kind", [int, bool, str, float])
    def test_labels_may_be_python_objects(self, table, kind):
        X, y = table
        objects = np.array([kind(label) for label in y.tolist()], dtype=object)
        np.testing.assert_array_equal(ILFS().fit(X, objects).scores_, ILFS().fit(X, y).scores_)

    def test_changing_the_table_does_not_change_the_selector(self, table):
        selector = ILFS().fit(*table)
        before = selector.order_.copy()
        selector.table()["column"][:] = 0
        np.testing.assert_array_equal(selector.order_, before)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_the_ranking_table_makes_a_frame(self, table, frame):
        X, y = table
        selector = ILFS().fit(pd.DataFrame(X, columns=NAMES), y)
        ranking = nw.from_native(frame(selector.table(top=4)))
        assert ranking.columns[:5] == ["rank", "feature", "column", "score", "relevance"]
        assert ranking.columns[-3:] == ["novelty", "nearest", "correlation"]
        assert ranking["rank"].to_list() == [1, 2, 3, 4]
        assert ranking["feature"].to_list() == [NAMES[j] for j in selector.order_[:4]]
        np.testing.assert_array_equal(ranking["relevance"].to_numpy(), selector.relevance_[selector.order_[:4]])

    def test_names_may_be_passed_to_the_table(self, table):
        selector = ILFS().fit(*table)
        assert selector.table(1, NAMES)["feature"].tolist() == [NAMES[selector.order_[0]]]
        with pytest.raises(ValueError, match="input_features must name each of the 10 columns, got 2 names"):
            selector.table(input_features=["a", "b"])


class TestBadInput:
    @pytest.mark.parametrize(
        ("X", "y", "message"),
        [
            (np.empty((0, 3)), [], "0 sample"),
            (np.empty((4, 0)), [0, 1, 0, 1], "0 feature"),
            (np.ones((1, 3)), [0], "1 sample"),
            (np.ones(4), [0, 1, 0, 1], "Expected 2D array"),
            (np.ones((4, 2), dtype=complex), [0, 1, 0, 1], "Complex data not supported"),
            (np.array([["a", "b"]] * 4), [0, 1, 0, 1], "numeric"),
            (np.ones((4, 2)), None, "requires y to be passed, but the target y is None"),
            (np.ones((4, 2)), [0, 1, 0], "X and y must have the same number of rows, got 4 and 3"),
            (np.ones((4, 2)), [0.5, 1.7, 0.1, 0.2], "y must hold classes .* got continuous values"),
            (np.ones((4, 2)), [[1, 2], [0, 1], [2, 2], [0, 1]], "y must hold classes or be an indicator matrix"),
            (np.ones((4, 2)), [[1, 2], [2, 1], [1, 1], [2, 2]], "an indicator matrix y must hold 0 and 1, got 2"),
            (np.ones((4, 2)), [[1, -1], [-1, 1], [1, 1], [1, 1]], "an indicator matrix y must hold 0 and 1, got -1"),
            (np.ones((4, 2)), [0, 1, np.nan, 1], r"\by\b.*NaN"),
            (np.ones((4, 2)), np.array(["a", "b", np.nan, "b"], dtype=object), r"\by\b.*(missing|NaN|one type)"),
            (np.ones((4, 2)), np.array(["a", "b", None, "b"], dtype=object), r"\by\b.*(missing|NaN|one type)"),
            (np.ones((4, 2)), pd.Series(["a", "b", pd.NA, "b"], dtype="string"), r"\by\b.*(missing|NaN|one type)"),
        ],
        ids=[
            "no rows",
            "no columns",
            "one row",
            "one dimension",
            "complex",
            "text",
            "no y",
            "short y",
            "continuous y",
            "several classes a row",
            "labels of 1 and 2",
            "labels of -1 and 1",
            "NaN in y",
            "NaN among text in y",
            "None among text in y",
            "NA among text in y",
        ],
    )
    def test_invalid_x_or_y_is_rejected(self, X, y, message):
        with pytest.raises(ValueError, match=message):
            ILFS().fit(X, y)

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            (-np.ones(60), "sample_weight must not be negative, got -1 in row 0"),
            (np.r_[np.ones(59), np.nan], "sample_weight contains NaN"),
            (np.r_[np.ones(59), np.inf], "sample_weight contains infinity"),
            (np.ones(59), r"sample_weight must have shape \(60,\), .* got \(59,\)"),
            (np.ones((60, 1)), r"sample_weight must have shape \(60,\), .* got \(60, 1\)"),
            (np.zeros(60), "sample_weight must contain at least one non-zero number"),
        ],
        ids=["negative", "NaN", "infinite", "short", "two dimensions", "zero"],
    )
    def test_invalid_weights_are_rejected(self, table, weight, message):
        with pytest.raises(ValueError, match=message):
            ILFS().fit(*table, sample_weight=weight)

    @pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, pd.NaT])
    def test_a_missing_label_is_rejected_with_its_row(self, table, nothing):
        X, _ = table
        y = np.array(["a", "b"] * 30, dtype=object)
        y[7] = nothing
        with pytest.raises(ValueError, match="y must have a label for every sample, row 7 has none"):
            ILFS().fit(X, y)

    def test_weights_with_a_small_mean_give_a_warning(self, table):
        X, y = table
        with pytest.warns(UserWarning, match="its mean is 0.2: scale relative weights to a mean of 1"):
            ILFS().fit(X, y, sample_weight=np.full(len(y), 0.2))

    def test_masked_values_are_missing_values(self, table):
        X, y = table
        mask = np.random.default_rng(0).random(X.shape) < 0.2
        masked = ILFS().fit(np.ma.masked_array(X, mask), y)
        np.testing.assert_array_equal(masked.scores_, ILFS().fit(np.where(mask, np.nan, X), y).scores_)

    def test_a_column_vector_of_labels_is_accepted_with_a_warning(self, table):
        X, y = table
        with pytest.warns(DataConversionWarning):
            selector = ILFS().fit(X, y[:, None])
        np.testing.assert_array_equal(selector.scores_, ILFS().fit(X, y).scores_)

    def test_warnings_point_at_the_line_that_called_fit(self, table):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ILFS(max_iter=1).fit(*table)
            ILFS().fit(np.ones((60, 2)), table[1])
            ILFS().fit(table[0], np.r_[np.zeros(59), 1])
        assert len(caught) == 3
        assert {warning.filename for warning in caught} == {__file__}


class TestIndicatorMatrix:
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, sparse.csc_array, pd.DataFrame])
    @pytest.mark.parametrize("dtype", [int, bool, float])
    def test_scores_are_the_mean_over_labels(self, convert, dtype):
        X, Y = labelled()
        selector = ILFS(redundancy=None).fit(X, convert(Y.astype(dtype)))
        assert selector.scores_per_label_.shape == (3, 8)
        np.testing.assert_allclose(selector.scores_, selector.scores_per_label_.mean(axis=0))
        for j in range(3):
            alone = ILFS(redundancy=None).fit(X, Y[:, j])
            np.testing.assert_array_equal(selector.scores_per_label_[j], alone.scores_)

    def test_relevance_and_log_odds_are_means_over_labels(self):
        X, Y = labelled()
        selector = ILFS().fit(X, Y)
        alone = [ILFS().fit(X, Y[:, j]) for j in range(3)]
        np.testing.assert_allclose(selector.relevance_, np.mean([one.relevance_ for one in alone], axis=0))
        np.testing.assert_allclose(selector.mean_log_odds_, np.mean([one.mean_log_odds_ for one in alone], axis=0))
        assert selector.n_iter_ == max(one.n_iter_ for one in alone)

    def test_the_selector_of_each_label_is_kept(self):
        X, Y = labelled()
        selector = ILFS(2).fit(pd.DataFrame(X, columns=list("abcdefgh")), Y)
        assert sorted(selector.per_label_) == [0, 1, 2]
        for j, one in selector.per_label_.items():
            assert one.order_[0] == j
            assert one.get_feature_names_out().size == 2
            assert one.table(1)["feature"][0] == "abc"[j]
            assert one.token_counts_.shape == (8, 6)

    def test_features_of_all_labels_come_before_noise(self):
        assert sorted(ILFS().fit(*labelled()).order_[:3]) == [0, 1, 2]

    def test_integer_weights_equal_repeated_rows(self):
        X, Y = labelled()
        weight = np.random.default_rng(0).integers(0, 3, size=80)
        often = ILFS().fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
        np.testing.assert_allclose(ILFS().fit(X, Y, weight).scores_, often.scores_, rtol=1e-6)

    def test_a_constant_label_is_left_out_with_a_warning(self):
        X, Y = labelled()
        padded = np.column_stack([np.ones(80, int), Y, np.zeros(80, int)])
        with pytest.warns(UserWarning, match=r"labels \[0, 4\] of y are the same for all samples"):
            selector = ILFS().fit(X, padded)
        assert np.isnan(selector.scores_per_label_[[0, 4]]).all()
        np.testing.assert_array_equal(selector.scores_, ILFS().fit(X, Y).scores_)
        assert sorted(selector.per_label_) == [1, 2, 3]

    def test_a_label_that_only_rows_with_weight_zero_have_is_left_out(self):
        X, Y = labelled()
        weight = np.ones(80)
        weight[Y[:, 2] == 1] = 0
        with pytest.warns(UserWarning, match=r"labels \[2\]"):
            ILFS().fit(X, Y, weight)

    def test_warnings_name_the_label(self):
        X, Y = labelled()
        Y = np.column_stack([Y, np.eye(len(Y), dtype=int)[0]])
        with pytest.warns(UserWarning, match="label 3: leave_one_out needs more than one sample") as caught:
            ILFS().fit(X, Y)
        assert len(caught) == 1

    def test_only_constant_labels_are_rejected(self):
        X, Y = labelled()
        with pytest.raises(ValueError, match="y must have a label that some samples have and some have not"):
            ILFS().fit(X, np.ones_like(Y))

    @pytest.mark.parametrize("topics", ["shrunk", "anchored"])
    def test_a_constant_column_comes_after_misleading_columns(self, topics):
        rows = np.arange(48)
        Y = np.column_stack([rows % 2, rows // 2 % 2])
        misleading = np.where(rows % 8 < 4, 1.0, -1.0)
        selector = ILFS(topics=topics).fit(np.column_stack([np.ones(48), misleading]), Y)
        assert selector.order_.tolist() == [1, 0]

    def test_infinity_is_rejected_with_the_column_name(self):
        X, Y = labelled()
        X[3, 5] = np.inf
        with pytest.raises(ValueError, match=r"column 'f' .*infinity"):
            ILFS().fit(pd.DataFrame(X, columns=list("abcdefgh")), Y)

    def test_a_selector_fitted_to_several_labels_can_be_pickled(self):
        X, Y = labelled()
        selector = pickle.loads(pickle.dumps(ILFS(3).fit(X, Y)))
        np.testing.assert_array_equal(selector.transform(X), X[:, :3])


@pytest.mark.parametrize("weight", [1e160, 1e-200])
def test_weights_outside_the_allowed_range_are_rejected(table, weight):
    X, y = table
    with pytest.raises(ValueError, match="sample_weight must be 0 or between 1e-100 and 1e"):
        ILFS().fit(X, y, sample_weight=np.full(len(y), weight))
