"""Mutual information against exact counts, both estimators of scikit-learn, and its theoretical properties."""

import numpy as np
import pytest
from helpers import DATA, NO_DATA, fold_of, load, peak_megabytes, planted
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.metrics import mutual_info_score

from ilfs import MutualInformation, scorer
from ilfs.solvers.information import PRIORS, InformationPosterior


def mutual_information(X, y, **parameters):
    return scorer("mi", **parameters)(X, y)


LN2 = np.log(2)
CONFIGURATIONS = [{}, {"bins": "width"}, {"correction": "miller-madow"}, {"n_bins": 40}]
CONFIGURATIONS += [{"estimate": "posterior_mean", "prior": "jeffreys"}, {"estimate": "lower_bound"}]
every = pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)


def small_integers(n_samples=300, n_features=20, n_values=8, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(-2, n_values - 2, (n_samples, n_features)).astype(float), rng.integers(0, n_classes, n_samples)


def bins_by_hand(x, n_bins):
    """Compute bins of equal frequency by definition: the bin of a value is that of the middle of its ranks."""
    values, counts = np.unique(x, return_counts=True)
    if values.size <= n_bins:
        return np.searchsorted(values, x)
    twice_middle = 2 * np.cumsum(counts) - counts
    return (n_bins * twice_middle // (2 * x.size))[np.searchsorted(values, x)]


def test_scores_match_hand_computed_values():
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    determined, half, nothing = [5, 5, 5, 5, 3, 3, 3, 3], [1, 1, 2, 2, 2, 2, 2, 2], [0, 1, 0, 1, 0, 1, 0, 1]
    scores = mutual_information(np.column_stack([determined, half, nothing]), y)
    # The second score is H(y) - P(x = 2) H(y | x = 2); a third of the six samples with x = 2 are in class 0.
    rest = 0.75 * (-np.log(1 / 3) / 3 - 2 * np.log(2 / 3) / 3)
    np.testing.assert_allclose(scores, [LN2, LN2 - rest, 0.0], rtol=1e-14)
    assert scores[2] == 0.0


def test_the_correction_matches_hand_computed_values():
    X, y = np.array([[1.0], [1], [2], [2], [2], [2], [2], [2]]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    # Each entropy increases by (nonzero counts - 1) / 2n; one count of the 2 x 2 table is 0.
    plain = mutual_information(X, y)[0]
    corrected = mutual_information(X, y, correction="miller-madow")[0]
    assert corrected - plain == pytest.approx(((2 - 1) + (2 - 1) - (3 - 1)) / 16, abs=1e-15)
    full = np.array([[1.0], [1], [1], [2], [1], [2], [2], [2]])
    gain = mutual_information(full, y, correction="miller-madow")[0] - mutual_information(full, y)[0]
    assert gain == pytest.approx(((2 - 1) + (2 - 1) - (4 - 1)) / 16, abs=1e-15)


@pytest.mark.parametrize("n_classes", [2, 3, 9])
@pytest.mark.parametrize("n_values", [2, 5, 30, 200])
def test_discrete_features_match_scikit_learn(n_classes, n_values):
    X, y = small_integers(n_values=n_values, n_classes=n_classes)
    ours = mutual_information(X, y, n_bins=200)
    np.testing.assert_allclose(ours, mutual_info_classif(X, y, discrete_features=True), atol=1e-12)


class TestEdges:
    def test_a_value_on_an_edge_is_above_it(self):
        X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
        assert mutual_information(X, y, edges=[0.5, 1.0]).item() == pytest.approx(by_hand([0, 2, 2, 2], y))
        assert mutual_information(X, y, edges=[1.5]).item() == pytest.approx(by_hand([0, 0, 0, 1], y))

    @pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array])
    def test_each_feature_may_have_its_own_edges(self, form):
        X, y = small_integers(n_features=3)
        edges = np.array([[-1.5, 0.0, 2.0], [0.0, 1.0, 2.0], [-1.0, 0.5, 4.5]])
        expected = [by_hand(np.searchsorted(cuts, x, side="right"), y) for cuts, x in zip(edges, X.T, strict=True)]
        np.testing.assert_allclose(mutual_information(form(X), y, edges=edges), expected, rtol=1e-12, atol=1e-14)

    def test_integer_weights_equal_repeated_rows_with_missing_values(self):
        X, y = small_integers(n_features=4)
        rng = np.random.default_rng(0)
        X[rng.random(X.shape) < 0.2] = np.nan
        repeats = rng.integers(0, 4, size=len(y))
        edges = [0.0, 1.0, 3.0]
        weighted = MutualInformation(edges=edges).fit(X, y, repeats.astype(float)).scores_
        repeated = MutualInformation(edges=edges).fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats)).scores_
        np.testing.assert_allclose(weighted, repeated, rtol=1e-12)

    def test_constant_columns_come_last(self):
        X, y = planted(n_samples=40, n_features=3)
        X[:, 0] = 7.0
        assert MutualInformation(edges=[100.0]).fit(X, y).order_.tolist() == [1, 2, 0]

    @pytest.mark.parametrize(
        ("edges", "message"),
        [
            (["a"], "edges must be numbers, got \\['a'\\]"),
            (1.0, r"edges must have shape .* got shape \(\)"),
            ([], r"edges must have shape .* got shape \(0,\)"),
            ([0.0, np.nan], "edges must be finite numbers in ascending order"),
            ([1.0, 1.0], "edges must be finite numbers in ascending order"),
            ([[1.0], [2.0]], "edges must have a row for each of the 3 features, got 2 rows"),
        ],
    )
    def test_invalid_edges_are_rejected(self, edges, message):
        X, y = planted(n_samples=40, n_features=3)
        with pytest.raises(ValueError, match=message):
            MutualInformation(edges=edges).fit(X, y)


def by_hand(bins, y):
    return mutual_info_score(bins, y)


def test_more_bins_than_values_are_allowed():
    X, y = planted(n_samples=30)
    entropy = mutual_info_score(y, y)
    for form in (np.asarray, sparse.csr_array):
        np.testing.assert_allclose(mutual_information(form(X), y, n_bins=10**12), entropy, rtol=1e-12)


@pytest.mark.parametrize("n_bins", [2, 3, 7, 16, 40])
@given(seed=st.integers(0, 10_000), n_values=st.sampled_from([3, 9, 50, 10**9]))
def test_bins_of_equal_frequency_match_their_definition(n_bins, seed, n_values):
    X, y = small_integers(n_samples=90, n_features=4, n_values=n_values, seed=seed)
    expected = [mutual_info_score(bins_by_hand(x, n_bins), y) for x in X.T]
    np.testing.assert_allclose(mutual_information(X, y, n_bins=n_bins), expected, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bins_of_equal_width_match_their_definition(dtype):
    X, y = planted(n_classes=3, n_features=10)
    X = X.astype(dtype)
    low, high = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
    bins = np.minimum(np.floor(7 * (X - low) / (high - low)), 6)
    expected = [mutual_info_score(x, y) for x in bins.T]
    np.testing.assert_allclose(mutual_information(X, y, n_bins=7, bins="width"), expected, atol=1e-12)


def test_scores_do_not_change_under_increasing_transformations():
    X, y = planted(n_samples=250, n_classes=3)
    scores = mutual_information(X, y)
    for mapped in (np.exp(X), X**3, 1e6 + 7 * X, np.argsort(np.argsort(X, axis=0), axis=0)):
        np.testing.assert_array_equal(mutual_information(mapped, y), scores)


def test_a_frequent_value_has_a_bin_of_its_own():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    few = np.where((rng.random(400) < 0.1) & (y == 1), rng.uniform(1, 2, 400), 0.0)
    expected = mutual_info_score(few > 0, y)
    for x in (few, -few, 5 - few):
        assert mutual_information(x[:, None], y, n_bins=5)[0] >= expected - 1e-12


def test_the_score_of_a_perfect_feature_is_the_entropy_of_the_classes():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [70, 40, 90])
    entropy = -sum(p * np.log(p) for p in (0.35, 0.2, 0.45))
    X = np.column_stack([y, -3.5 * y, y + rng.random(200) / 2])
    np.testing.assert_allclose(mutual_information(X, y, n_bins=20)[:2], entropy, rtol=1e-12)
    assert mutual_information(X, y, n_bins=200)[2] == pytest.approx(entropy)


@pytest.mark.parametrize("counts", [[[3, 6], [5, 10]], [[1, 2, 3], [2, 4, 6], [7, 14, 21]]])
def test_independent_features_score_exactly_zero(counts):
    samples = [(k, b) for k, row in enumerate(counts) for b, n in enumerate(row) for _ in range(n)]
    y, x = np.array(samples).T
    assert mutual_information(x[:, None], y)[0] == 0.0
    assert mutual_information(sparse.csr_array(x[:, None]), y)[0] == 0.0


def test_order_is_close_to_that_of_the_nearest_neighbours_estimator():
    rng = np.random.default_rng(0)
    y = np.arange(800) % 2
    X = rng.normal(size=(800, 30))
    X[:, :10] += np.outer(y, np.linspace(0.3, 2.5, 10))
    X[:, 10:20] *= 1 + np.outer(y, np.linspace(0.3, 3, 10))  # classes with equal means
    theirs = mutual_info_classif(X, y, random_state=0)
    assert spearmanr(mutual_information(X, y), theirs).statistic > 0.9
    assert np.abs(mutual_information(X, y, correction="miller-madow") - theirs).max() < 0.06


@pytest.mark.skipif(not DATA, reason=NO_DATA)
@pytest.mark.parametrize(("name", "least"), [("srbct", 0.7), ("usps", 0.85)])
def test_order_is_close_to_that_of_the_nearest_neighbours_estimator_on_real_data(name, least):
    X, y = load(name)
    some = np.random.default_rng(0).permutation(len(y))[:600]
    X, y = X[some, ::8].astype(np.float64), y[some]
    theirs = mutual_info_classif(X, y, random_state=0)
    assert spearmanr(mutual_information(X, y), theirs).statistic > least


def test_the_correction_removes_the_bias_of_noise():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 1000)), np.arange(400) % 4
    selector = MutualInformation(correction="miller-madow", n_bins=6).fit(X, y)
    plain = mutual_information(X, y, n_bins=6)
    by_chance = (6 * 4 - 6 - 4 + 1) / 800  # no count is 0
    assert plain.mean() == pytest.approx(by_chance, rel=0.1)
    np.testing.assert_allclose(selector.scores_, np.maximum(plain - by_chance, 0), atol=1e-15)
    # No score is below 0, and features that score 0 are still ordered.
    assert selector.scores_.min() == 0.0
    np.testing.assert_array_equal(selector.order_, np.argsort(-plain, kind="stable"))


@every
def test_integer_weights_equal_repeated_rows(parameters):
    X, y = planted(n_samples=150, n_classes=3)
    X[:, ::3] = np.round(X[:, ::3])
    X[:, 1::3] *= np.random.default_rng(1).random((150, 13)) < 0.4
    weight = np.random.default_rng(0).integers(0, 4, 150)
    again = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    for form in (np.asarray, sparse.csr_array):
        weighted = MutualInformation(**parameters).fit(form(X), y, sample_weight=weight)
        np.testing.assert_array_equal(
            weighted.scores_, MutualInformation(**parameters).fit(form(again[0]), again[1]).scores_
        )
        twice = MutualInformation(**parameters).fit(form(X), y, sample_weight=np.full(150, 2.0))
        doubled = MutualInformation(**parameters).fit(form(np.vstack([X, X])), np.append(y, y))
        np.testing.assert_array_equal(twice.scores_, doubled.scores_)


@every
def test_missing_values_are_ignored(parameters):
    X, y = planted(n_samples=200, n_classes=3, n_features=6)
    X[:, 3:] *= np.random.default_rng(2).random((200, 3)) < 0.5
    present = np.random.default_rng(1).random(X.shape) < 0.7
    holed, parameters = np.where(present, X, np.nan), {"n_bins": 6} | parameters
    done = MutualInformation(**parameters).fit(holed, y)
    weighted = MutualInformation(**parameters).fit(holed, y, sample_weight=1.0 + np.arange(200) % 2)
    np.testing.assert_array_equal(MutualInformation(**parameters).fit(sparse.csc_array(holed), y).scores_, done.scores_)
    for j, here in enumerate(present.T):
        alone = MutualInformation(**parameters).fit(X[here, j : j + 1], y[here])
        assert done.scores_[j] == pytest.approx(alone.scores_[0], abs=1e-14)
        alone.fit(X[here, j : j + 1], y[here], sample_weight=(1.0 + np.arange(200) % 2)[here])
        assert weighted.scores_[j] == pytest.approx(alone.scores_[0], abs=1e-14)


def spaced(X):
    return np.repeat(X, 2, axis=1)[:, ::2]


@every
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, np.asfortranarray, spaced])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_are_bitwise_equal_in_every_layout(parameters, form, dtype):
    X, y = planted(n_samples=150, n_classes=3)
    X[:, ::2] *= np.random.default_rng(1).random((150, 20)) < 0.3
    X = X.astype(dtype)
    done, other = (MutualInformation(**parameters).fit(Z, y) for Z in (X, form(X)))
    np.testing.assert_array_equal(done.scores_, other.scores_)


def test_float32_and_float64_give_equal_scores():
    X, y = planted(n_classes=3)
    X = X.astype(np.float32)
    for parameters in CONFIGURATIONS:
        np.testing.assert_array_equal(
            mutual_information(X, y, **parameters), mutual_information(X.astype(np.float64), y, **parameters)
        )


def test_the_default_number_of_bins_grows_with_the_total_weight():
    X, y = planted(n_samples=100)
    few, many = MutualInformation().fit(X, y).n_bins_, MutualInformation().fit(X, y, np.full(100, 100.0)).n_bins_
    assert 2 <= few < many == MutualInformation().fit(np.repeat(X, 100, axis=0), np.repeat(y, 100)).n_bins_
    assert MutualInformation(n_bins=11).fit(X, y).n_bins_ == 11


def test_the_scorer_works_in_select_k_best():
    X, y = planted(n_classes=3, shift=3.0)
    chosen = SelectKBest(scorer("mi"), k=5).fit(X, y)
    assert set(np.flatnonzero(chosen.get_support())) == {0, 1, 2, 3, 4}
    np.testing.assert_array_equal(chosen.scores_, MutualInformation().fit(X, y).scores_)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_bins": 1}, "n_bins must be an integer >= 2 or 'auto', got 1"),
        ({"n_bins": 2.5}, "n_bins must be an integer >= 2 or 'auto', got 2.5"),
        ({"n_bins": "sturges"}, "n_bins must be an integer >= 2 or 'auto', got 'sturges'"),
        ({"bins": "equal"}, "bins must be 'frequency' or 'width', got 'equal'"),
        ({"correction": "jackknife"}, "correction must be None or 'miller-madow', got 'jackknife'"),
    ],
)
def test_invalid_parameters_are_rejected(wrong, message):
    with pytest.raises(ValueError, match=message):
        MutualInformation(**wrong).fit(*planted())


def test_peak_memory_is_a_few_blocks_of_columns():
    # Two copies of 64 columns for each of two threads.
    assert peak_megabytes("MutualInformation(n_jobs=2)", 10_000, 1_000) < 2 * 2 * 64 * 10_000 * 8 / 1e6 + 10


def test_a_range_that_overflows_float32_is_binned():
    X = np.array([[-3e38], [-2e38], [2e38], [3e38]] * 5, dtype=np.float32)
    np.testing.assert_allclose(mutual_information(X, [0, 0, 1, 1] * 5, n_bins=2, bins="width"), np.log(2))


class TestPosterior:
    ESTIMATES = ("posterior_mean", "lower_bound")

    @staticmethod
    def counts(x, y):
        return np.array(
            [[np.sum((x == value) & (y == k)) for value in np.unique(x)] for k in np.unique(y)], dtype=float
        )

    @pytest.mark.parametrize("prior", PRIORS)
    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    def test_scores_are_those_of_the_table_of_counts(self, prior, form):
        X, y = small_integers(n_features=5, n_values=6)
        mean, bound = (
            MutualInformation(estimate=estimate, prior=prior, credibility=0.9).fit(form(X), y)
            for estimate in self.ESTIMATES
        )
        for j in range(5):
            expected = InformationPosterior.from_counts(self.counts(X[:, j], y)[:, None], prior)
            assert mean.scores_[j] == pytest.approx(expected.mean[0], rel=1e-12)
            assert bound.scores_[j] == pytest.approx(expected.quantile(0.1)[0], rel=1e-9)
            assert bound.posterior_std_[j] == pytest.approx(np.sqrt(expected.variance[0]), rel=1e-10)
        np.testing.assert_array_equal(mean.scores_, mean.posterior_mean_)

    @pytest.mark.parametrize("estimate", ESTIMATES)
    @pytest.mark.parametrize("bins", ["frequency", "width"])
    def test_rows_in_blocks_give_the_same_scores(self, estimate, bins, small_blocks):
        X, y = planted(n_samples=200, n_classes=3)
        X[:, ::3] = np.round(X[:, ::3])
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
        weight = np.arange(200) % 3.0
        parameters = {"estimate": estimate, "bins": bins}
        done = MutualInformation(**parameters).fit(X, y, weight)
        blocked = MutualInformation(**parameters)._fit_fold(fold_of(X, y, weight))
        np.testing.assert_allclose(blocked.scores_, done.scores_, rtol=1e-12)
        np.testing.assert_array_equal(blocked.order_, done.order_)
        np.testing.assert_allclose(blocked.posterior_std_, done.posterior_std_, rtol=1e-10)

    def test_a_feature_with_few_values_does_not_come_first_by_chance(self):
        rng = np.random.default_rng(0)
        y = np.arange(100) % 2
        X = rng.normal(size=(100, 200))
        X[:, 0] += 1.5 * y
        X[rng.random(X.shape) < np.where(np.arange(200) < 100, 0.0, 0.93)] = np.nan  # half of them nearly empty
        assert MutualInformation().fit(X, y).order_[0] >= 100
        done = MutualInformation(estimate="lower_bound").fit(X, y)
        assert done.order_[0] == 0
        assert done.posterior_std_[100:].mean() > 2 * done.posterior_std_[:100].mean()

    def test_a_higher_credibility_lowers_the_bound(self):
        X, y = planted()
        bounds = [
            MutualInformation(estimate="lower_bound", credibility=c).fit(X, y).scores_ for c in (0.5, 0.8, 0.95, 0.999)
        ]
        assert (np.diff(bounds, axis=0) < 0).all()

    def test_constant_columns_have_no_posterior_and_come_last(self):
        X, y = planted(n_features=4)
        X[:, 1] = 2.0
        done = MutualInformation(estimate="lower_bound").fit(X, y)
        assert done.order_[-1] == 1
        assert (done.posterior_mean_[1], done.posterior_std_[1]) == (0.0, 0.0)

    def test_several_labels_keep_their_posteriors(self):
        X, _ = planted(n_features=5)
        Y = np.random.default_rng(0).integers(2, size=(120, 3))
        for edges in (None, [0.0, 1.0]):
            done = MutualInformation(estimate="lower_bound", edges=edges).fit(X, Y)
            alone = MutualInformation(estimate="lower_bound", edges=edges).fit(X, Y[:, 1])
            np.testing.assert_array_equal(done.per_label_[1].posterior_std_, alone.posterior_std_)
            assert not hasattr(done, "posterior_std_")

    def test_the_ranking_table_shows_mean_and_standard_deviation(self):
        X, y = planted(n_features=5)
        done = MutualInformation(estimate="lower_bound").fit(X, y)
        table = done.table(top=2)
        np.testing.assert_array_equal(table["posterior_std"], done.posterior_std_[done.order_[:2]])
        assert "posterior_std" not in MutualInformation().fit(X, y).table()

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"estimate": "mean"}, "estimate must be 'plugin', 'posterior_mean' or 'lower_bound', got 'mean'"),
            ({"credibility": 1.0}, "credibility must be a number strictly between 0 and 1, got 1.0"),
            ({"prior": "haldane"}, "prior must be 'uniform', 'jeffreys' or 'perks', got 'haldane'"),
            (
                {"estimate": "lower_bound", "correction": "miller-madow"},
                "correction must be None with estimate='lower_bound', .* plug-in estimate, got 'miller-madow'",
            ),
        ],
    )
    def test_invalid_parameters_are_rejected(self, wrong, message):
        with pytest.raises(ValueError, match=message):
            MutualInformation(**wrong).fit(*planted())

    @pytest.mark.slow
    def test_peak_memory_is_a_few_blocks_of_columns(self):
        limit = 2 * 3 * 64 * 10_000 * 8 / 1e6 + 30
        assert peak_megabytes("MutualInformation(estimate='lower_bound', n_jobs=2)", 10_000, 1_000) < limit
