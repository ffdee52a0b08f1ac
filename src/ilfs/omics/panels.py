"""Marker panels: a few genes for each group of cells, each gene once, without near copies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.execution import Plan, ask, fold_of, run_plan
from ilfs.omics.cells import matrix_of, open_cells
from ilfs.omics.grouping import labelled_cells
from ilfs.omics.tables import group_table, result_of
from ilfs.parameters import check_between, check_integer, check_within
from ilfs.statistics import Association, Moments, Products
from ilfs.warn import warn

POOL_FACTOR = 5  # genes of each group that are compared with each other, for each gene of the panel


def panel(
    adata: Any, n_per_group: int = 5, key: str = "ilfs", *, max_correlation: float = 0.8, fdr: float = 0.05
) -> Any:
    """Choose a few marker genes for each group: each gene once, and no two that are nearly the same.

    The genes of a group are taken in the order in which `ilfs.ILFS` picks them, so that each adds something to those
    before it. A gene must be higher in the group, belong to no other group with a larger score, and have an adjusted
    p-value of at most ``fdr`` if there are p-values.

    Parameters
    ----------
    adata : AnnData
        It has been ranked by `rank`, and its cells have not changed since.
    n_per_group : int, default=5
        Number of genes for each group.
    key : str, default="ilfs"
        Key of the result in ``adata.uns``.
    max_correlation : float, default=0.8
        A gene is left out if its correlation with a gene of the panel, over all cells, is larger than this.
    fdr : float, default=0.05
        Largest adjusted p-value.

    Returns
    -------
    pandas.DataFrame
        The panel, in the order of the groups: ``group``, then the columns of `table`. A warning names groups with fewer
        genes than asked for.

    Examples
    --------
    >>> import ilfs
    >>> from ilfs.datasets import make_cells
    >>> adata = make_cells(n_cells=300, n_genes=200)
    >>> ilfs.omics.rank(adata, "cell_type")
    >>> markers = ilfs.omics.panel(adata, n_per_group=2)
    >>> markers["names"].is_unique, markers["group"].value_counts().max()
    (True, np.int64(2))
    """
    import pandas as pd

    check_integer("n_per_group", n_per_group, 1)
    check_within("max_correlation", max_correlation, 0, 1)
    check_between("fdr", fdr, 0, 1)
    result = result_of(adata, key)
    eligible = eligible_genes(result, fdr, POOL_FACTOR * n_per_group)
    genes = sorted({gene for some in eligible.values() for gene in some.index})
    if not genes:
        raise ValueError("no gene of any group is higher in it and significant: raise fdr, or look at ilfs.omics.table")
    correlation = pd.DataFrame(correlations(adata, result["params"], genes), index=genes, columns=genes)
    chosen = choose(eligible, correlation, n_per_group, max_correlation)
    warn_of_few({group: len(chosen[group]) for group in chosen}, n_per_group)
    parts = {group: eligible[group].loc[names].reset_index() for group, names in chosen.items() if names}
    return pd.concat(parts, names=["group"]).reset_index(level=0).reset_index(drop=True)


def panel_names(panel: Any) -> dict[str, list[str]]:
    """Return a panel as a dictionary from groups to genes, for ``scanpy.pl.dotplot(var_names=...)``.

    Parameters
    ----------
    panel : pandas.DataFrame
        Made by the function `panel`.

    Returns
    -------
    dict of str to list of str
        Genes of each group.

    Examples
    --------
    >>> import ilfs
    >>> from ilfs.datasets import make_cells
    >>> adata = make_cells(n_cells=300, n_genes=200)
    >>> ilfs.omics.rank(adata, "cell_type")
    >>> ilfs.omics.panel_names(ilfs.omics.panel(adata, n_per_group=1))["B cell"]
    ['B4']
    """
    return {str(group): part["names"].tolist() for group, part in panel.groupby("group", sort=False)}


def eligible_genes(result: Any, fdr: float, n_most: int) -> dict[str, Any]:
    """Return, for each group, the table of the genes that may stand for it, in the order of their picks."""
    tables = {group: group_table(result, group).set_index("names") for group in result["names"].dtype.names}
    eligible = {}
    for group, genes in tables.items():
        is_significant = genes["pvals_adj"].isna() | (genes["pvals_adj"] <= fdr)
        may_stand = genes[(genes["scores"] > 0) & result["is_highest"][group] & is_significant]
        picked = may_stand.reindex([name for name in result["picks"][group] if name in may_stand.index])
        eligible[group] = picked.iloc[:n_most].rename_axis("names")
    return eligible


def choose(eligible: dict[str, Any], correlation: Any, n_per_group: int, limit: float) -> dict[str, list[str]]:
    """Choose genes in turns, one for each group, and leave out near copies of genes that are chosen already."""
    chosen: dict[str, list[str]] = {group: [] for group in eligible}
    waiting = {group: list(genes.index) for group, genes in eligible.items()}
    taken: list[str] = []
    for _ in range(n_per_group):
        for group, queue in waiting.items():
            while queue:
                gene = queue.pop(0)
                if gene not in taken and not (correlation.loc[gene, taken].abs() > limit).any():
                    chosen[group].append(gene)
                    taken.append(gene)
                    break
    return chosen


def warn_of_few(sizes: dict[str, int], wanted: int) -> None:
    """Warn of groups with fewer genes than asked for."""
    few = [f"{group!r} ({size})" for group, size in sizes.items() if size < wanted]
    if few:
        warn(f"n_per_group={wanted} genes were not found for {', '.join(few)}: see ilfs.omics.table for others")


def correlations(adata: Any, params: Any, genes: list[str]) -> Floats:
    """Compute the correlations of some genes over the ranked cells, in two reads of these columns."""
    cells = matrix_of(adata, params.get("layer"), bool(params["use_raw"]))
    columns = column_numbers([str(name) for name in cells.var_names], genes)
    labelled = labelled_cells(adata, params["groupby"])
    source = open_cells(cells, labelled.astype(np.int64), labelled.astype(np.float64))
    try:
        return run_plan(plan_correlations(columns), fold_of(source))
    finally:
        source.close()


def column_numbers(names: list[str], genes: list[str]) -> Integers:
    """Return the columns of some genes; raise if a gene is not there any more."""
    places = {name: column for column, name in enumerate(names)}
    missing = [gene for gene in genes if gene not in places]
    if missing:
        raise ValueError(
            f"adata must have the genes that were ranked, got no {missing[0]!r}: call ilfs.omics.rank again"
        )
    return np.array([places[gene] for gene in genes])


def plan_correlations(columns: Integers) -> Plan[NDArray[np.float64]]:
    """Ask for the correlations of some columns, all rows as one class."""
    moments = yield from ask(Moments(), columns, labelling=None)
    products = yield from ask(Products(Association.from_moments(moments)), columns, labelling=None)
    return products.correlation()
