"""The looks of the tables of results in the documentation: which values are bold and how they are coloured."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "_extensions"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the documentation is not in this folder")
TABLES = FOLDER.parent / "findings"


@pytest.fixture(scope="module")
def heat():
    """Return the names of the module; dataclasses look their module up."""
    sys.path.insert(0, str(FOLDER))
    try:
        import heat
    finally:
        sys.path.remove(str(FOLDER))
    return heat


def bold(found):
    return [(i, j) for i, row in enumerate(found) for j, look in enumerate(row) if look.is_best]


def shades(found, column):
    return [row[column].shade for row in found]


HEADER = ["method", "COLON", "LUNG"]
ROWS = [["ilfs", "87.9", "100.0"], ["mi", "86.8", "100.0"], ["random", "80.6", "-"], ["cfs", "83.9", "92.6"]]


def test_the_largest_precision_of_a_column_is_best_and_equal_ones_are_too(heat):
    found = heat.looks("Average precision, mean of the classes", HEADER, ROWS)
    assert bold(found) == [(0, 1), (0, 2), (1, 2)]


def test_shades_run_from_the_worst_to_the_best_value_of_a_column(heat):
    found = heat.looks("Average precision, mean of the classes", HEADER, ROWS)
    # 83.9 is at (83.9 - 80.6) / (87.9 - 80.6) = 0.452 of the way, and 8 * 0.452 ** 2 = 1.6
    assert shades(found, 1) == ["heat7", "heat5", "heat0", "heat1"]
    assert shades(found, 0) == [None] * 4
    assert shades(found, 2)[2] is None  # a missing value


def test_the_smallest_rank_and_the_shortest_time_are_best(heat):
    rows = [["a", "1.5"], ["b", "3.0"], ["c", "2.0"]]
    assert bold(heat.looks("Mean rank over the data sets, 1 is best", ["method", "all"], rows)) == [(0, 1)]
    seconds = heat.looks("Seconds to order the features", ["method", "all"], [["a", "1"], ["b", "10"], ["c", "100"]])
    assert shades(seconds, 1) == ["heat7", "heat2", "heat0"]  # half way by logarithms: 8 * 0.5 ** 2


def test_tables_by_class_are_compared_along_their_rows(heat):
    rows = [["cat", "70.0", "60.0", "65.0"], ["dog", "10.0", "30.0", "20.0"]]
    found = heat.looks("VOC 2007: average precision of each class against the rest", ["class", "a", "b", "c"], rows)
    assert bold(found) == [(0, 1), (1, 2)]


def test_columns_that_describe_the_row_are_not_compared(heat):
    rows = [["xor", "9", "50", "100", "0"]]
    found = heat.looks("True features among the first k, per cent", ["data set", "k", "a", "b", "c"], rows)
    assert bold(found) == [(0, 3)]
    assert found[0][1].shade is None


def test_differences_have_one_colour_above_zero_and_another_below(heat):
    rows = [["a", "-10.0", "0.0"], ["b", "2.4", "12.0"]]
    found = heat.looks("Ours (mean of the classes) minus the paper's", ["method", "x", "y"], rows)
    assert [[look.shade for look in row[1:]] for row in found] == [["below4", None], ["above1", "above4"]]
    assert bold(found) == []


def test_significant_differences_are_coloured_by_their_verdict(heat):
    rows = [["mi", "0.3 n.s.", "1.2 better", "-0.4 worse"]]
    found = heat.looks("ilfs against each method over the classes", ["method", "51", "102", "256"], rows)
    assert [look.shade for look in found[0]] == [None, None, "above3", "below3"]


def test_other_tables_are_left_as_they_are(heat):
    assert heat.looks("The paper's procedure for ilfs", HEADER, ROWS) is None


def test_too_few_values_are_not_compared(heat):
    found = heat.looks("Average precision", ["method", "x"], [["a", "1"], ["b", "2"]])
    assert bold(found) == []


@pytest.mark.parametrize(
    ("word", "number"), [("1,234.5", 1234.5), ("-0.3", -0.3), ("88.5 / 57.9 / 3.2", 88.5), ("1.0e-04", 1e-4)]
)
def test_a_number_is_read_from_the_beginning_of_a_word(heat, word, number):
    assert heat.number_in(word) == number


def test_the_generated_tables_of_precision_have_a_rule(heat):
    titles = {path.name: path.read_text().splitlines()[0] for path in TABLES.glob("*macro*.md")}
    assert titles
    assert [name for name, title in titles.items() if heat.rule_of(title) is None] == []


def test_tables_by_hand_are_compared_along_their_rows_and_ranks_the_other_way(heat):
    rows = [["colon (6)", "20: 85.1", "84.0", "1.0"], ["**mean rank**", "1.5", "3", "2"]]
    found = heat.looks("", ["data set (size: precision)", "a", "b", "0.1 against b"], rows)
    assert shades(found, 3) == [None, None]
    rows = [["colon (6)", "20: 85.1", "84.0", "7.0"], ["mean rank", "1.5", "3", "2"]]
    found = heat.looks("", ["data set (size: precision)", "a", "b", "c"], rows)
    assert bold(found) == [(0, 1), (1, 1)]
    assert heat.looks("", ["data set", "a", "b", "c"], rows) is None


def test_a_random_order_takes_no_time_and_is_not_the_fastest(heat):
    rows = [["a", "1.5"], ["b", "3.0"], ["c", "2.0"], ["random", "0.0"]]
    assert bold(heat.looks("Seconds to order the features", ["method", "all"], rows)) == [(0, 1)]
