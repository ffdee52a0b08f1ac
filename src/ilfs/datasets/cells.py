"""Simulated single-cell data with known marker genes, donors and near copies.

The counts of a gene are negative binomial. Their mean is the product of the size of the cell's library, the mean of the
gene, the fold of a marker in the cells of its type, and an effect of the donor on the gene. A copy of a gene is a
thinned version of its counts: each molecule is seen again with probability `COPY_RATE`.
"""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.importing import check_installed
from ilfs.parameters import check_integer, check_positive

CELL_TYPES = {"B cell": "B", "T cell": "T", "NK cell": "NK", "monocyte": "MO", "dendritic cell": "DC"}  # and gene names
TYPE_FRACTIONS = (0.25, 0.35, 0.12, 0.2, 0.08)
N_MARKERS = 6  # of each cell type, besides the copy of the first one
N_SHARED = 3  # genes that T cells and NK cells have in common
SHARED_BY = ("T cell", "NK cell")
MARKER_MEAN = 0.08  # molecules of a marker in a cell of another type
WEAKEST_MARKER = 0.6  # logarithm of the fold of the weakest marker, as a fraction of that of the strongest
COPY_RATE = 0.9
DISPERSION = 0.3  # the variance of a count of mean m is m + 0.3 m^2
LIBRARY_SPREAD = 0.3  # standard deviation of the logarithm of the size of a library
GENE_SPREAD = 1.2  # standard deviation of the logarithm of the mean of a gene
GENE_MEAN = 0.3  # median of these means, in molecules
TARGET_SUM = 1e4  # molecules of a cell after normalisation
CONCENTRATION = 8.0  # of the Dirichlet distribution of the cell types of a donor


def make_cells(
    n_cells: int = 2000,
    n_genes: int = 1000,
    *,
    n_donors: int = 6,
    donor_effect: float = 0.3,
    marker_fold: float = 16.0,
    random_state: int | Generator = 0,
) -> Any:
    """Simulate single-cell RNA sequencing of blood cells, with known markers of five cell types.

    Each cell type has six markers; a near copy of the first one has its name with the letter b, such as ``B1b``. Three
    genes, ``TNK1`` to ``TNK3``, are high in T cells and NK cells. All other genes differ between donors at most. Donors
    have different fractions of the cell types.

    Parameters
    ----------
    n_cells : int, default=2000
        Number of cells.
    n_genes : int, default=1000
        Number of genes, at least 50.
    n_donors : int, default=6
        Number of donors.
    donor_effect : float, default=0.3
        Standard deviation, over the donors, of the logarithm of the mean of a gene that is no marker.
    marker_fold : float, default=16.0
        Largest fold of a marker in the cells of its type; with 1 there are no markers.
    random_state : int or numpy.random.Generator, default=0
        Random numbers.

    Returns
    -------
    AnnData
        ``X`` holds ``log1p`` of counts per 10,000, as a sparse matrix, and ``layers["counts"]`` the counts. ``obs`` has
        ``cell_type`` and ``donor``, ``var`` has ``marker_of``, which is empty for genes that are no markers.

    Examples
    --------
    >>> from ilfs.datasets import make_cells
    >>> adata = make_cells(n_cells=300, n_genes=200)
    >>> adata.shape, adata.obs["cell_type"].cat.categories.tolist()
    ((300, 200), ['B cell', 'NK cell', 'T cell', 'dendritic cell', 'monocyte'])
    """
    check_installed("anndata", "omics", "make_cells")
    check_integer("n_cells", n_cells, 2)
    check_integer("n_genes", n_genes, 50)
    check_integer("n_donors", n_donors, 1)
    check_positive("marker_fold", marker_fold)
    rng = np.random.default_rng(random_state)
    donor = rng.integers(n_donors, size=n_cells)
    kind = types_of(donor, n_donors, rng)
    names, owners = gene_names(n_genes)
    mean = np.exp(rng.normal(np.log(GENE_MEAN), GENE_SPREAD, n_genes))
    is_marker = np.array([bool(owner) for owner in owners])
    mean[is_marker] = MARKER_MEAN
    folds = marker_fold ** rng.uniform(WEAKEST_MARKER, 1.0, n_genes)
    fold = np.array([np.where([one in owner for owner in owners], folds, 1.0) for one in CELL_TYPES])
    by_donor = np.exp(rng.normal(0.0, 1.0, (n_donors, n_genes)) * donor_effect * ~is_marker)
    library = rng.lognormal(0.0, LIBRARY_SPREAD, n_cells)
    counts = rng.poisson(overdispersed(library[:, None] * mean * fold[kind] * by_donor[donor], rng))
    for copy, original in copies(names):
        counts[:, copy] = rng.binomial(counts[:, original], COPY_RATE)
    return as_anndata(counts[:, (shuffled := rng.permutation(n_genes))], kind, donor, names[shuffled], owners[shuffled])


def types_of(donor: Integers, n_donors: int, rng: Generator) -> Integers:
    """Draw the type of each cell, with fractions that differ between donors."""
    fractions = rng.dirichlet(CONCENTRATION * np.array(TYPE_FRACTIONS) * len(TYPE_FRACTIONS), n_donors)
    return np.asarray((fractions[donor].cumsum(axis=1) < rng.random((donor.size, 1))).sum(axis=1))


def gene_names(n_genes: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the names of the genes, and the types that each of them marks, as a tuple."""
    names: list[str] = []
    owners: list[tuple[str, ...]] = []
    for kind, short in CELL_TYPES.items():
        names += [*(f"{short}{i + 1}" for i in range(N_MARKERS)), f"{short}1b"]
        owners += [(kind,)] * (N_MARKERS + 1)
    names += [f"TNK{i + 1}" for i in range(N_SHARED)]
    owners += [SHARED_BY] * N_SHARED
    n_others = n_genes - len(names)
    names += [f"G{i + 1:05}" for i in range(n_others)]
    owned = np.empty(n_genes, dtype=object)
    owned[:] = [*owners, *([()] * n_others)]
    return np.array(names, dtype=object), owned


def copies(names: NDArray[Any]) -> list[tuple[int, int]]:
    """Return the columns of the copies and of the genes that they repeat."""
    places = {name: column for column, name in enumerate(names)}
    return [(places[f"{short}1b"], places[f"{short}1"]) for short in CELL_TYPES.values()]


def overdispersed(mean: Floats, rng: Generator) -> Floats:
    """Draw rates from gamma distributions; counts of these rates are negative binomial."""
    return np.asarray(rng.gamma(1.0 / DISPERSION, mean * DISPERSION))


def as_anndata(counts: NDArray[Any], kind: Integers, donor: Integers, names: NDArray[Any], owners: NDArray[Any]) -> Any:
    """Make an AnnData of counts, with logarithms of normalised counts as X."""
    import anndata
    import pandas as pd

    def categories(values: Any) -> Any:
        # Objects: anndata cannot write the string type of pandas 3.
        texts = np.array(values, dtype=object)
        return pd.Categorical(texts, categories=pd.Index(sorted(set(texts)), dtype=object))

    normalised = np.log1p(counts * (TARGET_SUM / np.maximum(counts.sum(axis=1, keepdims=True), 1)))
    kinds = list(CELL_TYPES)
    obs = {"cell_type": categories([kinds[i] for i in kind]), "donor": categories([f"donor {i + 1}" for i in donor])}
    cells = pd.Index([f"cell{i}" for i in range(kind.size)], dtype=object)
    marker_of = categories([" and ".join(owner) for owner in owners])
    return anndata.AnnData(
        X=sparse.csr_matrix(normalised.astype(np.float32)),
        obs=pd.DataFrame(obs, index=cells),
        var=pd.DataFrame({"marker_of": marker_of}, index=pd.Index(names, dtype=object)),
        layers={"counts": sparse.csr_matrix(counts.astype(np.float32))},
    )
