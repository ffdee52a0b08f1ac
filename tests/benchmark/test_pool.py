"""Processes that are watched."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from ilfs.benchmark.pool import compute_all


def work(item):
    """What a process is asked to do in these tests."""
    what, value = item
    if what == "square":
        return value * value
    if what == "fail":
        raise ValueError(f"no {value}")
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "sleep":
        time.sleep(value)
    if what == "memory":
        return float(np.ones(value * 2**17).sum())
    return os.getpid()


def answers(items, n_processes=2, **options):
    return {answer.item: answer for answer in compute_all(work, items, n_processes, **options)}


def test_every_item_is_answered():
    found = answers([("square", k) for k in range(20)])
    assert {item: answer.result for item, answer in found.items()} == {("square", k): k * k for k in range(20)}
    assert all(answer.reason == "" for answer in found.values())


def test_an_error_is_an_answer_with_its_reason_and_place():
    found = answers([("fail", "luck"), ("square", 3)])
    assert found["fail", "luck"].result is None
    assert found["fail", "luck"].reason.startswith("ValueError: no luck (test_pool.py:")
    assert found["square", 3].result == 9


def test_a_process_that_dies_costs_its_item_alone():
    found = answers([("square", 2), ("die", 0), ("square", 3), ("square", 4)], n_processes=1)
    assert found["die", 0].reason == "its process was ended by signal 9 (perhaps for lack of memory)"
    assert [found["square", k].result for k in (2, 3, 4)] == [4, 9, 16]


def test_an_item_that_takes_too_long_is_ended():
    start = time.monotonic()
    found = answers([("sleep", 60), ("square", 3)], n_processes=1, time_limit=2.0)
    assert found["sleep", 60].reason == "took longer than the limit of 2 s"
    assert found["square", 3].result == 9
    assert time.monotonic() - start < 40


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_an_item_that_grows_too_large_fails_and_the_next_does_not():
    found = answers([("memory", 2000), ("memory", 1)], n_processes=1, memory_limit=500)
    assert found["memory", 2000].reason == "needs more memory than the limit of 500 MB"
    assert found["memory", 1].result == 2**17


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system tells the largest ever only")
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
        from ilfs.benchmark.pool import compute_all
        print("begin")
        print([answer.result for answer in compute_all(operator.neg, [5], 1)])
        """)
    )
    said = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.split("\n")[:2] == ["begin", "[-5]"]


def test_processes_end_with_the_one_that_started_them(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from test_pool import work
        from ilfs.benchmark.pool import compute_all
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
