"""Simulated cells: distributions, markers, copies, donors."""

from importlib.util import find_spec

import numpy as np
import pytest

from ilfs.datasets import make_cells
from ilfs.datasets.cells import overdispersed

pytestmark = pytest.mark.skipif(find_spec("anndata") is None, reason="anndata is not installed")


def test_counts_are_negative_binomial():
    rng = np.random.default_rng(0)
    counts = rng.poisson(overdispersed(np.full(200_000, 4.0), rng))
    assert counts.mean() == pytest.approx(4.0, rel=0.01)
    assert counts.var() == pytest.approx(4.0 + 0.3 * 16.0, rel=0.02)


def test_markers_are_high_in_their_type_and_copies_repeat_them():
    adata = make_cells(3000, 60)
    counts, kind = adata.layers["counts"].toarray(), np.asarray(adata.obs["cell_type"])
    for gene, owner in adata.var["marker_of"].items():
        if owner:
            inside = np.isin(kind, owner.split(" and "))
            of_gene = counts[:, adata.var_names.get_loc(gene)]
            assert of_gene[inside].mean() > 3 * of_gene[~inside].mean()
    copy, original = (counts[:, adata.var_names.get_loc(name)] for name in ("MO1b", "MO1"))
    assert (copy <= original).all()
    assert copy.sum() == pytest.approx(0.9 * original.sum(), rel=0.05)


def test_values_are_logarithms_of_counts_per_ten_thousand():
    adata = make_cells(50, 60)
    counts = adata.layers["counts"].toarray()
    expected = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
    assert np.allclose(adata.X.toarray(), expected, rtol=1e-5)


def test_without_effects_there_are_none():
    adata = make_cells(4000, 60, marker_fold=1.0, donor_effect=0.0)
    counts, kind = adata.layers["counts"].toarray(), np.asarray(adata.obs["cell_type"])
    library = counts.sum(axis=1).mean()
    for group in np.unique(kind):
        inside = kind == group
        difference = counts[inside].mean(axis=0) - counts[~inside].mean(axis=0)
        error = np.sqrt(counts.var(axis=0) * (1 / inside.sum() + 1 / (~inside).sum()))
        assert (np.abs(difference) < 5 * error).all()
    assert library > 0


def test_the_seed_decides():
    one, same, other = make_cells(50, 60), make_cells(50, 60), make_cells(50, 60, random_state=1)
    assert (one.X != same.X).nnz == 0
    assert one.X.shape != other.X.shape or (one.X != other.X).nnz > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_genes": 49}, "n_genes must be an integer >= 50, got 49"),
        ({"n_cells": 1}, "n_cells must be an integer >= 2, got 1"),
        ({"n_donors": 0}, "n_donors must be an integer >= 1, got 0"),
        ({"marker_fold": 0}, "marker_fold must be a number > 0, got 0"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        make_cells(**options)
