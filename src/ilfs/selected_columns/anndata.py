"""Selected variables of an AnnData."""

from typing import Any

import numpy as np
from scipy import sparse

from ilfs.selected_columns.choice import ColumnChoice
from ilfs.sources.anndata import AnnDataReader
from ilfs.sources.roles import Request
from ilfs.sources.tables import BLOCK_ROWS


def from_anndata(X: Any, choice: ColumnChoice) -> Any:
    """Select variables of an AnnData; the result is a view of it.

    If the matrix is sparse and on disk, its selected columns are loaded, with obs, var, uns and obsm: anndata's own
    slices of such a matrix depend on private functions of SciPy, and fail with its newer versions.
    """
    names = [str(name) for name in X.var_names]
    positions = choice.positions(names, len(names), "X.var_names")
    if X.isbacked and not X.is_view and getattr(X.X, "format", None) in ("csr", "csc"):
        return with_loaded_matrix(X, positions)
    return X[:, positions]


def with_loaded_matrix(X: Any, positions: list[int]) -> Any:
    """Return an AnnData in memory with some variables of one whose sparse matrix is on disk."""
    import anndata

    reader, order = AnnDataReader(X, None, Request()), np.argsort(positions)
    batches = reader.batches(np.asarray(positions)[order], BLOCK_ROWS)
    matrix = sparse.csr_matrix(sparse.vstack([batch.X for batch in batches], format="csr"))
    view = X[:, positions]
    return anndata.AnnData(
        matrix[:, np.argsort(order)], view.obs.copy(), view.var.copy(), dict(view.uns), dict(view.obsm)
    )
