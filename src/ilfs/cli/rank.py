"""``ilfs rank``: rank the features of a table, show the best, and write files.

What is read is in `table_options`, what is computed in `method_options` and `fitting`, what is shown in `showing`, and
what is written in `outputs`.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ilfs.choices import RESULT_FORMATS
from ilfs.cli import method_options, outputs, table_options
from ilfs.cli.showing import DEFAULT_SHOWN

USAGE = "ilfs rank INPUT [--target COLUMN] [options]"
EXAMPLES = """examples:
  ilfs rank expression.csv
  ilfs rank expression.csv --target tumour -o ranking.csv --report genes.html
  ilfs rank expression.csv --target tumour --rule fdr --fdr 0.1 --selected small.csv
  ilfs rank genes-in-rows.tsv --samples sheet.csv --target tumour --drop 'AFFX*'
  ilfs rank expression.csv --target tumour --method ilfs fisher relieff
  ilfs rank parts/*.parquet --target y --drop id date --memory-limit 2GB
  ilfs rank folder/ --target y --engine dask --scheduler tcp://10.0.0.1:8786
  gzip -dc table.csv.gz | ilfs rank - --target y --json
"""


def add_to(commands: Any) -> None:
    """Add ``ilfs rank``."""
    parser = commands.add_parser(
        "rank",
        help="rank the features of a table",
        usage=USAGE,
        description="Rank the features of a table and show the best ones with their class means, q-values and "
        "families, and whether they are better than with permuted labels. Columns that are no features are set aside "
        "with a reason. A table that is larger than a part of the free memory is read from disk in blocks.",
        epilog=EXAMPLES,
    )
    table_options.add_table(parser)
    method_options.add_method(parser)
    method_options.add_size(parser)
    method_options.add_certainty(parser).add_argument(
        "--stability", action="store_true", help="measure how much the best features change between halves of the rows"
    )
    add_showing(parser)
    outputs.add_outputs(parser)
    table_options.add_engine(parser)
    parser.set_defaults(
        function=rank,
        stopped="stopped, and an unfinished ranking is not saved; files that were written before are complete",
    )


def add_showing(parser: argparse.ArgumentParser) -> None:
    """Add the options on what is printed."""
    group = parser.add_argument_group("what is printed")
    group.add_argument(
        "--show", type=int, metavar="N", help=f"number of features to print ({DEFAULT_SHOWN}; all in JSON and CSV)"
    )
    group.add_argument(
        "--format", choices=RESULT_FORMATS, default="text", help="format of the ranking on stdout (text)"
    )
    group.add_argument("--json", action="store_const", const="json", dest="format", help="short for --format json")
    group.add_argument("--quiet", action="store_true", help="print nothing but the ranking and warnings")
    group.add_argument("--dry-run", action="store_true", help="print size, number of reads and memory, and stop")


def rank(options: argparse.Namespace) -> int:
    """Rank the features of a table, show the best and write the files."""
    from ilfs.cli import fitting, showing

    path = table_options.input_of(options)
    selectors = checked(options, path)
    talk = showing.Talk(quiet=options.quiet)
    with table_options.connection(options):
        table = table_options.open_prepared(path, options, needs_target=method_options.need_labels(selectors))
        talk.tell("input", showing.described(table))
        talk.tell_all("guessed", table.guesses)
        method_options.fit_to_table(selectors, table.source, options)
        if options.dry_run:
            return print_plan(selectors, table)
        fitting.fit_all(selectors, table, options)
        found = fitting.measure_stability(first(selectors), table, options) if options.stability else None
        options.found_stability = found
        with into_closed_pipe():
            showing.print_ranking(selectors, table, options)
        showing.tell_results(talk, selectors, table, options)
        for sentence in outputs.write_outputs(
            selectors, table, options, lambda: showing.document(selectors, table, options)
        ):
            talk.tell("written", sentence)
    return 0


@contextmanager
def into_closed_pipe() -> Iterator[None]:
    """Go on if the reader of a pipe, such as head, has closed it: the files are still to be written."""
    from ilfs.cli.main import discard

    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)


def checked(options: argparse.Namespace, path: str) -> dict[str, Any]:
    """Check all options before the table is read, and make the selectors."""
    from ilfs.parameters import check_integer

    if options.show is not None:
        check_integer("--show", options.show, 1)
    table_options.check_engine(options)
    selectors = method_options.make_selectors(options)
    outputs.check_outputs(options, len(selectors), path)
    if options.stability and len(selectors) > 1:
        raise ValueError(f"--stability needs one method, got {len(selectors)}: see ilfs compare")
    return selectors


def print_plan(selectors: dict[str, Any], table: Any) -> int:
    """Print what the ranking would take."""
    from ilfs.cli.dry_run import plan_lines
    from ilfs.cli.fitting import check_target

    for selector in selectors.values():
        check_target(selector, table.source)
        print("\n".join(plan_lines(table.name, table.source, selector)))
    return 0


def first(selectors: dict[str, Any]) -> Any:
    """Return the first selector."""
    return next(iter(selectors.values()))
