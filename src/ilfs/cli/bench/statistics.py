"""``ilfs bench statistics``: print significance tests and the stability of the selections."""

import argparse
from pathlib import Path
from typing import Any

from ilfs.choices import FORMATS
from ilfs.cli.bench.options import add_action, add_classifier, add_metric, add_suite
from ilfs.cli.bench.stored import results_of, results_of_other_store, show

EXAMPLES = """\
ilfs bench statistics quick --diagram ranks.svg
ilfs bench statistics paper --reference fisher --metric balanced_accuracy
ilfs bench statistics paper --with-store ilfs-deep.sqlite
"""


def add_to(actions: Any) -> None:
    """Add ``ilfs bench statistics``."""
    parser = add_action(
        actions, "statistics", "print significance tests and the stability of the selections", examples=EXAMPLES
    )
    add_suite(parser)
    parser.add_argument(
        "--reference", metavar="METHOD", help="method to compare with all others (ilfs, else the first)"
    )
    add_metric(parser)
    add_classifier(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="format of the tables (text)")
    parser.add_argument(
        "--with-store",
        metavar="FILE",
        help="also count the data sets of the last run on this file of results, as the paper does for both experiments",
    )
    parser.add_argument("--diagram", metavar="FILE.svg", help="write the critical-difference diagram to this file")
    parser.set_defaults(function=print_statistics)


def print_statistics(options: argparse.Namespace) -> int:
    """Print significance tests and stability, and write the diagram if a file is given."""
    from ilfs.benchmark import rank_diagram
    from ilfs.files import write_text_atomically
    from ilfs.report.benchmark import classifier_grids, diagram_svg, joint_grid, statistics_of

    results = results_of(options)
    reference = options.reference or ("ilfs" if "ilfs" in results.methods else results.methods[0])
    grids = statistics_of(results, reference, options.metric)
    if results.suite.experiment == "sizes" and len(results.classifiers) > 1 and options.classifier is None:
        grids += classifier_grids(results, reference, options.metric)
    if options.with_store:
        other = results_of_other_store(Path(options.with_store), options)
        if other.suite.experiment == "timing":
            file = options.with_store
            raise ValueError(f"--with-store must name results on data sets, got {file}, which has timings")
        grids.append(joint_grid([results, other], reference, options.metric))
    if options.diagram:  # first: if this fails, the error must be the only output
        write_text_atomically(options.diagram, diagram_svg(rank_diagram(results, options.metric)))
    show(grids, options.format)
    return 0
