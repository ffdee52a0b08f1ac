"""Examples in the documentation and in the help texts are run; completion works in a real shell."""

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from glob import glob
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ilfs.cli import apply, compare, completion, explain, interactions, main, rank
from ilfs.cli.main import command_line
from ilfs.cli.parser import leaves, options_of, subcommands

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "command.md"


def console_examples(text):
    """Commands of the console blocks, each with the output below it."""
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for example in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = example.partition("\n")
            yield command, output


def run_together(arguments):
    """Run a command; return its exit code, and stdout and stderr in the order in which they were written."""
    both = io.StringIO()
    with redirect_stdout(both), redirect_stderr(both):
        code = main(arguments)
    return code, both.getvalue()


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not in this folder")
class TestPage:
    def test_every_example_prints_what_the_page_shows(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setattr("ilfs.report.terminal.can_show", lambda *_: True)
        text = PAGE.read_text()
        exec(re.search(r"```python\n(.*?)```", text, re.S)[1], {})
        examples = list(console_examples(text))
        assert len(examples) >= 8
        for command, output in examples:
            words = shlex.split(command)
            assert words[0] == "ilfs"
            code, printed = run_together(words[1:])
            assert printed == output, command
            assert code == (2 if output.startswith("ilfs: --target must") else 0)

    def test_links_of_the_page_are_plain_markdown_to_pages_that_exist(self):
        text = PAGE.read_text()
        assert "{doc}" not in text
        links = re.findall(r"\]\((\w+\.md)", text)
        assert links
        assert all((PAGE.parent / link).exists() for link in links)

    def test_the_first_example_of_the_readme_prints_what_it_shows(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr("ilfs.report.terminal.can_show", lambda *_: True)
        command, output = next(console_examples((ROOT / "README.md").read_text()))
        code, printed = run_together(shlex.split(command)[1:])
        assert (code, printed) == (0, output)
        assert Path("cancer.html").exists()

    def test_the_commands_of_the_readme_have_only_known_options(self):
        commands = [command for command, _ in console_examples((ROOT / "README.md").read_text())]
        ours = [command.partition("#")[0] for command in commands if command.startswith("ilfs ")]
        assert len(ours) > 12
        for command in ours:
            command_line().parse_args(shlex.split(command)[1:])

    @pytest.mark.parametrize("command", ["rank", "explain", "apply"])
    def test_every_option_is_on_the_page(self, command):
        text = PAGE.read_text()
        parser = subcommands(command_line())[command]
        options = [name for name in options_of(parser) if name.startswith("--") and name != "--help"]
        assert [name for name in options if name not in text] == []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that the help texts name."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    names = ["TP53", "BRCA1", "AFFX-1", "AFFX-2", *(f"gene{j}" for j in range(60))]
    frame = pd.DataFrame(rng.normal(size=(48, len(names))).round(3), columns=names)
    tumour = np.tile(["no", "yes"], 24)
    frame["TP53"] += 2.0 * (tumour == "yes")
    frame.assign(tumour=tumour).to_csv("expression.csv", index=False)
    frame.assign(tumour=tumour).to_csv("other.csv", index=False)
    samples = [f"P{i}" for i in range(48)]
    frame.T.set_axis(samples, axis=1).to_csv("genes-in-rows.tsv", sep="\t", index_label="gene")
    pd.DataFrame({"sample": samples, "tumour": tumour}).to_csv("sheet.csv", index=False)
    table = frame.assign(y=tumour, tumour=tumour, donor=np.arange(48) // 4, id=samples, date="2024-05-01")
    table.drop(columns=["id", "date", "tumour"]).to_csv("table.csv", index=False)
    table.drop(columns=["id", "date", "tumour"]).to_csv("table.csv.gz", index=False)
    for name in ("parts", "folder"):
        Path(name).mkdir()
        for number in range(2):
            table[number * 24 : number * 24 + 24].to_parquet(f"{name}/{number}.parquet")
    return tmp_path


def help_examples(module):
    return [line.strip() for line in module.EXAMPLES.splitlines()[1:] if line.strip()]


def words_of(line):
    """Split a command line as a shell does, with patterns that are not quoted replaced by the names of files."""
    lexer = shlex.shlex(line, posix=False, punctuation_chars=False)
    lexer.whitespace_split = True
    for word in lexer:
        yield from sorted(glob(word)) if "*" in word and "'" not in word else shlex.split(word)


@pytest.mark.parametrize("module", [rank, explain, apply, compare, interactions], ids=lambda module: module.__name__)
def test_the_examples_of_the_help_texts_work(module, folder):
    for line in help_examples(module):
        if "--scheduler" in line:  # there is no such scheduler: that the options are known is enough
            command_line().parse_args(shlex.split(line)[1:])
        elif "|" in line:
            run_in_shell(line)
        else:
            code, printed = run_together([*words_of(line)][1:])
            assert code == 0, f"{line}: {printed}"
    assert help_examples(module)


def run_in_shell(line):
    bash = shutil.which("bash") or pytest.skip("bash is not installed")
    script = f'ilfs() {{ "{sys.executable}" -m ilfs "$@"; }}; set -o pipefail; {line}'
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)


def test_every_help_text_fits_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for parser in leaves(command_line()):
        if not parser.prog.startswith("ilfs bench"):  # its usage has lists of choices that cannot be broken
            described = parser.format_help().partition("examples:")[0]
            assert max(map(len, described.splitlines())) <= 80, parser.prog


class TestCompletion:
    @pytest.fixture(scope="class")
    @classmethod
    def script(cls):
        return completion.bash_script(command_line())

    @pytest.fixture
    def bash(self):
        return shutil.which("bash") or pytest.skip("bash is not installed")

    def offered(self, bash, script, *words):
        """Return what bash offers for the last of some words."""
        quoted = " ".join(map(shlex.quote, words))
        program = (
            f"{script}\nCOMP_WORDS=({quoted})\nCOMP_CWORD={len(words) - 1}\n_ilfs\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        done = subprocess.run([bash, "-c", program], capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return done.stdout.split()

    def test_the_script_is_valid(self, bash, script):
        assert subprocess.run([bash, "-n"], input=script, text=True, check=False).returncode == 0

    @pytest.mark.parametrize(
        ("words", "offered"),
        [
            (["ilfs", "ra"], ["rank"]),
            (["ilfs", "rank", "--me"], ["--method", "--memory-limit"]),
            (["ilfs", "rank", "x.csv", "--method", "fi"], ["fisher"]),
            (["ilfs", "rank", "--rule", "a"], ["auto", "absorption"]),
            (["ilfs", "rank", "--engine", ""], ["auto", "memory", "stream", "dask"]),
            (["ilfs", "datasets", "sh"], ["show"]),
            (["ilfs", "completion", ""], ["bash", "zsh"]),
            (["ilfs", "bench", "run", "--sched"], ["--scheduler"]),
            (["ilfs", "rank", "tab"], []),  # bash then offers files
        ],
        ids=lambda words: " ".join(words),
    )
    def test_bash_offers_commands_options_and_choices(self, words, offered, bash, script):
        assert self.offered(bash, script, *words) == offered

    def test_every_option_of_every_command_is_offered(self, script):
        for parser in leaves(command_line()):
            (case,) = re.findall(rf'^ {{12}}"{re.escape(parser.prog)}"\) (.*)$', script, re.M)
            assert all(name in case for name in options_of(parser) if name.startswith("--"))

    def test_zsh_gets_the_same_script(self):
        code, printed = run_together(["completion", "zsh"])
        assert code == 0
        assert printed.startswith("#compdef ilfs\n")
        assert "complete -o default" in printed


def test_every_command_has_a_description():
    # docs/options.md shows it
    assert [parser.prog for parser in leaves(command_line()) if not parser.description] == []
