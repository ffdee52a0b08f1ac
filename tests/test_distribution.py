"""The wheel and the source distribution are complete, and the wheel works in an empty environment."""

import os
import re
import shlex
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import ilfs

ROOT = Path(__file__).parents[1]
NAME = f"ilfs-{ilfs.__version__}"
MAX_BYTES = 4_000_000
PASSED_ON = ("PATH", "SYSTEMROOT", "TEMP", "TMP")  # and settings of pip, such as the address of a mirror


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """Build both distributions, the wheel from the unpacked source distribution."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, "sdist", folder)
    with tarfile.open(folder / f"{NAME}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    build(folder / NAME, "wheel", folder)
    return folder


def build(project, target, folder):
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)


def wheel_of(dist):
    return dist / f"{NAME}-py3-none-any.whl"


def names_in_wheel(dist):
    with zipfile.ZipFile(wheel_of(dist)) as archive:
        return set(archive.namelist())


class TestContents:
    def test_the_wheel_has_every_file_of_the_package_and_no_other(self, dist):
        source = Path(ilfs.__file__).parent
        ours = {
            f"ilfs/{path.relative_to(source).as_posix()}"
            for path in source.rglob("*")
            if path.is_file() and path.suffix not in {".pyc", ".nbi", ".nbc"} and path.name != "ilfs-kernels.lock"
        }
        beside = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
        assert names_in_wheel(dist) == ours | {f"{NAME}.dist-info/{name}" for name in beside}

    def test_it_has_types_tables_and_pages(self, dist):
        names = names_in_wheel(dist)
        tables = {f"ilfs/benchmark/paper_tables/table{number}.csv" for number in (1, 2, 3, 4)}
        assert names >= {"ilfs/py.typed", "ilfs/report/page/style.css", "ilfs/report/page/features.html"} | tables

    def test_the_source_distribution_has_what_a_build_and_the_tests_need(self, dist):
        with tarfile.open(dist / f"{NAME}.tar.gz") as archive:
            names = {name.split("/")[1] for name in archive.getnames() if "/" in name}
        assert names == {
            *("src", "tests", "examples", "conftest.py", "hatch_build.py", "pyproject.toml", "PKG-INFO", ".gitignore"),
            *("constraints.txt", "constraints-oldest.txt", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"),
            "CITATION.cff",
        }

    def test_both_are_small(self, dist):
        assert wheel_of(dist).stat().st_size < MAX_BYTES
        assert (dist / f"{NAME}.tar.gz").stat().st_size < MAX_BYTES

    def test_no_path_of_this_computer_is_inside(self, dist):
        here = {str(ROOT).encode(), str(Path.home()).encode()} - {b"/", b"/root"}
        files = [path for path in (dist / NAME).rglob("*") if path.is_file()]
        assert [path.name for path in files if any(place in path.read_bytes() for place in here)] == []


@pytest.fixture(scope="module")
def run(dist, tmp_path_factory):
    """Install the wheel into a new environment; return a function that runs a program there in an empty folder."""
    home = tmp_path_factory.mktemp("home")
    venv.create(home / "venv", with_pip=True)
    scripts = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | pip
    environment |= {"HOME": str(home), "USERPROFILE": str(home), "COLUMNS": "100", "PYTHONUTF8": "1"}

    def run_there(program, *arguments):
        command = [str(scripts / program), *map(str, arguments)]
        done = subprocess.run(
            command, cwd=home, env=environment, capture_output=True, text=True, check=False, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    try:
        run_there("python", "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel_of(dist))
    except AssertionError as error:
        if "No matching distribution" in str(error) or "Failed to establish" in str(error):
            pytest.skip("needs a package index")
        raise
    return run_there


@pytest.mark.slow
class TestInstallation:
    def test_it_has_only_the_dependencies_that_it_names(self, run):
        assert "No broken requirements" in run("python", "-m", "pip", "check")
        installed = run("python", "-m", "pip", "list", "--format=freeze").lower()
        assert f"{NAME.replace('-', '==')}\n" in installed
        assert "pandas" not in installed

    @pytest.mark.parametrize("command", [["ilfs"], ["python", "-m", "ilfs"]], ids=" ".join)
    def test_the_command_says_its_version(self, run, command):
        assert run(*command, "--version") == f"ilfs {ilfs.__version__}\n"

    def test_the_first_example_of_the_readme_prints_what_it_shows(self, run):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        command, output = re.search(r"```console\n\$ (ilfs rank .*?)\n(.*?)```", text, re.S).groups()
        printed = run(*shlex.split(command)).splitlines()
        assert len(printed) == 8  # the table; the rest goes to stderr
        assert [line for line in printed if line not in output.splitlines()] == []
        assert "</html>" in run("python", "-c", "print(open('cancer.html', encoding='utf-8').read())")

    def test_the_first_python_example_of_the_readme_prints_what_it_shows(self, run, tmp_path):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        first = re.search(r"```python\n(.*?)```", text, re.S)[1]
        (tmp_path / "first.md").write_text(first, encoding="utf-8")
        options = "optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, module_relative=False"
        script = f"import doctest, sys; print(doctest.testfile(sys.argv[1], {options}))"
        said = run("python", "-c", script, tmp_path / "first.md")
        assert re.search(r"TestResults\(failed=0, attempted=[5-9]\)", said), said
