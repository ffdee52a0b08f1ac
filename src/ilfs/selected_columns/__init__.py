"""Selected columns of tables that are not in memory: the result is of the same kind as the table, and as lazy."""

from ilfs.selected_columns.choice import ColumnChoice
from ilfs.selected_columns.dispatch import select_columns

__all__ = ["ColumnChoice", "select_columns"]
