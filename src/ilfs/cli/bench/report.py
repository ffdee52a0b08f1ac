"""``ilfs bench report``: write the results of a suite as one HTML page."""

import argparse
import shlex
from pathlib import Path
from typing import Any

from ilfs.cli.bench.options import add_action, add_metric, add_suite, default_store, store_path
from ilfs.cli.bench.stored import results_of, results_of_other_store

REPEATED_OPTIONS = (
    *("datasets", "methods", "classifiers", "splits", "rows", "columns", "store", "with_store"),
    *("reference", "classifier", "title"),
)
DETAILS = """\
It needs no network.
It has tables beside the paper's, performance against the number of features,
significance tests, stability, time, failed jobs, and how to repeat it. Prints
the path of the page."""
EXAMPLES = """\
ilfs bench report quick -o quick.html
ilfs bench report paper --with-store ilfs-deep.sqlite ilfs-timing.sqlite -o paper.html
"""


def add_to(actions: Any) -> None:
    """Add ``ilfs bench report``."""
    parser = add_action(
        actions, "report", "write tables, plots and tests as one HTML page", details=DETAILS, examples=EXAMPLES
    )
    add_suite(parser)
    parser.add_argument("-o", "--output", metavar="PAGE.html", help="page to write (ilfs-SUITE.html)")
    parser.add_argument(
        "--reference", metavar="METHOD", help="method to compare with all others (ilfs, else the first)"
    )
    add_metric(parser)
    parser.add_argument("--classifier", metavar="NAME", help="classifier to show first (linear_svm, else the first)")
    parser.add_argument(
        "--with-store",
        nargs="+",
        default=[],
        metavar="FILE",
        help="also show the last run on these files of results, such as the paper's other experiments",
    )
    parser.add_argument("--title", metavar="TEXT", help="title of the page")
    parser.set_defaults(function=write_report)


def write_report(options: argparse.Namespace) -> int:
    """Write the page and print its path."""
    from ilfs.report.benchmark import write_benchmark_page

    results, file = results_of(options), store_path(options)
    output = options.output or f"ilfs-{results.suite.name}.html"
    others = {one: results_of_other_store(Path(one), options) for one in options.with_store}
    commands = [
        [*run_commands(results.suite, options.suite, str(file)), report_command(options, output)],
        *(run_commands(one.suite, None, other) for other, one in others.items()),
    ]
    path = write_benchmark_page(
        [results, *others.values()],
        output,
        reference=options.reference,
        metric=options.metric,
        commands=commands,
        title=options.title,
    )
    print(path)
    return 0


def run_commands(suite: Any, name: str | None, store: str) -> list[str]:
    """Format the command that runs a suite, if it is known where the suite comes from."""
    from ilfs.benchmark import SUITES
    from ilfs.benchmark.suites.suite_file import suite_by_name
    from ilfs.report.benchmark.provenance import run_command

    if name is None and suite.name not in SUITES:
        return []
    name = name or suite.name
    return [run_command(suite, name, suite_by_name(name), "" if store == default_store(name) else store)]


def report_command(options: argparse.Namespace, output: str) -> str:
    """Format the command that writes the page again."""
    words = ["ilfs", "bench", "report", *([options.suite] if options.suite else [])]
    for name in REPEATED_OPTIONS:
        value = getattr(options, name)
        if value:
            words += [f"--{name.replace('_', '-')}", *map(str, value if isinstance(value, list) else [value])]
    words += ["--metric", options.metric] if options.metric != "ap_macro" else []
    words += ["--any-code"] if options.any_code else []
    return shlex.join([*words, "-o", output])
