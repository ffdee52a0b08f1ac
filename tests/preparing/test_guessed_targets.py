"""The target: guessed and said, or refused."""

import numpy as np
import pytest
from prepared_tables import write

from ilfs.preparing import prepare

VALUES = [1.5, 2.5, 0.5, 7.5, 3.5, 4.5]
CLASSES = ["a", "b", "b", "a", "a", "b"]


def file_of(folder, **columns):
    return write(folder / "t.csv", list(columns), list(zip(*columns.values(), strict=True)))


@pytest.mark.parametrize(
    "name", ["target", "Class", "label", "Y", "diagnosis", "status", "outcome", "group", "condition", "type", "species"]
)
def test_a_usual_name_is_the_target(tmp_path, name):
    other = ["u", "v", "u", "u", "v", "v"]  # text with few values too
    table = prepare(file_of(tmp_path, site=other, **{name: CLASSES}, c=VALUES))
    assert table.target == name
    assert table.guesses == (f"the target of t.csv was guessed: {name!r}, by its name; to change it: target='COLUMN'",)
    assert table.source.y.tolist() == CLASSES


def test_a_usual_name_may_be_a_word_of_the_name(tmp_path):
    assert prepare(file_of(tmp_path, site=CLASSES, tumour_type=CLASSES, c=VALUES)).target == "tumour_type"


def test_the_only_text_with_few_values_is_the_target(tmp_path):
    who = [f"p{i}" for i in range(6)]
    table = prepare(file_of(tmp_path, who=who, kind=CLASSES, day=["2024-01-01", "2024-01-02"] * 3, c=VALUES))
    assert table.target == "kind"
    assert "only column of text with few different values" in table.guesses[0]


def test_the_last_column_of_few_integers_is_the_target(tmp_path):
    table = prepare(file_of(tmp_path, c=VALUES, n=[0, 1, 1, 0, 2, 2]))
    assert table.target == "n"
    assert "as the last column" in table.guesses[0]


def test_several_candidates_are_listed(tmp_path):
    with pytest.raises(ValueError, match=r"target must be named.*it could be site and sex"):
        prepare(file_of(tmp_path, site=CLASSES, sex=["m", "f", "m", "f", "m", "f"], c=VALUES))


def test_without_candidates_the_error_says_so(tmp_path):
    with pytest.raises(ValueError, match="none of its 2 columns has few different values"):
        prepare(file_of(tmp_path, b=VALUES[::-1], c=VALUES))


def test_a_method_without_classes_needs_no_target(tmp_path):
    table = prepare(file_of(tmp_path, b=VALUES[::-1], c=VALUES), needs_target=False)
    assert table.target is None
    assert not table.source.has_labels


def test_a_named_target_is_no_guess(tmp_path):
    table = prepare(file_of(tmp_path, kind=CLASSES, sex=["m", "f", "m", "f", "m", "f"], c=VALUES), target="sex")
    assert (table.target, table.guesses) == ("sex", ())


REFUSED = {
    "one class": (["a"] * 6, "target must hold at least two classes, got only 'a' in 'y' of t.csv"),
    "measurements": (VALUES, "target must hold classes, got numbers such as .*5 in 'y' of t.csv: bin a quantity first"),
    "names": (
        [f"p{i}" for i in range(6)],
        "got 6 different texts in 6 rows of 'y' in t.csv: this column seems to name",
    ),
    "mostly missing": (["a", "b", "", "NA", "", "?"], "target must have a class in at least half of the rows"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_target_that_holds_no_classes_is_refused(tmp_path, case):
    values, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        prepare(file_of(tmp_path, y=values, c=VALUES), target="y")


def test_many_integers_are_a_quantity(tmp_path):
    ages = np.random.default_rng(0).integers(20, 90, 100).tolist()
    with pytest.raises(ValueError, match=r"got .. different integers in 'age' of t.csv: bin a quantity first"):
        prepare(file_of(tmp_path, age=ages, c=np.random.default_rng(1).normal(size=100).tolist()), target="age")


def test_rows_without_a_class_are_left_out_with_a_warning(tmp_path):
    table = prepare(file_of(tmp_path, y=["a", "b", "", "a", "NA", "b"], c=VALUES))
    assert table.source.y.tolist() == ["a", "b", "a", "b"]
    assert table.source.to_matrix()[:, 0].tolist() == [1.5, 2.5, 7.5, 4.5]
    assert table.warnings == ("2 rows without a class in 'y' left out: 3 and 5",)


def test_a_class_of_one_row_is_pointed_out(tmp_path):
    table = prepare(file_of(tmp_path, y=["a", "b", "b", "a", "a", "rare"], c=VALUES))
    assert table.warnings == ("1 class of 'y' with a single row, too few to compare: rare",)


def test_whole_numbers_with_and_without_a_point_are_the_same_class(tmp_path):
    assert prepare(file_of(tmp_path, c=VALUES, y=["1", "1.0", "0", "0.0", "1", "0"])).source.y.tolist() == list(
        "110010"
    )


def test_the_target_of_a_table_without_header_is_a_position(tmp_path):
    (tmp_path / "t.csv").write_text("".join(f"{v},{v * v % 3},{k}\n" for v, k in zip(VALUES, CLASSES, strict=True)))
    by_guess, by_number = prepare(tmp_path / "t.csv"), prepare(tmp_path / "t.csv", target=-1)
    assert by_guess.target == by_number.target == "x2"
    assert by_guess.source.feature_names == ["x0", "x1"]


def test_target_and_another_role_must_differ(tmp_path):
    with pytest.raises(ValueError, match="target must be a column without another role, got 'kind' for both"):
        prepare(file_of(tmp_path, kind=CLASSES, c=VALUES), target="kind", groups="kind")


def test_a_column_with_only_one_value_is_named_if_nothing_can_be_guessed(tmp_path):
    rows = [[0.5 + i, 1.5 * i * i, "tumour"] for i in range(8)]
    with pytest.raises(ValueError, match=r"none of its 3 columns has few different values; tissue has only one value"):
        prepare(write(tmp_path / "t.csv", ["a", "b", "tissue"], rows))
