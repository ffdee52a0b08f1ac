"""``ilfs methods``: every method with its abilities, in three formats."""

import json
from dataclasses import asdict

import pytest

from ilfs import list_methods
from ilfs.cli import main
from ilfs.cli.methods import as_text


def printed(capsys, *options):
    assert main(["methods", *options]) == 0
    return capsys.readouterr().out


def test_text_has_one_line_for_each_method(capsys):
    header, *lines = printed(capsys).splitlines()
    assert [line.split()[:2] for line in lines[:-2]] == [[one.name, one.class_name] for one in list_methods()]
    assert all(line.endswith(one.summary) for line, one in zip(lines, list_methods(), strict=False))
    assert len({line.index(one.class_name) for line, one in zip(lines, list_methods(), strict=False)}) == 1
    assert header.split()[:4] == ["name", "class", "type", "labels"]


@pytest.mark.parametrize("width", [80, 100, 300])
def test_text_fits_the_width_of_a_terminal(width):
    lines = as_text(list_methods(), width).splitlines()
    assert max(map(len, lines)) <= width
    starts = [line.split()[0] for line in lines if line]
    assert all(one.name in starts for one in list_methods())


def test_json_has_all_fields(capsys):
    assert json.loads(printed(capsys, "--format", "json")) == [asdict(one) for one in list_methods()]


def test_markdown_is_a_table(capsys):
    lines = printed(capsys, "--format", "markdown").splitlines()[:-2]
    assert len(lines) == 2 + len(list_methods())
    assert {line.count("|") for line in lines} == {11}
    assert lines[2].startswith("| ilfs | ILFS | filter | yes | yes | yes | yes | yes | yes | features that represent")


def test_an_ability_of_the_method_inside_is_marked(capsys):
    *_, novelty, _, note = printed(capsys).splitlines()
    assert novelty.split()[:9] == ["novelty", "Novelty", "filter", *["depends"] * 6]
    assert note.startswith("depends: on the parameters, or on the wrapped method")


def test_an_unknown_format_is_a_usage_error(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["methods", "--format", "yaml"])
    assert "argument --format: invalid choice: 'yaml' (choose from" in capsys.readouterr().err
