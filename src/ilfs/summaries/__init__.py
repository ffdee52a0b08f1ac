"""Summaries: the statistics of rows that may not be moved, round by round.

Each read of the rows in the plan of a method is a *round*. In every round each site computes the statistics of its own
rows (`ilfs.summarise`), and the summaries of all sites are merged. The last merged summary is all that ``fit`` needs.
"""

from ilfs.summaries.engine import Recorded, RoundMissingError
from ilfs.summaries.summary import Summary

__all__ = ["Recorded", "RoundMissingError", "Summary"]
