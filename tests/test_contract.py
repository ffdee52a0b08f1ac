"""The contract of every selector: one set of tests over all methods and configurations."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from configurations import CONFIGURATIONS
from helpers import needs_callbacks, planted
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from ilfs import list_methods
from ilfs.ties import UNIT_FLOOR, tolerance

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def name_of(selector):
    return repr(selector).replace("\n", "").replace("       ", " ")


every = pytest.mark.parametrize("selector", CONFIGURATIONS, ids=name_of)
supervised = pytest.mark.parametrize("selector", [s for s in CONFIGURATIONS if s._reads_labels], ids=name_of)
unsupervised = pytest.mark.parametrize("selector", [s for s in CONFIGURATIONS if not s._reads_labels], ids=name_of)


def table(n_classes=2, seed=0):
    return planted(n_samples=60, n_features=20, n_informative=4, n_classes=n_classes, seed=seed)


def counts(seed=0):
    """Return small counts, most of them 0; some columns have larger counts in one class."""
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3
    return rng.poisson(0.3 + 0.7 * np.outer(y == 1, np.arange(15) % 4 == 0)).astype(float), y


def fitted(selector, X, y):
    return clone(selector).fit(X, y if selector._reads_labels else None)


def same(one, two):
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.order_, two.order_)


def test_every_method_has_three_configurations():
    kinds = [type(selector) for selector in CONFIGURATIONS]
    assert {kind.__name__ for kind in kinds if kinds.count(kind) < 3} == set()
    assert {method.load() for method in list_methods()} == set(kinds)


@every
def test_ranking_order_and_scores_agree(selector):
    done = fitted(selector, *table())
    ordered = done.scores_[done.order_]
    assert np.all(np.diff(ordered) <= tolerance(ordered[1:], UNIT_FLOOR * np.abs(ordered).max()))
    assert sorted(done.order_) == list(range(20))
    np.testing.assert_array_equal(done.ranking_[done.order_], np.arange(1, 21))
    assert not np.isnan(done.scores_).any()


@every
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_read_only_and_memory_mapped_input_is_accepted(selector, dtype, tmp_path):
    X, y = table()
    X = X.astype(dtype)
    X.flags.writeable = y.flags.writeable = False
    np.save(tmp_path / "X.npy", X)
    same(fitted(selector, np.load(tmp_path / "X.npy", mmap_mode="r"), y), fitted(selector, X, y))


@every
def test_fit_changes_neither_data_nor_parameters(selector):
    X, y = table(n_classes=3)
    one = clone(selector)
    before, parameters = X.copy(), one.get_params()
    one.fit(X, y)
    np.testing.assert_array_equal(X, before)
    assert one.get_params() == parameters


@every
def test_constant_columns_come_last_with_the_lowest_score(selector):
    X, y = table()
    X[:, [0, 7]] = 0.0, -3.7e5
    done = fitted(selector, X, y)
    assert done.order_[-2:].tolist() == [0, 7]
    assert done.scores_[[0, 7]].max() <= np.delete(done.scores_, [0, 7]).min()


@every
def test_a_constant_column_does_not_change_other_scores(selector):
    X, y = table()
    selector = clone(selector).set_params(n_features_to_select=5)
    without, done = fitted(selector, X, y), fitted(selector, np.insert(X, 3, 8.0, axis=1), y)
    np.testing.assert_allclose(np.delete(done.scores_, 3), without.scores_, rtol=1e-6, atol=1e-9)


@every
def test_results_do_not_depend_on_the_number_of_threads(selector, small_blocks):
    X, y = planted(n_samples=300, n_features=70, n_classes=3)
    selector = clone(selector)
    same(fitted(selector.set_params(n_jobs=1), X, y), fitted(selector.set_params(n_jobs=3), X, y))


@every
def test_two_fits_give_the_same_result(selector):
    X, y = table()
    same(fitted(selector, X, y), fitted(selector, X, y))


@supervised
def test_labels_may_have_any_type(selector):
    X, y = table(n_classes=3)
    done = fitted(selector, X, y)
    for labels in (np.array(["b", "c", "d"]), np.array([-1.0, 2.0, 7.0]), np.array([10, 20, 30], dtype=object)):
        same(done, fitted(selector, X, labels[y]))
    X, y = table()
    same(fitted(selector, X, y), fitted(selector, X, y.astype(bool)))


@supervised
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_informative_features_are_found_for_any_number_of_classes(selector, n_classes):
    X, y = planted(n_samples=150, n_features=20, n_informative=4, n_classes=n_classes, shift=3.0)
    best = set(fitted(selector, X, y).order_[:4].tolist())
    assert len(best & {0, 1, 2, 3}) >= 3


@supervised
def test_informative_features_are_found_for_several_labels(selector):
    rng = np.random.default_rng(0)
    Y = (rng.random((80, 3)) < 0.4).astype(int)
    X = rng.normal(size=(80, 8))
    X[:, :3] += 3 * Y
    done = clone(selector).fit(X, Y)
    assert len(set(done.order_[:3].tolist()) & {0, 1, 2}) >= 2
    assert done.scores_per_label_.shape == (3, 8)


@unsupervised
def test_unsupervised_methods_ignore_labels(selector):
    X, _ = table()
    same(clone(selector).fit(X), clone(selector).fit(X, ["any", "thing"]))


@every
def test_sparse_and_dense_input_give_the_same_scores(selector):
    if not selector._takes_sparse:
        pytest.skip("takes no sparse input")
    X, y = counts()
    # Integers lie on the edges of token intervals, where the last bit of a sum decides.
    X *= np.random.default_rng(1).uniform(0.5, 1.5, X.shape)
    dense = fitted(selector, X, y)
    for form in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix):
        np.testing.assert_allclose(fitted(selector, form(X), y).scores_, dense.scores_, rtol=1e-6, atol=1e-8)


@every
def test_methods_without_sparse_support_reject_sparse_input(selector):
    if selector._takes_sparse:
        pytest.skip("takes sparse input")
    X, y = counts()
    with pytest.raises(TypeError, match="Sparse data was passed"):
        fitted(selector, sparse.csr_array(X), y)


@every
def test_memory_layout_does_not_change_the_scores(selector):
    X, y = table()
    done = fitted(selector, X, y)
    np.testing.assert_allclose(fitted(selector, np.asfortranarray(X), y).scores_, done.scores_, rtol=1e-6, atol=1e-9)
    spaced = np.repeat(X, 2, axis=1)[:, ::2]
    np.testing.assert_allclose(fitted(selector, spaced, y).scores_, done.scores_, rtol=1e-6, atol=1e-9)


@every
def test_float32_gives_nearly_the_same_scores(selector):
    X, y = table()
    X = X.astype(np.float32)
    one, two = fitted(selector, X, y), fitted(selector, X.astype(np.float64), y)
    np.testing.assert_allclose(one.scores_, two.scores_, rtol=2e-3, atol=2e-4 * np.abs(two.scores_).max())


@every
def test_integer_input_gives_the_same_result_as_float(selector):
    X, y = counts()
    same(fitted(selector, X, y), fitted(selector, X.astype(np.int32), y))


@every
def test_feature_names_are_kept_in_input_and_output(selector):
    X, y = table()
    names = [f"gene {j}" for j in range(20)]
    selector = clone(selector).set_params(n_features_to_select=4)
    plain = fitted(selector, X, y)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        done = fitted(selector, frame, y)
        np.testing.assert_allclose(done.scores_, plain.scores_, rtol=1e-6, atol=1e-9)
        assert set(done.get_feature_names_out()) == {names[j] for j in done.order_[:4]}
        kind = "pandas" if isinstance(frame, pd.DataFrame) else "polars"
        assert list(done.set_output(transform=kind).transform(frame).columns) == list(done.get_feature_names_out())


@every
def test_equal_columns_have_equal_scores_and_keep_column_order(selector):
    X, y = table()
    if not selector._scores_columns_alone:
        pytest.skip("a column's score depends on the others")
    X[:, 11] = X[:, 2]
    done = fitted(selector, X, y)
    assert done.scores_[2] == done.scores_[11]
    assert done.ranking_[11] == done.ranking_[2] + 1


@every
def test_scores_do_not_depend_on_the_order_of_columns(selector):
    X, y = table()
    selector = clone(selector).set_params(n_features_to_select=5)
    order = np.random.default_rng(1).permutation(20)
    done, permuted = fitted(selector, X, y), fitted(selector, X[:, order], y)
    np.testing.assert_allclose(permuted.scores_, done.scores_[order], rtol=1e-5, atol=1e-7)


@every
def test_missing_values_are_accepted_or_rejected_with_column_names(selector):
    X, y = table()
    X[3, 5] = X[8, 7] = np.nan
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(20)])
    if selector._takes_missing:
        assert not np.isnan(fitted(selector, frame, y).scores_).any()
        return
    with pytest.raises(ValueError, match=r"NaN, in 2 of 20 columns: 'gene 5', 'gene 7'.*SimpleImputer"):
        fitted(selector, frame, y)


@every
def test_a_column_without_values_comes_last(selector):
    if not selector._takes_missing:
        pytest.skip("takes no missing values")
    X, y = table()
    X[:, 5] = np.nan
    done = fitted(selector, X, y)
    assert done.order_[-1] == 5
    assert not np.isnan(done.scores_).any()


@every
@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinity_is_rejected_with_the_column_name(selector, bad):
    X, y = table()
    X[3, 5] = bad
    with pytest.raises(ValueError, match="column 'gene 5' of X holds infinity"):
        fitted(selector, pd.DataFrame(X, columns=[f"gene {j}" for j in range(20)]), y)


@every
def test_two_samples_are_ranked_or_rejected_with_a_message(selector):
    X, y = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 5.0]]), np.array([0, 1])
    message = None
    try:
        done = fitted(selector, X, y)
    except ValueError as error:
        message = str(error)
    # isnan instead of isfinite: a Fisher score is infinite if every class has one sample
    assert "got 2" in message if message else not np.isnan(done.scores_).any()


@every
def test_large_offsets_and_scales_give_no_nan(selector):
    X, y = table()
    X = X * np.logspace(-9, 9, 20) + 1e3 * np.logspace(-9, 9, 20)
    done = fitted(selector, X, y)
    assert not np.isnan(done.scores_).any()


@every
def test_repeated_samples_give_finite_scores(selector):
    X, y = table()
    done = fitted(selector, np.vstack([X, X]), np.concatenate([y, y]))
    assert np.isfinite(done.scores_).all()


@every
def test_one_column_is_ranked(selector):
    X, y = table()
    done = fitted(selector, X[:, :1], y)
    assert done.order_.tolist() == [0]
    assert np.isfinite(done.scores_).all()


@every
def test_a_fitted_selector_can_be_pickled(selector):
    X, y = table()
    done = fitted(selector, X, y)
    same(done, pickle.loads(pickle.dumps(done)))
    np.testing.assert_array_equal(done.table(top=3)["column"], done.order_[:3])


@every
def test_table_and_explanations(selector):
    X, y = table(n_classes=3)
    done = pickle.loads(pickle.dumps(fitted(selector, X, y)))
    found = done.table(input_features=[f"gene {j}" for j in range(20)])
    assert {len(values) for values in found.values()} == {20}
    assert {"rank", "feature", "column", "score", "missing", "nonzero"} <= set(found)
    assert ({"direction", "effect", "mean_0", "mean_1", "mean_2"} <= set(found)) == selector._reads_labels
    assert len(str(found).splitlines()) == 21
    one = done.explain(f"x{done.order_[0]}")
    assert (one.rank, one.method) == (1, type(selector).__name__)
    assert str(one).startswith(f"x{done.order_[0]} is ranked 1st of 20 features by {type(selector).__name__}, and is ")


@every
def test_ordinary_data_cause_no_warning_except_about_convergence(selector):
    # well separated classes and enough samples: no reason for a warning
    X, y = planted(n_samples=120, n_features=12, n_informative=4, shift=3.0)
    allowed = "did not (settle|converge)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=f".*{allowed}")
        fitted(selector, X, y)


class Listener:
    """A callback that counts tasks and may stop the fit after some of them."""

    max_propagation_depth = None

    def __init__(self, end_after=None):
        self.begun = self.ended = 0
        self.end_after = end_after

    def setup(self, estimator, context):
        self.root = context

    def teardown(self, estimator, context):
        self.root = None

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1

    def on_fit_task_end(self, estimator, context):
        self.ended += 1
        return self.end_after is not None and self.ended >= self.end_after


@needs_callbacks
@every
def test_callbacks_receive_the_progress(selector):
    X, y = table(n_classes=3)
    listener = Listener()
    same(fitted(selector, X, y), clone(selector).set_callbacks(listener).fit(X, y))
    assert listener.begun == listener.ended >= (2 if selector._takes_long else 1)
    assert listener.root is None


@needs_callbacks
@every
def test_callbacks_of_a_pipeline_reach_the_selector(selector):
    X, y = table()
    listener = Listener()
    make_pipeline(FunctionTransformer(), clone(selector)).set_callbacks(listener).fit(X, y)
    assert listener.begun == listener.ended >= 2


@needs_callbacks
@every
def test_a_callback_may_stop_the_fit_early(selector):
    X, y = table()
    done = clone(selector).set_callbacks(Listener(end_after=1)).fit(X, y)
    assert sorted(done.order_) == list(range(20))
    assert not np.isnan(done.scores_).any()


class Impatient(Listener):
    def on_fit_task_end(self, estimator, context):
        raise KeyboardInterrupt


@needs_callbacks
@every
def test_an_interrupted_selector_is_unfitted_and_can_be_fitted_again(selector):
    X, y = table()
    stopped = clone(selector).set_callbacks(Impatient())
    with pytest.raises(KeyboardInterrupt):
        stopped.fit(X, y)
    assert not hasattr(stopped, "order_")
    same(stopped.set_callbacks().fit(X, y), fitted(selector, X, y))
