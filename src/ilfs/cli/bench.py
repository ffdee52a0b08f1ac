"""``ilfs bench``: run a suite, and print its tables, its statistics and the selected features."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ilfs.choices import FORMATS, LAYOUTS, METRIC_TITLES
from ilfs.cli import voc

MAX_TIMING_SIDE = 2**31 - 1  # largest number of rows or columns in the timing experiment


def add_to(commands: Any) -> None:
    """Add ``ilfs bench`` and its actions."""
    bench = commands.add_parser("bench", help="run the benchmark of the paper, or your own, and show the results")
    actions = bench.add_subparsers(metavar="ACTION", required=True)
    add_run(actions)
    add_table(actions)
    add_statistics(actions)
    add_features(actions)


def add_suite(parser: argparse.ArgumentParser, *, of_last_run: bool = True) -> None:
    """Add the options that choose a suite.

    With ``of_last_run`` the suite is optional: without one, the action shows the last run on the store.
    """
    parser.add_argument(
        "suite",
        nargs="?" if of_last_run else None,
        help="paper, deep, modern, novelty, steps, timing, quick, or the path of a .toml file"
        + " (default: the last run)" * of_last_run,
    )
    parser.add_argument(
        "--datasets",
        nargs="+",
        metavar="NAME",
        help="use these data sets only, also ones outside the suite: names or paths of files",
    )
    parser.add_argument(
        "--methods", nargs="+", metavar="NAME", help="use these methods only, also ones outside the suite"
    )
    parser.add_argument(
        "--classifiers",
        nargs="+",
        metavar="NAME",
        help="classifiers: linear_svm, knn, rbf, extra_trees, or import paths of scikit-learn classifiers",
    )
    parser.add_argument("--splits", type=int, metavar="N", help="number of splits")
    parser.add_argument("--rows", type=int, metavar="N", help="rows of the timing experiment (10000)")
    parser.add_argument("--columns", type=int, metavar="N", help="columns of the timing experiment (5000)")
    parser.add_argument("--store", metavar="FILE", help="file of results (ilfs-SUITE.sqlite)")
    voc.add_options(parser)
    if of_last_run:
        parser.add_argument(
            "--any-code",
            action="store_true",
            help="also show results of other code, where there are none of the present code",
        )


def add_classifier(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses the classifier whose metrics are shown."""
    parser.add_argument("--classifier", metavar="NAME", help="classifier to show (linear_svm, else the first)")


def add_run(actions: Any) -> None:
    """Add ``ilfs bench run``."""
    parser = actions.add_parser("run", help="compute the missing results of a suite")
    add_suite(parser, of_last_run=False)
    parser.add_argument("--jobs", type=int, default=-1, metavar="N", help="number of processes (-1: one per core)")
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds after which a job counts as failed")
    parser.add_argument(
        "--memory-limit", type=float, metavar="MB", help="megabytes of memory above which a job counts as failed"
    )
    parser.add_argument("--retry-failed", action="store_true", help="compute failed jobs again")
    parser.add_argument(
        "--recompute",
        action="store_true",
        help="compute all jobs again; each old result is kept until the new one is stored",
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="run the jobs on the workers of this Dask scheduler, tcp://..."
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.set_defaults(function=run_suite)


def add_table(actions: Any) -> None:
    """Add ``ilfs bench table``."""
    parser = actions.add_parser("table", help="print the tables of a suite beside the paper's")
    add_suite(parser)
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="show timings with this number of threads (that of the last run)"
    )
    add_classifier(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="csv: the measured metrics in long form")
    parser.add_argument(
        "--layout",
        choices=LAYOUTS,
        default="full",
        help="paper: the layout of the paper's Table 2, 3 or 4, with its marks for the best",
    )
    parser.set_defaults(function=print_tables)


def add_statistics(actions: Any) -> None:
    """Add ``ilfs bench statistics``."""
    parser = actions.add_parser("statistics", help="print significance tests and the stability of the selections")
    add_suite(parser)
    parser.add_argument(
        "--reference", metavar="METHOD", help="method to compare with all others (ilfs, else the first)"
    )
    parser.add_argument("--metric", default="ap_macro", choices=METRIC_TITLES)
    add_classifier(parser)
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument(
        "--with-store",
        metavar="FILE",
        help="also count the data sets of the last run on this file of results, as the paper does for both experiments",
    )
    parser.add_argument("--diagram", metavar="FILE.svg", help="write the critical-difference diagram to this file")
    parser.set_defaults(function=print_statistics)


def add_features(actions: Any) -> None:
    """Add ``ilfs bench features``."""
    parser = actions.add_parser("features", help="list the features that the methods select")
    add_suite(parser)
    parser.add_argument(
        "--size", type=int, metavar="N", help="count features among the best N (the smallest evaluated number)"
    )
    parser.add_argument("--top", type=int, default=20, metavar="N", help="number of features to list (20)")
    parser.add_argument(
        "--by", metavar="METHOD", help="order the list by the selections of this method (the mean of all methods)"
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.set_defaults(function=print_features)


def asked_suite(options: argparse.Namespace) -> Any:
    """Load the suite named on the command line, before other options change it."""
    from ilfs.benchmark.suites.suite_file import suite_by_name

    return replace(suite_by_name(options.suite), voc=voc.options_of(options))


def chosen_suite(suite: Any, options: argparse.Namespace) -> Any:
    """Apply the options to a suite."""
    from ilfs.parameters import check_integer

    suite = suite.only(options.datasets, options.methods, options.classifiers)
    if options.splits is not None:
        suite = replace(suite, n_splits=options.splits)
    sides = {name: getattr(options, name) for name in ("rows", "columns") if getattr(options, name) is not None}
    if sides and suite.experiment != "timing":
        raise ValueError(f"--{next(iter(sides))} is for the timing experiment, not for suite {suite.name}")
    for name, value in sides.items():
        check_integer(f"--{name}", value, 4)
        if value > MAX_TIMING_SIDE:
            raise ValueError(f"--{name} must be at most {MAX_TIMING_SIDE}, got {value}")
    return replace(suite, protocol=replace(suite.protocol, **sides)) if sides else suite


def check_jobs(n_jobs: int | None) -> None:
    """Raise an error if the number of processes is 0."""
    if n_jobs == 0:
        raise ValueError("--jobs must be an integer other than 0, got 0")


def store_path(options: argparse.Namespace) -> Path:
    """Find the path of the file of results."""
    if options.store:
        return Path(options.store)
    if options.suite is not None:
        return Path(f"ilfs-{Path(options.suite).stem}.sqlite")
    found = sorted(Path().glob("ilfs-*.sqlite"))
    if len(found) != 1:
        there = f"there are {', '.join(map(str, found))}" if found else "there is no file ilfs-*.sqlite in this folder"
        raise ValueError(f"name a suite, or a file of results by --store: {there}")
    return found[0]


def run_suite(options: argparse.Namespace) -> int:
    """Compute the missing results; the exit code is 1 if a job failed."""
    from ilfs.benchmark import run
    from ilfs.cli.progress import NoDisplay, display_of
    from ilfs.parameters import check_positive

    for name in ("time_limit", "memory_limit"):
        if getattr(options, name) is not None:
            check_positive(f"--{name.replace('_', '-')}", getattr(options, name))
    check_jobs(options.jobs)
    asked, path = asked_suite(options), store_path(options)
    suite = with_data_that_is_here(chosen_suite(asked, options), options)
    voc.compute_features(suite, quiet=options.quiet)
    with NoDisplay() if options.quiet else display_of(suite) as display:
        summary = run(
            suite,
            path,
            n_jobs=options.jobs,
            time_limit=options.time_limit,
            memory_limit=options.memory_limit,
            retry_failed=options.retry_failed,
            recompute=options.recompute,
            asked=asked,
            scheduler=options.scheduler,
            on_step=display.show,
            on_start=display.begin,
        )
    before = f", {summary.failed_before} of them failed (--retry-failed)" if summary.failed_before else ""
    print(
        f"{summary.computed} {'job' if summary.computed == 1 else 'jobs'} computed, {summary.failed} of them failed; "
        f"{summary.found} were stored already{before}. "
        f"Results: {path}",
        file=sys.stderr,
    )
    return 1 if summary.failed or summary.failed_before else 0


def with_data_that_is_here(suite: Any, options: argparse.Namespace) -> Any:
    """Leave out data sets of a built-in suite that are not here; those that the user names are an error later."""
    from ilfs.benchmark import SUITES

    if options.datasets is not None or options.suite not in SUITES or suite.experiment == "timing":
        return suite
    suite, missing = suite.without_missing()
    for reason in missing.values():
        note(f"left out: {reason}")
    if missing:
        note(f"running {len(suite.datasets)} of {len(suite.datasets) + len(missing)} data sets")
    return suite


def results_of(options: argparse.Namespace) -> Any:
    """Read the results of the suite, or of the last run, from the store."""
    from ilfs.benchmark import Store
    from ilfs.benchmark.store.results import Results

    check_jobs(getattr(options, "jobs", None))
    asked, path = None if options.suite is None else asked_suite(options), store_path(options)
    if not path.is_file():
        option = f" --store {path}" if options.store else ""
        raise ValueError(f"there is no file {path}: create it by ilfs bench run {options.suite or 'SUITE'}{option}")
    with Store(path) as store:
        run = last_run_of(store, asked)
        shown = shown_suite(asked, run, options)
        results = Results.from_store(shown, store, any_code=options.any_code)
        is_timing = run is not None and shown.experiment == run.suite.experiment == "timing"
        if is_timing and results.n_missing == results.n_jobs:
            results = results_of_other_threads(results, run.suite, store)
    if getattr(options, "format", "") == "csv" and results.n_other_code:
        note(other_code_note(results))
    chosen = getattr(options, "classifier", None)
    return results if chosen is None else results.by_classifier(chosen)


def results_of_other_store(options: argparse.Namespace) -> Any:
    """Read the results of the last run on the store of ``--with-store``, with the methods that are named."""
    from ilfs.benchmark import Store
    from ilfs.benchmark.store.results import Results

    path = Path(options.with_store)
    if not path.is_file():
        raise ValueError(f"there is no file {path}: --with-store must name a file of results")
    with Store(path) as store:
        run = last_run_of(store, None)
        if run.suite.experiment == "timing":
            raise ValueError(f"--with-store must name results on data sets, got {path}, which has timings")
        suite = replace(run.suite, voc=voc.options_of(options).or_else(run.suite.voc)).only(methods=options.methods)
        return Results.from_store(suite, store, any_code=options.any_code)


def last_run_of(store: Any, asked: Any) -> Any:
    """Read the last run on a store.

    If the store has none that can be read, return None if a suite is named, and raise an error if not.
    """
    from ilfs.benchmark.suites.last_run import read_run

    try:
        described = store.last_run()
        if described is None:
            raise ValueError("it is older than this version of ilfs or was never used")
        return read_run(described)
    except (ValueError, OSError) as error:
        if asked is not None:
            return None
        raise ValueError(f"the store {store.path} has no record of its last run, name the suite: {error}") from None


def shown_suite(asked: Any, run: Any, options: argparse.Namespace) -> Any:
    """Choose the suite to show.

    It is the suite of the last run if no suite is named, or if that suite is named without further options.
    """
    from joblib import effective_n_jobs

    from ilfs.benchmark.suites.last_run import suite_as_data

    names = ("datasets", "methods", "classifiers", "splits", "rows", "columns")
    is_plain = all(getattr(options, name) is None for name in names)
    n_jobs = getattr(options, "jobs", None)
    if asked is None or (is_plain and run is not None and suite_as_data(asked) == run.asked):
        own = voc.options_of(options).or_else(run.suite.voc)
        suite = chosen_suite(replace(run.suite, voc=own), options)
        return suite if n_jobs is None else suite.with_threads(effective_n_jobs(n_jobs))
    suite = chosen_suite(asked, options)
    if n_jobs is None and run is not None and suite.experiment == run.suite.experiment == "timing":
        return suite.with_threads(run.suite.protocol.n_threads)
    return suite.with_threads(effective_n_jobs(-1 if n_jobs is None else n_jobs))


def results_of_other_threads(results: Any, last: Any, store: Any) -> Any:
    """Read timings with the number of threads of the last run; return the given results if there are none."""
    from ilfs.benchmark.store.results import Results

    n_asked, n_there = results.suite.protocol.n_threads, last.protocol.n_threads
    others = Results.from_store(results.suite.with_threads(n_there), store, any_code=results.any_code)
    if others.n_missing == others.n_jobs:
        return results
    note(f"there are no timings with --jobs {n_asked}; showing those with --jobs {n_there}")
    return others


def other_code_note(results: Any) -> str:
    """Format the note on results that were computed by other code."""
    from ilfs.report.benchmark.tables import other_code

    return other_code(results)


def note(sentence: str) -> None:
    """Print a note to stderr."""
    print(f"ilfs: note: {sentence}", file=sys.stderr)


def print_statistics(options: argparse.Namespace) -> int:
    """Print significance tests and stability, and write the diagram if a file is given."""
    from ilfs.benchmark import rank_diagram
    from ilfs.files import write_text_atomically
    from ilfs.report.benchmark import diagram_svg, joint_grid, statistics_of

    results = results_of(options)
    reference = options.reference or ("ilfs" if "ilfs" in results.methods else results.methods[0])
    grids = statistics_of(results, reference, options.metric)
    if options.with_store:
        grids.append(joint_grid([results, results_of_other_store(options)], reference, options.metric))
    if options.diagram:  # first: if this fails, the error must be the only output
        write_text_atomically(options.diagram, diagram_svg(rank_diagram(results, options.metric)))
    show(grids, options.format)
    return 0


def print_tables(options: argparse.Namespace) -> int:
    """Print the tables of a suite."""
    from ilfs.report.benchmark import paper_layout, quality_grid, table_4_csv, tables_of

    results = results_of(options)
    in_long_form = options.format == "csv" and results.suite.experiment == "sizes"
    if options.layout == "paper":
        grids = [table_4_csv(results)] if in_long_form else paper_layout(results)
    elif in_long_form:
        grids = [quality_grid(results, options.classifier and [options.classifier])]
    else:
        grids = tables_of(results)
    show(grids, options.format)
    return 0


def print_features(options: argparse.Namespace) -> int:
    """Print how often each feature was selected."""
    from ilfs.parameters import check_integer
    from ilfs.report.benchmark import features_grids

    results = results_of(options)
    size = min(getattr(results.suite.protocol, "sizes", (1,))) if options.size is None else options.size
    check_integer("--size", size, 1)
    check_integer("--top", options.top, 1)
    show(features_grids(results, size, options.top, options.by), options.format)
    return 0


def show(grids: Sequence[Any], form: str) -> None:
    """Print tables one below the other; in CSV each begins with its title."""
    titled = form == "csv" and len(grids) > 1
    texts = [grid.render(form, spreadsheet_safe=True) for grid in grids]
    titles = [f"# {grid.title}\n" if titled else "" for grid in grids]
    print("\n\n".join(title + text for title, text in zip(titles, texts, strict=True)))
