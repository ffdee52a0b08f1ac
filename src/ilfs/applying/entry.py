"""The function `ilfs.apply`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ilfs.applying.columns import OTHER_COLUMNS, Columns
from ilfs.applying.streams import open_columns
from ilfs.applying.writers import check_output, write_columns
from ilfs.memory import bytes_of
from ilfs.reading.paths import files_of
from ilfs.selection.saved import load
from ilfs.selector import RankingSelector


def apply(
    selection: Any,
    source: Any,
    out: str | os.PathLike[str],
    *,
    keep: str | Sequence[str] = (),
    memory_limit: int | str | None = None,
) -> Path:
    r"""Write the selected columns of a table to a file, some rows at a time.

    Neither table has to fit in memory. The file appears complete or not at all.

    Parameters
    ----------
    selection : fitted selector, Selection or path
        The selection, or the file that ``save`` has written it to.
    source : path or table
        A file, a folder or a pattern as for `ilfs.read`, or any table that ``fit`` takes. If both have names, columns
        are found by name, in any order and beside others; only the selected ones must be there. Otherwise the table
        must have the columns of the fit, in their order.
    out : path
        File to write: ``.csv``, ``.tsv``, ``.parquet`` or ``.feather``. An existing one is replaced.
    keep : "others" or sequence of str, default=()
        Further columns to write, before the selected ones, such as the target or the name of each row. ``"others"``:
        all columns that were no features of the fit. Of ``.h5ad`` files and AnnData: columns of ``obs``, and
        ``obs_names``.
    memory_limit : int or str, optional
        Memory that the rows may take, in bytes or as text such as ``"500MB"``; by default half of the free memory. It
        determines how many rows are read at a time, at most 65,536.

    Returns
    -------
    Path
        The file.

    See Also
    --------
    ilfs.load : Read a selection from a file.

    Notes
    -----
    Values and types are kept where both formats have them. From text to text with the same delimiter, values are copied
    as they are; otherwise the selected columns are written as numbers, and missing values in text as nothing.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ilfs
    >>> folder = Path(tempfile.mkdtemp())
    >>> text = "cell,size,hue,kind\nc1,1.0,3.0,a\nc2,2.0,1.5,a\nc3,4.0,2.0,b\nc4,5.0,2.0,b\n"
    >>> _ = (folder / "cells.csv").write_text(text)
    >>> selector = ilfs.FisherScore(1).fit(ilfs.read(folder / "cells.csv", target="kind", drop="cell"))
    >>> path = ilfs.apply(selector, folder / "cells.csv", folder / "selected.csv", keep=["cell"])
    >>> path.read_text().splitlines()[:2]
    ['cell,size', 'c1,1.0']
    """
    selector = load(selection) if isinstance(selection, str | os.PathLike) else selection
    if not isinstance(selector, RankingSelector):
        raise TypeError(f"selection must be a fitted selector or the path of a saved one, got {selection!r:.80}")
    check_is_fitted(selector)
    path = Path(out)
    check_output(path)
    refuse_input(source, path)
    wanted = Columns(selector._column_choice(), check_keep(keep), bytes_of(memory_limit))
    write_columns(open_columns(source, wanted, path), path, wanted.memory_limit)
    return path


def check_keep(keep: Any) -> Any:
    """Validate the columns to keep beside the selected ones."""
    if isinstance(keep, str):
        if keep == OTHER_COLUMNS:
            return OTHER_COLUMNS
        raise ValueError(
            f"keep must be {OTHER_COLUMNS!r} or a list of names of columns, got {keep!r}: write [{keep!r}]"
        )
    listed = list(keep)
    wrong = [name for name in listed if not isinstance(name, str)]
    if wrong:
        raise TypeError(f"keep must be {OTHER_COLUMNS!r} or a list of names of columns, got {wrong[0]!r} in it")
    return tuple(dict.fromkeys(listed))


def refuse_input(source: Any, out: Path) -> None:
    """Raise if the file to write is one of those to read."""
    files = files_of(source) if isinstance(source, str | os.PathLike) and out.exists() else []
    if any(file.samefile(out) for file in files):
        raise ValueError(f"out must be another file than those that are read, got {str(out)!r}")
