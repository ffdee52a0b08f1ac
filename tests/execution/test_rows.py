import numpy as np
import pytest
from scipy import sparse

from ilfs.execution import AllRows, LabelledRows, MissingValuesError
from ilfs.execution.rows import column_ranges
from ilfs.sources import table_source
from ilfs.statistics.moments import UnusableColumnError

FORMS = [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array]
forms = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@forms
def test_columns_with_one_value_are_left_out(form):
    X = np.array([[1.0, 0.0, 5.0, -2.0], [1.0, 0.0, 0.0, -2.5]])
    rows = AllRows.from_matrix(form(X))
    assert rows.columns.tolist() == [2, 3]
    np.testing.assert_array_equal(dense(rows.X), X[:, 2:])
    assert rows.low.tolist() == [0.0, -2.5]
    assert rows.high.tolist() == [5.0, -2.0]


@forms
def test_rows_without_weight_are_left_out(form):
    X = np.arange(8.0).reshape(4, 2)
    source = table_source(form(X), np.array([0, 1, 0, 1]), np.array([1.0, 0.0, 2.0, 1.0]))
    rows = LabelledRows.from_source(source)
    np.testing.assert_array_equal(dense(rows.X), X[[0, 2, 3]])
    assert rows.labels.codes.tolist() == [0, 0, 1]
    assert rows.labels.weight.tolist() == [1.0, 2.0, 1.0]


def test_a_table_without_constant_columns_is_not_copied():
    X = np.arange(8.0, dtype=np.float32).reshape(4, 2)
    assert AllRows.from_matrix(X).X is X


def test_duplicate_entries_of_a_sparse_matrix_are_summed_and_the_matrix_is_unchanged():
    X = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    rows = AllRows.from_matrix(X)
    np.testing.assert_array_equal(rows.X.toarray(), [[3.0, 0.0], [0.0, 4.0]])
    assert X.nnz == 3


def test_values_are_expanded_to_all_columns():
    rows = AllRows.from_matrix(np.array([[1.0, 2.0, 3.0], [1.0, 0.0, 0.0]]))
    assert rows.expand(np.array([7.0, 8.0]), -1.0).tolist() == [-1.0, 7.0, 8.0]
    assert rows.expand(np.array([[7.0], [8.0]]), axis=0).tolist() == [[0.0], [7.0], [8.0]]


@forms
def test_ranges_of_columns_leave_out_missing_values_if_these_are_allowed(form):
    X = form(np.array([[np.nan, 0.0, 3.0], [-1.0, np.nan, 0.0], [0.0, np.nan, 4.0], [5.0, np.nan, 1.0]]))
    with pytest.raises(MissingValuesError) as caught:
        column_ranges(X)
    assert caught.value.columns.tolist() == [0, 1]
    low, high = column_ranges(X, missing=True)
    assert low.tolist() == [-1.0, 0.0, 0.0]
    assert high.tolist() == [5.0, 0.0, 4.0]


@forms
def test_a_column_of_missing_values_is_constant(form):
    X = form(np.array([[np.nan, 1.0], [np.nan, 2.0]]))
    assert AllRows.from_matrix(X, missing=True).columns.tolist() == [1]


@forms
@pytest.mark.parametrize(("bad", "reason"), [(np.inf, "infinity"), (-np.inf, "infinity"), (1e200, "too far apart")])
@pytest.mark.parametrize("other", [0.0, np.nan])
def test_unusable_columns_are_named(form, bad, reason, other):
    X = form(np.array([[1.0, other, bad], [2.0, 0.0, 3.0], [3.0, 1.0, other]]))
    with pytest.raises(UnusableColumnError, match=f"column 2 .*{reason}"):
        column_ranges(X, missing=True)


def test_values_too_close_are_named():
    with pytest.raises(UnusableColumnError, match=r"column 0 .*too close"):
        column_ranges(np.array([[0.0], [1e-200]]))
