"""The metadata of a release agree with each other, and with the workflows that test and publish it."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
from platforms import needs_repository

import ilfs

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = ROOT / "recipe" / "recipe.yaml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def python_versions():
    """Versions of Python that the classifiers name."""
    return [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)]


class TestVersion:
    def test_the_citation_names_it(self):
        assert f"\nversion: {ilfs.__version__}\n" in text_of("CITATION.cff")

    def test_the_changes_begin_with_it(self):
        first = re.search(r"^## (\S+)", text_of("CHANGELOG.md"), re.M)
        assert first[1] == ilfs.__version__

    @needs_repository
    def test_the_recipe_builds_it(self):
        assert f'\n  version: "{ilfs.__version__}"\n' in RECIPE.read_text(encoding="utf-8")

    def test_the_oldest_python_is_the_first_that_is_tested(self):
        assert PROJECT["requires-python"] == f">={python_versions()[0]}"


@needs_repository
class TestRecipe:
    def test_its_dependencies_are_those_of_the_package(self):
        (run,) = re.findall(r"^  run:\n((?:    - .*\n)+)", RECIPE.read_text(encoding="utf-8"), re.M)
        python, *others = [line[6:].replace(" ", "") for line in run.splitlines()]
        assert python == "python>=${{python_min}}"
        assert others == PROJECT["dependencies"]

    def test_its_python_and_its_command_are_those_of_the_package(self):
        text = RECIPE.read_text(encoding="utf-8")
        assert f'python_min: "{PROJECT["requires-python"][2:]}"' in text
        assert [f"- {name} = {target}" in text for name, target in PROJECT["scripts"].items()] == [True]


@needs_repository
class TestWorkflows:
    @pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
    def test_every_action_is_pinned_by_the_commit_of_a_version(self, path):
        used = re.findall(r"uses: (?!\./)(.*)", path.read_text(encoding="utf-8"))
        assert used
        assert [line for line in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []

    def test_one_action_has_one_version(self):
        used = {
            line for path in WORKFLOWS for line in re.findall(r"uses: (?!\./)(.*)", path.read_text(encoding="utf-8"))
        }
        assert len(used) == len({line.partition("@")[0] for line in used})

    def test_every_python_of_the_classifiers_is_tested(self):
        (listed,) = re.findall(r"^ +python: \[(.*)\]$", text_of(".github/workflows/tests.yml"), re.M)
        assert [version.strip('"') for version in listed.split(", ")] == python_versions()


class TestReadmeOfTheIndex:
    ON_GITHUB = {"GITHUB_REPOSITORY": "someone/ilfs", "GITHUB_REF_NAME": "v9.8"}  # noqa: RUF012

    @pytest.fixture(scope="class")
    @classmethod
    def build(cls):
        pytest.importorskip("hatchling", reason="hatchling is not installed")
        spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    @pytest.mark.parametrize(
        ("here", "there"),
        [
            ("[a](docs/a.md)", "[a](https://github.com/someone/ilfs/blob/v9.8/docs/a.md)"),
            ("[a](docs/a.md#b)", "[a](https://github.com/someone/ilfs/blob/v9.8/docs/a.md#b)"),
            ("![a](docs/a.png)", "![a](https://github.com/someone/ilfs/raw/v9.8/docs/a.png)"),
            (
                "[![a](a.svg)](b.md)",
                "[![a](https://github.com/someone/ilfs/raw/v9.8/a.svg)](https://github.com/someone/ilfs/blob/v9.8/b.md)",
            ),
            ("[a](https://pypi.org)", "[a](https://pypi.org)"),
            ("[a](#install)", "[a](#install)"),
            (">>> x[0](1, 2)", ">>> x[0](1, 2)"),
        ],
    )
    def test_relative_links_become_addresses(self, build, here, there):
        assert build.with_absolute_links(here, self.ON_GITHUB) == there

    def test_no_relative_link_of_the_readme_is_left(self, build):
        text = build.with_absolute_links(text_of("README.md"), self.ON_GITHUB)
        assert text.count("](https://github.com/someone/ilfs/") > 20
        assert re.findall(r"\]\((?!https://|#)[^)\s]+\)", text) == []

    def test_an_unknown_repository_changes_nothing(self, build):
        assert build.with_absolute_links("[a](docs/a.md)", {}) == "[a](docs/a.md)"
        assert build.project_urls({}) == {}
        assert build.project_urls(self.ON_GITHUB)["Source"] == "https://github.com/someone/ilfs"
        assert build.project_urls(self.ON_GITHUB)["Documentation"] == "https://someone.github.io/ilfs/"

    def test_another_project_that_builds_this_one_does_not_get_its_own_addresses(self, build):
        assert build.project_urls({"GITHUB_REPOSITORY": "someone/analysis"}) == {}
