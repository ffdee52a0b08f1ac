"""Measure the CPU seconds of the first fits on a computer, when no compiled kernel is on disk yet.

    python benchmarks/first_fit.py                     # this code, three rounds
    python benchmarks/first_fit.py --against OLD/src   # this code and other code, taking turns
    python benchmarks/first_fit.py --kernels           # which functions were compiled, and how long each took

Every fit has its own process. The processes of one round share a cache folder, which is empty at the start. So each
row of the table shows what that kind of data adds to the rows above it. The last row finds all kernels on disk.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

import numpy as np
from measure import run_python

SOURCE = Path(__file__).resolve().parents[1] / "src"
ROUNDS = 3

FIT = """
import json, time
import numpy as np
import scipy.sparse
import ilfs
from ilfs import ILFS

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 100)), rng.integers(0, 2, 60)
X = {convert}
ILFS  # the class itself is imported at the first use
start = time.process_time()
import numba.core.event as event

imported = time.process_time() - start
open_calls, compiled = [], []


class Listener(event.Listener):
    def on_start(self, happening):
        open_calls.append([time.process_time(), 0.0])

    def on_end(self, happening):
        began, inside = open_calls.pop()
        took = time.process_time() - began
        if open_calls:
            open_calls[-1][1] += took
        compiled.append([happening.data["dispatcher"].py_func.__qualname__, took - inside])


event.register("numba:compile", Listener())
start = time.process_time()
ILFS().fit(X, y)
print(json.dumps([imported, time.process_time() - start, compiled]))
"""

KINDS = {
    "float64": "X",
    "then float32": "X.astype(np.float32)",
    "then sparse": "scipy.sparse.csr_array(np.where(X > 1, X, 0))",
    "then sparse float32": "scipy.sparse.csr_array(np.where(X > 1, X, 0).astype(np.float32))",
    "float64 again": "X",
}


def first_fits(source):
    """Return the seconds to import Numba, the seconds of the fit, and the compiled functions for every kind of data."""
    with tempfile.TemporaryDirectory() as empty:
        return {
            kind: json.loads(run_python(FIT.format(convert=convert), PYTHONPATH=str(source), NUMBA_CACHE_DIR=empty))
            for kind, convert in KINDS.items()
        }


def show_seconds(sources, rounds):
    """Print the median CPU seconds of every kind of data, a column for each source tree."""
    runs = {name: [] for name in sources}
    for _ in range(rounds):
        for name, source in sources.items():
            runs[name].append(first_fits(source))
    print(f"\n| first fit of | {' | '.join(f'{name}: CPU seconds | functions compiled' for name in sources)} |")
    print("|---|" + "---|---|" * len(sources))
    for kind in KINDS:
        columns = []
        for name in sources:
            columns += [f"{np.median([run[kind][1] for run in runs[name]]):.2f}", f"{len(runs[name][0][kind][2])}"]
        print(f"| {kind} | {' | '.join(columns)} |")


def show_kernels(source):
    """Print the functions that each fit compiled; the seconds of a function exclude those it calls."""
    for kind, (_, total, compiled) in first_fits(source).items():
        print(f"\n{kind}: {total:.2f} s")
        for name, seconds in sorted(compiled, key=lambda row: -row[1]):
            print(f"  {seconds:6.2f}  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="SRC", type=Path, help="source folder of other code to compare with")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--kernels", action="store_true", help="list the compiled functions instead")
    arguments = parser.parse_args()
    if arguments.kernels:
        show_kernels(SOURCE)
        return
    sources = {"this code": SOURCE}
    if arguments.against:
        sources = {"other code": arguments.against.resolve()} | sources
    os.chdir(tempfile.gettempdir())  # a folder without a package of that name
    show_seconds(sources, arguments.rounds)


if __name__ == "__main__":
    main()
