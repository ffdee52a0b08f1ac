"""Readers of the Broad Institute's tables of gene expression: GCT and RES, with the classes in a CLS file.

Genes are rows in these files, so the table is transposed. ``x.cls`` must be beside ``x.gct`` or ``x.res``. A GCT file
has the lines ``#1.2``, the two counts, the header ``Name Description sample ...``, and one line a gene. A RES file has
the header ``Description Accession sample ...`` with an empty column after each sample, a line of sample descriptions,
the number of genes, and one line a gene with a value and a call (A, P or M) for each sample.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ilfs.arrays import Floats
from ilfs.datasets.archive import distinct
from ilfs.datasets.checks import FLOAT_BYTES, MAX_QUOTED_LENGTH, quoted
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.limits import ReadLimits
from ilfs.datasets.readers.assemble import Drop, Target, assemble, find_kept
from ilfs.datasets.readers.compressed import PACKED_ENDINGS
from ilfs.datasets.readers.text import Layout, open_text, read_numbers

GCT_VERSION = "#1.2"
N_NAMES = 2  # columns before the first value: names and descriptions of genes


def read_gct(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read a GCT file and its CLS file."""
    with open_text(path, limits) as lines:
        rows = (line.rstrip("\r\n").split("\t") for line in lines)
        if next(rows, [""])[0].strip() != GCT_VERSION:
            raise ValueError(f"{path} must begin with the line {GCT_VERSION}")
        n_genes, n_samples = _counts(next(rows, []), 2, path)
        header = next(rows, [])
        if len(header) != n_samples + N_NAMES:
            raise ValueError(f"{path} must name {n_samples} samples, got {len(header) - N_NAMES}")
        genes, X = _genes(rows, n_genes, n_samples, 1, path, limits)
    return _table(path, target, drop, name, limits, X, genes)


def read_res(path: Path, target: Target, drop: Drop, name: str, limits: ReadLimits) -> Dataset:
    """Read a RES file and its CLS file; the calls of the samples are left out."""
    with open_text(path, limits) as lines:
        rows = (line.rstrip("\r\n").split("\t") for line in lines)
        samples = [text for text in next(rows, [])[N_NAMES:] if text.strip()]
        next(rows, None)  # descriptions of the samples
        (n_genes,) = _counts(next(rows, []), 1, path)
        genes, X = _genes(rows, n_genes, len(samples), 2, path, limits)
    names = [row[1] for row in genes]
    return _table(path, target, drop, name, limits, X, [[accession] for accession in names])


def _counts(row: Sequence[str], n_counts: int, path: Path) -> list[int]:
    texts = [text.strip() for text in row if text.strip()]
    if len(texts) != n_counts or not all(text.isascii() and text.isdigit() and len(text) < 12 for text in texts):
        what = "the numbers of genes and samples" if n_counts == 2 else "the number of genes"
        raise ValueError(f"line {4 - n_counts} of {path} must be {what}, got {quoted(' '.join(row))}")
    return [int(text) for text in texts]


def _genes(
    rows: Iterator[list[str]], n_genes: int, n_samples: int, step: int, path: Path, limits: ReadLimits
) -> tuple[list[list[str]], Floats]:
    """Read names and values of all genes; every ``step``-th column has a value."""
    limits.check_bytes(FLOAT_BYTES * n_genes * n_samples, path)
    names, values, layout = list[list[str]](), list[Floats](), Layout("\t")
    columns = range(N_NAMES, N_NAMES + step * n_samples, step)
    for number, row in enumerate((row for row in rows if any(row)), start=1):
        if number > n_genes or len(row) < columns.stop - step + 1 or len(row) > columns.stop + 1:
            got = f"{len(row)} columns in gene {number}"
            raise ValueError(f"{path} must have {n_genes} genes of {n_samples} samples, as it declares, got {got}")
        names.append(row[:N_NAMES])
        values.append(read_numbers([row[j] for j in columns], columns, layout, number, path))
    if len(names) != n_genes or not names:
        raise ValueError(f"{path} must have {n_genes} genes, as it declares, and at least one, got {len(names)}")
    return names, np.stack(values)


def _table(
    path: Path,
    target: Target,
    drop: Drop,
    name: str,
    limits: ReadLimits,
    X: Floats,
    genes: Sequence[Sequence[str]],
) -> Dataset:
    if target is not None:
        raise ValueError(f"target must be None for {path}, as its classes are in a .cls file, got {target!r}")
    names = distinct([row[0] for row in genes])
    kept = find_kept(names, len(names), drop, path)
    labels, declared = read_cls(_class_file(path), len(X[0]), limits)
    return assemble(path, name, np.ascontiguousarray(X[kept].T), labels, limits, [names[j] for j in kept], declared)


def _class_file(path: Path) -> Path:
    plain = path.with_suffix("") if path.suffix.lower() in PACKED_ENDINGS else path
    found = plain.with_suffix(".cls")
    if not found.is_file():
        raise FileNotFoundError(f"{path} must have {found.name} beside it, which holds the classes of the samples")
    return found


def read_cls(path: Path, n_samples: int, limits: ReadLimits) -> tuple[list[str], list[str]]:
    """Read the class of each sample and the names of all classes from a CLS file.

    Its lines are ``samples classes 1``, ``# name name ...`` and the class of each sample, by number or by name.
    """
    with open_text(path, limits) as lines:
        words = [line.split() for line in lines if line.strip()]
    if len(words) < 3 or len(words[0]) < 2 or words[1][0][:1] != "#":
        raise ValueError(f"{path} must have three lines: counts, '# name name ...' and the classes of the samples")
    names = [word for word in [words[1][0][1:], *words[1][1:]] if word]
    codes = [word for row in words[2:] for word in row]
    if words[0][:2] != [str(len(codes)), str(len(names))] or len(codes) != n_samples:
        got = f"{quoted(' and '.join(words[0][:2]))} with {len(names)} names and {len(codes)} classes"
        raise ValueError(f"{path} must declare and have {n_samples} samples, and as many names as classes, got {got}")
    numbers = {str(code): name for code, name in enumerate(names)}
    labels = [code if code in names else numbers.get(code, "") for code in codes]
    if "" in labels:
        at = labels.index("")
        allowed = ", ".join(one[:MAX_QUOTED_LENGTH] for one in names[:5])
        raise ValueError(f"the class of sample {at + 1} of {path} must be one of {allowed}, got {quoted(codes[at])}")
    return labels, names
