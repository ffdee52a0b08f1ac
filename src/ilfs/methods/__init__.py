"""The methods, one file each."""

from ilfs.methods.cfs import CFS, cfs_score
from ilfs.methods.fisher import FisherScore, fisher_score
from ilfs.methods.fsv import FSV
from ilfs.methods.hall_cfs import HallCFS
from ilfs.methods.ilfs import ILFS
from ilfs.methods.inf_fs import InfFS, inf_fs
from ilfs.methods.laplacian_score import LaplacianScore, laplacian_score
from ilfs.methods.llcfs import LLCFS, llcfs
from ilfs.methods.mcfs import MCFS, mcfs
from ilfs.methods.mutual_information import MutualInformation, mutual_information
from ilfs.methods.relieff import ReliefF, relieff
from ilfs.methods.svm_rfe import SVMRFE
from ilfs.methods.udfs import UDFS, udfs
from ilfs.selector import RankingSelector

METHODS: dict[str, type[RankingSelector]] = {
    "ilfs": ILFS,
    "fisher": FisherScore,
    "fsv": FSV,
    "inf_fs": InfFS,
    "ls": LaplacianScore,
    "mi": MutualInformation,
    "relieff": ReliefF,
    "cfs": CFS,
    "udfs": UDFS,
    "mcfs": MCFS,
    "rfe": SVMRFE,
    "llcfs": LLCFS,
}

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
    "ReliefF",
    "cfs_score",
    "fisher_score",
    "inf_fs",
    "laplacian_score",
    "llcfs",
    "mcfs",
    "mutual_information",
    "relieff",
    "udfs",
]
