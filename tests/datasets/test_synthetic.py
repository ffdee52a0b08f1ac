import numpy as np
import pytest
from scipy import sparse, stats

from ilfs import METHODS
from ilfs.datasets import REGISTRY, Truth, load, load_truth, make_truth, recovery, recovery_curve
from ilfs.datasets.dataset import Dataset, content_checksum
from ilfs.datasets.synthetic import NOISE_BLOCK_COLUMNS, PRESETS

LARGE = 20_000


def within_classes(X, y):
    """Subtract the class means from the values."""
    means = np.array([X[y == k].mean(axis=0) for k in range(y.max() + 1)])
    return X - means[y]


def class_means(X, y):
    return np.array([X[y == k].mean(axis=0) for k in range(y.max() + 1)])


def test_counts_and_names_agree_with_the_masks():
    truth = make_truth(60, 40, 5, 12)
    names = np.array(truth.table.feature_names)
    assert truth.informative.sum() == 5
    assert truth.redundant.sum() == 12
    assert not (truth.informative & truth.redundant).any()
    assert all(name.startswith("informative_") for name in names[truth.informative])
    assert all(name.startswith("noise_") for name in names[~truth.informative & ~truth.redundant])
    for copy in np.flatnonzero(truth.redundant):
        assert names[copy].endswith(f"_of_{names[truth.repeats[copy]]}")
    assert (truth.repeats[~truth.redundant] == -1).all()
    assert truth.informative[truth.repeats[truth.redundant]].all()


def test_copies_are_distributed_evenly_over_informative_columns():
    truth = make_truth(30, 40, 5, 12)
    assert sorted(np.unique(truth.repeats[truth.redundant], return_counts=True)[1]) == [2, 2, 2, 3, 3]


def test_columns_are_shuffled():
    truth = make_truth(10, 1000, 500)
    assert 200 < truth.informative[:500].sum() < 300


@pytest.mark.parametrize("n_classes", [2, 4])
def test_informative_columns_have_the_requested_separation_and_spread(n_classes):
    truth = make_truth(LARGE, 6, 3, n_classes=n_classes, separation=1.5)
    X, y = truth.table.X[:, truth.informative], truth.table.y
    gaps = np.diff(np.sort(class_means(X, y), axis=0), axis=0)
    np.testing.assert_allclose(gaps, 1.5, atol=0.08)
    np.testing.assert_allclose(within_classes(X, y).std(axis=0), 1, atol=0.03)
    for column in within_classes(X, y).T:
        assert stats.kstest(column, "norm").pvalue > 1e-3
    np.testing.assert_allclose(np.corrcoef(within_classes(X, y).T), np.eye(3), atol=0.04)


def test_the_order_of_the_class_means_differs_between_columns():
    truth = make_truth(4000, 30, 30, n_classes=3, separation=5.0)
    orders = {tuple(column) for column in np.argsort(class_means(truth.table.X, truth.table.y), axis=0).T}
    assert len(orders) == 6


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 1.0])
def test_copies_have_the_requested_correlation(correlation):
    truth = make_truth(LARGE, 8, 2, 6, correlation=correlation, separation=2.0)
    X = truth.table.X
    for copy in np.flatnonzero(truth.redundant):
        assert np.corrcoef(X[:, copy], X[:, truth.repeats[copy]])[0, 1] == pytest.approx(correlation, abs=0.03)


def test_a_copy_adds_no_information_to_its_original():
    truth = make_truth(LARGE, 2, 1, 1, correlation=0.7, separation=2.0)
    X, y = truth.table.X, truth.table.y
    original, copy = X[:, truth.informative].ravel(), X[:, truth.redundant].ravel()
    assert abs(np.corrcoef(copy, y)[0, 1]) > 0.3
    rest = copy - np.polyval(np.polyfit(original, copy, 1), original)
    assert abs(np.corrcoef(rest, y)[0, 1]) < 0.03


def test_noise_carries_no_information():
    truth = make_truth(LARGE, 50, 0)
    p = stats.ttest_ind(truth.table.X[truth.table.y == 0], truth.table.X[truth.table.y == 1]).pvalue
    assert stats.kstest(p, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(
    ("n_samples", "fractions", "sizes"),
    [
        (10, None, (4, 3, 3)),
        (100, (0.7, 0.2, 0.1), (70, 20, 10)),
        (10, (0.45, 0.45, 0.1), (5, 4, 1)),
        (30, (0.8, 0.1, 0.1), (24, 3, 3)),
    ],
)
def test_class_sizes_are_exact(n_samples, fractions, sizes):
    table = make_truth(n_samples, 2, 1, n_classes=3, class_fractions=fractions).table
    assert table.class_sizes == sizes
    assert (np.diff(table.y) < 0).any()  # rows are shuffled


def test_sparse_data_have_the_requested_fraction_of_zeros():
    truth = make_truth(200, 3 * NOISE_BLOCK_COLUMNS, 10, 10, sparsity=0.95)
    X = truth.table.X
    assert isinstance(X, sparse.csr_array)
    assert 1 - X.nnz / np.prod(X.shape) == pytest.approx(0.95, abs=0.005)
    assert (X.data != 0).all()
    assert X.nnz == X.count_nonzero()


def test_zeros_are_equally_frequent_in_all_kinds_of_columns():
    truth = make_truth(2000, 90, 30, 30, sparsity=0.8)
    stored = np.diff(truth.table.X.tocsc().indptr) / 2000
    for kind in (truth.informative, truth.redundant, ~truth.informative & ~truth.redundant):
        assert stored[kind].mean() == pytest.approx(0.2, abs=0.01)


def test_the_requested_fraction_of_values_is_missing():
    X = make_truth(500, 200, 5, missing=0.2).table.X
    assert np.isnan(X).mean() == pytest.approx(0.2, abs=0.01)


def test_the_seed_determines_the_data():
    first, again, other = (make_truth(50, 300, 5, 5, random_state=seed).table for seed in (1, 1, 2))
    assert first.checksum == again.checksum == content_checksum(first)
    assert first.checksum != other.checksum
    assert make_truth(50, 300, 5, 5, random_state=np.random.default_rng(1)).table.checksum == first.checksum


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n_classes": 1}, "n_classes must be an integer >= 2, got 1"),
        ({"n_samples": 1}, "n_samples must be an integer >= 2, got 1"),
        ({"n_features": 0}, "n_features must be an integer >= 1, got 0"),
        ({"n_informative": 9}, r"n_informative \+ n_redundant must be at most n_features = 10, got 9 \+ 2"),
        ({"n_informative": 0}, "n_redundant must be 0 without informative columns to repeat, got 2"),
        ({"sparsity": 1.5}, "sparsity must be a number from 0 to 1, got 1.5"),
        ({"sparsity": 0.5, "missing": 0.1}, "missing must be 0 if sparsity is not, got 0.1"),
        ({"correlation": -0.1}, "correlation must be a number from 0 to 1"),
        ({"separation": 0}, "separation must be a number > 0, got 0"),
        ({"class_fractions": (0.5, 0.6)}, "class_fractions must be 2 positive numbers that sum to 1"),
        ({"class_fractions": (0.5, 0.3, 0.2)}, "class_fractions must be 2 positive numbers that sum to 1"),
        ({"class_fractions": (0.999, 0.001)}, "class_fractions must give every class at least one of 20 samples"),
    ],
)
def test_bad_parameters_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_truth(**{"n_samples": 20, "n_features": 10, "n_informative": 3, "n_redundant": 2} | changes)


# Columns 0 and 3 are informative, 1 and 4 repeat 0, 5 repeats 3, and 2 is noise.
HAND = Truth(
    Dataset("hand", np.zeros((2, 6)), np.array([0, 1]), ("a", "b")),
    np.array([True, False, False, True, False, False]),
    np.array([False, True, False, False, True, True]),
    np.array([-1, 0, -1, -1, 0, 3]),
)


@pytest.mark.parametrize(
    ("order", "curve"),
    [
        ([0, 3, 1, 2, 4, 5], [0.5, 1, 1, 1, 1, 1]),
        ([1, 0, 4, 2, 5, 3], [0.5, 0.5, 0.5, 0.5, 1, 1]),
        ([2, 4], [0, 0.5]),
        ([], []),
    ],
)
def test_recovery_equals_values_computed_by_hand(order, curve):
    np.testing.assert_array_equal(recovery_curve(np.array(order, dtype=int), HAND), curve)
    for k, expected in enumerate(curve, start=1):
        assert recovery(np.array(order, dtype=int), HAND, k) == expected


@pytest.mark.parametrize(
    ("order", "k", "sentence"),
    [
        ([0, 0], 1, "order must be different indices of columns"),
        ([0.5, 1], 1, "order must be different indices of columns"),
        ([[0, 1]], 1, "order must be different indices of columns"),
        ([0, 6], 1, "order must be indices from 0 to 5, got 0 to 6"),
        ([0, 1], 3, "k must be at most the 2 columns of order, got 3"),
        ([0, 1], 0, "k must be an integer >= 1, got 0"),
    ],
)
def test_invalid_orders_are_refused(order, k, sentence):
    with pytest.raises(ValueError, match=sentence):
        recovery(order, HAND, k)


def test_recovery_needs_informative_columns():
    with pytest.raises(ValueError, match="synthetic_noise has no informative columns to recover"):
        recovery(np.arange(5), load_truth("synthetic_noise"), 2)


def test_a_random_ranking_recovers_the_expected_fraction():
    truth = make_truth(4, 200, 40)
    rng = np.random.default_rng(0)
    curves = np.mean([recovery_curve(rng.permutation(200), truth) for _ in range(300)], axis=0)
    np.testing.assert_allclose(curves, np.arange(1, 201) / 200, atol=0.02)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_registered_and_neither_hopeless_nor_trivial(name):
    truth = load_truth(name)
    assert load(name).checksum == truth.table.checksum
    assert truth.table.name == name
    assert REGISTRY[name].origin == "synthetic"
    if truth.informative.any():
        order = METHODS["fisher"]().fit(truth.table.X, truth.table.y).order_
        assert 0.5 <= recovery(order, truth, int(truth.informative.sum())) < 1


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValueError, match=r"name must be one of synthetic_redundant, .*, got 'colon'"):
        load_truth("colon")
