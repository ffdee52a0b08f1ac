"""Find and hash the source files that a module depends on, without importing them.

Imports are read from the syntax tree, those inside functions too. A module of this library or of the user counts by
its source, an installed package by its version. The hash of a file is that of its syntax tree: comments, docstrings and
layout do not count.

Dependencies that are not visible in the source are not found: a module whose name is computed at run time, or a file
that the code reads.
"""

import ast
import hashlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LIBRARY = "ilfs"
INSTALLED_FOLDERS = frozenset({"site-packages", "dist-packages"})  # folders of installed packages, which have a version
IGNORED_FIELDS = frozenset({"kind", "type_comment"})  # fields of a syntax tree that do not affect the code

Find = Callable[[str], Path | None]


@dataclass(frozen=True)
class SourceFile:
    """Hash and imports of one file.

    Parameters
    ----------
    digest : str
        SHA-256 of the syntax tree without docstrings, or of the bytes of a file that is not Python source.
    imports : tuple of (str, str)
        Modules that are imported, each with the name that is taken from it; the name is empty for ``import module``.
    top_level : dict
        For each name that the file imports from elsewhere outside of functions, the module and the name there.
    """

    digest: str
    imports: tuple[tuple[str, str], ...] = ()
    top_level: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Dependencies:
    """Files and packages that some modules depend on.

    Parameters
    ----------
    files : dict
        Paths of source files by the names of their modules.
    packages : set of str
        Installed or missing packages, by the names they are imported by.
    """

    files: dict[str, Path] = field(default_factory=dict)
    packages: set[str] = field(default_factory=set)

    def digest(self) -> str:
        """SHA-256 of all files with the names of their modules."""
        lines = [f"{name} {read_source(path, name).digest}\n" for name, path in sorted(self.files.items())]
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def find_file(name: str) -> Path | None:
    """File of a module, found without importing it; None if there is none."""
    loaded = getattr(sys.modules.get(name), "__file__", None)
    if loaded is not None:
        return Path(loaded)
    top, *rest = name.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):  # ValueError: loaded without a specification, as __main__ is
        return None
    for k in range(len(rest)):
        folders = None if spec is None else spec.submodule_search_locations
        spec = None if folders is None else PathFinder.find_spec(".".join([top, *rest[: k + 1]]), folders)
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def dependencies(modules: Iterable[str], *, find: Find = find_file, ignored: tuple[str, ...] = ()) -> Dependencies:
    """Follow the imports of modules.

    Parameters
    ----------
    modules : iterable of str
        Names of the modules to start with.
    find : callable
        Returns the file of a module.
    ignored : tuple of str
        Modules and packages that are neither hashed nor followed.

    Returns
    -------
    Dependencies
        The modules themselves and all that they import, directly or not.

    Examples
    --------
    >>> from ilfs.benchmark.provenance.source_code import dependencies
    >>> found = dependencies(["ilfs.methods.fisher"])
    >>> "ilfs.selector.ranking" in found.files, "ilfs.methods.ilfs" in found.files
    (True, False)
    """
    found, waiting = Dependencies(), list(modules)
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        if name in found.files or top in sys.stdlib_module_names or is_under(name, ignored):
            continue
        path = find(name)
        if path is None or not is_source(top, path):
            found.packages.add(top)
            continue
        found.files[name] = path
        waiting += imported_modules(read_source(path, name), find)
    return found


def is_under(name: str, packages: Iterable[str]) -> bool:
    """Check if a module is one of the given packages or modules, or inside one of them."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def is_source(top: str, path: Path) -> bool:
    """Check if a module is hashed by its source code; an installed package is identified by its version."""
    return top == LIBRARY or not INSTALLED_FOLDERS.intersection(path.parts)


def imported_modules(source: SourceFile, find: Find) -> Iterator[str]:
    """Modules that the imports of a file lead to."""
    for module, name in source.imports:
        yield from modules_behind(module, name, find)


def modules_behind(module: str, name: str, find: Find) -> list[str]:
    """Modules that ``from module import name`` depends on, or ``import module`` if the name is empty.

    Packages of this library re-export names of their modules, so only the module that defines the name counts: else
    every method would depend on all the others. Other packages may do anything in their ``__init__``, so it counts.
    """
    top, _, _ = module.partition(".")
    path = find(module)
    if path is None or not is_source(top, path) or (top == LIBRARY and path.name != "__init__.py"):
        return [module]
    inside = f"{module}.{name}"
    if top != LIBRARY or not name:
        parts = module.split(".")
        parents = [".".join(parts[: k + 1]) for k in range(len(parts))]
        return [*parents, inside] if name and find(inside) is not None else parents
    origin = read_source(path, module).top_level.get(name)
    if origin is not None and origin != (module, name):
        return modules_behind(*origin, find)
    return [inside] if find(inside) is not None else [module]


def read_source(path: Path, name: str) -> SourceFile:
    """Hash and imports of the file of a module."""
    try:
        status = path.stat()
        return _read_source(path, name, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise ValueError(f"the source of module {name} cannot be read: {error}") from None


@lru_cache(maxsize=4096)
def _read_source(path: Path, name: str, _modified: int, _size: int) -> SourceFile:
    content = path.read_bytes()
    as_bytes = SourceFile(hashlib.sha256(content).hexdigest())
    if path.suffix != ".py":
        return as_bytes
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    try:
        with warnings.catch_warnings():  # Python itself warns when it imports the file
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
        text = repr(as_plain_data(tree))
    except (SyntaxError, ValueError, RecursionError):  # importing the file reports what is wrong with it
        return as_bytes
    top_level = {
        alias.asname or alias.name: (absolute_module(node, package), alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return SourceFile(hashlib.sha256(text.encode()).hexdigest(), tuple(imports_in(tree, package)), top_level)


def as_plain_data(node: Any) -> Any:
    """Syntax tree as nested lists: without positions, docstrings and empty fields, which differ between versions."""
    if isinstance(node, list):
        return [as_plain_data(one) for one in node if not is_docstring(one)]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [
        (name, as_plain_data(value))
        for name, value in ast.iter_fields(node)
        if value is not None and value != [] and name not in IGNORED_FIELDS
    ]
    return (type(node).__name__, fields)


def is_docstring(node: Any) -> bool:
    """Check if a statement is a bare string, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def imports_in(tree: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    """Modules that are imported anywhere in a tree, each with the name taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((absolute_module(node, package), alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and (name := literal_import(node)):
            yield name, ""


def absolute_module(node: ast.ImportFrom, package: str) -> str:
    """Full name of the module of a from-import, which may be relative to a package."""
    parts = package.split(".")
    start = parts[: len(parts) - node.level + 1] if node.level else []
    return ".".join([*start, *([node.module] if node.module else [])])


def literal_import(node: ast.Call) -> str:
    """Module of ``import_module("module")`` and ``__import__("module")``, else the empty string."""
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if called not in ("import_module", "__import__") or not node.args:
        return ""
    first = node.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def packages_used(path: Path, name: str) -> set[str]:
    """Packages that a class or function imports, directly or through other definitions of its file.

    Parameters
    ----------
    path : Path
        Path of the file.
    name : str
        Name of the class or function.

    Returns
    -------
    set of str
        Names by which they are imported, those of the standard library and of this one left out.
    """
    tree = ast.parse(path.read_bytes())
    defined = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    waiting, seen, found = [name], set[str](), set[str]()
    while waiting:
        one = waiting.pop()
        if one not in defined or one in seen:
            continue
        seen.add(one)
        found |= {module.partition(".")[0] for module, _ in imports_in(defined[one], "")}
        waiting += [node.id for node in ast.walk(defined[one]) if isinstance(node, ast.Name)]
    return {top for top in found if top and top != LIBRARY and top not in sys.stdlib_module_names}
