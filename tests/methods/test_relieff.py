"""ReliefF against its definition, published weights of iris, and records made from MATLAB's documentation."""

from pathlib import Path

import numpy as np
import pytest
from helpers import DATA, NO_DATA, ORACLE, load, oracle, peak_megabytes, planted
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris

from ilfs import ReliefF, scorer
from ilfs.neighbours import by_class, manhattan


def relieff(X, y, **parameters):
    return scorer("relieff", **parameters)(X, y)


def by_definition(X, y, k=10, drawn=None):
    """Kononenko's weights, sample by sample and feature by feature; ties share the last places."""
    X = np.asarray(X, dtype=float)
    (m, n), (classes, codes) = X.shape, np.unique(y, return_inverse=True)
    drawn = range(m) if drawn is None else drawn
    diff = np.abs(X[:, None] - X) / (np.nanmax(X, axis=0) - np.nanmin(X, axis=0))
    both = ~np.isnan(diff)
    distance = np.where(both.any(axis=2), n * np.nansum(diff, axis=2) / np.maximum(both.sum(axis=2), 1), n)
    distance = distance.round(9)
    prior = np.bincount(codes) / m
    sums, present_weight, totals = np.zeros((2, n)), np.zeros((2, n)), np.zeros(2)
    for i in drawn:
        for c in range(classes.size):
            members = np.array([j for j in np.flatnonzero(codes == c) if j != i], dtype=int)
            places = min(k, members.size)
            if not places:
                continue
            d = distance[i, members]
            last = np.sort(d)[places - 1]
            fraction = np.where(d < last, 1.0, (places - np.sum(d < last)) / np.sum(d == last)) * (d <= last) / places
            miss = int(c != codes[i])
            fraction = fraction * (prior[c] / (1 - prior[codes[i]]) if miss else 1.0) / len(drawn)
            sums[miss] += fraction @ np.nan_to_num(diff[i, members])
            present_weight[miss] += fraction @ both[i, members]
            totals[miss] += fraction.sum()
    hits, misses = totals[:, None] * np.divide(sums, present_weight, out=np.zeros((2, n)), where=present_weight > 0)
    return misses - hits


@pytest.fixture
def tiny_blocks(monkeypatch):
    """Use many small blocks and few candidates, so that every code path is taken."""
    for name, size in {
        "SPARE_CANDIDATES": 1,
        "RETRIED_SAMPLES": 7,
        "PAIRS_PER_TASK": 50,
    }.items():
        monkeypatch.setattr(by_class, name, size)
    monkeypatch.setattr(manhattan, "SUMMED_FEATURES", 8)
    blocks_of(monkeypatch, 8)


def blocks_of(monkeypatch, n_samples):
    for name in ("MIN_BLOCK_SAMPLES", "MAX_BLOCK_SAMPLES", "SAMPLES_PER_LINE"):
        monkeypatch.setattr(manhattan, name, n_samples)


def test_weights_of_iris_equal_the_published_ones():
    X, y = load_iris(return_X_y=True)
    np.testing.assert_allclose(relieff(X, y, n_neighbors=10), [0.1399, 0.1226, 0.3590, 0.3754], atol=5e-5)


def test_weights_match_hand_computed_values():
    X, y = np.array([[0.0, 3], [1, 0], [9, 1], [10, 4]]), np.array(["a", "a", "b", "b"])
    # ranges are 10 and 4; hits differ by (0.1, 0.75), the nearest misses 0-3 and 1-2 by (1, 0.25) and (0.8, 0.25)
    np.testing.assert_allclose(relieff(X, y, n_neighbors=1), [0.9 - 0.1, 0.25 - 0.75])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("k", [1, 4, 10])
def test_weights_equal_the_definition(n_classes, k, tiny_blocks):
    X, y = planted(n_samples=70, n_features=13, n_classes=n_classes)
    y[:12] = 0  # classes of different sizes
    np.testing.assert_allclose(relieff(X, y, n_neighbors=k, n_jobs=2), by_definition(X, y, k), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("n_values", [2, 3, 4, 7])
def test_ties_share_the_last_places(n_values, tiny_blocks):
    rng = np.random.default_rng(n_values)
    X, y = rng.integers(0, n_values, size=(60, 6)).astype(float), rng.integers(0, 3, size=60)
    expected = by_definition(X, y, 5)
    np.testing.assert_allclose(relieff(X, y, n_neighbors=5), expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(relieff(0.1 * X + 0.7, y, n_neighbors=5), expected, rtol=1e-10, atol=1e-14)
    order = rng.permutation(60)
    np.testing.assert_allclose(relieff(X[order], y[order], n_neighbors=5), expected, rtol=1e-10, atol=1e-14)


@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 6),
    fraction=st.sampled_from([0.0, 0.05, 0.5]),
    values=st.sampled_from([2, 1000]),
)
def test_weights_equal_the_definition_with_missing_values(seed, k, fraction, values):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, values, size=(25, 7)).astype(float), rng.integers(0, 3, size=25)
    X[rng.random(X.shape) < fraction] = np.nan
    y[:3] = 0, 1, 2
    X[:2, :] = [[0.0], [1.0]]  # no column is constant
    np.testing.assert_allclose(relieff(X, y, n_neighbors=k), by_definition(X, y, k), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [3, 6, 7, 8, 9, 12])
def test_weights_equal_the_definition_if_a_whole_class_ties(size, monkeypatch):
    # the class has as many samples as the list of candidates has places, or a few less or more
    monkeypatch.setattr(by_class, "SPARE_CANDIDATES", 5)
    X, y = np.vstack([np.eye(size), np.zeros((2, size))]), np.array([0] * size + [1] * 2)
    np.testing.assert_allclose(relieff(X, y, n_neighbors=3), by_definition(X, y, 3), rtol=1e-10, atol=1e-14)


def test_weights_with_missing_values_equal_the_definition_in_many_blocks(tiny_blocks):
    X, y = planted(n_samples=60, n_features=21, n_classes=3)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    expected = by_definition(X, y, 4)
    np.testing.assert_allclose(relieff(X, y, n_neighbors=4, n_jobs=2), expected, rtol=1e-10, atol=1e-14)
    stored = sparse.csr_array(np.nan_to_num(X, nan=7.0))
    stored.data[stored.data == 7.0] = np.nan
    np.testing.assert_allclose(relieff(stored, y, n_neighbors=4), expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("sign", [0, 1])
def test_sparse_weights_equal_the_definition(sign, tiny_blocks):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.08, size=(60, 30)) * rng.choice([-1.0, 1.0][sign:], size=(60, 30))
    X[0], y = 1.0, np.arange(60) % 3  # no column is constant
    for form in (sparse.csr_array, sparse.csc_matrix):
        assert form(X).nnz < 0.1 * X.size
        scores = relieff(form(X), y, n_neighbors=4, n_jobs=2)
        np.testing.assert_allclose(scores, by_definition(X, y, 4), rtol=1e-10, atol=1e-14)


def test_drawn_samples_equal_the_definition(tiny_blocks):
    X, y = planted(n_samples=60, n_features=9, n_classes=3)
    drawn = np.sort(np.random.RandomState(3).choice(60, 20, replace=False))
    scores = relieff(X, y, n_neighbors=4, n_samples=20, random_state=3)
    np.testing.assert_allclose(scores, by_definition(X, y, 4, drawn.tolist()), rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(relieff(X, y, n_samples=60), relieff(X, y))
    with pytest.warns(UserWarning, match="n_samples=61 exceeds the 60 samples of X: using all of them"):
        np.testing.assert_array_equal(relieff(X, y, n_samples=61), relieff(X, y))


def test_classes_with_fewer_samples_than_neighbours_equal_the_definition():
    X, y = planted(n_samples=40, n_features=6)
    y = y.copy()
    y[:3], y[3] = 2, 3  # a class of three samples, and a class of one
    np.testing.assert_allclose(relieff(X, y), by_definition(X, y), rtol=1e-10)


@pytest.mark.parametrize("name", ["syn2c_60x40", "syn3c_90x30", "allaml_72x400", "colon_62x300"])
@pytest.mark.parametrize("k", [10, 20])
def test_weights_equal_the_records_made_from_matlabs_documentation(name, k):
    X, _, weights, _ = oracle(name, f"relieff_class_k{k}")
    with np.load(Path(ORACLE) / f"{name}.npz") as table:
        y = table["y"]
    tied = name.startswith("colon")  # with ties, the record depends on the order of the rows
    np.testing.assert_allclose(relieff(X, y, n_neighbors=k), weights, rtol=0, atol=0.01 if tied else 1e-12)


def test_features_that_are_informative_only_jointly_are_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    y = (X[:, 2] > 0) ^ (X[:, 5] > 0)
    assert set(ReliefF(2).fit(X, y).order_[:2].tolist()) == {2, 5}


def test_scale_and_offset_of_a_feature_do_not_matter():
    X, y = planted(n_samples=80, n_features=10)
    scales, offsets = np.logspace(-6, 6, 10), np.linspace(-3, 3, 10)
    np.testing.assert_allclose(relieff(scales * X + offsets * scales, y), relieff(X, y), rtol=1e-9)


def test_distances_below_the_precision_of_float32_are_exact(tiny_blocks):
    # tight clusters far apart
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(3, 6)), 20, axis=0) + 1e-9 * rng.integers(0, 50, size=(60, 6))
    y = rng.integers(0, 2, size=60)
    np.testing.assert_allclose(relieff(X, y, n_neighbors=3), by_definition_exact(X, y, 3), rtol=1e-6)


def by_definition_exact(X, y, k):
    """Weights for two classes, with distances rounded to 2^-40 of the largest possible one."""
    Z = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    diff = np.abs(Z[:, None] - Z)
    units = np.rint(diff.sum(axis=2) / (X.shape[1] * 2.0**-40))
    weights = np.zeros(X.shape[1])
    for i in range(len(X)):
        for c in (0, 1):
            members = np.flatnonzero((y == c) & (np.arange(len(X)) != i))
            last = np.sort(units[i, members])[k - 1]
            nearer, tied = members[units[i, members] < last], members[units[i, members] == last]
            mean = (diff[i, nearer].sum(axis=0) + (k - nearer.size) * diff[i, tied].mean(axis=0)) / k
            weights += (1 if c != y[i] else -1) * mean / len(X)
    return weights


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_weights_of_values_much_smaller_than_their_range_equal_the_definition(n_jobs):
    X, y = planted(n_samples=150, n_features=30)
    X = np.exp(4 * X)  # a few large values per feature: levels cannot tell the others apart
    np.testing.assert_allclose(relieff(X, y, n_neighbors=5, n_jobs=n_jobs), by_definition(X, y, 5), rtol=1e-9)


def test_weights_of_more_features_than_a_block_holds_equal_the_definition():
    X, y = planted(n_samples=30, n_features=9001)
    np.testing.assert_allclose(relieff(X, y, n_neighbors=3), by_definition(X, y, 3), rtol=1e-9, atol=1e-13)


@pytest.mark.skipif(not DATA, reason=NO_DATA)
def test_sparse_text_gives_the_weights_of_dense_text():
    X, y = load("dexter")
    X = sparse.csr_array(X)[:, :2000]
    np.testing.assert_allclose(relieff(X, y, n_jobs=2), relieff(X.toarray(), y), rtol=1e-9, atol=1e-14)


def test_a_callback_may_stop_after_some_samples(monkeypatch):
    blocks_of(monkeypatch, 16)
    X, y = planted(n_samples=64, n_features=8, n_classes=3)
    monkeypatch.setattr(ReliefF, "_steps", lambda self, items, name: iter(items[:2]))
    np.testing.assert_allclose(relieff(X, y, n_neighbors=4), by_definition(X, y, 4, range(32)), rtol=1e-10)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1, got 0"),
        ({"n_neighbors": 2.5}, "n_neighbors must be an integer >= 1, got 2.5"),
        ({"n_samples": 0}, "n_samples must be an integer >= 1, got 0"),
    ],
)
def test_invalid_parameters_raise(parameters, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        ReliefF(**parameters).fit(np.eye(6), [0, 1] * 3)


def test_peak_memory_is_a_copy_of_two_bytes_per_value_the_neighbours_and_blocks():
    # 3000 x 2000: the data take 48 MB, a matrix of all distances would take 72 MB
    assert peak_megabytes("ReliefF(n_jobs=2)", 3000, 2000) < 12 + 50 * 18 * 2 * 3000 / 2**20 + 100
