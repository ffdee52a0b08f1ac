"""``ilfs apply``: write the selected columns of a table to a file."""

import argparse
from pathlib import Path
from shlex import quote
from typing import Any

LACKS_FEATURES = "selected columns, but lacks"  # in the message of `ilfs.apply` if columns are missing
EXAMPLES = """examples:
  ilfs rank expression.csv --target tumour --save selection.json
  ilfs apply selection.json other.csv -o small.csv
  ilfs apply selection.json 'parts/*.parquet' -o small.parquet --keep id tumour
  ilfs apply selection.json genes-in-rows.tsv --transpose -o small.csv
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
    parser.add_argument(
        "--transpose",
        action="store_true",
        help="INPUT has features in rows and samples in columns, and is held in memory",
    )
    parser.add_argument("--memory-limit", metavar="SIZE", help="memory for the rows, such as 500MB")
    parser.add_argument("--quiet", action="store_true", help="do not tell what was written")
    parser.set_defaults(function=apply_selection, stopped="stopped, and nothing is written")


def apply_selection(options: argparse.Namespace) -> int:
    """Write the selected columns of a table."""
    from ilfs import load
    from ilfs.applying.writers import check_output
    from ilfs.cli.messages import plain
    from ilfs.cli.talk import Talk
    from ilfs.files import check_writable

    check_output(Path(options.output))
    check_writable(options.output)
    selection = load(options.selection)
    write = apply_to_rows if options.transpose else apply_to_columns
    path = write(selection, options)
    Talk(quiet=options.quiet).tell("written", plain(f"{path}: {content_of(selection, options)}"))
    return 0


def apply_to_columns(selection: Any, options: argparse.Namespace) -> Path:
    """Write the selected columns of a table."""
    from ilfs.applying import apply

    keep = "others" if options.keep == ["others"] else options.keep
    try:
        return apply(selection, options.input, options.output, keep=keep, memory_limit=options.memory_limit)
    except ValueError as error:
        if LACKS_FEATURES not in str(error):
            raise
        raise ValueError(f"{error}; if it has its features in rows, add --transpose") from None


def apply_to_rows(selection: Any, options: argparse.Namespace) -> Path:
    """Write the selected features of a table that has its features in rows: a row for each sample, after its name."""
    from ilfs.applying.selected import write_selected
    from ilfs.preparing.features_in_rows import read_features_in_rows

    if options.keep:
        raise ValueError(
            f"--keep cannot be combined with --transpose, got {' '.join(options.keep)}: leave one of them out"
        )
    features = selection._column_choice().selected_names
    if features is None:
        raise ValueError(f"--transpose needs a selection with names of features, but {options.selection} has none")
    source, samples = read_features_in_rows(options.input, features)
    return write_selected(selection, source, options.output, before={"sample": samples})


def content_of(selection: Any, options: argparse.Namespace) -> str:
    """Say which columns are written, and that the classes are not, unless they are kept."""
    n_selected, target = int(selection.get_support().sum()), getattr(selection, "target_name_", None)
    content = f"{n_selected:,} selected column{'s' * (n_selected != 1)}"
    if options.transpose or options.keep == ["others"] or target is None or str(target) in options.keep:
        return content
    return f"{content}, without the classes; --keep {quote(str(target))} writes them, too, if INPUT has them"
