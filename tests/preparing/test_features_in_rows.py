"""Chosen features of tables with features in rows: nothing is set aside, whatever the new samples look like."""

import numpy as np
import pytest

from ilfs.preparing import prepare
from ilfs.preparing.features_in_rows import read_features_in_rows


@pytest.fixture
def counts(tmp_path):
    path = tmp_path / "counts.tsv"
    path.write_text(
        "gene\tname\tS1\tS2\tS3\nTP53\tp53\t5\tNA\t7\nMYC\tmyc\t1\t1\t1\nEGFR\tegfr\t2.5\t3\t0\nodd\tx\ta\tb\tc\n"
    )
    return path


def test_features_are_found_by_name_and_returned_in_the_wanted_order(counts):
    source, samples = read_features_in_rows(counts, ["EGFR", "MYC", "TP53"])
    np.testing.assert_array_equal(source.to_matrix(), [[2.5, 1, 5], [3, 1, np.nan], [0, 1, 7]])
    assert source.feature_names == ["EGFR", "MYC", "TP53"]
    assert samples.tolist() == ["S1", "S2", "S3"]


def test_one_sample_is_enough(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("gene,S1\nTP53,5\nMYC,1\n")
    source, samples = read_features_in_rows(path, ["MYC"])
    assert source.to_matrix().tolist() == [[1.0]]
    assert samples.tolist() == ["S1"]


def test_missing_features_are_named(counts):
    with pytest.raises(ValueError, match=r"counts.tsv must have all 2 selected columns, but lacks 'BRCA1'"):
        read_features_in_rows(counts, ["MYC", "BRCA1"])


def test_text_is_refused(counts):
    with pytest.raises(ValueError, match=r"values of 'odd' in .*counts.tsv must be numbers"):
        read_features_in_rows(counts, ["odd"])


def test_missing_values_beside_a_row_of_classes_are_read(tmp_path):
    path = tmp_path / "genes.csv"
    path.write_text("gene,S1,S2,S3,S4\nclass,a,b,a,b\nTP53,5,NA,7,3\nMYC,1,2,1,\n")
    table = prepare(path, target="class")
    np.testing.assert_array_equal(table.source.to_matrix(), [[5, 1], [np.nan, 2], [7, 1], [3, np.nan]])
