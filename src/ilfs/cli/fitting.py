"""Fits of the selectors of a command, with a line of progress."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

STABILITY_FEATURES = 20  # best features whose stability is measured
STABILITY_HALVES = 50  # half-samples


def fit_all(selectors: dict[str, Any], table: Any, options: argparse.Namespace) -> None:
    """Fit all selectors on a table.

    Parameters
    ----------
    selectors : dict of str to RankingSelector
        Unfitted selectors by the names of their methods.
    table : PreparedTable
        The table.
    options : argparse.Namespace
        ``groups`` and ``quiet``.
    """
    for name, selector in selectors.items():
        check_target(selector, table.source)
        arguments = fit_arguments(name, selector, table)
        with progress_of(selector, table.source, name if len(selectors) > 1 else "", options.quiet):
            selector.fit(table.source, **arguments)


def check_target(selector: Any, source: Any) -> None:
    """Raise an error if the method needs classes and the table has none."""
    if selector._reads_labels and not source.has_labels:
        raise ValueError(f"{type(selector).__name__} needs the classes of the rows: name their column, --target COLUMN")


def fit_arguments(name: str, selector: Any, table: Any) -> dict[str, Any]:
    """Return the groups, if there are any; a method that has no use for them refuses them."""
    from sklearn.utils.validation import has_fit_parameter

    if table.groups is None:
        return {}
    if not has_fit_parameter(selector, "groups"):
        from ilfs.registry import classes_with

        raise ValueError(f"--groups needs a method that permutes labels ({classes_with('null')}), got --method {name}")
    return {"groups": table.groups}


@contextmanager
def progress_of(selector: Any, source: Any, name: str, quiet: bool) -> Iterator[None]:
    """Show the reads of a source and the steps of a method while it is fitted."""
    from ilfs.cli.dry_run import n_reads
    from ilfs.cli.progress import FitLine

    if quiet:
        yield
        return
    before = getattr(source, "progress", None)
    with FitLine(n_reads(selector), name) as line:
        with suppress(ImportError):  # scikit-learn before 1.9 has no callbacks
            selector.set_callbacks(line)
        source.progress = line
        try:
            yield
        finally:
            source.progress = before
            selector.set_callbacks()


def measure_stability(selector: Any, table: Any, options: argparse.Namespace) -> Any:
    """Measure how much the best features change between halves of the rows."""
    from ilfs.cli.progress import FractionLine
    from ilfs.selection import stability

    n_best = min(STABILITY_FEATURES, max(int(selector.get_support().sum()), 1), selector.n_features_in_ - 1)
    if n_best < 1:
        raise ValueError("--stability needs at least two features, got one")
    with FractionLine("stability", quiet=options.quiet) as line:
        return stability(
            selector,
            table.source,
            n_resamples=STABILITY_HALVES,
            k=n_best,
            groups=table.groups,
            random_state=0 if options.seed is None else options.seed,
            n_jobs=options.jobs,
            progress=line,
        )
