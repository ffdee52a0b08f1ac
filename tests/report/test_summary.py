"""The summary of a ranking: the numbers of the selector, in the order of the ranking, and values of the right rows."""

import numpy as np
import pandas as pd
import pytest
from helpers import planted
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest

import ilfs
from ilfs import ILFS, FisherScore, LaplacianScore, Novelty
from ilfs.report.class_values import class_values, correlations, read_rows
from ilfs.report.summary import summarise_ranking
from ilfs.selection import FDRSelector, SizeCV, stability
from ilfs.sources import table_source


def test_all_columns_are_in_the_order_of_the_ranking():
    X, y = planted()
    selector = ILFS(7, n_permutations=20).fit(X, y)
    summary = summarise_ranking(selector)
    np.testing.assert_array_equal(summary.table["column"], selector.order_)
    np.testing.assert_array_equal(summary.selected, np.arange(40) < 7)
    place = selector.ranking_ - 1
    for rank, column in enumerate(selector.order_):
        nearest = selector.nearest_[column]
        assert summary.nearest[rank] == (-1 if nearest < 0 else place[nearest])
    counts = selector.token_counts_[selector.order_]
    np.testing.assert_allclose(summary.tokens.fractions, counts / counts.sum(axis=1, keepdims=True))


def test_values_and_quantiles_are_those_of_the_best_columns():
    X, y = planted(n_classes=3)
    X[3, :] = np.nan
    selector = FisherScore(5).fit(X, y)
    summary = summarise_ranking(selector, X, y)
    values, best = summary.values, X[:, selector.order_]
    np.testing.assert_array_equal(summary.valued, np.arange(40))
    np.testing.assert_array_equal(values.values, best)
    np.testing.assert_array_equal(values.codes, y)
    assert values.labels == ("0", "1", "2")
    assert values.class_rows == (40, 40, 40)
    expected = np.nanquantile(best[y == 1], [0.05, 0.25, 0.5, 0.75, 0.95], axis=0).T
    np.testing.assert_allclose(values.quantiles[:, 1], expected)


def test_the_map_has_the_correlations_of_the_selected_features():
    X, y = planted()
    selector = FisherScore(8).fit(X, y)
    found = summarise_ranking(selector, X, y).correlations
    assert sorted(found.columns.tolist()) == list(range(8))
    np.testing.assert_allclose(found.correlation, np.corrcoef(X[:, selector.order_[found.columns]].T))


def test_correlations_replace_missing_values_by_the_mean_and_know_no_correlation_of_constants():
    values = np.array([[1.0, 2, 5], [2, 4, 5], [3, np.nan, 5], [4, 8, 5]])
    found = correlations(values)
    filled = np.where(np.isnan(values[:, :2]), np.nanmean(values[:, :2], axis=0), values[:, :2])
    np.testing.assert_allclose(found[:2, :2], np.corrcoef(filled.T))
    assert np.isnan(found[2]).all()


@pytest.mark.parametrize("kind", ["array", "fortran", "frame", "polars", "sparse", "source", "named", "csv"])
def test_values_do_not_depend_on_the_kind_of_table(kind, tmp_path):
    X, y = planted(n_features=12)
    X = np.round(X, 2)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
    labelled = frame.assign(kind=np.array(["a", "b"])[y])
    labelled.to_csv(tmp_path / "t.csv", index=False)
    given = {
        "array": (X, y), "fortran": (np.asfortranarray(X), y), "frame": (frame, y), "sparse": (sparse.csr_array(X), y),
        "source": (table_source(X, y), None), "named": (labelled, "kind"), "csv": (tmp_path / "t.csv", "kind"),
        "polars": (pytest.importorskip("polars").DataFrame(dict(frame)), y),
    }[kind]  # fmt: skip
    fit_on = labelled if kind in ("named", "csv") else frame
    selector = FisherScore(3).fit(fit_on, "kind" if kind in ("named", "csv") else y)
    rows = read_rows(selector, *given, np.array([7, 2]))
    np.testing.assert_array_equal(rows.values, X[:, [7, 2]])
    np.testing.assert_array_equal(rows.codes, y)


def test_a_frame_with_its_target_needs_no_labels():
    X, y = planted(n_features=5)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(kind=y)
    summary = summarise_ranking(FisherScore(2).fit(frame, "kind"), frame)
    assert summary.target == "kind"
    np.testing.assert_array_equal(summary.values.codes, y)


@pytest.mark.parametrize("kind", ["lazy", "anndata", "csv"])
def test_the_labels_of_other_tables_are_found_by_the_name_of_the_target(kind, tmp_path):
    X, y = planted(n_features=5)
    labels = np.array(["a", "b"])[y]
    frame = pd.DataFrame(np.round(X, 2), columns=list("abcde")).assign(kind=labels)
    frame.to_csv(tmp_path / "t.csv", index=False)
    if kind == "lazy":
        given = pytest.importorskip("polars").from_pandas(frame).lazy()
    elif kind == "anndata":
        obs = pd.DataFrame({"kind": labels}, index=[str(row) for row in range(len(y))])
        given = pytest.importorskip("anndata").AnnData(X, obs=obs)
    else:
        given = tmp_path / "t.csv"
    selector = FisherScore(2).fit(frame if kind == "csv" else given, "kind")
    summary = summarise_ranking(selector, given)
    np.testing.assert_array_equal(summary.values.codes, y)
    assert summary.values.labels == ("a", "b")


def test_a_large_table_is_sampled_with_some_rows_of_every_class(monkeypatch):
    monkeypatch.setattr("ilfs.report.class_values.MAX_ROWS_READ", 3000)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 3)), (np.arange(5000) % 100 == 0).astype(int)
    X[:, 0] = np.arange(5000)
    rows = read_rows(FisherScore(1).fit(X, y), X, y, np.array([0, 1]))
    assert rows.codes.size == 3000
    np.testing.assert_array_equal(rows.codes, y[rows.values[:, 0].astype(int)])  # values stay with their labels
    kept = class_values(rows)
    assert kept.n_rows == 5000
    assert 400 <= kept.codes.size <= 430
    assert np.count_nonzero(kept.codes == 1) >= 20


def test_without_labels_all_rows_are_one_group():
    X, y = planted(n_features=6)
    assert summarise_ranking(LaplacianScore(2).fit(X), X).values.labels == ("all rows",)
    assert summarise_ranking(FisherScore(2).fit(X, y), X).values.labels == ("all rows",)
    assert summarise_ranking(LaplacianScore(2).fit(X), X, y).values.labels == ("0", "1")  # labels may still be shown


def test_an_indicator_matrix_has_no_classes():
    X, y = planted(n_features=6)
    labels = np.column_stack([y, np.arange(len(y)) % 3 == 0]).astype(int)
    summary = summarise_ranking(ILFS(2, n_permutations=20).fit(X, labels), X, labels)
    assert summary.class_labels == ()
    assert summary.values.labels == ("all rows",)
    assert summary.certainty.is_better
    assert summary.null_curve is None


def test_wrapped_selectors_give_their_columns_test_and_curve():
    X, y = planted()
    by_size = summarise_ranking(SizeCV(ILFS(n_permutations=20), sizes=[1, 5, 10]).fit(X, y), X, y)
    assert {"relevance", "q_value", "nearest", "effect"} <= set(by_size.table)
    assert by_size.method.inner == ("ILFS",)
    assert by_size.sizes.sizes.tolist() == [1, 5, 10]
    assert by_size.certainty.n_permutations == 20
    by_rate = summarise_ranking(FDRSelector(Novelty(FisherScore())).fit(X, y), X, y)
    assert by_rate.certainty.bound is not None
    assert by_rate.null_curve.ranks[-1] == 40
    other = summarise_ranking(FDRSelector(SelectKBest()).fit(X, y), X, y)
    assert other.method.title == ""


def test_a_loaded_selection_has_what_the_file_has(tmp_path):
    X, y = planted(n_classes=3)
    selector = ILFS(4, n_permutations=20).fit(X, y)
    selector.save(tmp_path / "s.json")
    summary = summarise_ranking(ilfs.load(tmp_path / "s.json"), X)
    assert summary.method.name == "ILFS"
    assert summary.class_labels == ("0", "1", "2")
    assert summary.n_selected == 4
    np.testing.assert_array_equal(summary.table["q_value"], selector.q_values_[selector.order_])


def test_errors_name_the_rule_and_the_value():
    X, y = planted()
    selector = FisherScore(3).fit(X, y)
    with pytest.raises(NotFittedError):
        summarise_ranking(FisherScore())
    with pytest.raises(ValueError, match="X must have the 40 columns that the selector was fitted on, got 39"):
        summarise_ranking(selector, X[:, :39], y)
    other = stability(FisherScore(), X[:, :30], y, k=3, n_resamples=4)
    with pytest.raises(ValueError, match="stability must be that of the 40 features of the selector, got 30"):
        summarise_ranking(selector, stability=other)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(40)])
    named = FisherScore(3).fit(frame, y)
    with pytest.raises(ValueError, match="column 0 is 'other' instead of 'g0'"):
        summarise_ranking(named, table_source(X, y, feature_names=["other", *frame.columns[1:]]))
