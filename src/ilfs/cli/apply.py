"""``ilfs apply``: write the selected columns of a table to a file."""

import argparse
from pathlib import Path
from shlex import quote
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
    from ilfs import load
    from ilfs.applying import apply
    from ilfs.applying.writers import check_output
    from ilfs.cli.messages import plain
    from ilfs.cli.talk import Talk
    from ilfs.files import check_writable

    check_output(Path(options.output))
    check_writable(options.output)
    keep = "others" if options.keep == ["others"] else options.keep
    selection = load(options.selection)
    path = apply(selection, options.input, options.output, keep=keep, memory_limit=options.memory_limit)
    Talk(quiet=options.quiet).tell("written", plain(f"{path}: {content_of(selection, options.keep)}"))
    return 0


def content_of(selection: Any, keep: list[str]) -> str:
    """Say which columns are written, and that the classes are not, unless they are kept."""
    n_selected, target = int(selection.get_support().sum()), getattr(selection, "target_name_", None)
    content = f"{n_selected:,} selected column{'s' * (n_selected != 1)}"
    if keep == ["others"] or target is None or str(target) in keep:
        return content
    return f"{content}, without the classes; --keep {quote(str(target))} writes them, too, if INPUT has them"
