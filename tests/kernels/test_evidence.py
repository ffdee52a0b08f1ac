import numpy as np
import pytest
from brute_force import representativeness
from helpers import moments_of
from scipy.special import expit
from scipy.stats import norm

from ilfs.kernels.evidence import fraction, log_odds
from ilfs.statistics.tokens import class_contrast


def evidence_of_values(X, y, evidence, leave_one_out):
    """Compute the evidence of every value with the library, as a number in [0, 1]."""
    contrast = class_contrast(moments_of(X, y), evidence, leave_one_out, balanced=False)
    *by_class, sharpness, _ = contrast
    rho = np.empty(X.shape)
    for i, k in enumerate(np.unique(y, return_inverse=True)[1]):
        for f in range(X.shape[1]):
            compared = [parameter[k, f] for parameter in by_class]
            if evidence == "distance":
                rho[i, f] = fraction(X[i, f], *compared)
            else:
                rho[i, f] = expit(log_odds(X[i, f], *compared, sharpness[f]))
    return rho


def table(n_classes, seed=0, n_samples=40, n_features=3):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), np.arange(n_classes), rng.integers(n_classes, size=n_samples - 2 * n_classes)]
    return rng.normal(size=(n_samples, n_features)) + 0.5 * rng.normal(size=(n_classes, n_features))[y], y


def test_distance_evidence_of_two_classes_is_the_formula_of_the_paper():
    X, y = table(2)
    means = np.array([X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])
    d = (X[:, None, :] - means) ** 2
    pi = d[np.arange(len(y)), y] / d.sum(axis=1)
    np.testing.assert_allclose(evidence_of_values(X, y, "distance", leave_one_out=False), 1 - pi, atol=1e-13)


def test_variances_cancel_in_the_formula_of_the_paper():
    X, y = table(2)
    means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
    phi = (X[:, None, :] - means) ** 2 / sum(X[y == k].var(axis=0) for k in (0, 1))
    pi = phi[np.arange(len(y)), y] / phi.sum(axis=1)
    np.testing.assert_allclose(evidence_of_values(X, y, "distance", leave_one_out=False), 1 - pi, atol=1e-13)


def test_posterior_evidence_of_two_classes_is_the_posterior_of_two_normal_distributions():
    X, y = table(2)
    n = np.bincount(y)
    means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
    spread = np.sqrt(sum(n[k] * X[y == k].var(axis=0) for k in (0, 1)) / (len(y) - 2))
    density = norm.pdf(X[:, None, :], means, spread)
    posterior = density[np.arange(len(y)), y] / density.sum(axis=1)
    np.testing.assert_allclose(evidence_of_values(X, y, "posterior", leave_one_out=False), posterior, rtol=1e-11)


@pytest.mark.parametrize("evidence", ["distance", "posterior"])
@pytest.mark.parametrize("leave_one_out", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_evidence_compares_own_distance_with_the_mean_of_the_others(n_classes, leave_one_out, evidence):
    X, y = table(n_classes)
    expected = representativeness(X, y, evidence=evidence, leave_one_out=leave_one_out)
    np.testing.assert_allclose(evidence_of_values(X, y, evidence, leave_one_out), expected, rtol=1e-9)


@pytest.mark.parametrize("evidence", ["distance", "posterior"])
@pytest.mark.parametrize("n_classes", [2, 5, 15])
def test_median_evidence_of_noise_is_one_half_for_any_number_of_classes(n_classes, evidence):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 1)), np.arange(3000) % n_classes
    rho = evidence_of_values(X, y, evidence, leave_one_out=True)
    assert np.median(rho) == pytest.approx(0.5, abs=0.02)


def test_distance_evidence_is_one_half_if_both_distances_are_zero():
    assert fraction(1.0, mean=1.0, square=1.0, linear=0.0, constant=0.0) == 0.5


def test_evidence_is_one_half_midway_between_two_class_means():
    # The class means are 1 and 7, and the sample with value 4 is at distance 3 from both.
    X, y = np.array([[0.0], [2.0], [4.0], [10.0]]), np.array([0, 0, 1, 1])
    assert evidence_of_values(X, y, "distance", leave_one_out=False)[2, 0] == 0.5
    assert evidence_of_values(X, y, "posterior", leave_one_out=False)[2, 0] == 0.5


@pytest.mark.parametrize("evidence", ["distance", "posterior"])
def test_evidence_is_accurate_if_class_means_are_far_from_zero(evidence):
    X, y = table(4)
    X = np.round(X * 2**10) / 2**10
    far = evidence_of_values(X + 2.0**30, y, evidence, leave_one_out=True)
    np.testing.assert_allclose(far, evidence_of_values(X, y, evidence, leave_one_out=True), atol=1e-5)
