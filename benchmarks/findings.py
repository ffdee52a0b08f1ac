"""Run all experiments, and write the tables and diagrams of docs/findings.md and docs/subsets.md.

    make findings                              # everything: about 5 hours of one core
    python benchmarks/findings.py run out      # the missing jobs only; stop it at any time, the same command continues
    python benchmarks/findings.py run out --methods fisher mi --jobs 1
    python benchmarks/findings.py left out     # what is missing, and how long it will take
    python benchmarks/findings.py tables out   # the tables only, from the stores in out

A job that fails or exceeds its time limit does not stop the run: the tables list it. The suites paper, modern and
novelty share a store, since they share jobs. The text between the tables is written by hand.
"""

import argparse
import csv
import io
import re
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from joblib import effective_n_jobs

from ilfs.benchmark import SUITES, Store, rank_diagram, run
from ilfs.benchmark.methods.method import RANDOM
from ilfs.benchmark.store.results import Results
from ilfs.methods import METHODS
from ilfs.report.benchmark import (
    classifier_grids,
    diagram_svg,
    family_stability_grid,
    joint_grid,
    quality_grid,
    statistics_of,
    tables_of,
)

FOLDER = Path(__file__).parent.parent / "docs" / "findings"
WIDEST = "dorothea"  # 100,000 columns: these methods would take minutes to hours for one order
SLOW_ON_WIDEST = ("inf_fs", "rfe", "cfs", "udfs", "llcfs")
VARIANTS = ("ilfs", "ilfs_novelty", "ilfs_plain", "ilfs_paper")
BASELINES = ("hall_cfs", "fastcan", "mrmrs", "extra_trees", "l1_path")
FAMILY_SIZE = 50  # features whose families are compared
# The other methods take hours for the classes of VOC.
DEEP_METHODS = ("ilfs", "inf_fs", "fisher", "mi", "relieff", "cfs", "ls", "ilfs_paper", RANDOM)
REPORT_SECONDS = 20  # between two lines of progress


@dataclass(frozen=True)
class Part:
    """Jobs of a suite that are run together."""

    suite: str
    store: str
    datasets: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    time_limit: float = 900.0  # seconds for one job

    def chosen(self, methods=None):
        """The suite with the data sets that are here; None if none of the methods is in it."""
        names = [one.name for one in SUITES[self.suite].methods]
        wanted = [name for name in self.methods or names if methods is None or name in methods]
        if not wanted:
            return None
        suite, missing = SUITES[self.suite].only(self.datasets, wanted).without_missing()
        for reason in missing.values():
            print(f"{self.suite}, left out: {reason}")
        return suite

    def store_path(self, folder):
        return folder / f"{self.store}.sqlite"


def parts():
    modern = SUITES["modern"]
    fast = tuple(one.name for one in modern.methods if one.name not in SLOW_ON_WIDEST)
    return (
        Part("known_answer", "known_answer"),
        Part("modern", "sizes", tuple(name for name in modern.datasets if name != WIDEST)),
        Part("modern", "sizes", (WIDEST,), fast),
        Part("paper", "sizes"),
        Part("novelty", "sizes"),
        Part("steps", "steps"),
        Part("timing", "timing"),
        Part("deep", "deep", methods=DEEP_METHODS, time_limit=7200.0),
    )


class Remaining:
    """The jobs that the parts lack, and the time that they will take by the times of those that are stored."""

    def __init__(self, folder, methods, n_jobs):
        self.n_processes = effective_n_jobs(n_jobs)
        self.taken = defaultdict(list)
        self.missing = {}
        for part in parts():
            self.missing[part] = self._missing(part, part.chosen(methods), folder)

    def _missing(self, part, suite, folder):
        if suite is None:
            return {}
        path = part.store_path(folder)
        jobs = [job for job in suite.with_threads(self.n_processes).jobs() if not self._is_counted(job)]
        if not path.is_file():
            return {job.key: (job.dataset, job.method.name) for job in jobs}
        with Store(path) as store:
            done = store.statuses()
            for row in store.rows([job.identity for job in jobs], done):
                self.add(row.dataset, row.method, (row.seconds or 0.0) + (row.seconds_evaluated or 0.0))
        return {job.key: (job.dataset, job.method.name) for job in jobs if job.key not in done}

    def _is_counted(self, job):
        """True if an earlier part has the job, too."""
        return any(job.key in keys for keys in self.missing.values())

    def add(self, dataset, method, seconds):
        self.taken[dataset, method].append(seconds)

    def finish(self, part, key):
        self.missing[part].pop(key, None)

    def seconds(self, part):
        """Estimated seconds of a part: by the same method on the same data set, else by the mean of the data set."""
        by_dataset = defaultdict(list)
        for (dataset, _), seconds in self.taken.items():
            by_dataset[dataset] += seconds
        overall = fmean(second for seconds in self.taken.values() for second in seconds) if self.taken else 1.0
        guesses = [
            fmean(self.taken.get(pair) or by_dataset.get(pair[0]) or [overall]) for pair in self.missing[part].values()
        ]
        return sum(guesses) / (1 if part.suite == "timing" else self.n_processes)

    def show(self):
        for part in parts():
            if self.missing[part]:
                print(f"{part.suite}: {len(self.missing[part]):,} jobs left, about {minutes(self.seconds(part))}")
        print(f"all: {self.n_jobs:,} jobs left, about {minutes(sum(map(self.seconds, parts())))}", flush=True)

    @property
    def n_jobs(self):
        return sum(map(len, self.missing.values()))


def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def run_all(folder, methods, n_jobs):
    """Compute the missing jobs of all parts."""
    folder.mkdir(parents=True, exist_ok=True)
    remaining = Remaining(folder, methods, n_jobs)
    remaining.show()
    for part in parts():
        if not remaining.missing[part]:
            continue
        on_step = partial(report, remaining, part, [time.monotonic()])
        path = part.store_path(folder)
        summary = run(part.chosen(methods), path, n_jobs=n_jobs, time_limit=part.time_limit, on_step=on_step)
        print(f"{part.suite}: {summary.computed} jobs computed, {summary.failed} of them failed", flush=True)


def report(remaining, part, last, step):
    """Print the state of the run now and then."""
    remaining.finish(part, step.job.key)
    if step.reason:
        print(f"failed: {step.job.dataset}, {step.job.method.name}, split {step.job.split}: {step.reason}", flush=True)
    if time.monotonic() - last[0] < REPORT_SECONDS:
        return
    last[0] = time.monotonic()
    later = sum(remaining.seconds(one) for one in parts() if one != part)
    left = "" if step.seconds_left is None else f", {minutes(step.seconds_left)} left"
    print(
        f"{part.suite}: {step.n_done:,} of {step.n_jobs:,} jobs{left}; all: {remaining.n_jobs:,} jobs, "
        f"{minutes((step.seconds_left or 0.0) + later)} left",
        flush=True,
    )


def results_of(part, folder, n_jobs=-1):
    """Read the results of a part, and print how many are missing."""
    suite = part.chosen().with_threads(effective_n_jobs(n_jobs))
    with Store(part.store_path(folder)) as store:
        results = Results.from_store(suite, store)
    if results.n_missing + results.n_failed:
        others = f", {results.n_other_code} of them have results of other code only" if results.n_other_code else ""
        print(f"{part.suite}: {results.n_missing} jobs are missing{others}, {results.n_failed} failed")
    return results


def write(name, text):
    (FOLDER / name).write_text(text.rstrip() + "\n", encoding="utf-8")


def short(text):
    """Leave out columns of a CSV that repeat others, and round its numbers to two decimals."""
    header, *rows = csv.reader(io.StringIO(text))
    kept = [place for place, name in enumerate(header) if name not in ("title", "n_features")]
    lines = [",".join(row[place] for place in kept) for row in (header, *rows) if row]
    return re.sub(r"-?\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}", "\n".join(lines))


def write_grids(name, grids):
    write(f"{name}.md", "\n\n".join(grid.render("markdown") for grid in grids))


def write_tables(folder):
    """Write all tables whose stores are there."""
    FOLDER.mkdir(exist_ok=True)
    known, modern, widest, paper, novelty, steps, timing, deep = parts()
    if known.store_path(folder).is_file():
        write_known_answer(results_of(known, folder))
    if paper.store_path(folder).is_file():
        attempt("paper", write_paper, results_of(paper, folder))
        attempt("modern", write_modern, results_of(modern, folder), results_of(widest, folder))
        attempt("novelty", write_novelty, results_of(novelty, folder))
    if steps.store_path(folder).is_file():
        write_steps(results_of(steps, folder))
    if timing.store_path(folder).is_file():
        write_grids("timing", tables_of(results_of(timing, folder)))
    if deep.store_path(folder).is_file():
        of_deep = results_of(deep, folder)
        write_deep(of_deep)
        if paper.store_path(folder).is_file():
            write_grids("both_experiments", [joint_grid([results_of(paper, folder), of_deep], "ilfs")])


def attempt(name, write_part, *arguments):
    """Write the tables of a part; print why not if too few of its results are stored for a test."""
    try:
        write_part(*arguments)
    except ValueError as error:
        print(f"{name}, left out: {error}")


def write_known_answer(results):
    found, _ = tables_of(results)
    write_grids("known_answer", [found])
    write("known_answer.csv", found.render("csv"))


def write_paper(results):
    """Write the tables of the paper's second experiment."""
    macro, majority, _, macro_difference, majority_difference, seconds = tables_of(results)
    ranks, over_datasets, on_datasets, procedure, by_set, by_size = statistics_of(results, "ilfs")
    for name, grids in {
        "macro": [macro],
        "majority": [majority],
        "difference": [macro_difference, majority_difference],
        "seconds": [seconds],
        "ranks": [ranks],
        "over_datasets": [over_datasets],
        "on_datasets": [on_datasets],
        "procedure": [procedure],
        "stability": [by_set, by_size],
        "stability_families": [family_stability_grid(results, FAMILY_SIZE)],
        "paper_classifiers": classifier_grids(results, "ilfs"),
    }.items():
        write_grids(name, grids)
    write("ranks.svg", diagram_svg(rank_diagram(results)))
    write("quality.csv", short(quality_grid(results).render("csv")))


def write_modern(results, widest):
    """Write the tables of all data sets: all methods, the paper's, variants of ILFS, and baselines."""
    *_, seconds = tables_of(results)
    write_grids("modern_seconds", [seconds])
    write("modern_quality.csv", short(quality_grid(results).render("csv")))
    write_grids("modern_families", [family_stability_grid(results, FAMILY_SIZE)])
    write_grids("modern_balanced_accuracy", classifier_grids(results, "ilfs", "balanced_accuracy"))
    for classifier in results.classifiers:
        write_grids(f"modern_macro_{classifier}", tables_of(results.by_classifier(classifier))[:1])
    attempt("all methods", write_group, "modern", results, ())
    attempt("variants", write_group, "variants", results.select(methods=VARIANTS), results.classifiers[:1])
    baselines = results.select(methods=(VARIANTS[0], *BASELINES))
    attempt("baselines", write_group, "baselines", baselines, results.classifiers[:1])
    twelve = results.select(methods=tuple(METHODS))
    attempt("twelve methods", write_group, "twelve", twelve, results.classifiers)
    write_grids("twelve_ranks", statistics_of(twelve, "ilfs")[:1])
    by_classifier = [tables_of(widest.by_classifier(name))[0] for name in widest.classifiers]
    write_grids("modern_widest", [*by_classifier, tables_of(widest)[-1]])


def write_group(name, results, with_diagram):
    """Write the table of a group of methods, all classifiers side by side, and diagrams for some classifiers."""
    write_grids(f"{name}_classifiers", classifier_grids(results, "ilfs"))
    for classifier in with_diagram:
        write(f"{name}_{classifier}.svg", diagram_svg(rank_diagram(results.by_classifier(classifier))))


def write_novelty(results):
    write_grids("novelty_classifiers", classifier_grids(results, results.methods[0]))
    write("novelty.svg", diagram_svg(rank_diagram(results)))


def write_steps(results):
    write_grids("steps", tables_of(results)[:1])
    write("steps.csv", quality_grid(results).render("csv"))


def write_deep(results):
    """Write the tables of the paper's first experiment."""
    grids, statistics = tables_of(results), statistics_of(results, "ilfs")
    for d, name in enumerate(results.datasets):
        by_class, by_size = grids[2 * d : 2 * d + 2]
        of_half, of_sizes = statistics[2 * d : 2 * d + 2]
        write_grids(name, [by_class])
        write_grids(f"{name}_sizes", [by_size])
        write_grids(f"{name}_tests", [of_half, of_sizes])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("run", "left", "tables"))
    parser.add_argument("folder", type=Path, help="where the stores are")
    parser.add_argument("--methods", nargs="+", help="run only these methods, wherever they occur")
    parser.add_argument("--jobs", type=int, default=-1, help="number of processes (-1: one per core)")
    options = parser.parse_args()
    if options.action == "run":
        run_all(options.folder, options.methods, options.jobs)
    elif options.action == "left":
        Remaining(options.folder, options.methods, options.jobs).show()
    else:
        write_tables(options.folder)


if __name__ == "__main__":
    main()
