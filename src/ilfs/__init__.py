"""Feature selection: Infinite Latent Feature Selection as a scikit-learn selector."""

from ilfs.methods import (
    ILFS,
    METHODS,
    FisherScore,
    InfFS,
    LaplacianScore,
    MutualInformation,
    ReliefF,
    fisher_score,
    inf_fs,
    laplacian_score,
    mutual_information,
    relieff,
)

__version__ = "0.1.0"

__all__ = [
    "ILFS",
    "METHODS",
    "FisherScore",
    "InfFS",
    "LaplacianScore",
    "MutualInformation",
    "ReliefF",
    "__version__",
    "fisher_score",
    "inf_fs",
    "laplacian_score",
    "mutual_information",
    "relieff",
]
