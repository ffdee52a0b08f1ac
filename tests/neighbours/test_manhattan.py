"""Approximate Manhattan distances against exact ones."""

import numpy as np
import pytest
from scipy import sparse

from ilfs.arrays import aligned_zeros
from ilfs.execution import LabelledRows
from ilfs.neighbours import by_class, manhattan
from ilfs.neighbours.manhattan import DenseManhattan, LevelManhattan, SparseManhattan
from ilfs.sources import table_source


def rows_of(X, y=None):
    return LabelledRows.from_source(table_source(X, np.arange(X.shape[0]) % 2 if y is None else y), missing=True)


def units_of(samples, n):
    """Number of units in a distance of 1."""
    if isinstance(samples, SparseManhattan):
        return samples.units
    return manhattan._max_level(n) if isinstance(samples, LevelManhattan) else manhattan.UNITS_PER_DISTANCE / n


def all_distances(samples):
    every = samples.row_blocks
    return np.block([[samples.distances(samples, rows, others) for others in every] for rows in every])


def true_distances(X):
    Z = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    return np.abs(Z[:, None] - Z).sum(axis=2)


def tables():
    rng = np.random.default_rng(0)
    return {
        "uniform": rng.uniform(0, 1000, (70, 61)),
        "heavy tails": np.exp(3 * rng.normal(size=(70, 61))),
        "clusters": rng.normal(size=(7, 61))[rng.integers(0, 7, 70)] + 1e-9 * rng.normal(size=(70, 61)),
        "integers": rng.integers(0, 5, (70, 61)).astype(float),
        "one feature": rng.normal(size=(70, 1)),
    }


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("form", [LevelManhattan, DenseManhattan, SparseManhattan])
def test_the_error_of_a_distance_is_at_most_the_slack_of_both_samples(name, form):
    X = tables()[name]
    samples = form.from_rows(rows_of(sparse.csr_array(X) if form is SparseManhattan else X))
    error = np.abs(all_distances(samples) - units_of(samples, X.shape[1]) * true_distances(X))
    assert (error <= samples.slack[:, None] + samples.slack).all()


def test_distances_of_levels_are_exact():
    # 0 and 1 become the levels 0 and 8191; the distance of two samples counts the features in which they differ
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 50)).astype(float)
    differing = (X[:, None] != X).sum(axis=2)
    np.testing.assert_array_equal(all_distances(LevelManhattan.from_rows(rows_of(X))), 8191 * differing)


def test_the_slack_of_levels_is_their_rounding_error():
    # the second sample is 0.25 levels above a level in both features; the others are on levels
    X = np.array([[0.0, 0.0], [100.25, 7000.25], [8191.0, 8191.0]])
    samples = LevelManhattan.from_rows(rows_of(X))
    np.testing.assert_allclose(samples.errors, [0.0, 0.5, 0.0], atol=2 / 1024)
    np.testing.assert_array_equal(samples.sums, [0, 7100, 2 * 8191])


def test_missing_values_have_no_levels():
    X = np.random.default_rng(0).normal(size=(20, 9))
    X[3, 4] = np.nan
    assert LevelManhattan.from_rows(rows_of(X)) is None
    assert isinstance(manhattan.sparse_or_levels(rows_of(X)), DenseManhattan)


def test_many_features_have_fewer_levels_so_that_distances_fit_into_32_bits():
    assert manhattan._max_level(262_176) == 8191
    assert manhattan._max_level(1_000_000) == 2147


def test_levels_are_used_only_if_they_separate_the_samples():
    rng = np.random.default_rng(0)
    form = {
        name: type(by_class._searchable(rows_of(X), 10, 18))
        for name, X in {
            "uniform": rng.random((400, 50)),
            # all values but one per feature share a few levels
            "outliers": np.vstack([rng.random((399, 50)), np.full((1, 50), 1e4)]),
            # ties, which no precision separates
            "binary": (rng.random((400, 50)) < 0.5).astype(float),
        }.items()
    }
    assert form == {"uniform": LevelManhattan, "outliers": DenseManhattan, "binary": LevelManhattan}


def test_candidates_that_are_certainly_nearest_need_no_exact_distance():
    # distances 1, 11, 21, 22 with an error of 1: for three places the third and the fourth sample compete
    bounds, kept = np.array([[[0, 10, 20, 21]]]), np.array([[[1, 2, 3, 4]]])
    row_slack, slack = np.array([1]), np.array([1, 0, 0, 0, 0])
    near, sure = by_class._near(bounds, kept, np.array([[2]]), row_slack, slack)
    assert near.tolist() == sure.tolist() == [[[True, True, False, False]]]
    near, sure = by_class._near(bounds, kept, np.array([[3]]), row_slack, slack)
    assert near.tolist() == [[[True] * 4]]
    assert sure.tolist() == [[[True, True, False, False]]]


@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 300, 400)])
@pytest.mark.parametrize("dtype", [np.uint16, np.float32, np.float64])
def test_aligned_arrays_start_at_a_cache_line(shape, dtype):
    zeros = aligned_zeros(shape, dtype)
    assert zeros.shape == shape
    assert zeros.dtype == dtype
    assert zeros.ctypes.data % 64 == 0
    assert not zeros.any()
