"""Ranking of the genes for each group of cells against the rest."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ilfs.execution import ask, at_once, fold_of, run_plan
from ilfs.methods import ILFS
from ilfs.omics.cells import MatrixOfCells, check_anndata, matrix_of, open_cells, warn_of_units
from ilfs.omics.grouping import Groups, donors_of, fixed_groups, groups_of
from ilfs.omics.results import GroupResult, Ranked, log_base, store
from ilfs.parameters import check_choice, check_integer, is_integer
from ilfs.permutations import MIN_PERMUTATIONS
from ilfs.sources import Source
from ilfs.statistics import Profile
from ilfs.statistics.profile import ClassProfile
from ilfs.warn import warn


def rank(
    adata: Any,
    groupby: str,
    groups: Literal["all"] | Sequence[str] = "all",
    layer: str | None = None,
    use_raw: bool = False,
    donor_key: str | None = None,
    *,
    key_added: str = "ilfs",
    n_genes: int | None = None,
    rankby_abs: bool = False,
    n_permutations: int = 20,
    n_candidates: int = 300,
    random_state: int | np.random.Generator | None = 0,
    n_jobs: int | None = None,
) -> None:
    """Rank the genes for each group of cells against all other cells.

    The words are those of ``scanpy.tl.rank_genes_groups``, and scanpy's plots and tables read the result. Values must
    be logarithms, as ``scanpy.pp.log1p`` makes them. All groups and permutations are computed in the same reads of the
    cells, so AnnData may be backed by a file or lazy.

    Parameters
    ----------
    adata : AnnData
        Cells in rows, genes in columns; in memory, backed by a file or lazy.
    groupby : str
        Column of ``adata.obs`` that holds the group of each cell. Cells without a value are left out, with a warning.
    groups : "all" or sequence of str, default="all"
        Groups to rank. The rest is always all other cells, whatever their groups.
    layer : str, optional
        Layer to rank instead of ``adata.X``.
    use_raw : bool, default=False
        If True, rank ``adata.raw.X``.
    donor_key : str, optional
        Column of ``adata.obs`` that holds the donor (or batch) of each cell. Labels are then permuted within donors
        only, so that differences between donors do not count as differences between groups.
    key_added : str, default="ilfs"
        Key of the result in ``adata.uns``, and beginning of the names of its columns in ``adata.var``.
    n_genes : int, optional
        Number of genes in the result of each group; all by default.
    rankby_abs : bool, default=False
        If True, genes are listed by the absolute value of their score, so that genes that are lower in the group can
        come first.
    n_permutations : int, default=20
        Number of permutations of the labels, for p-values; 0 for none. A number below 20 is raised to 20, with a
        warning, since the test of the best genes together could not give a p-value below 0.05.
    n_candidates : int, default=300
        Number of the most relevant genes of each group from which a set without repetition is picked, for `panel` and
        for the ranks in ``adata.var``.
    random_state : int, numpy.random.Generator or None, default=0
        Random numbers of the permutations.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    None
        The result is in ``adata.uns[key_added]``: record arrays with one field for each group (``names``, ``scores``,
        ``pvals``, ``pvals_adj``, ``logfoldchanges``; ``picks``, the candidates in the order in which they are picked;
        and ``is_highest``, whether a gene has its largest score in this group), data frames ``pts`` and ``pts_rest``
        with the fractions of cells that express each gene, a data frame ``groups``, and ``params``. If a group has a
        slash in its name, which anndata cannot write as the name of a column, record arrays ``pct_nz_group`` and
        ``pct_nz_reference`` take the place of ``pts`` and ``pts_rest``. The columns of ``adata.var`` are described in
        the documentation. In a backed or lazy AnnData these are in memory: use `save`.

    Notes
    -----
    ``scores`` has the sign of the difference of the means, positive if the gene is higher in the group. Its size is
    ``2 * relevance - 1``, where the relevance of `ilfs.ILFS` is 1/2 for a gene that does not tell the group from the
    rest; a smaller relevance counts as 1/2. So scores are between -1 and 1, about 0 for most genes, and do not grow
    with the number of cells. ``pvals`` are permutation p-values of the relevance, two-sided, and ``pvals_adj`` are
    adjusted by Benjamini and Hochberg's procedure within each group. ``logfoldchanges`` are those of scanpy:
    ``log2((expm1(a) + 1e-9) / (expm1(b) + 1e-9))`` with the means a and b of the logarithms in the group and the rest.

    Examples
    --------
    >>> import ilfs
    >>> from ilfs.datasets import make_cells
    >>> adata = make_cells(n_cells=300, n_genes=200)
    >>> ilfs.omics.rank(adata, "cell_type")
    >>> best = ilfs.omics.table(adata, "B cell").head(3)
    >>> best["names"].tolist()
    ['B4', 'B3', 'B1']
    """
    check_anndata(adata)
    check_options(key_added, n_genes, rankby_abs, n_permutations, n_candidates)
    cells = matrix_of(adata, layer, use_raw)
    found = groups_of(adata, groupby, groups)
    donors = donors_of(adata, donor_key, found)
    selector, profiles = fit_groups(
        ILFS(
            n_permutations=enough_permutations(n_permutations),
            n_candidates=n_candidates,
            random_state=random_state,
            n_jobs=n_jobs,
        ),
        open_cells(cells, found.labels, found.weight),
        len(found.names),
        donors,
    )
    names = names_of(cells)
    warn_of_missing(profiles[0], names, int(found.labelled.sum()))
    params = {
        "groupby": groupby,
        "reference": "rest",
        "method": "ilfs",
        "use_raw": use_raw,
        "layer": layer,
        "corr_method": "benjamini-hochberg",
        "donor_key": donor_key,
        "n_permutations": getattr(selector, "n_permutations_", 0),
        "n_candidates": n_candidates,
        "random_state": random_state if is_integer(random_state) else str(random_state),
        "rankby_abs": rankby_abs,
    }
    results = results_of(selector, profiles, found, donors, log_base(adata))
    store(adata, key_added, Ranked(names, found, results, selector), params, n_genes, rankby_abs)


def check_options(
    key_added: str, n_genes: int | None, rankby_abs: bool, n_permutations: int, n_candidates: int
) -> None:
    """Validate the options of `rank`, before anything is read."""
    if not isinstance(key_added, str) or key_added in ("", ".", "..") or "/" in key_added:
        raise ValueError(f"key_added must be a name without '/', got {key_added!r}")
    if n_genes is not None:
        check_integer("n_genes", n_genes, 1)
    check_choice("rankby_abs", rankby_abs, (True, False))
    check_integer("n_permutations", n_permutations, 0)
    check_integer("n_candidates", n_candidates, 1)


def enough_permutations(n_permutations: int) -> int:
    """Return a number of permutations, raised to the smallest useful one with a warning; 0 stays 0."""
    if 0 < n_permutations < MIN_PERMUTATIONS:
        warn(
            f"n_permutations must be 0 or at least {MIN_PERMUTATIONS}, since fewer cannot give a p-value below 0.05 "
            f"for the best genes of a group, got {n_permutations}: {MIN_PERMUTATIONS} are made"
        )
        return MIN_PERMUTATIONS
    return n_permutations


def warn_of_missing(profile: ClassProfile, names: NDArray[Any], n_cells: int) -> None:
    """Warn of genes with missing values, which are left out of all results."""
    missing = names[profile.moments.total < n_cells]
    if missing.size:
        have = f"{missing[0]!r} has" if missing.size == 1 else f"{missing.size} genes, such as {missing[0]!r}, have"
        warn(f"{have} missing values (NaN), which are left out")


def names_of(cells: MatrixOfCells) -> NDArray[Any]:
    """Return the names of the genes as Python strings."""
    return np.array([str(name) for name in cells.var_names], dtype=object)


def fit_groups(
    selector: ILFS, source: Source, n_groups: int, donors: NDArray[Any] | None
) -> tuple[ILFS, list[ClassProfile]]:
    """Fit a selector, and compute means and zeros of the genes in each group and in its rest."""
    try:
        warn_of_units(source)
        selector.fit(source, groups=donors)
        plan = at_once([ask(Profile(), labelling=number) for number in range(n_groups)])
        return selector, run_plan(plan, fold_of(source, selector.n_jobs))
    finally:
        source.close()


def results_of(
    selector: ILFS, profiles: list[ClassProfile], groups: Groups, donors: NDArray[Any] | None, base: float | None
) -> list[GroupResult]:
    """Collect the results of each group."""
    fixed = [] if donors is None else fixed_groups(groups, donors, int(donors.max()) + 1)
    fitted = getattr(selector, "per_label_", {0: selector})
    return [
        GroupResult.from_fit(fitted[number], profile, base, can_move=name not in fixed)
        for number, (name, profile) in enumerate(zip(groups.names, profiles, strict=True))
    ]
