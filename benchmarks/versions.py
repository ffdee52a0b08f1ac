"""Compare the speed and memory of two versions of the library, which take turns.

    git worktree add /tmp/old v0.1.0
    python benchmarks/versions.py /tmp/old/src src

Each version runs in a process of its own. A round measures every fit once in both, in turns, by CPU seconds, so that
other load on the computer slows both alike. Printed are the median ratio new / old over the rounds, an interval for it
(the order statistics that contain the median with a probability of 95 % or more), and the peak memory beyond the data.
"""

import argparse
import os
import subprocess
import sys

import numpy as np

WORKER = """
import sys, time, warnings
import numpy as np
from scipy import sparse
import ilfs
from ilfs import *
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.uniform(0, 1000, ({rows}, {columns})), np.arange({rows}) % 2
X[:, :20] += 100 * y[:, None]
few, wide = slice(0, 600), slice(0, 400)
Y = (rng.random((len(y), 8)) < 0.3).astype(int)
S = sparse.random_array((20_000, 5_000), density=0.01, random_state=rng, format="csr")
ys = np.arange(20_000) % 2
genes, yg = rng.normal(size=(60, 12_000)), np.arange(60) % 2
def status(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key)) / 1024
for line in sys.stdin:
    code = line.strip()
    open("/proc/self/clear_refs", "w").write("5")
    before, start = status("VmRSS"), time.process_time()
    eval(code)
    print(time.process_time() - start, status("VmHWM") - before, flush=True)
"""
FITS = {
    "ILFS": "ILFS().fit(X, y)",
    "ILFS, two threads": "ILFS(n_jobs=2).fit(X, y)",
    "ILFS, no redundancy": "ILFS(redundancy=None).fit(X, y)",
    "ILFS, novelty": "ILFS(redundancy='novelty').fit(X, y)",
    "ILFS, float32": "ILFS(redundancy=None).fit(X.astype(np.float32), y)",
    "ILFS, sparse": "ILFS().fit(S, ys)",
    "ILFS, 60 x 12,000": "ILFS().fit(genes, yg)",
    "ILFS, 8 labels": "ILFS(redundancy=None).fit(X, Y)",
    "Fisher score": "FisherScore().fit(X, y)",
    "Novelty(Fisher)": "Novelty(FisherScore()).fit(X, y)",
    "mutual information": "MutualInformation().fit(X, y)",
    "CFS": "CFS().fit(X[:2000], y[:2000])",
    "Inf-FS": "InfFS().fit(X[:2000], y[:2000])",
    "ReliefF": "ReliefF().fit(X[few, wide], y[few])",
    "SVM-RFE": "SVMRFE().fit(X[few, wide], y[few])",
    "FSV": "FSV().fit(X[few, wide], y[few])",
    "Laplacian score": "LaplacianScore().fit(X[few], y[few])",
    "MCFS": "MCFS().fit(X[few, wide], y[few])",
    "UDFS": "UDFS().fit(X[few, wide], y[few])",
    "LLCFS": "LLCFS().fit(X[:200, wide], y[:200])",
    "HallCFS": "HallCFS().fit(X[few, wide], y[few])",
    "generalised Fisher score": "GeneralizedFisherScore(50).fit(X[few, wide], y[few])",
}


def worker(source, rows, columns):
    """Start a process that fits with one version."""
    code = WORKER.format(rows=rows, columns=columns)
    environment = os.environ | {"PYTHONPATH": os.path.abspath(source)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, **pipes)


def measured(process, code):
    """CPU seconds of a fit, and its peak memory beyond the data in megabytes."""
    process.stdin.write(code + "\n")
    process.stdin.flush()
    return tuple(map(float, process.stdout.readline().split()))


def median_interval(values):
    """Order statistics between which the median lies with a probability of at least 95 %."""
    values, n = np.sort(values), len(values)
    tail, k = 0.5**n, 0
    term = tail
    while k < n // 2 and 2 * (tail + term * (n - k) / (k + 1)) <= 0.05:
        term *= (n - k) / (k + 1)
        tail += term
        k += 1
    return values[k], values[n - 1 - k]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=2_500)
    parser.add_argument("--only", nargs="+", choices=FITS)
    options = parser.parse_args()
    fits = {name: FITS[name] for name in options.only or FITS}
    processes = [worker(source, options.rows, options.columns) for source in (options.old, options.new)]
    found = {name: [] for name in fits}
    for turn in range(options.rounds + 1):  # the first round compiles and is not counted
        for name, code in fits.items():
            order = processes if turn % 2 else processes[::-1]
            pair = dict(zip(order, [measured(process, code) for process in order], strict=True))
            found[name].append([pair[process] for process in processes])
    print("| fit | old, CPU s | new, CPU s | ratio | 95 % interval | old, MB | new, MB |")
    print("|---|---|---|---|---|---|---|")
    for name, rounds in found.items():
        times, peaks = np.moveaxis(np.array(rounds[1:]), -1, 0)
        ratios = times[:, 1] / times[:, 0]
        low, high = median_interval(ratios)
        old, new = np.median(times, axis=0)
        memory = np.median(peaks, axis=0)
        print(
            f"| {name} | {old:.3f} | {new:.3f} | {np.median(ratios):.3f} | {low:.3f} to {high:.3f} | "
            f"{memory[0]:.0f} | {memory[1]:.0f} |"
        )


if __name__ == "__main__":
    main()
