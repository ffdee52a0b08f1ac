"""The table of a ranking: columns, verdicts, frames and text."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import planted
from scipy import sparse

import ilfs
from ilfs import ILFS, FisherScore, MutualInformation, Novelty, ReliefF, summarise
from ilfs.ranking_table import ORDER, RankingTable, direction_phrase, in_order, split_direction, verdicts
from ilfs.selection import RankEnsemble, SizeCV


def counts(n_samples=90, n_features=14, n_classes=2, seed=0):
    """Return counts that depend on the class in some columns, with missing values, and the names of the classes."""
    rng = np.random.default_rng(seed)
    y = np.array(["normal", "tumour", "unknown"])[np.arange(n_samples) % n_classes]
    X = rng.poisson(1.0 + np.outer(np.arange(n_samples) % n_classes, np.arange(n_features) % 4 == 0)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def assert_same_tables(one, two, rtol=1e-9):
    assert list(one) == list(two)
    for title in one:
        if one[title].dtype.kind == "f":
            np.testing.assert_allclose(one[title], two[title], rtol=rtol, atol=1e-11, err_msg=title)
        else:
            np.testing.assert_array_equal(one[title], two[title], err_msg=title)


class TestColumns:
    def test_all_columns_in_order(self):
        X, y = counts()
        titles = list(ILFS(n_permutations=20).fit(X, y).table())
        assert titles == [
            "rank", "feature", "column", "score", "relevance", "p_value", "q_value", "verdict", "direction", "effect",
            "log2_fold_change", "mean_normal", "mean_tumour", "missing", "nonzero", "novelty", "nearest", "correlation",
        ]  # fmt: skip

    def test_unknown_columns_come_last(self):
        columns = {title: np.zeros(1) for title in ("more", "mean_b", "effect", "mean_a", "rank")}
        assert list(in_order(columns)) == ["rank", "effect", "mean_b", "mean_a", "more"]
        assert len(set(ORDER)) == len(ORDER)

    def test_values_are_those_of_brute_force(self):
        X, y = counts()
        table = FisherScore().fit(X, y).table().to_pandas().set_index("column")
        for j in range(X.shape[1]):
            a, b = X[y == "normal", j], X[y == "tumour", j]
            assert table["mean_normal"][j] == pytest.approx(np.nanmean(a))
            assert table["mean_tumour"][j] == pytest.approx(np.nanmean(b))
            higher = "tumour" if np.nanmean(b) > np.nanmean(a) else "normal"
            assert table["direction"][j] == f"higher in {higher}"
            assert table["log2_fold_change"][j] == pytest.approx(np.log2(np.nanmean(b) / np.nanmean(a)))
            assert table["missing"][j] == pytest.approx(np.isnan(X[:, j]).mean())
            assert table["nonzero"][j] == pytest.approx((X[~np.isnan(X[:, j]), j] != 0).mean())

    def test_a_negative_value_removes_the_fold_change(self):
        X, y = counts()
        X[3, 4] = -1
        assert "log2_fold_change" not in FisherScore().fit(X, y).table()

    def test_many_classes_have_no_column_each(self):
        X, y = planted(n_classes=11, n_samples=110)
        table = FisherScore().fit(X, y).table()
        assert not [title for title in table if title.startswith("mean_")]
        labels = [str(k) for k in range(11)]
        for phrase in table["direction"].tolist():
            side, classes = split_direction(phrase, labels)
            assert side in ("higher", "lower")
            assert 1 <= len(classes) <= 3
            assert phrase == direction_phrase(side, classes)

    def test_a_method_without_labels_has_no_direction(self):
        X, _ = counts()
        table = ilfs.LaplacianScore().fit(np.nan_to_num(X)).table()
        assert not {"direction", "effect", "log2_fold_change"} & set(table)
        assert {"missing", "nonzero"} <= set(table)

    def test_each_label_of_an_indicator_matrix_has_a_direction_of_its_own(self):
        X, y = counts(n_classes=3)
        Y = np.column_stack([y == "normal", y == "tumour"]).astype(int)
        for selector in (ILFS(), FisherScore(), ReliefF(), MutualInformation(), Novelty(FisherScore())):
            done = selector.fit(X, Y)
            assert not {"direction", "effect"} & set(done.table())
            assert {"missing", "nonzero"} <= set(done.table())
            one = done.per_label_[1].table().to_pandas().set_index("column")
            alone = FisherScore().fit(X, Y[:, 1]).table().to_pandas().set_index("column")
            np.testing.assert_allclose(one["effect"].sort_index(), alone["effect"].sort_index(), rtol=1e-12)

    def test_a_fit_without_permutations_removes_the_verdict(self):
        X, y = counts()
        selector = FisherScore(n_permutations=20).fit(X, y)
        assert "verdict" in selector.table()
        assert "verdict" not in selector.set_params(n_permutations=0).fit(X, y).table()

    def test_permuted_labels_do_not_change_the_description(self):
        X, y = counts()
        for selector in (ILFS(), FisherScore(), MutualInformation(), MutualInformation(edges=[0.5, 1.5])):
            plain = selector.fit(X, y).table()
            tested = selector.set_params(n_permutations=20).fit(X, y).table()
            for title in ("direction", "effect", "log2_fold_change", "mean_tumour", "nonzero"):
                np.testing.assert_array_equal(tested[title], plain[title])


class TestStorage:
    @pytest.mark.parametrize("make", [ILFS, FisherScore, lambda: MutualInformation(edges=[0.5, 1.5, 2.5])])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_dense_sparse_and_streamed_tables_give_the_same_numbers(self, make, n_classes, tmp_path):
        X, y = counts(n_classes=n_classes)
        frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
        names = frame.columns.tolist()
        dense = make().fit(X, y).table(input_features=names)
        assert_same_tables(make().fit(sparse.csr_array(X), y).table(input_features=names), dense)
        assert_same_tables(make().fit(frame, y).table(), dense)
        frame.assign(y=y).to_parquet(tmp_path / "table.parquet", row_group_size=20)
        source = ilfs.read(tmp_path / "table.parquet", target="y", memory_limit=1)
        assert_same_tables(make().fit(source).table(), dense)

    @pytest.mark.parametrize("make", [FisherScore, lambda: MutualInformation(edges=[0.5, 1.5, 2.5])])
    def test_summaries_and_partial_fits_give_the_same_numbers(self, make, tmp_path):
        X, y = counts(n_classes=3)
        whole = make().fit(X, y).table()
        sites = [summarise(X[rows], y[rows], selector=make()) for rows in (y == "normal", y != "normal")]
        sites[1].save(tmp_path / "site.npz")
        merged = sites[0].merge(ilfs.Summary.load(tmp_path / "site.npz"))
        assert_same_tables(make().fit(merged).table(), whole)
        selector = make()
        for rows in np.array_split(np.arange(len(y)), 4):
            selector.partial_fit(X[rows], y[rows])
        assert_same_tables(selector.table(), whole)

    def test_dask_gives_the_same_numbers(self):
        import dask.array

        X, y = counts()
        on_dask = ILFS().fit(dask.array.from_array(X, chunks=(30, -1)), y).table()
        assert_same_tables(on_dask, ILFS().fit(X, y).table())


class TestWrappers:
    def test_a_wrapper_shows_the_description_of_its_selector(self):
        X, y = planted()
        inner = FisherScore().fit(X, y).table().to_pandas().set_index("column")["effect"].sort_index()
        for selector in (
            SizeCV(FisherScore()),
            RankEnsemble(["fisher", "mi"]),
            Novelty(FisherScore()),
            Novelty(ReliefF()),
            Novelty(ilfs.LaplacianScore(), redundancy="gain"),
        ):
            table = selector.fit(X, y).table().to_pandas().set_index("column")
            np.testing.assert_allclose(table["effect"].sort_index(), inner, rtol=1e-12)


class TestVerdicts:
    def test_the_rule(self):
        q = np.array([0.0, 0.05, 0.0501, 0.1, 0.1001, 1.0])
        expected = ["confirmed", "confirmed", "tentative", "tentative", "not confirmed", "not confirmed"]
        assert verdicts(q, 0.05).tolist() == expected
        assert verdicts(2 * q, 0.1).tolist() == expected

    def test_a_rare_selection_makes_a_feature_tentative_and_never_rejects_it(self):
        found = verdicts(np.array([0.01, 0.01, 0.2]), 0.05, np.array([0.6, 0.59, 1.0]))
        assert found.tolist() == ["confirmed", "tentative", "not confirmed"]

    def test_verdicts_agree_with_the_rule_fdr(self):
        X, y = planted(shift=1.0)
        done = ILFS("fdr").fit(X, y)
        table = done.table()
        np.testing.assert_array_equal(table["verdict"] == "confirmed", done.get_support()[table["column"]])
        assert {"confirmed", "not confirmed"} <= set(table["verdict"])

    def test_a_selection_frequency_is_used_if_the_selector_has_it(self):
        X, y = planted(n_features=10)
        done = FisherScore(n_permutations=20).fit(X, y)
        done.selection_frequency_ = np.where(np.arange(10) == done.order_[0], 0.2, 0.9)
        table = done.table()
        np.testing.assert_array_equal(table["selection_frequency"], done.selection_frequency_[done.order_])
        assert table["verdict"][:2].tolist() == ["tentative", "confirmed"]


class TestFrames:
    def test_frames_have_all_columns(self):
        X, y = counts()
        table = ILFS().fit(X, y).table(3)
        assert isinstance(table.to_pandas(), pd.DataFrame)
        assert isinstance(table.to_polars(), pl.DataFrame)
        assert list(table.to_pandas()) == table.to_polars().columns == list(table)
        pd.testing.assert_frame_equal(pd.DataFrame(table), table.to_pandas())

    @pytest.mark.parametrize("package", ["pandas", "polars"])
    def test_an_absent_package_is_named(self, package, monkeypatch):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=f"to_{package} needs {package}, which is not installed"):
            getattr(RankingTable(rank=np.arange(2)), f"to_{package}")()


class TestText:
    def table(self):
        X, y = counts()
        return ILFS(n_permutations=20).fit(X, y).table(4)

    def test_direction_is_the_same_phrase_in_the_text_and_in_the_column(self):
        table = self.table()
        for phrase, line in zip(table["direction"].tolist(), str(table).splitlines()[1:], strict=True):
            assert phrase in ("higher in tumour", "higher in normal")
            assert phrase in line

    def test_a_direction_is_taken_apart_if_its_classes_are_known(self):
        assert split_direction("lower in a, b and c", list("abc")) == ("lower", ("a", "b", "c"))
        assert split_direction("higher in a and b", ["a and b", "c"]) == ("higher", ("a and b",))
        assert split_direction("higher in x and y", ["a and b", "c"]) == ("higher", ())
        assert split_direction("", list("abc")) == ("", ())

    def test_long_columns_are_left_out_and_may_be_asked_for(self):
        table = self.table()
        titles = str(table).splitlines()[0].split()
        assert not {"column", "p_value", "mean_tumour"} & set(titles)
        assert {"missing", "nonzero", "verdict"} <= set(titles)
        assert table.to_text(["feature", "mean_tumour"]).splitlines()[0].split() == ["feature", "mean_tumour"]
        with pytest.raises(ValueError, match=r"columns must be among rank, feature, .*, got 'sore'"):
            table.to_text(["sore"])

    def test_fractions_are_left_out_if_nothing_is_missing_or_zero(self):
        assert not {"missing", "nonzero"} & set(str(FisherScore().fit(*planted()).table()).splitlines()[0].split())

    def test_equal_means_have_a_dash(self):
        X, y = np.array([[1.0, 1], [3, 2], [1, 5], [3, 6]]), [0, 0, 1, 1]
        assert "higher in 1" in str(FisherScore().fit(X, y).table()).splitlines()[1]
        assert str(FisherScore().fit(X, y).table()).splitlines()[2].split()[3] == "-"

    def test_repr_is_short(self):
        assert repr(self.table()).startswith("<RankingTable of 4 features: rank, feature, column, score")
