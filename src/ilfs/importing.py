"""Imports of classes by their path, from installed packages or the folder of a suite."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from ilfs.one_line import in_one_line


@contextmanager
def importable_from(folder: str | None) -> Iterator[None]:
    """Append a folder to the import path while the context lasts.

    Parameters
    ----------
    folder : str or None
        The folder; None changes nothing.

    Examples
    --------
    >>> import sys
    >>> from ilfs.importing import importable_from
    >>> with importable_from("/somewhere"):
    ...     sys.path[-1]
    '/somewhere'
    >>> "/somewhere" in sys.path
    False
    """
    if folder is None or folder in sys.path:
        yield
        return
    sys.path.append(folder)
    importlib.invalidate_caches()  # the file may have been written a moment ago
    try:
        yield
    finally:
        with suppress(ValueError):  # the imported code may have removed it
            sys.path.remove(folder)


def import_object(path: str, folder: str | None = None) -> Any:
    """Import an object by its path.

    Parameters
    ----------
    path : str
        Import path such as ``"package.module.Class"``.
    folder : str, optional
        Additional folder to import the module from.

    Returns
    -------
    object
        The imported object.

    Raises
    ------
    LookupError
        If there is no such module, or no such name in it.
    ImportError
        If the module raises an error.

    Examples
    --------
    >>> from ilfs.importing import import_object
    >>> import_object("math.pi")
    3.141592653589793
    """
    module, _, name = path.rpartition(".")
    if not module or path.startswith("."):
        raise LookupError(f"{path!r} is not a path like package.module.Class")
    with importable_from(folder):
        check_not_shadowed(module, folder)
        loaded = import_module(module, folder)
    try:
        return getattr(loaded, name)
    except AttributeError:
        where = getattr(loaded, "__file__", None) or module
        raise LookupError(f"{where} has no {name!r}") from None


def check_installed(package: str, extra: str, what: str) -> None:
    """Raise an ImportError that names the extra if an optional package is not installed.

    Parameters
    ----------
    package : str
        Name of the package.
    extra : str
        Extra of this project that installs it.
    what : str
        What needs the package, for the message.
    """
    try:
        importlib.import_module(package)
    except ImportError as error:
        if error.name != package:  # installed, but broken
            raise
        raise ImportError(f'{what} needs the package {package}: pip install "ilfs[{extra}]"', name=package) from None


def import_module(name: str, folder: str | None) -> Any:
    """Import a module; report a missing one as a LookupError, and any error in it as an ImportError in one line."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if f"{name}.".startswith(f"{error.name}."):
            raise LookupError(f"there is no module {error.name} {places(folder)}") from None
        raise ImportError(f"module {name} failed: {in_one_line(error)}") from None
    except (Exception, SystemExit, RecursionError) as error:  # a module of the user's own may fail in any way
        raise ImportError(f"module {name} failed: {in_one_line(error)}") from None


def places(folder: str | None) -> str:
    """Format the places that are searched for modules, as part of an error message."""
    usual = "among the installed packages and in PYTHONPATH"
    return usual if folder is None else f"in the folder {folder}, {usual}"


def check_not_shadowed(name: str, folder: str | None) -> None:
    """Raise an ImportError if a module of the same name is already imported from another folder."""
    # Python would return the imported module without a warning, and the wrong class would be used.
    top = name.partition(".")[0]
    loaded = getattr(sys.modules.get(top), "__file__", None)
    if folder is None or loaded is None:
        return
    spec = PathFinder.find_spec(top, [folder])
    is_same = spec is None or spec.origin is None or Path(spec.origin).resolve() == Path(loaded).resolve()
    elsewhere = PathFinder.find_spec(top, [place for place in sys.path if place != folder])
    # An installed package comes before the folder in the import path, so using it is no mistake.
    if not is_same and elsewhere is None:
        raise ImportError(f"module {top} of {folder} has the name of {loaded}, which is imported already: rename one")
