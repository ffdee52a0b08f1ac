"""The methods, one file each."""

from ilfs.methods.ilfs import ILFS
from ilfs.selector import RankingSelector

METHODS: dict[str, type[RankingSelector]] = {"ilfs": ILFS}

__all__ = ["ILFS", "METHODS"]
