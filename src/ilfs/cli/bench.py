"""``ilfs bench``: run a suite, print its tables, its statistics and the features chosen."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ilfs.files import write_text_atomically
from ilfs.parameters import check_integer, check_positive


def add_to(commands: Any) -> None:
    """Add the commands."""
    bench = commands.add_parser("bench", help="the paper's evaluation, and your own")
    actions = bench.add_subparsers(metavar="ACTION", required=True)
    add_run(actions)
    add_table(actions)
    add_statistics(actions)
    add_features(actions)


def add_suite(parser: argparse.ArgumentParser) -> None:
    """The options that say what it is about."""
    parser.add_argument("suite", help="paper, deep, modern, novelty, timing, quick, or the path of a .toml file")
    parser.add_argument(
        "--datasets", nargs="+", metavar="NAME", help="some data sets only, or others; paths of files too"
    )
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="some methods only, or others")
    parser.add_argument("--splits", type=int, metavar="N", help="the first N splits only, or more")
    parser.add_argument("--rows", type=int, metavar="N", help="of the timing job (10000)")
    parser.add_argument("--columns", type=int, metavar="N", help="of the timing job (5000)")
    parser.add_argument(
        "--devkit", metavar="FOLDER", help="the VOCdevkit folder, for the data sets voc2007 and voc2012"
    )
    parser.add_argument("--network", metavar="FILE.onnx", help="whose activations are the features of their images")
    parser.add_argument("--layer", metavar="NAME", help="of the network (its last)")
    parser.add_argument("--store", metavar="FILE", help="file of results (ilfs-SUITE.sqlite)")


def add_run(actions: Any) -> None:
    """Add ``ilfs bench run``."""
    parser = actions.add_parser("run", help="compute what is missing of a suite")
    add_suite(parser)
    parser.add_argument("--jobs", type=int, default=-1, metavar="N", help="processes (-1: as many as there are cores)")
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds for a cell: longer is a failure")
    parser.add_argument("--memory-limit", type=float, metavar="MB", help="megabytes for a cell")
    parser.add_argument("--retry-failed", action="store_true", help="compute cells again that failed before")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler, tcp://..., whose workers compute")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.set_defaults(function=run_suite)


def add_table(actions: Any) -> None:
    """Add ``ilfs bench table``."""
    from ilfs.benchmark.grid import FORMATS

    parser = actions.add_parser("table", help="print the tables of a suite beside the paper's")
    add_suite(parser)
    parser.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads of the timing job")
    parser.add_argument("--format", choices=FORMATS, default="text", help="csv has the measured quality in long form")
    parser.set_defaults(function=print_tables)


def add_statistics(actions: Any) -> None:
    """Add ``ilfs bench statistics``."""
    from ilfs.benchmark.grid import FORMATS
    from ilfs.benchmark.metrics import METRIC_TITLES

    parser = actions.add_parser("statistics", help="which differences are real, and how stable choices are")
    add_suite(parser)
    parser.add_argument("--reference", default="ilfs", metavar="METHOD", help="compared with all others (ilfs)")
    parser.add_argument("--metric", default="ap_macro", choices=METRIC_TITLES)
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--diagram", metavar="FILE.svg", help="write the critical-difference diagram there")
    parser.set_defaults(function=print_statistics)


def add_features(actions: Any) -> None:
    """Add ``ilfs bench features``."""
    from ilfs.benchmark.grid import FORMATS

    parser = actions.add_parser("features", help="which features the methods choose, by name")
    add_suite(parser)
    parser.add_argument("--size", type=int, metavar="N", help="among the first N (the smallest number judged)")
    parser.add_argument("--top", type=int, default=20, metavar="N", help="features to list (20)")
    parser.add_argument("--by", metavar="METHOD", help="whose choice orders the list (the mean of all)")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.set_defaults(function=print_features)


def chosen_suite(options: argparse.Namespace) -> Any:
    """The suite with what the options change."""
    from joblib import effective_n_jobs

    from ilfs.benchmark.suites import suite_of

    for name in ("devkit", "network", "layer"):
        if getattr(options, name):
            os.environ[f"ILFS_VOC_{name.upper()}"] = getattr(options, name)
    if getattr(options, "jobs", -1) == 0:
        raise ValueError("--jobs must be an integer other than 0, got 0")
    suite = suite_of(options.suite).only(options.datasets, options.methods)
    if options.splits is not None:
        suite = replace(suite, n_splits=options.splits)
    sides = {name: getattr(options, name) for name in ("rows", "columns") if getattr(options, name) is not None}
    if sides and suite.experiment != "timing":
        raise ValueError(f"--{next(iter(sides))} is for the timing job, not for suite {suite.name}")
    for name, value in sides.items():
        check_integer(f"--{name}", value, 4)
    suite = replace(suite, protocol=replace(suite.protocol, **sides)) if sides else suite
    return suite.with_threads(effective_n_jobs(getattr(options, "jobs", -1)))


def store_path(options: argparse.Namespace) -> Path:
    """Where results are."""
    return Path(options.store or f"ilfs-{Path(options.suite).stem}.sqlite")


def run_suite(options: argparse.Namespace) -> int:
    """Compute what is missing; 1 if something failed."""
    from ilfs.benchmark import run
    from ilfs.cli.progress import Silence, progress_of

    for name in ("time_limit", "memory_limit"):
        if getattr(options, name) is not None:
            check_positive(f"--{name.replace('_', '-')}", getattr(options, name))
    suite, path = chosen_suite(options), store_path(options)
    with Silence() if options.quiet else progress_of(suite) as progress:
        summary = run(
            suite,
            path,
            n_jobs=options.jobs,
            time_limit=options.time_limit,
            memory_limit=options.memory_limit,
            retry_failed=options.retry_failed,
            scheduler=options.scheduler,
            on_step=progress.show,
            on_start=progress.begin,
        )
    print(
        f"{summary.computed} {'cell' if summary.computed == 1 else 'cells'} computed, {summary.failed} of them failed; "
        f"{summary.found} were there. "
        f"Results: {path}",
        file=sys.stderr,
    )
    return 1 if summary.failed else 0


def results_of(options: argparse.Namespace) -> Any:
    """What the store has of the suite."""
    from ilfs.benchmark import Store
    from ilfs.benchmark.results import Results

    suite, path = chosen_suite(options), store_path(options)
    if not path.is_file():
        raise ValueError(f"there is no file {path}: ilfs bench run {options.suite} makes it")
    with Store(path) as store:
        return Results.of(suite, store)


def print_statistics(options: argparse.Namespace) -> int:
    """Print tests and stability; write the diagram if asked to."""
    from ilfs.benchmark.comparison import rank_diagram, statistics_of
    from ilfs.benchmark.diagram import diagram_svg

    results = results_of(options)
    grids = statistics_of(results, options.reference, options.metric)
    show(grids, options.format)
    if options.diagram:
        write_text_atomically(options.diagram, diagram_svg(rank_diagram(results, options.metric)))
    return 0


def print_tables(options: argparse.Namespace) -> int:
    """Print what is there."""
    from ilfs.benchmark.tables import quality_grid, tables_of

    results = results_of(options)
    if options.format == "csv" and results.suite.experiment == "sizes":
        print(quality_grid(results).render("csv"))
    else:
        show(tables_of(results), options.format)
    return 0


def print_features(options: argparse.Namespace) -> int:
    """Print which features were chosen how often."""
    from ilfs.benchmark.comparison import features_grids

    results = results_of(options)
    size = min(getattr(results.suite.protocol, "sizes", (1,))) if options.size is None else options.size
    check_integer("--size", size, 1)
    check_integer("--top", options.top, 1)
    show(features_grids(results, size, options.top, options.by), options.format)
    return 0


def show(grids: Sequence[Any], form: str) -> None:
    """Print tables one below the other; in files of comma-separated values each begins with its title."""
    titled = form == "csv" and len(grids) > 1
    print("\n\n".join((f"# {grid.title}\n" if titled else "") + grid.render(form) for grid in grids))
