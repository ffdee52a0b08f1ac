"""The methods, one file each."""

from ilfs.methods.fisher import FisherScore, fisher_score
from ilfs.methods.ilfs import ILFS
from ilfs.selector import RankingSelector

METHODS: dict[str, type[RankingSelector]] = {
    "ilfs": ILFS,
    "fisher": FisherScore,
}

__all__ = ["ILFS", "METHODS", "FisherScore", "fisher_score"]
