"""How many features to keep, and rankings made from other rankings.

The meta-selectors and functions take any selector, or any ranking. All but `stability` and `FDRSelector` need all rows
in memory; these two also read tables in blocks, with methods that need only statistics of the rows.
`Selection` is a selection that was saved to a file. `compare` compares methods on one table.
"""

from ilfs.selection.comparing import compare
from ilfs.selection.comparison import Comparison
from ilfs.selection.ensemble import RankEnsemble
from ilfs.selection.fdr import FDRSelector
from ilfs.selection.ilfs_cv import ILFSCV
from ilfs.selection.pruning import prune_redundant
from ilfs.selection.resampling import stability
from ilfs.selection.saved import Selection
from ilfs.selection.size_cv import SizeCV
from ilfs.selection.stability_result import Stability

__all__ = [
    "ILFSCV",
    "Comparison",
    "FDRSelector",
    "RankEnsemble",
    "Selection",
    "SizeCV",
    "Stability",
    "compare",
    "prune_redundant",
    "stability",
]
