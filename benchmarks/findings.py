"""The tables and the diagram of docs/findings.md, from the results of the suites paper, deep and timing.

    make findings                       # runs what is missing of the suites (about an hour and a half), then this
    python benchmarks/findings.py out   # the tables only, from out/paper.sqlite, out/deep.sqlite, out/timing.sqlite

What stands between the tables in docs/findings.md is written by hand.
"""

import argparse
from pathlib import Path

from joblib import effective_n_jobs

from ilfs.benchmark import SUITES, Store
from ilfs.benchmark.comparison import rank_diagram, statistics_of
from ilfs.benchmark.diagram import diagram_svg
from ilfs.benchmark.results import Results
from ilfs.benchmark.tables import quality_grid, tables_of

FOLDER = Path(__file__).parent.parent / "docs" / "findings"


def results_of(name, folder):
    suite = SUITES[name].with_threads(effective_n_jobs(-1))  # as the commands of make findings have it
    with Store(folder / f"{name}.sqlite") as store:
        results = Results.of(suite, store)
    if results.n_missing:
        print(f"suite {name}: {results.n_missing} of {results.rows.size} cells are missing")
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
    if (folder / "deep.sqlite").is_file():
        write_grids("deep", tables_of(results_of("deep", folder)))
    if (folder / "timing.sqlite").is_file():
        write_grids("timing", tables_of(results_of("timing", folder)))


if __name__ == "__main__":
    main()
