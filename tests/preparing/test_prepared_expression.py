"""Real expression data, written as biologists have them: genes in rows, and a sample sheet."""

import os

import numpy as np
import pytest
from prepared_tables import write

import ilfs
from ilfs.datasets import load
from ilfs.preparing import prepare

pytestmark = pytest.mark.skipif("ILFS_DATA" not in os.environ, reason="the environment variable ILFS_DATA is not set")


@pytest.fixture(params=["colon", "srbct"])
def files(request, tmp_path):
    """Write a data set as a plain table, and as a transposed one with a sheet in another order."""
    table = load(request.param)
    y = np.array(table.class_names)[table.y]
    names = [f"gene {j}" for j in range(table.n_features)] if table.feature_names is None else list(table.feature_names)
    X, samples = table.X.tolist(), [f"GSM{1000 + i}" for i in range(table.n_samples)]
    plain = write(
        tmp_path / "plain.tsv",
        ["sample", "kind", *names],
        [[s, k, *x] for s, k, x in zip(samples, y, X, strict=True)],
        "\t",
    )
    columns = zip(names, *X, strict=True)
    turned = write(tmp_path / "expression.tsv", ["gene", *samples], list(columns), "\t")
    order = np.random.default_rng(0).permutation(table.n_samples)
    sheet = write(tmp_path / "sheet.csv", ["age", "gsm", "kind"], [[30 + i % 9, samples[i], y[i]] for i in order])
    return plain, turned, sheet


@pytest.mark.parametrize("method", [ilfs.ILFS, ilfs.FisherScore])
def test_genes_in_rows_are_ranked_as_in_the_plain_table(files, method):
    plain, turned, sheet = files
    tables = prepare(plain, target="kind"), prepare(turned, samples=sheet, target="kind")
    first, second = (method().fit(table.source) for table in tables)
    np.testing.assert_array_equal(first.order_, second.order_)
    np.testing.assert_allclose(first.scores_, second.scores_, rtol=1e-12)
    assert first.feature_names_in_.tolist() == second.feature_names_in_.tolist()
    assert tables[0].ids.tolist() == tables[1].ids.tolist()
