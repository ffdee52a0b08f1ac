"""Examples in docstrings that need an optional package are skipped where it is missing."""

from importlib.util import find_spec

import pytest

NEEDS = {"ilfs.benchmark.baselines.fastcan.FastCan": "fastcan", "ilfs.benchmark.baselines.mrmrs.MRMR": "mrmrs"}


def pytest_runtest_setup(item):
    """Skip an example if the optional package that it needs is not installed."""
    package = NEEDS.get(item.name)
    if package and find_spec(package) is None:
        pytest.skip(f"needs the package {package}")
