"""The page "The paper, item by item" names things that exist; and items of the paper that no other test checks."""

import re
from importlib import import_module
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from brute_force import paper_em
from helpers import planted

from ilfs import ILFS
from ilfs.benchmark import SUITES, BenchmarkMethod, Job, Protocol
from ilfs.benchmark.evaluation import experiments
from ilfs.datasets import Dataset
from ilfs.solvers import paths

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "audit.md"
P = np.array([0.9, 0.5, 0.2])  # relevance of three features


def resolved(name):
    """Return the object with a dotted name: the longest prefix that is a module, then attributes."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def table_rows():
    """Rows of the tables of the page, without headers."""
    rows = [line.strip().strip("|").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    return [row for row in rows if row[0].strip() != "item"]


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not in this folder")
class TestPage:
    def test_every_dotted_name_exists(self):
        names = re.findall(r"`(ilfs\.[\w.]+)", PAGE.read_text())
        assert len(names) > 50
        for name in names:
            resolved(name)

    def test_every_path_exists(self):
        named = re.findall(r"`((?:tests|docs|src|benchmarks)/[\w./]+)`", PAGE.read_text())
        assert len(named) > 50
        assert [path for path in named if not (ROOT / path).exists()] == []

    def test_every_row_has_four_columns_and_a_verdict(self):
        rows = table_rows()
        assert len(rows) > 50
        assert [row for row in rows if len(row) != 4 or not all(column.strip() for column in row)] == []
        assert {re.match(r"\W*(\w+)", row[3])[1] for row in rows} == {"works", "differs", "open"}

    def test_the_counts_of_verdicts_are_those_of_the_tables(self):
        verdicts = [re.match(r"\W*(\w+)", row[3])[1] for row in table_rows()]
        numbers = [verdicts.count(one) for one in ("works", "differs", "open")]
        stated = re.search(r"Of (\d+) items, (\d+) work, (\d+) differ and (\d+) are open", PAGE.read_text())
        assert list(map(int, stated.groups())) == [len(verdicts), *numbers]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_formula_of_the_paper_in_its_own_notation_gives_the_scores(n_classes):
    X, y = planted(n_samples=60, n_features=12, n_classes=n_classes)
    Y = np.eye(n_classes)[y].T  # 1-of-K, a column for each sample
    F = []
    for x in X.T:
        mu, sigma = (np.array([f(x[y == k]) for k in range(n_classes)]) for f in (np.mean, np.std))
        Phi = (x[:, None] - mu) ** 2 / (sigma**2).sum()
        Phi /= Phi.sum(axis=1, keepdims=True)
        pi = np.diag(Phi @ Y)
        F.append(np.ceil(6 * pi).clip(1, 6))  # six intervals of [0, 1]
    Q = np.array([[np.sum(f == t) for t in range(1, 7)] for f in F])
    p, tokens, weights = paper_em(Q, n_steps=1)
    A = np.outer(p, p)
    r = 0.9 / np.linalg.eigvalsh(A).max()
    C = np.linalg.inv(np.eye(12) - r * A) - np.eye(12)
    selector = ILFS.paper(evidence="distance_sum", literal_sign=True).fit(X, y)
    np.testing.assert_array_equal(selector.token_counts_, Q)
    np.testing.assert_allclose(selector.topic_tokens_, tokens, rtol=1e-9)
    np.testing.assert_allclose(selector.topic_weights_, weights, rtol=1e-9)
    np.testing.assert_allclose(selector.scores_, C @ np.ones(12), rtol=1e-9)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_the_sum_over_all_paths_of_a_length_is_a_power_of_the_matrix(length):
    A = paths.adjacency(P)
    C = np.zeros((3, 3))
    for path in product(range(3), repeat=length + 1):  # nodes may be visited again
        C[path[0], path[-1]] += np.prod([A[i, j] for i, j in pairwise(path)])
    np.testing.assert_allclose(C, np.linalg.matrix_power(A, length))


class TestAbsorbingChain:
    """The canonical form of the paper's Markov chain, with one absorbing state, which comes first."""

    A = paths.path_weight(P, 0.8, "rows") * paths.adjacency(P)
    R = 1.0 - A.sum(axis=1, keepdims=True)
    T = np.block([[np.ones((1, 1)), np.zeros((1, 3))], [R, A]])

    def test_rows_are_probabilities(self):
        assert (self.T >= 0).all()
        np.testing.assert_allclose(self.T.sum(axis=1), 1)

    @pytest.mark.parametrize("length", [2, 3, 7])
    def test_powers_have_the_papers_blocks(self, length):
        series = sum(np.linalg.matrix_power(self.A, k) for k in range(length))
        power = np.linalg.matrix_power(self.T, length)
        np.testing.assert_allclose(power[1:, :1], series @ self.R)
        np.testing.assert_allclose(power[1:, 1:], np.linalg.matrix_power(self.A, length))

    def test_every_walk_is_absorbed_in_the_end(self):
        power = np.linalg.matrix_power(self.T, 2000)
        np.testing.assert_allclose(power[1:], [[1, 0, 0, 0]] * 3, atol=1e-12)

    def test_the_fundamental_matrix_has_the_expected_visits(self):
        by_period = sum(np.linalg.matrix_power(self.T, k)[1:, 1:] for k in range(2000))
        ours = np.column_stack([paths.fundamental_product(P, one, 0.8, "rows") for one in np.eye(3)])
        np.testing.assert_allclose(ours, by_period)
        np.testing.assert_allclose(ours @ self.R, np.ones((3, 1)))  # C R: the chance to be absorbed


@pytest.mark.parametrize("name", ["paper", "deep"])
def test_inf_fs_has_the_alpha_that_the_paper_states(name):
    (method,) = (one for one in SUITES[name].methods if one.name == "inf_fs")
    assert method.make().alpha == 0.2


def test_the_timing_job_is_that_of_table_2():
    job = SUITES["timing"].protocol
    assert (job.rows, job.columns) == (10_000, 5_000)
    X, y = experiments.uniform_table(200, 50, job.seed)
    assert X.shape == (200, 50)
    assert 0 <= X.min() < 1 < 999 < X.max() <= 1000
    np.testing.assert_allclose(np.quantile(X, [0.25, 0.5, 0.75]), [250, 500, 750], atol=15)
    assert set(y) == {0, 1}


def test_difficult_samples_count_neither_for_training_nor_for_testing(monkeypatch):
    rng = np.random.default_rng(0)
    Y = (rng.uniform(size=(90, 2)) < 0.5).astype(int)
    Y[::5, 0] = -1  # difficult for the first class only
    X = rng.normal(size=(90, 6)) + Y @ rng.normal(size=(2, 6))
    job = Job("classes", "made", "of it", BenchmarkMethod("fisher"), 0, Protocol(Cs=(0.1,)))

    def precision(X):
        table = Dataset("made", X, Y, ("a", "b"), known_checksum="of it")
        monkeypatch.setattr(experiments, "_table", lambda *_: table)
        found = [one for one in experiments.compute(job).measurements if one.metric in ("ap", "ap_2007", "ap_2012")]
        return [[one.value for one in found if one.of_class == k] for k in (0, 1)]

    before, after = precision(X), precision(np.where(Y[:, :1] < 0, 50 * rng.normal(size=X.shape), X))
    assert len(before[0]) >= 3
    assert before[0] == after[0]
    assert before[1] != after[1]
