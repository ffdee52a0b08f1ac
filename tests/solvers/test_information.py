"""Posterior of mutual information against Monte Carlo over Dirichlet draws, Hutter's formulas and hand computation."""

import numpy as np
import pytest
from scipy.special import digamma

from ilfs.solvers.information import PRIORS, InformationPosterior

N_DRAWS = 40_000


def posterior(table, prior="uniform"):
    """Return the posterior of one table of counts, classes x bins."""
    return InformationPosterior.from_counts(np.asarray(table, dtype=float)[:, None, :], prior)


def with_prior(table, prior):
    table = np.asarray(table, dtype=float)
    return table + {"uniform": 1.0, "jeffreys": 0.5, "perks": 1 / table.size}[prior]


def information(P):
    def entropy(p, axes):
        return -np.where(p > 0, p * np.log(np.maximum(p, 1e-300)), 0.0).sum(axis=axes)

    return entropy(P.sum(axis=2), 1) + entropy(P.sum(axis=1), 1) - entropy(P, (1, 2))


def draws(n, seed=0):
    """Draw the mutual information of chances that are Dirichlet distributed with the parameters n."""
    weight = np.random.default_rng(seed).gamma(n, size=(N_DRAWS, *n.shape))
    return information(weight / weight.sum(axis=(1, 2), keepdims=True))


def hutter_variance(n):
    """Return the leading two terms of the variance by Hutter (2001)."""
    N, rows, columns = n.sum(), n.sum(axis=1, keepdims=True), n.sum(axis=0, keepdims=True)
    logs = np.log(n * N / (rows * columns))
    J, K = (n * logs).sum() / N, (n * logs**2).sum() / N
    M = ((1 / n - 1 / rows - 1 / columns + 1 / N) * n * logs).sum()
    Q = 1 - (n**2 / (rows * columns)).sum()
    freedom = (n.shape[0] - 1) * (n.shape[1] - 1)
    return (K - J**2) / (N + 1) + (M + freedom * (0.5 - J) - Q) / ((N + 1) * (N + 2))


def random_table(seed):
    """Return a table without empty rows and columns, of 10 to 100 counts, independent or not."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, 5), rng.integers(2, 9)
    chances = rng.dirichlet(np.full(shape[0] * shape[1], rng.choice([0.3, 1.0, 10.0])))
    table = rng.multinomial(rng.choice([10, 20, 41, 100]), chances).reshape(shape)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    return table if min(table.shape) > 1 else np.array([[4, 2], [1, 5]])


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("seed", range(12))
def test_mean_standard_deviation_and_bound_match_monte_carlo(seed, prior):
    table = random_table(seed)
    found, drawn = posterior(table, prior), draws(with_prior(table, prior), seed)
    assert abs(found.mean[0] - drawn.mean()) < 4.5 * drawn.std() / np.sqrt(N_DRAWS)
    assert np.sqrt(found.variance[0]) == pytest.approx(drawn.std(), rel=0.03)  # 0.5 % Monte Carlo error, one sigma
    assert found.largest[0] >= drawn.max()
    # The Beta distribution is an approximation: most error is found near independence.
    assert (drawn > found.quantile(0.05)[0]).mean() == pytest.approx(0.95, abs=0.035)
    assert (drawn > found.quantile(0.2)[0]).mean() == pytest.approx(0.80, abs=0.035)


def test_the_mean_is_the_closed_form_with_digamma_functions():
    n = np.array([[9.0, 1.0, 4.0], [2.0, 8.0, 1.0]]) + 0.5
    total, rows, columns = n.sum(), n.sum(axis=1, keepdims=True), n.sum(axis=0, keepdims=True)
    expected = (n * (digamma(n + 1) - digamma(rows + 1) - digamma(columns + 1) + digamma(total + 1))).sum() / total
    assert posterior(n - 0.5, "jeffreys").mean[0] == pytest.approx(expected, rel=1e-13)


def test_the_mean_matches_a_hand_computed_value():
    # One sample in each entry on the diagonal, prior count 1: n = (2, 1; 1, 2), sums 3, total 6. With digamma(z + 1) =
    # digamma(z) + 1 / z, E I = [4 (psi(3) - 2 psi(4) + psi(7)) + 2 (psi(2) - 2 psi(4) + psi(7))] / 6.
    psi = np.cumsum([0.0, 1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6])  # psi(z) - psi(1) for z = 1, ..., 7
    expected = (4 * psi[2] + 2 * psi[1] - 12 * psi[3] + 6 * psi[6]) / 6
    assert posterior([[1, 0], [0, 1]]).mean[0] == pytest.approx(expected, rel=1e-13)


def test_many_counts_give_the_variance_of_hutter():
    table = np.random.default_rng(0).integers(2000, 9000, size=(3, 5)).astype(float)
    table[1, 2] *= 2
    assert posterior(table).variance[0] == pytest.approx(hutter_variance(table + 1), rel=1e-6)


def test_the_variance_is_positive_where_the_expansion_of_hutter_is_not():
    table = np.array([[7, 7, 6, 1, 0, 0], [0, 0, 1, 6, 7, 6]])
    n = with_prior(table, "perks")
    assert hutter_variance(n) < 0
    assert np.sqrt(posterior(table, "perks").variance[0]) == pytest.approx(draws(n).std(), rel=0.03)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("scale", [1, 1e5])
def test_the_order_of_classes_and_bins_and_their_roles_do_not_matter(prior, scale):
    table = np.array([[3.0, 0.0, 5.0, 1.0], [2.0, 2.0, 0.0, 6.0]]) * scale
    expected = posterior(table, prior)
    for other in (table[::-1], table[:, [2, 0, 3, 1]], table.T):
        found = posterior(other, prior)
        assert found.mean[0] == pytest.approx(expected.mean[0], rel=1e-11)
        assert found.variance[0] == pytest.approx(expected.variance[0], rel=1e-9)
        assert found.quantile(0.05)[0] == pytest.approx(expected.quantile(0.05)[0], rel=1e-9)


def test_empty_classes_and_bins_are_left_out():
    table = np.array([[3.0, 4.0], [5.0, 1.0]])
    padded = np.zeros((4, 5))
    padded[np.ix_([0, 2], [1, 4])] = table
    for prior in PRIORS:
        found, expected = posterior(padded, prior), posterior(table, prior)
        assert found.mean[0] == pytest.approx(expected.mean[0], rel=1e-13)
        assert found.variance[0] == pytest.approx(expected.variance[0], rel=1e-11)
        assert found.largest[0] == pytest.approx(np.log(2))


@pytest.mark.parametrize("table", [[[3, 4, 0]], [[3, 0], [5, 0]], [[0, 0], [0, 0]], [[7, 1], [0, 0]]])
def test_one_class_or_one_bin_carries_no_information(table):
    found = posterior(np.pad(np.array(table, dtype=float), ((0, 1), (0, 0))))
    assert (found.mean[0], found.variance[0], found.quantile(0.05)[0]) == (0.0, 0.0, 0.0)


def test_more_samples_with_the_same_fractions_raise_the_lower_bound():
    table = np.array([[6.0, 2.0], [1.0, 5.0]])
    for prior in PRIORS:
        bounds = [posterior(k * table, prior).quantile(0.05)[0] for k in (1, 2, 5, 20, 1000)]
        assert np.all(np.diff(bounds) > 0)
        spreads = [posterior(k * table, prior).variance[0] for k in (1, 2, 5, 20, 1000)]
        assert np.all(np.diff(spreads) < 0)
        fractions = table / table.sum()
        assert bounds[-1] == pytest.approx(information(fractions[None])[0], rel=0.05)
