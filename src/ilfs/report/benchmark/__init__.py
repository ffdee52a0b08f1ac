"""Tables, statistics and diagrams of a benchmark, made from its results."""

from ilfs.report.benchmark.diagram_svg import diagram_svg
from ilfs.report.benchmark.statistics import features_grids, statistics_of
from ilfs.report.benchmark.tables import quality_grid, tables_of

__all__ = ["diagram_svg", "features_grids", "quality_grid", "statistics_of", "tables_of"]
