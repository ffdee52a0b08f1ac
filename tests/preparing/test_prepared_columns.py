"""Which columns are features, and why the others are not."""

import numpy as np
import pytest
from prepared_tables import values_of, write

from ilfs.preparing import prepare


def prepared(folder, columns, **options):
    """Write columns beside a target and prepare the file."""
    n_rows = len(next(iter(columns.values())))
    all_columns = {"y": ["a", "b"] * (n_rows // 2), **columns, "good": [i * 7 % 5 + i / 10 for i in range(n_rows)]}
    path = write(folder / "t.csv", list(all_columns), list(zip(*all_columns.values(), strict=True)))
    return prepare(path, **{"target": "y", **options})


def reason(table, name):
    return next((one.reason for one in table.set_aside if one.name == name), None)


CASES = {
    "constant": ([3] * 8, "has the same value, 3, in all rows"),
    "constant with gaps": ([3] * 7 + ["NA"], "has the same value, 3, in all rows that have one"),
    "constant text": (["x"] * 8, "has the same value, 'x', in all rows"),
    "no values": (["NA"] * 8, "has no values"),
    "ISO dates": ([f"2024-01-0{i % 3 + 1}" for i in range(8)], "holds dates (2024-01-01)"),
    "dates with points": ([f"{i % 3 + 1}.12.2023" for i in range(8)], "holds dates (1.12.2023)"),
    "times": ([f"2024-01-02 10:0{i}" for i in range(8)], "holds dates (2024-01-02 10:00)"),
    "row numbers": (list(range(1, 9)), "numbers the rows"),
    "different texts": ([f"p{i}" for i in range(8)], "identifies the rows by different texts (p0, p1, ...)"),
    "long integers": ([10**17 + i * 3 for i in range(8)], "holds integers beyond 2**53, which would be rounded"),
    "odd token": ([1.5, 2, "<0.1", 4, 5, 7, 2, "NA"], "holds text, '<0.1' in row 3, among numbers"),
    "odd tokens": ([1.5, 2, "<0.1", 4, 5, "low", 2, 1], "holds text, '<0.1' in row 3 and 1 more values, among numbers"),
    "text": (
        ["M", "F", "F", "M", "M", "F", "U", "M"],
        "holds text with 3 different values (F, M, ...): encode=True makes features of it",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_column_that_is_no_feature_is_set_aside_with_its_reason(tmp_path, case):
    values, expected = CASES[case]
    table = prepared(tmp_path, {"c": values})
    assert reason(table, "c").startswith(expected)
    assert table.source.feature_names == ["good"]


@pytest.mark.parametrize("name", ["id", "patient_id", "sampleID", "Row", "accession"])
def test_different_integers_are_an_identifier_if_the_column_is_called_so(tmp_path, name):
    values = [17, 3, 99, 45, 21, 8, 60, 2]
    assert reason(prepared(tmp_path, {name: values}), name) == "identifies the rows by different integers"
    assert reason(prepared(tmp_path, {"age": values}), "age") is None


def test_ranks_of_a_feature_are_no_identifier(tmp_path):
    table = prepared(tmp_path, {"rank": [3, 1, 2, 8, 7, 5, 4, 6]})
    assert table.source.feature_names == ["rank", "good"]


@pytest.mark.parametrize("token", ["NA", "n/a", "nan", "?", "", "NULL"])
def test_missing_values_stay_missing_in_a_feature(tmp_path, token):
    table = prepared(tmp_path, {"c": [1, token, 3, 4.5, 5, 9, 7, 8]})
    np.testing.assert_equal(values_of(table)[:, 0], [1, np.nan, 3, 4.5, 5, 9, 7, 8])


def test_texts_true_and_false_are_a_feature(tmp_path):
    table = prepared(tmp_path, {"c": ["True", "FALSE", "true", "True", "NA", "False", "True", "False"]})
    np.testing.assert_equal(values_of(table)[:, 0], [1, 0, 1, 1, np.nan, 0, 1, 0])


@pytest.mark.parametrize("text", ["inf", "-Infinity"])
def test_infinity_is_refused_with_column_and_row(tmp_path, text):
    with pytest.raises(ValueError, match=r"column 'c' of t.csv must be finite, got -?inf in row 3"):
        prepared(tmp_path, {"c": [1, 2, text, 4, 5, 6, 7, 8]})


def test_encoding_makes_a_feature_of_each_text(tmp_path):
    kinds = ["M", "F", "F", "M", "M", "F", "U", "M"]
    table = prepared(tmp_path, {"sex": kinds}, encode=True)
    assert table.source.feature_names == ["sex=F", "sex=M", "sex=U", "good"]
    for j, kind in enumerate("FMU"):
        np.testing.assert_array_equal(values_of(table)[:, j], [float(one == kind) for one in kinds])
    assert reason(table, "sex") == "in its place are sex=F, sex=M and sex=U (1 if so, else 0)"


def test_encoding_two_texts_makes_one_feature_and_leaves_out_its_complement(tmp_path):
    table = prepared(tmp_path, {"smoker": ["yes", "no", "no", "no", "yes", "yes", "no", "no"]}, encode=True)
    assert table.source.feature_names == ["smoker=yes", "good"]


def test_encoding_leaves_many_different_texts_aside(tmp_path):
    table = prepared(tmp_path, {"c": [f"t{i % 30}" for i in range(60)]}, encode=True)
    assert reason(table, "c").startswith("holds text with 30 different values")


@pytest.mark.parametrize("case", ["odd token", "ISO dates", "different texts", "constant text"])
def test_encoding_leaves_other_text_aside(tmp_path, case):
    table = prepared(tmp_path, {"c": CASES[case][0]}, encode=True)
    assert table.source.feature_names == ["good"]


def test_without_any_feature_the_error_says_why(tmp_path):
    path = write(tmp_path / "t.csv", ["y", "c"], [["a", 1], ["b", 1], ["a", 1], ["b", 1]])
    with pytest.raises(
        ValueError, match=r"t.csv must have at least one column of numbers that vary.*'c' has the same value"
    ):
        prepare(path, target="y")


COLUMNS = {"AFFX-1": [1, 5, 2, 4], "AFFX-2": [4, 1, 2, 2], "TP53": [2, 3, 1, 1], "age": [50, 61, 47, 50]}


class TestChoice:
    def names(self, folder, **options):
        return prepared(folder, COLUMNS, **options).source.feature_names

    def test_drop_takes_names_and_patterns(self, tmp_path):
        assert self.names(tmp_path, drop=["AFFX*", "age"]) == ["TP53", "good"]

    def test_only_takes_names_and_patterns(self, tmp_path):
        assert self.names(tmp_path, only="AFFX-?") == ["AFFX-1", "AFFX-2"]

    def test_drop_wins_over_only(self, tmp_path):
        assert self.names(tmp_path, only="A*", drop="AFFX-1") == ["AFFX-2"]

    def test_only_may_name_the_target(self, tmp_path):
        assert self.names(tmp_path, only=["y", "age"]) == ["age"]

    def test_a_pattern_to_drop_spares_the_target(self, tmp_path):
        assert self.names(tmp_path, drop=["?", "AFFX*"]) == ["TP53", "age", "good"]

    @pytest.mark.parametrize("role", ["target", "weight", "groups", "id"])
    def test_a_column_with_a_role_cannot_be_dropped(self, tmp_path, role):
        with pytest.raises(ValueError, match=f"{role} and drop must be different columns, got 'age' for both"):
            self.names(tmp_path, drop="age", **{role: "age"})

    def test_case_matters(self, tmp_path):
        with pytest.raises(
            ValueError, match=r"drop must match at least one column \(such as .*AFFX-.*\), got 'affx\*'"
        ):
            self.names(tmp_path, drop="affx*")

    def test_a_pattern_without_a_match_is_named_with_similar_names(self, tmp_path):
        with pytest.raises(ValueError, match=r"only must match at least one column \(such as TP53.*\), got 'TP35'"):
            self.names(tmp_path, only="TP35")

    def test_dropped_columns_are_in_the_account(self, tmp_path):
        assert reason(prepared(tmp_path, COLUMNS, drop="age"), "age") == "dropped on request"

    def test_roles_are_no_features(self, tmp_path):
        table = prepared(tmp_path, COLUMNS, id="TP53", weight="AFFX-1", groups="age")
        assert table.source.feature_names == ["AFFX-2", "good"]
        assert table.ids.tolist() == ["2", "3", "1", "1"]
        assert table.groups.tolist() == ["50", "61", "47", "50"]
        assert table.source.sample_weight.tolist() == [1, 5, 2, 4]

    @pytest.mark.parametrize("role", ["id", "weight", "groups", "target"])
    def test_a_role_must_be_a_column(self, tmp_path, role):
        with pytest.raises(ValueError, match=rf"{role} must be a column of t.csv \(such as age.*\), got 'ages'"):
            prepared(tmp_path, COLUMNS, **{role: "ages"})

    def test_weights_must_be_numbers(self, tmp_path):
        with pytest.raises(ValueError, match=r"weight must hold numbers >= 0, got 'x' in 'w' of t.csv"):
            prepared(tmp_path, {"w": [1, 2, "x", 1]}, weight="w")


def test_names_of_rows_come_from_a_column_of_different_texts(tmp_path):
    table = prepared(tmp_path, {"who": [f"p{i}" for i in range(8)]})
    assert table.ids.tolist() == [f"p{i}" for i in range(8)]


def test_a_first_column_without_a_name_names_the_rows(tmp_path):
    path = write(tmp_path / "t.csv", ["", "y", "c"], [[f"r{i}", "ab"[i % 2], i * i] for i in range(6)])
    table = prepare(path)
    assert table.source.feature_names == ["c"]
    assert table.ids.tolist() == [f"r{i}" for i in range(6)]
