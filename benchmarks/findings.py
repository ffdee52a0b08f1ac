"""Write the tables and diagrams of docs/findings.md and docs/subsets.md from the results of the suites.

    make findings                       # runs the missing jobs of the suites (hours), then this script
    python benchmarks/findings.py out   # the tables only, from out/{sizes,steps,deep,timing}.sqlite

The suites paper, modern and novelty share a store, since they share jobs. The text between the tables is written by
hand.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from joblib import effective_n_jobs

from ilfs.benchmark import SUITES, Store, rank_diagram
from ilfs.benchmark.methods.method import RANDOM
from ilfs.benchmark.store.results import Results
from ilfs.benchmark.suites.built_in import PAPER_DATASETS
from ilfs.methods import METHODS
from ilfs.report.benchmark import diagram_svg, joint_grid, quality_grid, statistics_of, tables_of

FOLDER = Path(__file__).parent.parent / "docs" / "findings"
STORES = {
    "paper": "sizes",
    "modern": "sizes",
    "novelty": "sizes",
    "steps": "steps",
    "deep": "deep",
    "timing": "timing",
}
SLOW_ON = {"dorothea": ("inf_fs", "rfe", "cfs", "udfs", "llcfs")}  # 100,000 columns: minutes to hours for one order
SLOW = ("mrmr",)  # slow on all wide tables: some sets and splits are enough for a comparison
SLOW_SETS, SLOW_SPLITS = (*PAPER_DATASETS, "srbct", "glioma"), 5
NOVEL_SPLITS = 5  # ILFS with novelty has more, but all methods of a table must have the same number


def results_of(name, folder, datasets=None, methods=None, n_splits=None):
    """Read the results of a suite, and print how many are missing."""
    suite = SUITES[name].only(datasets, methods)
    suite = suite if n_splits is None else replace(suite, n_splits=n_splits)
    suite = suite.with_threads(effective_n_jobs(-1))  # the same setting as in the commands of make findings
    with Store(folder / f"{STORES[name]}.sqlite") as store:
        results = Results.from_store(suite, store)
    if results.n_missing:
        others = f", {results.n_other_code} of them have results of other code only" if results.n_other_code else ""
        print(f"suite {name}: {results.n_missing} of {results.rows.size} jobs are missing{others}")
    return results


def write(name, text):
    (FOLDER / name).write_text(text.rstrip() + "\n", encoding="utf-8")


def write_grids(name, grids):
    write(f"{name}.md", "\n\n".join(grid.render("markdown") for grid in grids))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the stores are")
    folder = parser.parse_args().folder
    FOLDER.mkdir(exist_ok=True)
    if (folder / "sizes.sqlite").is_file():
        write_paper(folder)
        write_subsets(folder)
    if (folder / "steps.sqlite").is_file():
        steps = results_of("steps", folder)
        write_grids("steps", tables_of(steps)[:1])
        write("steps.csv", quality_grid(steps).render("csv"))
    if (folder / "deep.sqlite").is_file():
        write_deep(folder)
    if (folder / "timing.sqlite").is_file():
        write_grids("timing", tables_of(results_of("timing", folder)))


def write_paper(folder):
    """Write the tables of the paper's second experiment."""
    paper = results_of("paper", folder)
    macro, majority, printed, macro_difference, majority_difference, seconds = tables_of(paper)
    write_grids("macro", [macro])
    write_grids("majority", [majority])
    write_grids("paper", [printed])
    write_grids("difference", [macro_difference, majority_difference])
    write_grids("seconds", [seconds])
    ranks, over_datasets, on_datasets, procedure, by_set, by_size = statistics_of(paper, "ilfs")
    write_grids("ranks", [ranks])
    write_grids("over_datasets", [over_datasets])
    write_grids("on_datasets", [on_datasets])
    write_grids("procedure", [procedure])
    write_grids("stability", [by_set, by_size])
    write("ranks.svg", diagram_svg(rank_diagram(paper)))
    write("quality.csv", quality_grid(paper).render("csv"))


def write_deep(folder):
    """Write the tables of the paper's first experiment, and the count over both experiments."""
    deep = results_of("deep", folder)
    grids = tables_of(deep)
    statistics = statistics_of(deep, "ilfs")
    for d, name in enumerate(deep.datasets):
        by_class, by_size = grids[2 * d : 2 * d + 2]
        of_half, of_sizes = statistics[2 * d : 2 * d + 2]
        write_grids(name, [by_class])
        write_grids(f"{name}_sizes", [by_size])
        write_grids(f"{name}_tests", [of_half, of_sizes])
    if (folder / "sizes.sqlite").is_file():
        write_grids("both_experiments", [joint_grid([results_of("paper", folder), deep], "ilfs")])


def write_subsets(folder):
    """Write the tables of all data sets: methods, methods with novelty, variants of ILFS, and baselines."""
    modern = SUITES["modern"]
    twelve, baselines = list(METHODS), ["hall_cfs", "fastcan", "extra_trees", "l1_path"]
    variants = ["ilfs", "ilfs_novelty", "ilfs_plain", "ilfs_paper"]
    without_slow = [name for name in modern.datasets if name not in SLOW_ON]
    everything = results_of("modern", folder, without_slow, [*twelve, *variants[1:], *baselines, RANDOM])
    macro, *_, seconds = tables_of(everything)
    ranks, over_datasets, *_ = statistics_of(everything, "ilfs")
    for name, grid in (("macro", macro), ("seconds", seconds), ("ranks", ranks), ("over_datasets", over_datasets)):
        write_grids(f"modern_{name}", [grid])
    write("modern_quality.csv", quality_grid(everything).render("csv"))
    novel = results_of("novelty", folder, without_slow, n_splits=NOVEL_SPLITS)
    write_grids("novelty_macro", tables_of(novel)[:1])
    for name, results in (
        ("modern", everything),
        ("twelve", results_of("modern", folder, without_slow, twelve)),
        ("variants", results_of("modern", folder, modern.datasets, variants)),
        ("baselines", results_of("modern", folder, modern.datasets, [*variants[:1], *baselines])),
        ("novelty", novel),
    ):
        write(f"{name}.svg", diagram_svg(rank_diagram(results)))
        write_grids(f"{name}_ranks", statistics_of(results, results.methods[0])[:1])
    fast = [name for name in twelve if name not in SLOW_ON["dorothea"]]
    widest = results_of("modern", folder, list(SLOW_ON), [*fast, *variants[1:], *baselines, RANDOM])
    write_grids("modern_widest", [tables_of(widest)[0], tables_of(widest)[-1]])
    slow = results_of("modern", folder, SLOW_SETS, ["ilfs", *SLOW], n_splits=SLOW_SPLITS)
    write_grids("modern_slow", [tables_of(slow)[0], tables_of(slow)[-1]])


if __name__ == "__main__":
    main()
