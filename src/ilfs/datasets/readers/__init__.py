"""Readers of a user's own files, one module a format, one function for all."""

from ilfs.datasets.readers.by_ending import ENDINGS, columns_of, read_table

__all__ = ["ENDINGS", "columns_of", "read_table"]
