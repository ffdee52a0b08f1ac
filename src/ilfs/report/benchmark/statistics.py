"""What the results of a suite say about its methods: the paper's tests, ours, and how stable choices are."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.benchmark.evaluation.metrics import METRIC_TITLES
from ilfs.benchmark.evaluation.splits import n_test_of
from ilfs.benchmark.significance import (
    compare_on_datasets,
    compare_with,
    critical_difference,
    friedman_test,
    paper_procedure,
)
from ilfs.benchmark.significance.diagram import Diagram, critical_difference_diagram
from ilfs.benchmark.significance.stability import nogueira_stability
from ilfs.benchmark.store.results import Results
from ilfs.datasets import load
from ilfs.report.benchmark.tables import mean, nan_mean, number, state_of, with_notes
from ilfs.text_table import Grid

LEVEL = 0.05
INTERVALS_FROM = 6  # data sets; the bootstrap of fewer says little


def statistics_of(results: Results, reference: str, metric: str = "ap_macro") -> list[Grid]:
    """All tests of a reference method against the others, and the stability of all.

    What cannot be tested with what there is, says so in its place.

    Parameters
    ----------
    results : Results
        Of a suite that judges numbers of features.
    reference : str
        The method that is compared with all others.
    metric : {"ap_macro", "ap_majority", "accuracy", "balanced_accuracy", "f1", "auc"}
        By which figure.

    Returns
    -------
    list of Grid
        Ranks; the reference over the data sets and on each; the paper's procedure; stability, by data set and by size.
    """
    if results.suite.experiment != "sizes":
        raise ValueError(
            f"suite {results.suite.name} has no statistics: they are for suites that judge numbers of features"
        )
    if reference not in results.methods:
        raise ValueError(f"the reference must be one of {', '.join(results.methods)}, got {reference!r}")
    return [
        with_notes(possible(ranks_grid, results, metric), state_of(results)),
        possible(over_datasets_grid, results, reference, metric),
        possible(on_datasets_grid, results, reference, metric),
        possible(paper_grid, results, reference),
        *stability_grids(results),
    ]


def possible(make: Callable[..., Grid], *arguments: Any) -> Grid:
    """A table, or what it is about and why it cannot be."""
    try:
        return make(*arguments)
    except ValueError as error:
        about = (make.__doc__ or "").split("\n")[0].rstrip(".")
        return Grid(about, [""], [], notes=[f"Not possible: {error}."])


def complete_methods(values: Floats) -> Integers:
    """Which methods have figures on every data set that has any: only those can be ranked."""
    means = by_dataset(values)
    some = ~np.isnan(means).all(axis=1)
    return np.flatnonzero(~np.isnan(means[some]).any(axis=0))


def by_dataset(values: Floats) -> Floats:
    """Of shape (n_datasets, n_methods): means over the splits that all methods have, and over the sizes.

    A method that has no split of a data set at all is NaN there and does not count among them.
    """
    there: NDArray[np.bool_] = np.asarray(~np.isnan(values).any(axis=3))
    takes_part = there.any(axis=2, keepdims=True)
    common = (there | ~takes_part).all(axis=1, keepdims=True) & takes_part
    return nan_mean(np.where(common, values.mean(axis=3), np.nan))


def ranks_grid(results: Results, metric: str) -> Grid:
    """Mean rank over the data sets, 1 is best."""
    values = 100 * results.values(metric)
    ranked = complete_methods(values)
    values = values[:, ranked]
    by_size = [friedman_test(by_dataset(values[:, :, :, [s]]), missing="drop") for s in range(values.shape[3])]
    whole = friedman_test(by_dataset(values), missing="drop")
    apart = critical_difference(ranked.size, whole.n_datasets, LEVEL)
    order = np.argsort(whole.mean_ranks, kind="stable")
    rows = [
        [results.methods[ranked[m]], *(float(one.mean_ranks[m]) for one in by_size), float(whole.mean_ranks[m])]
        for m in order
    ]
    verdict = (
        "not all methods are equally good" if whole.F_p_value < LEVEL else "that all are equally good is not ruled out"
    )
    notes = [
        f"Friedman's test: {verdict} (F = {whole.F:.1f}, p = {whole.F_p_value:.1e}, {whole.n_datasets} data sets). "
        f"Two ranks that differ by less than {apart:.1f} cannot be told apart (Nemenyi's test, level {LEVEL})."
    ]
    own = results.methods_of_own_size
    if own:
        notes.append(f"Left out, as they choose the number of features themselves: {', '.join(own)}.")
    if left_out := [name for m, name in enumerate(results.methods) if m not in ranked and name not in own]:
        notes.append(f"Left out, for want of figures on some data set: {', '.join(left_out)}.")
    header = ["method", *(f"first {size}" for size in results.suite.protocol.sizes), "all"]
    return Grid(f"Mean rank over the data sets, 1 is best: {METRIC_TITLES[metric]}", header, rows, notes=notes)


def rank_diagram(results: Results, metric: str = "ap_macro") -> Diagram:
    """The critical-difference diagram over all sizes.

    Parameters
    ----------
    results : Results
        Of a suite that judges numbers of features.
    metric : str
        By which figure.

    Returns
    -------
    Diagram
        For `ilfs.benchmark.significance.diagram.diagram_svg`.
    """
    if len(results.datasets) < 2:
        raise ValueError(
            f"a diagram of ranks must be over two data sets or more, got 1 ({results.datasets[0]}): name more of them"
        )
    values = results.values(metric)
    ranked = complete_methods(values)
    found = friedman_test(by_dataset(values[:, ranked]), missing="drop")
    names = [results.methods[m] for m in ranked]
    return critical_difference_diagram(names, found.mean_ranks, found.n_datasets, alpha=LEVEL)


def over_datasets_grid(results: Results, reference: str, metric: str) -> Grid:
    """The reference against each method over the data sets."""
    rows = []
    for one in compare_with(by_dataset(100 * results.values(metric)), results.methods.index(reference)):
        effect = one.effects.mean
        shown = one.n_datasets >= INTERVALS_FROM
        rows.append(
            [
                results.methods[one.method],
                f"{one.wins} / {one.ties} / {one.losses}",
                effect.value,
                effect.low if shown else None,
                effect.high if shown else None,
                f"{one.p_value:.3f}",
                f"{one.adjusted:.3f}",
            ]
        )
    if not rows:
        raise ValueError("Wilcoxon's test needs three data sets that two methods share")
    header = ["method", "better / equal / worse", "mean difference", "low", "high", "Wilcoxon p", "with Holm"]
    notes = [
        f"Differences in per cent points of {METRIC_TITLES[metric]}; low and high: 95 % interval (bootstrap, from "
        f"{INTERVALS_FROM} data sets on)."
    ]
    return Grid(f"{reference} against each method over the data sets", header, rows, notes=notes)


def on_datasets_grid(results: Results, reference: str, metric: str) -> Grid:
    """The reference against each method on each data set."""
    tables = [load(name) for name in results.datasets]
    n_samples = np.array([table.n_samples for table in tables])
    n_test = np.array([n_test_of(table, results.suite.protocol.test_share) for table in tables])
    found = compare_on_datasets(
        100 * results.values(metric), results.methods.index(reference), n_train=n_samples - n_test, n_test=n_test
    )
    rows = []
    for m, method in enumerate(results.methods):
        if method != reference:
            signs = [
                "-" if np.isnan(p) else "n.s." if p >= LEVEL else "better" if d > 0 else "worse"
                for p, d in zip(found.adjusted[:, m], found.difference[:, m], strict=True)
            ]
            rows.append([method, *signs])
    title = f"{reference} against each method on each data set: corrected resampled t-test, Holm over the table"
    notes = [
        f"better, worse: {reference} is, significantly at {LEVEL} ({METRIC_TITLES[metric]}); n.s.: not significant, "
        "which does not say that they are equal."
    ]
    return Grid(title, ["method", *results.titles], rows, notes=notes)


def paper_grid(results: Results, reference: str) -> Grid:
    """The paper's procedure."""
    rows = []
    for metric, reading in (("ap_macro", "mean of the classes"), ("ap_majority", "class with most samples")):
        verdict = paper_procedure(100 * results.values(metric), results.methods.index(reference))
        best = [title for title, is_best in zip(results.titles, verdict.best, strict=True) if is_best]
        normal = float(np.nanmean(verdict.normality > LEVEL))
        rows.append(
            [
                reading,
                f"{verdict.n_successes} of {verdict.n_trials}",
                int(verdict.significantly_best.sum()),
                f"{verdict.tail:.2e}",
                f"{100 * normal:.0f} %",
                ", ".join(best) or "none",
            ]
        )
    header = ["average precision", "best", "significantly", "binomial tail", "samples that pass as normal", "best on"]
    notes = ["The paper counts 7 of 10, tail 4.82e-3, and treats 20 splits x 5 sizes as 100 independent values."]
    return Grid(f"The paper's procedure for {reference}", header, rows, notes=notes)


def stability_grids(results: Results) -> list[Grid]:
    """How much the choices of the splits agree: 1 for always the same, 0 for choices by chance."""
    sizes = results.suite.protocol.sizes
    n_features = [results.n_features[name] for name in results.datasets]
    table = np.full((len(results.datasets), len(results.methods), len(sizes)), np.nan)
    own = np.full(table.shape[:2], np.nan)  # of methods that choose the number of features themselves
    for d, dataset in enumerate(results.datasets):
        for m, method in enumerate(results.methods):
            orders = results.orders(dataset, method)
            if len(orders) < 2:
                continue
            if method in results.methods_of_own_size:
                own[d, m] = nogueira_stability(orders, n_features[d]).value
                continue
            for s, size in enumerate(sizes):
                if size < n_features[d]:
                    table[d, m, s] = nogueira_stability([order[:size] for order in orders], n_features[d]).value
    over_sizes = np.where(np.isnan(own), nan_mean(table), own)
    by_set = [
        [method, *(number(over_sizes[d, m]) for d in range(len(results.datasets))), mean(over_sizes[:, m])]
        for m, method in enumerate(results.methods)
    ]
    by_size = [[method, *(mean(table[:, m, s]) for s in range(len(sizes)))] for m, method in enumerate(results.methods)]
    title = "Stability of the choice over the splits: 1 is always the same features, 0 is chance"
    return [
        Grid(f"{title}, mean of the sizes", ["method", *results.titles, "mean"], by_set, digits=2),
        Grid(f"{title}, mean of the data sets", ["method", *(f"first {n}" for n in sizes)], by_size, digits=2),
    ]


def features_grids(results: Results, size: int, top: int = 20, by: str | None = None) -> list[Grid]:
    """Which features are chosen: for each data set, in what share of the splits each is among the first ones.

    Parameters
    ----------
    results : Results
        Of a suite that judges numbers of features.
    size : int
        How many first ones.
    top : int
        How many features to list.
    by : str, optional
        The method whose choice orders the list; by default the mean of all.

    Returns
    -------
    list of Grid
        One a data set.
    """
    if results.suite.experiment != "sizes":
        raise ValueError(f"suite {results.suite.name} keeps no features: they are of suites that judge numbers of them")
    largest = max(results.suite.protocol.sizes)
    if size > largest:
        raise ValueError(f"size must be at most {largest}, as far as orders are kept, got {size}")
    if by is not None and by not in results.methods:
        raise ValueError(f"the method to order by must be one of {', '.join(results.methods)}, got {by!r}")
    grids = []
    for dataset, called in zip(results.datasets, results.titles, strict=True):
        table = load(dataset)
        share = np.zeros((table.n_features, len(results.methods)))
        for m, method in enumerate(results.methods):
            orders = results.orders(dataset, method)
            for order in orders:
                share[order[:size], m] += 1 / len(orders)
        leading = share.mean(axis=1) if by is None else share[:, results.methods.index(by)]
        best = np.argsort(-leading, kind="stable")[:top]
        names = table.feature_names or tuple(f"x{j}" for j in range(table.n_features))
        rows = [[names[j], int(j), *map(float, share[j])] for j in best if leading[j] > 0]
        title = f"{called}: share of the splits in which a feature is among the first {size}"
        grids.append(Grid(title, ["feature", "column", *results.methods], rows, digits=2))
    grids[-1] = with_notes(grids[-1], state_of(results))
    return grids
