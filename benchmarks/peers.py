"""Compare the speed of each method with the best public implementation of it; the two take turns in one run.

    make bench-peers                          # sets up the environment with the peers, then runs everything
    python benchmarks/peers.py relieff ls     # some methods
    python benchmarks/peers.py real wide      # the microarray sets in ILFS_DATA; 20,000 features

The data are the paper's timing job at the size in the table. Our methods use two threads, and so do the peers that
can. Kernels of both are compiled before the measurement. A slow peer is called once.
"""

import argparse
import importlib
import math
import os
import sys
import types
import warnings

import numpy as np
from measure import fit_in_own_process, job, seconds, take_turns

import ilfs

JOBS = 2


def fisher():
    from sklearn.feature_selection import f_classif

    return "FisherScore", "scikit-learn f_classif", f_classif, 9, (10_000, 5_000), 5


def mi():
    from sklearn.feature_selection import mutual_info_classif

    return "MutualInformation", "scikit-learn mutual_info_classif", mutual_info_classif, 1, (2_000, 1_000), 30


def relieff():
    from fast_select import ReliefF

    def peer(X, y):
        ReliefF(n_neighbors=10, n_features_to_select=10, backend="cpu", n_jobs=JOBS).fit(X, y)

    return "ReliefF", "fast-select ReliefF", peer, 3, (2_000, 1_000), 3


def rfe():
    from sklearn.feature_selection import RFE
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    def peer(X, y):
        RFE(LinearSVC(), n_features_to_select=1, step=1).fit(StandardScaler().fit_transform(X), y)

    return "SVMRFE", "scikit-learn RFE(LinearSVC, step=1)", peer, 0, (1_000, 500), 20


def ls():
    from skfeature.function.similarity_based.lap_score import lap_score

    return "LaplacianScore", "scikit-feature lap_score", lambda X, _: lap_score(X, mode="raw"), 9, (2_000, 1_000), 5


def mcfs():
    from skfeature.function.sparse_learning_based.MCFS import mcfs

    def peer(X, _):
        mcfs(X, n_selected_features=100, mode="raw", n_clusters=5)

    return "MCFS(100)", "scikit-feature mcfs", peer, 1, (2_000, 1_000), 10


def udfs():
    from skfeature.function.sparse_learning_based.UDFS import udfs

    return "UDFS", "scikit-feature udfs", lambda X, _: udfs(X, mode="raw"), 0, (1_000, 500), 50


def inf_fs():
    from scipy import stats

    module = importlib.import_module("PyIFS.InfFS")
    if not isinstance(module, types.ModuleType):
        module = sys.modules["PyIFS.InfFS"]
    module.math, module.stats = math, stats  # it uses both and imports neither

    def peer(X, y):
        module.InfFS().infFS(X, np.where(y == 1, 1, -1), 0.2, 1, 0)

    return "InfFS", "PyIFS (its missing imports supplied)", peer, 0, (2_000, 1_000), 10


def cfs():
    return "CFS", "numpy X.T @ X", lambda X, _: X.T @ X, 3, (10_000, 5_000), 1 / 1.5


COMPARISONS = {f.__name__: f for f in (fisher, mi, relieff, rfe, ls, mcfs, udfs, inf_fs, cfs)}


def compare(name):
    ours, title, peer, repeats, size, goal = COMPARISONS[name]()
    X, y = job(*size)
    selector = eval(f"ilfs.{ours}" if "(" in ours else f"ilfs.{ours}()", {"ilfs": ilfs}).set_params(n_jobs=JOBS)
    functions = {"ours": lambda: selector.fit(X, y), "peer": lambda: peer(X, y)}
    if repeats:
        median, _ = take_turns(functions, repeats)
    else:  # these peers compile nothing, so their first call counts
        functions["ours"]()
        median = {name: seconds(function) for name, function in functions.items()}
    ratio = median["peer"] / median["ours"]
    rows, columns = size
    print(
        f"| {ours} | {title} | {rows:,} x {columns:,} | {median['ours']:.3f} | {median['peer']:.3f} "
        f"| {ratio:.1f} | {goal:.2g} |",
        flush=True,
    )


def show_comparisons(names):
    print("\n| ours | peer | size | our seconds | theirs | ratio | goal |\n|---|---|---|---|---|---|---|")
    for name in names:
        compare(name)


def show_real():
    """Print the time and memory to rank all genes of the microarray sets."""
    folder = os.environ.get("ILFS_DATA")
    if not folder:
        print("\nThe microarray sets need ILFS_DATA.")
        return
    print("\n| set | method | seconds | peak MB over the data |\n|---|---|---|---|")
    for name, methods in (
        ("lung", ("SVMRFE", "UDFS", "LLCFS", "FSV", "MCFS", "ReliefF", "InfFS")),
        ("colon", ("FSV", "SVMRFE")),
        ("leukemia", ("FSV", "SVMRFE")),
        ("prostate", ("FSV", "SVMRFE")),
    ):
        path = os.path.join(folder, f"{name}.npz")
        with np.load(path, allow_pickle=False) as parts:
            rows, columns = parts["X"].shape
        table = f"import numpy as np; parts = np.load({path!r}); X, y = parts['X'], parts['y']"
        for method in methods:
            taken, peak = fit_in_own_process(f"{method}(n_jobs={JOBS})", table)
            print(f"| {name}, {rows} x {columns:,} | {method} | {taken:.2f} | {peak:,.0f} |", flush=True)


def show_wide():
    """Print the time and memory of InfFS on a graph of 20,000 features."""
    taken, peak = fit_in_own_process(f"InfFS(n_jobs={JOBS})", "X, y = job(1_000, 20_000)")
    print(f"\nInfFS on 1,000 x 20,000: {taken:.1f} s, {peak:,.0f} MB over the data (goal: 4 GB in all)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [*COMPARISONS, "real", "wide"]
    parser.add_argument("parts", nargs="*", default=every, metavar="PART", help=" ".join(every))
    parts = parser.parse_args().parts
    if unknown := set(parts) - set(every):
        parser.error(f"PART must be one of {', '.join(every)}, got {', '.join(unknown)}")
    warnings.simplefilter("ignore")
    if names := [name for name in COMPARISONS if name in parts]:
        show_comparisons(names)
    if "real" in parts:
        show_real()
    if "wide" in parts:
        show_wide()


if __name__ == "__main__":
    main()
