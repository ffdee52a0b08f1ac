"""Valid and invalid input of `fit`, which is the same for every selector."""

import warnings
from decimal import Decimal
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from configurations import CONFIGURATIONS
from helpers import planted
from scipy import sparse
from sklearn.base import clone

from ilfs import ILFS, FisherScore, LaplacianScore, Novelty, list_methods, novel_order
from ilfs.registry import make_selector
from ilfs.sources.label_checks import looks_like_quantity, warn_of_quantity

WRAPPERS = ("novelty(fisher)", "novelty(ls)")
N_SAMPLES, NAMES = 40, ["a", "b", "c", "d", "e"]


def selector_id(selector):
    return repr(selector).replace("\n", "").replace("       ", " ")


def labels_for(selector, y):
    return y if selector._reads_labels else None


ONE_OF_EACH = [*(one.load()() for one in list_methods() if not one.wraps_another), *map(make_selector, WRAPPERS)]
every = pytest.mark.parametrize("selector", CONFIGURATIONS, ids=selector_id)
one_of_each = pytest.mark.parametrize("selector", ONE_OF_EACH, ids=selector_id)
supervised = pytest.mark.parametrize("selector", [s for s in ONE_OF_EACH if s._reads_labels], ids=selector_id)
ignore_convergence = pytest.mark.filterwarnings("ignore:.*(converge|settle|n_clusters)")


@pytest.fixture(scope="module")
def table():
    return planted(n_samples=N_SAMPLES, n_features=5, n_informative=2)


def frame_of(**columns):
    """Data frame of two numeric columns and the given ones."""
    X, _ = planted(n_samples=N_SAMPLES, n_features=2)
    return pd.DataFrame({"size": X[:, 0], "age": X[:, 1]} | columns)


LIBRARIES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "batch": pa.record_batch,
}
library = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)


class AnnData:
    """Imitation of the class of anndata, which need not be installed."""

    __module__ = "anndata._core.anndata"
    shape = (N_SAMPLES, 2)


class TestDatesAndHugeNumbers:
    @one_of_each
    def test_arrays_of_dates_raise(self, selector):
        X = np.datetime64("2017-10-22") + np.arange(4 * N_SAMPLES).reshape(N_SAMPLES, 4).astype("m8[D]")
        X[3, 1] = np.datetime64("NaT", "D")
        with pytest.raises(ValueError, match=r"X must hold numbers, got dates \(datetime64\[D\]\): pass e.g. days"):
            clone(selector).fit(X, np.arange(N_SAMPLES) % 2)

    @one_of_each
    def test_arrays_of_durations_raise(self, selector):
        X = np.arange(4 * N_SAMPLES).reshape(N_SAMPLES, 4).astype("m8[ns]")
        with pytest.raises(
            ValueError, match=r"X must hold numbers, got durations \(timedelta64\[ns\]\): pass e.g. sec"
        ):
            clone(selector).fit(X, np.arange(N_SAMPLES) % 2)

    @pytest.mark.parametrize("unit", ["D", "s", "ns"])
    @pytest.mark.parametrize("kind", [np.datetime64, np.timedelta64])
    def test_dates_in_object_arrays_raise(self, kind, unit):
        X = np.array([[i, kind(i, unit)] for i in range(N_SAMPLES)], dtype=object)
        with pytest.raises(TypeError, match=r"columns of X must hold numbers, 1 has np.*64.* in row 0 .*days since"):
            ILFS().fit(X, np.arange(N_SAMPLES) % 2)

    @pytest.mark.parametrize("digits", [400, 5000])
    @pytest.mark.parametrize(
        "convert",
        [
            list,
            lambda X: np.array(X, dtype=object),
            lambda X: pd.DataFrame(X, dtype=object).astype({0: int}),
        ],
        ids=["list", "array", "frame"],
    )
    @one_of_each
    def test_integers_too_large_for_float64_raise(self, selector, convert, digits):
        X = [[i, i % 3] for i in range(N_SAMPLES)]
        X[7][1] = 10**digits
        with pytest.raises(
            ValueError, match="columns of X must hold numbers, 1 has an integer in row 7 that is too lar"
        ):
            clone(selector).fit(convert(X), np.arange(N_SAMPLES) % 2)

    def test_dates_as_labels_raise(self, table):
        with pytest.raises(ValueError, match=r"y must hold classes, got dates or durations \(datetime64\[D\]\)"):
            ILFS().fit(table[0], np.datetime64("2017-10-22") + np.arange(N_SAMPLES) % 2)


class TestKindsOfColumns:
    DECIMALS = tuple(Decimal(i % 7) / 4 for i in range(N_SAMPLES))
    NUMBERS = tuple(i % 7 / 4 for i in range(N_SAMPLES))

    @pytest.mark.parametrize(
        "frame",
        [
            frame_of(x=list(DECIMALS)),
            frame_of(x=pd.array(DECIMALS, dtype=pd.ArrowDtype(pa.decimal128(10, 3)))),
            frame_of(x=pd.array(NUMBERS, dtype="double[pyarrow]")),
            frame_of(x=pd.array(NUMBERS, dtype="Float64")),
            frame_of(x=pd.arrays.SparseArray(NUMBERS, fill_value=0.0)),
            frame_of(x=pd.arrays.SparseArray(NUMBERS)),
            frame_of(x=pd.arrays.SparseArray(NUMBERS, fill_value=1.0)),
            frame_of().astype(pd.SparseDtype(float, 1.0)).assign(x=pd.arrays.SparseArray(NUMBERS)),
            pl.from_pandas(frame_of()).with_columns(x=pl.Series(NUMBERS).cast(pl.Decimal(scale=2))),
            pa.Table.from_pandas(frame_of()).append_column("x", pa.array(DECIMALS)),
        ],
        ids=[
            "decimals",
            "arrow decimals",
            "arrow",
            "nullable",
            "mixed sparse",
            "sparse NaN",
            "sparse 1",
            "all sparse",
            "polars decimals",
            "pyarrow decimals",
        ],
    )
    @one_of_each
    @ignore_convergence
    def test_all_numeric_column_types_give_the_same_scores(self, selector, frame):
        y = labels_for(selector, np.arange(N_SAMPLES) % 2)
        plain = frame_of(x=self.NUMBERS)
        one, two = clone(selector).fit(frame, y), clone(selector).fit(plain, y)
        np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(np.asarray(one.transform(frame), dtype=float), two.transform(plain))

    @one_of_each
    @ignore_convergence
    @pytest.mark.filterwarnings(
        "ignore:no discretised feature carries information"
    )  # HallCFS: the labels are unrelated to X
    def test_a_sparse_frame_is_treated_as_a_sparse_matrix(self, selector):
        X = np.random.default_rng(0).poisson(0.5, (N_SAMPLES, 5)).astype(float)
        y = labels_for(selector, np.arange(N_SAMPLES) % 2)
        frame = pd.DataFrame(X, columns=NAMES).astype(pd.SparseDtype(float, 0.0))
        if not selector._takes_sparse:
            with pytest.raises(TypeError, match=r"Sparse data was passed for X, .* X.sparse.to_dense\(\)"):
                clone(selector).fit(frame, y)
            return
        done = clone(selector).fit(frame, y)
        np.testing.assert_allclose(done.scores_, clone(selector).fit(X, y).scores_, rtol=1e-6, atol=1e-8)
        assert done.feature_names_in_.tolist() == NAMES

    def test_the_sparse_frame_of_the_caller_is_not_modified(self):
        frame = frame_of(x=pd.arrays.SparseArray(self.NUMBERS))
        before = frame.copy()
        ILFS().fit(frame, np.arange(N_SAMPLES) % 2)
        pd.testing.assert_frame_equal(frame, before)

    @pytest.mark.parametrize(
        ("column", "found"),
        [
            (pd.Categorical(np.arange(N_SAMPLES) % 3), "holds Categorical"),
            (pd.to_timedelta(np.arange(N_SAMPLES), unit="s"), "holds Duration"),
            (pd.array(["x"] * N_SAMPLES, dtype="string[pyarrow]"), "holds String"),
            (pd.array([None] * N_SAMPLES, dtype=pd.ArrowDtype(pa.date32())), "holds Date"),
            (pd.period_range("2017", periods=N_SAMPLES, freq="D"), r"has Period\('2017-01-01', 'D'\) in row 0"),
            (pd.interval_range(0, N_SAMPLES), "has Interval.* in row 0"),
            (np.arange(N_SAMPLES) + 1j, r"has 1j in row 0"),
        ],
        ids=["categories", "durations", "text", "dates", "periods", "intervals", "complex"],
    )
    @one_of_each
    def test_non_numeric_columns_raise_with_their_name(self, selector, column, found):
        with pytest.raises(
            (TypeError, ValueError), match=f"columns of X must hold numbers, 'x' {found}.*: drop such col"
        ):
            clone(selector).fit(frame_of(x=column), np.arange(N_SAMPLES) % 2)


class TestNamesOfNonNumericColumns:
    @library
    @one_of_each
    def test_all_non_numeric_columns_of_a_data_frame_are_named(self, selector, make):
        text, day = ["x"] * N_SAMPLES, [pd.Timestamp("2017-10-22").to_pydatetime()] * N_SAMPLES
        frame = make({"town": text, "size": np.arange(N_SAMPLES) / 7, "day": day, "street": text})
        message = (
            "columns of X must hold numbers, 'town' holds String, 'day' holds Datetime, 'street' holds String: "
            "drop such columns or convert them .*OneHotEncoder or OrdinalEncoder.*days since a date"
        )
        with pytest.raises(ValueError, match=message):
            clone(selector).fit(frame, np.arange(N_SAMPLES) % 2)

    @one_of_each
    def test_only_some_of_many_columns_are_named(self, selector):
        frame = frame_of(**{f"text {j}": ["x"] * N_SAMPLES for j in range(12)})
        with pytest.raises(
            ValueError, match=r"'text 0' holds String, .*'text 4' holds String and 7 more columns are not numeric: dr"
        ):
            clone(selector).fit(frame, np.arange(N_SAMPLES) % 2)

    @pytest.mark.parametrize("convert", [np.asarray, np.ndarray.tolist], ids=["array", "lists"])
    @one_of_each
    def test_all_non_numeric_columns_of_an_object_array_are_named(self, selector, convert):
        X = np.array([[i, "x", i % 3, None, i % 5] for i in range(N_SAMPLES)], dtype=object)
        X[4, 4] = "n/a"
        with pytest.raises(ValueError, match="must hold numbers, 1 has 'x' in row 0, 4 has 'n/a' in row 4: drop such"):
            clone(selector).fit(convert(X), np.arange(N_SAMPLES) % 2)

    def test_long_values_are_shortened_in_messages(self):
        X = np.array([[i, "long " * 100] for i in range(N_SAMPLES)], dtype=object)
        with pytest.raises(ValueError, match=r"1 has 'long .{20,40}\.\.\. in row 0"):
            ILFS().fit(X, np.arange(N_SAMPLES) % 2)


class TestIndex:
    @pytest.fixture
    def shuffled(self, table):
        X, y = table
        rows = [f"sample {i}" for i in range(N_SAMPLES)]
        y = pd.Series(y, index=rows)
        return pd.DataFrame(X, index=rows, columns=NAMES), y.iloc[[0, 2, 1, *range(3, N_SAMPLES)]]

    @supervised
    def test_another_index_of_y_raises(self, selector, shuffled):
        message = "y must have the index of X, but row 1 is 'sample 2' in y and 'sample 1' in X: align them, y.loc"
        with pytest.raises(ValueError, match=message):
            clone(selector).fit(*shuffled)

    def test_another_index_of_an_indicator_matrix_raises(self, shuffled):
        X, y = shuffled
        with pytest.raises(ValueError, match="y must have the index of X, but row 1 is"):
            ILFS().fit(X, pd.DataFrame({"one": y, "other": 1 - y}))

    @pytest.mark.parametrize("selector", [ILFS(), FisherScore(), Novelty(FisherScore())], ids=selector_id)
    def test_another_index_of_sample_weight_raises(self, selector, shuffled):
        X, y = shuffled
        weight = pd.Series(1.0, index=y.index)
        with pytest.raises(ValueError, match="sample_weight must have the index of X, but row 1 is 'sample 2'"):
            clone(selector).fit(X, y.loc[X.index], sample_weight=weight)
        clone(selector).fit(X, y.loc[X.index], sample_weight=weight.loc[X.index])

    @supervised
    @ignore_convergence
    def test_an_equal_index_is_accepted(self, selector, shuffled):
        X, y = shuffled
        expected = clone(selector).fit(X.to_numpy(), y.loc[X.index].to_numpy()).scores_
        np.testing.assert_allclose(clone(selector).fit(X, y.loc[X.index]).scores_, expected, rtol=1e-6, atol=1e-9)

    def test_the_index_is_ignored_if_only_one_of_x_and_y_has_one(self, shuffled, table):
        X, y = shuffled
        for one, other in ((X, table[1]), (table[0], y), (pl.from_pandas(X), y), (X, pl.Series(table[1]))):
            ILFS().fit(one, other)

    def test_unsupervised_methods_ignore_the_index_of_y(self, shuffled):
        X, y = shuffled
        np.testing.assert_array_equal(LaplacianScore().fit(X, y).scores_, LaplacianScore().fit(X).scores_)

    def test_an_equal_index_of_another_type_is_accepted(self, table):
        X, y = table
        frame = pd.DataFrame(X, index=range(N_SAMPLES))
        for index in (list(range(N_SAMPLES)), pd.Index(range(N_SAMPLES), dtype=object), pd.RangeIndex(N_SAMPLES)):
            ILFS().fit(frame, pd.Series(y, index=index))
        rows = [*range(N_SAMPLES - 1), np.nan]
        ILFS().fit(frame.set_axis(rows), pd.Series(y, index=rows))

    def test_the_number_of_rows_is_checked_before_the_index(self, table):
        X, y = table
        with pytest.raises(ValueError, match="X and y must have the same number of rows, got 40 and 39"):
            ILFS().fit(pd.DataFrame(X), pd.Series(y[1:], index=range(1, 40)))


def ages(n_samples=600, seed=0):
    return np.random.default_rng(seed).normal(50, 15, n_samples).clip(18, 95).astype(int)


class TestQuantities:
    @supervised
    def test_ages_as_labels_give_one_warning(self, selector):
        X, y = planted(n_samples=120, n_features=4)[0], ages(120)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                clone(selector).fit(X, y)
            except ValueError as error:
                assert "class" in str(error) or "sample" in str(error)  # classes of one sample  # noqa: PT017
        messages = [str(warning.message) for warning in caught if "distinct numbers" in str(warning.message)]
        assert len(messages) == 1
        assert (
            f"y has {np.unique(y).size} distinct numbers, so {np.unique(y).size} classes were made, of 1 to"
            in messages[0]
        )
        assert "pandas.qcut(y, 4, labels=False) or sklearn.preprocessing.KBinsDiscretizer" in messages[0]

    @pytest.mark.parametrize(
        "y",
        [
            ages(),
            ages().astype(float),
            ages(40),
            np.random.default_rng(0).integers(20, 61, 2000),
            np.random.default_rng(0).poisson(12, 1000),
            np.arange(100),
        ],
        ids=["ages", "floats", "few ages", "even ages", "counts", "all different"],
    )
    def test_quantities_give_a_warning(self, y):
        with pytest.warns(UserWarning, match="if y is a quantity such as an age, bin it first"):
            warn_of_quantity(*np.unique(y, return_counts=True))

    @pytest.mark.parametrize(
        ("n_classes", "size"), [(20, 72), (26, 300), (40, 10), (40, 7), (100, 10), (1000, 2)], ids=str
    )
    @pytest.mark.parametrize("first", [0, 1])
    def test_codes_of_balanced_classes_give_no_warning(self, n_classes, size, first):
        y = np.repeat(np.arange(n_classes), size) + first
        warn_of_quantity(*np.unique(y, return_counts=True))
        drawn = np.random.default_rng(0).permutation(y)[: y.size * 7 // 10]
        if np.unique(drawn).size == n_classes and size > 2:
            warn_of_quantity(*np.unique(drawn, return_counts=True))

    @pytest.mark.parametrize(
        "y",
        [
            np.array(["a", "b"] * 30),
            ages().astype(str),
            np.arange(60) % 2,
            np.arange(60) % 2 == 0,
            np.arange(60) % 20,
            np.repeat(np.arange(0, 90, 3), 10),  # a subset of the class codes
            np.arange(0),
        ],
        ids=["text", "ages as text", "two", "booleans", "twenty", "some codes", "none"],
    )
    def test_other_labels_give_no_warning(self, y):
        warn_of_quantity(*np.unique(y, return_counts=True))

    def test_very_unequal_sizes_of_class_codes_look_like_a_quantity(self):
        assert looks_like_quantity(np.arange(30), np.array([1] * 20 + [50] * 10))
        assert not looks_like_quantity(np.arange(30), np.array([9] * 20 + [11] * 10))


class TestTargetByName:
    def frame(self, make, table, labels=None):
        X, y = table
        columns = dict(zip(NAMES, X.T.copy(), strict=True))
        tissue = np.array(["liver", "lung"])[y].tolist() if labels is None else labels
        return make({"a": columns["a"], "tissue": tissue} | columns)

    @library
    @every
    @ignore_convergence
    def test_the_named_column_is_the_target_and_not_a_feature(self, selector, make, table):
        X, y = table
        frame = self.frame(make, table)
        done = clone(selector).set_params(n_features_to_select=2).fit(frame, "tissue")
        plain = clone(selector).set_params(n_features_to_select=2).fit(X, labels_for(selector, y))
        np.testing.assert_allclose(done.scores_, plain.scores_, rtol=1e-6, atol=1e-9)
        assert done.feature_names_in_.tolist() == NAMES
        assert done.n_features_in_ == 5
        assert done.target_name_ == "tissue"
        np.testing.assert_array_equal(done.transform(frame), plain.transform(X))

    @library
    def test_transform_accepts_the_frame_without_the_target(self, make, table):
        done = ILFS(2).fit(self.frame(make, table), "tissue")
        others = make(dict(zip(NAMES, table[0].T.copy(), strict=True)))
        np.testing.assert_array_equal(done.transform(others), table[0][:, done.get_support()])

    @pytest.mark.parametrize("kind", ["pandas", "polars"])
    def test_transform_returns_data_frames(self, kind, table):
        frame = self.frame(LIBRARIES[kind], table)
        done = ILFS(2).set_output(transform=kind).fit(frame, "tissue")
        kept = done.transform(frame)
        assert list(kept.columns) == done.get_feature_names_out().tolist()
        assert isinstance(kept, LIBRARIES[kind])
        if kind == "pandas":
            rows = [f"sample {i}" for i in range(N_SAMPLES)]
            assert done.transform(frame.set_axis(rows)).index.tolist() == rows

    @library
    def test_fit_transform_equals_fit_and_transform(self, make, table):
        frame = self.frame(make, table)
        np.testing.assert_array_equal(
            ILFS(2).fit_transform(frame, "tissue"), ILFS(2).fit(frame, "tissue").transform(frame)
        )

    @pytest.mark.parametrize(
        "labels",
        [
            pd.Categorical(["liver", "lung"] * 20),
            pd.array(["liver", "lung"] * 20, dtype="string[pyarrow]"),
            pl.Series(["liver", "lung"] * 20, dtype=pl.Categorical),
            pa.array(["liver", "lung"] * 20).dictionary_encode(),
            pd.array([0, 1] * 20, dtype="Int64"),
            np.array([0, 1] * 20),
            [False, True] * 20,
        ],
        ids=["categories", "arrow text", "polars categories", "dictionary", "nullable", "integers", "booleans"],
    )
    def test_target_columns_may_have_any_type(self, labels, table):
        make = {"polars": pl.DataFrame, "pyarrow": pa.table}.get(type(labels).__module__.split(".")[0], pd.DataFrame)
        done = ILFS().fit(self.frame(make, table, labels), "tissue")
        np.testing.assert_allclose(done.scores_, ILFS().fit(*table).scores_, rtol=1e-6)

    @library
    def test_a_missing_label_raises(self, make, table):
        frame = self.frame(make, table, [*["liver", "lung"] * 19, "liver", None])
        with pytest.raises(ValueError, match="y must have a label for every sample, row 39 has none"):
            ILFS().fit(frame, "tissue")

    @library
    @one_of_each
    def test_an_unknown_target_raises_with_similar_names(self, selector, make, table):
        with pytest.raises(ValueError, match=r"X has no column 'tisue' to take y from: did you mean 'tissue'\?"):
            clone(selector).fit(self.frame(make, table), "tisue")

    def test_an_unknown_target_raises_with_some_names_if_none_is_similar(self, table):
        with pytest.raises(
            ValueError, match=r"X has no column 'outcome' .*: its columns are 'a', 'tissue', 'b', 'c', 'd', "
        ):
            ILFS().fit(self.frame(pd.DataFrame, table), "outcome")

    @one_of_each
    def test_a_target_name_without_a_data_frame_raises(self, selector, table):
        with pytest.raises(
            TypeError, match="y may be the name of a column only if X is a data frame, got y='tissue' and"
        ):
            clone(selector).fit(table[0], "tissue")

    def test_a_frame_with_only_the_target_raises(self):
        with pytest.raises(ValueError, match="X must have at least one column"):
            ILFS().fit(pd.DataFrame({"tissue": [0, 1, 0, 1]}), "tissue")

    def test_a_later_fit_without_a_name_removes_target_name_(self, table):
        X, y = table
        done = ILFS().fit(self.frame(pd.DataFrame, table), "tissue").fit(X, y)
        assert not hasattr(done, "target_name_")

    def test_a_sparse_frame_with_a_dense_target_gives_the_scores_of_dense_data(self):
        X = np.random.default_rng(0).poisson(0.5, (N_SAMPLES, 5)).astype(float)
        frame = pd.DataFrame(X, columns=NAMES).astype(pd.SparseDtype(float, 0.0))
        frame["tissue"] = ["liver", "lung"] * 20
        done = FisherScore().fit(frame, "tissue")
        np.testing.assert_allclose(done.scores_, FisherScore().fit(X, np.arange(N_SAMPLES) % 2).scores_, rtol=1e-6)

    def test_other_non_numeric_columns_raise(self, table):
        frame = self.frame(pd.DataFrame, table).assign(town="x")
        with pytest.raises(ValueError, match="columns of X must hold numbers, 'town' holds String: drop"):
            ILFS().fit(frame, "tissue")


class TestNotInMemory:
    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (
                lambda X: "expression.csv",
                r"got the path 'expression.csv': open the file first, fit\(ilfs.read\(path, target=...\)\)",
            ),
        ],
        ids=["path"],
    )
    @one_of_each
    def test_fit_raises_with_advice(self, selector, make, message, table):
        X, y = table
        with pytest.raises(TypeError, match=message):
            clone(selector).fit(make(X), y)

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda X: da.from_array(X), r"got dask.Array: call X.compute\(\) if it fits in memory"),
            (
                lambda X: dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=2),
                r"got dask.DataFrame: call X.compute\(\) if it fits in memory",
            ),
            (lambda X: pl.DataFrame(X).lazy(), r"X must be in memory, got polars.LazyFrame: call X.collect\(\) if"),
            (
                lambda X: ds.dataset(pa.table(dict(zip(NAMES, X.T, strict=True)))),
                r"X must be in memory, got pyarrow.InMemoryDataset: call X.to_table\(\) if it fits in memory",
            ),
            (
                lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))).to_reader(),
                r"X must be in memory, got pyarrow.RecordBatchReader: call X.read_all\(\) if it fits in memory",
            ),
            (lambda X: Path("x.csv"), r"got the path 'x\.csv': open the file first"),
            (
                lambda X: AnnData(),
                r"X must be an array or a data frame, got an AnnData: pass adata.to_df\(\) or adata.X, and labels",
            ),
        ],
        ids=["dask array", "dask frame", "lazy", "dataset", "reader", "path", "AnnData"],
    )
    def test_what_needs_a_table_in_memory_raises_with_advice(self, make, message, table):
        with pytest.raises(TypeError, match=message):
            novel_order(np.ones(5), make(table[0]))


class TestPyarrow:
    @pytest.mark.parametrize("make", [pa.table, pa.record_batch], ids=["table", "batch"])
    @one_of_each
    @ignore_convergence
    def test_a_table_is_accepted_with_its_names(self, selector, make, table):
        X, y = table
        arrow = make(dict(zip(NAMES, X.T, strict=True)))
        done = clone(selector).fit(arrow, labels_for(selector, y))
        plain = clone(selector).fit(X, labels_for(selector, y))
        np.testing.assert_allclose(done.scores_, plain.scores_, rtol=1e-6, atol=1e-9)
        assert done.feature_names_in_.tolist() == NAMES
        np.testing.assert_array_equal(done.transform(arrow), plain.transform(X))

    def test_two_columns_with_the_same_name_raise(self, table):
        X, y = table
        with pytest.raises(ValueError, match="columns of X must have different names, 'a' occurs 2 times"):
            ILFS().fit(pa.table([X[:, 0], X[:, 1]], names=["a", "a"]), y)

    def test_novel_order_uses_the_column_names(self, table):
        X, _ = table
        arrow = pa.table(dict(zip(NAMES, X.T, strict=True)))
        relevance = pd.Series([5.0, 4, 3, 2, 1], index=NAMES)
        np.testing.assert_array_equal(novel_order(relevance[::-1], arrow), novel_order(relevance, X))
        X = X.copy()
        X[3, 2] = np.inf
        with pytest.raises(ValueError, match="column 'c' of X holds infinity"):
            novel_order(relevance, pa.table(dict(zip(NAMES, X.T, strict=True))))


class TestOtherLabels:
    def test_intervals_are_converted_to_strings(self):
        ages = pd.Series([20.0, 25.0, 60.0, 70.0])
        done = FisherScore().fit(np.arange(4.0)[:, None], pd.cut(ages, [0, 40, 80]))
        assert done.classes_.tolist() == ["(0, 40]", "(40, 80]"]

    def test_continuous_labels_raise_with_advice(self):
        with pytest.raises(ValueError, match=r"got continuous values: bin a quantity first.*y\.astype\(str\)"):
            FisherScore().fit(np.arange(4.0)[:, None], [1.5, 2.5, 1.5, 2.5])

    @pytest.mark.parametrize("name", [5, ("a", "b")])
    def test_a_pandas_target_may_have_any_name(self, name):
        frame = pd.DataFrame({0: [1.0, 2.0, 4.0, 5.0], 1: [3.0, 1.0, 2.0, 2.0]})
        frame[name if isinstance(name, int) else "kind"] = ["a", "a", "b", "b"]
        frame.columns = pd.Index([0, 1, name], tupleize_cols=False)
        done = FisherScore(1).fit(frame, name)
        assert done.n_features_in_ == 2
        assert done.order_[0] == 0
        assert done.transform(frame).tolist() == [[1.0], [2.0], [4.0], [5.0]]

    @pytest.mark.parametrize("weight", ["age", ["a", "b", "c"], np.array(["2020-01-01"] * 3, "M8[D]")])
    def test_non_numeric_weights_raise(self, weight):
        frame = pd.DataFrame({"size": [1.0, 2.0, 4.0], "age": [1.0, 2.0, 3.0]})
        with pytest.raises(ValueError, match="sample_weight must be a number for each row of X, got "):
            FisherScore().fit(frame, [0, 1, 1], sample_weight=weight)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize(("array", "at", "value"), [("indices", 0, 10**6), ("indices", 3, -5), ("indptr", -1, 10**6)])
@pytest.mark.parametrize("selector", [one for one in ONE_OF_EACH if one._takes_sparse], ids=selector_id)
def test_a_sparse_matrix_with_invalid_indices_raises(selector, form, array, at, value):
    X = form(np.round(np.random.default_rng(0).normal(size=(40, 5))))
    getattr(X, array)[at] = value
    with pytest.raises(ValueError, match=rf"X must be a valid CS[RC] matrix: {array} must"):
        clone(selector).fit(X, np.arange(40) % 2)
