"""The methods, one file each."""

from ilfs.methods.fisher import FisherScore, fisher_score
from ilfs.methods.ilfs import ILFS
from ilfs.methods.inf_fs import InfFS, inf_fs
from ilfs.selector import RankingSelector

METHODS: dict[str, type[RankingSelector]] = {
    "ilfs": ILFS,
    "fisher": FisherScore,
    "inf_fs": InfFS,
}

__all__ = [
    "ILFS",
    "METHODS",
    "FisherScore",
    "InfFS",
    "fisher_score",
    "inf_fs",
]
