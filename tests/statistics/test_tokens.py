from functools import reduce

import numpy as np
import pytest
from brute_force import representativeness, token_counts
from helpers import fold_of, moments_of, part_of, planted
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from ilfs.statistics import TokenCounts, Tokens
from ilfs.statistics.tokens import mean_log_odds

SIX = np.linspace(0, 1, 7)


def counts_of(X, y, weight=None, edges=SIX, **options):
    """Features x tokens."""
    moments = moments_of(X, y, weight)
    return fold_of(X, y, weight)(Tokens(moments, edges, **options)).per_token(moments.total).T


def column(*values):
    return np.array(values, dtype=float)[:, None]


# class a: 0, 2 (mean 1); class b: 4, 10 (mean 7)
TWO_CLASSES = column(0, 2, 4, 10), np.array(list("aabb"))


def test_distance_tokens_by_hand():
    # own and other squared distances: 1, 49; 1, 25; 9, 9; 9, 81. Fractions 49/50, 25/26, 1/2, 9/10, times six:
    # 5.88, 5.77, 3 (on the boundary: the upper token), 5.4
    options = {"evidence": "distance", "leave_one_out": False, "balanced": False}
    np.testing.assert_array_equal(counts_of(*TWO_CLASSES, **options), [[0, 0, 0, 1, 0, 3]])


def test_distance_tokens_without_the_sample_by_hand():
    # own mean is the other sample of the class: 4, 49; 4, 25; 36, 9; 36, 81. Fractions 49/53, 25/29, 1/5, 9/13,
    # times six: 5.5, 5.2, 1.2, 4.2
    options = {"evidence": "distance", "leave_one_out": True, "balanced": False}
    np.testing.assert_array_equal(counts_of(*TWO_CLASSES, **options), [[0, 1, 0, 0, 1, 2]])


def test_posterior_tokens_by_hand():
    # variance (1 + 1 + 9 + 9) / (4 - 2) = 10; log odds 48/20, 24/20, 0, 72/20; posteriors .92, .77, 1/2, .97
    options = {"evidence": "posterior", "leave_one_out": False, "balanced": False}
    np.testing.assert_array_equal(counts_of(*TWO_CLASSES, **options), [[0, 0, 0, 1, 1, 2]])


def test_posterior_tokens_without_the_sample_by_hand():
    # variance 10 as before; log odds 45/20, 21/20, -27/20, 45/20; posteriors .90, .74, .21, .90
    options = {"evidence": "posterior", "leave_one_out": True, "balanced": False}
    np.testing.assert_array_equal(counts_of(*TWO_CLASSES, **options), [[0, 1, 0, 0, 1, 2]])


def test_balanced_tokens_by_hand():
    # class a: 0, 1, 2 with fractions 49/50, 1, 25/26; class b: 4, 10 with 1/2, 9/10; weights 5/6 and 5/4
    X, y = column(0, 1, 2, 4, 10), np.array(list("aaabb"))
    options = {"evidence": "distance", "leave_one_out": False, "balanced": True}
    np.testing.assert_allclose(counts_of(X, y, **options), [[0, 0, 0, 1.25, 0, 3.75]])


def test_tokens_of_three_classes_by_hand():
    # means 1, 5, 11; own: 1, 1, 1, 1, 9, 9; mean of the others: (25 + 121) / 2 = 73, (9 + 81) / 2 = 45,
    # (9 + 49) / 2 = 29, (25 + 25) / 2 = 25, (49 + 9) / 2 = 29, (169 + 81) / 2 = 125. The least fraction is 29/38 = .76
    X, y = column(0, 2, 4, 6, 8, 14), np.array([0, 0, 1, 1, 2, 2])
    options = {"evidence": "distance", "leave_one_out": False, "balanced": False}
    np.testing.assert_array_equal(counts_of(X, y, **options), [[0, 0, 0, 0, 1, 5]])


@pytest.mark.parametrize("convert", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("evidence", ["distance", "posterior"])
def test_evidence_on_a_boundary_belongs_to_the_upper_token(evidence, convert):
    # both classes hold 0 and 2 equally often: both means are 1, every sample is as near to the one as to the other
    X, y = column(*[0, 2] * 12), np.repeat([0, 1, 0], 8)
    options = {"evidence": evidence, "leave_one_out": False, "balanced": False}
    np.testing.assert_array_equal(counts_of(convert(X), y, **options), [[0, 0, 0, 24, 0, 0]])


@pytest.mark.parametrize("convert", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("evidence", ["distance", "posterior"])
def test_evidence_of_one_belongs_to_the_last_token(evidence, convert):
    X, y = column(*[1, 5, 0] * 5), np.arange(15) % 3
    np.testing.assert_allclose(counts_of(convert(X), y, evidence=evidence), [[0, 0, 0, 0, 0, 15]])


@pytest.mark.parametrize("evidence", ["distance", "posterior"])
@pytest.mark.parametrize("leave_one_out", [True, False])
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize(("n_classes", "n_tokens"), [(2, 6), (2, 100), (4, 2), (4, 13)])
def test_tokens_are_a_histogram_of_the_definition(evidence, leave_one_out, balanced, n_classes, n_tokens):
    X, y = planted(n_samples=50, n_features=4, n_informative=2, n_classes=n_classes, shift=1)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=50)
    edges = np.linspace(0, 1, n_tokens + 1)
    rho = representativeness(X, y, weight, evidence=evidence, leave_one_out=leave_one_out)
    np.testing.assert_allclose(
        counts_of(X, y, weight, edges, evidence=evidence, leave_one_out=leave_one_out, balanced=balanced),
        token_counts(rho, y, weight, edges=edges, balanced=balanced),
        atol=1e-9,
    )


@pytest.mark.parametrize("evidence", ["distance", "posterior"])
def test_tokens_with_missing_values_are_a_histogram_of_the_definition(evidence):
    X, y = planted(n_samples=60, n_features=5, n_informative=3, n_classes=3, shift=1)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    rho = representativeness(X, y, evidence=evidence)
    expected = token_counts(rho, y, edges=SIX)
    np.testing.assert_allclose(counts_of(X, y, evidence=evidence), expected, atol=1e-9)
    np.testing.assert_allclose(counts_of(sparse.csc_array(X), y, evidence=evidence), expected, atol=1e-9)


@pytest.mark.parametrize("evidence", ["distance", "posterior"])
def test_tokens_of_sparse_columns_are_a_histogram_of_the_definition(evidence):
    X, y = planted(n_samples=60, n_features=5, n_informative=3, n_classes=3, shift=1)
    X[np.random.default_rng(1).random(X.shape) < 0.6] = 0.0
    weight = np.random.default_rng(2).integers(1, 4, size=60).astype(float)
    rho = representativeness(X, y, weight, evidence=evidence)
    expected = token_counts(rho, y, weight, edges=SIX)
    np.testing.assert_allclose(counts_of(sparse.csc_array(X), y, weight, evidence=evidence), expected, atol=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.sampled_from(["distance", "posterior"]), st.booleans())
def test_parts_in_any_order_merge_to_the_whole(seed, n_parts, evidence, is_sparse):
    rng = np.random.default_rng(seed)
    X, y = planted(n_samples=int(rng.integers(8, 40)), n_features=4, n_informative=2, n_classes=3, seed=seed)
    X[rng.random(X.shape) < 0.1] = np.nan
    X = sparse.csr_array(X) if is_sparse else X
    weight = rng.integers(1, 4, size=len(y)).astype(float)
    part = rng.integers(n_parts, size=len(y))
    count = Tokens(moments_of(X, y, weight), SIX, evidence=evidence, balanced=False)
    parts = [part_of(X, y, np.flatnonzero(part == i), weight)(count) for i in np.unique(part)]
    merged = reduce(TokenCounts.merge, [parts[i] for i in rng.permutation(len(parts))])
    np.testing.assert_array_equal(merged.at_least, fold_of(X, y, weight)(count).at_least)


def test_counts_of_a_feature_add_up_to_its_weight():
    X, y = planted(n_samples=60, n_features=5)
    X[:10, 2] = np.nan
    np.testing.assert_allclose(counts_of(X, y).sum(axis=1), [60, 60, 50, 60, 60])


def test_balanced_classes_have_the_same_weight():
    X = np.r_[np.zeros(30), np.full(10, 100.0)][:, None] + np.random.default_rng(0).normal(size=(40, 1))
    X[30:] += np.where(np.arange(10) % 2, 0, -200)[:, None]
    y = np.r_[np.zeros(30, int), np.ones(10, int)]
    own = np.histogram(representativeness(X, y)[y == 1, 0], SIX)[0] * 40 / (2 * 10)
    other = np.histogram(representativeness(X, y)[y == 0, 0], SIX)[0] * 40 / (2 * 30)
    np.testing.assert_allclose(counts_of(X, y)[0], own + other)
    assert own.sum() == pytest.approx(other.sum())


@pytest.mark.parametrize("leave_one_out", [True, False])
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_mean_log_odds_is_the_mean_over_values(n_classes, balanced, leave_one_out):
    X, y = planted(n_samples=50, n_features=4, n_informative=2, n_classes=n_classes, shift=1)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    rho = representativeness(X, y, leave_one_out=leave_one_out)
    odds = np.log(rho / (1 - rho))
    expected = []
    for f in range(4):
        here = ~np.isnan(X[:, f])
        sizes = np.bincount(y[here], minlength=n_classes)
        w = 1 / sizes[y[here]] if balanced else np.ones(here.sum())
        expected.append(np.average(odds[here, f], weights=w))
    np.testing.assert_allclose(mean_log_odds(moments_of(X, y), leave_one_out, balanced), expected, rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e5, 1e9])
def test_a_column_that_is_the_label_is_decisive_at_any_scale(n_classes, scale):
    y = np.arange(24) % n_classes
    counts = counts_of(column(*(scale * (y + y**2))), y)
    np.testing.assert_allclose(counts, [[0, 0, 0, 0, 0, 24]])


def test_mean_log_odds_of_a_decisive_column_with_an_unobserved_class_is_not_nan():
    y = np.arange(24) % 4
    moments = moments_of(column(*np.where(y == 3, np.nan, 1e5 * y**2)), y)
    assert not np.isnan(mean_log_odds(moments, leave_one_out=True, balanced=True)).any()
