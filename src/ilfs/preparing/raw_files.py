"""Raw tables of all formats that have columns, chosen by the ending of the file."""

from pathlib import Path
from typing import Any

import numpy as np

from ilfs.datasets.npz import load_npy
from ilfs.importing import check_installed
from ilfs.preparing.inputs import Input
from ilfs.preparing.options import Options
from ilfs.preparing.raw_columns import ValueColumn
from ilfs.preparing.raw_table import RawTable
from ilfs.preparing.text_files import ANY_HEADER, read_text_table
from ilfs.preparing.typed_files import READERS, arrow_table
from ilfs.reading.paths import parquet_parts
from ilfs.sources.parquet import parquet_table

GCT, GCT_LINES = ".gct", 2  # lines before the header: the version, and the numbers of genes and samples


def may_be_table(found: Input, options: Options) -> bool:
    """Check if a format has columns, which may hold anything; GCT has them if the classes are in a sample sheet."""
    if found.ending == GCT and options.samples is not None:
        return True
    return found.is_text or found.is_parquet or found.ending in READERS or found.ending == ".npy"


def read_raw_table(found: Input, options: Options, *, is_sheet: bool = False) -> RawTable | None:
    """Read a table; return None if it is sparse.

    Parameters
    ----------
    found : Input
        The file or files.
    options : Options
        What was asked for; named columns imply a header.
    is_sheet : bool, default=False
        True for a sample sheet, which always has a header.

    Returns
    -------
    RawTable or None
        The table.
    """
    if found.is_parquet:
        check_installed("pyarrow", "parquet", f"reading {found.name}")
        return arrow_table(parquet_table(parquet_parts(found.files), found.name), found.name)
    if len(found.files) > 1:
        raise ValueError(f"{found.path} must be one file unless it is read in blocks, got {len(found.files)} files")
    file = found.files[0]
    if not may_be_table(found, options):
        raise ValueError(f"samples must be a table of text, Parquet, Feather or Excel, got {found.name}")
    if file.stat().st_size == 0:
        raise ValueError(f"{found.name} is empty")
    if found.ending == GCT:
        return read_text_table(file, found.name, [ANY_HEADER], n_before=GCT_LINES)
    if found.is_text:
        return read_text_table(file, found.name, [ANY_HEADER] if is_sheet else options.named)
    if found.ending == ".npy":
        return npy_table(file, found.name)
    return READERS[found.ending](file, found.name)


def npy_table(file: Path, name: str) -> RawTable:
    """Read a matrix without names of columns."""
    matrix: Any = load_npy(file)
    if matrix.ndim != 2 or matrix.dtype.kind not in "buif" or not matrix.size:
        raise ValueError(f"{name} must be a matrix of numbers, got shape {matrix.shape} of {matrix.dtype}")
    columns = [ValueColumn(np.ascontiguousarray(column)) for column in matrix.T]
    return RawTable(name, [f"x{j}" for j in range(len(columns))], list(columns), matrix.shape[0], has_header=False)
