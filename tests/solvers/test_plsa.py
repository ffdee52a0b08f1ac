from fractions import Fraction

import numpy as np
import pytest
from brute_force import anchored_relevance, log_likelihood, map_em, map_step, paper_em
from brute_force import ramps as plain_ramps
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from ilfs.solvers.plsa import anchored_topics, learned_topics, ramps, shrunk_topics

F = Fraction


def count_tables(max_count=60):
    """Generate tables of counts, tokens x features, with at least one count in every column."""
    shapes = array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9)
    tables = arrays(np.int64, shapes, elements=st.integers(0, max_count))
    return tables.map(lambda table: (table + (table.sum(axis=0) == 0)).astype(float))


def random_counts(seed, n_tokens=6, n_features=50, n_samples=60):
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.ones(n_tokens), size=n_features)
    return np.array([rng.multinomial(n_samples, chance) for chance in chances], dtype=float).T


def assert_never_falls(loglik):
    slack = 1e-12 * np.abs(loglik).max()
    assert (np.diff(loglik) >= -slack).all()


def numbers(fractions):
    return np.array([[float(x) for x in row] for row in fractions])


# Two features, two tokens: f has tokens (0, 4), g has (2, 2). Ramps of two tokens: z1 (1/4, 3/4), z2 (3/4, 1/4).
TINY_COUNTS = np.array([[0.0, 2.0], [4.0, 2.0]])


def test_ramps_match_hand_computed_values():
    np.testing.assert_allclose(ramps(2), numbers([[F(1, 4), F(3, 4)], [F(3, 4), F(1, 4)]]))
    np.testing.assert_allclose(ramps(3)[0], [1 / 9, 3 / 9, 5 / 9])


@pytest.mark.parametrize("n_tokens", [2, 6, 31])
def test_ramps_are_opposite_linear_distributions(n_tokens):
    up, down = ramps(n_tokens)
    assert up.sum() == pytest.approx(1)
    np.testing.assert_array_equal(up[::-1], down)
    np.testing.assert_allclose(np.diff(up, 2), 0, atol=1e-15)
    assert up[-1] > up[0]


def test_first_step_matches_hand_computed_values():
    # P(z1|t) = 1/4, 3/4 while p = 1/2. f: 4 * 3/4 of 4 is relevant, p = 3/4. g: 2 * 1/4 + 2 * 3/4 of 4, p = 1/2.
    # z1 has 1/2 of token 1 and 3 + 3/2 of token 2, z2 has 3/2 and 1 + 1/2.
    topics = learned_topics(TINY_COUNTS, max_iter=1, tol=1e-9)
    np.testing.assert_allclose(topics.relevance, [3 / 4, 1 / 2])
    np.testing.assert_allclose(topics.tokens, numbers([[F(1, 10), F(9, 10)], [F(1, 2), F(1, 2)]]))
    np.testing.assert_allclose(topics.weights, [5 / 8, 3 / 8])
    # At the start every token has probability 1/2. After the step, the token of f has probability 27/40 + 5/40, and
    # those of g have 3/10 and 7/10.
    np.testing.assert_allclose(topics.loglik, [8 * np.log(1 / 2), 4 * np.log(4 / 5) + 2 * np.log(0.3 * 0.7)])


def test_second_step_matches_hand_computed_values():
    # f: P(z1|t2) = 27 : 5, p = 27/32. g: 1 : 5 and 9 : 5, p = (2/6 + 18/14) / 4 = 17/42.
    # z1 has 1/3 and 27/8 + 9/7 = 261/56, z2 has 5/3 and 6 - 261/56 = 75/56.
    topics = learned_topics(TINY_COUNTS, max_iter=2, tol=1e-9)
    np.testing.assert_allclose(topics.relevance, [27 / 32, 17 / 42])
    np.testing.assert_allclose(topics.tokens, numbers([[F(56, 839), F(783, 839)], [F(56, 101), F(45, 101)]]))
    assert topics.loglik.size == 3
    assert not topics.converged


def test_shrunk_step_matches_hand_computed_values():
    # Three tokens, ramps (1, 3, 5) / 9, P(z1|t) = 1/6, 1/2, 5/6; f has tokens (0, 0, 6), g has (2, 2, 2).
    # One pseudo-count of each topic in a feature: p = (5 + 1) / 8 and (3 + 1) / 8. Nine of the ramps in a topic:
    # z1 has 1/3 + 1, 1 + 3, 20/3 + 5, z2 has 5/3 + 5, 1 + 3, 4/3 + 1; mirrored and added: 11/3, 8, 55/3 of 30.
    counts = np.array([[0.0, 2.0], [0.0, 2.0], [6.0, 2.0]])
    topics = shrunk_topics(counts, relevance_prior=1, token_prior=9, max_iter=1, tol=1e-9)
    np.testing.assert_allclose(topics.relevance, [3 / 4, 1 / 2])
    np.testing.assert_allclose(
        topics.tokens, numbers([[F(11, 90), F(24, 90), F(55, 90)], [F(55, 90), F(24, 90), F(11, 90)]])
    )
    start = 12 * np.log(1 / 3) + 4 * np.log(1 / 2) + 2 * (np.log(1 / 9) + 3 * np.log(3 / 9) + 5 * np.log(5 / 9))
    assert topics.loglik[0] == pytest.approx(start)


@pytest.mark.parametrize("n_steps", [1, 2, 7, 40])
def test_learned_topics_take_the_steps_of_the_paper(n_steps):
    counts = random_counts(n_steps)
    topics = learned_topics(counts, max_iter=n_steps, tol=1e-300)
    relevance, tokens, weights = paper_em(counts.T, n_steps)
    np.testing.assert_allclose(topics.relevance, relevance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(topics.tokens, tokens, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(topics.weights, weights, rtol=1e-9)


def test_learned_topics_are_right_for_more_than_one_tile_of_features():
    counts = random_counts(0, n_features=1300, n_samples=20)
    topics = learned_topics(counts, max_iter=5, tol=1e-300)
    relevance, tokens, _ = paper_em(counts.T, 5)
    np.testing.assert_allclose(topics.relevance, relevance, rtol=1e-9)
    np.testing.assert_allclose(topics.tokens, tokens, rtol=1e-9)


@given(count_tables())
def test_likelihood_never_falls_when_learned(counts):
    assert_never_falls(learned_topics(counts, max_iter=300, tol=1e-12).loglik)


@given(count_tables(), st.floats(0.01, 20), st.floats(0.01, 500))
def test_penalised_likelihood_never_falls_when_shrunk(counts, relevance_prior, token_prior):
    topics = shrunk_topics(counts, relevance_prior=relevance_prior, token_prior=token_prior, max_iter=300, tol=1e-12)
    assert_never_falls(topics.loglik)


@given(count_tables())
def test_likelihood_never_falls_when_anchored(counts):
    loglik = anchored_topics(counts).loglik
    assert loglik.size == 2
    assert_never_falls(loglik)


def test_reported_likelihood_belongs_to_the_returned_parameters():
    counts = random_counts(3)
    topics = learned_topics(counts, max_iter=9, tol=1e-300)
    at_end = sum(log_likelihood(q, p, topics.tokens) for q, p in zip(counts.T, topics.relevance, strict=True))
    assert topics.loglik[-1] == pytest.approx(at_end, rel=1e-12)
    assert topics.loglik.size == 10


@pytest.mark.parametrize("n_steps", [1, 2, 3, 4, 5, 6, 7, 500])
def test_reported_penalised_likelihood_belongs_to_the_returned_parameters(n_steps):
    counts = random_counts(3)
    topics = shrunk_topics(counts, relevance_prior=12.0, token_prior=600.0, max_iter=n_steps, tol=1e-9)
    at_end = sum(log_likelihood(q, p, topics.tokens) for q, p in zip(counts.T, topics.relevance, strict=True))
    at_end += 12.0 * np.log(topics.relevance * (1 - topics.relevance)).sum()
    at_end += 600.0 * (plain_ramps(6) * np.log(topics.tokens)).sum()
    assert topics.loglik[-1] == pytest.approx(at_end, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_shrunk_topics_are_a_fixed_point_of_a_plain_step(seed):
    counts = random_counts(seed)
    prior = {"relevance_prior": 12.0, "token_prior": counts.sum()}
    topics = shrunk_topics(counts, **prior, max_iter=10_000, tol=1e-12)
    assert topics.converged
    relevance, tokens = map_step(counts.T, *prior.values(), topics.relevance, topics.tokens)
    np.testing.assert_allclose(topics.relevance, relevance, atol=1e-10)
    np.testing.assert_allclose(topics.tokens, tokens, atol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_shrunk_topics_equal_the_limit_of_plain_steps(seed):
    counts = random_counts(seed)
    prior = {"relevance_prior": 12.0, "token_prior": counts.sum()}
    topics = shrunk_topics(counts, **prior, max_iter=10_000, tol=1e-12)
    relevance, tokens = map_em(counts.T, *prior.values(), n_steps=2000)
    np.testing.assert_allclose(topics.relevance, relevance, atol=1e-9)
    np.testing.assert_allclose(topics.tokens, tokens, atol=1e-9)


def test_acceleration_saves_steps():
    counts = random_counts(0, n_features=200)
    prior = {"relevance_prior": 1.0, "token_prior": 0.1 * counts.sum()}
    topics = shrunk_topics(counts, **prior, max_iter=10_000, tol=1e-9)
    plain = map_em(counts.T, *prior.values(), n_steps=topics.loglik.size)[0]
    end = map_em(counts.T, *prior.values(), n_steps=5000)[0]
    assert np.abs(topics.relevance - end).max() < 0.1 * np.abs(plain - end).max()


@given(count_tables(), st.floats(0.1, 20))
def test_the_prior_keeps_relevance_away_from_zero_and_one(counts, prior):
    topics = shrunk_topics(counts, relevance_prior=prior, token_prior=counts.sum(), max_iter=500, tol=1e-9)
    least = prior / (counts.sum(axis=0) + 2 * prior)
    assert (topics.relevance >= least * (1 - 1e-6)).all()
    assert (topics.relevance <= 1 - least * (1 - 1e-6)).all()


def test_shrunk_topics_are_mirror_images():
    topics = shrunk_topics(random_counts(1), relevance_prior=1.0, token_prior=30.0, max_iter=500, tol=1e-9)
    np.testing.assert_allclose(topics.tokens[0], topics.tokens[1, ::-1], rtol=1e-8)
    assert np.abs(topics.tokens - ramps(6)).max() > 0.01


def test_a_strong_prior_on_tokens_keeps_the_ramps():
    topics = shrunk_topics(random_counts(1), relevance_prior=1.0, token_prior=1e12, max_iter=500, tol=1e-9)
    np.testing.assert_allclose(topics.tokens, ramps(6), rtol=1e-6)


@given(count_tables())
def test_anchored_relevance_is_the_best_on_a_fine_grid(counts):
    topics = anchored_topics(counts)
    for q, p in zip(counts.T, topics.relevance, strict=True):
        best = max(log_likelihood(q, g, plain_ramps(len(q))) for g in np.linspace(0, 1, 201))
        assert log_likelihood(q, p, plain_ramps(len(q))) >= best - 1e-10 * abs(best)


@given(count_tables())
def test_anchored_relevance_equals_that_of_a_general_optimiser(counts):
    # The middle token is equally likely in both topics. A feature with no other token has a flat likelihood, of which
    # every p is a maximum.
    relevant, irrelevant = ramps(len(counts))
    assume((counts[relevant != irrelevant].sum(axis=0) > 0).all())
    np.testing.assert_allclose(anchored_topics(counts).relevance, anchored_relevance(counts.T), atol=1e-6)


def test_anchored_relevance_matches_hand_computed_values():
    # Two tokens, ramps 1/4 and 3/4: P(t2|f) = 1/4 + p/2 is 5/8 at p = 3/4. No p in [0, 1] gives 7/8 or 1/8, so those
    # features end at p = 1 and p = 0.
    topics = anchored_topics(np.array([[3.0, 1.0, 7.0, 4.0], [5.0, 7.0, 1.0, 4.0]]))
    np.testing.assert_allclose(topics.relevance, [3 / 4, 1.0, 0.0, 1 / 2], atol=1e-11)
    assert topics.relevance[1] == 1.0
    assert topics.relevance[2] == 0.0


def test_anchored_topics_are_the_ramps():
    topics = anchored_topics(random_counts(2))
    np.testing.assert_array_equal(topics.tokens, ramps(6))
    assert topics.converged


def test_anchored_relevance_does_not_depend_on_other_features():
    counts = random_counts(5)
    np.testing.assert_array_equal(anchored_topics(counts[:, :7]).relevance, anchored_topics(counts).relevance[:7])


@pytest.mark.parametrize(
    "fit",
    [
        lambda counts: learned_topics(counts, max_iter=20, tol=1e-9),
        lambda counts: shrunk_topics(counts, relevance_prior=12.0, token_prior=counts.sum(), max_iter=500, tol=1e-9),
        anchored_topics,
    ],
    ids=["learned", "shrunk", "anchored"],
)
class TestEveryKindOfTopics:
    def test_topics_are_distributions(self, fit):
        topics = fit(random_counts(0))
        np.testing.assert_allclose(topics.tokens.sum(axis=1), 1)
        assert (topics.tokens >= 0).all()
        assert topics.weights.sum() == pytest.approx(1)
        assert ((topics.relevance >= 0) & (topics.relevance <= 1)).all()

    def test_weight_of_a_topic_is_its_fraction_of_the_counts(self, fit):
        counts = random_counts(0)
        topics = fit(counts)
        relevant = counts.sum(axis=0) @ topics.relevance / counts.sum()
        np.testing.assert_allclose(topics.weights, [relevant, 1 - relevant])

    def test_features_with_more_large_tokens_are_more_relevant(self, fit):
        topics = fit(np.array([[1, 2, 5, 9], [2, 3, 3, 3], [9, 5, 2, 1]], dtype=float)[:, ::-1])
        assert (np.diff(topics.relevance[::-1]) <= 0).all()
        assert topics.relevance[3] > 0.5 > topics.relevance[0]

    def test_reversing_the_tokens_exchanges_the_topics(self, fit):
        counts = random_counts(0)
        topics, reverse = fit(counts), fit(counts[::-1].copy())
        np.testing.assert_allclose(reverse.relevance, 1 - topics.relevance, atol=1e-7)
        np.testing.assert_allclose(reverse.tokens, topics.tokens[::-1, ::-1], atol=1e-7)

    def test_a_feature_without_counts_changes_nothing_for_the_others(self, fit):
        counts = random_counts(0)
        padded = np.insert(counts, 3, 0.0, axis=1)
        np.testing.assert_allclose(np.delete(fit(padded).relevance, 3), fit(counts).relevance, atol=1e-9)

    def test_relevance_is_finite_without_any_counts(self, fit):
        assert np.isfinite(fit(np.zeros((6, 3))).relevance).all()

    def test_counts_are_not_changed(self, fit):
        counts = random_counts(0)
        before = counts.copy()
        fit(counts)
        np.testing.assert_array_equal(counts, before)
