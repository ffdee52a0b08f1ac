"""Bounds of stability selection: figures published with R's package stabs, theorems by linear programs, brute force.

The figures of stabs are those of its recorded test output (tests/regtest-inference.Rout.save, R 4.0.3, B = 50 pairs)
and of its README (bodyfat data, p = 9, q = 2, cutoff 0.75: PFER 0.454).
"""

import numpy as np
import pytest
from scipy.optimize import brentq, linprog, minimize

from ilfs.selection.false_positives import expected_false_positives, r_concave_bound, unimodal_factor

PUBLISHED_R_CONCAVE = {  # q: PFER, for p = 100 and cutoff 0.6
    1: 0.006971364,
    2: 0.03342845,
    3: 0.08691176,
    4: 0.1637231,
    5: 0.2605329,
    6: 0.3820466,
    7: 0.5295188,
    8: 0.7042719,
    9: 0.9077127,
    10: 1.141338,
    30: 16.24975,
}
PUBLISHED_UNIMODAL = {1: 0.02631579, 2: 0.1052632, 3: 0.2368421, 5: 0.6578947, 7: 1.289474, 10: 2.631579}


@pytest.mark.parametrize("q", range(1, 11))
def test_without_assumptions_the_figures_are_those_of_stabs(q):
    assert expected_false_positives(100, q, 0.6, 100, "none") == pytest.approx(q**2 / 20)  # printed 0.05, 0.2, ..., 5


@pytest.mark.parametrize("q", PUBLISHED_UNIMODAL)
def test_unimodal_figures_are_those_of_stabs(q):
    found = expected_false_positives(100, q, 0.6, 100, "unimodal")
    assert found == pytest.approx(PUBLISHED_UNIMODAL[q], rel=1e-6)


def test_unimodal_figures_of_large_cutoffs_are_those_of_stabs():
    assert round(expected_false_positives(10, 3, 0.96, 100, "unimodal"), 3) == 0.176
    assert round(expected_false_positives(9, 2, 0.75, 100, "unimodal"), 3) == 0.454
    # stabs chooses the cutoff 0.81 as the smallest one with a PFER of at most 0.2 for p = 200, q = 7
    assert expected_false_positives(200, 7, 0.81, 100) <= 0.2 < expected_false_positives(200, 7, 0.80, 100)


@pytest.mark.parametrize("q", PUBLISHED_R_CONCAVE)
def test_r_concave_figures_are_those_of_stabs(q):
    # stabs maximises by steps of 1e-4, which for small q misses 0.3 % of the maximum: ours are never smaller.
    found = expected_false_positives(100, q, 0.6, 100, "r-concave")
    assert found == pytest.approx(PUBLISHED_R_CONCAVE[q], rel=4e-3 if q < 4 else 1e-5)
    assert found >= PUBLISHED_R_CONCAVE[q] * (1 - 1e-6)


def test_r_concave_figures_of_other_cutoffs_are_those_of_stabs():
    found = [
        expected_false_positives(200, q, cutoff, 100, "r-concave")
        for q, cutoff in ((6, 0.6), (7, 0.6), (7, 0.62), (7, 0.61))
    ]
    assert np.round(found, 3).tolist() == [0.174, 0.248, 0.196, 0.219]
    found = [expected_false_positives(100, 10, cutoff, 100, "r-concave") for cutoff in (0.62, 0.61)]
    assert found == pytest.approx([0.8971682, 1.005863], rel=1e-5)


def test_r_concave_bound_of_the_largest_cutoff_is_attained():
    # stabs prints 0.005184816 for p = 100, q = 10, cutoff 1. This -1/2-concave distribution on 0, 1/50, ..., 1 has a
    # mean of (q / p)^2 and more mass at 1: the bound cannot be that small.
    place = np.arange(51)
    shift = brentq(lambda a: np.average(place, weights=(a + place) ** -2.0) - 0.5, 1e-3, 1e3)
    masses = (shift + place) ** -2.0 / np.sum((shift + place) ** -2.0)
    found = expected_false_positives(100, 10, 1, 100, "r-concave")
    assert found == pytest.approx(100 * masses[-1], rel=1e-6)
    assert found > 0.005184816


def largest_unimodal_tail(mean, least, n):
    """Maximise P(X >= least) over unimodal X on 0..n with a mean of at most ``mean``, by a linear program per mode."""
    best = 0.0
    for mode in range(n + 1):
        rises = [(i, i + 1) if i < mode else (i + 1, i) for i in range(n)]
        steps = np.zeros((n, n + 1))
        for row, (low, high) in zip(steps, rises, strict=True):
            row[low], row[high] = 1, -1
        found = linprog(
            -(np.arange(n + 1) >= least).astype(float),
            A_ub=np.vstack([steps, np.arange(n + 1)]),
            b_ub=np.append(np.zeros(n), mean),
            A_eq=np.ones((1, n + 1)),
            b_eq=[1],
        )
        best = max(best, -found.fun if found.success else 0.0)  # a large mode and a small mean exclude each other
    return best


@pytest.mark.parametrize("theta", [0.02, 0.1, 0.3])
def test_unimodal_bound_is_the_maximum_of_a_linear_program(theta):
    # A feature chosen with probability theta is chosen in both halves of a pair with probability theta^2.
    B, ratios = 20, []
    for t in range(2, B + 1):  # tau = (1 + t / B) / 2
        bound = unimodal_factor(theta, (1 + t / B) / 2, B) * theta**2
        if np.isfinite(bound):
            ratios.append(largest_unimodal_tail(theta**2 * B, t, B) / bound)
    assert len(ratios) >= B - 4
    assert ratios == pytest.approx(np.ones(len(ratios)))


def largest_r_concave_tail(mean, least, n, r, rng):
    """Maximise P(X >= least) over r-concave X on 0..n, by a solver from several starts, for each end of the support."""
    best = 0.0
    for end in range(least, n + 1):
        place = np.arange(end + 1)

        def masses(log_f):
            f = np.exp(log_f - log_f.max())
            return f / f.sum()

        def convexity(log_f):
            g = np.exp(np.clip(r * (log_f - log_f[0]), -50, 50))
            return g[:-2] - 2 * g[1:-1] + g[2:]

        constraints = [
            {"type": "ineq", "fun": convexity},
            {"type": "ineq", "fun": lambda log_f, place=place: mean - masses(log_f) @ place},
        ]
        for _ in range(4):
            shift = np.exp(rng.normal(0, 1.5))
            found = minimize(
                lambda log_f, end=end: -masses(log_f)[least : end + 1].sum(),
                np.log(1 + place / shift) / r,
                constraints=constraints,
                method="SLSQP",
                options={"maxiter": 500, "ftol": 1e-12},
            )
            if convexity(found.x).min(initial=0) > -1e-7 and masses(found.x) @ place < mean + 1e-7:
                best = max(best, -found.fun)
    return best


@pytest.mark.parametrize(("eta", "least", "n", "r"), [(0.02, 3, 6, -0.5), (0.1, 4, 6, -0.5), (0.1, 5, 8, -0.25)])
def test_r_concave_bound_is_the_maximum_found_by_a_solver(eta, least, n, r):
    rng = np.random.default_rng(0)
    found = largest_r_concave_tail(eta * n, least, n, r, rng)
    assert found == pytest.approx(r_concave_bound(eta, least, n, r), rel=2e-3)


def test_bounds_fall_with_the_threshold_and_with_assumptions():
    thresholds = np.arange(52, 101) / 100
    by_kind = {
        kind: [expected_false_positives(2000, 20, one, 100, kind) for one in thresholds]
        for kind in ("none", "unimodal", "r-concave")
    }
    for bounds in by_kind.values():
        assert (np.diff(bounds) <= 1e-12).all()
    none, unimodal, r_concave = map(np.array, by_kind.values())
    assert (unimodal <= none + 1e-12).all()
    assert (r_concave <= unimodal + 1e-12).all()


def test_a_threshold_is_rounded_up_to_a_possible_frequency():
    assert expected_false_positives(100, 5, 0.61, 10) == expected_false_positives(100, 5, 0.7, 10)
    assert expected_false_positives(100, 5, 0.7, 10) < expected_false_positives(100, 5, 0.6, 10)
    assert expected_false_positives(100, 5, 0.1 + 0.6, 10) == expected_false_positives(100, 5, 0.7, 10)


def test_where_an_assumption_does_not_help_the_bound_is_the_one_without_it():
    for kind in ("unimodal", "r-concave"):
        assert expected_false_positives(10, 8, 0.6, 100, kind) == expected_false_positives(10, 8, 0.6, 100, "none")
    assert expected_false_positives(10, 8, 0.51, 100, "none") == 10  # no more than all features


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": 0.5}, "threshold must be more than 0.5 and at most 1, got 0.5"),
        ({"threshold": 1.1}, "threshold must be a number from 0 to 1, got 1.1"),
        ({"k": 0}, "k must be an integer >= 1, got 0"),
        ({"n_features": 0}, "n_features must be an integer >= 1, got 0"),
        ({"n_resamples": 1}, "n_resamples must be an integer >= 2, got 1"),
        ({"assumption": "normal"}, "assumption must be 'none', 'unimodal' or 'r-concave', got 'normal'"),
    ],
)
def test_invalid_parameters_are_refused(change, message):
    arguments = {"n_features": 100, "k": 5, "threshold": 0.7} | change
    with pytest.raises(ValueError, match=message):
        expected_false_positives(**arguments)
