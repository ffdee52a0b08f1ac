import numpy as np
import pytest
from helpers import load as real
from scipy import stats

from ilfs.datasets import REGISTRY, load, load_truth, make_known_answer
from ilfs.datasets.known_answer import FAMILIES, INNER_RADIUS, KNOWN_ANSWERS, OUTER_RADIUS, TRUE_COLUMNS

LARGE = 6000


def true_columns(truth):
    """True columns in the order of their names."""
    names = truth.table.feature_names
    return truth.table.X[:, [names.index(f"true_{j}") for j in range(truth.informative.sum())]]


@pytest.mark.parametrize("family", FAMILIES)
def test_classes_are_equally_large_and_true_columns_have_their_names(family):
    truth = make_known_answer(family, 60, 30)
    named = np.array([name.startswith("true_") for name in truth.table.feature_names])
    np.testing.assert_array_equal(named, truth.informative)
    assert truth.informative.sum() == FAMILIES[family].n_true
    assert truth.table.class_sizes == (30, 30)
    assert truth.table.n_features == 30 + FAMILIES[family].n_true + FAMILIES[family].n_companions
    assert not truth.redundant.any()


@pytest.mark.parametrize("n_bits", [2, 3])
def test_the_class_is_the_parity_of_the_true_bits_and_fewer_say_nothing(n_bits):
    truth = make_known_answer(f"parity{n_bits}", LARGE, 1)
    bits, y = true_columns(truth), truth.table.y
    np.testing.assert_array_equal(bits.sum(axis=1) % 2, y)
    for j in range(n_bits):
        left_out = np.delete(bits, j, axis=1).sum(axis=1) % 2
        assert abs((left_out == y).mean() - 0.5) < 0.03


def test_signs_differ_in_class_1_of_xor():
    truth = make_known_answer("xor", 500, 1)
    x, y = true_columns(truth).T
    np.testing.assert_array_equal(x * y < 0, truth.table.y == 1)


def test_the_ring_covers_half_of_the_square_and_holds_class_1():
    truth = make_known_answer("ring", 500, 1)
    radius = np.hypot(*true_columns(truth).T)
    np.testing.assert_array_equal((radius > INNER_RADIUS) & (radius < OUTER_RADIUS), truth.table.y == 1)
    assert np.pi * (OUTER_RADIUS**2 - INNER_RADIUS**2) == pytest.approx(4 / 2)
    assert OUTER_RADIUS < 1


def test_a_sample_of_class_1_satisfies_one_condition_of_a_mixture_and_one_of_class_0_none():
    truth = make_known_answer("ring_xor_sum", LARGE, 1)
    ring, xor, total = true_columns(truth).reshape(LARGE, 3, 2).transpose(1, 0, 2)
    radius = np.hypot(*ring.T)
    satisfied = np.array(
        [(radius > INNER_RADIUS) & (radius < OUTER_RADIUS), xor.prod(axis=1) < 0, total.sum(axis=1) > 0]
    )
    np.testing.assert_array_equal(satisfied.sum(axis=0), truth.table.y)
    np.testing.assert_allclose(satisfied[:, truth.table.y == 1].mean(axis=1), 1 / 3, atol=0.03)


def test_columns_of_variance_differ_in_spread_only():
    truth = make_known_answer("variance", LARGE, 1)
    X, y = true_columns(truth), truth.table.y
    first, second = X[y == 0], X[y == 1]
    np.testing.assert_allclose(second.std(axis=0) / first.std(axis=0), 2, atol=0.1)
    np.testing.assert_allclose(X.std(axis=0), 1, atol=0.03)
    assert stats.ttest_ind(first, second, equal_var=False).pvalue.min() > 1e-3


def test_corral_is_determined_by_four_bits_and_correlated_with_a_fifth():
    truth = make_known_answer("corral", LARGE, 1)
    a0, a1, b0, b1 = true_columns(truth).astype(bool).T
    np.testing.assert_array_equal((a0 & a1) | (b0 & b1), truth.table.y == 1)
    companion = truth.table.X[:, truth.table.feature_names.index("correlated_0")]
    assert (companion == truth.table.y).mean() == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize("family", FAMILIES)
def test_noise_is_distributed_as_the_true_columns_and_independent_of_the_class(family):
    truth = make_known_answer(family, LARGE, 2)
    names = truth.table.feature_names
    noise = truth.table.X[:, [names.index("noise_0"), names.index("noise_1")]]
    assert set(np.unique(noise)) == {0, 1} if noise.max() == 1 else len(np.unique(noise)) == noise.size
    for column in noise.T:
        assert stats.ks_2samp(column[truth.table.y == 0], column[truth.table.y == 1]).pvalue > 1e-3


@pytest.mark.parametrize("name", KNOWN_ANSWERS)
def test_registered_data_sets_are_those_of_seed_0(name):
    spec, truth = REGISTRY[name], load_truth(name)
    assert (spec.samples, spec.features) == truth.table.X.shape
    assert spec.class_sizes == truth.table.class_sizes
    assert load(name).checksum == truth.table.checksum
    assert load_truth(name, random_state=1).table.checksum != truth.table.checksum


def test_the_true_columns_of_madelon_are_those_that_correlate_and_span_five_directions():
    X, _ = real("madelon")
    rho = np.abs(np.corrcoef(X.T)) - np.eye(X.shape[1])
    nearest = rho.max(axis=1)
    true = np.array(TRUE_COLUMNS["madelon"])
    np.testing.assert_array_equal(np.flatnonzero(nearest > 0.5), true)
    assert np.delete(nearest, true).max() < 0.1
    assert (np.linalg.eigvalsh(np.corrcoef(X[:, true].T)) > 0.1).sum() == 5


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match=r"family must be one of parity2, .*, got 'maze'"):
        make_known_answer("maze", 10, 10)
    with pytest.raises(ValueError, match="n_samples must be an integer >= 2, got 1"):
        make_known_answer("xor", 1, 10)
    with pytest.raises(ValueError, match="n_noise must be an integer >= 0, got -1"):
        make_known_answer("xor", 10, -1)
    with pytest.raises(ValueError, match="random_state must be an integer >= 0, got -1"):
        load_truth("xor_200x100", random_state=-1)
