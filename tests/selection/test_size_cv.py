import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import TaskCounter, needs_callbacks
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import RFE, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from ilfs import ILFS, FisherScore, LaplacianScore, MutualInformation, ReliefF, read
from ilfs.cross_validation import chosen_size
from ilfs.selection import ILFSCV, SizeCV


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(
    [
        SizeCV(FisherScore(), GaussianNB()),
        SizeCV(LaplacianScore(), sizes=[1], cv=2, rule="best"),
        SizeCV("mi", sizes=[1]),
    ]
)
def test_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


def informative(n_samples=80, n_features=30, seed=0):
    """Return a table whose columns 3 and 7 depend on the class."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n_samples, n_features)), np.arange(n_samples) % 2
    X[:, 3] += 3 * y
    X[:, 7] -= 2 * y
    return X, y


class TestRule:
    def test_the_fitted_attributes_follow_the_rule(self):
        X, y = informative()
        for rule in ("one_se", "best"):
            found = SizeCV(FisherScore(), sizes=[1, 2, 5, 30], rule=rule).fit(X, y)
            results = found.cv_results_
            folds = np.array([results[f"split{i}_test_score"] for i in range(5)])
            np.testing.assert_allclose(results["mean_test_score"], folds.mean(axis=0))
            np.testing.assert_allclose(results["std_error"], folds.std(axis=0, ddof=1) / 5**0.5)
            size = chosen_size(results["n_features"], results["mean_test_score"], results["std_error"], rule)
            assert found.n_features_ == size == found.get_support().sum()


class TestSizes:
    @pytest.mark.parametrize("sizes", [[], [0], [1.5], [31], ["two"], 31, [True], "all"])
    def test_other_sizes_are_refused(self, sizes):
        message = rf"sizes must be integers from 1 to 30, the number of features of X, got {re.escape(repr(sizes))}$"
        with pytest.raises(ValueError, match=message):
            SizeCV(FisherScore(), sizes=sizes).fit(*informative())

    def test_sizes_may_be_unsorted_and_repeated(self):
        found = SizeCV(FisherScore(), sizes=(5, 2, 5)).fit(*informative())
        assert found.cv_results_["n_features"].tolist() == [2, 5]


class Recorder(BaseEstimator):
    """A selector that remembers the rows of every fit, for all of its clones."""

    fits: list = []  # noqa: RUF012

    def fit(self, X, y=None, sample_weight=None, donor=None, flag=None):
        Recorder.fits.append((X[:, 0].copy(), y, sample_weight, donor, flag))
        self.scores_ = np.arange(X.shape[1], dtype=float)
        self.n_features_in_ = X.shape[1]
        return self


class TestFolds:
    @pytest.fixture(autouse=True)
    def forget(self):
        Recorder.fits.clear()

    def rows(self):
        return np.column_stack([np.arange(20.0), np.random.default_rng(0).normal(size=(20, 3))]), np.arange(20) % 2

    def test_the_selector_is_fitted_once_in_each_fold_and_once_on_all_rows(self):
        X, y = self.rows()
        SizeCV(Recorder(), DummyClassifier(), sizes=[1, 2, 3, 4]).fit(X, y)
        assert [len(fit[0]) for fit in Recorder.fits] == [16] * 5 + [20]

    def test_the_selector_sees_only_the_training_rows(self):
        X, y = self.rows()
        SizeCV(Recorder(), DummyClassifier(), cv=StratifiedKFold(4), sizes=[1]).fit(X, y)
        for (rows, labels, *_), (train, _) in zip(Recorder.fits, StratifiedKFold(4).split(X, y), strict=False):
            np.testing.assert_array_equal(rows, train)
            np.testing.assert_array_equal(labels, y[train])

    def test_arguments_of_fit_are_cut_to_the_rows_of_the_fold(self):
        X, y = self.rows()
        weight, donor = np.arange(1.0, 21), [f"d{i}" for i in range(20)]
        SizeCV(Recorder(), DummyClassifier(), cv=2, sizes=[1]).fit(X, y, sample_weight=weight, donor=donor, flag="yes")
        for rows, _, given, donors, flag in Recorder.fits:
            np.testing.assert_array_equal(given, rows + 1)
            assert list(donors) == [f"d{int(i)}" for i in rows]
            assert flag == "yes"

    @pytest.mark.parametrize("cv", [None, 3, GroupKFold(4), GroupShuffleSplit(3, random_state=0)])
    def test_rows_of_a_group_stay_together(self, cv):
        X, y = self.rows()
        groups = np.arange(20) // 2
        SizeCV(Recorder(), DummyClassifier(), cv=cv, sizes=[1]).fit(X, y, groups=groups)
        for rows, *_ in Recorder.fits[:-1]:
            inside = np.isin(groups, groups[rows.astype(int)])
            np.testing.assert_array_equal(np.flatnonzero(inside), rows)

    def test_an_iterable_of_splits_is_taken(self):
        X, y = self.rows()
        splits = [(np.arange(10), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))]
        found = SizeCV(Recorder(), DummyClassifier(), cv=iter(splits), sizes=[1]).fit(X, y)
        np.testing.assert_array_equal(Recorder.fits[0][0], np.arange(10))
        assert "split1_test_score" in found.cv_results_

    def test_one_fold_needs_the_rule_best(self):
        X, y = informative()
        with pytest.raises(ValueError, match="rule='one_se' needs at least two folds, got one from cv"):
            SizeCV(FisherScore(), cv=ShuffleSplit(1, random_state=0)).fit(X, y)
        found = SizeCV(FisherScore(), cv=ShuffleSplit(1, random_state=0), rule="best").fit(X, y)
        assert np.isnan(found.cv_results_["std_error"]).all()

    def test_a_fold_equals_a_pipeline_of_selector_and_estimator(self):
        X, y = load_wine(return_X_y=True)
        folds = StratifiedKFold(4, shuffle=True, random_state=1)
        found = SizeCV(ReliefF(), GaussianNB(), cv=folds, sizes=[2, 6], scoring="balanced_accuracy").fit(X, y)
        for i, size in enumerate([2, 6]):
            model = make_pipeline(ReliefF(size), GaussianNB())
            expected = cross_val_score(model, X, y, cv=folds, scoring="balanced_accuracy")
            np.testing.assert_array_equal([found.cv_results_[f"split{f}_test_score"][i] for f in range(4)], expected)

    def test_scores_of_random_labels_are_at_chance_level(self):
        # With selection on all rows, the best 10 of 2,000 noise features would separate 60 random labels well.
        means, leaked = [], []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(60, 2000)), rng.permutation(np.arange(60) % 2)
            means.append(SizeCV("fisher", sizes=[10], random_state=seed).fit(X, y).cv_results_["mean_test_score"][0])
            best = X[:, FisherScore(10).fit(X, y).get_support()]
            leaked.append(cross_val_score(LinearSVC(), best, y, cv=5).mean())
        # 600 predictions: the standard error of the mean is about 0.5 / sqrt(600) = 0.02.
        assert abs(np.mean(means) - 0.5) < 0.07
        assert np.mean(leaked) > 0.8

    def test_the_same_result_for_any_number_of_processes(self):
        X, y = load_wine(return_X_y=True)
        one, two = (SizeCV("relieff", sizes=[1, 3], n_jobs=n).fit(X, y) for n in (1, 2))
        for name, values in one.cv_results_.items():
            np.testing.assert_array_equal(two.cv_results_[name], values)

    def test_the_seed_makes_the_folds(self):
        X, y = load_wine(return_X_y=True)

        def means(**parameters):
            return SizeCV("fisher", sizes=[1, 3], **parameters).fit(X, y).cv_results_["mean_test_score"].tolist()

        assert means() == means(random_state=0) != means(random_state=1)

    def test_a_generator_of_numpy_is_a_seed(self):
        X, y = load_wine(return_X_y=True)

        def means(seed):
            search = SizeCV("fisher", sizes=[1, 3], random_state=np.random.default_rng(seed))
            return search.fit(X, y).cv_results_["mean_test_score"].tolist()

        assert means(1) == means(1) != means(2)

    def test_weights_reach_the_estimator_and_the_metric(self):
        # Each row has a second one of weight 0, which counts neither in the fit nor in the score.
        X, y = informative(60)
        splits = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
        twice = [tuple(np.r_[rows, rows + 60] for rows in split) for split in splits]
        X2, y2, weight = np.r_[X, -X], np.r_[y, y], np.r_[np.ones(60), np.zeros(60)]
        for estimator in (None, GaussianNB(), make_pipeline(GaussianNB())):
            plain = SizeCV("fisher", estimator, cv=splits, sizes=[1, 4]).fit(X, y)
            weighted = SizeCV("fisher", estimator, cv=twice, sizes=[1, 4]).fit(X2, y2, sample_weight=weight)
            np.testing.assert_allclose(
                weighted.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-6
            )

    def test_a_class_with_fewer_rows_than_folds_gives_fewer_folds(self):
        X, y = informative(6)
        found = SizeCV("fisher", sizes=[1, 2]).fit(X, y)
        assert "split2_test_score" in found.cv_results_
        assert "split3_test_score" not in found.cv_results_

    def test_a_score_that_is_no_number_is_refused(self):
        X, y = informative()

        def scoring(model, X, y):
            return np.nan if X.shape[1] == 2 else 1.0

        with pytest.raises(ValueError, match="scoring must give a number, got NaN for 2 features in fold 0"):
            SizeCV("fisher", sizes=[1, 2], scoring=scoring).fit(X, y)


@needs_callbacks
class TestProgress:
    @pytest.mark.parametrize("stop_after", [1, 3, None])
    def test_a_callback_sees_each_fold_and_may_stop_the_loop(self, stop_after):
        X, y = informative()
        counter = TaskCounter(stop_after, "fold")
        found = SizeCV("fisher", sizes=[1, 2]).set_callbacks(counter).fit(X, y)
        n_folds = sum(name.startswith("split") for name in found.cv_results_)
        assert n_folds == counter.count == (stop_after or 5)
        assert found.n_features_ in (1, 2)

    def test_folds_in_processes_may_be_stopped(self):
        counter = TaskCounter(1, "fold")
        found = SizeCV("fisher", sizes=[1, 2], n_jobs=2).set_callbacks(counter).fit(*informative())
        assert counter.count == sum(name.startswith("split") for name in found.cv_results_) == 1

    def test_a_search_for_parameters_reports_its_folds(self):
        counter = TaskCounter(task_name="fold")
        ILFSCV(n_tokens=(4, 6), sizes=[1, 2]).set_callbacks(counter).fit(*informative())
        assert counter.count == 5


class TestResult:
    def test_a_strong_feature_is_found_among_noise(self):
        X, y = informative()
        found = SizeCV(FisherScore()).fit(X, y)
        assert found.n_features_ <= 3
        assert found.get_support()[3]
        np.testing.assert_array_equal(found.order_, FisherScore().fit(X, y).order_)
        np.testing.assert_array_equal(found.scores_, found.selector_.scores_)
        np.testing.assert_array_equal(found.ranking_[found.order_], np.arange(1, 31))
        np.testing.assert_array_equal(np.flatnonzero(found.get_support()), np.sort(found.order_[: found.n_features_]))

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_names_are_kept(self, frame):
        data = load_wine()
        X = frame(dict(zip(data.feature_names, data.data.T, strict=True)))
        found = SizeCV("fisher", sizes=[2, 3], rule="best").fit(X, data.target)
        names = list(found.get_feature_names_out())
        assert names == [data.feature_names[j] for j in np.sort(found.order_[: found.n_features_])]
        assert list(found.selector_.feature_names_in_) == data.feature_names
        assert found.table(1)["feature"][0] == data.feature_names[found.order_[0]]
        transformed = found.set_output(transform="pandas" if frame is pd.DataFrame else "polars").transform(X)
        assert isinstance(transformed, frame)
        assert list(transformed.columns) == names

    def test_the_target_may_be_a_column(self):
        frame = load_iris(as_frame=True).frame
        found = SizeCV("fisher", sizes=[1, 2]).fit(frame, "target")
        assert found.n_features_in_ == 4
        assert found.transform(frame).shape == (150, found.n_features_)

    @pytest.mark.parametrize("form", ["csr_array", "csc_matrix"])
    def test_a_sparse_table_gives_the_result_of_a_dense_one(self, form):
        X, y = informative()
        X[np.abs(X) < 1] = 0
        pipe = make_pipeline(LogisticRegression())
        dense, scattered = (SizeCV("fisher", pipe).fit(Z, y) for Z in (X, getattr(sparse, form)(X)))
        for name, values in dense.cv_results_.items():
            np.testing.assert_allclose(scattered.cv_results_[name], values)
        assert scattered.n_features_ == dense.n_features_
        assert sparse.issparse(scattered.transform(getattr(sparse, form)(X)))

    def test_the_default_estimator_takes_sparse_tables(self):
        X, y = informative()
        table = sparse.csr_array(np.where(np.abs(X) < 1, 0, X))
        found = SizeCV("fisher", sizes=[1, 2, 30]).fit(table, y)
        assert found.cv_results_["mean_test_score"].max() > 0.9
        table.indices, table.indptr = table.indices.astype(np.int64), table.indptr.astype(np.int64)  # LinearSVC refuses
        long = SizeCV("fisher", sizes=[1, 2, 30]).fit(table, y)
        np.testing.assert_array_equal(long.cv_results_["mean_test_score"], found.cv_results_["mean_test_score"])
        assert table.indices.dtype == np.int64

    def test_missing_values_are_taken_where_the_selector_takes_them(self):
        X, y = informative()
        X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
        assert SizeCV(ILFS(), sizes=[1, 2, 5]).fit(X, y).cv_results_["mean_test_score"].max() > 0.85
        frame = pd.DataFrame(X).rename(columns=str)
        with pytest.raises(ValueError, match="Input X contains NaN, in 30 of 30 columns: '0', '1'"):
            SizeCV("cfs").fit(frame, y)
        with pytest.raises(ValueError, match="Input X contains NaN"):
            SizeCV(ILFS(), LogisticRegression()).fit(frame, y)

    def test_several_labels_are_taken(self):
        X, y = informative()
        Y = np.column_stack([y, X[:, 12] > 0]).astype(int)
        found = SizeCV(FisherScore(), sizes=[1, 2, 10]).fit(X, Y)
        assert found.selector_.scores_per_label_.shape == (2, 30)
        assert found.cv_results_["mean_test_score"].max() > 0.8

    @pytest.mark.parametrize("selector", [SelectKBest(f_classif), RFE(LogisticRegression(), n_features_to_select=1)])
    def test_selectors_of_scikit_learn_are_taken(self, selector):
        X, y = informative()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = SizeCV(selector, sizes=[1, 2]).fit(X, y)
        assert found.cv_results_["mean_test_score"].max() > 0.8
        assert found.scores_.shape == (30,)

    def test_text_labels_and_weights(self):
        X, y = informative()
        found = SizeCV("mi", sizes=[2]).fit(X, np.array(["ill", "well"])[y], sample_weight=1 + np.arange(80) % 3)
        expected = MutualInformation().fit(X, y, sample_weight=1 + np.arange(80) % 3)
        np.testing.assert_array_equal(found.order_, expected.order_)

    def test_parameters_are_not_changed_and_clones_are_equal(self):
        selector = FisherScore(7)
        search = SizeCV(selector, sizes=[1, 2]).fit(*informative())
        assert search.selector is selector
        assert not hasattr(selector, "scores_")
        assert clone(search).fit(*informative()).n_features_ == search.n_features_
        assert search.get_params()["selector__n_features_to_select"] == 7


class TestRefusals:
    def test_a_table_that_is_not_in_memory_is_refused_in_one_sentence(self, tmp_path):
        dask = pytest.importorskip("dask.array")
        X, y = informative()
        pd.DataFrame(X).rename(columns=str).assign(y=y).to_parquet(tmp_path / "table.parquet")
        for table, labels in [(dask.from_array(X), y), (pl.scan_parquet(tmp_path / "table.parquet"), "y")]:
            with pytest.raises(TypeError, match=r"^SizeCV needs all rows in memory, since it fits selectors"):
                SizeCV("fisher").fit(table, labels)

    def test_a_file_that_was_read_into_memory_is_taken(self, tmp_path):
        X, y = informative()
        pd.DataFrame(X).rename(columns=str).assign(y=y).to_parquet(tmp_path / "table.parquet")
        from_file = SizeCV("fisher", sizes=[1, 2]).fit(read(tmp_path / "table.parquet", target="y"))
        assert from_file.n_features_ == SizeCV("fisher", sizes=[1, 2]).fit(X, y).n_features_
        assert from_file.get_feature_names_out()[0] == "3"

    @pytest.mark.parametrize("selector", [FisherScore, f_classif, None, 3])
    def test_what_is_no_selector_is_refused(self, selector):
        with pytest.raises(ValueError, match="selector must be a selector or the name of a method such as 'fisher'"):
            SizeCV(selector).fit(*informative())

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"rule": "1se"}, "rule must be 'one_se' or 'best', got '1se'"),
            ({"scoring": ["accuracy", "f1"]}, r"scoring must be None, the name of one metric or a callable, got \["),
            ({"cv": 1}, "cv must be an integer >= 2, got 1"),
            ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0, got 0"),
        ],
    )
    def test_wrong_parameters_are_refused(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            SizeCV("fisher", **parameters).fit(*informative())

    def test_weights_need_a_selector_that_takes_them(self):
        X, y = informative()
        with pytest.raises(TypeError, match="sample_weight needs a selector that supports it, ReliefF does not"):
            SizeCV(ReliefF()).fit(X, y, sample_weight=np.ones(80))

    def test_labels_are_needed(self):
        X, _ = informative()
        with pytest.raises(ValueError, match="fit requires y to be passed"):
            SizeCV(LaplacianScore()).fit(X)

    def test_a_selector_without_an_order_is_refused(self):
        class Nothing(BaseEstimator):
            def fit(self, X, y):
                return self

        with pytest.raises(ValueError, match="Nothing has no ranking of the features"):
            SizeCV(Nothing()).fit(*informative())


def test_breast_cancer_needs_few_of_its_features():
    X, y = load_breast_cancer(return_X_y=True)
    found = SizeCV(ILFS(), scoring="roc_auc").fit(X, y)
    assert found.n_features_ < 30
    assert found.cv_results_["mean_test_score"].max() > 0.98
