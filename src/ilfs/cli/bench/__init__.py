"""``ilfs bench``: run a suite, and show its tables, its statistics, the selected features, and all as a page."""

import argparse
from typing import Any

from ilfs.cli.bench import features, report, run, statistics, table

ABOUT = """\
Run the benchmark of the paper, or your own, and show the results.

A suite names data sets, methods and splits:
  quick     three data sets that ship with scikit-learn, five methods: a minute
  paper     the paper's second experiment: eight data sets, sixteen methods
  deep      its first experiment: VOC 2007 and 2012, each class against the rest
  timing    its timing experiment: one fit of each method on random numbers
  modern    18 data sets, with recent methods of other packages
  novelty   the paper's methods with a penalty for redundant features
  known_answer  true features found in data where they are known
  steps     ILFS with different numbers of EM steps
  FILE.toml a suite of your own: see docs/benchmark.md
"""
EXAMPLES = """\
examples:
  ilfs bench run quick          # stop it at any time: the same command continues
  ilfs bench table quick
  ilfs bench report quick -o quick.html
  ilfs bench run quick --datasets mine.csv --methods ilfs fisher mi --splits 10
"""


def add_to(commands: Any) -> None:
    """Add ``ilfs bench`` and its actions."""
    bench = commands.add_parser(
        "bench",
        help="run the benchmark of the paper, or your own, and show the results",
        description=ABOUT,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = bench.add_subparsers(metavar="ACTION", required=True)
    for action in (run, table, statistics, features, report):
        action.add_to(actions)
