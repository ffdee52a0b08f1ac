"""Names of data sets: registered names, paths of files, and paths followed by the roles of columns.

A suite and the command line name a data set by one string. ``genes.csv?target=diagnosis&drop=sample`` is the file
``genes.csv``, whose column ``diagnosis`` holds the classes and whose column ``sample`` is not a feature. Integers are
positions of columns; put quotes around a column whose name is a number: ``drop='1017'``. ``groups`` is a column whose
equal values mark rows that must stay together, and ``folds`` a column with the split in which a row is a test row.
"""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import unquote

from ilfs.datasets.registry import REGISTRY
from ilfs.datasets.spec import Spec
from ilfs.datasets.voc_options import VOC_YEARS, VocOptions

Column = str | int
INTEGER = re.compile(r"[+-]?\d+")


def registered(name: str) -> Spec:
    """Look up a registered data set; the error for an unknown name suggests a similar one."""
    if name not in REGISTRY:
        raise ValueError(f"no data set is called {name!r}{suggestion(name)}: ilfs datasets lists the names")
    return REGISTRY[name]


def suggestion(name: str) -> str:
    """Return the part of an error message that suggests a registered name similar to an unknown one."""
    near = difflib.get_close_matches(name, REGISTRY, n=1)
    return f", did you mean {near[0]!r}" if near else ""


def paper_name(name: str) -> str:
    """Return the name under which the paper's tables have a data set; other names are returned unchanged.

    >>> paper_name("gina_openml"), paper_name("wine")
    ('gina', 'wine')
    """
    paper = REGISTRY[name].paper if name in REGISTRY else None
    return name if paper is None else paper.row.lower().replace(" ", "")


class Query(NamedTuple):
    """A path and the roles of its columns."""

    path: str
    target: Column | None = None
    drop: tuple[Column, ...] = ()
    groups: Column | None = None
    folds: Column | None = None


def parse(name: str) -> Query:
    """Parse a name with a query.

    >>> parse("genes.csv?target=tumour%20type&drop=sample&drop=-1")
    Query(path='genes.csv', target='tumour type', drop=('sample', -1), groups=None, folds=None)
    """
    path, _, query = name.partition("?")
    columns: dict[str, list[Column]] = {"target": [], "drop": [], "groups": [], "folds": []}
    for part in query.split("&"):
        key, _, value = part.partition("=")
        if key not in columns or not value:
            raise ValueError(
                f"the part after ? in {name!r} must be target=COLUMN, drop=COLUMN, groups=COLUMN or folds=COLUMN, "
                f"joined by &, got {part!r}"
            )
        columns[key].append(_column(unquote(value)))
    for key in ("target", "groups", "folds"):
        if len(columns[key]) > 1:
            raise ValueError(f"{name!r} must state {key} at most once, got it {len(columns[key])} times")
    target, groups, folds = (next(iter(columns[key]), None) for key in ("target", "groups", "folds"))
    return Query(path, target, tuple(columns["drop"]), groups, folds)


def format_name(
    path: str,
    target: Column | None = None,
    drop: Iterable[Column] = (),
    groups: Column | None = None,
    folds: Column | None = None,
) -> str:
    """Format a path and the roles of its columns as a name that `parse` reads.

    >>> format_name("genes.csv", "diagnosis", ["sample", "1017", 3])
    "genes.csv?target=diagnosis&drop=sample&drop='1017'&drop=3"
    """
    parts = [] if target is None else [f"target={_value(target)}"]
    parts += [f"drop={_value(column)}" for column in drop]
    parts += [f"{key}={_value(one)}" for key, one in (("groups", groups), ("folds", folds)) if one is not None]
    return f"{path}?{'&'.join(parts)}" if parts else path


def _column(value: str) -> Column:
    if INTEGER.fullmatch(value):
        return int(value)
    return value[1:-1] if _is_quoted(value) else value


def _value(column: Column) -> str:
    text = str(column)
    if isinstance(column, str) and (INTEGER.fullmatch(text) or _is_quoted(text)):
        text = f"'{text}'"
    return text.replace("%", "%25").replace("&", "%26")


def _is_quoted(text: str) -> bool:
    return len(text) > 2 and text[0] == text[-1] == "'"


def title_of(name: str | os.PathLike[str], among: Sequence[str] = (), *, voc: VocOptions | None = None) -> str:
    """Return the title of a data set for tables of results.

    Parameters
    ----------
    name : str or path
        The name, as for :func:`ilfs.datasets.load`.
    among : sequence of str
        The names of all data sets of the table. The titles of files with the same name in different folders include the
        folder.
    voc : VocOptions, optional
        Images and network of the VOC data sets, as for `load`: with a network of the user, the title says so.

    Returns
    -------
    str
        The title of a registered data set, which marks data that are rebuilt or a substitute; for a file, its name
        without folder and ending.

    Examples
    --------
    >>> from ilfs.datasets import title_of
    >>> title_of("gina"), title_of("data/genes.csv.gz?target=diagnosis")
    ('GINA (rebuilt)', 'genes')
    >>> title_of("old/genes.csv", among=["colon", "old/genes.csv", "new/genes.csv"])
    'old/genes'
    """
    name = os.fspath(name)
    if name in VOC_YEARS and (voc or VocOptions()).or_environment().is_given:
        return f"VOC {VOC_YEARS[name]}, features of your network"
    others = [other for other in among if other != name]
    formats: tuple[Callable[[str], str], ...] = (_short, _with_folder)  # the first that makes all titles distinct
    return next((title(name) for title in formats if title(name) not in map(title, others)), name)


def _short(name: str) -> str:
    return REGISTRY[name].title if name in REGISTRY else _path_of(name).name


def _with_folder(name: str) -> str:
    return REGISTRY[name].title if name in REGISTRY else "/".join(_path_of(name).parts[-2:])


def _path_of(name: str) -> PurePath:
    """Return the path in a name, without its ending."""
    path = PurePath(name.partition("?")[0])
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).with_suffix("")
