"""Messages of the library in the words of the command."""

import pytest

from ilfs.cli.messages import MAX_MESSAGE_CHARACTERS, in_words_of_the_command, plain
from ilfs.cli.talk import Talk, set_aside_sentences
from ilfs.preparing import SetAside


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("memory_limit must be at least 1 MB, got 5", "--memory-limit must be at least 1 MB, got 5"),
        (
            "n_features_to_select=50 is more than the 5 features of X",
            "--top 50 is more than the 5 features of the table",
        ),
        ("n_features_to_select='fdr' needs p-values", "--rule fdr needs p-values"),
        ("fdr must be a number strictly between 0 and 1", "--fdr must be a number strictly between 0 and 1"),
        ("n_permutations=3 is too small for fdr=0.05", "--permutations 3 is too small for --fdr 0.05"),
        ("y must have at least two classes", "--target must have at least two classes"),
        ("column 'a' of X holds infinity", "column 'a' holds infinity"),
        (
            "must_keep must hold different columns, got 'a' twice",
            "--must-keep must hold different columns, got 'a' twice",
        ),
        ("drop='sample' is enough", "--drop sample is enough"),
        (
            "use a method that leaves them out (ILFS, FisherScore, MutualInformation, ReliefF)",
            "use a method that leaves them out (--method ilfs, fisher, mi or relieff)",
        ),
        ("give a number, or use ILFS", "give a number, or use --method ilfs"),
        ("use one of ILFS, FisherScore", "use --method ilfs or fisher"),
        ("FisherScore takes no text", "FisherScore takes no text"),
        ("a message without parameters", "a message without parameters"),
    ],
)
def test_parameters_become_options(message, said):
    assert in_words_of_the_command(message) == said


def test_a_message_is_one_printable_line_of_bounded_length():
    assert plain("a\x1b[2J\r\n\tb\u202ec") == "a [2J b c"
    assert len(plain("x" * 10_000)) == MAX_MESSAGE_CHARACTERS + 3


def test_columns_set_aside_are_counted_by_reason_most_frequent_first():
    aside = [SetAside("id", "names the rows")] + [SetAside(f"c{j}", "is constant") for j in range(7)]
    aside += [SetAside("red\x1b[31m", "holds dates"), SetAside("n" * 500, "holds text")]
    sentences = set_aside_sentences(aside)
    assert sentences[0] == "7 columns (c0, c1, c2, c3, ...): each is constant"
    assert sentences[1] == "id: names the rows"
    assert sentences[2] == r"red\x1b[31m: holds dates"
    assert len(sentences[3]) < 60


def test_reasons_without_a_verb_stay_as_they_are():
    aside = [SetAside(name, "dropped on request") for name in "ab"]
    assert set_aside_sentences(aside) == ["2 columns (a, b): dropped on request"]


def test_warnings_are_told_even_if_the_command_is_quiet(capsys):
    talk = Talk(quiet=True)
    talk.tell("input", "a table")
    talk.tell_all("warning", ["a leak"])
    assert capsys.readouterr().err.split() == ["warning", "a", "leak"]


def test_many_reasons_are_cut():
    sentences = set_aside_sentences([SetAside(f"c{j}", f"reason {j}") for j in range(30)])
    assert len(sentences) == 7
    assert sentences[-1] == "24 more columns for other reasons, which the page (--report) lists"
