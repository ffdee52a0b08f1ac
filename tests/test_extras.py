"""The extras in pyproject.toml."""

import tomllib
from pathlib import Path

FOR_DEVELOPERS = {"test", "lint", "docs", "dist", "browser"}


def test_all_installs_every_extra_for_users():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    (everything,) = extras["all"]
    assert everything.startswith("ilfs[")
    assert set(everything[5:-1].split(",")) == set(extras) - FOR_DEVELOPERS - {"all"}
