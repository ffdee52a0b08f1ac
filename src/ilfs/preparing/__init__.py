"""Prepare files of real studies for ``fit``, with an account of what was done to them."""

from ilfs.preparing.entry import prepare
from ilfs.preparing.patterns import match_columns
from ilfs.preparing.prepared import PreparedTable, SetAside

__all__ = ["PreparedTable", "SetAside", "match_columns", "prepare"]
