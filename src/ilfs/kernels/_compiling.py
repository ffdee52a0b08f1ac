"""One line for a user who waits while kernels are compiled.

Compiling happens once on a machine, in the first fit, which then takes some seconds longer than the next. Somebody who
sees nothing would take these seconds for the speed of the method. The library never prints and a warning would be an
error for those who treat warnings so; a log record of level WARNING is shown on stderr by default, in notebooks too,
and ``logging.getLogger("ilfs").setLevel("ERROR")`` silences it.
"""

import logging
import multiprocessing
import threading
import time

SECONDS_BEFORE_MESSAGE = 1.0  # seconds of compiling after which the line is shown
MESSAGE = "ilfs: compiling numerical kernels, once on this machine; they are kept in %s"


class Wait:
    """How long kernels have been compiled in this process, and whether the user was told."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.seconds, self.since, self.is_told = 0.0, 0.0, False
        self.depth = 0  # kernels being compiled: one that calls another is compiled around it
        self.timer: threading.Timer | None = None


wait = Wait()


def compiling(folder: str) -> None:
    """Note that a kernel begins to be compiled; log the line once that all kernels together have taken a second."""
    # Only the first process speaks: workers would repeat the line, and write across the progress of their parent.
    if wait.is_told or multiprocessing.parent_process() is not None:
        return
    with wait.lock:
        wait.depth += 1
        if wait.depth > 1:
            return
        wait.since = time.monotonic()
        # A timer, not a clock that is read when a kernel is done: the longest ones take some seconds each.
        wait.timer = threading.Timer(max(SECONDS_BEFORE_MESSAGE - wait.seconds, 0.0), tell, [folder])
        wait.timer.daemon = True
        wait.timer.start()


def is_compiled() -> None:
    """Note that the kernel is compiled, or that compiling it has failed."""
    with wait.lock:
        wait.depth = max(wait.depth - 1, 0)
        if wait.depth == 0 and wait.timer is not None:
            wait.timer.cancel()
            wait.seconds += time.monotonic() - wait.since
            wait.timer = None


def tell(folder: str) -> None:
    """Log the line, at most once in a process."""
    with wait.lock:
        first, wait.is_told = not wait.is_told, True
    if first:
        logging.getLogger("ilfs").warning(MESSAGE, folder)
