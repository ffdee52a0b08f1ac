"""Measure ILFS over Parquet files that are larger than the memory it may use.

    python benchmarks/stream.py FOLDER                   # everything; writes 20 GB to FOLDER (half an hour)
    python benchmarks/stream.py FOLDER tall growth       # some parts: tall wide engines growth
    python benchmarks/stream.py FOLDER tall --gigabytes 2

Every number is measured in a process of its own, so that its peak memory is known. The yardsticks are measured in the
same run: reading the same files as often with pyarrow, and multiplying the candidates by themselves. A part of the
page docs/large.md is written from the output.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
from measure import run_python

THREADS = 2
ROW_GROUP = 32_768
REPEATS = 3

WRITE = """
import numpy as np, pyarrow as pa, pyarrow.parquet as pq
rng = np.random.default_rng(0)
rows, columns, group, n_files, folder = {rows}, {columns}, {group}, {n_files}, {folder!r}
names = [f"f{{j}}" for j in range(columns)]
schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.string())])
noise = rng.standard_normal((group, columns), dtype=np.float32)  # used again: only moments matter here
for number in range(n_files):
    with pq.ParquetWriter(f"{{folder}}/part-{{number:03}}.parquet", schema, use_dictionary=["y"]) as writer:
        for start in range(0, rows // n_files, group):
            height = min(group, rows // n_files - start)
            y = rng.integers(0, 2, height)
            X = noise[:height] * np.float32(rng.uniform(0.9, 1.1))
            X[:, :50] += (0.2 * y[:, None] * np.linspace(1, 2, 50)).astype(np.float32)
            arrays = [pa.array(np.ascontiguousarray(X[:, j])) for j in range(columns)]
            labels = pa.array(np.array(["no", "yes"])[y])
            writer.write_batch(pa.record_batch([*arrays, labels], schema=schema), row_group_size=group)
"""

START = """
import json, resource, sys, time
import numpy as np, pyarrow as pa
def report(start):
    seconds, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([seconds, cpu, peak]))
def now():
    return time.perf_counter(), time.process_time()
def loaded(folder):
    import pyarrow.parquet as pq
    table = pq.read_table(folder)
    return table.drop_columns("y").to_pandas().to_numpy(), np.array(table["y"].to_pylist())
def dask_frame(folder):
    import dask.dataframe
    return dask.dataframe.read_parquet(folder)
"""

READ = (
    START
    + """
import glob, pyarrow.parquet as pq  # pre_buffer would make reading slower
start = now()
for _ in range({times}):
    for path in sorted(glob.glob({folder!r} + "/*.parquet")):
        for batch in pq.ParquetFile(path, pre_buffer=False).iter_batches(batch_size=8192):
            pass
report(start)
"""
)

FIT = (
    START
    + """
import ilfs
small = np.random.default_rng(0).standard_normal((200, 20)).astype(np.float32)
{selector}.fit(small, np.arange(200) % 2)  # load kernels and libraries before the measurement
start = now()
{selector}.fit({source})
report(start)
"""
)

PRODUCT = (
    START
    + """
rng = np.random.default_rng(0)
block = rng.standard_normal((8192, {candidates}))
start = now()
for _ in range({blocks}):
    block.T @ block
report(start)
"""
)


def measured(code, **values):
    """Return seconds, CPU seconds and peak megabytes of code in a process of its own."""
    return np.array(json.loads(run_python(code.format(**values)).strip().splitlines()[-1]))


def median(code, repeats=REPEATS, **values):
    """Return the medians over some runs."""
    return np.median([measured(code, **values) for _ in range(repeats)], axis=0)


def in_turns(measures, repeats=REPEATS):
    """Return the median of each measure; they take turns, because the disk and its cache change in the meantime."""
    rounds = [{name: measure() for name, measure in measures.items()} for _ in range(repeats)]
    return {name: np.median([one[name] for one in rounds], axis=0) for name in measures}


def files(folder, name, rows, columns, n_files, group=ROW_GROUP):
    """Write a folder of Parquet files, unless it is there."""
    path = Path(folder) / f"{name}-{rows}x{columns}"
    complete = path.with_suffix(".complete")  # beside the folder, which holds Parquet files only
    if not complete.exists():
        path.mkdir(parents=True, exist_ok=True)
        run_python(WRITE.format(rows=rows, columns=columns, group=group, n_files=n_files, folder=str(path)))
        complete.touch()
    return path


def size_of(path):
    """Return the gigabytes of a folder on disk."""
    return sum(os.path.getsize(part) for part in path.glob("*.parquet")) / 1e9


def selector(redundancy):
    return f"ilfs.ILFS(redundancy={redundancy!r}, n_jobs={THREADS})"


def stream_of(path):
    """Return code that opens a folder as a stream."""
    return f"ilfs.read({str(path)!r}, target='y', memory_limit='500MB')"


def show_case(title, path, rows, columns):
    """Print a table of one case: our time and memory beside those of the yardsticks."""
    stream = stream_of(path)
    measures = {
        "read 2": lambda: measured(READ, times=2, folder=str(path)),
        "fit None": lambda: measured(FIT, selector=selector(None), source=stream),
        "read 3": lambda: measured(READ, times=3, folder=str(path)),
        "fit gain": lambda: measured(FIT, selector=selector("gain"), source=stream),
        "product": lambda: measured(PRODUCT, candidates=min(1000, columns), blocks=rows // 8192),
    }
    medians = in_turns(measures)
    fit = {None: medians["fit None"], "gain": medians["fit gain"]}
    read, product = {2: medians["read 2"], 3: medians["read 3"]}, medians["product"]
    bound = read[3][0] + 1.5 * product[0]
    print(f"\n{title}: {rows:,} rows x {columns:,} float32 columns, {size_of(path):.1f} GB of Parquet\n")
    print("| | seconds | CPU seconds | peak MB |\n|---|---|---|---|")
    for name, (seconds, cpu, peak) in {
        "pyarrow reads the files twice": read[2],
        "ILFS(redundancy=None), streamed": fit[None],
        "pyarrow reads the files three times": read[3],
        "product of the candidates with themselves": product,
        "ILFS(), streamed": fit["gain"],
    }.items():
        print(f"| {name} | {seconds:.1f} | {cpu:.1f} | {peak:,.0f} |")
    print(f"\nILFS(redundancy=None) / reading twice: {fit[None][0] / read[2][0]:.2f} (goal: at most 1.5)")
    print(f"ILFS() / (reading three times + 1.5 products): {fit['gain'][0] / bound:.2f} (goal: at most 1)")


def show_tall(options):
    rows = int(options.gigabytes * 1e9 / (2000 * 4)) // ROW_GROUP * ROW_GROUP
    show_case("Tall", files(options.folder, "tall", rows, 2000, 5), rows, 2000)


def show_wide(options):
    rows = 20_000
    columns = min(100_000, int(options.gigabytes * 1e10 / (rows * 4)))
    show_case("Wide", files(options.folder, "wide", rows, columns, 1, 4096), rows, columns)


def show_engines(options):
    """Print memory, stream and Dask side by side, and what else a user could run."""
    rows, columns = 10 * ROW_GROUP, 1000
    path = files(options.folder, "fits", rows, columns, 10)
    title = f"A case that fits: {rows:,} x {columns:,} float32"
    print(f"\n{title}\n\n| | seconds | CPU seconds | peak MB |\n|---|---|---|---|")
    cases = {
        "in memory, with loading": f"*loaded({str(path)!r})",
        "streamed": stream_of(path),
        "Dask, threads": f"dask_frame({str(path)!r}), 'y'",
    }
    for name, source in cases.items():
        for redundancy in (None, "gain"):
            seconds, cpu, peak = median(FIT, selector=selector(redundancy), source=source)
            print(f"| ILFS(redundancy={redundancy!r}), {name} | {seconds:.2f} | {cpu:.2f} | {peak:,.0f} |")
    seconds, cpu, peak = median(F_CLASSIF, folder=str(path))
    print(f"| f_classif of scikit-learn, loaded in memory | {seconds:.2f} | {cpu:.2f} | {peak:,.0f} |")


F_CLASSIF = (
    START
    + """
from sklearn.feature_selection import f_classif
start = now()
f_classif(*loaded({folder!r}))
report(start)
"""
)


def show_growth(options):
    """Print the CPU time against rows and columns, with the exponents of a power law through four sizes."""
    print("\n| rows | columns | ILFS(redundancy=None) | ILFS() |\n|---|---|---|---|")
    for title, sizes in {
        "rows": [(n * ROW_GROUP, 1000) for n in (2, 4, 8, 16)],
        "columns": [(4 * ROW_GROUP, n) for n in (500, 1000, 2000, 4000)],
    }.items():
        seconds = []
        for rows, columns in sizes:
            path = files(options.folder, "growth", rows, columns, 2)
            both = [median(FIT, selector=selector(one), source=stream_of(path))[1] for one in (None, "gain")]
            seconds.append(both)
            print(f"| {rows:,} | {columns:,} | {both[0]:.2f} s | {both[1]:.2f} s |")
        at = np.log([size[title == "columns"] for size in sizes])
        exponents = [np.polyfit(at, np.log(column), 1)[0] for column in np.array(seconds).T]
        print(f"\nexponent in the {title}: {exponents[0]:.2f} and {exponents[1]:.2f}\n")


PARTS = {"tall": show_tall, "wide": show_wide, "engines": show_engines, "growth": show_growth}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="folder for the files; they are kept for the next run")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="parts to run; all by default")
    parser.add_argument("--gigabytes", type=float, default=10.5, help="size of the tall case in memory")
    options = parser.parse_args()
    for part in options.parts or PARTS:
        PARTS[part](options)


if __name__ == "__main__":
    main()
