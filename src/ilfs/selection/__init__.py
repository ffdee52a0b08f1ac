"""How many features to keep, and rankings made from other rankings.

These meta-selectors and functions take any selector, or any ranking, and need all rows in memory.
"""

from ilfs.selection.ensemble import RankEnsemble
from ilfs.selection.pruning import prune_redundant
from ilfs.selection.size_cv import SizeCV

__all__ = ["RankEnsemble", "SizeCV", "prune_redundant"]
