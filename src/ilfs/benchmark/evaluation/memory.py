"""Measure the memory that a block of code takes: the growth of this process, sampled by a thread."""

import os
import platform
import threading
from types import TracebackType
from typing import Self

SAMPLING_SECONDS = 0.02
IS_LINUX = platform.system() == "Linux"


class Peak:
    """Largest growth of this process while the block runs.

    Parameters
    ----------
    limit : float, optional
        Limit in megabytes, beyond which allocations fail (on Linux only).

    Attributes
    ----------
    megabytes : float or None
        Largest growth so far; None if the system does not report it.
    """

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self._finished = threading.Event()

    def __enter__(self) -> Self:
        self._before = resident_megabytes()
        self._largest = self._before
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()  # before the limit is set: a thread may not fit into it
        self._old_limit = None if self.limit is None else _limit_growth(self.limit)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._finished.set()
        self._thread.join()
        if self._old_limit is not None:
            _restore_limit(self._old_limit)

    @property
    def megabytes(self) -> float | None:
        """Largest growth so far."""
        self._sample()
        if self._before is None or self._largest is None:
            return None
        return self._largest - self._before

    def _sample(self) -> None:
        now = resident_megabytes()
        if now is not None and self._largest is not None:
            self._largest = max(self._largest, now)

    def _watch(self) -> None:
        while not self._finished.wait(SAMPLING_SECONDS):
            self._sample()


def resident_megabytes() -> float | None:
    """Resident memory of this process."""
    if IS_LINUX:
        return _size_in_bytes(1) / 2**20
    try:
        import resource
    except ImportError:
        return None
    largest_ever = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # there is nothing better on these systems
    return largest_ever / (2**20 if platform.system() == "Darwin" else 2**10)


def _size_in_bytes(which: int) -> int:
    """Read a size of this process in bytes: virtual memory (0) or resident memory (1)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[which]) * os.sysconf("SC_PAGE_SIZE")


def _limit_growth(megabytes: float) -> tuple[int, int] | None:
    """Limit the growth of virtual memory; return the limits before, None if the system has no such limit."""
    if not IS_LINUX:
        return None
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _size_in_bytes(0) + int(megabytes * 2**20)
    # A limit that is set already stays in force.
    allowed = [limit for limit in before if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *allowed]), before[1]))
    return before


def _restore_limit(limit: tuple[int, int]) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, limit)
