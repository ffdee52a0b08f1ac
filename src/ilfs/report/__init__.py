"""Reports: rankings and comparisons as text, CSV and pages; those of a benchmark in `ilfs.report.benchmark`."""

from ilfs.report.comparison import (
    comparison_json,
    comparison_text,
    write_compared_ranks,
    write_comparison,
    write_comparison_page,
)
from ilfs.report.ranking import ranking_text, write_ranking

__all__ = [
    "comparison_json",
    "comparison_text",
    "ranking_text",
    "write_compared_ranks",
    "write_comparison",
    "write_comparison_page",
    "write_ranking",
]
