"""Feature selection methods, one module each."""

from ilfs.methods.cfs import CFS
from ilfs.methods.fisher import FisherScore
from ilfs.methods.fsv import FSV
from ilfs.methods.generalized_fisher import GeneralizedFisherScore
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
from ilfs.registry import list_methods
from ilfs.selector import RankingSelector

# The twelve methods that the ILFS paper compares, by their short names.
METHODS: dict[str, type[RankingSelector]] = {method.name: method.load() for method in list_methods() if method.in_paper}

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
    "GeneralizedFisherScore",
    "HallCFS",
    "InfFS",
    "LaplacianScore",
    "MutualInformation",
    "Novelty",
    "ReliefF",
]
