"""``ilfs explain``: say in words why some features are ranked where they are."""

import argparse
import textwrap
from typing import Any

from ilfs.cli import method_options, table_options

USAGE = "ilfs explain INPUT --feature NAME ... [--target COLUMN] [options]"
EXAMPLES = """examples:
  ilfs explain expression.csv --target tumour --feature TP53
  ilfs explain expression.csv --target tumour --feature TP53 BRCA1 --method fisher
"""


def add_to(commands: Any) -> None:
    """Add ``ilfs explain``."""
    parser = commands.add_parser(
        "explain",
        help="say in words why a feature is ranked where it is",
        usage=USAGE,
        description="Rank the features of a table as ilfs rank does, and explain the ranks of some of them in words.",
        epilog=EXAMPLES,
    )
    table_options.add_table(parser)
    parser.add_argument(
        "--feature",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="features to explain, by name or pattern",
    )
    method_options.add_method(parser)
    method_options.add_size(parser)
    method_options.add_certainty(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json: all numbers")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="short for --format json")
    parser.add_argument("--quiet", action="store_true", help="print nothing but the explanations and warnings")
    table_options.add_engine(parser)
    parser.set_defaults(function=explain, stopped="stopped, and nothing is saved")


def explain(options: argparse.Namespace) -> int:
    """Rank the features of a table and explain some ranks."""
    from ilfs.cli import fitting, showing

    path = table_options.input_of(options)
    if not options.feature:
        raise ValueError("--feature is missing: name the features to explain, --feature NAME")
    table_options.check_engine(options)
    selectors = method_options.make_selectors(options)
    talk = showing.Talk(quiet=options.quiet)
    with table_options.connection(options):
        table = table_options.open_prepared(path, options, needs_target=method_options.need_labels(selectors))
        talk.tell("input", showing.described(table))
        talk.tell_all("guessed", table.guesses)
        names = features_of(table, options.feature)
        method_options.fit_to_table(selectors, table.source, options)
        fitting.fit_all(selectors, table, options)
    explanations = [selector.explain(name) for selector in selectors.values() for name in names]
    print(as_json(explanations) if options.format == "json" else as_text(explanations))
    talk.tell_all("warning", table.warnings)
    return 0


def features_of(table: Any, wanted: list[str]) -> list[Any]:
    """Find the features to explain; one that was set aside is an error that says why."""
    from ilfs.explanation import column_of
    from ilfs.preparing import match_columns

    names = table.source.feature_names
    if names is None:
        names = [f"x{j}" for j in range(table.source.n_features)]
    reasons = {one.name: one.reason for one in table.set_aside} | {table.target: "holds the classes"}
    for one in wanted:
        if one not in names and one in reasons:
            raise ValueError(f"--feature must be a feature of {table.name}, got {one!r}, which {reasons[one]}")
    found = match_columns(wanted, [str(name) for name in names], "--feature")
    if table.source.feature_names is not None:
        return found
    import numpy as np

    return [column_of(name, np.array(names)) for name in found]


def as_text(explanations: list[Any]) -> str:
    """Format the explanations as paragraphs that fit the terminal."""
    import sys

    from ilfs.report.terminal import Terminal
    from ilfs.text_table import visible

    width = min(Terminal.of_stream(sys.stdout).width, 100)
    texts = [textwrap.fill(visible(str(one)), width, break_on_hyphens=False) for one in explanations]
    return "\n\n".join(texts)


def as_json(explanations: list[Any]) -> str:
    """Format the numbers of the explanations and their paragraphs as a JSON list."""
    import json
    from dataclasses import asdict

    from ilfs.report.ranking_json import as_json

    found = [as_json(asdict(one) | {"sentence": str(one)}) for one in explanations]
    return json.dumps(found, indent=2, allow_nan=False)
