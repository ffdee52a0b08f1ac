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
  ilfs apply selection.json genes-in-rows.tsv --samples sheet.csv -o small.csv
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
    parser.add_argument(
        "--samples",
        metavar="FILE",
        help="table of the samples, with the classes; its rows are matched with those of INPUT by the names of the "
        "samples, and --keep names its columns",
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
    talk = Talk(quiet=options.quiet)
    if options.samples is not None:
        path = apply_with_sheet(selection, options, talk)
    else:
        path = (apply_to_rows if options.transpose else apply_to_columns)(selection, options)
    talk.tell("written", plain(f"{path}: {content_of(selection, options)}"))
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
    source, samples = read_features_in_rows(options.input, names_of(selection, options, "--transpose"))
    return write_selected(selection, source, options.output, before={"sample": samples})


def apply_with_sheet(selection: Any, options: argparse.Namespace, talk: Any) -> Path:
    """Write the names of the samples, columns of a sample sheet and the selected features."""
    from ilfs.applying.selected import write_selected
    from ilfs.preparing.features_in_rows import read_with_sheet

    features = names_of(selection, options, "--samples")
    found = read_with_sheet(options.input, options.samples, features, True if options.transpose else None)
    talk.tell_all("warning", found.warnings)
    before = {"sample": found.samples} | {name: found.sheet[name] for name in kept_of_sheet(selection, found, options)}
    return write_selected(selection, found.source, options.output, before=before)


def kept_of_sheet(selection: Any, found: Any, options: argparse.Namespace) -> list[str]:
    """Return the columns of a sample sheet that are written: those of ``--keep``, by default the classes."""
    if options.keep == ["others"]:
        return list(found.sheet)
    for name in options.keep:
        if name not in found.sheet:
            raise ValueError(f"--keep must name columns of {options.samples}, got {name!r}, which is none of them")
    target = str(getattr(selection, "target_name_", None))
    return list(options.keep) or [name for name in found.sheet if name == target]


def names_of(selection: Any, options: argparse.Namespace, option: str) -> list[Any]:
    """Return the names of the selected features; raise if there are none."""
    features: list[Any] | None = selection._column_choice().selected_names
    if features is None:
        raise ValueError(f"{option} needs a selection with names of features, but {options.selection} has none")
    return features


def content_of(selection: Any, options: argparse.Namespace) -> str:
    """Say which columns are written, and that the classes are not, unless they are kept."""
    n_selected, target = int(selection.get_support().sum()), getattr(selection, "target_name_", None)
    content = f"{n_selected:,} selected column{'s' * (n_selected != 1)}"
    if (
        options.transpose
        or options.samples
        or options.keep == ["others"]
        or target is None
        or str(target) in options.keep
    ):
        return content
    return f"{content}, without the classes; --keep {quote(str(target))} writes them, too, if INPUT has them"
