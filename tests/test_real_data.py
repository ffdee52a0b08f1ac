"""Real tables, read from the folder that the environment variable ILFS_DATA names."""

import numpy as np
import pytest
from helpers import DATA, NO_DATA, load
from scipy import sparse
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ilfs import ILFS

pytestmark = pytest.mark.skipif(not DATA, reason=NO_DATA)


def f_statistic(X, y):
    """Of every column, missing cells at the mean of the others."""
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    return f_classif(X, y)[0]


@pytest.mark.parametrize(
    ("name", "times"),
    [("colon", 10), ("leukemia", 10), ("prostate", 10), ("lymphoma", 10), ("srbct", 5), ("glioma", 3), ("tox_171", 3)],
)
def test_the_best_genes_tell_the_classes_apart(name, times):
    X, y = load(name)
    F = f_statistic(X, y)
    best = ILFS(redundancy=None).fit(X, y).order_[:50]
    assert np.median(F[best]) > times * np.median(F)


@pytest.mark.parametrize(
    "parameters", [{"intervals": "pooled"}, {"topics": "anchored"}, {"evidence": "distance"}], ids=str
)
def test_every_variant_finds_telling_genes_of_colon(parameters):
    X, y = load("colon")
    F = f_statistic(X, y)
    assert np.median(F[ILFS(redundancy=None, **parameters).fit(X, y).order_[:50]]) > 10 * np.median(F)


def test_likelihood_never_falls_on_colon():
    X, y = load("colon")
    for selector in (ILFS(tol=1e-9), ILFS.paper(tol=1e-3)):
        loglik = selector.fit(X, y).loglik_
        assert (np.diff(loglik) >= -1e-12 * np.abs(loglik[0])).all()


def test_missing_cells_of_lymphoma_are_left_out():
    X, y = load("lymphoma")
    missing = np.isnan(X)
    assert missing.sum() > 5000
    selector = ILFS().fit(X, y)
    assert np.isfinite(selector.scores_).all()
    np.testing.assert_allclose(selector.token_counts_.sum(axis=1), (~missing).sum(axis=0), rtol=1e-12)
    full = np.flatnonzero(~missing.any(axis=0))
    np.testing.assert_array_equal(ILFS().fit(X[:, full], y).token_counts_, selector.token_counts_[full])


def test_words_of_dexter_are_ranked_without_making_it_dense(monkeypatch):
    X, y = load("dexter")
    used = X.count_nonzero(axis=0) > 0
    apart = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    for kind in (sparse.csr_array, sparse.csc_array):
        monkeypatch.setattr(kind, "toarray", None)
    order = ILFS(redundancy=None).fit(X, y).order_
    assert not used[order[used.sum() :]].any()
    assert np.median(apart[order[:50]]) > 20 * np.median(apart[used])


def test_dexter_sparse_equals_dense_columns():
    X, y = load("dexter")
    some = np.flatnonzero(X.count_nonzero(axis=0) > 5)[:300]
    np.testing.assert_allclose(
        ILFS().fit(X[:, some], y).token_counts_, ILFS().fit(X[:, some].toarray(), y).token_counts_, atol=1e-9
    )


@pytest.mark.parametrize("name", ["colon", "leukemia", "prostate"])
def test_fifty_genes_classify_better_than_the_fifty_last(name):
    X, y = load(name)
    X = X.astype(np.float64)
    order = ILFS().fit(X, y).order_
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01))
    best, last = (
        cross_val_score(model, X[:, genes], y, cv=3, scoring="roc_auc").mean() for genes in (order[:50], order[-50:])
    )
    assert best > 0.85
    assert best > last + 0.1


def test_twenty_classes_of_coil20():
    X, y = load("coil20")
    X = X[:, X.std(axis=0) > 0]
    selector = ILFS(redundancy=None).fit(X, y)
    F = f_statistic(X, y)
    assert selector.classes_.size == 20
    assert np.median(F[selector.order_[:50]]) > 2 * np.median(F)
