import numpy as np
import pytest
from brute_force import first_of_the_best, picked_by_gain, picked_by_novelty, ridge_losses, unit_columns
from hypothesis import assume, given
from hypothesis import strategies as st

from ilfs.execution import one_blas_thread
from ilfs.solvers.picking import PICKS_PER_UPDATE, gaining_picks, novel_picks

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Use one BLAS thread: several are much slower if other processes are busy."""
    with one_blas_thread():
        yield


def related(seed, n_samples=40, n_features=8, n_factors=3):
    """Make correlated columns of mean 0 and length 1 from a few factors, and descending relevances."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_samples, n_factors)) @ rng.normal(size=(n_factors, n_features))
    Z = unit_columns(factors + rng.uniform(0.1, 2) * rng.normal(size=(n_samples, n_features)))
    return np.sort(rng.random(n_features))[::-1], Z


def classes_of(Z, n_classes, seed=0):
    """Make indicators of classes that depend on the columns, with mean 0 and length 1."""
    rng = np.random.default_rng(seed)
    of_class = Z @ rng.normal(size=(Z.shape[1], n_classes)) + 0.1 * rng.normal(size=(len(Z), n_classes))
    y = of_class.argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return unit_columns((y[:, None] == np.arange(n_classes)).astype(float))


class TestNovelty:
    @given(seeds)
    def test_picks_maximise_relevance_times_novelty(self, seed):
        relevance, Z = related(seed)
        order, values = picked_by_novelty(relevance, Z.T @ Z)
        picks = novel_picks(relevance, Z.T @ Z)
        np.testing.assert_array_equal(picks.order, order)
        np.testing.assert_allclose(picks.value, np.array(values) / values[0], rtol=1e-12)

    @given(st.data())
    def test_ties_go_to_the_first(self, data):
        n = data.draw(st.integers(1, 7))
        relevance = sorted(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=n, max_size=n)), reverse=True)
        rho = np.eye(n)
        for i in range(n):
            for j in range(i):
                rho[i, j] = rho[j, i] = data.draw(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]))
        order, values = picked_by_novelty(relevance, rho)
        picks = novel_picks(np.array(relevance), rho)
        np.testing.assert_array_equal(picks.order, order)
        np.testing.assert_allclose(picks.value * (values[0] if values else 1), values)

    @given(seeds)
    def test_values_never_rise(self, seed):
        value = novel_picks(*(lambda r, Z: (r, Z.T @ Z))(*related(seed, n_samples=6))).value
        assert value[0] == 1
        assert (np.diff(value) <= 0).all()
        assert (value > 0).all()

    @given(seeds)
    def test_novelty_and_nearest_match_the_definition(self, seed):
        relevance, Z = related(seed)
        relevance[-2:] = 0.0  # never picked
        rho = Z.T @ Z
        picks = novel_picks(relevance, rho)
        assert picks.order.tolist() == [j for j in picks.order if j < 6]
        for j in range(8):
            before = picks.order[: picks.order.tolist().index(j)] if j in picks.order else picks.order
            if before.size:
                assert picks.novelty[j] == pytest.approx(min(1 - rho[before, j] ** 2))
                assert picks.nearest[j] == before[np.argmax(rho[before, j] ** 2)]
            else:
                assert (picks.novelty[j], picks.nearest[j]) == (1, -1)

    def test_a_candidate_without_correlations_has_no_nearest_pick(self):
        picks = novel_picks(np.array([1.0, 0.5]), np.eye(2))
        assert picks.nearest.tolist() == [-1, -1]
        assert picks.novelty.tolist() == [1, 1]

    def test_novelties_that_differ_by_rounding_are_ties(self):
        rho = np.eye(3)
        rho[0, 1:] = rho[1:, 0] = 0.5, 0.5 - 1e-14
        assert novel_picks(np.ones(3), rho).order.tolist() == [0, 1, 2]

    def test_nothing_is_picked_without_relevance_or_candidates(self):
        for relevance in (np.zeros(3), np.zeros(0)):
            picks = novel_picks(relevance, np.eye(relevance.size))
            assert picks.order.size == picks.value.size == 0

    def test_input_is_not_written_to(self):
        relevance, Z = related(0)
        rho = Z.T @ Z
        relevance.flags.writeable = rho.flags.writeable = False
        novel_picks(relevance, rho)
        gaining_picks(rho[:, :2], rho, 1.0)


@pytest.mark.parametrize("how", ["novelty", "gain"])
@given(seeds)
def test_copies_and_mirrored_copies_are_never_picked(how, seed):
    relevance, Z = related(seed, n_features=5)
    T = classes_of(Z, 3)
    doubled = np.column_stack([Z, -Z[:, ::2], Z[:, 1]])
    relevance = np.append(relevance, np.full(4, relevance[-1] / 2))

    def picks_of(columns):
        rho = columns.T @ columns
        if how == "novelty":
            return novel_picks(relevance[: len(rho)], rho)
        return gaining_picks(columns.T @ T, rho, 1.0)[0]

    once, twice = picks_of(Z), picks_of(doubled)
    same_as = np.array([0, 1, 2, 3, 4, 0, 2, 4, 1])
    assert np.unique(same_as[twice.order]).size == twice.order.size
    np.testing.assert_array_equal(same_as[twice.order], once.order)
    never = np.setdiff1d(np.arange(9), twice.order)
    np.testing.assert_array_equal(twice.novelty[never], np.zeros(4))
    np.testing.assert_array_equal(same_as[twice.nearest[never]], same_as[never])


class TestForced:
    """Candidates that must be picked come first, and the next pick is the best one given them."""

    @given(seeds, st.sets(st.integers(0, 7), max_size=7))
    def test_picks_by_novelty_equal_brute_force(self, seed, forced):
        relevance, Z = related(seed)
        order, values = picked_by_novelty(relevance, Z.T @ Z, forced)
        picks = novel_picks(relevance, Z.T @ Z, np.array(sorted(forced), dtype=int))
        np.testing.assert_array_equal(picks.order, order)
        self.check_values(picks, np.array(values), relevance.max(), len(forced))

    @pytest.mark.parametrize("forced", [[0], [7], [3, 5], [6, 1, 2], list(range(8))])
    @pytest.mark.parametrize("ridge", [0.01, 1.0, 20.0])
    def test_picks_by_gain_equal_brute_force_ridge_regressions(self, forced, ridge):
        _, Z = related(len(forced))
        T = classes_of(Z, 3)
        order, gains = picked_by_gain(Z, T, ridge, 8, forced)
        picks, gain = gaining_picks(Z.T @ T, Z.T @ Z, ridge, forced=np.array(sorted(forced)))
        assert set(order[: len(forced)]) == set(forced)
        np.testing.assert_array_equal(picks.order, order)
        np.testing.assert_allclose(gain[order], gains, rtol=1e-7, atol=1e-11)
        alone = max((ridge_losses(Z[:, []], T, ridge) - ridge_losses(Z[:, [j]], T, ridge)).sum() for j in range(8))
        self.check_values(picks, gains.sum(axis=1), alone, len(forced))

    @staticmethod
    def check_values(picks, values, largest, n_forced):
        """Values are fractions of the best candidate alone, and fall among forced picks and among the others."""
        if not n_forced:
            return
        assert picks.n_forced == n_forced
        expected = [np.minimum.accumulate(np.minimum(part, largest)) for part in (values[:n_forced], values[n_forced:])]
        np.testing.assert_allclose(picks.value, np.concatenate(expected) / largest, rtol=1e-7, atol=1e-9)

    def test_copies_and_useless_candidates_are_picked_if_they_are_forced(self):
        Z = unit_columns(np.array([[1.0, 1, 1, 1], [1, -1, 1, -1], [-1, 1, -1, -1], [-1, -1, -1, 1]]))
        T, forced = Z[:, [1]], np.array([0, 2, 3])  # 2 is a copy of 0; none of them has to do with the class
        picks, gain = gaining_picks(Z.T @ T, Z.T @ Z, 1.0, forced=forced)
        assert picks.order.tolist() == [0, 2, 3, 1]
        np.testing.assert_allclose(gain[:, 0], [0, 0.5, 0, 0], atol=1e-15)
        np.testing.assert_allclose(picks.value, [0, 0, 0, 1], atol=1e-15)
        picks = novel_picks(np.array([0.0, 0.0, 0.0, 0.0]), Z.T @ Z, forced)
        assert picks.order.tolist() == [0, 2, 3]
        assert picks.value.tolist() == [0, 0, 0]

    def test_a_copy_changes_the_next_gains_as_in_a_regression_on_both(self):
        _, Z = related(3)
        Z = np.column_stack([Z, Z[:, 0]])
        T = classes_of(Z, 2)
        order, gains = picked_by_gain(Z, T, 1.0, 5, [0, 8])
        picks, gain = gaining_picks(Z.T @ T, Z.T @ Z, 1.0, forced=np.array([0, 8]))
        np.testing.assert_array_equal(picks.order[:5], order)
        np.testing.assert_allclose(gain[order], gains, rtol=1e-7, atol=1e-11)

    def test_more_forced_candidates_than_one_blocked_update_has(self):
        _, Z = related(0, 300, 2 * PICKS_PER_UPDATE + 12, n_factors=20)
        T, forced = classes_of(Z, 3), np.arange(5, PICKS_PER_UPDATE + 15)
        picks, gain = gaining_picks(Z.T @ T, Z.T @ Z, 0.5, forced=forced)
        assert set(picks.order[: forced.size]) == set(forced.tolist())
        losses = np.array([TestGain.loss(Z[:, picks.order[:i]], T, 0.5) for i in range(picks.order.size + 1)])
        np.testing.assert_allclose(gain[picks.order], -np.diff(losses, axis=0), atol=1e-11)
        rest = np.setdiff1d(np.arange(Z.shape[1]), forced)
        best = min(rest, key=lambda j: TestGain.loss(Z[:, [*forced, j]], T, 0.5).sum())
        assert picks.order[forced.size] == best

    def test_the_set_matters_not_the_order_in_which_it_is_given(self):
        relevance, Z = related(1)
        one, two = (novel_picks(relevance, Z.T @ Z, np.array(forced)) for forced in ([6, 2], [2, 6]))
        np.testing.assert_array_equal(one.order, two.order)


class TestGraph:
    """Picks by novelty are a path through the graph a_ij = r_i r_j (1 - rho_ij^2)."""

    @staticmethod
    def path(edges, start):
        """Extend a path from a start node, always to the node whose weakest edge from the path is largest."""
        path = [start]
        while len(path) < len(edges):
            weakest = {j: min(edges[i, j] for i in path) for j in set(range(len(edges))) - set(path)}
            path.append(first_of_the_best(weakest))
        return path

    @given(seeds)
    def test_picks_follow_edges_divided_by_the_relevance_of_their_first_node(self, seed):
        relevance, Z = related(seed)
        rho = Z.T @ Z
        a = np.outer(relevance, relevance) * (1 - rho**2)
        start = int(relevance.argmax())
        assert self.path(a / relevance[:, None], start) == novel_picks(relevance, rho).order.tolist()

    @given(seeds)
    def test_an_uncorrelated_start_node_leads_to_the_first_pick(self, seed):
        relevance, Z = related(seed)
        r, rho = np.append(1.0, relevance), np.eye(9)
        rho[1:, 1:] = Z.T @ Z
        a = np.outer(r, r) * (1 - rho**2)
        steps = self.path(a / r[:, None], 0)[1:]
        assert [j - 1 for j in steps] == novel_picks(relevance, rho[1:, 1:]).order.tolist()

    @given(seeds)
    def test_picks_follow_undivided_edges_if_all_relevances_are_equal(self, seed):
        _, Z = related(seed)
        rho = Z.T @ Z
        a = 0.7 * 0.7 * (1 - rho**2)
        assert self.path(a, 0) == novel_picks(np.full(8, 0.7), rho).order.tolist()

    def test_undivided_edges_give_another_order_if_relevances_differ(self):
        r, squares = np.array([1.0, 0.5, 0.4, 0.3]), np.eye(4)
        squares[0, 2] = squares[2, 0] = 0.5
        squares[1, 3] = squares[3, 1] = 0.2
        a = np.outer(r, r) * (1 - squares)
        # After 0 and 1, the candidates 2 and 3 have novelty 0.5 and 0.8. Times relevance that is 0.20 and 0.24, so 3 is
        # picked; but their weakest edges are 0.20 and 0.12.
        assert novel_picks(r, np.sqrt(squares)).order.tolist() == [0, 1, 3, 2]
        assert self.path(a / r[:, None], 0) == [0, 1, 3, 2]
        assert self.path(a, 0) == [0, 1, 2, 3]


class TestGain:
    @pytest.mark.parametrize("n_classes", [1, 2, 5])
    @pytest.mark.parametrize(("n_samples", "n_features"), [(40, 8), (9, 12)])
    @pytest.mark.parametrize("ridge", [0.01, 1.0, 20.0])
    def test_picks_and_gains_equal_brute_force_ridge_regressions(self, n_classes, n_samples, n_features, ridge):
        _, Z = related(n_classes, n_samples, n_features)
        T = classes_of(Z, n_classes) if n_classes > 1 else unit_columns(Z[:, :3].sum(axis=1, keepdims=True))
        order, gains = picked_by_gain(Z, T, ridge, n_features)
        picks, gain = gaining_picks(Z.T @ T, Z.T @ Z, ridge)
        np.testing.assert_array_equal(picks.order, order)
        np.testing.assert_allclose(gain[order], gains, rtol=1e-7, atol=1e-11)
        value = np.minimum.accumulate(gains.sum(axis=1))
        np.testing.assert_allclose(picks.value, value / value[0], rtol=1e-7, atol=1e-11)

    @pytest.mark.parametrize("n_samples", [50, 400])
    def test_gains_stay_exact_over_several_blocked_updates(self, n_samples):
        _, Z = related(0, n_samples, 2 * PICKS_PER_UPDATE + 12, n_factors=20)
        T = classes_of(Z, 3)
        picks, gain = gaining_picks(Z.T @ T, Z.T @ Z, 0.5)
        order = picks.order
        assert order.size > 2 * PICKS_PER_UPDATE
        losses = np.array([self.loss(Z[:, order[:i]], T, 0.5) for i in range(order.size + 1)])
        np.testing.assert_allclose(gain[order], -np.diff(losses, axis=0), atol=1e-11)
        for i in (
            PICKS_PER_UPDATE - 1,
            PICKS_PER_UPDATE,
            PICKS_PER_UPDATE + 1,
            2 * PICKS_PER_UPDATE,
        ):  # no other candidate would have gained more
            others = [self.loss(Z[:, [*order[:i], j]], T, 0.5).sum() for j in order[i + 1 :]]
            assert losses[i + 1].sum() <= min(others) + 1e-12

    @staticmethod
    def loss(Z, T, ridge):
        """Compute the ridge loss of each class by the normal equations."""
        C = Z.T @ T
        return (T**2).sum(axis=0) - (C * np.linalg.solve(Z.T @ Z + ridge * np.eye(Z.shape[1]), C)).sum(axis=0)

    @given(seeds)
    def test_with_a_very_large_ridge_the_order_is_that_of_the_correlations(self, seed):
        _, Z = related(seed)
        T = classes_of(Z, 3, seed)
        squares = ((Z.T @ T) ** 2).sum(axis=1)
        # A gain is about squares / ridge. Gains closer than MIN_GAIN are ties, and picks change squares by about 1e-6.
        assume(squares.min() > 1e-4 and np.diff(np.sort(squares)).min() > 1e-4)
        picks, _ = gaining_picks(Z.T @ T, Z.T @ Z, 1e6)
        np.testing.assert_array_equal(picks.order, np.argsort(-squares))

    @given(seeds)
    def test_with_a_tiny_ridge_picks_are_those_of_orthogonal_least_squares(self, seed):
        _, Z = related(seed)
        T = classes_of(Z, 3, seed)
        picks, gain = gaining_picks(Z.T @ T, Z.T @ Z, 1e-12)
        basis, left = Z.copy(), T.copy()
        for j in picks.order:  # Gram-Schmidt
            length = np.linalg.norm(basis, axis=0)
            unit = basis / np.where(length > 1e-9, length, np.inf)
            explained = (unit.T @ left) ** 2
            assert explained[j].sum() >= explained.sum(axis=1).max() * (1 - 1e-6)
            np.testing.assert_allclose(gain[j], explained[j], rtol=1e-5, atol=1e-9)
            left -= np.outer(unit[:, j], unit[:, j] @ left)
            basis -= np.outer(unit[:, j], unit[:, j] @ basis)
        np.testing.assert_allclose(gain.sum(axis=0), 1 - ridge_losses(Z, T, 0.0), rtol=1e-6)

    def test_values_do_not_rise_if_a_later_pick_gains_more(self):
        # The class is the difference of two highly correlated features: one alone explains little of it.
        u, v = unit_columns(np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])).T
        Z = unit_columns(np.column_stack([u + 0.3 * v, u - 0.3 * v]))
        picks, gain = gaining_picks(Z.T @ v[:, None], Z.T @ Z, 0.01)
        assert gain[1, 0] > 5 * gain[0, 0]
        assert picks.order.tolist() == [0, 1]
        assert picks.value.tolist() == [1, 1]

    def test_uninformative_features_are_not_picked(self):
        Z = unit_columns(np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]))
        picks, gain = gaining_picks(Z.T @ Z[:, [1]], Z.T @ Z, 1.0)
        assert picks.order.tolist() == [1]
        np.testing.assert_allclose(gain, [[0.0], [0.5]])

    def test_nothing_is_picked_without_candidates(self):
        picks, gain = gaining_picks(np.zeros((0, 2)), np.zeros((0, 0)), 1.0)
        assert picks.order.size == 0
        assert gain.shape == (0, 2)


def test_gains_use_the_covariance_and_novelty_uses_the_correlation():
    _, Z = related(0, n_samples=30)
    covariance, c = Z.T @ Z, Z.T @ np.random.default_rng(0).normal(size=(30, 2))
    correlation = np.eye(len(covariance))
    correlation[0, 1] = correlation[1, 0] = 0.5
    by_covariance, gain = gaining_picks(c, covariance, 1.0)
    found, found_gain = gaining_picks(c, correlation, 1.0, covariance)
    np.testing.assert_array_equal(found.order, by_covariance.order)
    np.testing.assert_allclose(found_gain, gain)
    assert sorted(found.novelty)[:2] == [0.75, 1.0]
