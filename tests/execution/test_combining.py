"""Requests for several labels of sparse columns are answered by one pass over the values."""

import numpy as np
import pytest
from scipy import sparse

from ilfs import ILFS
from ilfs.execution import Read, fold_of
from ilfs.execution.combining import combine, to_each
from ilfs.sources import Batch, BatchReader, BatchSource, table_source
from ilfs.statistics import Moments, Profile, Shapes, Tokens
from ilfs.statistics.many import ManyShapes, ManyTokens

N_ROWS, N_LABELS = 900, 5
rng = np.random.default_rng(3)
Y = (np.arange(N_ROWS)[:, None] % N_LABELS == np.arange(N_LABELS)).astype(int)
X = sparse.csr_array(rng.poisson(0.4, (N_ROWS, 30)) * (1.0 + Y @ rng.random((N_LABELS, 30))))
WEIGHT = (np.arange(N_ROWS) % 7 > 0).astype(float)


class Reader(BatchReader):
    """Reader of sparse rows in batches of 100."""

    n_features, is_sparse, has_labels, dtype = X.shape[1], True, True, X.dtype

    def batches(self, columns, max_rows):
        for start in range(0, N_ROWS, 100):
            rows = X[start : start + 100]
            yield Batch(rows if columns is None else rows[:, columns], Y[start : start + 100], None, rows.shape[0])


def engines(weight=None):
    memory, dense = table_source(X, Y, weight), table_source(X.toarray(), Y, weight)
    return {"memory": fold_of(memory), "dense": fold_of(dense), "stream": fold_of(BatchSource(Reader()))}


def check_equal(one, other):
    assert type(one) is type(other)
    for name, values in vars(one).items():
        np.testing.assert_allclose(values, getattr(other, name), rtol=1e-10, atol=1e-9)


def requests(fold):
    moments = [profile.moments for profile in fold.read([Read(Profile(), labelling=k) for k in range(N_LABELS)])]
    each = [(Tokens(one, np.linspace(0, 1, 7)), Shapes.from_moments(one)) for one in moments]
    return [Read(one, labelling=k) for k, pair in enumerate(each) for one in pair]


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["weight 1", "left out"])
def test_answers_are_those_of_dense_columns(weight):
    folds = engines(weight)
    reads = requests(folds["dense"])
    for one, other in zip(folds["memory"].read(reads), folds["dense"].read(reads), strict=True):
        check_equal(one, other)


def test_a_stream_answers_as_a_table_in_memory():
    folds = engines()
    reads = requests(folds["memory"])
    for one, other in zip(folds["stream"].read(reads), folds["memory"].read(reads), strict=True):
        check_equal(one, other)


def test_requests_for_labels_are_combined_by_kind():
    reads = requests(engines()["memory"])
    combined, parts = combine(reads)
    assert [type(read.description) for read in combined] == [ManyTokens, ManyShapes]
    assert all(read.labelling == (0, 1, 2, 3, 4) for read in combined)
    assert parts[:4] == [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_tokens_of_one_labelling_differ_in_edges_and_evidence():
    folds = engines()
    profile = next(iter(folds["dense"].read([Read(Profile(), labelling=0)])))
    scales = [(n, evidence) for evidence in ("posterior", "distance") for n in (4, 6, 12)]
    each = [Tokens(profile.moments, np.linspace(0, 1, n + 1), evidence) for n, evidence in scales]
    reads = [Read(one, labelling=k) for one in each for k in (0, 0, 0)]
    combined, _ = combine(reads)
    assert sorted(type(read.description).__name__ for read in combined) == ["ManyTokens"] * len(scales)
    for fold in folds.values():
        answers = list(fold.read([Read(one, labelling=0) for one in each]))
        for one, answer in zip(each, answers, strict=True):
            check_equal(answer, next(iter(folds["dense"].read([Read(one, labelling=0)]))))
    assert combine([Read(one, labelling=0) for one in each])[1] == [(number, None) for number in range(len(each))]


def test_other_requests_stay_as_they_are():
    several = [Read(Moments(), labelling=(1, 2, 3))] * 3
    columns = [Read(Moments(), np.arange(2), k) for k in range(3)]
    shapes = Shapes(np.zeros(30), np.ones(30))
    no_labels, two = [Read(Moments(), labelling=None)] * 3, [Read(shapes, labelling=k) for k in range(2)]
    reads = several + columns + no_labels + two
    combined, parts = combine(reads)
    assert sorted(map(id, combined)) == sorted(map(id, reads))
    assert [combined[number] for number, _ in parts] == reads
    assert {place for _, place in parts} == {None}


def test_three_are_combined_beside_others():
    shapes = Shapes(np.zeros(30), np.ones(30))
    reads = [Read(shapes, labelling=k) for k in range(3)] + [Read(Moments(), labelling=0)]
    combined, parts = combine(reads)
    assert [type(read.description) for read in combined] == [ManyShapes, Moments]
    assert parts == [(0, 0), (0, 1), (0, 2), (1, None)]


@pytest.mark.parametrize("description", [Moments(), Profile()])
def test_moments_are_not_combined(description):
    """The last bit of a class mean may decide on the token of a value that is equally far from two of them."""
    reads = [Read(description, labelling=k) for k in range(N_LABELS)]
    combined, _ = combine(reads)
    assert combined == reads


@pytest.mark.parametrize("evidence", ["posterior", "distance"])
@pytest.mark.parametrize("n_labels", [2, 3, 4, 6, 8])
def test_equal_class_means_give_the_tokens_of_dense_columns(evidence, n_labels):
    """The class means of the first column are exactly 0."""
    numbers = np.random.default_rng(0)
    table = np.zeros((600, 3))
    table[[3, 4], 0] = [1, -1]
    table[:, 1:] = numbers.normal(size=(600, 2)) * (numbers.random((600, 2)) < 0.4)
    labels = (numbers.random((600, n_labels)) < 0.5).astype(int)
    labels[3], labels[4], labels[3:5, 0] = 1, 0, 1
    dense, found = (ILFS(evidence=evidence).fit(one, labels) for one in (table, sparse.csr_array(table)))
    np.testing.assert_array_equal(found.order_, dense.order_)
    for label, one in found.per_label_.items():
        np.testing.assert_allclose(one.token_counts_, dense.per_label_[label].token_counts_, rtol=1e-10)


def test_answers_are_taken_when_they_are_needed():
    taken = []
    answers = to_each((taken.append(number) or number for number in range(3)), [(0, None), (2, None), (1, None)])
    assert next(answers) == 0
    assert taken == [0]
    assert list(answers) == [2, 1]


@pytest.mark.parametrize("n_permutations", [0, 20])
def test_each_label_is_ranked_as_alone(n_permutations):
    """The picks of a label are those of the table with this label only."""
    together = ILFS(n_permutations=n_permutations).fit(X, Y)
    for label, one in together.per_label_.items():
        alone = ILFS(n_permutations=n_permutations).fit(X, Y[:, label])
        np.testing.assert_allclose(one.relevance_, alone.relevance_, rtol=1e-9)
        np.testing.assert_array_equal(one.order_, alone.order_)
