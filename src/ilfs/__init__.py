"""Feature selection: Infinite Latent Feature Selection and eleven more methods, as scikit-learn selectors."""

from ilfs.methods import (
    CFS,
    FSV,
    ILFS,
    LLCFS,
    MCFS,
    METHODS,
    SVMRFE,
    UDFS,
    FisherScore,
    HallCFS,
    InfFS,
    LaplacianScore,
    MutualInformation,
    Novelty,
    ReliefF,
)
from ilfs.methods.cfs import cfs_score
from ilfs.methods.fisher import fisher_score
from ilfs.methods.inf_fs import inf_fs
from ilfs.methods.laplacian_score import laplacian_score
from ilfs.methods.llcfs import llcfs
from ilfs.methods.mcfs import mcfs
from ilfs.methods.mutual_information import mutual_information
from ilfs.methods.novelty import novel_order
from ilfs.methods.relieff import relieff
from ilfs.methods.udfs import udfs

__version__ = "0.1.0"

__all__ = [
    "CFS",
    "FSV",
    "ILFS",
    "LLCFS",
    "MCFS",
    "METHODS",
    "SVMRFE",
    "UDFS",
    "FisherScore",
    "HallCFS",
    "InfFS",
    "LaplacianScore",
    "MutualInformation",
    "Novelty",
    "ReliefF",
    "__version__",
    "cfs_score",
    "fisher_score",
    "inf_fs",
    "laplacian_score",
    "llcfs",
    "mcfs",
    "mutual_information",
    "novel_order",
    "relieff",
    "udfs",
]
