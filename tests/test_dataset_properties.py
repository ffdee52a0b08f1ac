"""Properties of data sets: numbers worked out by hand, and the crosses of the paper on its own data sets."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import DATA, NO_DATA
from scipy import sparse
from scipy.stats import kurtosis

from ilfs.benchmark.paper_tables import dataset_rows
from ilfs.cli import main
from ilfs.datasets import Dataset, load, measure_properties
from ilfs.datasets.properties import MAX_ROWS, class_overlap, median_kurtosis, standardised
from ilfs.report.datasets import agreement, properties_grid

AVAILABLE = ("colon", "leukemia", "prostate", "lymphoma", "lung", "gina", "dexter", "polarity")


def made(X, y, n_classes=2):
    return Dataset("made", X, np.asarray(y), tuple(map(str, range(n_classes))))


def test_overlap_is_the_mean_over_the_classes_of_neighbours_of_another_class():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [11.5]])
    # nearest of class 0: 1, 0; of class 1 (rows 2 and 4): 3, 3; row 3 of class 0: 4
    assert class_overlap(X, np.array([0, 0, 1, 0, 1])) == pytest.approx((1 / 3 + 2 / 2) / 2)
    assert class_overlap(sparse.csr_array(X), np.array([0, 0, 1, 0, 1])) == pytest.approx((1 / 3 + 2 / 2) / 2)


def test_neighbours_at_the_same_distance_count_in_equal_parts():
    X = np.array([[-1.0], [0.0], [1.0]])
    assert class_overlap(X, np.array([0, 0, 1])) == pytest.approx((0.5 / 2 + 1 / 1) / 2)


def test_overlap_of_several_labels_ignores_difficult_ones():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    Y = np.array([[1, 0], [1, 1], [1, 1], [-1, 0]])
    # label 0: no member has a neighbour without it; label 1: both members have
    assert class_overlap(X, Y) == pytest.approx((0 + 1) / 2)


def test_kurtosis_is_that_of_scipy_without_missing_values_and_constant_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_t(5, size=(100, 7))
    expected = kurtosis(X, axis=0, fisher=False)
    assert median_kurtosis(X) == pytest.approx(np.median(expected))
    X[3, 0] = np.nan
    expected[0] = kurtosis(np.delete(X[:, 0], 3), fisher=False)
    wide = np.column_stack([X, np.ones(100), np.full(100, np.nan)])
    assert median_kurtosis(wide) == pytest.approx(np.median(expected))
    assert np.isnan(median_kurtosis(np.ones((4, 2))))


def test_standardised_features_put_missing_values_at_the_mean():
    Z = standardised(np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]]))
    np.testing.assert_allclose(Z, [[-1, 0], [1, 0], [0, 0]])


def test_each_rule_at_its_threshold():
    found = measure_properties(made(np.random.default_rng(0).normal(size=(30, 40)), np.arange(30) % 2))
    assert found.few_train
    assert not replace(found, n_features=30).few_train
    assert replace(found, n_samples=200, n_features=201).few_train
    assert not replace(found, n_samples=201, n_features=500).few_train
    assert replace(found, class_ratio=2.0).unbalanced
    assert not replace(found, class_ratio=1.9).unbalanced
    assert not replace(found, overlap_fraction=0.1).overlap
    assert replace(found, overlap_fraction=0.11).overlap
    assert not replace(found, kurtosis=float("nan")).noise
    assert replace(found, kurtosis=4.1).noise
    assert not replace(found, zero_fraction=0.9).sparse


def test_dense_and_sparse_storage_give_the_same():
    rng = np.random.default_rng(1)
    X = rng.poisson(0.05, size=(80, 60)).astype(float)
    y = rng.integers(0, 2, size=80)
    dense, stored = measure_properties(made(X, y)), measure_properties(made(sparse.csr_array(X), y))
    assert dense.sparse
    assert np.isnan(dense.kurtosis)
    assert dense.overlap_fraction == pytest.approx(stored.overlap_fraction)
    assert dense.zero_fraction == stored.zero_fraction
    assert dense.class_ratio == stored.class_ratio


def test_long_tables_are_sampled_and_the_sample_hardly_matters():
    rng = np.random.default_rng(2)
    y = np.arange(3 * MAX_ROWS) % 2
    table = made(rng.normal(size=(y.size, 3)) + 1.5 * y[:, None], y)
    first, second = measure_properties(table), measure_properties(table, seed=1)
    assert first != second
    assert first.overlap_fraction == pytest.approx(second.overlap_fraction, abs=0.03)


def test_a_class_without_samples_is_as_unbalanced_as_can_be():
    assert measure_properties(made(np.eye(4), [0, 0, 1, 1], 3)).class_ratio == float("inf")


@pytest.mark.skipif(not DATA, reason=NO_DATA)
def test_rules_agree_with_the_crosses_of_the_paper_except_for_the_overlap_of_polarity():
    measured = {name: measure_properties(load(name)) for name in AVAILABLE}
    counts = {name: agreement(measured, name) for name in ("few_train", "unbalanced", "overlap", "noise", "sparse")}
    assert counts == {"few_train": (8, 8), "unbalanced": (0, 0), "overlap": (2, 3), "noise": (8, 8), "sparse": (8, 8)}
    assert measured["polarity"].overlap
    assert dataset_rows()["polarity"].overlap == ""
    note = "Agreement with the paper's crosses: few train 8 of 8, overlap 2 of 3, noise 8 of 8, sparse 8 of 8."
    assert note in properties_grid(measured).notes


def test_the_command_measures_named_data_sets(capsys):
    assert main(["datasets", "--properties", "iris", "synthetic_unbalanced"]) == 0
    said = capsys.readouterr().out
    assert "X 9.0" in said
    assert "few train: at most 200 samples, and fewer samples than features." in said
    assert "Agreement" not in said
    assert main(["datasets", "--properties", "nothing"]) == 2


def test_the_command_lists_the_papers_data_sets_that_are_not_here(tmp_path, monkeypatch, capsys):
    for name in ("ILFS_MIRROR", "ILFS_VOC_DEVKIT", "ILFS_VOC_NETWORK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ILFS_DATA", str(tmp_path))
    monkeypatch.setenv("ILFS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ILFS_OFFLINE", "1")
    assert main(["datasets", "--properties"]) == 0
    said = capsys.readouterr().out
    assert "Not available here: gina, dexter, polarity, colon," in said
    assert "31/150" in said
