"""Time all twelve methods on the paper's timing job (its Table 2): seconds, peak memory, growth with size.

    python benchmarks/timing.py                                 # 10,000 x 5,000, all methods, two threads
    python benchmarks/timing.py fisher mi                       # some methods
    python benchmarks/timing.py --rows 2000 --columns 1000      # another size, without the paper's times
    python benchmarks/timing.py --limit 600                     # stop a fit after this many seconds

Every fit has its own process, with kernels already compiled. Growth exponents are fitted to the seconds at an eighth,
a quarter and a half of the rows, with a quarter of the columns, and the other way round.
"""

import argparse
import subprocess
import time

import numpy as np
from measure import fit_in_own_process, job, take_turns

from ilfs import METHODS
from ilfs.benchmark.paper_tables import seconds

PAPER = seconds()  # Table 2: MATLAB on an i7 at 3.4 GHz
ROWS, COLUMNS = 10_000, 5_000


def fit(name, rows, columns, options):
    """Return the seconds and peak megabytes of a fit; NaN if it reaches the time limit."""
    selector = f"METHODS[{name!r}](n_jobs={options.jobs})"
    try:
        return fit_in_own_process(selector, f"X, y = job({rows}, {columns})", options.limit)
    except subprocess.TimeoutExpired:
        return np.nan, np.nan


def exponent(name, sizes, options):
    """Return the slope of log seconds over log size; fits below one second are repeated, and their median is used."""
    times = []
    for rows, columns in sizes:
        once = fit(name, rows, columns, options)[0]
        repeats = 4 if once < 1 else 0
        times.append(np.median([once] + [fit(name, rows, columns, options)[0] for _ in range(repeats)]))
    return np.polyfit(np.log([1, 2, 4]), np.log(times), 1)[0]


def growth(name, options):
    """Return the exponents of the growth with the number of rows and with the number of columns."""
    rows, columns = options.rows, options.columns
    return (
        exponent(name, [(rows // part, columns // 4) for part in (8, 4, 2)], options),
        exponent(name, [(rows // 4, columns // part) for part in (8, 4, 2)], options),
    )


def show(options):
    """Print the seconds, memory and growth of each method."""
    whole = options.rows == ROWS and options.columns == COLUMNS
    print(f"\n| {options.rows:,} x {options.columns:,}, {options.jobs} threads | seconds |", end="")
    print(" the paper | ratio |" if whole else "", end="")
    print(" peak MB over the data | exponent in rows | in columns |")
    print("|---|---|---|---|" + ("---|---|" if whole else "") + "---|")
    total = 0.0
    for name in options.methods:
        taken, peak = fit(name, options.rows, options.columns, options)
        total += taken
        paper = f" {PAPER[name]:,.0f} | {PAPER[name] / taken:,.0f} |" if whole else ""
        grown = " | ".join(f"{slope:.2f}" for slope in growth(name, options)) if options.growth else " | "
        print(f"| {METHODS[name].__name__} | {taken:,.2f} |{paper} {peak:,.0f} | {grown} |", flush=True)
    paper = f" {sum(PAPER[name] for name in options.methods):,.0f} | |" if whole else ""
    print(f"| all | {total:,.0f} |{paper} | | |")


def show_bounds(options):
    """Print lower bounds: the time of one pass over the data, of sorting, and of matrix products."""
    X, _ = job(options.rows, options.columns)
    half = X[: max(1, options.rows // 2)]
    bounds, _ = take_turns(
        {
            "one pass (sum)": X.sum,
            "columns sorted (one thread)": lambda: np.sort(X[:, : options.columns // 10], axis=0),
            "product of columns, X'X": lambda: X.T @ X,
            "product of rows, half of XX'": lambda: half @ X.T,
        },
        1,
    )
    bounds["columns sorted (one thread)"] *= 10
    print("\n| numpy, all threads | seconds |\n|---|---|")
    for name, value in bounds.items():
        print(f"| {name} | {value:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=" ".join(METHODS))
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--jobs", type=int, default=2, help="threads")
    parser.add_argument("--limit", type=float, help="maximum seconds of a fit")
    parser.add_argument("--no-growth", dest="growth", action="store_false", help="leave the exponents out")
    options = parser.parse_args()
    if unknown := set(options.methods) - set(METHODS):
        parser.error(f"METHOD must be one of {', '.join(METHODS)}, got {', '.join(unknown)}")
    options.methods = options.methods or list(METHODS)
    start = time.time()
    show_bounds(options)
    show(options)
    print(f"\nMeasured in {(time.time() - start) / 60:.0f} minutes.")


if __name__ == "__main__":
    main()
