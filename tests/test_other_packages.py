"""The library uses only public parts of the packages it builds on."""

import ast
import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

import ilfs

SOURCE = Path(ilfs.__file__).parent
PROJECT = Path(__file__).parents[1]
# names that begin with an underscore but are documented by their package
DOCUMENTED = {
    "_exit",  # os: end a process at once
    "_replace",  # collections.namedtuple
    "_init_callback_context",  # sklearn.callback.CallbackSupportMixin, see `ilfs.callbacks`
}
# experimental or undocumented packages, and the only module that may import each; that module works without the package
GUARDED = {"sklearn.callback": "callbacks.py", "numba.core": "kernels/_cache.py"}
# of argparse.ArgumentParser, for completion; and of numba.core.caching.FunctionCache
GUARDED_NAMES = ["cli/parser.py: _actions", "kernels/_cache.py: _impl"]


def is_private(name):
    return name.startswith("_") and not name.startswith("__") and name != "_"


def imported(node) -> Iterator[str]:
    """Dotted names that an import statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def attributes(node) -> Iterator[str]:
    """Names of attributes that a node accesses, by a dot or by getattr, hasattr, setattr or delattr."""
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"getattr", "hasattr", "setattr", "delattr"}:
        yield from (word.value for word in node.args[1:2] if isinstance(word, ast.Constant))


def defined(node) -> Iterator[str]:
    """Names that a node defines: functions, classes, variables and attributes of self or cls."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
        yield node.attr


def is_self(node):
    return getattr(node, "id", "") in {"self", "cls"}


def private_names_of_others(texts):
    """List the uses of private names that none of the modules defines.

    Parameters
    ----------
    texts : dict of str to str
        Source code of each module.
    """
    nodes = [(name, node) for name, text in texts.items() for node in ast.walk(ast.parse(text))]
    ours = {name for _, node in nodes for name in defined(node)} | DOCUMENTED
    read = {(module, name) for module, node in nodes for name in attributes(node) if is_private(name)}
    imports = {(module, name) for module, node in nodes for name in imported(node) if not name.startswith("ilfs.")}
    return sorted(
        {f"{module}: {name}" for module, name in read if name not in ours}
        | {f"{module}: {name}" for module, name in imports if any(map(is_private, name.split(".")))}
    )


def texts():
    return {path.relative_to(SOURCE).as_posix(): path.read_text() for path in SOURCE.rglob("*.py")}


def test_no_private_name_of_another_package_is_used():
    assert private_names_of_others(texts()) == GUARDED_NAMES


@pytest.mark.parametrize(("package", "module"), GUARDED.items())
def test_an_experimental_package_is_imported_in_one_module(package, module):
    importing = {
        name
        for name, text in texts().items()
        for node in ast.walk(ast.parse(text))
        if any(f"{other}.".startswith(f"{package}.") for other in imported(node))
    }
    assert importing == {module}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import scipy._lib.decorator", "a.py: scipy._lib.decorator"),
        ("from sklearn.utils._param_validation import Interval", "a.py: sklearn.utils._param_validation.Interval"),
        ("from sklearn.utils.validation import _check_y", "a.py: sklearn.utils.validation._check_y"),
        ("import sklearn.utils as u; u.validation._check_y([])", "a.py: _check_y"),
        ("getattr(selector, '_skl_callbacks', None)", "a.py: _skl_callbacks"),
        ("other._state = 1", "a.py: _state"),
    ],
)
def test_a_private_name_is_found(text, found):
    assert private_names_of_others({"a.py": text}) == [found]


@pytest.mark.parametrize(
    "text",
    [
        "from ilfs.kernels._jit import kernel",
        "def _own(): ...\nimport ilfs; ilfs._own()",
        "class A:\n    def __init__(self): self._size = 1\na = A(); a._size",
        "import os; os._exit(1)",
        "from __future__ import annotations",
        "_, x = pair",
    ],
)
def test_public_names_and_private_names_of_ilfs_are_accepted(text):
    assert private_names_of_others({"a.py": text}) == []


def lowest_versions():
    """The lower bounds of all dependencies in pyproject.toml, a set for each package.

    Baselines are left out: they need newer versions of other packages, and are not tested with the oldest ones.
    """
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    found = {}
    for line in chain(project["dependencies"], *(extras[name] for name in extras if name != "baselines")):
        name, _, version = line.partition(">=")
        name = name.partition("[")[0]  # without extras, as in dask[array]
        if version and name != "sphinx":  # the documentation is built with one set of versions only
            found.setdefault(name, set()).add(version)
    return found


def test_the_oldest_versions_that_are_tested_are_the_oldest_that_are_allowed():
    pinned = dict(re.findall(r"^([\w-]+)==([\d.]+)$", (PROJECT / "constraints-oldest.txt").read_text(), re.MULTILINE))
    lowest = lowest_versions()
    assert pinned.keys() == lowest.keys()
    assert {name: {re.sub(r"(\.0)+$", "", version)} for name, version in pinned.items()} == {
        name: {re.sub(r"(\.0)+$", "", version) for version in versions} for name, versions in lowest.items()
    }
