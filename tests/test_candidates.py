import numpy as np
import pytest
from brute_force import ridge_losses, unit_columns
from helpers import planted
from scipy import sparse

from ilfs import ILFS, FisherScore, Novelty
from ilfs.candidates import count_above_chance, evenly, is_narrow, spread, unexplained
from ilfs.redundancy import PickedSubset, ridge_of
from ilfs.selector import Scores
from ilfs.solvers.breadth import effective_rank

N_CANDIDATES = 100


def bright_corner(n_classes=4, per_class=15, n_corner=300, n_elsewhere=300, seed=0):
    """Return smooth columns: many that mark the first class, and twenty weaker ones and their neighbours for all."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), per_class)
    corner = 4.0 * (y == 0) + rng.normal(size=y.size)
    X = np.empty((y.size, n_corner + n_elsewhere))
    X[:, :n_corner] = corner[:, None]
    places = rng.normal(size=(y.size, 20)) + 0.7 * rng.normal(size=(n_classes, 20))[y]
    X[:, n_corner:] = np.repeat(places, n_elsewhere // 20, axis=1)
    return X + 0.1 * rng.normal(size=X.shape), y


def picked(gain, rank=1.0):
    """Return picks with the given gains, one row for each candidate, and an effective rank."""
    n = len(gain)
    nothing = np.zeros(n)
    return PickedSubset(Scores(nothing), np.arange(n), nothing, np.full(n, -1), nothing, np.asarray(gain), None, rank)


class TestPool:
    def test_a_narrow_pool_is_spread_over_the_relevant_features(self):
        X, y = bright_corner()
        by_relevance = ILFS(redundancy=None).fit(X, y).order_
        found = ILFS(n_candidates=N_CANDIDATES).fit(X, y)
        assert set(by_relevance[:N_CANDIDATES]) <= set(range(300))  # all from the corner
        assert found.candidates_.size == N_CANDIDATES
        np.testing.assert_array_equal(found.candidates_[: N_CANDIDATES // 2], by_relevance[: N_CANDIDATES // 2])
        assert np.count_nonzero(found.candidates_ >= 300) >= 20
        position = np.argsort(by_relevance)
        assert np.all(np.diff(position[found.candidates_]) > 0)  # most relevant first

    def test_the_picks_from_the_spread_pool_explain_more_of_the_classes(self):
        X, y = bright_corner()
        broad = ILFS(n_candidates=N_CANDIDATES).fit(X, y)
        narrow = ILFS().fit(X[:, ILFS(redundancy=None).fit(X, y).order_[:N_CANDIDATES]], y)
        assert 1 - broad.gain_.sum(axis=0).mean() < 0.7 * (1 - narrow.gain_.sum(axis=0).mean())

    @pytest.mark.parametrize("n_classes", [2, 4])
    @pytest.mark.parametrize("n_informative", [0, 20, 200])
    def test_columns_that_do_not_repeat_each_other_keep_the_most_relevant_candidates(self, n_classes, n_informative):
        X, y = planted(60, 600, n_informative, n_classes, shift=1.0)
        by_relevance = ILFS(redundancy=None).fit(X, y).order_
        found = ILFS(n_candidates=N_CANDIDATES, shapes=False).fit(X, y)
        np.testing.assert_array_equal(found.candidates_, by_relevance[:N_CANDIDATES])

    @pytest.mark.parametrize("n_candidates", [99, 500, None])
    def test_small_pools_and_pools_of_nearly_all_features_are_not_spread(self, n_candidates):
        X, y = bright_corner()
        by_relevance = ILFS(redundancy=None).fit(X, y).order_
        found = ILFS(n_candidates=n_candidates).fit(X, y)
        np.testing.assert_array_equal(found.candidates_, by_relevance[:n_candidates])

    def test_novelty_keeps_the_most_relevant_candidates(self):
        X, y = bright_corner()
        found = ILFS(redundancy="novelty", n_candidates=N_CANDIDATES).fit(X, y)
        by_relevance = ILFS(redundancy=None).fit(X, y).order_
        np.testing.assert_array_equal(found.candidates_, by_relevance[:N_CANDIDATES])

    def test_any_method_with_gain_has_the_spread_pool(self):
        X, y = bright_corner()
        found = Novelty(FisherScore(), redundancy="gain", n_candidates=N_CANDIDATES).fit(X, y)
        by_score = FisherScore().fit(X, y).order_
        assert not np.array_equal(found.candidates_, by_score[:N_CANDIDATES])
        np.testing.assert_array_equal(found.candidates_[: N_CANDIDATES // 2], by_score[: N_CANDIDATES // 2])

    def test_features_that_must_be_kept_join_a_spread_pool(self):
        X, y = bright_corner()
        X = np.column_stack([X, np.random.default_rng(1).normal(size=len(y))])
        free = ILFS(n_candidates=N_CANDIDATES).fit(X, y)
        kept = ILFS(n_candidates=N_CANDIDATES, must_keep=[600]).fit(X, y)
        assert kept.order_[0] == 600
        np.testing.assert_array_equal(kept.candidates_, np.append(free.candidates_, 600))

    def test_several_labels(self):
        X, y = bright_corner()
        Y = (y[:, None] == np.arange(4)).astype(int)
        found = ILFS(n_candidates=N_CANDIDATES).fit(X, Y)
        by_relevance = np.argsort(-found.relevance_, kind="stable")
        assert np.isin(by_relevance[:N_CANDIDATES], found.candidates_).sum() < N_CANDIDATES
        assert np.count_nonzero(found.candidates_ >= 300) > np.count_nonzero(by_relevance[:N_CANDIDATES] >= 300)


class TestReads:
    @pytest.mark.parametrize(
        ("make", "n_reads"), [(bright_corner, 4), (lambda: planted(60, 600, 200, 2, shift=1.0), 3)]
    )
    def test_only_a_narrow_pool_costs_another_read(self, make, n_reads, monkeypatch):
        from ilfs.execution.memory import InMemory

        reads = []
        read = InMemory.read
        monkeypatch.setattr(InMemory, "read", lambda self, asked: reads.append(len(asked)) or read(self, asked))
        ILFS(n_candidates=N_CANDIDATES).fit(*make())
        assert len(reads) == n_reads
        assert reads[2] == 4  # products and profile of the pool and of the sample, in one read

    @pytest.mark.parametrize("form", ["sparse", "rows in another order", "other label names", "two threads"])
    def test_the_pool_does_not_depend_on(self, form):
        X, y = bright_corner()
        expected = ILFS(n_candidates=N_CANDIDATES).fit(X, y)
        rows = np.random.default_rng(0).permutation(len(y)) if form == "rows in another order" else np.arange(len(y))
        n_jobs = 2 if form == "two threads" else None
        if form == "other label names":
            y = np.array(["d", "c", "b", "a"])[y]
        Z = sparse.csr_array(X) if form == "sparse" else X
        found = ILFS(n_candidates=N_CANDIDATES, n_jobs=n_jobs).fit(Z[rows], y[rows])
        np.testing.assert_array_equal(found.candidates_, expected.candidates_)
        np.testing.assert_array_equal(found.order_, expected.order_)


class TestUnexplained:
    def test_is_the_mean_loss_of_the_ridge_regressions(self):
        X, y = planted(60, 30, 10, 3, shift=1.0)
        found = ILFS(shapes=False).fit(X, y)
        Z, T = unit_columns(X), unit_columns((y[:, None] == np.arange(3)).astype(float))
        picks = np.flatnonzero(found.gain_.any(axis=1))
        losses = ridge_losses(Z[:, picks], T, ridge_of(30, 60))
        assert unexplained(picked(found.gain_), 30) == pytest.approx(np.mean(losses))

    def test_of_copies_is_that_of_one_column(self):
        X, y = planted(60, 1, 1, 3)
        copies = np.repeat(X, 50, axis=1) * np.arange(1, 51)
        gains = ILFS().fit(copies, y).gain_
        assert np.count_nonzero(gains.any(axis=1)) == 1
        assert unexplained(picked(gains), 10) == pytest.approx(1 - gains[0].mean())

    def test_by_hand(self):
        subset = picked([[0.1, 0.3], [0.2, 0.0], [0.0, 0.0]])
        assert unexplained(subset, 1) == pytest.approx(0.8)
        assert unexplained(subset, 2) == pytest.approx(0.7)
        assert unexplained(subset, 9) == pytest.approx(0.7)


class TestIsNarrow:
    @pytest.mark.parametrize(("rank", "gain", "expected"), [(9, 0.5, True), (9, 0.6, False), (11, 0.5, False)])
    def test_needs_both_conditions(self, rank, gain, expected):
        pool, sample = picked([[gain], [0.0]], rank), picked([[0.5], [0.0]], rank=10)
        assert is_narrow(pool, sample, n_picks=1) is expected


class TestEffectiveRank:
    @pytest.mark.parametrize("k", [1, 2, 30])
    def test_of_copies_is_one_and_of_uncorrelated_columns_their_number(self, k):
        assert effective_rank(np.ones((k, k))) == pytest.approx(1)
        assert effective_rank(np.eye(k)) == pytest.approx(k)

    def test_is_that_of_the_eigenvalues(self):
        rho = np.corrcoef(np.random.default_rng(0).normal(size=(7, 20)) @ np.diag(np.arange(20)))
        eigenvalues = np.linalg.eigvalsh(rho)
        assert effective_rank(rho) == pytest.approx(eigenvalues.sum() ** 2 / (eigenvalues**2).sum())

    def test_does_not_change_if_every_column_is_copied(self):
        rho = np.corrcoef(np.random.default_rng(0).normal(size=(7, 20)))
        assert effective_rank(np.kron(rho, np.ones((4, 4)))) == pytest.approx(effective_rank(rho))

    def test_of_independent_columns_is_below_the_number_of_rows(self):
        rho = np.corrcoef(np.random.default_rng(0).normal(size=(500, 40)))
        assert 30 < effective_rank(rho) < 40

    def test_of_no_column_is_zero(self):
        assert effective_rank(np.empty((0, 0))) == 0


class TestColumns:
    @pytest.mark.parametrize(("size", "n"), [(1, 1), (10, 10), (11, 10), (19, 10), (1000, 7), (12345, 250)])
    def test_evenly_takes_different_columns_at_equal_distances(self, size, n):
        order = np.random.default_rng(0).permutation(size)
        positions = np.argsort(order)[evenly(order, n)]
        assert positions[0] == 0
        assert positions.size == n
        distances = np.diff(np.append(positions, size))
        assert set(distances) <= {size // n, -(-size // n)}

    @pytest.mark.parametrize(("size", "n"), [(10, 10), (16, 10), (1001, 101), (5000, 1000)])
    def test_spread_takes_the_first_half_and_different_others(self, size, n):
        order = np.random.default_rng(0).permutation(size)
        positions = np.argsort(order)[spread(order, n)]
        assert positions.size == n
        assert np.all(np.diff(positions) > 0)
        np.testing.assert_array_equal(positions[: n // 2], np.arange(n // 2))

    def test_few_uninformative_columns_are_above_chance(self):
        n, m = 10_000, 100
        correlation = np.random.default_rng(0).normal(size=(n, 1)) / np.sqrt(m)
        assert 0 < count_above_chance(correlation, m) < n / np.sqrt(n)

    def test_columns_above_chance_by_hand(self):
        chance = np.sqrt(np.log(3) / 10)
        correlation = np.array([[chance + 0.01, 0.0], [0.0, -chance - 0.01], [chance - 0.01, chance - 0.01]])
        assert count_above_chance(correlation, 10) == 2
