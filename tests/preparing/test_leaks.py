"""Warnings of features that give the classes away, and of rows that are not independent."""

import numpy as np
import pytest
from prepared_tables import expression, write
from scipy import sparse

from ilfs.preparing import prepare
from ilfs.preparing.leaks import leak_warnings, n_duplicates, recodings, rising_columns

X, Y = expression(20, 12)


def warned(folder, columns, y=Y):
    data = {"y": y, **{f"g{j}": X[:, j] for j in range(12)}, **columns}
    path = write(folder / "t.csv", list(data), list(zip(*data.values(), strict=True)))
    return prepare(path, target="y").warnings


def test_a_clean_table_has_no_warnings(tmp_path):
    assert warned(tmp_path, {}) == ()


@pytest.mark.parametrize("values", [(0, 1), (7.5, -2)])
def test_a_feature_that_recodes_the_target_is_named(tmp_path, values):
    (warning,) = warned(tmp_path, {"code": np.where(Y == "tumour", *values)})
    assert warning == (
        "code tells 'y' exactly: leave it out (drop=['code']), unless it is really known before the class is"
    )


def test_a_feature_that_is_missing_in_one_class_and_constant_in_the_other_is_named(tmp_path):
    (warning,) = warned(tmp_path, {"code": np.where(Y == "tumour", "NA", "1"), "more": np.where(Y == "tumour", 1, 0)})
    assert "more tells" in warning or "code and more tell " in warning


def test_a_feature_that_separates_but_varies_is_no_leak(tmp_path):
    assert warned(tmp_path, {"good": np.where(Y == "tumour", 10, 0) + np.arange(20) % 3}) == ()


def test_a_feature_that_merges_two_of_three_classes_is_no_leak():
    codes = np.repeat([0, 1, 2], 4)
    merged, split = (codes == 2).astype(float), codes * 2.0
    assert recodings(np.column_stack([merged, split]), codes).tolist() == [1]


def test_rising_features_are_pointed_out_if_rows_are_sorted_by_class():
    codes = np.repeat([0, 1], 10)
    table = np.column_stack([np.arange(20) * 2.0 + 100, X[:, 0], -(np.arange(20) ** 2.0)])
    assert rising_columns(table, codes).tolist() == [0, 2]
    assert rising_columns(table, np.tile([0, 1], 10)).tolist() == []


def test_the_warning_names_rising_features(tmp_path):
    order = np.argsort(Y, kind="stable")
    (warning,) = warned(tmp_path, {"when": np.arange(20) * 3 + 1000}, Y[order])
    assert warning == "rows are sorted by class, and 1 feature rising or falling from row to row: when"


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_duplicates_are_counted(make, dtype):
    table = np.vstack([X, X[:3], X[:1]]).astype(dtype)
    assert n_duplicates(make(table)) == 4
    assert n_duplicates(make(X.astype(dtype))) == 0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_with_missing_values_are_duplicates_only_if_all_their_values_agree(make, dtype):
    table = X.astype(dtype)
    table[0, 0] = table[1, 0] = table[2, 3] = table[4] = np.nan
    assert n_duplicates(make(table)) == 0
    assert n_duplicates(make(np.vstack([table, table[:5]]))) == 5


def test_a_missing_value_differs_from_zero():
    table = X.copy()
    table[:2] = X[0]
    table[0, 5], table[1, 5] = np.nan, 0.0
    assert n_duplicates(table) == 0


def test_duplicate_rows_are_a_warning():
    warnings = leak_warnings(np.vstack([X, X[:2]]), [f"g{j}" for j in range(12)], np.r_[Y, Y[:2]], "y")
    assert warnings == ["2 rows repeating another row: cross-validation would be too optimistic"]


def test_sparse_and_dense_tables_have_the_same_leaks():
    codes = (Y == "tumour").astype(int)
    table = np.column_stack([X, codes])
    assert recodings(sparse.csr_array(table), codes).tolist() == recodings(table, codes).tolist() == [12]


def test_text_that_divides_the_rows_as_the_classes_do_is_pointed_out(tmp_path):
    (warning,) = warned(tmp_path, {"batch": np.where(Y == "tumour", "b1", "b2")})
    assert warning == (
        "batch, which is not used as a feature, tells 'y' exactly: features that differ with it cannot be told from "
        "features that differ between the classes"
    )


@pytest.mark.parametrize("values", [(0, 1), ("b1", "b2")])
@pytest.mark.parametrize("how", [{"drop": "batch"}, {"only": "g*"}, {"groups": "batch"}], ids=str)
def test_a_batch_that_tells_the_class_is_pointed_out_even_if_it_is_left_out(tmp_path, values, how):
    data = {"y": Y, "batch": np.where(Y == "tumour", *values), **{f"g{j}": X[:, j] for j in range(12)}}
    path = write(tmp_path / "t.csv", list(data), list(zip(*data.values(), strict=True)))
    (warning,) = prepare(path, target="y", **how).warnings
    assert warning.startswith("batch, which is not used as a feature, tells 'y' exactly")


def test_weights_that_balance_the_classes_are_not_pointed_out(tmp_path):
    data = {"y": Y, "w": np.where(Y == "tumour", 1, 2), **{f"g{j}": X[:, j] for j in range(12)}}
    path = write(tmp_path / "t.csv", list(data), list(zip(*data.values(), strict=True)))
    assert prepare(path, target="y", weight="w").warnings == ()


def test_several_such_columns_share_a_sentence(tmp_path):
    (warning,) = warned(tmp_path, {name: np.where(Y == "tumour", "b1", "b2") for name in ("batch", "plate")})
    assert warning.startswith("batch and plate, which are not used as features, tell 'y' exactly")


def test_a_batch_that_mixes_the_classes_is_not_pointed_out(tmp_path):
    assert warned(tmp_path, {"batch": np.where(np.arange(20) < 7, "b1", "b2")}) == ()
