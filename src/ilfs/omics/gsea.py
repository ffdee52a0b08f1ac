"""Ranked lists of genes for gene set enrichment analysis (GSEA)."""

import os
from typing import Any

import numpy as np

from ilfs.arrays import Floats
from ilfs.files import write_text_atomically
from ilfs.omics.tables import check_group, group_table, result_of
from ilfs.warn import warn

TIE_STEP = 1e-12  # distance of equal scores in a file; programs order equal scores at random


def write_rnk(adata: Any, group: str, path: str | os.PathLike[str], key: str = "ilfs") -> None:
    """Write the genes of a group with their signed scores to a ``.rnk`` file, for GSEA.

    Parameters
    ----------
    adata : AnnData
        It has been ranked by `rank`, with all genes.
    group : str
        The group.
    path : path-like
        The file to write. It has a line for each gene: name, tab, score; the genes that are highest in the group come
        first, those that are lowest last. It appears complete or not at all.
    key : str, default="ilfs"
        Key of the result in ``adata.uns``.

    Returns
    -------
    None
        The file is written. Equal scores, such as those of many genes at chance level, are set apart by steps of 1e-12,
        in the order of the result: by the effects of the genes, or by the sizes of the effects after
        ``rank(..., rankby_abs=True)``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ilfs
    >>> from ilfs.datasets import make_cells
    >>> adata = make_cells(n_cells=300, n_genes=200)
    >>> ilfs.omics.rank(adata, "cell_type", n_permutations=0)
    >>> path = Path(tempfile.mkdtemp(), "B.rnk")
    >>> ilfs.omics.write_rnk(adata, "B cell", path)
    >>> len(path.read_text().splitlines())
    200
    """
    result = result_of(adata, key)
    genes = group_table(result, check_group(result, group, key))
    check_names(genes["names"].tolist(), len(result["pts"]))
    if result["params"].get("rankby_abs"):  # its order is by absolute value
        genes = genes.sort_values("scores", ascending=False, kind="stable")
    scores = strictly_falling(genes["scores"].to_numpy(dtype=np.float64))
    lines = [f"{name}\t{score!r}\n" for name, score in zip(genes["names"], scores.tolist(), strict=True)]
    write_text_atomically(path, "".join(lines))


def check_names(names: list[str], n_all: int) -> None:
    """Raise if a name cannot stand in a file; warn if genes are missing."""
    wrong = [name for name in names if not name or any(mark in name for mark in "\t\r\n")]
    if wrong:
        raise ValueError(
            f"names of genes in a .rnk file must not be empty or contain tabs or line ends, got {wrong[0]!r}"
        )
    if len(names) < n_all:
        warn(f"the result has {len(names)} of {n_all} genes, but GSEA needs all: call ilfs.omics.rank without n_genes")


def strictly_falling(scores: Floats) -> Floats:
    """Set equal scores apart by small steps, so that they keep their order.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.omics.gsea import strictly_falling
    >>> strictly_falling(np.array([0.5, 0.0, 0.0, -0.25])).tolist()
    [0.500000000003, 2e-12, 1e-12, -0.25]
    """
    steps = TIE_STEP * np.arange(scores.size - 1, -1, -1)
    return np.asarray(np.minimum.accumulate(scores) + steps)
