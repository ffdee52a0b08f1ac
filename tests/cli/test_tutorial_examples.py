"""The commands of the tutorial print what the tutorial shows."""

import re
import shlex
from pathlib import Path

import pytest
from test_command_examples import console_examples, run_together

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not in this folder")
def test_every_command_prints_what_the_tutorial_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("ilfs.report.terminal.can_show", lambda *_: True)
    text = PAGE.read_text()
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], {})
    examples = list(console_examples(text))
    assert [shlex.split(command)[1] for command, _ in examples] == ["rank", "explain", "rank", "apply"]
    for command, output in examples:
        assert run_together(shlex.split(command)[1:]) == (0, output), command
    assert Path("tumours.html").stat().st_size > 10_000
    assert len(Path("small.csv").read_text().splitlines()[0].split(",")) == 5
