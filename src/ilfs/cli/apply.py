"""``ilfs apply``: write the selected columns of a table to a file."""

import argparse
import sys
from pathlib import Path
from typing import Any

EXAMPLES = """examples:
  ilfs rank expression.csv --target tumour --save selection.json
  ilfs apply selection.json other.csv -o small.csv
  ilfs apply selection.json 'parts/*.parquet' -o small.parquet --keep id tumour
"""


def add_to(commands: Any) -> None:
    """Add ``ilfs apply``."""
    parser = commands.add_parser(
        "apply",
        help="write the columns of a saved selection to another file",
        description="Write the columns that ilfs rank --save has selected to another file, some rows at a time. "
        "Columns are found by name, in any order and beside others.",
        epilog=EXAMPLES,
    )
    parser.add_argument("selection", metavar="SELECTION", help="file that ilfs rank --save has written")
    parser.add_argument("input", metavar="INPUT", help="a file, or a folder or pattern of Parquet files")
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="file to write: .csv, .tsv, .parquet, .feather"
    )
    parser.add_argument(
        "--keep",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="further columns to write; others: all that were no features",
    )
    parser.add_argument("--memory-limit", metavar="SIZE", help="memory for the rows, such as 500MB")
    parser.add_argument("--quiet", action="store_true", help="do not tell what was written")
    parser.set_defaults(function=apply_selection, stopped="stopped, and nothing is written")


def apply_selection(options: argparse.Namespace) -> int:
    """Write the selected columns of a table."""
    from ilfs.applying import apply
    from ilfs.applying.writers import check_output
    from ilfs.cli.messages import plain
    from ilfs.files import check_writable

    check_output(Path(options.output))
    check_writable(options.output)
    keep = "others" if options.keep == ["others"] else options.keep
    path = apply(options.selection, options.input, options.output, keep=keep, memory_limit=options.memory_limit)
    if not options.quiet:
        print(f"ilfs: {plain(str(path))} is written", file=sys.stderr)
    return 0
