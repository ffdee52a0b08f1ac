"""Data sets: those of the paper and more by name, a user's own files, and synthetic tables with a known answer."""

from ilfs.datasets.loading import load
from ilfs.datasets.table import Table

__all__ = ["Table", "load"]
