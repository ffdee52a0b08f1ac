"""The command ``ilfs bench report``, called as a user would."""

import argparse
import shlex
import sqlite3
from contextlib import closing

import pytest

from ilfs.cli import main
from ilfs.cli.main import command_line


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "quick.sqlite"
    assert main(["bench", "run", "quick", *chosen(path), "--jobs", "1", "--quiet"]) == 0
    return path


def chosen(path):
    return ["--datasets", "wine", "iris", "--methods", "ilfs", "fisher", "--splits", "2", "--store", str(path)]


def test_the_page_is_written_and_its_path_printed(store, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["bench", "report", "quick", *chosen(store), "-o", str(page)]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    text = page.read_text(encoding="utf-8")
    assert "Benchmark of feature selection: suite quick" in text
    command = f"ilfs bench run quick --datasets wine iris --methods ilfs fisher --splits 2 --store {store}"
    assert command in text
    assert f"ilfs bench report quick --datasets wine iris --methods ilfs fisher --splits 2 --store {store} -o" in text
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_without_options_the_page_is_named_after_the_suite_of_the_last_run(store, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "report", "--store", str(store)]) == 0
    assert capsys.readouterr().out == "ilfs-quick.html\n"
    assert (tmp_path / "ilfs-quick.html").is_file()


def test_the_numbers_of_the_page_are_those_of_the_table(store, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["bench", "report", "--store", str(store), "-o", str(page)]) == 0
    capsys.readouterr()
    assert main(["bench", "table", "--store", str(store)]) == 0
    text = page.read_text(encoding="utf-8")
    numbers = [word for word in capsys.readouterr().out.split() if word.replace(".", "").isdigit() and "." in word]
    assert len(numbers) > 10
    assert all(f">{number}<" in text for number in numbers)


def test_other_stores_are_shown_on_the_same_page(store, tmp_path, capsys):
    timing = tmp_path / "timing.sqlite"
    sides = ["--rows", "60", "--columns", "10", "--methods", "ilfs", "fisher"]
    assert main(["bench", "run", "timing", *sides, "--store", str(timing), "--jobs", "1", "--quiet"]) == 0
    other = tmp_path / "other.sqlite"
    options = ["--datasets", "breast_cancer", "--methods", "ilfs", "fisher", "--splits", "2", "--store", str(other)]
    assert main(["bench", "run", "quick", *options, "--jobs", "1", "--quiet"]) == 0
    page = tmp_path / "page.html"
    stores = ["--with-store", str(timing), str(other)]
    assert main(["bench", "report", "--store", str(store), *stores, "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "Suite timing" in text
    assert "The paper&#x27;s procedure over all suites" in text
    assert "ilfs bench run timing --methods ilfs fisher --rows 60 --columns 10 --store" in text
    capsys.readouterr()
    assert main(["bench", "report", "--store", str(store), "--with-store", str(store), "-o", str(page)]) == 2
    assert "the stores must have different data sets, got wine in both" in capsys.readouterr().err


def test_the_classifier_that_is_named_comes_first(tmp_path, capsys):
    path, page = tmp_path / "s.sqlite", tmp_path / "page.html"
    options = ["quick", *chosen(path), "--classifiers", "linear_svm", "knn"]
    assert main(["bench", "run", *options, "--jobs", "1", "--quiet"]) == 0
    for first, second in (("linear_svm", "knn"), ("knn", "linear_svm")):
        assert main(["bench", "report", *options, "--classifier", first, "-o", str(page)]) == 0
        text = page.read_text(encoding="utf-8")
        assert text.index(f"Results ({first})") < text.index(f"Results ({second})")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nosuch"], "suite must be paper, deep"),
        (["quick", "--store", "none.sqlite"], "there is no file none.sqlite"),
        (["quick", "--store", "STORE", "--reference", "nosuch"], "the reference must be one of"),
        (["quick", "--store", "STORE", "--classifier", "nosuch"], "the classifier must be one of linear_svm"),
        (["quick", "--store", "STORE", "--with-store", "none.sqlite"], "there is no file none.sqlite"),
        (["quick", "--store", "STORE", "-o", "no/page.html"], "make its folder first"),
        (["quick", "--store", "STORE", "-o", "."], "choose the path of a file"),
        (
            ["quick", "--store", "STORE", "--methods", "mi"],
            "has no finished jobs: compute them by ilfs bench run quick",
        ),
    ],
)
def test_a_mistake_is_one_sentence_and_nothing_is_written(store, tmp_path, capsys, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "report", *(str(store) if word == "STORE" else word for word in arguments)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert sentence in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_store_is_one_sentence(store, tmp_path, capsys):
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(store.read_bytes())
    with closing(sqlite3.connect(damaged)) as connection, connection:
        connection.execute("UPDATE metrics SET value = 0.123")
    assert main(["bench", "report", "--store", str(damaged), "-o", str(tmp_path / "page.html")]) == 2
    assert capsys.readouterr().err.startswith("ilfs: the store")
    assert not (tmp_path / "page.html").exists()


def help_of(parser):
    """Yield the help texts of a parser and of the actions below it."""
    yield parser.format_help()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from help_of(one)


@pytest.mark.parametrize("command", ["bench", "datasets"])
def test_examples_in_the_help_can_be_parsed(command):
    (commands,) = [one for one in command_line()._actions if isinstance(one, argparse._SubParsersAction)]
    texts = list(help_of(commands.choices[command]))
    lines = [line.strip() for text in texts if "examples:" in text for line in text.split("examples:")[1].splitlines()]
    examples = [line.split("#")[0].split(" > ")[0] for line in lines if line.startswith("ilfs ")]
    assert len(examples) > 3
    for example in examples:
        assert callable(command_line().parse_args(shlex.split(example)[1:]).function)


def test_no_line_of_a_help_text_is_too_long_for_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    (commands,) = [one for one in command_line()._actions if isinstance(one, argparse._SubParsersAction)]
    for command in ("bench", "datasets"):
        for text in help_of(commands.choices[command]):
            assert [line for line in text.split("examples:")[0].splitlines() if len(line) > 80] == []
