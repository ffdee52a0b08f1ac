"""The result of a ranking as a data frame."""

from typing import Any

from ilfs.omics.cells import check_anndata

COLUMNS = ("names", "scores", "logfoldchanges", "pvals", "pvals_adj")


def table(adata: Any, group: str | None = None, key: str = "ilfs") -> Any:
    """Return the result of `rank` as a data frame, with the columns of ``scanpy.get.rank_genes_groups_df``.

    Parameters
    ----------
    adata : AnnData
        It has been ranked by `rank`.
    group : str, optional
        A group; by default all of them, with an additional first column ``group``.
    key : str, default="ilfs"
        Key of the result in ``adata.uns``.

    Returns
    -------
    pandas.DataFrame
        One row for each gene, best first: ``names``, ``scores``, ``logfoldchanges``, ``pvals``, ``pvals_adj``, and the
        fractions of cells that express the gene in the group (``pct_nz_group``) and elsewhere (``pct_nz_reference``).

    Examples
    --------
    >>> import ilfs
    >>> from ilfs.datasets import make_cells
    >>> adata = make_cells(n_cells=300, n_genes=200)
    >>> ilfs.omics.rank(adata, "cell_type", n_permutations=0)
    >>> ilfs.omics.table(adata).columns.tolist()
    ['group', 'names', 'scores', 'logfoldchanges', 'pvals', 'pvals_adj', 'pct_nz_group', 'pct_nz_reference']
    >>> ilfs.omics.table(adata, "B cell").shape
    (200, 7)
    """
    import pandas as pd

    result = result_of(adata, key)
    if group is not None:
        return group_table(result, check_group(result, group, key))
    tables = {name: group_table(result, name) for name in result["names"].dtype.names}
    joined = pd.concat(tables, names=["group"]).reset_index(level=0)
    return joined.reset_index(drop=True)


def result_of(adata: Any, key: str) -> Any:
    """Return the result of `rank`, or raise if there is none."""
    check_anndata(adata)
    result = adata.uns.get(key)
    if not (hasattr(result, "keys") and {*COLUMNS, "params", "is_highest"} <= set(result.keys())):
        raise ValueError(f"adata.uns must have a result under key={key!r}, got none: call ilfs.omics.rank first")
    return result


def check_group(result: Any, group: str, key: str) -> str:
    """Return the name of a group, or raise if it was not ranked."""
    names = result["names"].dtype.names
    if str(group) not in names:
        raise ValueError(f"group must be one of those in adata.uns[{key!r}] ({', '.join(names)}), got {group!r}")
    return str(group)


def group_table(result: Any, group: str) -> Any:
    """Return the table of one group."""
    import pandas as pd

    frame = pd.DataFrame({column: result[column][group] for column in COLUMNS})
    for column, frame_name in {"pct_nz_group": "pts", "pct_nz_reference": "pts_rest"}.items():
        if frame_name in result:
            frame[column] = result[frame_name][group].reindex(frame["names"]).to_numpy()
        else:
            frame[column] = result[column][group]
    return frame
