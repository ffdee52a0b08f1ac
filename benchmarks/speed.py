"""Measure the speed and memory of ILFS relative to other functions in the same run.

    python benchmarks/speed.py            # everything, about three minutes
    python benchmarks/speed.py job start  # some parts: job layouts redundancy memory growth shapes start
                                          # commands transposed

The job is the paper's: 10,000 samples x 5,000 features, uniform on [0, 1000], 2 classes. Every time is the median of
several runs after a first run that is not counted. The functions that are compared take turns, so that other load on
the computer slows all of them alike.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from measure import fit_in_own_process, job, run_python, seconds, take_turns
from sklearn.feature_selection import f_classif
from threadpoolctl import threadpool_limits

from ilfs import ILFS, FisherScore
from ilfs.preparing import prepare

ROWS, COLUMNS, THREADS, CANDIDATES = 10_000, 5_000, 2, 1000


def as_written(X, y, n_tokens=6, damping=0.9):
    """Score by the formulas of the paper: arrays of the size of X, and the inverse of a features x features matrix.

    The spectral radius is computed by its closed form: an eigenvalue solver would only add to the time.
    """
    means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
    distances = np.array([(X - mean) ** 2 for mean in means])
    rho = 1 - np.take_along_axis(distances, y[None, :, None], axis=0)[0] / distances.sum(axis=0)
    tokens = np.minimum((rho * n_tokens).astype(int), n_tokens - 1)
    Q = np.array([np.bincount(column, minlength=n_tokens) for column in tokens.T])
    odd = np.arange(1, 2 * n_tokens, 2)
    topics, p = np.array([odd, odd[::-1]]) / odd.sum(), np.full(X.shape[1], 0.5)
    for _ in range(50):
        joint = np.stack([topics[0] * p[:, None], topics[1] * (1 - p[:, None])])
        expected = Q * joint / joint.sum(axis=0)
        topics = expected.sum(axis=1) / expected.sum(axis=(1, 2))[:, None]
        p = expected[0].sum(axis=1) / Q.sum(axis=1)
    A = np.outer(p, p)
    return (np.linalg.inv(np.eye(p.size) - damping / (p @ p) * A) - np.eye(p.size)).sum(axis=1)


def show_job():
    X, y = job()
    functions = {
        "read twice (numpy sum)": lambda: (X.sum(), X.sum()),
        "scikit-learn f_classif": lambda: f_classif(X, y),
        f"ILFS(redundancy=None, n_jobs={THREADS})": lambda: ILFS(redundancy=None, n_jobs=THREADS).fit(X, y),
        "ILFS(redundancy=None, n_jobs=1)": lambda: ILFS(redundancy=None, n_jobs=1).fit(X, y),
        f"ILFS(n_jobs={THREADS})": lambda: ILFS(n_jobs=THREADS).fit(X, y),
        "ILFS(n_jobs=1)": lambda: ILFS(n_jobs=1).fit(X, y),
    }
    median, first = take_turns(functions, repeats=9)
    ours = median[f"ILFS(redundancy=None, n_jobs={THREADS})"]
    written = seconds(lambda: as_written(X, y))
    print(f"\n| {ROWS:,} x {COLUMNS:,}, 2 classes | seconds | first call | relative to the third |")
    print("|---|---|---|---|")
    for name, value in median.items():
        print(f"| {name} | {value:.3f} | {first[name]:.3f} | {value / ours:.1f} |")
    print(f"| the algorithm as written, once | {written:.3f} | | {written / ours:.0f} |")


def layouts(X):
    """Return functions that make tables of the same values in different layouts of memory."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = {f"f{j}": X[:, j] for j in range(X.shape[1])}
    return {
        "numpy, C order": lambda: X,
        "numpy, Fortran order": lambda: np.asfortranarray(X),
        "pandas, one array": lambda: pd.DataFrame(X, columns=list(columns)),
        "pandas, an array per column": lambda: pd.concat(
            [pd.Series(values.copy(), name=name) for name, values in columns.items()], axis=1
        ),
        "polars": lambda: pl.DataFrame(columns),
        "pyarrow": lambda: pa.table(columns),
    }


def show_layouts():
    for dtype in ("float64", "float32"):
        show_layouts_of(dtype)


def show_layouts_of(dtype, base="numpy, C order"):
    """Compare the layouts of the job by ratios of medians of wall time, and of CPU time of all threads."""
    X, y = job()
    X = X.astype(dtype)
    tables = {name: make() for name, make in layouts(X).items()}
    fits = {name: lambda t=table: ILFS(redundancy=None, n_jobs=THREADS).fit(t, y) for name, table in tables.items()}
    fisher = {name: lambda t=table: FisherScore(n_jobs=THREADS).fit(t, y) for name, table in tables.items()}
    (wall, _), (cpu, _) = take_turns(fits, 9), take_turns(fits, 9, time.process_time)
    fisher_cpu, _ = take_turns(fisher, 9, time.process_time)
    print(f"\n| {ROWS:,} x {COLUMNS:,}, {dtype} | seconds | ratio | CPU ratio | CPU ratio of FisherScore | peak MB |")
    print("|---|---|---|---|---|---|")
    reference = fits[base]().scores_
    for name, fit in fits.items():
        assert np.array_equal(fit().scores_, reference), f"{name}: other scores"
        ratios = " | ".join(f"{times[name] / times[base]:.2f}" for times in (wall, cpu, fisher_cpu))
        print(f"| {name} | {wall[name]:.3f} | {ratios} | {layout_peak(name, dtype)} |")


def layout_peak(name, dtype):
    """Return the peak megabytes of a fit beyond its table, formatted."""
    table = f"""
from speed import layouts
X, y = job({ROWS}, {COLUMNS})
X = X.astype({dtype!r})
small = layouts(X[:, :2000].copy())[{name!r}]()
method().fit(small, y)  # load the kernels of this layout before the measurement
X = layouts(X)[{name!r}]()
del small
"""
    _, peak = fit_in_own_process(f"ILFS(redundancy=None, n_jobs={THREADS})", table)
    return "" if peak is None else f"{peak:.0f}"


def show_redundancy():
    X, y = job()
    candidates = np.ascontiguousarray(X[:, :CANDIDATES])
    print(f"\n| {ROWS:,} x {COLUMNS:,} | seconds | more than without redundancy | relative to the product |")
    print("|---|---|---|---|")
    for threads in (1, THREADS):
        with threadpool_limits(threads):
            functions = {"product": lambda: candidates.T @ candidates} | {
                how: lambda how=how, n=threads: ILFS(redundancy=how, n_candidates=CANDIDATES, n_jobs=n).fit(X, y)
                for how in (None, "novelty", "gain")
            }
            median, _ = take_turns(functions, repeats=7)
        product, plain = median.pop("product"), median[None]
        of_threads = "1 thread" if threads == 1 else f"{threads} threads"
        print(f"| product of {CANDIDATES:,} columns with themselves, {of_threads} | {product:.3f} | | 1.0 |")
        for how, value in median.items():
            more = value - plain
            print(f"| redundancy={how!r}, {of_threads} | {value:.3f} | {more:.3f} | {more / product:.1f} |")


def show_memory():
    options = ("redundancy=None, ", "shapes=False, ", "")
    for selector in (f"ILFS({one}n_jobs={THREADS})" for one in options):
        _, peak = fit_in_own_process(selector, f"X, y = job({ROWS}, {COLUMNS})")
        if peak is None:
            print("\nPeak memory is measured on Linux only.")
            return
        data = ROWS * COLUMNS * 8 / 2**20
        print(f"\nPeak memory of {selector} on that job over the {data:.0f} MB of data: {peak:.1f} MB")


def show_growth():
    print("\n| seconds, 2 threads, from 5,000 x 2,500 | x 1 | x 2 | x 4 | x 8 | exponent |")
    print("|---|---|---|---|---|---|")
    for n_classes in (2, 20):
        for what in ("rows", "columns"):
            times = []
            for factor in (1, 2, 4, 8):
                size = {"rows": 5_000, "columns": 2_500}
                size[what] *= factor
                X, y = job(**size, n_classes=n_classes)
                fit = {"fit": lambda X=X, y=y: ILFS(redundancy=None, n_jobs=THREADS).fit(X, y)}
                times.append(take_turns(fit, 9)[0]["fit"])
            exponent = np.polyfit(np.log([1, 2, 4, 8]), np.log(times), 1)[0]
            columns = " | ".join(f"{t:.4f}" for t in times)
            print(f"| {what}, {n_classes} classes | {columns} | {exponent:.2f} |")


def show_shapes():
    print("\n| shape | seconds | read twice (numpy sum) | ratio |\n|---|---|---|---|")
    for rows, columns in ((1_000_000, 100), (100, 1_000_000), (60, 12_000)):
        X, y = job(rows, columns)
        median, _ = take_turns(
            {"ILFS": lambda X=X, y=y: ILFS(n_jobs=THREADS).fit(X, y), "sum": lambda X=X: (X.sum(), X.sum())}, 5
        )
        ratio = median["ILFS"] / median["sum"]
        print(f"| {rows:,} x {columns:,} | {median['ILFS']:.4f} | {median['sum']:.4f} | {ratio:.1f} |")


def show_start():
    fit = "import numpy as np; from ilfs import ILFS; rng = np.random.default_rng(0)\n"
    fit += "ILFS().fit(rng.normal(size=(60, 100)), rng.integers(0, 2, 60))"
    programs = {"import": "import sklearn.feature_selection", "ilfs": "import ilfs", "fit": fit}
    times = {name: [] for name in programs}
    for _ in range(9):
        for name, code in programs.items():
            times[name].append(seconds_until_done(code))
    median = {name: float(np.median(t[1:])) for name, t in times.items()}
    with tempfile.TemporaryDirectory() as empty:
        cold = seconds_until_done(fit, NUMBA_CACHE_DIR=empty)
    print("\n| a fresh process, until it is done | seconds | relative to the first |\n|---|---|---|")
    for title, value in (
        ("import sklearn.feature_selection", median["import"]),
        ("import ilfs", median["ilfs"]),
        ("import and first fit, kernels compiled before", median["fit"]),
        ("import and first fit, nothing compiled", cold),
    ):
        print(f"| {title} | {value:.2f} | {value / median['import']:.2f} |")


def show_commands():
    commands = {"python -c pass": ["-c", "pass"]} | {
        f"ilfs {words}": ["-m", "ilfs", *words.split()] for words in ("--version", "methods", "bench --help")
    }
    functions = {name: lambda words=words: run(sys.executable, *words) for name, words in commands.items()}
    median, _ = take_turns(functions, 15)
    print("\n| a command that answers at once | seconds | relative to an empty Python |\n|---|---|---|")
    for name, value in median.items():
        print(f"| `{name}` | {value:.3f} | {value / median['python -c pass']:.1f} |")


def run(*words):
    subprocess.run(words, capture_output=True, check=True)


def show_transposed():
    """Show what genes in rows cost: 60 samples x 12,000 genes, with a sample sheet in another order."""
    rng = np.random.default_rng(0)
    genes, samples = [f"g{j}" for j in range(12_000)], [f"s{i}" for i in range(60)]
    table = pd.DataFrame(rng.normal(size=(60, 12_000)).round(4), samples, genes)
    kind = pd.Series(np.repeat(["tumour", "normal"], 30), samples, name="kind")
    with tempfile.TemporaryDirectory() as folder:
        plain, turned, sheet = (Path(folder) / name for name in ("plain.csv", "turned.csv", "sheet.csv"))
        table.assign(kind=kind).to_csv(plain, index_label="sample")
        table.T.to_csv(turned, index_label="gene")
        kind.sample(frac=1, random_state=0).to_csv(sheet, index_label="sample")
        functions = {
            "pandas.read_csv, samples in rows": lambda: pd.read_csv(plain, index_col=0),
            "prepare, samples in rows": lambda: prepare(plain, target="kind"),
            "prepare, genes in rows, with a sheet": lambda: prepare(turned, samples=sheet, target="kind"),
        }
        median, _ = take_turns(functions, 5)
    first = next(iter(median.values()))
    print("\n| 60 samples x 12,000 genes as text | seconds | relative to pandas |\n|---|---|---|")
    for name, value in median.items():
        print(f"| {name} | {value:.2f} | {value / first:.2f} |")


def seconds_until_done(code, **environment):
    """Return the seconds from the start of a fresh interpreter to the end of the program, without its cleanup."""
    start = time.time()
    return float(run_python(code + "\nimport time; print(time.time())", **environment)) - start


PARTS = {
    "job": show_job,
    "layouts": show_layouts,
    "redundancy": show_redundancy,
    "memory": show_memory,
    "growth": show_growth,
    "shapes": show_shapes,
    "start": show_start,
    "commands": show_commands,
    "transposed": show_transposed,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART", help=" ".join(PARTS))
    parts = parser.parse_args().parts
    if unknown := set(parts) - set(PARTS):
        parser.error(f"PART must be one of {', '.join(PARTS)}, got {', '.join(unknown)}")
    for name in parts:
        PARTS[name]()


if __name__ == "__main__":
    main()
