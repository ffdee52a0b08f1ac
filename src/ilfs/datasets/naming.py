"""Names of data sets: of the registry, of files, and of files with what is to be known of their columns.

A suite and the command line name a data set by one string. ``genes.csv?target=diagnosis&drop=sample`` is the file
``genes.csv``, whose column ``diagnosis`` holds the classes and whose column ``sample`` is no feature. Whole numbers are
positions; a column that is called by a number stands in quotes: ``drop='1017'``. ``groups`` and ``folds`` name the
columns that say which rows belong together and in which split they are test rows.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import unquote

from ilfs.datasets.registry import REGISTRY

Column = str | int
NUMBER = re.compile(r"[+-]?\d+")


class Query(NamedTuple):
    """A path, and which of its columns are what."""

    path: str
    target: Column | None = None
    drop: tuple[Column, ...] = ()
    groups: Column | None = None
    folds: Column | None = None


def parse(name: str) -> Query:
    """What a name with a query says.

    >>> parse("genes.csv?target=tumour%20type&drop=sample&drop=-1")
    Query(path='genes.csv', target='tumour type', drop=('sample', -1), groups=None, folds=None)
    """
    path, _, query = name.partition("?")
    said: dict[str, list[Column]] = {"target": [], "drop": [], "groups": [], "folds": []}
    for part in query.split("&"):
        key, _, value = part.partition("=")
        if key not in said or not value:
            raise ValueError(
                f"what follows ? in {name!r} must be target=COLUMN, drop=COLUMN, groups=COLUMN or folds=COLUMN, "
                f"joined by &, got {part!r}"
            )
        said[key].append(_column(unquote(value)))
    for key in ("target", "groups", "folds"):
        if len(said[key]) > 1:
            raise ValueError(f"{name!r} must have one {key}, got {len(said[key])}")
    target, groups, folds = (next(iter(said[key]), None) for key in ("target", "groups", "folds"))
    return Query(path, target, tuple(said["drop"]), groups, folds)


def spelled(
    path: str,
    target: Column | None = None,
    drop: Iterable[Column] = (),
    groups: Column | None = None,
    folds: Column | None = None,
) -> str:
    """The name that `parse` reads.

    >>> spelled("genes.csv", "diagnosis", ["sample", "1017", 3])
    "genes.csv?target=diagnosis&drop=sample&drop='1017'&drop=3"
    """
    parts = [] if target is None else [f"target={_value(target)}"]
    parts += [f"drop={_value(column)}" for column in drop]
    parts += [f"{key}={_value(one)}" for key, one in (("groups", groups), ("folds", folds)) if one is not None]
    return f"{path}?{'&'.join(parts)}" if parts else path


def _column(value: str) -> Column:
    if NUMBER.fullmatch(value):
        return int(value)
    return value[1:-1] if _is_quoted(value) else value


def _value(column: Column) -> str:
    text = str(column)
    if isinstance(column, str) and (NUMBER.fullmatch(text) or _is_quoted(text)):
        text = f"'{text}'"
    return text.replace("%", "%25").replace("&", "%26")


def _is_quoted(text: str) -> bool:
    return len(text) > 2 and text[0] == text[-1] == "'"


def title_of(name: str | os.PathLike[str], among: Sequence[str] = ()) -> str:
    """What tables call a data set.

    Parameters
    ----------
    name : str or path
        As :func:`ilfs.datasets.load` takes it.
    among : sequence of str
        The names of all data sets of the table. Files that have the same name in different folders are told apart by
        the folder.

    Returns
    -------
    str
        The title of a registered data set, which says whether it is rebuilt or stands in for another; of a file the
        name without folder and ending.

    Examples
    --------
    >>> from ilfs.datasets import title_of
    >>> title_of("gina"), title_of("data/genes.csv.gz?target=diagnosis")
    ('GINA (rebuilt)', 'genes')
    >>> title_of("old/genes.csv", among=["colon", "old/genes.csv", "new/genes.csv"])
    'old/genes'
    """
    name = os.fspath(name)
    others = [other for other in among if other != name]
    spellings: tuple[Callable[[str], str], ...] = (_short, _with_folder)
    return next((said(name) for said in spellings if said(name) not in map(said, others)), name)


def _short(name: str) -> str:
    return REGISTRY[name].title if name in REGISTRY else _path_of(name).name


def _with_folder(name: str) -> str:
    return REGISTRY[name].title if name in REGISTRY else "/".join(_path_of(name).parts[-2:])


def _path_of(name: str) -> PurePath:
    """The path in a name, without ending."""
    path = PurePath(name.partition("?")[0])
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).with_suffix("")
