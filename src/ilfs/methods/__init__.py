"""Feature selection methods, one module each.

A class is imported when it is first used: importing all of them, with their kernels, would take a fifth of a second of
every command.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ilfs.registry import list_methods

if TYPE_CHECKING:
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
    from ilfs.selector import RankingSelector

    METHODS: dict[str, type[RankingSelector]]

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

MODULES = {method.class_name: method.path.rpartition(".")[0] for method in list_methods()}


def __getattr__(name: str) -> Any:
    """Import a class on first use; ``METHODS`` are the twelve methods that the ILFS paper compares, by short names."""
    if name == "METHODS":
        value: Any = {method.name: method.load() for method in list_methods() if method.in_paper}
    elif name in MODULES:
        value = getattr(import_module(MODULES[name]), name)
    else:
        raise AttributeError(f"module 'ilfs.methods' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
