"""``ilfs bench run``: compute the missing results of a suite."""

import argparse
import sys
from typing import Any

from ilfs.cli import voc
from ilfs.cli.bench.options import add_action, add_suite, asked_suite, check_jobs, chosen_suite, store_path
from ilfs.cli.bench.stored import note

EXAMPLES = """\
ilfs bench run quick
ilfs bench run paper --splits 3 --jobs 2 --time-limit 60
ilfs bench run quick --datasets mine.csv --methods ilfs fisher --classifiers linear_svm knn
ilfs bench run paper --retry-failed
"""


def add_to(actions: Any) -> None:
    """Add ``ilfs bench run``."""
    parser = add_action(
        actions,
        "run",
        "compute the missing results of a suite",
        details="You can stop it at any time: the\nsame command continues. The exit code is 1 if a job failed.",
        examples=EXAMPLES,
    )
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
