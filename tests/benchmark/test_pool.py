"""Worker processes that are supervised."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from joblib import effective_n_jobs
from platforms import needs_fork, needs_posix, needs_proc

from ilfs.benchmark.evaluation.memory import Peak
from ilfs.benchmark.jobs import pool
from ilfs.benchmark.jobs.pool import Limits, compute_all
from ilfs.one_line import in_one_line


def work(item):
    """Task of a worker process in these tests."""
    what, value = item
    if what == "square":
        return value * value
    if what == "fail":
        raise ValueError(f"no {value}")
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "sleep":
        time.sleep(value)
    if what == "exit":
        sys.exit(value)
    if what == "fork":  # the pipe stays open in the child
        if os.fork():
            os._exit(3)
        time.sleep(value)
    if what == "both":
        os.fork()
        return "twice"
    if what == "fall":  # ends after it has answered
        threading.Timer(0.0, os._exit, [4]).start()
    if what == "start":
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid
    if what == "threads":
        return effective_n_jobs(value)
    if what == "memory":
        return float(np.ones(value * 2**17).sum())
    return os.getpid()


def answers(items, n_processes=2, **options):
    return {answer.item: answer for answer in compute_all(work, items, n_processes, **options)}


def test_every_item_is_answered():
    found = answers([("square", k) for k in range(20)])
    assert {item: answer.result for item, answer in found.items()} == {("square", k): k * k for k in range(20)}
    assert all(answer.reason == "" for answer in found.values())


def test_a_process_may_use_several_threads():
    assert answers([("threads", 2)], n_processes=1)["threads", 2].result == 2


def test_an_error_is_an_answer_with_its_reason_and_place():
    found = answers([("fail", "luck"), ("square", 3)])
    assert found["fail", "luck"].result is None
    assert found["fail", "luck"].reason.startswith("ValueError: no luck (test_pool.py:")
    assert found["square", 3].result == 9


@needs_posix
def test_a_process_that_dies_costs_its_item_alone():
    found = answers([("square", 2), ("die", 0), ("square", 3), ("square", 4)], n_processes=1)
    assert found["die", 0].reason == "its process was ended by signal 9 (perhaps for lack of memory)"
    assert [found["square", k].result for k in (2, 3, 4)] == [4, 9, 16]


def test_an_item_that_takes_too_long_is_ended():
    start = time.monotonic()
    found = answers([("sleep", 60), ("square", 3)], n_processes=1, limits=Limits(seconds=2.0))
    assert found["sleep", 60].reason == "took longer than the limit of 2 s"
    assert found["square", 3].result == 9
    assert time.monotonic() - start < 40


@needs_posix
def test_no_signal_is_sent_to_the_id_of_an_ended_process(monkeypatch):
    ended = []
    monkeypatch.setattr(pool, "_kill_group", ended.append)
    answers([("sleep", 60), ("die", 0), ("square", 3)], n_processes=1, limits=Limits(seconds=2.0))
    assert len(ended) == len(set(ended)) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_an_item_that_grows_too_large_fails_and_the_next_does_not():
    found = answers([("memory", 2000), ("memory", 1)], n_processes=1, limits=Limits(megabytes=500))
    assert found["memory", 2000].reason == "needs more memory than the limit of 500 MB"
    assert found["memory", 1].result == 2**17


@pytest.mark.skipif(sys.platform != "linux", reason="other systems report only the peak since the process started")
def test_the_memory_of_an_item_is_measured():
    found = answers([("memory", 300)], n_processes=1)
    assert 290 < found["memory", 300].peak_megabytes < 360


def test_items_are_asked_for_only_when_a_process_is_free():
    asked = []

    def items():
        for k in range(6):
            asked.append(k)
            yield ("square", k)

    stream = compute_all(work, items(), 1)
    next(stream)
    assert len(asked) <= 2
    stream.close()


def test_a_script_without_a_guard_is_not_run_again(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import operator
        from ilfs.benchmark.jobs.pool import compute_all
        print("begin")
        print([answer.result for answer in compute_all(operator.neg, [5], 1)])
        """)
    )
    said = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.split("\n")[:2] == ["begin", "[-5]"]


@needs_proc
def test_processes_end_with_the_one_that_started_them(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys
        sys.path[:0] = {[os.path.dirname(__file__), os.path.dirname(os.path.dirname(__file__))]!r}
        from test_pool import work
        from ilfs.benchmark.jobs.pool import compute_all
        for answer in compute_all(work, [("pid", 0), ("sleep", 600)], 1):
            print(answer.result, flush=True)
        """)
    )
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 30
    while os.path.exists(f"/proc/{child}") and time.monotonic() < end:
        time.sleep(0.1)
    assert not os.path.exists(f"/proc/{child}")


def test_exits_and_long_messages_give_a_reason_of_one_line():
    said = "first\nsecond \x1b[31m \udc80" + 1000 * "x"
    found = answers([("exit", "enough"), ("fail", said)], n_processes=1)
    assert found["exit", "enough"].reason.startswith("SystemExit: enough (test_pool.py:")
    assert found["fail", said].reason.startswith("ValueError: no first second [31m xxx")
    assert len(found["fail", said].reason) < 600


def test_an_error_without_a_message_is_a_reason_too():
    class MuteError(Exception):
        def __str__(self):
            raise RuntimeError

    assert in_one_line(MuteError()) == "MuteError: its message cannot be formatted"


@needs_fork
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_processes_that_fork_and_die_or_answer_twice_are_handled():
    start = time.monotonic()
    items = [("both", 0), ("square", 2), ("fork", 300), ("square", 3)]
    assert [answer.result or answer.reason for answer in compute_all(work, items, 1)] == [
        "twice",
        4,
        "its process ended with code 3",
        9,
    ]
    assert time.monotonic() - start < 100


def test_a_process_that_dies_between_two_items_is_replaced():
    items = iter([("fall", 1), ("square", 2), ("square", 3)])

    def slowly():
        for item in items:
            yield item
            time.sleep(0.5)

    stream = compute_all(work, slowly(), 1)
    next(stream)
    time.sleep(0.5)
    assert [answer.result or answer.reason for answer in stream] == [4, 9]


def test_processes_that_cannot_start_are_given_up_in_a_sentence(monkeypatch):
    class Stillborn:
        pid, exitcode = 2**22 + 1, 1

        def is_alive(self):
            return False

        kill = join = lambda self, timeout=None: None

    def start(function, memory_limit):
        here, there = pool.multiprocessing.Pipe()
        there.close()
        return pool.Worker(Stillborn(), here)

    monkeypatch.setattr(pool, "_start", start)
    monkeypatch.setattr(pool, "_without_dead", lambda workers: [one for one in workers if not one.is_stopped])
    with pytest.raises(
        ChildProcessError, match=r"could not be started, 3 times in a row: its process ended with code 1"
    ):
        list(compute_all(work, [("square", 2)], 1))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_what_an_item_has_started_ends_with_its_process():
    stream = compute_all(work, [("start", 0), ("sleep", 600)], 1, limits=Limits(seconds=1.0))
    child = next(stream).result
    assert os.path.exists(f"/proc/{child}")
    next(stream)
    end = time.monotonic() + 30
    while _runs(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(number):
    """Check if a process runs and is not a zombie."""
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_daemon_may_start_processes_too(monkeypatch):
    me = pool.multiprocessing.current_process()
    monkeypatch.setattr(me, "daemon", True)  # as workers of Dask are
    assert answers([("square", 3)], n_processes=1)["square", 3].result == 9
    assert me.daemon is True


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_a_tiny_memory_limit_fails_only_items_that_need_memory():
    found = answers([("memory", 100), ("square", 3)], n_processes=1, limits=Limits(megabytes=0.1))
    assert found["memory", 100].reason == "needs more memory than the limit of 0.1 MB"
    assert found["square", 3].result == 9


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_a_limit_above_that_of_the_system_is_lowered_to_it(monkeypatch):
    import resource

    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (-1, 2**33))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limit: asked.append(limit))
    with Peak(1e9):
        pass
    assert asked == [(2**33, 2**33), (-1, 2**33)]


def test_a_process_whose_parent_has_ended_ends_silently(monkeypatch):
    for owner, name in ((pool.signal, "signal"), (os, "setpgrp"), (pool.threading.Thread, "start")):
        monkeypatch.setattr(owner, name, lambda *_: None, raising=False)
    here, there = pool.multiprocessing.Pipe()
    here.close()
    pool._serve(there, work, None)
    there.close()
