"""The methods, one file each."""

from ilfs.methods.cfs import CFS
from ilfs.methods.fisher import FisherScore
from ilfs.methods.fsv import FSV
from ilfs.methods.hall_cfs import HallCFS
from ilfs.methods.ilfs import ILFS
from ilfs.methods.inf_fs import InfFS
from ilfs.methods.laplacian_score import LaplacianScore
from ilfs.methods.llcfs import LLCFS
from ilfs.methods.mcfs import MCFS
from ilfs.methods.mutual_information import MutualInformation
from ilfs.methods.novelty import Novelty
from ilfs.methods.relieff import ReliefF
from ilfs.methods.svm_rfe import SVMRFE
from ilfs.methods.udfs import UDFS
from ilfs.selector import RankingSelector

METHODS: dict[str, type[RankingSelector]] = {
    "ilfs": ILFS,
    "inf_fs": InfFS,
    "fisher": FisherScore,
    "mi": MutualInformation,
    "relieff": ReliefF,
    "rfe": SVMRFE,
    "fsv": FSV,
    "cfs": CFS,
    "ls": LaplacianScore,
    "mcfs": MCFS,
    "udfs": UDFS,
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
    "Novelty",
    "ReliefF",
]
