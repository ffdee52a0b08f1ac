import logging
import multiprocessing
import time

import pytest

from ilfs.kernels import _compiling


@pytest.fixture
def clock(monkeypatch):
    """Reset the state to that of a new process, with a message after 0.01 seconds."""
    fresh = _compiling.CompileClock()
    monkeypatch.setattr(_compiling, "clock", fresh)
    monkeypatch.setattr(_compiling, "SECONDS_BEFORE_MESSAGE", 0.01)
    return fresh


def compile_for(seconds):
    _compiling.begin_compiling("some/folder")
    time.sleep(seconds)
    _compiling.end_compiling()


def test_long_compilation_is_logged_once(clock, caplog):
    compile_for(0.2)
    compile_for(0.2)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("ilfs", logging.WARNING)
    assert "some/folder" in record.getMessage()


def test_short_compilation_is_not_logged(clock, caplog, monkeypatch):
    monkeypatch.setattr(_compiling, "SECONDS_BEFORE_MESSAGE", 60.0)
    compile_for(0.0)
    assert clock.timer is None
    assert not caplog.records


def test_short_compilations_that_add_up_are_logged(clock, caplog):
    clock.seconds = 0.01
    compile_for(0.1)
    assert len(caplog.records) == 1


def test_worker_processes_log_nothing(clock, caplog, monkeypatch):
    monkeypatch.setattr(multiprocessing, "parent_process", multiprocessing.current_process)
    compile_for(0.1)
    assert not caplog.records
