"""The selected columns of the table that a selector was fitted on, with the names and classes of the rows."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.applying.columns import Columns, ColumnStream
from ilfs.applying.streams import cut_columns
from ilfs.applying.writers import check_output, write_columns
from ilfs.memory import bytes_of
from ilfs.selected_columns.sources import from_source
from ilfs.selector import RankingSelector
from ilfs.sources import BatchSource, Source, TableSource


def write_selected(
    selector: RankingSelector,
    source: Source,
    out: str | os.PathLike[str],
    *,
    before: Mapping[str, NDArray[Any]] | None = None,
    memory_limit: int | str | None = None,
) -> Path:
    """Write the selected columns of a source, after other columns and the classes of the rows.

    Unlike `ilfs.apply`, which reads a file again, this writes the table as it was fitted: transposed, matched with a
    table of samples, or encoded.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    source : Source
        The rows that it was fitted on.
    out : path
        File to write: ``.csv``, ``.tsv``, ``.parquet`` or ``.feather``; it appears complete or not at all.
    before : mapping of str to ndarray, optional
        Further columns, written first, with a value for each row.
    memory_limit : int or str, optional
        Memory that the rows may take; by default half of the free memory.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from ilfs import FisherScore
    >>> from ilfs.applying.selected import write_selected
    >>> from ilfs.sources import table_source
    >>> source = table_source(np.array([[1.0, 3], [2, 1], [4, 2], [5, 2]]), np.array(["a", "a", "b", "b"]))
    >>> path = write_selected(FisherScore(1).fit(source), source, tempfile.mkdtemp() + "/selected.csv")
    >>> path.read_text().splitlines()[:2]
    ['target,x0', 'a,1.0']
    """
    path = Path(out)
    check_output(path)
    wanted = Columns(selector._column_choice(), (), bytes_of(memory_limit))
    write_columns(selected_stream(source, wanted, dict(before or {})), path, wanted.memory_limit)
    return path


def selected_stream(source: Source, wanted: Columns, before: dict[str, NDArray[Any]]) -> ColumnStream:
    """Open the selected columns of a source as a stream."""
    selected = from_source(source, wanted.choice)
    names = selected.feature_names or wanted.choice.selected_names
    titles = [f"x{j}" for j in wanted.choice.columns.tolist()] if names is None else [str(one) for one in names]
    labels = [str(source.target_name or "target")] if has_one_labelling(source) else []
    head = [title for title in before if title not in labels]
    max_rows = wanted.max_rows(len(titles) + len(head) + 1)

    return ColumnStream([*head, *labels, *titles], rows_in_order(selected, before, head, bool(labels), max_rows))


def rows_in_order(
    source: Source, before: dict[str, NDArray[Any]], head: list[str], with_labels: bool, max_rows: int
) -> Iterator[list[Any]]:
    """Yield the columns of some rows at a time: those given before, the labels, and the values."""
    start = 0
    for X, y in values_and_labels(source):
        for first in range(0, X.shape[0], max_rows):
            rows = slice(first, min(first + max_rows, X.shape[0]))
            given = [before[title][start + rows.start : start + rows.stop] for title in head]
            labels = [np.asarray(y)[rows]] if with_labels else []
            yield [*given, *labels, *values_of_rows(X[rows])]
        start += X.shape[0]


def values_of_rows(X: Any) -> list[Any]:
    """Return the columns of some rows."""
    return next(iter(cut_columns(max(X.shape[0], 1), X)))


def has_one_labelling(source: Source) -> bool:
    """Return True if every row has one class, rather than none or several labels."""
    return source.has_labels and len(source.labellings) == 1


def values_and_labels(source: Source) -> Iterator[tuple[Any, Any]]:
    """Read values and labels in blocks."""
    if isinstance(source, TableSource):
        yield source.to_matrix(), source.y
    elif isinstance(source, BatchSource):
        yield from ((X, y) for X, y, _ in source.pieces())
    else:
        classes = source.labellings[0].labels if source.labellings else None
        for block in source.blocks():
            yield block.X, None if classes is None else classes[block.labels[0].codes]
