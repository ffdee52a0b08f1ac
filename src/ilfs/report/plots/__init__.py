"""Pictures of fitted selectors by matplotlib: ``selector.plot`` in notebooks, `write_plot` for files.

Each picture has a module with a frozen dataclass of its numbers, made from a selector, and a function that draws them.
"""

from ilfs.report.plots.accessor import SelectorPlots
from ilfs.report.plots.overview import check_plot_path, write_plot

__all__ = ["SelectorPlots", "check_plot_path", "write_plot"]
