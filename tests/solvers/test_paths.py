import numpy as np
import pytest
from brute_force import path_sum
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from ilfs.solvers import paths
from ilfs.solvers.paths import adjacency, novel_adjacency, novel_path_scores
from ilfs.solvers.picking import novel_picks

relevances = st.lists(st.floats(0.01, 1.0), min_size=1, max_size=25).map(np.array)
dampings = st.floats(0.05, 0.99)


@given(relevances, dampings)
def test_scores_are_the_row_sums_of_the_explicit_inverse(p, damping):
    r = damping / np.linalg.eigvalsh(np.outer(p, p)).max()
    np.testing.assert_allclose(paths.infinite_path_scores(p, damping), path_sum(p, r).sum(axis=1), rtol=1e-9)


def test_scores_are_the_sum_over_paths_of_every_length():
    p = np.array([0.9, 0.5, 0.2])
    step = 0.5 / (p @ p) * np.outer(p, p)
    total = sum(np.linalg.matrix_power(step, length) for length in range(1, 60))
    np.testing.assert_allclose(paths.infinite_path_scores(p, 0.5), total.sum(axis=1), rtol=1e-12)


def test_scores_match_hand_computed_values():
    # p = (1, 1/2): |p|^2 = 5/4, sum p = 3/2; with c = 1/2, r = 2/5 and score = p * (2/5 * 3/2) / (1/2) = p * 6/5
    np.testing.assert_allclose(paths.infinite_path_scores(np.array([1.0, 0.5]), 0.5), [1.2, 0.6])


@given(relevances, dampings)
def test_scores_rank_nodes_as_relevance_does(p, damping):
    np.testing.assert_array_equal(
        np.argsort(-paths.infinite_path_scores(p, damping), kind="stable"), np.argsort(-p, kind="stable")
    )


@given(relevances, dampings)
def test_scores_do_not_depend_on_the_scale_of_relevance(p, damping):
    np.testing.assert_allclose(
        paths.infinite_path_scores(p / 8, damping), paths.infinite_path_scores(p, damping), rtol=1e-12
    )


def test_spectral_radius_equals_the_damping():
    p = np.array([0.9, 0.5, 0.2])
    radius = np.linalg.eigvalsh(paths.path_weight(p, 0.7, "radius") * np.outer(p, p)).max()
    assert radius == pytest.approx(0.7)


def test_largest_row_sum_equals_the_damping():
    p = np.array([0.9, 0.5, 0.2])
    rows = (paths.path_weight(p, 0.7, "rows") * np.outer(p, p)).sum(axis=1)
    assert rows.max() == pytest.approx(0.7)


@pytest.mark.parametrize("bound", ["radius", "rows"])
@given(relevances, dampings, st.integers(0, 2**32 - 1))
def test_fundamental_product_equals_the_explicit_inverse_times_the_vector(bound, p, damping, seed):
    v = np.random.default_rng(seed).normal(size=p.size)
    A = np.outer(p, p)
    r = damping / (np.linalg.eigvalsh(A).max() if bound == "radius" else A.sum(axis=1).max())
    N = np.linalg.inv(np.eye(p.size) - r * A)
    np.testing.assert_allclose(
        paths.fundamental_product(p, v, damping, bound), N @ v, rtol=1e-8, atol=1e-10 * np.abs(N).sum()
    )


@pytest.mark.parametrize("bound", ["radius", "rows"])
@given(relevances, dampings)
def test_absorption_times_are_the_row_sums_of_the_fundamental_matrix(bound, p, damping):
    A = np.outer(p, p)
    r = damping / (np.linalg.eigvalsh(A).max() if bound == "radius" else A.sum(axis=1).max())
    expected = np.linalg.inv(np.eye(p.size) - r * A).sum(axis=1)
    np.testing.assert_allclose(paths.absorption_times(p, damping, bound), expected, rtol=1e-9)


def test_absorption_time_of_one_node_matches_the_hand_computed_value():
    # The walk goes on with probability c = 3/4 at every step, so it makes 1 / (1 - 3/4) = 4 visits.
    for bound in ("radius", "rows"):
        np.testing.assert_allclose(paths.absorption_times(np.array([0.3]), 0.75, bound), [4.0])


def test_absorption_time_agrees_with_a_simulated_walk():
    rng = np.random.default_rng(0)
    p = np.array([0.9, 0.5, 0.2])
    r = paths.path_weight(p, 0.8, "rows")
    step = np.column_stack([r * np.outer(p, p), 1 - r * np.outer(p, p).sum(axis=1)]).cumsum(axis=1)
    at, lengths = np.zeros(20_000, dtype=int), np.zeros(20_000)
    while (at < 3).any():
        walking = at < 3
        lengths[walking] += 1
        at[walking] = (rng.random(walking.sum())[:, None] > step[at[walking]]).sum(axis=1)
    assert lengths.mean() == pytest.approx(paths.absorption_times(p, 0.8, "rows")[0], rel=0.03)


@pytest.mark.parametrize("bound", ["radius", "rows"])
@given(relevances, dampings)
def test_effective_returns_follow_from_the_diagonal_of_the_explicit_inverse(bound, p, damping):
    A = np.outer(p, p)
    r = damping / (np.linalg.eigvalsh(A).max() if bound == "radius" else A.sum(axis=1).max())
    returns = np.diag(np.linalg.inv(np.eye(p.size) - r * A)) - 1
    fractions = returns / returns.sum()
    assert paths.effective_returns(p) == pytest.approx(1 / (fractions**2).sum(), rel=1e-6)


def test_effective_returns_match_hand_computed_values():
    # Weights 2, 1, 1: returns in the ratio 4 : 1 : 1, fractions 2/3, 1/6, 1/6; 1 / (16/36 + 1/36 + 1/36) = 2.
    assert paths.effective_returns(np.array([2.0, 1.0, 1.0])) == pytest.approx(2)
    assert paths.effective_returns(np.zeros(4)) == 0
    assert paths.effective_returns(np.full(7, 1e-200)) == pytest.approx(7)


@given(relevances)
def test_effective_returns_are_between_1_and_the_number_of_nodes(p):
    assert 1 - 1e-12 <= paths.effective_returns(p) <= p.size * (1 + 1e-12)
    assert paths.effective_returns(np.append(p, 0.0)) == pytest.approx(paths.effective_returns(p))


def test_returns_agree_with_a_simulated_walk():
    p, rng = np.array([0.9, 0.6, 0.3]), np.random.default_rng(0)
    step = paths.path_weight(p, 0.8, "rows") * np.outer(p, p)
    returns = np.zeros(3)
    for start in range(3):
        for _ in range(8_000):
            here = start
            while (u := rng.random()) < step[here].sum():  # else the walk is absorbed
                here = int(np.searchsorted(np.cumsum(step[here]), u))
                returns[start] += here == start
    assert returns.sum() ** 2 / (returns @ returns) == pytest.approx(paths.effective_returns(p), rel=0.03)


def test_zero_relevance_gives_zero_scores_and_absorption_at_once():
    nothing = np.zeros(3)
    np.testing.assert_array_equal(paths.infinite_path_scores(nothing, 0.9), nothing)
    np.testing.assert_array_equal(paths.absorption_times(nothing, 0.9, "rows"), np.ones(3))


def test_adjacency_is_the_outer_product():
    np.testing.assert_array_equal(paths.adjacency(np.array([1.0, 0.5])), [[1.0, 0.5], [0.5, 0.25]])


class TestNovelGraph:
    def made(self, seed=0, n=7):
        rng = np.random.default_rng(seed)
        return rng.uniform(0.1, 1.0, n), np.corrcoef(rng.normal(size=(20, n)) + rng.normal(size=(20, 1)), rowvar=False)

    @pytest.mark.parametrize("damping", [0.1, 0.9, 0.99])
    def test_path_sums_equal_the_explicit_inverse_and_the_series(self, damping):
        p, rho = self.made()
        A = novel_adjacency(p, rho)
        r = damping / np.linalg.eigvalsh(A).max()
        found = novel_path_scores(p, rho, damping)
        np.testing.assert_allclose(found, (np.linalg.inv(np.eye(7) - r * A) - np.eye(7)).sum(axis=1), rtol=1e-9)
        series, step = np.zeros(7), np.ones(7)
        for _ in range(5000):
            step = r * A @ step
            series += step
        np.testing.assert_allclose(found, series, rtol=1e-9)

    def test_without_correlation_only_the_diagonal_differs_from_the_paper(self):
        p, _ = self.made()
        A = novel_adjacency(p, np.eye(7))
        np.testing.assert_allclose(A, adjacency(p) - np.diag(p**2))

    def test_path_sums_rank_copies_of_the_best_feature_first(self):
        # Three copies of a good feature and ten weaker, uncorrelated ones: path sums do not remove redundancy.
        rho = np.eye(13)
        rho[:3, :3] = 1.0
        p = np.array([0.9] * 3 + [0.5] * 10)
        assert set(np.argsort(-novel_path_scores(p, rho, 0.9))[:3]) == {0, 1, 2}
        assert novel_picks(p, rho).order.tolist() == [0, *range(3, 13)]

    def test_a_graph_without_edges_has_zero_scores(self):
        np.testing.assert_array_equal(novel_path_scores(np.zeros(3), np.eye(3), 0.9), np.zeros(3))
        np.testing.assert_array_equal(novel_path_scores(np.ones(2), np.ones((2, 2)), 0.9), np.zeros(2))


@pytest.mark.parametrize("n", [6, 80])
def test_path_sums_of_any_graph_are_those_of_the_inverse(n):
    rng = np.random.default_rng(n)
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), 1)
    A[:, 2], A[2] = 0.0, 0.0
    A += A.T
    r = 0.9 / np.linalg.eigvalsh(A)[-1]
    expected = np.linalg.inv(np.eye(n) - r * A).sum(axis=1) - 1
    np.testing.assert_allclose(paths.path_scores(A, 0.9), expected, rtol=1e-8, atol=1e-12)
    assert paths.path_scores(csr_array(A), 0.9)[2] == 0.0
    assert not paths.path_scores(np.zeros((n, n)), 0.9).any()
