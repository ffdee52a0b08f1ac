"""The results of a benchmark in words: which methods are best, which differences are significant, what they cost."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ilfs.arrays import Floats
from ilfs.benchmark import paper_tables as paper
from ilfs.benchmark.class_table import class_table
from ilfs.benchmark.comparison import (
    SIGNIFICANCE_LEVEL,
    compare_on_classes,
    compare_on_each_dataset,
    compare_over_datasets,
    paper_verdict,
    rank_summary,
)
from ilfs.benchmark.methods.method import RANDOM
from ilfs.benchmark.significance.values import nan_mean
from ilfs.benchmark.store.results import Results
from ilfs.report.benchmark.tables import median, seconds_of
from ilfs.words import counted, listed, seconds_text

N_NAMED_METHODS = 3  # methods that a sentence about the best names
Said = TypeVar("Said")


@dataclass(frozen=True)
class KeyFact:
    """A fact for the top of a page: what it is, the method, and its value."""

    label: str
    method: str
    value: str


@dataclass(frozen=True)
class Sentences:
    """The results in words, by subject; a subject about which nothing can be said is empty."""

    key_facts: tuple[KeyFact, ...] = ()
    best: tuple[str, ...] = ()
    significance: tuple[str, ...] = ()
    stability: tuple[str, ...] = ()
    time: tuple[str, ...] = ()


def sentences_of(results: Results, reference: str, metric: str, stability: Floats) -> Sentences:
    """Describe the results of a suite in words.

    Parameters
    ----------
    results : Results
        Results of a suite.
    reference : str
        Name of the method that is compared with all others.
    metric : str
        Name of the metric, for the experiment ``"sizes"``.
    stability : ndarray of shape (n_datasets, n_methods)
        Stability of the choice, for the experiment ``"sizes"``.

    Returns
    -------
    Sentences
        A test that is not possible with these results has no sentence.
    """
    if results.suite.experiment == "timing":
        facts = tuple(said(timing_facts, results))
        return Sentences(key_facts=facts, time=tuple(said(timing_sentences, results)))
    time = tuple(said(time_sentences, results))
    if results.suite.experiment == "classes":
        return Sentences(
            key_facts=(*said(class_facts, results), *said(time_facts, results)),
            best=tuple(said(best_on_classes, results)),
            significance=tuple(said(class_sentences, results, reference)),
            time=time,
        )
    tests = (rank_sentences, over_datasets_sentences, on_datasets_sentences, paper_sentences)
    first = [fact for make in (mean_facts, rank_facts) for fact in said(make, results, metric)]
    mean_stability = nan_mean(stability.T)
    return Sentences(
        key_facts=(
            *first,
            *best_fact("Most stable choice", results.methods, mean_stability, "{:z.2f} of 1"),
            *said(time_facts, results),
        ),
        best=tuple(said(best_sentences, results, reference, metric)),
        significance=tuple(sentence for make in tests for sentence in said(make, results, reference, metric)),
        stability=tuple(stability_sentences(results.methods, reference, mean_stability)),
        time=time,
    )


def said(make: Callable[..., Iterable[Said]], *arguments: Any) -> list[Said]:
    """Collect sentences or facts; none if the test behind them is not possible."""
    try:
        return list(make(*arguments))
    except ValueError:
        return []


def dataset_means(results: Results, metric: str) -> Floats:
    """Means in per cent over splits and sizes, of shape (n_datasets, n_methods), without data sets without results."""
    values = 100 * results.values_or_own(metric)
    means = nan_mean(values.reshape(*values.shape[:2], -1))
    return means[~np.isnan(means).all(axis=1)]


def mean_facts(results: Results, metric: str) -> Iterable[KeyFact]:
    """Find the method with the best mean; one that lacks a data set has none."""
    yield from best_fact("Best mean", results.methods, dataset_means(results, metric).mean(axis=0), "{:.1f} %")


def best_fact(label: str, methods: Sequence[str], values: Floats, form: str) -> Iterable[KeyFact]:
    """Find the method with the largest value, if there are several methods."""
    if len(methods) > 1 and not np.isnan(values).all():
        best = int(np.nanargmax(values))
        yield KeyFact(label, methods[best], form.format(values[best]))


def rank_facts(results: Results, metric: str) -> Iterable[KeyFact]:
    """Find the method with the best mean rank."""
    found = rank_summary(results, metric)
    best = int(np.argmin(found.overall.mean_ranks))
    yield KeyFact(
        "Best mean rank", found.methods[best], f"{found.overall.mean_ranks[best]:.1f} of {len(found.methods)}"
    )


def time_facts(results: Results) -> Iterable[KeyFact]:
    """Find the fastest method on the data sets that all methods have."""
    methods, total = total_seconds(results)
    if len(methods) > 1:
        best = int(np.argmin(total))
        yield KeyFact("Fastest", methods[best], f"{seconds_text(total[best])} s")


def class_facts(results: Results) -> Iterable[KeyFact]:
    """Find the method with the best mean of the classes of each data set."""
    for name, title in zip(results.datasets, results.titles, strict=True):
        means = nan_mean(class_table(results, name).values.T)
        yield from best_fact(f"Best on {title}", results.methods, means, "{:.1f} %")


def timing_facts(results: Results) -> Iterable[KeyFact]:
    """Find the fastest method of the timing experiment."""
    seconds = nan_mean(results.values("seconds", [results.suite.protocol.columns])[0, :, :, 0])
    for fact in best_fact("Fastest", results.methods, -seconds, "{}"):
        yield KeyFact(fact.label, fact.method, f"{seconds_text(float(np.nanmin(seconds)))} s")


def best_sentences(results: Results, reference: str, metric: str) -> Iterable[str]:
    """Name the methods with the best means, and on how many data sets the reference is the best."""
    means = dataset_means(results, metric)
    overall = means.mean(axis=0)  # NaN for a method that lacks a data set: its mean would not be comparable
    over = f"mean over {len(means)} data sets" if len(results.datasets) > 1 else f"mean on {results.titles[0]}"
    yield from ranked_sentence(results.methods, overall, over)
    own = means[:, results.methods.index(reference)]
    there = ~np.isnan(own)
    if len(results.methods) > 1 and len(results.datasets) > 1 and there.any():
        n_best = int(np.sum(own[there] == np.nanmax(means[there], axis=1)))
        yield f"{reference} has the best mean, alone or with others, on {n_best} of {int(there.sum())} data sets."


def ranked_sentence(methods: Sequence[str], values: Floats, what: str) -> Iterable[str]:
    """Name the first methods by a value in per cent."""
    order = [m for m in np.argsort(-values, kind="stable") if not np.isnan(values[m])]
    if order:
        first = [f"{methods[m]} ({values[m]:.1f} %)" for m in order[:N_NAMED_METHODS]]
        after = f", followed by {listed(first[1:])}" if len(first) > 1 else ""
        yield f"Best {what}: {first[0]}{after}."


def best_on_classes(results: Results) -> Iterable[str]:
    """Name the methods with the best mean of the classes on each data set, with most and with fewest features."""
    for name, title in zip(results.datasets, results.titles, strict=True):
        sizes = results.class_sizes(name)
        for size in dict.fromkeys((sizes[-1], sizes[0])):
            means = nan_mean(class_table(results, name, size).values.T)
            what = f"mean of the classes of {title} with {size:,} of {results.facts[name].n_features:,} features"
            yield from ranked_sentence(results.methods, means, what)


def rank_sentences(results: Results, _: str, metric: str) -> Iterable[str]:
    """Say which method has the best mean rank, and what Friedman's and Nemenyi's tests say."""
    found = rank_summary(results, metric)
    ranks, overall = found.overall.mean_ranks, found.overall
    first = int(np.argmin(ranks))
    alike = [
        found.methods[m]
        for m in np.argsort(ranks, kind="stable")
        if m != first and ranks[m] - ranks[first] < found.critical_difference
    ]
    yield f"{found.methods[first]} has the best mean rank, {ranks[first]:.1f} of {len(ranks)} methods."
    if overall.F_p_value < SIGNIFICANCE_LEVEL:
        yield f"The methods are not all equally good (Friedman's test, p = {overall.F_p_value:.1e})."
    else:
        yield f"It is not ruled out that all methods are equally good (Friedman's test, p = {overall.F_p_value:.2f})."
        return
    if alike:
        yield (
            f"By mean ranks, {listed(alike)} cannot be told apart from {found.methods[first]} (Nemenyi's test, "
            f"critical difference {found.critical_difference:.1f})."
        )


def over_datasets_sentences(results: Results, reference: str, metric: str) -> Iterable[str]:
    """Say from which methods the reference differs significantly over the data sets."""
    found = compare_over_datasets(results, reference, metric)
    groups: dict[str, list[str]] = {"better than": [], "worse than": []}
    for one in found:
        if one.adjusted < SIGNIFICANCE_LEVEL:
            groups["better than" if one.effects.mean.value > 0 else "worse than"].append(results.methods[one.method])
    test = "Wilcoxon's test with Holm's correction"
    parts = [f"{word} {listed(names)}" for word, names in groups.items() if names]
    if parts:
        yield f"Over the data sets, {reference} is significantly {listed(parts)} ({test})."
        return
    # The smallest p-value of Wilcoxon's test on n pairs is 2 / 2**n; Holm multiplies the smallest of m p-values by m.
    n_datasets = max(one.n_datasets for one in found)
    least = 2.0 ** (1 - n_datasets) * len(found)
    few = f"; {n_datasets} data sets are too few for {counted(len(found), 'comparison')}"
    yield (
        f"Over the data sets, no significant difference between {reference} and another method can be shown "
        f"({test}{few if least >= SIGNIFICANCE_LEVEL else ''})."
    )


def on_datasets_sentences(results: Results, reference: str, metric: str) -> Iterable[str]:
    """Count the data sets and methods for which the reference is significantly better or worse."""
    found = compare_on_each_dataset(results, reference, metric)
    tested = ~np.isnan(found.adjusted)
    if not tested.any():
        return
    is_significant = tested & (np.nan_to_num(found.adjusted, nan=1.0) < SIGNIFICANCE_LEVEL)
    better, worse = (int(np.sum(is_significant & (sign * found.difference > 0))) for sign in (1, -1))
    yield (
        f"On single data sets, {reference} is significantly better in {better} and significantly worse in {worse} of "
        f"{int(tested.sum())} comparisons (corrected resampled t-test with Holm's correction)."
    )


def paper_sentences(results: Results, reference: str, metric: str) -> Iterable[str]:
    """Count the successes of the paper's procedure."""
    verdict = paper_verdict(results, reference, metric)
    yield (
        f"By the paper's procedure {reference} is the best on {verdict.n_successes} of {verdict.n_trials} data sets, "
        f"on {int(verdict.significantly_best.sum())} of them significantly; the paper counts 7 of 10."
    )


def class_sentences(results: Results, reference: str) -> Iterable[str]:
    """Say from which methods the reference differs significantly over the classes of each data set."""
    for name, title in zip(results.datasets, results.titles, strict=True):
        yield from said(sentences_on_classes, results, name, title, reference)


def sentences_on_classes(results: Results, dataset: str, title: str, reference: str) -> Iterable[str]:
    """Say from which methods the reference differs significantly over the classes of a data set."""
    found = [one for one in compare_on_classes(results, dataset, reference) if one.adjusted < SIGNIFICANCE_LEVEL]
    words = {True: "better than", False: "worse than"}
    parts = [
        f"{word} {listed(names)}"
        for sign, word in words.items()
        if (names := [results.methods[one.method] for one in found if (one.difference > 0) == sign])
    ]
    size = results.class_sizes(dataset)[-1]
    where = f"Over the classes of {title} with {size:,} features"
    test = "Wilcoxon's test with Holm's correction"
    if parts:
        yield f"{where}, {reference} is significantly {listed(parts)} ({test})."
    else:
        yield f"{where}, no significant difference between {reference} and another method can be shown ({test})."


def stability_sentences(methods: Sequence[str], reference: str, stability: Floats) -> Iterable[str]:
    """Name the method with the most stable choice, and the stability of the reference."""
    if np.isnan(stability).all():
        return
    first = int(np.nanargmax(stability))
    yield (
        f"{methods[first]} has the most stable choice: {stability[first]:z.2f}, where 1 is always the same features "
        "and 0 is chance."
    )
    own = stability[methods.index(reference)]
    if methods[first] != reference and not np.isnan(own):
        yield f"The stability of {reference} is {own:z.2f}."


def time_sentences(results: Results) -> Iterable[str]:
    """Name the methods that took the least and the most time on the data sets that all methods have."""
    methods, total = total_seconds(results)
    if len(methods) > 1:
        slow, fast = (int(pick(total)) for pick in (np.argmax, np.argmin))
        missing = any(row is None or not row.is_done for row in results.rows.ravel())
        yield (
            f"To order the features of all data sets once, {methods[fast]} took {seconds_text(total[fast])} s and "
            f"{methods[slow]} {seconds_text(total[slow])} s"
            f"{'; data sets that a method lacks are not counted' if missing else ''}."
        )


def total_seconds(results: Results) -> tuple[list[str], Floats]:
    """Sum of the median seconds over the data sets that all methods have, without the random order."""
    chosen = [m for m, name in enumerate(results.methods) if name != RANDOM]
    seconds = np.vectorize(seconds_of, otypes=[float])(results.rows)[:, chosen]
    usual = np.array([[median(one) for one in of_set] for of_set in seconds], dtype=float)
    is_complete = ~np.isnan(usual).any(axis=1)
    names = [results.methods[m] for m in chosen] if is_complete.any() else []
    return names, usual[is_complete].sum(axis=0)


def timing_sentences(results: Results) -> Iterable[str]:
    """Say how many methods are faster than in the paper, or name the fastest if the sizes differ."""
    protocol = results.suite.protocol
    seconds = nan_mean(results.values("seconds", [protocol.columns])[0, :, :, 0])
    there = [(seconds[m], name) for m, name in enumerate(results.methods) if not np.isnan(seconds[m])]
    if not there:
        return
    fast, slow = min(there), max(there)
    slowest = f"{slow[1]} the slowest with {seconds_text(slow[0])} s"
    yield f"{fast[1]} is the fastest with {seconds_text(fast[0])} s, {slowest}."
    if (protocol.rows, protocol.columns) == (10_000, 5_000):
        pairs = [(ours, paper.seconds()[name]) for ours, name in there if name in paper.seconds()]
        n_faster = sum(ours < printed for ours, printed in pairs)
        yield f"{n_faster} of {len(pairs)} methods are faster than in the paper, which used another computer."
