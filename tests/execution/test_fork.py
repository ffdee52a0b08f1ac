"""A process forked while other threads fit can fit itself, with the original number of BLAS threads."""

import os
import signal
import subprocess
import sys
import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ilfs.cached import cached_property
from ilfs.execution import one_blas_thread, thread_map

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="needs os.fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

MAX_CHILD_SECONDS = 120  # a child that runs longer is considered to hang; it needs less than a second

UNDER_LOAD = """
import os, signal, threading, warnings
warnings.simplefilter("ignore")
import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_info
from ilfs import MCFS, FisherScore, ILFS

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 30)), np.arange(60) % 2
selectors = [ILFS(n_jobs=2), FisherScore(n_jobs=2), MCFS(n_jobs=2)]

def orders():
    return [clone(selector).fit(X, y).order_.tolist() for selector in selectors]

def blas():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

before, expected, done = blas(), orders(), threading.Event()

def fit_on():
    while not done.is_set():
        orders()

def in_child():
    signal.alarm({limit})
    return 2 * (blas() != before) + 4 * (orders() != expected) + 8 * (blas() != before)

threads = [threading.Thread(target=fit_on) for _ in range(3)]
for thread in threads:
    thread.start()
codes = []
try:
    for _ in range({n_forks}):
        child = os.fork()
        if child == 0:
            os._exit(in_child())
        codes.append(os.waitpid(child, 0)[1])
finally:
    done.set()
    for thread in threads:
        thread.join()
assert codes == [0] * {n_forks}, codes
assert blas() == before
"""


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def exit_status(check):
    """Fork, run a check in the child, and return the exit status: 0 if the check returned True."""
    process = os.fork()
    if process == 0:
        signal.alarm(MAX_CHILD_SECONDS)
        code = 1
        try:
            code = 0 if check() else 1
        finally:
            os._exit(code)
    return os.waitpid(process, 0)[1]


@pytest.fixture
def other_thread():
    """Run a function in another thread; it gets two events, one to set when it has started, one to wait for."""
    started, end = threading.Event(), threading.Event()
    threads = []

    def start(function):
        threads.append(threading.Thread(target=function, args=(started, end)))
        threads[0].start()
        started.wait()

    yield start
    end.set()
    threads[0].join()


@pytest.mark.parametrize("n_forks", [15, pytest.param(150, marks=pytest.mark.slow)])
def test_children_can_fit_while_threads_of_the_parent_fit(n_forks):
    code = UNDER_LOAD.replace("{n_forks}", str(n_forks)).replace("{limit}", str(MAX_CHILD_SECONDS))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=MAX_CHILD_SECONDS * 5)
    assert done.returncode == 0, done.stderr


def test_the_child_lifts_the_limit_of_another_thread(other_thread):
    before = blas_threads()

    def limited(started, end):
        with one_blas_thread():
            started.set()
            end.wait()

    def child():
        free = blas_threads() == before
        inside = list(thread_map(lambda _: blas_threads(), range(3), n_jobs=2)) == [{1}] * 3
        return free and inside and blas_threads() == before

    other_thread(limited)
    assert blas_threads() == {1}
    assert exit_status(child) == 0


def test_the_child_lifts_only_our_limit_inside_a_limit_of_the_caller(other_thread):
    def limited(started, end):
        with threadpool_limits(2, user_api="blas"), one_blas_thread():
            started.set()
            end.wait()

    other_thread(limited)
    assert blas_threads() == {1}
    assert exit_status(lambda: blas_threads() == {2}) == 0  # the caller's limit stays, ours is lifted


def test_the_child_keeps_the_limit_of_the_forking_thread_until_the_context_ends():
    before, parent = blas_threads(), os.getpid()
    with one_blas_thread():
        with one_blas_thread():
            process = os.fork()
            inside = blas_threads()
        between = blas_threads()
    seen = [inside, between, blas_threads()]
    if os.getpid() != parent:
        os._exit(0 if seen == [{1}, {1}, before] else 1)
    assert seen == [{1}, {1}, before]
    assert os.waitpid(process, 0)[1] == 0


def test_a_property_being_computed_in_another_thread_does_not_block_the_child(other_thread):
    class Slow:
        def __init__(self, compute):
            self.compute = compute

        @cached_property
        def value(self):
            return self.compute()

    def compute(started, end):
        _ = Slow(lambda: (started.set(), end.wait())).value

    other_thread(compute)
    assert exit_status(lambda: Slow(lambda: 3).value == 3) == 0


def test_a_cached_property_is_computed_once_per_instance():
    calls = []

    class Counted:
        @cached_property
        def value(self):
            """Number of calls so far."""
            calls.append(self)
            return len(calls)

    one, two = Counted(), Counted()
    assert (one.value, two.value, one.value, two.value) == (1, 2, 1, 2)
    assert Counted.value.__doc__ == "Number of calls so far."
