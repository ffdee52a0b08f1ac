"""``ilfs bench features``: list the features that the methods select."""

import argparse
from typing import Any

from ilfs.choices import FORMATS
from ilfs.cli.bench.options import add_action, add_suite
from ilfs.cli.bench.stored import results_of, show

EXAMPLES = """\
ilfs bench features quick --datasets breast_cancer --size 5 --by ilfs
ilfs bench features paper --top 50 --format csv > features.csv
"""


def add_to(actions: Any) -> None:
    """Add ``ilfs bench features``."""
    parser = add_action(actions, "features", "list the features that the methods select", examples=EXAMPLES)
    add_suite(parser)
    parser.add_argument(
        "--size", type=int, metavar="N", help="count features among the best N (the smallest evaluated number)"
    )
    parser.add_argument("--top", type=int, default=20, metavar="N", help="number of features to list (20)")
    parser.add_argument(
        "--by", metavar="METHOD", help="order the list by the selections of this method (the mean of all methods)"
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="format of the tables (text)")
    parser.set_defaults(function=print_features)


def print_features(options: argparse.Namespace) -> int:
    """Print how often each feature was selected."""
    from ilfs.parameters import check_integer
    from ilfs.report.benchmark import features_grids

    results = results_of(options)
    size = min(getattr(results.suite.protocol, "sizes", (1,))) if options.size is None else options.size
    check_integer("--size", size, 1)
    check_integer("--top", options.top, 1)
    show(features_grids(results, size, options.top, options.by), options.format)
    return 0
