"""Tables, statistics, diagrams and the page of a benchmark, made from its results."""

from ilfs.report.benchmark.by_classifier import classifier_grids
from ilfs.report.benchmark.diagram_svg import diagram_chart, diagram_svg
from ilfs.report.benchmark.page import benchmark_page, write_benchmark_page
from ilfs.report.benchmark.paper_layout import paper_layout, table_4_csv
from ilfs.report.benchmark.statistics import (
    family_stability_grid,
    features_grids,
    joint_grid,
    statistics_of,
)
from ilfs.report.benchmark.summary import BenchmarkSummary, summarise_benchmark
from ilfs.report.benchmark.tables import quality_grid, tables_of

__all__ = [
    "BenchmarkSummary",
    "benchmark_page",
    "classifier_grids",
    "diagram_chart",
    "diagram_svg",
    "family_stability_grid",
    "features_grids",
    "joint_grid",
    "paper_layout",
    "quality_grid",
    "statistics_of",
    "summarise_benchmark",
    "table_4_csv",
    "tables_of",
    "write_benchmark_page",
]
