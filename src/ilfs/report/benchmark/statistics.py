"""Tables of statistical tests, stability and chosen features, with a sentence about each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ilfs.benchmark.comparison import (
    SIGNIFICANCE_LEVEL,
    choice_stability,
    chosen_features,
    compare_on_classes,
    compare_on_each_dataset,
    compare_over_datasets,
    paper_verdict,
    rank_summary,
)
from ilfs.benchmark.family_choices import FAMILY_CORRELATION, MAX_CHANCE, family_choice_stability
from ilfs.benchmark.paper_tables import dataset_rows
from ilfs.benchmark.printed_tests import printed_tests
from ilfs.benchmark.significance.classes import ClassComparison
from ilfs.benchmark.significance.paper import PAPER_CHANCE, JointVerdict, PaperVerdict, binomial_tail, joint_verdict
from ilfs.benchmark.store.results import Results
from ilfs.benchmark.suites.suite import WITHOUT_CLASSIFIERS
from ilfs.choices import METRIC_TITLES
from ilfs.report.benchmark.tables import mean, number, state_of, with_notes, with_state
from ilfs.text_table import Grid

MIN_DATASETS_FOR_INTERVALS = 6  # bootstrap intervals over fewer data sets are unreliable


def statistics_of(results: Results, reference: str, metric: str = "ap_macro") -> list[Grid]:
    """All tests of a reference method against the others, and the stability of all methods.

    A test that is not possible with these results is replaced by the reason.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"`` or ``"classes"``.
    reference : str
        Name of the method that is compared with all others.
    metric : {"ap_macro", "ap_majority", "accuracy", "balanced_accuracy", "f1", "auc"}
        Name of the metric; for the experiment ``"classes"`` there is average precision only.

    Returns
    -------
    list of Grid
        Ranks; the reference over the data sets and on each; the paper's procedure; stability, by data set and by size.
        For the experiment ``"classes"``: the reference over the classes of each data set, at the largest and at each
        number of features; the paper's procedure.
    """
    if results.suite.experiment in WITHOUT_CLASSIFIERS:
        why = WITHOUT_CLASSIFIERS[results.suite.experiment]
        raise ValueError(f"suite {results.suite.name} has no statistics, as it only {why}")
    check_has_reference(results, reference)
    if results.suite.experiment == "classes":
        return classes_statistics(results, reference, metric)
    versus = f"{reference} against each method"
    return [
        with_state(possible("Mean rank over the data sets", ranks_grid, results, metric), results),
        possible(f"{versus} over the data sets", over_datasets_grid, results, reference, metric),
        possible(f"{versus} on each data set", on_datasets_grid, results, reference, metric),
        possible(f"The paper's procedure for {reference}", paper_grid, results, reference),
        *stability_grids(results),
    ]


def check_has_reference(results: Results, reference: str) -> None:
    """Raise an error if the suite does not have the reference."""
    if reference not in results.methods:
        raise ValueError(f"the reference must be one of {', '.join(results.methods)}, got {reference!r}")


def classes_statistics(results: Results, reference: str, metric: str) -> list[Grid]:
    """Tests of the experiment ``"classes"``: the reference over the classes of each data set, the paper's procedure."""
    if metric != "ap_macro":
        raise ValueError(f"suite {results.suite.name} has average precision only (ap_macro), got the metric {metric!r}")
    grids = []
    for name, title in zip(results.datasets, results.titles, strict=True):
        about = f"{reference} against each method on {title}"
        grids.append(possible(about, over_classes_grid, results, name, title, reference))
        if len(results.class_sizes(name)) > 1:
            grids.append(possible(f"{about}, by size", over_sizes_grid, results, name, title, reference))
    notes = [
        "The paper's test takes the values of two methods for independent samples. The paired t-test and Wilcoxon's "
        "test compare them class by class; Holm's correction is for Wilcoxon's test.",
        "Classes of one data set share their samples: no test over them says anything about other data sets.",
        *state_of(results),
    ]
    grids[-1] = with_notes(grids[-1], notes)
    return [*grids, possible(f"The paper's procedure for {reference}", joint_grid, [results], reference)]


def over_classes_grid(results: Results, dataset: str, title: str, reference: str) -> Grid:
    """Table of the reference against each method over the classes of a data set: the paper's test and paired tests."""
    found = compare_on_classes(results, dataset, reference)
    rows = [
        [
            results.methods[one.method],
            f"{one.wins} / {one.ties} / {one.losses}",
            one.difference,
            *(f"{p:.3f}" for p in (one.two_sample.p_value, one.paired.p_value, one.signed_ranks, one.adjusted)),
        ]
        for one in found
    ]
    n_classes = max(one.wins + one.ties + one.losses for one in found)
    header = ["method", "better / equal / worse", "mean difference", "the paper's t-test p", "paired t-test p"]
    about = f"{reference} against each method over the {n_classes} classes of {title}"
    return Grid(about, [*header, "Wilcoxon p", "with Holm"], rows, digits=2)


def over_sizes_grid(results: Results, dataset: str, title: str, reference: str) -> Grid:
    """Table of the reference against each method over the classes of a data set, at each number of features."""
    sizes = results.class_sizes(dataset)
    found = [{one.method: one for one in compare_on_classes(results, dataset, reference, size)} for size in sizes]
    rows = [
        [method, *(difference_and_word(of_size.get(m)) for of_size in found)]
        for m, method in enumerate(results.methods)
        if method != reference
    ]
    notes = [
        f"Mean difference of the classes in percentage points, {reference} minus the method; better, worse: "
        f"significant at the level {SIGNIFICANCE_LEVEL} by Wilcoxon's test with Holm's correction for the methods of a "
        "column."
    ]
    about = f"{reference} against each method over the classes of {title}, by number of features"
    return Grid(about, ["method", *(f"{size:,}" for size in sizes)], rows, notes=notes)


def difference_and_word(found: ClassComparison | None) -> str | None:
    """Format a comparison over classes: the mean difference and "better", "worse" or "n.s."."""
    return None if found is None else f"{found.difference:+.1f} {in_a_word(found.adjusted, found.difference)}"


def joint_grid(several: Sequence[Results], reference: str, metric: str = "ap_macro") -> Grid:
    """Table of the paper's procedure over the data sets of several suites together, beside the paper's count.

    Parameters
    ----------
    several : sequence of Results
        Results of suites with the experiments ``"sizes"`` and ``"classes"`` that have no data set in common.
    reference : str
        Name of the method whose successes are counted.
    metric : str
        Name of the metric, for the experiment ``"sizes"``.

    Returns
    -------
    Grid
        A row for each suite, one for all of them if there are several, and the paper's.
    """
    check_no_dataset_twice(several)
    for results in several:
        check_has_reference(results, reference)
    counts = []
    for results in several:
        verdict = paper_verdict(results, reference, metric)
        best = [title for title, is_best in zip(results.titles, verdict.best, strict=True) if is_best]
        counts.append(Count(f"suite {results.suite.name}", (verdict,), best))
    if len(several) > 1:
        together = tuple(verdict for one in counts for verdict in one.verdicts)
        counts.append(Count("together", together, [name for one in counts for name in one.best]))
    header = ["experiment", "best", "significantly", "more often by chance", "as often by chance"]
    notes = [
        f"By chance: the binomial tail for a probability of {PAPER_CHANCE:g} to be the best on one data set, which is "
        "the one that gives the paper's 4.82e-3; the paper does not state it. Significantly: every t-test of the paper "
        f"has p < {SIGNIFICANCE_LEVEL}; for the paper, that against the best other method, from the printed numbers.",
        *(f"Suite {results.suite.name}: {note}" for results in several[1:] for note in state_of(results)),
    ]
    rows = [*(one.row() for one in counts), paper_row()]
    header = [*header, "samples that pass as normal", "best on"]
    return Grid(f"The paper's procedure for {reference}", header, rows, notes=notes)


@dataclass(frozen=True)
class Count:
    """Successes of one experiment or of several together, for a row of `joint_grid`."""

    name: str
    verdicts: tuple[PaperVerdict, ...]
    best: list[str]

    def row(self) -> list[Any]:
        """Format the row."""
        normality = np.concatenate([verdict.normality.ravel() for verdict in self.verdicts])
        tested = normality[~np.isnan(normality)]
        normal = f"{100 * np.mean(tested > SIGNIFICANCE_LEVEL):.0f} %" if tested.size else None
        return count_row(self.name, joint_verdict(self.verdicts), normal, self.best)


def check_no_dataset_twice(several: Sequence[Results]) -> None:
    """Raise an error if two suites have a data set in common, which would count twice."""
    names = [name for results in several for name in results.datasets]
    if repeated := [name for i, name in enumerate(names) if name in names[:i]]:
        raise ValueError(f"the stores must have different data sets, got {repeated[0]} in both: choose by --datasets")


def count_row(name: str, found: JointVerdict, normal: str | None, best: Sequence[str]) -> list[Any]:
    """Format a count of successes."""
    counted = [f"{found.n_successes} of {found.n_trials}", found.n_significant]
    return [name, *counted, f"{found.tail:.2e}", f"{found.at_least:.2e}", normal, ", ".join(best) or "none"]


def paper_row() -> list[Any]:
    """Format the count of the paper, from the numbers that it prints."""
    found = printed_tests()
    best = [one for one in found if one.best]
    n_significant = sum(one.p_value < SIGNIFICANCE_LEVEL for one in best)
    tail, at_least = (binomial_tail(len(found), k, PAPER_CHANCE) for k in (len(best), len(best) - 1))
    names = [dataset_rows()[one.dataset].title for one in best]
    return count_row("the paper", JointVerdict(len(found), len(best), n_significant, tail, at_least), None, names)


def possible(title: str, make: Callable[..., Grid], *arguments: Any) -> Grid:
    """Make a table, or an empty one of this title with the reason why it is not possible."""
    try:
        return make(*arguments)
    except ValueError as error:
        return Grid(title, [""], [], notes=[f"Not possible: {error}."])


def ranks_grid(results: Results, metric: str) -> Grid:
    """Table of the mean ranks over the data sets, 1 is best."""
    found = rank_summary(results, metric)
    overall, apart = found.overall, found.critical_difference
    rows = [
        [found.methods[m], *(float(one.mean_ranks[m]) for one in found.by_size), float(overall.mean_ranks[m])]
        for m in np.argsort(overall.mean_ranks, kind="stable")
    ]
    differ = overall.F_p_value < SIGNIFICANCE_LEVEL
    verdict = "not all methods are equally good" if differ else "that all are equally good is not ruled out"
    notes = [
        f"Friedman's test: {verdict} (F = {overall.F:.1f}, p = {overall.F_p_value:.1e}, {overall.n_datasets} data sets)"
        f". Two ranks that differ by less than {apart:.1f} cannot be told apart (Nemenyi's test, level "
        f"{SIGNIFICANCE_LEVEL})."
    ]
    if found.of_own_size:
        notes.append(f"Left out, as they choose the number of features themselves: {', '.join(found.of_own_size)}.")
    if found.incomplete:
        notes.append(f"Left out, as they have no values on some data set: {', '.join(found.incomplete)}.")
    header = ["method", *(f"first {size}" for size in results.suite.protocol.sizes), "all"]
    return Grid(f"Mean rank over the data sets, 1 is best: {METRIC_TITLES[metric]}", header, rows, notes=notes)


def over_datasets_grid(results: Results, reference: str, metric: str) -> Grid:
    """Table of the reference against each method over the data sets."""
    rows = []
    for one in compare_over_datasets(results, reference, metric):
        effect = one.effects.mean
        has_interval = one.n_datasets >= MIN_DATASETS_FOR_INTERVALS
        rows.append(
            [
                results.methods[one.method],
                f"{one.wins} / {one.ties} / {one.losses}",
                effect.value,
                effect.low if has_interval else None,
                effect.high if has_interval else None,
                f"{one.p_value:.3f}",
                f"{one.adjusted:.3f}",
            ]
        )
    header = ["method", "better / equal / worse", "mean difference", "low", "high", "Wilcoxon p", "with Holm"]
    notes = [
        f"Differences in percentage points of {METRIC_TITLES[metric]}; low and high: 95 % interval (bootstrap, from "
        f"{MIN_DATASETS_FOR_INTERVALS} data sets on)."
    ]
    return Grid(f"{reference} against each method over the data sets", header, rows, notes=notes)


def on_datasets_grid(results: Results, reference: str, metric: str) -> Grid:
    """Table of the reference against each method on each data set."""
    found = compare_on_each_dataset(results, reference, metric)
    rows = []
    for m, method in enumerate(results.methods):
        if method != reference:
            pairs = zip(found.adjusted[:, m], found.difference[:, m], strict=True)
            rows.append([method, *(in_a_word(p, difference) for p, difference in pairs)])
    title = f"{reference} against each method on each data set: corrected resampled t-test, Holm over the table"
    notes = [
        f"better, worse: {reference} is significantly better or worse at the level {SIGNIFICANCE_LEVEL} "
        f"({METRIC_TITLES[metric]}); "
        "n.s.: not significant, which does not say that they are equal."
    ]
    return Grid(title, ["method", *results.titles], rows, notes=notes)


def in_a_word(p_value: float, difference: float) -> str:
    """Format a test as "better", "worse" or "n.s.", "-" if there is none."""
    if np.isnan(p_value):
        return "-"
    if p_value >= SIGNIFICANCE_LEVEL:
        return "n.s."
    return "better" if difference > 0 else "worse"


def paper_grid(results: Results, reference: str) -> Grid:
    """Table of the paper's procedure."""
    rows = []
    for metric, positive in (("ap_macro", "mean of the classes"), ("ap_majority", "class with most samples")):
        verdict = paper_verdict(results, reference, metric)
        best = [title for title, is_best in zip(results.titles, verdict.best, strict=True) if is_best]
        normal = float(np.nanmean(verdict.normality > SIGNIFICANCE_LEVEL))
        rows.append(
            [
                positive,
                f"{verdict.n_successes} of {verdict.n_trials}",
                int(verdict.significantly_best.sum()),
                f"{verdict.tail:.2e}",
                f"{100 * normal:.0f} %",
                ", ".join(best) or "none",
            ]
        )
    header = ["average precision", "best", "significantly", "binomial tail", "samples that pass as normal", "best on"]
    notes = [
        "The paper counts 7 of 10, tail 4.82e-3, and treats 20 splits x 5 sizes as 100 independent values.",
        "Binomial tail: probability of more successes than that, as the paper has it, and so 0 if all are successes. "
        "It is not a p-value.",
    ]
    return Grid(f"The paper's procedure for {reference}", header, rows, notes=notes)


def stability_grids(results: Results) -> list[Grid]:
    """Stability of the choice over the splits, by data set and by number of features."""
    found, sizes = choice_stability(results), results.suite.protocol.sizes
    by_set = [
        [method, *map(number, found.over_sizes[:, m]), mean(found.over_sizes[:, m])]
        for m, method in enumerate(results.methods)
    ]
    by_size = [
        [method, *(mean(found.by_size[:, m, s]) for s in range(len(sizes)))] for m, method in enumerate(results.methods)
    ]
    title = "Stability of the choice over the splits: 1 is always the same features, 0 is chance"
    return [
        Grid(f"{title}, mean of the sizes", ["method", *results.titles, "mean"], by_set, digits=2),
        Grid(f"{title}, mean of the data sets", ["method", *(f"first {n}" for n in sizes)], by_size, digits=2),
    ]


def family_stability_grid(results: Results, size: int) -> Grid:
    """Table of the stability of the families of the chosen features, by data set.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``. Its data sets are loaded, to compute correlations.
    size : int
        Number of the best features.

    Returns
    -------
    Grid
        Stability of features and of families, means of the data sets, and that of families on each data set.
    """
    families = family_choice_stability(results, size)
    of_size = results.suite.protocol.sizes.index(size)
    features = choice_stability(results).by_size[:, :, of_size]
    rows = [
        [method, mean(features[:, m]), mean(families[:, m]), *map(number, families[:, m])]
        for m, method in enumerate(results.methods)
    ]
    title = f"Stability of the first {size} features over the splits, and of their families: 1 is always the same"
    notes = [
        f"Families: a feature counts as chosen again if another split has it or one whose correlation with it is at "
        f"least {FAMILY_CORRELATION}; corrected for chance. The columns of data sets are those of families; -: "
        f"families are so large that more than {100 * MAX_CHANCE:.0f} % of the features are chosen again by chance."
    ]
    return Grid(title, ["method", "features", "families", *results.titles], rows, 2, notes)


def features_grids(results: Results, size: int, top: int = 20, by: str | None = None) -> list[Grid]:
    """Features that are chosen: for each data set, the fraction of the splits in which each is among the best.

    Parameters
    ----------
    results : Results
        Results of a suite with the experiment ``"sizes"``.
    size : int
        A feature counts as chosen if it is among the best ``size`` features.
    top : int
        Number of features to list.
    by : str, optional
        Method whose choice orders the list; by default the mean of all.

    Returns
    -------
    list of Grid
        One for each data set.
    """
    grids = []
    for found, title in zip(chosen_features(results, size, top, by), results.titles, strict=True):
        listed = zip(found.names, found.columns, found.fractions, strict=True)
        rows = [[name, column, *map(float, fractions)] for name, column, fractions in listed]
        about = f"{title}: fraction of the splits in which a feature is among the first {size}"
        grids.append(Grid(about, ["feature", "column", *results.methods], rows, digits=2))
    grids[-1] = with_notes(grids[-1], state_of(results))
    return grids
