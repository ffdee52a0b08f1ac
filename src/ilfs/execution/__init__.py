"""How rows reach a statistic.

A *fold* holds the rows. Called with ``from_block``, it gives every block of them to it and merges what comes back, so
a method that asks a fold for its statistics runs the same in memory, from disk and on a cluster.
"""

from ilfs.execution.fold import Fold, Statistic
from ilfs.execution.memory import InMemory
from ilfs.execution.target import Target

__all__ = ["Fold", "InMemory", "Statistic", "Target"]
