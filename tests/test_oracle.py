"""Comparisons of ILFS with the toolbox of the paper's authors; its recorded results are in the folder ILFS_ORACLE."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from ilfs import ILFS
from ilfs.solvers.paths import infinite_path_scores

FOLDER = os.environ.get("ILFS_ORACLE")
pytestmark = pytest.mark.skipif(not FOLDER, reason="the environment variable ILFS_ORACLE names no folder of records")


def load(name, configuration):
    table, records = Path(FOLDER) / f"{name}.npz", Path(FOLDER) / f"{name}.json"
    if not (table.is_file() and records.is_file()):
        pytest.skip(f"no {name} in the folder that ILFS_ORACLE names")
    record = json.loads(records.read_text())[configuration]
    with np.load(table, allow_pickle=False) as parts:
        return parts["X"], parts["y_binary"], np.array(record["weights"])


def relevance_as_in_version_5_2(counts):
    """Return P(z1|f) from token counts of pi (small is good), with the start, ramps and stop of version 5.2."""
    ramp = np.linspace(5000, 1, counts.shape[1])
    relevancy, irrelevancy = ramp / ramp.sum(), ramp[::-1] / ramp.sum()
    p = counts[:, -3:].sum(axis=1) / counts.sum(axis=1)
    before, loglik = np.inf, -999.0
    while abs(loglik - before) >= 1e-6:
        one, two = np.outer(p, relevancy), np.outer(1 - p, irrelevancy)
        before, loglik = loglik, np.sum(counts * np.log(one + two))
        if abs(loglik - before) >= 1e-6:
            p = (counts * one / (one + two)).sum(axis=1) / counts.sum(axis=1)
    return p


@pytest.mark.parametrize("name", ["syn2c_60x40", "allaml_72x400"])
def test_our_tokens_and_path_sum_reproduce_the_weights_of_version_5_2(name):
    X, y, weights = load(name, "ilfs_v52_T6")
    # Six edges of the toolbox make five intervals of pi = 1 - rho; the sixth token is pi = 1.
    counts = ILFS.paper(n_tokens=5).fit(X, y).token_counts_[:, ::-1]
    p = relevance_as_in_version_5_2(np.column_stack([counts, np.zeros(len(counts))]))
    damping = np.ceil(p.max() * p.sum()) / p.size
    np.testing.assert_allclose(infinite_path_scores(p, damping), weights, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["syn2c_60x40", "syn3c_90x30", "allaml_72x400", "colon_62x300"])
def test_the_inverted_graph_of_version_6_2_equals_our_closed_form(name):
    # Path sums do not depend on the scale of the relevance. The weights are a rescaled relevance, so they are their own
    # path sums.
    weights = load(name, "ilfs_v62_T6")[2]
    np.testing.assert_allclose(infinite_path_scores(weights, 0.99), weights, rtol=1e-9)
