"""Tools of the benchmarks: the paper's timing job, functions that take turns, fits in their own process."""

import os
import subprocess
import sys
import time

import numpy as np


def job(rows=10_000, columns=5_000, n_classes=2):
    """Return X and y of the paper's timing job at any size: uniform on [0, 1000], random classes."""
    rng = np.random.default_rng(0)
    return rng.uniform(0, 1000, (rows, columns)), rng.integers(0, n_classes, rows)


PAUSE_SECONDS = 0.2


def seconds(function, clock=time.perf_counter):
    """Return the seconds that a call takes, after a pause in which the threads of the previous call go to sleep.

    OpenBLAS threads keep spinning for some hundredths of a second after the last product.
    """
    time.sleep(PAUSE_SECONDS)
    start = clock()
    function()
    return clock() - start


def take_turns(functions, repeats, clock=time.perf_counter):
    """Return the median seconds of each function, and the seconds of its first call.

    The functions take turns, so that other load on the computer slows all of them alike. With the clock
    `time.process_time`, the seconds are those of all threads together, which other load hardly changes.
    """
    first = {name: seconds(function, clock) for name, function in functions.items()}
    times = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            times[name].append(seconds(function, clock))
    return {name: float(np.median(t)) for name, t in times.items()}, first


def run_python(code, timeout=None, **environment):
    """Run code in a fresh interpreter and return its output."""
    process = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=timeout
    )
    if process.returncode:
        raise RuntimeError(process.stderr.strip().rpartition("\n")[2])
    return process.stdout


FIT = """
import json, sys, time, warnings
sys.path.insert(0, {folder!r})
warnings.simplefilter("ignore")
from measure import job, peak_above
from ilfs import *
method = lambda: {selector}
X, y = job(200, 100)
method().fit(X, y)  # load kernels, threads and libraries before the measurement
{table}
start = time.perf_counter()
peak = peak_above(lambda: method().fit(X, y))
print(json.dumps([time.perf_counter() - start, peak]))
"""


def fit_in_own_process(selector, table, timeout=None):
    """Return the seconds and peak megabytes of a fit in a new process; `table` is code that sets X and y."""
    import json

    folder = os.path.dirname(os.path.abspath(__file__))
    return json.loads(run_python(FIT.format(selector=selector, table=table, folder=folder), timeout))


def peak_above(function):
    """Return the peak memory of a call in megabytes above the memory before it; None if not on Linux."""
    if not os.path.exists("/proc/self/clear_refs"):
        function()
        return None
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # reset the peak
    before = _status("VmRSS")
    function()
    return (_status("VmHWM") - before) / 1024


def _status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key))
