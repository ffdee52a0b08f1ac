"""The result of `stability`: stability selection, tables and text, from numbers chosen by hand."""

import numpy as np
import pandas as pd
import pytest

from ilfs.selection import Stability
from ilfs.selection.false_positives import expected_false_positives
from ilfs.stability_indices import PairwiseIndex, StabilityIndex

N_FEATURES, N_RESAMPLES = 200, 10


def make(**change):
    frequency = np.zeros(N_FEATURES)
    frequency[[7, 3, 5, 9]] = 1.0, 0.7, 0.7, 0.6
    order = np.concatenate([[5, 3, 7, 9], np.setdiff1d(np.arange(N_FEATURES), [5, 3, 7, 9])])
    family = np.where(frequency > 0, np.minimum(frequency + 0.2, 1), np.nan)
    return Stability(
        **{
            "k": 3,
            "complementary_pairs": True,
            "feature_names": np.array([f"gene {j}" for j in range(N_FEATURES)], dtype=object),
            "order": order,
            "subsets": np.zeros((N_RESAMPLES, 3), dtype=np.int64),
            "selection_frequency": frequency,
            "family_frequency": family,
            "rank_low": np.ones(N_FEATURES),
            "rank_median": np.full(N_FEATURES, 2.0),
            "rank_high": np.full(N_FEATURES, 7.4),
            "nogueira": StabilityIndex(0.5, 0.01),
            "kuncheva": PairwiseIndex(0.5, 0.0025, 0.52, 0.04),
            "families": PairwiseIndex(0.9, 0.01, 0.93, 0.3),
        }
        | change
    )


def test_selected_features_are_sorted_by_frequency_and_then_by_rank():
    assert make().selected(0.7).tolist() == [7, 5, 3]
    assert make().selected(0.71).tolist() == [7]
    assert make().selected(0.6).tolist() == [7, 5, 3, 9]


def test_a_threshold_follows_from_the_number_of_false_positives():
    result = make()
    bounds = {count: expected_false_positives(N_FEATURES, 3, count / 10, 10) for count in range(6, 11)}
    assert result.expected_false_positives(0.8) == bounds[8]
    for count in (7, 8, 9):
        assert result.threshold(bounds[count]) == count / 10
        assert result.threshold(bounds[count] * 1.0001) == count / 10
        assert result.threshold(bounds[count] * 0.9999) == (count + 1) / 10
    assert result.selected(max_false_positives=bounds[7]).tolist() == [7, 5, 3]
    assert result.threshold(100) == 0.6  # more than half


def test_without_complementary_pairs_the_bound_needs_no_assumption():
    result = make(complementary_pairs=False)
    assert result.expected_false_positives(0.8) == pytest.approx(9 / 200 / 0.6)
    assert make().expected_false_positives(0.8, "none") == pytest.approx(9 / 200 / 0.6)
    with pytest.raises(ValueError, match="assumption='unimodal' needs complementary pairs of half-samples"):
        result.expected_false_positives(0.8, "unimodal")


def test_invalid_requests_are_refused():
    result = make()
    for arguments in ({}, {"threshold": 0.7, "max_false_positives": 1}):
        with pytest.raises(ValueError, match="selected needs either threshold or max_false_positives"):
            result.selected(**arguments)
    with pytest.raises(ValueError, match=r"threshold must be more than 0\.5 and at most 1, got 0.4"):
        result.selected(0.4)
    with pytest.raises(ValueError, match="max_false_positives must be a number > 0, got 0"):
        result.selected(max_false_positives=0)
    with pytest.raises(
        ValueError, match=r"max_false_positives must be at least .* for k=3 of 200 features and 10 half"
    ):
        result.threshold(1e-9)
    with pytest.raises(ValueError, match="assumption must be"):
        result.expected_false_positives(0.8, "normal")
    with pytest.raises(ValueError, match="top must be an integer >= 1, got 0"):
        result.table(0)


def test_table_makes_a_data_frame():
    frame = pd.DataFrame(make().table())
    assert len(frame) == N_FEATURES
    assert frame["feature"].tolist()[:4] == ["gene 7", "gene 5", "gene 3", "gene 9"]
    assert frame["rank"].tolist()[:4] == [3, 1, 2, 4]
    assert frame["selection_frequency"].is_monotonic_decreasing
    assert pd.DataFrame(make().table(2)).shape == (2, 8)


def test_text_has_indices_features_and_false_positives():
    lines = str(make()).splitlines()
    assert lines[0] == "Stability of the 3 best of 200 features over 10 half-samples, 5 complementary pairs"
    assert "features   0.50   0.30 to 0.70          0.52       0.04" in lines
    assert "families   0.90   0.70 to 1.00          0.93       0.30" in lines
    assert [line.split()[:5] for line in lines if line.startswith("gene")] == [
        ["gene", "7", "3", "1.00", "1.00"],
        ["gene", "5", "1", "0.70", "0.90"],
        ["gene", "3", "2", "0.70", "0.90"],
        ["gene", "9", "4", "0.60", "0.80"],
    ]
    # 0.75 is rounded up to 8 of 10: 9 / 200 times 4 (1 - 0.8 + 0.1) / 1.2
    assert lines[-1] == "Chosen on at least 75 % of the half-samples: 1; expected false positives: at most 0.045"


def test_fields_cannot_be_set():
    with pytest.raises(AttributeError):
        make().k = 4
