"""Feature selection: Infinite Latent Feature Selection as a scikit-learn selector."""

from ilfs.methods import (
    CFS,
    FSV,
    ILFS,
    MCFS,
    METHODS,
    UDFS,
    FisherScore,
    InfFS,
    LaplacianScore,
    MutualInformation,
    ReliefF,
    cfs_score,
    fisher_score,
    inf_fs,
    laplacian_score,
    mcfs,
    mutual_information,
    relieff,
    udfs,
)

__version__ = "0.1.0"

__all__ = [
    "CFS",
    "FSV",
    "ILFS",
    "MCFS",
    "METHODS",
    "UDFS",
    "FisherScore",
    "InfFS",
    "LaplacianScore",
    "MutualInformation",
    "ReliefF",
    "__version__",
    "cfs_score",
    "fisher_score",
    "inf_fs",
    "laplacian_score",
    "mcfs",
    "mutual_information",
    "relieff",
    "udfs",
]
