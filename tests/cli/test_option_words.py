"""Messages for the command line."""

import pytest

from ilfs.cli.option_words import in_options
from ilfs.preparing import match_columns

SENTENCES = {
    "target must be a column of t.csv (such as a), got 'b'": "--target must be a column of t.csv (such as a), got 'b'",
    "memory_limit must be at least 10 MB": "--memory-limit must be at least 10 MB",
    "target and weight must be different columns": "--target and --weight must be different columns",
    "id, weight and groups must be different columns": "--id, --weight and --groups must be different columns",
    "it was transposed: transpose=False if not": "it was transposed: --no-transpose if not",
    "text: encode=True makes features of it": "text: --encode makes features of it",
    "if it identifies the rows: drop='sample id'": "if it identifies the rows: --drop 'sample id'",
    "name it: target='diagnosis'": "name it: --target diagnosis",
    "drop=['a', \"b's\"] unless": "--drop a 'b'\"'\"'s' unless",
    "n_permutations=3 is too small for fdr=0.05": "--permutations 3 is too small for --fdr 0.05",
    "a larger n_permutations, or random_state=1": "a larger --permutations, or --seed 1",
    "the target of t.csv was guessed": "the target of t.csv was guessed",
    "a column target of the table": "a column target of the table",
    "ilfs.read(..., target=)": "ilfs.read(..., target=)",
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_parameters_become_options(sentence):
    assert in_options(sentence) == SENTENCES[sentence]


def test_patterns_keep_the_order_of_the_columns_and_repeat_none():
    assert match_columns(["c", "a*", "ab"], ["ab", "c", "ac", "b"], "drop") == ["ab", "c", "ac"]


def test_a_name_with_brackets_is_taken_by_its_name():
    assert match_columns("x[1]", ["x[1]", "x1"], "drop") == ["x[1]"]
    assert match_columns("x[12]", ["x[1]", "x1", "x2"], "drop") == ["x1", "x2"]


def test_the_error_of_a_pattern_names_the_option():
    with pytest.raises(
        ValueError, match=r"--must-keep must match at least one column \(such as BRCA1\), got 'BRCA\*\*2'"
    ):
        match_columns(["BRCA**2"], ["BRCA1", "TP53"], "--must-keep")


def test_names_in_another_case_are_suggested():
    with pytest.raises(ValueError, match=r"\(such as GENE0033\), got 'gene0033'"):
        match_columns("gene0033", [f"GENE{j:04d}" for j in range(3000)], "--feature")
