"""Options that choose a suite, a store and a classifier, and the suite that they describe."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from ilfs.choices import METRIC_TITLES
from ilfs.cli import voc

MAX_TIMING_SIDE = 2**31 - 1  # largest number of rows or columns in the timing experiment


def add_action(actions: Any, name: str, about: str, *, details: str = "", examples: str = "") -> Any:
    """Add the parser of an action, with examples at the end of its help.

    Parameters
    ----------
    actions : argparse subparsers
        The actions of ``ilfs bench``.
    name, about : str
        Name of the action, and what it does in a few words.
    details : str
        Sentences at the top of its help, in lines of at most 79 characters.
    examples : str
        Commands, one in each line.
    """
    description = f"{about[0].upper()}{about[1:]}.{details and f' {details}'}"
    epilog = "examples:\n" + "".join(f"  {line}\n" for line in examples.splitlines())
    formatter = argparse.RawDescriptionHelpFormatter
    return actions.add_parser(name, help=about, description=description, epilog=epilog, formatter_class=formatter)


def add_suite(parser: argparse.ArgumentParser, *, of_last_run: bool = True) -> None:
    """Add the options that choose a suite.

    With ``of_last_run`` the suite is optional: without one, the action shows the last run on the store.
    """
    parser.add_argument(
        "suite",
        nargs="?" if of_last_run else None,
        help="quick, paper, deep, timing, modern, novelty, steps, known_answer, or the path of a .toml file"
        + " (the last run)" * of_last_run,
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
    parser.add_argument("--splits", type=int, metavar="N", help="number of splits (that of the suite)")
    parser.add_argument("--rows", type=int, metavar="N", help="rows of the timing experiment (10000)")
    parser.add_argument("--columns", type=int, metavar="N", help="columns of the timing experiment (5000)")
    parser.add_argument("--store", metavar="FILE", help="file of results (ilfs-SUITE.sqlite)")
    voc.add_options(parser, is_hidden=of_last_run)
    if of_last_run:
        parser.add_argument(
            "--any-code",
            action="store_true",
            help="also show results of other code, where there are none of the present code",
        )


def add_classifier(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses the classifier whose metrics are shown."""
    parser.add_argument("--classifier", metavar="NAME", help="classifier to show (linear_svm, else the first)")


def add_metric(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses the metric of tests."""
    parser.add_argument(
        "--metric",
        default="ap_macro",
        choices=METRIC_TITLES,
        metavar="NAME",
        help=f"metric to compare: {', '.join(METRIC_TITLES)} (ap_macro: average precision)",
    )


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
        return Path(default_store(options.suite))
    found = sorted(Path().glob("ilfs-*.sqlite"))
    if len(found) != 1:
        there = f"there are {', '.join(map(str, found))}" if found else "there is no file ilfs-*.sqlite in this folder"
        raise ValueError(f"name a suite, or a file of results by --store: {there}")
    return found[0]


def default_store(suite: str) -> str:
    """Name of the file of results of a suite, given by its name or the path of its file."""
    return f"ilfs-{Path(suite).stem}.sqlite"
