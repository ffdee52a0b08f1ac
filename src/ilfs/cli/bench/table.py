"""``ilfs bench table``: print the tables of a suite beside the paper's."""

import argparse
from typing import Any

from ilfs.choices import FORMATS, LAYOUTS
from ilfs.cli.bench.options import add_action, add_classifier, add_suite
from ilfs.cli.bench.stored import results_of, show

EXAMPLES = """\
ilfs bench table quick
ilfs bench table paper --layout paper --format latex > table4.tex
ilfs bench table paper --format csv > results.csv
"""


def add_to(actions: Any) -> None:
    """Add ``ilfs bench table``."""
    parser = add_action(actions, "table", "print the tables of a suite beside the paper's", examples=EXAMPLES)
    add_suite(parser)
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="show timings with this number of threads (that of the last run)"
    )
    add_classifier(parser)
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="format of the tables (text); csv: all metrics in long form"
    )
    parser.add_argument(
        "--layout",
        choices=LAYOUTS,
        default="full",
        help="paper: the layout of the paper's Table 2, 3 or 4, with its marks for the best",
    )
    parser.set_defaults(function=print_tables)


def print_tables(options: argparse.Namespace) -> int:
    """Print the tables of a suite."""
    from ilfs.report.benchmark import paper_layout, quality_grid, table_4_csv, tables_of

    results = results_of(options)
    in_long_form = options.format == "csv" and results.suite.experiment == "sizes"
    if options.layout == "paper":
        grids = [table_4_csv(results)] if in_long_form else paper_layout(results)
    elif in_long_form:
        grids = [quality_grid(results, options.classifier and [options.classifier])]
    else:
        grids = tables_of(results)
    show(grids, options.format)
    return 0
