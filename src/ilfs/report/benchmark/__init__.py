"""Tables, statistics and diagrams of a benchmark, made from its results."""

from ilfs.report.benchmark.diagram_svg import diagram_svg
from ilfs.report.benchmark.paper_layout import paper_layout, table_4_csv
from ilfs.report.benchmark.statistics import features_grids, joint_grid, statistics_of
from ilfs.report.benchmark.tables import quality_grid, tables_of

__all__ = [
    "diagram_svg",
    "features_grids",
    "joint_grid",
    "paper_layout",
    "quality_grid",
    "statistics_of",
    "table_4_csv",
    "tables_of",
]
