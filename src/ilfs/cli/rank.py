"""``ilfs rank``: rank the features of a table, in memory, as a stream from disk, or on a Dask cluster."""

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

ENGINES = ("auto", "memory", "stream", "dask")
RULES = ("fdr", "auto", "absorption")
DEFAULT_TOP = 20
EXAMPLES = """examples:
  ilfs rank expression.csv --target tumour -o ranking.csv
  ilfs rank expression.csv --target tumour --rule fdr --fdr 0.1
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
    add_certainty(parser)
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


def add_certainty(parser: argparse.ArgumentParser) -> None:
    """Add the options for the number of features and the test against chance."""
    parser.add_argument(
        "--rule",
        choices=RULES,
        help="select features by their false discovery rate (fdr), by cross-validation of a linear SVM (auto) or by "
        "the random walk of ILFS (absorption)",
    )
    parser.add_argument(
        "--fdr",
        type=float,
        metavar="LEVEL",
        help="false discovery rate of --rule fdr, and level of the test against chance (0.05)",
    )
    parser.add_argument(
        "--permutations",
        type=int,
        metavar="B",
        help="permutations of the labels that ilfs, fisher and mi are tested with (20, or more if --fdr needs more; 0 "
        "for no test)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the permutations (0)")


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
    from ilfs.ranking_table import check_csv_path
    from ilfs.report import ranking_text, write_ranking
    from ilfs.report.certainty import certainty_sentences

    check_integer("--top", options.top, 1)
    check_engine(options)
    if options.output is not None:
        check_csv_path(options.output)  # before the work begins
    selector = chosen_selector(options)
    with connection(options):
        source = opened(options)
        check_target(selector, source)
        if options.dry_run:
            from ilfs.cli.dry_run import plan_lines

            print("\n".join(plan_lines(options.input, source, selector)))
            return 0
        fit(selector, source, options)
    print(ranking_text(selector, top=options.top))
    for sentence in certainty_sentences(selector):
        tell(options, sentence)
    if options.output is not None:
        path = write_ranking(selector, options.output, spreadsheet_safe=True)
        tell(options, f"the ranking of all {selector.n_features_in_:,} features is in {path}")
    return 0


def chosen_selector(options: argparse.Namespace) -> Any:
    """Make the selector of the method, with its rule and its test against chance."""
    from ilfs.registry import make_selector

    selector = make_selector(options.method, n_jobs=options.jobs)
    rule = {} if options.rule is None else {"n_features_to_select": options.rule}
    selector.set_params(**rule, **certainty_parameters(selector, options))
    return selector


def certainty_parameters(selector: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of the test against chance; raise if options ask for a test that the method lacks."""
    from ilfs.permutations import MIN_PERMUTATIONS, permutations_to_make
    from ilfs.registry import classes_with

    given = {"fdr": options.fdr, "n_permutations": options.permutations, "random_state": options.seed}
    given = {name: value for name, value in given.items() if value is not None}
    if options.rule == "fdr" and options.permutations == 0:
        raise ValueError("--rule fdr needs permutations, got --permutations 0: leave one of the two out")
    if "n_permutations" not in selector.get_params(deep=False):
        if given:
            option = {"fdr": "--fdr", "n_permutations": "--permutations", "random_state": "--seed"}[next(iter(given))]
            raise ValueError(
                f"{option} needs a method that has p-values ({classes_with('null')}), got --method {options.method}"
            )
        return {}
    if "n_permutations" not in given:
        selector.set_params(**given)._check_parameters()  # a wrong level has no number of permutations
        given["n_permutations"] = permutations_to_make(0, selector.fdr, MIN_PERMUTATIONS)
    return given


def check_target(selector: Any, source: Any) -> None:
    """Raise an error if the method needs classes and the table has none."""
    if selector._reads_labels and not source.has_labels:
        raise ValueError(f"{type(selector).__name__} needs the classes of the rows: name their column, --target COLUMN")


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
