"""Readers of files of the user: one module per format, and one function for all of them."""

from ilfs.datasets.readers.by_ending import ENDINGS, columns_of, read_table

__all__ = ["ENDINGS", "columns_of", "read_table"]
