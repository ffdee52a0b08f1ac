"""Help, version, the list of methods and usage errors answer at once: they import nothing heavy."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ilfs
from ilfs.cli.main import COMMANDS as COMMANDS_OF_ILFS

HEAVY = {"numpy", "scipy", "sklearn", "numba", "pandas", "joblib", "narwhals"}
MAX_MODULES = 100  # modules in addition to those of an empty Python; benchmarks/speed.py start measures the time
COMMANDS = [
    (["--version"], 0),
    (["--help"], 0),
    (["methods"], 0),
    (["methods", "--format", "json"], 0),
    (["methods", "--format", "markdown"], 0),
    (["methods", "--help"], 0),
    (["datasets", "--help"], 0),
    (["datasets", "show", "--help"], 0),
    (["datasets", "fetch", "--help"], 0),
    (["rank", "--help"], 0),
    (["explain", "--help"], 0),
    (["apply", "--help"], 0),
    (["completion", "bash"], 0),
    (["bench", "--help"], 0),
    (["bench", "run", "--help"], 0),
    (["bench", "statistics", "--help"], 0),
    ([], 0),
    (["rank"], 2),
    (["rank", "table.csv", "--top", "5", "--rule", "fdr"], 2),
    (["apply", "selection.json"], 2),
    (["bench", "rum"], 2),
    (["bench", "statistics", "--metric", "none"], 2),
]
every = pytest.mark.parametrize(
    ("arguments", "code"), COMMANDS, ids=[" ".join(one) or "no command" for one, _ in COMMANDS]
)


def python(*arguments):
    environment = os.environ | {"PYTHONPATH": str(Path(ilfs.__file__).parents[1])}
    return subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)


def all_modules(done):
    """Modules that ``-X importtime`` has listed."""
    return set(re.findall(r"^import time:.*\|\s*(\S+)$", done.stderr, re.M))


def loaded_modules(done):
    """Top-level packages that ``-X importtime`` has listed."""
    return {name.partition(".")[0] for name in all_modules(done)}


@every
def test_a_quick_answer_imports_nothing_heavy(arguments, code):
    done = python("-X", "importtime", "-m", "ilfs", *arguments)
    assert done.returncode == code
    loaded = loaded_modules(done)
    assert {"ilfs", "argparse"} <= loaded
    assert loaded & HEAVY == set()


def test_the_registry_imports_nothing_heavy():
    done = python("-X", "importtime", "-c", "from ilfs import list_methods; list_methods()")
    assert done.returncode == 0
    assert "ilfs" in loaded_modules(done)
    assert loaded_modules(done) & HEAVY == set()


def test_a_heavy_import_would_be_seen():
    assert {"numpy", "sklearn"} <= loaded_modules(python("-X", "importtime", "-c", "import ilfs; ilfs.ILFS"))


@pytest.mark.parametrize("arguments", [["--version"], ["methods"], ["bench", "--help"], ["bench", "rum"]], ids=" ".join)
def test_a_quick_answer_imports_little_more_than_an_empty_python(arguments):
    empty = all_modules(python("-X", "importtime", "-c", "pass"))
    assert len(all_modules(python("-X", "importtime", "-m", "ilfs", *arguments)) - empty) < MAX_MODULES


@pytest.mark.parametrize("command", COMMANDS_OF_ILFS)
def test_a_command_imports_no_other_command(command):
    code = f"import sys; from ilfs.cli.main import command_line; command_line(['{command}']); print(*sys.modules)"
    loaded = python("-c", code).stdout.split()
    assert [one for one in COMMANDS_OF_ILFS if f"ilfs.cli.{one}" in loaded] == [command]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench", "rum"], "ilfs: argument ACTION: invalid choice: 'rum' (choose from 'run', "),
        (
            ["bench", "statistics", "--metric", "ap"],
            "argument --metric: invalid choice: 'ap' (choose from 'ap_macro', ",
        ),
        (["method"], "ilfs: argument COMMAND: invalid choice: 'method' (choose from 'rank', "),
        (["rnak", "t.csv"], ": did you mean rank?; see ilfs --help"),
        (
            ["rank", "t.csv", "--traget", "y"],
            "ilfs: unrecognized arguments: --traget y: did you mean --target?; see ilfs rank --help",
        ),
        (["bench", "table", "--methds", "x"], "did you mean --methods?; see ilfs bench table --help"),
        (["rank", "t.csv", "--xyz"], "ilfs: unrecognized arguments: --xyz; see ilfs rank --help"),
    ],
)
def test_a_usage_error_says_what_is_wrong(arguments, message):
    # newer Pythons write the choices without quotes
    err = python("-m", "ilfs", *arguments).stderr
    assert message.replace("'", "") in err.replace("'", "")
    assert err.count("\n") == 1
