"""Comparisons of methods as text, CSV, JSON and as a page."""

from ilfs.report.comparison.data import comparison_json, performance_csv, write_compared_ranks, write_comparison
from ilfs.report.comparison.page import write_comparison_page
from ilfs.report.comparison.text import comparison_text

__all__ = [
    "comparison_json",
    "comparison_text",
    "performance_csv",
    "write_compared_ranks",
    "write_comparison",
    "write_comparison_page",
]
