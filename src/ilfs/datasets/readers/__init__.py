"""Readers of a user's own files, one module a format, one function for all."""

from ilfs.datasets.readers.by_ending import ENDINGS, read_table

__all__ = ["ENDINGS", "read_table"]
