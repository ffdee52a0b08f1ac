"""Reports: rankings as text, CSV and HTML pages; tables and statistics of a benchmark in `ilfs.report.benchmark`."""

from ilfs.report.page.ranking_page import write_page
from ilfs.report.ranking import ranking_text, write_ranking

__all__ = ["ranking_text", "write_page", "write_ranking"]
