"""SVM-RFE against exactly solved SVMs, step by step: near ties make whole rankings incomparable."""

import numpy as np
import pytest
from helpers import DATA, NO_DATA, TaskCounter, load, needs_callbacks, peak_megabytes, planted
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.svm import SVC, LinearSVC

from ilfs import SVMRFE
from ilfs.methods.svm_rfe import batch_sizes


def standard(X):
    X = X - X.mean(axis=0)
    return X / X.std(axis=0)


def exact_weights(X, y, C):
    """Weights of the linear SVM with squared hinge loss.

    The dual is that of a hard margin SVM with 1 / (2 C) added to the diagonal of the kernel. libsvm computes in single
    precision, so it only finds the support vectors; their equations are then solved in double precision.
    """
    kernel = X @ X.T + np.eye(len(X)) / (2 * C)
    support = SVC(kernel="precomputed", C=1e12, tol=1e-6).fit(kernel, y).support_
    equations = np.block([[kernel[np.ix_(support, support)], np.ones((support.size, 1))], [np.ones(support.size), 0.0]])
    alpha = np.linalg.solve(equations, np.append(y[support], 0.0))[:-1]
    assert (alpha * y[support]).min() > -1e-4 * np.abs(alpha).max()
    return alpha @ X[support]


def exact_squares(X, y, C):
    """Squared weights summed over the SVMs of one class against the rest."""
    labels = np.unique(y) if np.unique(y).size > 2 else [y.max()]
    return sum(exact_weights(X, np.where(y == label, 1.0, -1.0), C) ** 2 for label in labels)


def elimination_steps(selector, X, y, every=1):
    """Yield, for each step, the removed features, all features before it, and their exact squared weights."""
    order = selector.order_[::-1]
    steps = selector.scores_[order]
    for number in np.unique(steps)[:-1][::every]:
        present = np.sort(order[steps >= number])
        yield order[steps == number], present, exact_squares(X[:, present], y, selector.C)


@pytest.mark.parametrize("C", [1.0, 0.01, 100.0])
@pytest.mark.parametrize(("n_samples", "n_features"), [(30, 45), (60, 25)])
def test_each_removed_feature_has_the_smallest_weight_of_an_exactly_solved_svm(n_samples, n_features, C):
    X, y = planted(n_samples, n_features, n_informative=3, shift=0.7)
    done = SVMRFE(C=C).fit(X, y)
    for removed, present, squares in elimination_steps(done, standard(X), y):
        square = squares[present == removed[0]][0]
        assert square <= squares.min() + 1e-6 * squares.max()
        assert done.squared_weights_[removed[0]] == pytest.approx(square, abs=1e-6 * squares.max())


def test_three_classes_sum_the_squared_weights_of_three_svms():
    X, y = planted(40, 30, n_classes=3, shift=1.0)
    done = SVMRFE().fit(X, y)
    for removed, present, squares in elimination_steps(done, standard(X), y):
        assert squares[present == removed[0]][0] <= squares.min() + 1e-6 * squares.max()


@pytest.mark.parametrize("step", [4, 0.3])
def test_features_removed_at_once_have_the_smallest_weights(step):
    X, y = planted(40, 50)
    done = SVMRFE(step=step).fit(X, y)
    for removed, present, squares in elimination_steps(done, standard(X), y):
        smallest = squares[np.isin(present, removed)]
        assert smallest.max() <= np.sort(squares)[removed.size - 1] + 1e-6 * squares.max()
    sizes = np.bincount(done.scores_.astype(int))[1:]
    assert sizes.tolist() == [*batch_sizes(50, step), 1]


def test_without_standardizing_the_svm_uses_the_columns_as_they_are():
    X, y = planted(40, 20)
    X *= np.linspace(0.2, 5, 20)
    done = SVMRFE(standardize=False).fit(X, y)
    for removed, present, squares in elimination_steps(done, X - X.mean(axis=0), y):
        square = squares[present == removed[0]][0]
        assert square <= squares.min() + 1e-6 * squares.max()
        assert done.squared_weights_[removed[0]] == pytest.approx(square, rel=1e-4, abs=1e-7 * squares.max())


def test_the_first_svm_equals_that_of_liblinear():
    X, y = planted(80, 15)
    X = standard(X)
    # liblinear penalises the intercept; a large intercept_scaling makes the penalty negligible
    svm = LinearSVC(dual=False, intercept_scaling=1e4, tol=1e-12, max_iter=100_000).fit(X, y)
    weakest = np.abs(svm.coef_[0]).argmin()
    done = SVMRFE().fit(X, y)
    assert done.order_[-1] == weakest
    assert done.squared_weights_[weakest] == pytest.approx(svm.coef_[0, weakest] ** 2, rel=1e-3)


def test_the_ranking_is_close_to_that_of_scikit_learn():
    X, y = planted(100, 12, n_informative=5, shift=1.0)
    X = standard(X)
    peer = RFE(LinearSVC(dual=False, tol=1e-10, intercept_scaling=100), n_features_to_select=1).fit(X, y)
    assert np.corrcoef(peer.ranking_, SVMRFE().fit(X, y).ranking_)[0, 1] > 0.98


@pytest.mark.skipif(not DATA, reason=NO_DATA)
def test_removed_features_of_gene_expression_data_have_the_smallest_weights():
    X, y = load("colon")
    done = SVMRFE().fit(X, y)
    X = standard(np.asarray(X, dtype=float))
    for removed, present, squares in elimination_steps(done, X, y, every=250):
        assert squares[present == removed[0]][0] <= squares.min() + 1e-6 * squares.max()


def test_planted_features_stay_longest():
    X, y = planted(100, 300, n_informative=5, shift=2.0)
    assert set(SVMRFE().fit(X, y).order_[:5]) == {0, 1, 2, 3, 4}


def test_units_and_offsets_of_columns_do_not_matter_when_standardized():
    X, y = planted(50, 70)
    rng = np.random.default_rng(1)
    other = X * 10.0 ** rng.integers(-6, 7, 70) + rng.normal(size=70)
    np.testing.assert_array_equal(SVMRFE().fit(X, y).order_, SVMRFE().fit(other, y).order_)


def test_without_standardizing_a_common_unit_only_rescales_c():
    X, y = planted(50, 30)
    one = SVMRFE(standardize=False).fit(X, y)
    two = SVMRFE(standardize=False, C=1e-10).fit(1e5 * X, y)
    np.testing.assert_array_equal(one.order_, two.order_)
    np.testing.assert_allclose(one.squared_weights_, 1e10 * two.squared_weights_, rtol=1e-6)


def test_order_of_rows_and_names_of_classes_do_not_matter():
    X, y = planted(60, 40, n_classes=2)
    done, order = SVMRFE().fit(X, y), np.random.default_rng(0).permutation(60)
    np.testing.assert_array_equal(SVMRFE().fit(X[order], y[order]).order_, done.order_)
    np.testing.assert_array_equal(SVMRFE().fit(X, 1 - y).order_, done.order_)


@pytest.mark.parametrize("n_features", [30, 90])
def test_the_later_of_equal_columns_is_removed_first(n_features):
    X, y = planted(60, n_features)
    X[:, 20] = X[:, 4]
    X[:, 25] = -X[:, 6]
    done = SVMRFE().fit(X, y)
    assert done.ranking_[4] < done.ranking_[20]
    assert done.ranking_[6] < done.ranking_[25]
    assert SVMRFE().fit(np.column_stack([X[:, 0]] * 5), y).order_.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("C", [1.0, 1e6])
def test_repeated_and_contradictory_samples_and_a_class_of_one_sample_are_ranked(C):
    X, y = planted(30, 40)
    X, y = np.vstack([X, X, X[:1] + 3]), np.concatenate([y, y, [2]])
    done = SVMRFE(C=C).fit(X, y)
    assert sorted(done.scores_) == list(range(1, 41))
    contradictory = SVMRFE(C=C).fit(np.vstack([X, X]), np.concatenate([y, (y + 1) % 3]))
    assert sorted(contradictory.scores_) == list(range(1, 41))


def test_the_weight_of_a_feature_grows_when_its_copy_is_removed():
    X, y = planted(60, 3, n_informative=3)
    X[:, 2] = X[:, 0]
    done = SVMRFE(C=100).fit(X, y)
    assert done.squared_weights_[0] > 2 * done.squared_weights_[2]


@needs_callbacks
def test_features_left_by_an_early_stop_are_ranked_by_their_weights():
    X, y = planted(60, 20)
    done = SVMRFE().set_callbacks(TaskCounter(stop_after=7)).fit(X, y)
    whole = SVMRFE().fit(X, y)
    np.testing.assert_array_equal(done.order_[-7:], whole.order_[-7:])
    left = np.sort(done.order_[:13])
    squares = exact_squares(standard(X)[:, left], y, 1.0)
    np.testing.assert_array_equal(done.order_[:13], left[np.argsort(-squares)])
    np.testing.assert_allclose(done.squared_weights_[left], squares, rtol=1e-5)
    assert (done.scores_[left] == 8).all()


def test_each_step_removes_the_given_number_or_fraction_of_the_remaining_features():
    assert batch_sizes(1, 1) == []
    assert batch_sizes(4, 1) == [1, 1, 1]
    assert batch_sizes(10, 4) == [4, 4, 1]
    assert batch_sizes(10, 0.5) == [5, 2, 1, 1]
    assert batch_sizes(3, 0.01) == [1, 1]


def test_too_few_steps_give_a_convergence_warning():
    X, y = np.random.default_rng(0).normal(size=(80, 40)), np.arange(80) % 2
    with pytest.warns(ConvergenceWarning, match="did not converge to tol=1e-09 in max_iter=1 steps"):
        SVMRFE(max_iter=1).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a number strictly between 1e-100 and 1e\\+100, got 0"),
        ({"C": np.nan}, "C must be a number strictly between 1e-100 and 1e\\+100, got nan"),
        ({"step": 0}, r"step must be an integer >= 1 or a fraction in \(0, 1\), got 0"),
        ({"step": 1.0}, r"step must be an integer >= 1 or a fraction in \(0, 1\), got 1.0"),
        ({"step": True}, r"step must be an integer >= 1 or a fraction in \(0, 1\), got True"),
        ({"standardize": "yes"}, "standardize must be True or False, got 'yes'"),
        ({"tol": 0}, "tol must be a number strictly between 0 and 1, got 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
    ],
)
def test_invalid_parameters_raise(parameters, message):
    X, y = planted()
    with pytest.raises(ValueError, match=message):
        SVMRFE(**parameters).fit(X, y)


def test_peak_memory_is_a_copy_and_two_small_square_matrices():
    # wide: 100 x 20,000 values in float64 take 15 MB; matrices of 100 x 100 are negligible
    assert peak_megabytes("SVMRFE(step=0.5, n_jobs=2)", 100, 20_000) < 1.2 * 15.3 + 8
    # tall: 4,000 x 1,200 take 37 MB, a matrix of 1,200 x 1,200 11 MB; the rest are BLAS buffers
    assert peak_megabytes("SVMRFE(step=0.5, n_jobs=2)", 4000, 1200) < 1.2 * 37 + 2 * 11 + 45
