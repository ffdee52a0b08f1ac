import os
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ilfs.execution import blocks, one_blas_thread, thread_map


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_results_are_in_the_order_of_the_items():
    assert list(thread_map(lambda i: i * i, range(100), n_jobs=4)) == [i * i for i in range(100)]


@pytest.mark.parametrize("n_jobs", [None, 1, 3])
def test_blas_has_one_thread_inside_and_its_old_number_afterwards(n_jobs):
    before = blas_threads()
    assert list(thread_map(lambda _: blas_threads(), range(3), n_jobs)) == [{1}] * 3
    assert blas_threads() == before


def test_an_error_stops_further_items():
    started, gate = [], threading.Event()

    def work(i):
        started.append(i)
        if i == 0:
            raise ValueError("no")
        gate.wait(0.1)
        return i

    with pytest.raises(ValueError, match="no"):
        list(thread_map(work, range(1000), n_jobs=2))
    assert len(started) < 100


def test_nested_calls_do_not_deadlock():
    def outer(i):
        return sum(thread_map(lambda j: i * j, range(5), n_jobs=2))

    assert list(thread_map(outer, range(6), n_jobs=2)) == [10 * i for i in range(6)]


def test_no_task_runs_after_the_consumer_stops_early():
    running = []

    def work(i):
        running.append(i)
        time.sleep(0.02)
        running.remove(i)
        return i

    results = thread_map(work, range(50), n_jobs=2)
    assert next(results) == 0
    results.close()
    assert running == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_gets_its_own_threads():
    list(thread_map(abs, range(4), n_jobs=2))
    child = os.fork()
    if child == 0:
        os._exit(0 if list(thread_map(abs, range(4), n_jobs=2)) == [0, 1, 2, 3] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_concurrent_fits_restore_the_number_of_blas_threads():
    before, inside, gate = blas_threads(), [], threading.Barrier(3)

    def fit(i):
        for _ in thread_map(abs, range(2)):
            gate.wait()
            inside.append(blas_threads())
            time.sleep(0.01 * i)
            inside.append(blas_threads())
            gate.wait()

    threads = [threading.Thread(target=fit, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inside == [{1}] * 12
    assert blas_threads() == before


def test_blocks_cover_every_index_once():
    covered = np.concatenate([np.arange(10)[block] for block in blocks(10, 4)])
    assert covered.tolist() == list(range(10))
    assert blocks(0, 4) == []


def test_one_blas_thread_works_inside_a_limit_of_the_caller():
    before = blas_threads()
    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread():
            assert blas_threads() == {1}
            assert list(thread_map(lambda _: blas_threads(), range(3), n_jobs=2)) == [{1}] * 3
        assert blas_threads() == {2}
    assert blas_threads() == before
