"""Tests on real data sets, read from the folder ILFS_DATA."""

import numpy as np
import pytest
from helpers import DATA, NO_DATA, load
from metamorphic import fitted
from scipy import sparse
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_contract import name_of

from ilfs import FSV, ILFS, FisherScore, HallCFS, MutualInformation, Novelty

pytestmark = pytest.mark.skipif(not DATA, reason=NO_DATA)


def filled(X):
    """Replace missing values by the mean of their column."""
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def f_statistic(X, y):
    """Return the F statistic of every column."""
    return f_classif(filled(X), y)[0]


def mean_correlation(X):
    """Return the mean absolute correlation of two different columns."""
    n = X.shape[1]
    return (np.abs(np.corrcoef(filled(X).T)).sum() - n) / (n * (n - 1))


# factors by which the median F statistic of the best genes must exceed that of all genes
TIMES = {"colon": 10, "leukemia": 10, "prostate": 10, "lymphoma": 10, "srbct": 5, "glioma": 3, "tox_171": 3}


@pytest.mark.parametrize(("name", "times"), TIMES.items())
@pytest.mark.parametrize(("redundancy", "n_best"), [(None, 50), ("novelty", 10), ("gain", 10)])
def test_the_best_genes_have_large_f_statistics(name, times, redundancy, n_best):
    X, y = load(name)
    F = f_statistic(X, y)
    best = ILFS(redundancy=redundancy).fit(X, y).order_[:n_best]
    assert np.median(F[best]) > times * np.median(F)


@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize("redundancy", ["novelty", "gain"])
def test_picked_genes_are_less_correlated_than_the_most_relevant_ones(name, redundancy):
    X, y = load(name)
    one_by_one, together = (ILFS(redundancy=how).fit(X, y).order_[:50] for how in (None, redundancy))
    assert mean_correlation(X[:, together]) < 0.9 * mean_correlation(X[:, one_by_one])


@pytest.mark.parametrize(
    "parameters", [{"intervals": "pooled"}, {"topics": "anchored"}, {"evidence": "distance"}], ids=str
)
def test_every_variant_finds_genes_with_large_f_statistics_in_colon(parameters):
    X, y = load("colon")
    F = f_statistic(X, y)
    assert np.median(F[ILFS(redundancy=None, **parameters).fit(X, y).order_[:50]]) > 10 * np.median(F)


@pytest.mark.filterwarnings("ignore:the topic relevancy has lost")
def test_the_likelihood_never_falls_on_colon():
    X, y = load("colon")
    for selector in (ILFS(tol=1e-9), ILFS.paper(max_iter=2000, tol=1e-3)):
        loglik = selector.fit(X, y).loglik_
        assert (np.diff(loglik) >= -1e-12 * np.abs(loglik[0])).all()


def test_missing_values_of_lymphoma_are_left_out():
    X, y = load("lymphoma")
    missing = np.isnan(X)
    assert missing.sum() > 5000
    selector = ILFS().fit(X, y)
    assert np.isfinite(selector.scores_).all()
    np.testing.assert_allclose(selector.token_counts_.sum(axis=1), (~missing).sum(axis=0), rtol=1e-12)
    full = np.flatnonzero(~missing.any(axis=0))
    np.testing.assert_array_equal(ILFS().fit(X[:, full], y).token_counts_, selector.token_counts_[full])


def test_words_of_dexter_are_ranked_without_a_dense_copy(monkeypatch):
    X, y = load("dexter")
    used = (X != 0).sum(axis=0) > 0
    apart = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    for kind in (sparse.csr_array, sparse.csc_array):
        monkeypatch.setattr(kind, "toarray", None)
    order = ILFS(redundancy=None).fit(X, y).order_
    assert not used[order[used.sum() :]].any()
    assert np.median(apart[order[:50]]) > 20 * np.median(apart[used])


def test_sparse_and_dense_columns_of_dexter_have_the_same_tokens():
    X, y = load("dexter")
    some = np.flatnonzero((X != 0).sum(axis=0) > 5)[:300]
    np.testing.assert_allclose(
        ILFS().fit(X[:, some], y).token_counts_, ILFS().fit(X[:, some].toarray(), y).token_counts_, atol=1e-9
    )


@pytest.mark.parametrize("redundancy", ["novelty", "gain"])
def test_the_same_words_of_dexter_are_picked_from_sparse_and_dense_input(redundancy):
    X, y = load("dexter")
    some = np.flatnonzero((X != 0).sum(axis=0) > 5)[:300]
    one, two = (ILFS(redundancy=redundancy).fit(table, y) for table in (X[:, some], X[:, some].toarray()))
    np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(one.order_[:200], two.order_[:200])


@pytest.mark.parametrize("name", ["colon", "leukemia", "prostate"])
def test_the_best_fifty_genes_classify_better_than_the_last_fifty(name):
    X, y = load(name)
    X = X.astype(np.float64)
    order = ILFS().fit(X, y).order_
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    best, last = (
        cross_val_score(model, X[:, genes], y, cv=3, scoring="roc_auc").mean() for genes in (order[:50], order[-50:])
    )
    assert best > 0.85
    assert best > last + 0.1


def test_the_best_pixels_for_the_twenty_classes_of_coil20_have_large_f_statistics():
    X, y = load("coil20")
    X = X[:, X.std(axis=0) > 0]
    selector = ILFS(redundancy=None).fit(X, y)
    F = f_statistic(X, y)
    assert selector.classes_.size == 20
    assert np.median(F[selector.order_[:50]]) > 2 * np.median(F)


@pytest.mark.slow
def test_picked_pixels_of_coil20_are_less_correlated_and_classify_better():
    X, y = load("coil20")
    one_by_one, by_lines, together = (
        ILFS(**options).fit(X, y).order_[:50] for options in ({"redundancy": None}, {"shapes": False}, {})
    )
    # Shapes say something about the class that correlations do not see, so only the picks by lines avoid them.
    assert mean_correlation(X[:, by_lines]) < 0.75 * mean_correlation(X[:, one_by_one])
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    few, plain = (cross_val_score(model, X[:, pixels], y, cv=3).mean() for pixels in (together, one_by_one))
    assert few > plain + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["colon", "srbct", "gina", "usps", "polarity", "dexter"])
@pytest.mark.parametrize(
    "selector",
    [
        ILFS(),
        ILFS(redundancy="novelty"),
        ILFS(redundancy=None),
        ILFS.paper(),
        FisherScore(),
        MutualInformation(),
        Novelty(FisherScore()),
        HallCFS(),
        FSV(),
    ],
    ids=name_of,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_labels_and_storage_do_not_change_the_order_of_real_features(name, selector):
    X, y = load(name)
    classes, y = np.unique(y, return_inverse=True)
    rows = np.random.default_rng(0).permutation(len(y))
    order = fitted(selector, X, y).order_
    np.testing.assert_array_equal(fitted(selector, X[rows], y[rows]).order_, order)
    np.testing.assert_array_equal(fitted(selector, X, classes.size - y).order_, order)
    other = X.toarray() if sparse.issparse(X) else np.asfortranarray(X)
    np.testing.assert_array_equal(fitted(selector, other, y).order_, order)
