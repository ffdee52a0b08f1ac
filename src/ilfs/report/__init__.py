"""What a selector found, as a table to read or a file to keep."""

from ilfs.report.ranking import ranking_text, write_ranking

__all__ = ["ranking_text", "write_ranking"]
