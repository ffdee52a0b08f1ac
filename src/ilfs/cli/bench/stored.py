"""Read the results that a command shows from the store, and print tables of them."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ilfs.cli import voc
from ilfs.cli.bench.options import asked_suite, check_jobs, chosen_suite, store_path


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


def results_of_other_store(path: Path, options: argparse.Namespace) -> Any:
    """Read the results of the last run on a file of ``--with-store``, with the methods that are named."""
    from ilfs.benchmark import Store
    from ilfs.benchmark.store.results import Results

    if not path.is_file():
        raise ValueError(f"there is no file {path}: --with-store must name a file of results")
    with Store(path) as store:
        run = last_run_of(store, None)
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


def show(grids: Sequence[Any], form: str) -> None:
    """Print tables one below the other; in CSV each begins with its title."""
    titled = form == "csv" and len(grids) > 1
    texts = [grid.render(form, spreadsheet_safe=True) for grid in grids]
    titles = [f"# {grid.title}\n" if titled else "" for grid in grids]
    print("\n\n".join(title + text for title, text in zip(titles, texts, strict=True)))
