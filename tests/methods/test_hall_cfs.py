"""Hall's CFS: merit and search against all subsets, uncertainty and cuts against hand-computed values."""

from itertools import combinations

import numpy as np
import pytest
from helpers import DATA, NO_DATA, load, peak_megabytes, planted
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import mutual_info_score

from ilfs import HallCFS, scorer
from ilfs.execution import LabelledRows
from ilfs.methods.hall_cfs import Search, best_first, discretised
from ilfs.sources import table_source


def bins_of(X, y, wanted=None):
    """Bins of the columns with several bins, and the indices of these columns."""
    rows = LabelledRows.from_source(table_source(np.asarray(X, dtype=float), np.asarray(y)))
    columns, kept, _ = discretised(rows, rows.labels, wanted)
    return columns.bins, kept


def entropy(y):
    frequencies = np.bincount(y) / len(y)
    frequencies = frequencies[frequencies > 0]
    return -(frequencies * np.log2(frequencies)).sum()


def symmetrical_uncertainty(x, y):
    x, y = np.asarray(x, dtype=int), np.asarray(y, dtype=int)
    both = entropy(x) + entropy(y)
    return 2 * (both - entropy(x * (y.max() + 1) + y)) / both


def uncertainties(columns, y):
    """Symmetrical uncertainties with the class and of all pairs of columns."""
    with_class = np.array([symmetrical_uncertainty(x, y) for x in columns])
    pairs = np.eye(len(columns))
    for i, j in combinations(range(len(columns)), 2):
        pairs[i, j] = pairs[j, i] = symmetrical_uncertainty(columns[i], columns[j])
    return with_class, pairs


def merit(with_class, pairs, subset):
    """Merit by the formula of the thesis."""
    k = len(subset)
    r_ff = np.mean([pairs[i, j] for i, j in combinations(subset, 2)]) if k > 1 else 0.0
    return k * np.mean(with_class[list(subset)]) / np.sqrt(k + k * (k - 1) * r_ff)


def best_of_all(with_class, pairs):
    subsets = [s for k in range(1, len(pairs) + 1) for s in combinations(range(len(pairs)), k)]
    return max(subsets, key=lambda subset: merit(with_class, pairs, subset))


class TestSubset:
    @pytest.mark.parametrize("seed", range(12))
    def test_search_finds_the_best_of_all_subsets(self, seed):
        # eight informative columns, some of them nearly redundant
        rng = np.random.default_rng(seed)
        y = np.arange(200) % (2 + seed % 3)
        X = rng.normal(size=(200, 8)) + np.outer(y, rng.uniform(0.5, 2, 8))
        X[:, 4:] += rng.uniform(0, 3) * X[:, :4]
        columns, kept = bins_of(X, y)
        done, known = HallCFS().fit(X, y), uncertainties(columns, y)
        best = best_of_all(*known)
        assert done.merit_ == pytest.approx(merit(*known, best), rel=1e-9)
        assert set(done.subset_) == set(kept[list(best)])

    @pytest.mark.parametrize("discretize", ["mdl", "frequency"])
    @pytest.mark.parametrize("dataset", [load_iris, load_wine, load_breast_cancer])
    def test_merit_equals_the_formula_of_the_thesis(self, dataset, discretize):
        X, y = dataset(return_X_y=True)
        columns, kept = bins_of(X, y, None if discretize == "mdl" else 7)
        done, known = HallCFS(discretize=discretize, n_bins=7).fit(X, y), uncertainties(columns, y)
        subset = [kept.tolist().index(j) for j in done.subset_]
        assert done.merit_ == pytest.approx(merit(*known, subset), rel=1e-9)
        np.testing.assert_allclose(done.uncertainty_[kept], known[0], atol=1e-12)
        # neither adding nor removing one feature increases the merit
        for i in range(len(columns)):
            other = [j for j in subset if j != i] if i in subset else [*subset, i]
            assert not other or merit(*known, other) <= done.merit_ + 1e-9

    def test_copies_of_features_are_not_added(self):
        X, y = planted(n_samples=300, n_features=6, n_informative=3, shift=1.5)
        done = HallCFS().fit(np.column_stack([X, X[:, :3] * 2]), y)
        assert set(done.subset_) == {0, 1, 2}

    def test_other_features_follow_the_subset_by_uncertainty(self):
        X, y = load_breast_cancer(return_X_y=True)
        done = HallCFS().fit(X, y)
        k = done.subset_.size
        np.testing.assert_array_equal(done.order_[:k], done.subset_)
        assert (np.diff(done.uncertainty_[done.order_[k:]]) <= 0).all()
        assert done.scores_[done.subset_].min() > 1 >= done.scores_[done.order_[k]]
        assert done.transform(X).shape[1] == k
        assert HallCFS(20).fit(X, y).transform(X).shape[1] == 20
        np.testing.assert_array_equal(done.table(3)["uncertainty"], done.uncertainty_[done.order_[:3]])

    def test_features_without_a_cut_are_ordered_by_the_gain_of_their_best_cut(self):
        y = np.arange(60) % 2
        X = np.column_stack([np.random.default_rng(0).normal(size=(60, 12)), y])
        rows = LabelledRows.from_source(table_source(X, y))
        _, kept, gain = discretised(rows, rows.labels, None)
        assert kept.tolist() == [12]
        assert np.diff(gain[HallCFS().fit(X, y).order_]).max() < 1e-10

    def test_a_feature_that_determines_the_class_is_selected_alone(self):
        X, y = planted(n_features=5)
        done = HallCFS().fit(np.column_stack([X, 3.0 - y]), y)
        assert done.subset_.tolist() == [5]
        assert done.merit_ == pytest.approx(1.0)
        assert done.uncertainty_[5] == pytest.approx(1.0)

    def test_an_empty_subset_gives_a_warning(self):
        X = np.arange(4.0)[:, None] ** [1, 2, 3]
        with pytest.warns(UserWarning, match="the subset is empty"):
            done = HallCFS().fit(X, [0, 1, 1, 0])
        assert done.subset_.size == 0
        assert done.merit_ == 0
        assert done.transform(X).shape == (4, 1)

    def test_the_subset_of_several_labels_is_the_union(self):
        rng = np.random.default_rng(0)
        Y = (rng.random((200, 2)) < 0.5).astype(int)
        X = rng.normal(size=(200, 6))
        X[:, [1, 4]] += 3 * Y
        done = HallCFS().fit(X, Y)
        assert set(done.subset_) == {1, 4}
        assert set(done.get_support(indices=True)) == {1, 4}


class TestSearch:
    def test_the_search_goes_through_subsets_that_are_not_better(self):
        # the best feature is redundant with both others, which complement each other
        with_class, pairs = np.array([0.6, 0.5, 0.5]), np.array([[1, 0.9, 0.9], [0.9, 1, 0], [0.9, 0, 1]])
        greedy, patient = (list(best_first(with_class, pairs.__getitem__, n))[-1].best for n in (1, 5))
        assert greedy.features == (0,)
        assert set(patient.features) == {1, 2}
        assert patient.merit == pytest.approx((0.5 + 0.5) / np.sqrt(2))

    def test_the_search_ends_after_max_stale_steps(self):
        rng = np.random.default_rng(0)
        with_class = rng.random(30)
        for max_stale in (1, 3, 6):
            steps = list(best_first(with_class, lambda j: np.full(30, 0.999), max_stale))
            assert len(steps) == 1 + max_stale
            assert all(isinstance(step, Search) for step in steps)
            assert steps[-1].best.features == (int(with_class.argmax()),)

    def test_each_subset_is_expanded_once_if_max_stale_is_large(self):
        steps = list(best_first(np.full(4, 0.5), lambda j: np.full(4, 0.9), 1000))
        assert len(steps) == 2**4

    def test_the_uncertainties_of_a_feature_are_computed_once(self):
        asked = []
        list(best_first(np.linspace(0.1, 0.9, 12), lambda j: asked.append(j) or np.full(12, 0.1), 20))
        assert len(asked) == len(set(asked)) <= 12


class TestUncertainty:
    def test_uncertainty_matches_hand_computed_values(self):
        # y has 4 + 4 samples; x has a value that occurs twice, in class 0, and one that occurs six times;
        # H(x) = 0.8113 bits, I = 1 - 0.75 * 0.9183 = 0.3113
        x, y = np.array([1.0, 1, 2, 2, 2, 2, 2, 2]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
        done = HallCFS(discretize="frequency").fit(x[:, None], y)
        assert done.uncertainty_[0] == pytest.approx(2 * 0.311278 / (0.811278 + 1), abs=1e-6)
        assert done.merit_ == done.uncertainty_[0]

    def test_uncertainty_is_mutual_information_over_mean_entropy(self):
        X, y = planted(n_classes=3, n_samples=200)
        done = HallCFS(discretize="frequency", n_bins=5).fit(X, y)
        # 200 values in five equal bins, and three classes
        entropy_of_classes = mutual_info_score(y, y)
        expected = 2 * scorer("mi", n_bins=5)(X, y) / (np.log(5) + entropy_of_classes)
        np.testing.assert_allclose(done.uncertainty_, expected, rtol=1e-10)


class TestCuts:
    def test_the_gain_of_a_cut_matches_hand_computed_values(self):
        # n = 8: the cut gains one bit and costs log2(7) / 8 + (log2(7) - 2) / 8 = 0.4518 bits
        y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
        rows = LabelledRows.from_source(table_source(np.arange(8.0)[:, None], y))
        columns, _, gain = discretised(rows, rows.labels, None)
        assert columns.bins.tolist() == [y.tolist()]
        assert gain[0] == pytest.approx(1 - (2 * np.log2(7) - 2) / 8)

    def test_a_cut_that_costs_more_than_it_gains_is_not_made(self):
        # classes 0 1 1 0: the best cut gains 0.3113 bits of 1, and costs
        # (log2(3) + log2(7) - (2 * 1 - 1 * 0 - 2 * 0.9183)) / 4 = 1.0572
        rows = LabelledRows.from_source(table_source(np.arange(4.0)[:, None], np.array([0, 1, 1, 0])))
        _, kept, gain = discretised(rows, rows.labels, None)
        assert kept.size == 0
        assert gain[0] == pytest.approx(0.311278 - 1.057227, abs=1e-5)

    def test_cuts_of_iris_equal_the_published_ones(self):
        X, y = load_iris(return_X_y=True)
        columns, _ = bins_of(X, y)
        cuts = [
            [(x[b == i].max() + x[b == i + 1].min()) / 2 for i in range(b.max())]
            for x, b in zip(X.T, columns, strict=True)
        ]
        np.testing.assert_allclose(cuts[0], [5.55, 6.15])
        np.testing.assert_allclose(cuts[1], [2.95, 3.35])
        np.testing.assert_allclose(cuts[2], [2.45, 4.75])
        np.testing.assert_allclose(cuts[3], [0.8, 1.75])

    @pytest.mark.parametrize("seed", range(6))
    def test_cuts_equal_a_plain_recursion(self, seed):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2 + seed, 150)
        X = np.round(rng.normal(size=(150, 5)) + np.outer(np.sin(2.0 * y), [2.0, 1, 3, 0.5, 0]), seed % 3)
        columns, kept = bins_of(X, y)
        for j in range(5):
            expected = np.searchsorted(np.sort(plain_cuts(X[:, j], y)), X[:, j], side="right")
            found = columns[kept.tolist().index(j)] if j in kept else np.zeros(150, int)
            np.testing.assert_array_equal(found, expected)

    def test_3_to_the_number_of_classes_does_not_overflow(self):
        y = np.repeat(np.arange(700), 3)
        columns, _ = bins_of((y % 2 + 0.0)[:, None], y)
        assert columns.max() == 1

    def test_increasing_transformations_of_features_do_not_change_the_scores(self):
        X, y = planted(n_classes=3)
        for discretize in ("mdl", "frequency"):
            one, two = (HallCFS(discretize=discretize).fit(Z, y) for Z in (X, np.exp(X)))
            np.testing.assert_array_equal(one.scores_, two.scores_)


def plain_cuts(x, y):
    """Recursion of Fayyad and Irani as published; returns the first value right of every cut."""
    values = np.unique(x)[1:]
    if not values.size:
        return []
    costs = [np.mean(x < v) * entropy(y[x < v]) + np.mean(x >= v) * entropy(y[x >= v]) for v in values]
    v, n = values[int(np.argmin(np.round(costs, 10)))], len(y)
    left, right = y[x < v], y[x >= v]
    k, k1, k2 = (np.unique(labels).size for labels in (y, left, right))
    delta = np.log2(3.0**k - 2) - (k * entropy(y) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(y) - min(costs) <= (np.log2(n - 1) + delta) / n:
        return []
    return [v, *plain_cuts(x[x < v], left), *plain_cuts(x[x >= v], right)]


@pytest.mark.skipif(not DATA, reason=NO_DATA)
@pytest.mark.parametrize("name", ["colon", "srbct"])
def test_real_subsets_have_more_merit_than_the_best_single_features(name):
    X, y = load(name)
    done = HallCFS(n_jobs=2).fit(X, y)
    assert 5 < done.subset_.size < 150
    columns, kept = bins_of(X, y)
    best = np.argsort(-done.uncertainty_[kept], kind="stable")[: done.subset_.size]
    known = uncertainties(columns[best], y)
    assert merit(*known, range(best.size)) < done.merit_ - 0.01
    chosen = uncertainties(columns[np.searchsorted(kept, done.subset_)], y)
    assert merit(*chosen, range(best.size)) == pytest.approx(done.merit_, rel=1e-9)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"discretize": "width"}, "discretize must be 'mdl' or 'frequency', got 'width'"),
        ({"n_bins": 1}, "n_bins must be an integer >= 2 or 'auto', got 1"),
        ({"max_stale": 0}, "max_stale must be an integer >= 1, got 0"),
    ],
)
def test_invalid_parameters_raise(wrong, message):
    with pytest.raises(ValueError, match=message):
        HallCFS(**wrong).fit(*planted())


def test_peak_memory_is_two_bytes_per_value_and_some_blocks():
    # 4 million bins, twice while they are concatenated; five blocks of 64 columns for each of two threads
    peak = peak_megabytes("HallCFS(discretize='frequency', max_stale=1, n_jobs=2)", 10_000, 400)
    assert peak < 2 * 2 * 4 + 2 * 5 * 64 * 10_000 * 8 / 1e6
