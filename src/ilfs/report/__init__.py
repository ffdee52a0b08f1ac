"""Reports: rankings as text and CSV; tables and statistics of a benchmark in `ilfs.report.benchmark`."""

from ilfs.report.ranking import ranking_text, write_ranking

__all__ = ["ranking_text", "write_ranking"]
