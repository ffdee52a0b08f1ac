"""Charts as SVG: from plain numbers to text that a page can hold.

Colours, fonts and line widths come from the style sheet of the page (``ilfs/report/page/style.css``) by CSS classes, so
that one drawing serves the light and the dark colour scheme and paper. ``s0`` to ``s9`` are the classes of the series.
Every chart has a title and a description for screen readers. Names are escaped, and long ones shortened; the whole name
is then a tooltip.
"""

from ilfs.report.charts.bars import bar_chart, column_chart
from ilfs.report.charts.lines import Band, Series, line_chart, scatter
from ilfs.report.charts.matrices import heat_map
from ilfs.report.charts.strips import strip_plot

__all__ = ["Band", "Series", "bar_chart", "column_chart", "heat_map", "line_chart", "scatter", "strip_plot"]
