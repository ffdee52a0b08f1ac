"""``ilfs bench``: run a suite, and show its tables, its statistics, the selected features, and all as a page."""

from typing import Any

from ilfs.cli.bench import features, report, run, statistics, table


def add_to(commands: Any) -> None:
    """Add ``ilfs bench`` and its actions."""
    bench = commands.add_parser("bench", help="run the benchmark of the paper, or your own, and show the results")
    actions = bench.add_subparsers(metavar="ACTION", required=True)
    run.add_to(actions)
    table.add_to(actions)
    statistics.add_to(actions)
    features.add_to(actions)
    report.add_to(actions)
