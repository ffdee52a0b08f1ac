"""Selections applied to files: the selected columns of a table, of any size, written to another file."""

from ilfs.applying.entry import apply

__all__ = ["apply"]
