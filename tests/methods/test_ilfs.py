import numpy as np
import polars as pl
import pytest
from brute_force import anchored_relevance, map_em, paper_em, path_sum, representativeness, token_counts
from helpers import planted
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ilfs import ILFS
from ilfs.methods.ilfs import RELEVANCE_PRIOR, TOKEN_PRIOR, equal_frequency_cuts

KINDS = [
    {"evidence": evidence, "leave_one_out": leave_one_out, "class_weight": class_weight}
    for evidence in ("posterior", "distance")
    for leave_one_out in (True, False)
    for class_weight in ("balanced", None)
]


def by_definition(X, y, evidence, leave_one_out, class_weight, weight=None, n_tokens=6):
    rho = representativeness(X, y, weight, evidence=evidence, leave_one_out=leave_one_out)
    edges = np.linspace(0, 1, n_tokens + 1)
    return token_counts(rho, y, weight, edges=edges, balanced=class_weight == "balanced")


@pytest.fixture(scope="module")
def table():
    X, y = planted(n_samples=45, n_features=9, n_informative=4, n_classes=3, shift=0.7)
    y[:6] = 0
    return X, y


class TestAgainstTheDefinition:
    @pytest.mark.parametrize("kind", KINDS, ids=str)
    def test_token_counts_match_the_definition(self, table, kind):
        X, y = table
        selector = ILFS(**kind).fit(X, y)
        np.testing.assert_allclose(selector.token_counts_, by_definition(X, y, **kind), atol=1e-9)
        np.testing.assert_array_equal(selector.token_edges_, np.linspace(0, 1, 7))

    @pytest.mark.parametrize("kind", KINDS, ids=str)
    def test_shrunk_relevance_is_the_limit_of_plain_em_with_pseudo_counts(self, table, kind):
        X, y = table
        Q = by_definition(X, y, **kind)
        relevance, tokens = map_em(Q, 0.2 * len(X), Q.sum(), n_steps=1500)
        selector = ILFS(**kind, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(selector.relevance_, relevance, atol=1e-7)
        np.testing.assert_allclose(selector.topic_tokens_, tokens, atol=1e-7)

    @pytest.mark.filterwarnings("ignore:the topic relevancy has lost")
    @pytest.mark.parametrize("kind", KINDS, ids=str)
    def test_learned_relevance_matches_em_as_in_the_paper(self, table, kind):
        X, y = table
        selector = ILFS(**kind, topics="learned", tol=1e-3).fit(X, y)
        relevance, tokens, weights = paper_em(by_definition(X, y, **kind), selector.n_iter_)
        assert selector.n_iter_ > 3
        np.testing.assert_allclose(selector.relevance_, relevance, atol=1e-9)
        np.testing.assert_allclose(selector.topic_tokens_, tokens, atol=1e-9)
        np.testing.assert_allclose(selector.topic_weights_, weights, atol=1e-9)

    @pytest.mark.parametrize("kind", KINDS, ids=str)
    def test_anchored_relevance_maximises_the_likelihood(self, table, kind):
        X, y = table
        selector = ILFS(**kind, topics="anchored").fit(X, y)
        np.testing.assert_allclose(selector.relevance_, anchored_relevance(by_definition(X, y, **kind)), atol=1e-6)

    @pytest.mark.parametrize("damping", [0.1, 0.9, 0.99])
    def test_scores_are_the_row_sums_of_the_inverted_graph(self, table, damping):
        selector = ILFS(damping=damping, redundancy=None).fit(*table)
        A = selector.adjacency_matrix()
        r = damping / np.linalg.eigvalsh(A).max()
        inverse = np.linalg.inv(np.eye(len(A)) - r * A) - np.eye(len(A))
        np.testing.assert_allclose(selector.scores_, inverse.sum(axis=1), rtol=1e-9)

    @pytest.mark.filterwarnings("ignore:the topic relevancy has lost")
    @pytest.mark.parametrize("n_steps", [1, 2, 40])
    def test_the_paper_configuration_matches_the_definition(self, table, n_steps):
        X, y = table
        X, y = X[y < 2], y[y < 2]
        selector = ILFS.paper(max_iter=n_steps).fit(X, y)
        assert selector.n_iter_ == n_steps
        means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
        d = (X[:, None, :] - means) ** 2
        pi = d[np.arange(len(y)), y] / d.sum(axis=1)
        Q = np.array([np.histogram(1 - column, np.linspace(0, 1, 7))[0] for column in pi.T])
        np.testing.assert_allclose(selector.token_counts_, Q)
        p = paper_em(Q, selector.n_iter_)[0]
        np.testing.assert_allclose(selector.relevance_, p, atol=1e-9)
        np.testing.assert_allclose(selector.scores_, path_sum(p, 0.9 / (p @ p)).sum(axis=1), rtol=1e-6)


def test_paper_switches_off_all_additions():
    own = {
        "evidence": "distance",
        "topics": "learned",
        "leave_one_out": False,
        "class_weight": None,
        "redundancy": None,
        "shapes": False,
    }
    one_step = {"max_iter": 1, "tol": None}
    assert ILFS.paper().get_params() == ILFS(**own, **one_step).get_params()
    assert ILFS.paper(7, n_tokens=4).get_params() == ILFS(7, **own, **one_step, n_tokens=4).get_params()
    assert ILFS.paper(evidence="posterior").evidence == "posterior"
    assert ILFS.toolbox().get_params() == ILFS(**own | {"topics": "anchored"}).get_params()


def test_one_step_of_the_paper_ranks_by_the_mean_token():
    # With P(t|z1) : P(t|z2) = (2t - 1) : (2T - 2t + 1), the responsibility of z1 for token t is (2t - 1) / 2T.
    X, y = planted()
    selector = ILFS.paper().fit(X, y)
    token = np.arange(1, 7)
    mean_token = selector.token_counts_ @ token / len(y)
    np.testing.assert_allclose(selector.relevance_, (2 * mean_token - 1) / 12, rtol=1e-12)


class TestPrintedFormulas:
    """Eq. 3 for several classes and the sign of the priors, to the letter."""

    def test_printed_evidence_divides_by_the_sum_over_all_classes(self, table):
        X, y = table
        means = np.array([X[y == k].mean(axis=0) for k in np.unique(y)])
        d = (X[:, None, :] - means) ** 2
        pi = d[np.arange(len(y)), y] / d.sum(axis=1)
        Q = np.array([np.histogram(1 - column, np.linspace(0, 1, 7))[0] for column in pi.T])
        np.testing.assert_allclose(ILFS.paper(evidence="distance_sum").fit(X, y).token_counts_, Q)
        literal = ILFS.paper(evidence="distance_sum", literal_sign=True).fit(X, y)
        np.testing.assert_allclose(literal.token_counts_, Q[:, ::-1])

    def test_sum_and_mean_are_the_same_for_two_classes(self):
        X, y = planted(n_classes=2)
        one, other = ILFS.paper().fit(X, y), ILFS.paper(evidence="distance_sum").fit(X, y)
        np.testing.assert_array_equal(one.token_counts_, other.token_counts_)
        np.testing.assert_array_equal(one.order_, other.order_)

    def test_from_as_many_classes_as_tokens_noise_has_the_last_token_only(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(400, 5)) + 100.0 * rng.choice([-1, 1], size=(400, 1)), np.arange(400) % 8
        counts = ILFS.paper(evidence="distance_sum").fit(X, y).token_counts_
        assert (counts[:, -1] == 400).all()
        assert ILFS.paper().fit(X, y).token_counts_[:, -1].max() < 100

    def test_the_literal_sign_ranks_the_best_feature_last(self):
        X, y = planted(n_samples=100, n_features=12, n_informative=1, shift=4)
        assert ILFS.paper().fit(X, y).order_[0] == 0
        assert ILFS.paper(literal_sign=True).fit(X, y).order_[-1] == 0
        assert ILFS.paper(literal_sign=True, max_iter=5).fit(X, y).order_[-1] == 0


class TestTopicsThatLoseTheirMeaning:
    X, y = planted(n_samples=60, n_features=200, n_informative=5)

    def test_learning_until_convergence_warns(self):
        with pytest.warns(UserWarning, match="the topic relevancy has lost its meaning"):
            selector = ILFS.paper(max_iter=2000, tol=1e-4).fit(self.X, self.y)
        relevancy, irrelevancy = selector.topic_tokens_
        assert relevancy[0] > irrelevancy[0] or relevancy[-1] < irrelevancy[-1]

    @pytest.mark.parametrize("selector", [ILFS(), ILFS.paper(), ILFS.toolbox()], ids=["default", "paper", "toolbox"])
    def test_the_named_configurations_do_not_warn(self, selector):
        relevancy, irrelevancy = selector.fit(self.X, self.y).topic_tokens_
        assert relevancy[0] < irrelevancy[0]
        assert relevancy[-1] > irrelevancy[-1]


def test_without_a_tolerance_all_steps_are_made_without_a_warning():
    selector = ILFS(max_iter=3, tol=None).fit(*planted())
    assert selector.n_iter_ == 3


def test_priors_have_their_documented_values():
    assert (RELEVANCE_PRIOR, TOKEN_PRIOR) == (0.2, 1.0)


class TestOrientation:
    X, y = planted(n_samples=100, n_features=12, n_informative=1, shift=4)

    @pytest.mark.parametrize("selector", [ILFS(), ILFS.paper(), ILFS(topics="anchored")], ids=str)
    def test_an_informative_feature_is_first(self, selector):
        assert selector.fit(self.X, self.y).order_[0] == 0

    def test_a_well_represented_sample_has_the_last_token(self):
        counts = ILFS.paper().fit(self.X, self.y).token_counts_
        assert counts[0, 5] > 80
        assert counts[1:, 5].max() < 50


@pytest.mark.parametrize("n_classes", [2, 5, 30])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"evidence": "distance"}, {"topics": "anchored"}, {"intervals": "pooled"}, {"class_weight": None}],
    ids=str,
)
def test_planted_features_are_found(n_classes, parameters):
    rng = np.random.default_rng(n_classes)
    y = np.arange(300) % n_classes
    X = rng.normal(size=(300, 400))
    X[:, 50:70] += y[:, None] if n_classes == 2 else 1.2 * rng.normal(size=(n_classes, 20))[y]
    found = ILFS(20, **parameters).fit(X, y).get_support(indices=True)
    assert np.isin(found, np.arange(50, 70)).sum() >= 18


def test_many_classes_with_few_samples_are_ranked():
    X, y = planted(n_samples=600, n_features=20, n_informative=3, n_classes=200, shift=0.5)
    selector = ILFS(3).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1, 2]
    assert selector.classes_.size == 200


def test_balancing_gives_a_rare_class_the_same_weight():
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(180, int), np.ones(20, int)]
    X = rng.normal(size=(200, 3))
    balanced = ILFS().fit(X, y)
    rho = representativeness(X, y)
    per_class = [token_counts(rho[y == k], y[y == k], edges=np.linspace(0, 1, 7), balanced=False) for k in (0, 1)]
    np.testing.assert_allclose(balanced.token_counts_, per_class[0] * 200 / 360 + per_class[1] * 200 / 40)


class TestFittedAttributes:
    def test_attributes_have_their_documented_shapes(self, table):
        selector = ILFS(n_tokens=5).fit(*table)
        assert selector.scores_.shape == selector.ranking_.shape == selector.order_.shape == (9,)
        assert selector.relevance_.shape == selector.mean_log_odds_.shape == (9,)
        assert selector.token_counts_.shape == (9, 5)
        assert selector.token_edges_.shape == (6,)
        assert selector.topic_tokens_.shape == (2, 5)
        assert selector.topic_weights_.shape == (2,)
        assert selector.loglik_.shape == (selector.n_iter_ + 1,)
        assert selector.classes_.tolist() == [0, 1, 2]
        assert selector.n_features_in_ == 9

    def test_counts_of_a_feature_add_up_to_the_samples(self, table):
        np.testing.assert_allclose(ILFS().fit(*table).token_counts_.sum(axis=1), 45)

    @pytest.mark.filterwarnings("ignore:the topic relevancy has lost")
    @pytest.mark.parametrize("topics", ["shrunk", "learned", "anchored"])
    def test_likelihood_never_falls(self, topics):
        selector = ILFS(topics=topics, tol=1e-5).fit(*planted())
        assert (np.diff(selector.loglik_) >= -1e-12 * np.abs(selector.loglik_[0])).all()

    def test_ranking_and_order_are_inverse_to_each_other(self, table):
        selector = ILFS().fit(*table)
        np.testing.assert_array_equal(selector.ranking_[selector.order_], np.arange(1, 10))
        np.testing.assert_array_equal(np.sort(selector.scores_)[::-1], selector.scores_[selector.order_])

    def test_learning_ends_at_max_iter_with_a_warning(self, table):
        with pytest.warns(ConvergenceWarning, match=r"did not converge to tol=1e-06 in max_iter=2 steps"):
            selector = ILFS(max_iter=2).fit(*table)
        assert selector.n_iter_ == 2

    def test_a_looser_tolerance_takes_fewer_steps(self, table):
        assert ILFS(tol=0.1).fit(*table).n_iter_ < ILFS(tol=1e-8).fit(*table).n_iter_


class TestGraph:
    def test_the_adjacency_matrix_has_rank_one(self, table):
        selector = ILFS().fit(*table)
        A = selector.adjacency_matrix()
        np.testing.assert_array_equal(A, np.outer(selector.relevance_, selector.relevance_))
        assert np.linalg.matrix_rank(A) == 1

    def test_absorption_times_and_visits_match_the_explicit_markov_chain(self, table):
        selector = ILFS(damping=0.8).fit(*table)
        A = selector.adjacency_matrix()
        transition = 0.8 / A.sum(axis=1).max() * A
        assert transition.sum(axis=1).max() == pytest.approx(0.8)
        fundamental = np.linalg.inv(np.eye(9) - transition)
        np.testing.assert_allclose(selector.absorption_times(), fundamental.sum(axis=1), rtol=1e-10)
        np.testing.assert_allclose(selector.expected_visits([4]), fundamental[:, 4], rtol=1e-10)
        np.testing.assert_allclose(
            selector.expected_visits([1, 4, 6]), fundamental[:, [1, 4, 6]].sum(axis=1), rtol=1e-10
        )

    def test_scores_relevance_and_absorption_times_have_the_same_order(self, table):
        selector = ILFS(redundancy=None).fit(*table)
        np.testing.assert_array_equal(np.argsort(-selector.relevance_), selector.order_)
        np.testing.assert_array_equal(np.argsort(-selector.absorption_times()), selector.order_)

    @pytest.mark.parametrize("damping", [0.01, 0.5, 0.99])
    def test_damping_does_not_change_the_order(self, table, damping):
        np.testing.assert_array_equal(ILFS(damping=damping).fit(*table).order_, ILFS().fit(*table).order_)


class TestAbsorption:
    """The rule n_features_to_select="absorption"."""

    @pytest.mark.parametrize("redundancy", ["gain", "novelty", None])
    def test_the_size_follows_from_the_explicit_inverse(self, redundancy):
        X, y = planted(n_features=31)
        selector = ILFS("absorption", redundancy=redundancy, damping=0.7).fit(X, y)
        p = np.maximum(selector.relevance_ - np.median(selector.relevance_), 0)
        A = np.outer(p, p)
        returns = np.diag(np.linalg.inv(np.eye(31) - 0.7 / A.sum(axis=1).max() * A)) - 1
        size = round(1 / ((returns / returns.sum()) ** 2).sum())
        assert 1 < size < 15
        assert selector.n_features_ == selector.absorption_size() == size
        np.testing.assert_array_equal(np.flatnonzero(selector.get_support()), np.sort(selector.order_[:size]))

    def test_equally_relevant_features_among_others_are_counted(self):
        selector = ILFS().fit(*planted(n_features=8))
        for relevance, size in [
            ([0.9, 0.4, 0.9, 0.4, 0.4, 0.9, 0.4, 0.4], 3),
            ([0.9, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4], 1),
            ([0.5] * 8, 8),
            ([0.0] * 8, 1),
            ([0.0, 0.0, 0.0, 0.0, 0.9, 0.4, 0.4, 0.9], 2),  # uninformative features do not move the median
        ]:
            selector.relevance_ = np.array(relevance)
            assert selector.absorption_size() == size

    def test_rounding_errors_do_not_change_the_size(self):
        selector = ILFS().fit(*planted(n_features=9))
        # Returns 1, 1 and u give (2 + u)^2 / (2 + u^2) = 2.5, half-way between 2 and 3, if 1.5 u^2 - 4 u + 1 = 0.
        x = np.sqrt((4 - np.sqrt(10)) / 3)
        for step in (-1e-15, 0, 1e-15):
            selector.relevance_ = np.array([1, 1, x + step, 0, 0, 0, 0, 0, 0]) * 0.5 + 0.25
            assert selector.absorption_size() == 3

    def test_planted_features_are_counted(self):
        for n_informative in (1, 4, 16):
            X, y = planted(400, 300, n_informative, shift=4.0)
            assert ILFS("absorption").fit(X, y).n_features_ == n_informative

    def test_the_rule_may_be_set_after_the_fit(self):
        selector = ILFS(3).fit(*planted())
        assert not hasattr(selector, "n_features_")
        selector.set_params(n_features_to_select="absorption")
        assert selector.get_support().sum() == selector.absorption_size()

    def test_streams_and_dask_give_the_same_size(self, tmp_path):
        dask = pytest.importorskip("dask.array")
        X, y = planted()
        expected = ILFS("absorption").fit(X, y)
        pl.DataFrame(X, schema=[f"x{j}" for j in range(40)]).with_columns(y=pl.Series(y)).write_parquet(
            tmp_path / "table.parquet"
        )
        tables = [
            (dask.from_array(X, chunks=(50, 40)), dask.from_array(y, chunks=50)),
            (pl.scan_parquet(tmp_path / "table.parquet"), "y"),
        ]
        for table, labels in tables:
            selector = ILFS("absorption").fit(table, labels)
            assert selector.n_features_ == expected.n_features_ == selector.get_support().sum()

    def test_an_indicator_matrix_uses_the_mean_relevance(self):
        X, y = planted()
        Y = np.column_stack([y, X[:, 20] > 0]).astype(int)
        selector = ILFS("absorption").fit(X, Y)
        relevance = np.mean([one.relevance_ for one in selector.per_label_.values()], axis=0)
        excess = np.maximum(relevance - np.median(relevance), 0) ** 2
        assert selector.n_features_ == round(excess.sum() ** 2 / (excess @ excess))
        assert selector.per_label_[1].n_features_ == selector.per_label_[1].get_support().sum()


class TestPooledIntervals:
    @pytest.mark.parametrize("n_tokens", [2, 6, 40, 100])
    def test_edges_increase_from_0_to_1(self, table, n_tokens):
        edges = ILFS(intervals="pooled", n_tokens=n_tokens).fit(*table).token_edges_
        assert edges.shape == (n_tokens + 1,)
        assert (edges[0], edges[-1]) == (0, 1)
        assert (np.diff(edges) > 0).all()

    def test_intervals_have_about_the_same_mass(self):
        selector = ILFS(intervals="pooled").fit(*planted(n_samples=300, n_features=60, n_informative=30))
        fraction = selector.token_counts_.sum(axis=0) / selector.token_counts_.sum()
        assert fraction.min() > 0.5 / 6
        assert fraction.max() < 1.6 / 6

    def test_uniform_intervals_have_different_mass(self):
        selector = ILFS().fit(*planted(n_samples=300, n_features=60, n_informative=30))
        fraction = selector.token_counts_.sum(axis=0) / selector.token_counts_.sum()
        assert fraction.max() > 1.6 / 6

    def test_counts_of_a_feature_add_up_to_the_samples(self, table):
        np.testing.assert_allclose(ILFS(intervals="pooled").fit(*table).token_counts_.sum(axis=1), 45)

    def test_counts_are_a_histogram_between_the_edges(self, table):
        X, y = table
        selector = ILFS(intervals="pooled").fit(X, y)
        expected = token_counts(representativeness(X, y), y, edges=selector.token_edges_)
        np.testing.assert_allclose(selector.token_counts_, expected, atol=1e-9)

    def test_cuts_match_hand_computed_values(self):
        # The total is 12, so the cuts should be at masses 4 and 8; the cumulative masses are 1, 4, 4, 8, 12.
        assert equal_frequency_cuts(np.array([1.0, 3, 0, 4, 4]), 3).tolist() == [0, 2, 4, 5]

    def test_cuts_are_distinct_if_all_mass_is_in_one_interval(self):
        assert equal_frequency_cuts(np.array([9.0, 0, 0, 0]), 3).tolist() == [0, 1, 2, 4]
        assert equal_frequency_cuts(np.array([0, 0, 0, 9.0]), 3).tolist() == [0, 1, 3, 4]
        assert equal_frequency_cuts(np.zeros(4), 4).tolist() == [0, 1, 2, 3, 4]


class TestMissingValues:
    @pytest.mark.parametrize("evidence", ["posterior", "distance"])
    def test_each_feature_uses_the_samples_in_which_it_is_present(self, table, evidence):
        X, y = table
        X = X.copy()
        X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
        selector = ILFS(evidence=evidence).fit(X, y)
        for f in range(9):
            here = ~np.isnan(X[:, f])
            alone = ILFS(evidence=evidence).fit(X[here][:, [f]], y[here])
            np.testing.assert_allclose(selector.token_counts_[f], alone.token_counts_[0], atol=1e-9)
            assert selector.mean_log_odds_[f] == pytest.approx(alone.mean_log_odds_[0], rel=1e-9)

    def test_a_column_without_values_is_last(self, table):
        X, y = table
        X = np.insert(X, 2, np.nan, axis=1)
        selector = ILFS().fit(X, y)
        assert selector.order_[-1] == 2
        assert selector.scores_[2] == selector.scores_.min() == -1
        np.testing.assert_array_equal(selector.token_counts_[2], np.zeros(6))
        np.testing.assert_allclose(np.delete(selector.relevance_, 2), ILFS().fit(*table).relevance_, atol=1e-6)

    def test_a_column_missing_in_one_of_two_classes_is_last(self):
        X, y = planted()
        X[y == 0, 0] = np.nan
        selector = ILFS().fit(X, y)
        assert selector.order_[-1] == 0
        assert selector.relevance_[0] == 0

    def test_a_column_missing_in_one_of_three_classes_is_informative(self):
        X, y = planted(n_classes=3, n_informative=1)
        X[y == 2, 0] = np.nan
        X[:, 0] += 9 * (y == 1)
        selector = ILFS().fit(X, y)
        assert selector.order_[0] == 0
        two = ILFS().fit(X[y < 2], y[y < 2])
        np.testing.assert_allclose(selector.token_counts_[0], two.token_counts_[0], atol=1e-9)

    def test_missing_values_in_sparse_columns_are_ignored(self, table):
        X, y = table
        X = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
        np.testing.assert_allclose(
            ILFS().fit(sparse.csr_array(X), y).token_counts_, ILFS().fit(X, y).token_counts_, atol=1e-9
        )


class TestUninformativeFeatures:
    @pytest.mark.parametrize("value", [0.0, 0.1, -1e8, 1e-300, 1e200])
    @pytest.mark.parametrize(
        "selector", [ILFS(), ILFS(topics="anchored"), ILFS(redundancy=None), ILFS.paper()], ids=str
    )
    def test_a_constant_column_is_last(self, value, selector):
        X, y = planted(n_samples=999, n_features=12)
        X[:, 3] = value
        selector.fit(X, y)
        assert selector.order_[-1] == 3
        assert selector.scores_[3] == selector.scores_.min() == (0 if selector.redundancy is None else -1)

    @pytest.mark.parametrize("topics", ["shrunk", "anchored"])
    def test_a_constant_column_comes_after_a_misleading_one(self, topics):
        # Both classes have 1 and -1 equally often. Without the sample, the mean of its class has the opposite sign.
        y = np.arange(24) % 2
        misleading = np.where(np.arange(24) % 4 < 2, 1.0, -1.0)
        selector = ILFS(topics=topics).fit(np.column_stack([np.ones(24), misleading]), y)
        assert selector.mean_log_odds_[1] < 0
        assert selector.order_.tolist() == [1, 0]

    def test_a_constant_column_does_not_change_the_relevance_of_others(self, table):
        X, y = table
        padded = ILFS(tol=1e-10).fit(np.insert(X, 4, 0.1, axis=1), y)
        np.testing.assert_allclose(np.delete(padded.relevance_, 4), ILFS(tol=1e-10).fit(X, y).relevance_, atol=1e-8)

    def test_constant_features_give_a_warning(self):
        with pytest.warns(UserWarning, match="no feature differs"):
            selector = ILFS().fit(np.ones((10, 3)), np.arange(10) % 2)
        np.testing.assert_array_equal(selector.scores_, np.full(3, -1.0))
        assert selector.order_.tolist() == [0, 1, 2]

    def test_a_column_that_equals_the_label_is_first(self):
        X, y = planted(n_classes=3, n_informative=2)
        for scale in (1e-6, 1.0, 1e6):
            assert ILFS().fit(np.column_stack([X, scale * (y + y**2)]), y).order_[0] == X.shape[1]


class TestTies:
    def test_equal_columns_keep_their_order(self, table):
        X, y = table
        doubled = np.concatenate([X, X], axis=1)
        order = ILFS(redundancy=None).fit(doubled, y).order_
        np.testing.assert_array_equal(order[::2] + 9, order[1::2])

    @pytest.mark.parametrize("redundancy", ["novelty", "gain"])
    def test_copies_are_never_picked(self, table, redundancy):
        X, y = table
        once, twice = (ILFS(redundancy=redundancy).fit(Z, y) for Z in (X, np.concatenate([X, -2 * X + 1], axis=1)))
        picked = twice.order_[twice.scores_[twice.order_] > 0]  # rounding decides which of two copies is picked
        np.testing.assert_array_equal(picked % 9, once.order_[once.scores_[once.order_] > 0])

    @pytest.mark.parametrize("redundancy", [None, "novelty", "gain"])
    @pytest.mark.parametrize("mean", [0.1, 1.0])
    def test_rounding_does_not_change_the_order_of_count_data(self, redundancy, mean):
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X, y = rng.poisson(mean, (100, 150)).astype(float), rng.integers(2, size=100)
            shuffled = rng.permutation(100)
            selector = ILFS(redundancy=redundancy)
            order = selector.fit(X, y).order_
            tables = [(sparse.csr_array(X), y), (X[shuffled], y[shuffled]), (7 * X, y)]
            if (redundancy, mean) != ("gain", 0.1):  # rare events are recognised by their zeros
                tables.append((X + 1, y))
            for table, labels in tables:
                np.testing.assert_array_equal(selector.fit(table, labels).order_, order)

    def test_equal_relevance_is_ordered_by_mean_log_odds(self):
        rng = np.random.default_rng(0)
        y = np.arange(40) % 2
        X = rng.normal(size=(40, 6)) + y[:, None] * np.array([20, 60, 40, 80, 10, 0])
        selector = ILFS(topics="anchored").fit(X, y)
        assert (selector.relevance_[:5] == 1).all()
        np.testing.assert_array_equal(selector.order_[:5], np.argsort(-selector.mean_log_odds_[:5]))
        assert selector.order_.tolist() != sorted(selector.order_)


class TestClasses:
    def test_a_class_of_one_sample_gives_a_warning_with_its_name(self):
        X, _ = planted(n_samples=21)
        y = np.array(["a"] * 10 + ["b"] * 10 + ["lone"])
        with pytest.warns(UserWarning, match=r"one sample.*'lone'"):
            selector = ILFS().fit(X, y)
        rho = representativeness(X, y)
        expected = token_counts(rho, y, edges=np.linspace(0, 1, 7))
        np.testing.assert_allclose(selector.token_counts_, expected, atol=1e-9)

    def test_a_class_of_one_sample_is_allowed_without_leave_one_out(self):
        X, _ = planted(n_samples=21)
        selector = ILFS(leave_one_out=False).fit(X, np.array([0] * 10 + [1] * 10 + [2]))
        assert np.isfinite(selector.scores_).all()

    def test_two_samples_of_two_classes_are_ranked(self):
        with pytest.warns(UserWarning, match="one sample"):
            selector = ILFS().fit(np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 0.0]]), ["a", "b"])
        assert selector.order_[-1] == 1

    @pytest.mark.parametrize(
        ("label", "shown"), [("only", "'only'"), (3, "3"), (True, "True")], ids=["text", "integer", "boolean"]
    )
    def test_a_single_class_is_rejected_with_its_name(self, label, shown):
        with pytest.raises(ValueError, match=f"y must have at least two classes, got one class, {shown}"):
            ILFS().fit(planted()[0], np.array([label] * 120))

    def test_a_single_class_with_positive_weight_is_rejected(self):
        X, y = planted()
        with pytest.raises(ValueError, match="at least two classes, got one class, 1"):
            ILFS().fit(X, y, sample_weight=y)


class TestWeights:
    @pytest.mark.parametrize("kind", KINDS, ids=str)
    def test_weighted_token_counts_match_the_definition(self, table, kind):
        X, y = table
        weight = np.random.default_rng(0).uniform(0.2, 3, size=45)
        selector = ILFS(**kind).fit(X, y, weight)
        np.testing.assert_allclose(selector.token_counts_, by_definition(X, y, **kind, weight=weight), atol=1e-9)

    @pytest.mark.parametrize("selector", [ILFS(), ILFS.paper(), ILFS(intervals="pooled")], ids=str)
    @pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
    def test_integer_weights_equal_repeated_rows(self, table, selector, convert):
        X, y = table
        weight = np.random.default_rng(0).integers(0, 4, size=45)
        often = selector.fit(convert(np.repeat(X, weight, axis=0)), np.repeat(y, weight))
        expected = {name: getattr(often, name) for name in ("token_counts_", "scores_", "mean_log_odds_", "loglik_")}
        selector.fit(convert(X), y, weight)
        for name, value in expected.items():
            np.testing.assert_allclose(getattr(selector, name), value, rtol=1e-6, atol=1e-9, err_msg=name)

    def test_two_rows_of_half_weight_equal_one_row(self, table):
        X, y = table
        halves = ILFS().fit(np.concatenate([X, X]), np.concatenate([y, y]), np.full(90, 0.5))
        whole = ILFS().fit(X, y)
        np.testing.assert_allclose(halves.token_counts_, whole.token_counts_, atol=1e-9)
        np.testing.assert_allclose(halves.scores_, whole.scores_, rtol=1e-9)

    def test_a_row_with_weight_zero_may_contain_any_value(self, table):
        X, y = table
        padded = np.insert(X, 7, [np.inf, -np.inf, 1e300, np.nan, 0, 0, 0, 0, 0], axis=0)
        for convert in (np.asarray, sparse.csr_array):
            ignored = ILFS().fit(convert(padded), np.insert(y, 7, 99), np.insert(np.ones(45), 7, 0))
            np.testing.assert_allclose(ignored.scores_, ILFS().fit(X, y).scores_, rtol=1e-9)
            assert ignored.classes_.tolist() == [0, 1, 2]

    def test_a_class_of_weight_one_gives_a_warning_with_its_name(self, table):
        X, y = table
        weight = np.where(y == 1, 1 / (y == 1).sum(), 1.0)
        with pytest.warns(UserWarning, match=r"leave_one_out.* 1\b"):
            ILFS().fit(X, y, weight - 1e-12)


class TestBadValues:
    @pytest.mark.parametrize("value", [1e160, 1e200, 1e300])
    @pytest.mark.parametrize("evidence", ["posterior", "distance"])
    def test_values_whose_squares_overflow_are_rejected_with_the_column(self, value, evidence):
        X, y = planted()
        X[:, 5] *= value
        with pytest.raises(ValueError, match=r"column 5 .*too far apart"):
            ILFS(evidence=evidence).fit(X, y)

    @pytest.mark.parametrize("value", [1e160, 1e200])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_class_means_whose_squared_distance_overflows_are_rejected(self, value, n_classes):
        X, y = planted(n_classes=n_classes)
        X[:, 5] = value * y
        with pytest.raises(ValueError, match=r"column 5 .*too far apart"):
            ILFS().fit(X, y)

    @pytest.mark.parametrize("evidence", ["posterior", "distance"])
    def test_values_whose_squares_underflow_are_rejected_with_the_column(self, evidence):
        X, y = planted()
        X[:, 5] *= 1e-170
        with pytest.raises(ValueError, match=r"column 5 .*too close"):
            ILFS(evidence=evidence).fit(X, y)

    def test_values_that_are_nearly_zero_in_one_class_are_accepted(self):
        X, y = planted()
        X[:, 5] = np.where(y == 0, 1e-180 * (1 + X[:, 5] ** 2), 0.5 + 0.01 * X[:, 5])
        assert ILFS().fit(X, y).order_[0] == 5

    @pytest.mark.parametrize("scale", [1e-140, 1e140])
    @pytest.mark.parametrize("evidence", ["posterior", "distance"])
    def test_very_large_and_very_small_values_are_accepted(self, scale, evidence):
        X, y = planted()
        np.testing.assert_allclose(
            ILFS(evidence=evidence).fit(scale * X, y).token_counts_, ILFS(evidence=evidence).fit(X, y).token_counts_
        )

    @pytest.mark.parametrize("value", [np.inf, -np.inf])
    @pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix])
    def test_infinity_is_rejected_with_the_column(self, value, convert):
        X, y = planted()
        X[17, 23] = value
        with pytest.raises(ValueError, match=r"column 23 .*infinity"):
            ILFS().fit(convert(X), y)

    def test_infinity_in_float32_is_rejected(self):
        X, y = planted()
        X = X.astype(np.float32)
        X[:, 3] = np.inf
        with pytest.raises(ValueError, match=r"column 3 .*infinity"):
            ILFS().fit(X, y)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_tokens": 1}, "n_tokens must be an integer >= 2, got 1"),
            ({"n_tokens": 6.0}, r"n_tokens must be an integer >= 2, got 6\.0"),
            ({"n_tokens": True}, "n_tokens must be an integer >= 2, got True"),
            ({"n_tokens": "6"}, "n_tokens must be an integer >= 2, got '6'"),
            ({"n_tokens": None}, "n_tokens must be an integer >= 2, got None"),
            (
                {"evidence": "likelihood"},
                "evidence must be 'posterior', 'distance' or 'distance_sum', got 'likelihood'",
            ),
            ({"evidence": None}, "evidence must be 'posterior', 'distance' or 'distance_sum', got None"),
            ({"intervals": "equal"}, "intervals must be 'uniform' or 'pooled', got 'equal'"),
            ({"topics": "free"}, "topics must be 'shrunk', 'anchored' or 'learned', got 'free'"),
            ({"leave_one_out": 1}, "leave_one_out must be True or False, got 1"),
            ({"leave_one_out": "yes"}, "leave_one_out must be True or False, got 'yes'"),
            ({"class_weight": "even"}, "class_weight must be 'balanced' or None, got 'even'"),
            ({"class_weight": {0: 1}}, r"class_weight must be 'balanced' or None, got \{0: 1\}"),
            ({"damping": 0}, "damping must be a number strictly between 0 and 1, got 0"),
            ({"damping": 1}, "damping must be a number strictly between 0 and 1, got 1"),
            ({"damping": np.nan}, "damping must be a number strictly between 0 and 1, got nan"),
            ({"damping": "0.9"}, "damping must be a number strictly between 0 and 1, got '0.9'"),
            ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
            ({"max_iter": 1.5}, r"max_iter must be an integer >= 1, got 1\.5"),
            ({"tol": 0}, "tol must be a number strictly between 0 and 1, got 0"),
            ({"tol": -1e-3}, r"tol must be a number strictly between 0 and 1, got -0\.001"),
            ({"n_jobs": 0}, "n_jobs must be .*got 0"),
            ({"n_jobs": "2"}, "n_jobs must be .*got '2'"),
            ({"n_jobs": 1.5}, r"n_jobs must be .*got 1\.5"),
        ],
        ids=str,
    )
    def test_invalid_parameters_are_rejected(self, parameters, message):
        with pytest.raises(ValueError, match=f"^{message}$"):
            ILFS(**parameters).fit(*planted())

    def test_parameters_may_be_numpy_scalars(self):
        numpy_values = {
            "n_tokens": np.int64(5),
            "evidence": np.array(["distance", "posterior"])[0],
            "leave_one_out": np.array([True, False])[1],
            "damping": np.float32(0.5),
            "n_features_to_select": np.int32(3),
        }
        selector = ILFS(**numpy_values).fit(*planted())
        plain = ILFS(3, n_tokens=5, evidence="distance", leave_one_out=False, damping=0.5).fit(*planted())
        np.testing.assert_array_equal(selector.scores_, plain.scores_)

    def test_parameters_are_validated_in_fit_only(self):
        assert ILFS(n_tokens=-3).n_tokens == -3
