"""Reports: rankings and comparisons as text, CSV and pages; those of a benchmark in `ilfs.report.benchmark`.

The functions are imported on first use: a ranking on screen does not need the code of the pages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ilfs.report.comparison import (
        comparison_json,
        comparison_text,
        write_compared_ranks,
        write_comparison,
        write_comparison_page,
    )
    from ilfs.report.page.ranking_page import write_page
    from ilfs.report.ranking import ranking_text, write_ranking

__all__ = [
    "comparison_json",
    "comparison_text",
    "ranking_text",
    "write_compared_ranks",
    "write_comparison",
    "write_comparison_page",
    "write_page",
    "write_ranking",
]

MODULES = {
    "ranking_text": "ilfs.report.ranking",
    "write_page": "ilfs.report.page.ranking_page",
    "write_ranking": "ilfs.report.ranking",
}


def __getattr__(name: str) -> Any:
    """Import a public function on first use."""
    if name not in __all__:
        raise AttributeError(f"module 'ilfs.report' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(MODULES.get(name, "ilfs.report.comparison")), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
