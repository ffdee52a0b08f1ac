"""Tables, statistics and diagrams of a benchmark, made from its results."""

from ilfs.report.benchmark.statistics import features_grids, rank_diagram, statistics_of
from ilfs.report.benchmark.tables import quality_grid, tables_of

__all__ = ["features_grids", "quality_grid", "rank_diagram", "statistics_of", "tables_of"]
