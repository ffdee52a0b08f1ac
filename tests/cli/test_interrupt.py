"""Ctrl-C at any time ends the command in one line and with exit code 130, also while it is still importing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ilfs

MODULE = [sys.executable, "-m", "ilfs"]
SCRIPT = [sys.executable, "-c", "import sys; from ilfs.cli import main; sys.exit(main())"]  # what pip installs
SAID = "ilfs: stopped; finished work is saved, run the same command again to continue\n"
BEFORE_IT_BEGAN = "ilfs: stopped\n"  # the options, which tell what is saved, are not read yet


def started(command, folder, name, content):
    """Start `ilfs bench run quick` where a package that it imports has this content."""
    (folder / f"{name}.py").write_text(content)
    sources = Path(ilfs.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(sources)])}
    return subprocess.Popen(
        [*command, "bench", "run", "quick", "--quiet"],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("command", [MODULE, SCRIPT], ids=["module", "script"])
@pytest.mark.parametrize("name", ["argparse", "numpy", "sklearn"])
def test_an_interrupted_import_ends_the_command_in_one_line(command, name, tmp_path):
    process = started(command, tmp_path, name, "raise KeyboardInterrupt")
    assert process.communicate(timeout=60) == ("", BEFORE_IT_BEGAN if name == "argparse" else SAID)
    assert process.returncode == 130


@pytest.mark.parametrize("wrapped", ["ImportError('no extension')", "RuntimeError('no name')"])
def test_an_interrupt_wrapped_in_another_error_ends_the_command_in_one_line(wrapped, tmp_path):
    content = f"try:\n    raise KeyboardInterrupt\nexcept KeyboardInterrupt as error:\n    raise {wrapped} from error"
    process = started(MODULE, tmp_path, "numpy", content)
    assert process.communicate(timeout=60) == ("", SAID)
    assert process.returncode == 130


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("command", [MODULE, SCRIPT], ids=["module", "script"])
def test_a_signal_during_an_import_ends_the_command_in_one_line(command, tmp_path):
    # Not one long sleep: a signal that arrives just before it would be noticed only after it.
    content = "import time\nprint('importing', flush=True)\nwhile True:\n    time.sleep(0.01)"
    process = started(command, tmp_path, "numpy", content)
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", SAID)
    assert process.returncode == 130


def test_hardly_anything_is_imported_before_the_command_runs():
    environment = os.environ | {"PYTHONPATH": str(Path(ilfs.__file__).parents[1])}
    code = (
        "import sys; from ilfs.cli import main; print(*{'argparse', 'numpy', 'sklearn', 'typing'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
