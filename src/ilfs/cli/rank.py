"""``ilfs rank``: rank the features of a table, in memory, as a stream from disk, or on a Dask cluster."""

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

ENGINES = ("auto", "memory", "stream", "dask")
DEFAULT_TOP = 20
EXAMPLES = """examples:
  ilfs rank expression.csv --target tumour -o ranking.csv
  ilfs rank 'parts/*.parquet' --target y --drop id date --memory-limit 2GB
  ilfs rank folder/ --target y --engine dask --scheduler tcp://10.0.0.1:8786
  ilfs rank folder/ --target y --dry-run
"""


def add_to(commands: Any) -> None:
    """Add ``ilfs rank``."""
    parser = commands.add_parser(
        "rank",
        help="rank the features of a table",
        description="Rank the features of a table and print the best ones. A table that is larger than a part of the "
        "free memory is read from disk in blocks.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "input",
        metavar="INPUT",
        help="a file (csv, tsv, parquet, npz, svmlight, h5ad, ...), or a folder or pattern of Parquet files",
    )
    add_columns(parser)
    parser.add_argument("--method", default="ilfs", metavar="NAME", help="method, see ilfs methods (ilfs)")
    parser.add_argument(
        "--top", type=int, default=DEFAULT_TOP, metavar="K", help=f"number of features to print ({DEFAULT_TOP})"
    )
    parser.add_argument("-o", "--output", metavar="FILE.csv", help="write the ranking of all features to this file")
    add_engine(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing but the ranking")
    parser.add_argument("--dry-run", action="store_true", help="print size, number of reads and memory, and stop")
    parser.set_defaults(function=rank, stopped="stopped, and nothing is saved of an unfinished ranking")


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the options that name columns."""
    parser.add_argument("--target", metavar="COLUMN", help="column that holds the classes")
    parser.add_argument("--drop", nargs="+", default=[], metavar="COLUMN", help="columns that are not features")
    parser.add_argument("--weight", metavar="COLUMN", help="column that holds the weights of the rows")


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the options of the engine."""
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="memory, stream (blocks from disk) or dask; auto, the default, chooses between the first two",
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="Dask scheduler, tcp://..., for --engine dask")
    parser.add_argument(
        "--memory-limit", metavar="SIZE", help="memory for the table, such as 500MB or 2GB (half of the free memory)"
    )
    parser.add_argument("--jobs", type=int, default=-1, metavar="N", help="number of threads (-1: one per core)")


def rank(options: argparse.Namespace) -> int:
    """Rank the features of a table and print the best."""
    from ilfs.parameters import check_integer
    from ilfs.registry import make_selector
    from ilfs.report import ranking_text, write_ranking
    from ilfs.report.ranking import check_csv_path

    check_integer("--top", options.top, 1)
    check_engine(options)
    if options.output is not None:
        check_csv_path(options.output)  # before the work begins
    selector = make_selector(options.method, n_jobs=options.jobs)
    with connection(options):
        source = opened(options)
        if options.dry_run:
            from ilfs.cli.dry_run import plan_lines

            print("\n".join(plan_lines(options.input, source, selector)))
            return 0
        fit(selector, source, options)
    print(ranking_text(selector, top=options.top))
    if options.output is not None:
        path = write_ranking(selector, options.output, spreadsheet_safe=True)
        tell(options, f"the ranking of all {selector.n_features_in_:,} features is in {path}")
    return 0


def check_engine(options: argparse.Namespace) -> None:
    """Raise an error if options contradict each other."""
    if options.scheduler is not None and options.engine != "dask":
        raise ValueError(f"--scheduler needs --engine dask, got --engine {options.engine}")
    if options.memory_limit is not None and options.engine in ("memory", "dask"):
        raise ValueError(f"--memory-limit needs --engine auto or stream, got --engine {options.engine}")


def connection(options: argparse.Namespace) -> AbstractContextManager[Any]:
    """Connect to the scheduler, if one is named."""
    if options.scheduler is None:
        return nullcontext()
    from ilfs.execution.dask import connected

    return connected(options.scheduler)


def opened(options: argparse.Namespace) -> Any:
    """Open the table with the chosen engine, and tell its size."""
    from ilfs.reading.entry import open_table

    if options.engine == "dask":
        from ilfs.reading.dask_files import open_on_dask

        source: Any = open_on_dask(options.input, options.target, options.drop, options.weight)
        tell(options, described(options.input, source))
        return source
    limit, columns = options.memory_limit, (options.target, options.drop)
    source = open_table(options.input, *columns, limit, weight=options.weight, engine=options.engine)
    tell(options, described(options.input, source))
    return source


def described(name: str, source: Any) -> str:
    """Describe a source in one sentence."""
    from ilfs.cli.dry_run import engine_of, size_of

    return f"{name}: {size_of(source)}; {engine_of(source)}"


def fit(selector: Any, source: Any, options: argparse.Namespace) -> None:
    """Fit the selector, with a progress line for each read of a table that is not in memory."""
    from ilfs.cli.dry_run import n_reads
    from ilfs.cli.progress import ReadLine

    if options.quiet or not hasattr(source, "progress"):
        selector.fit(source)
        return
    with ReadLine(n_reads(selector)) as line:
        source.progress = line
        selector.fit(source)


def tell(options: argparse.Namespace, sentence: str) -> None:
    """Print a sentence to stderr, unless the command is quiet."""
    if not options.quiet:
        print(f"ilfs: {sentence}", file=sys.stderr)
