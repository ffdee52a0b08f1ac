"""Log message for users who wait while kernels are compiled.

Kernels are compiled once on a computer, in the first fit, which then takes some seconds longer than the next. Without a
message, users would take these seconds for the speed of the method. The library never prints, and a warning would be an
error for users who turn warnings into errors. So the message is a log record of level WARNING. By default Python shows
it on stderr, in notebooks too, and ``logging.getLogger("ilfs").setLevel("ERROR")`` silences it.
"""

import logging
import multiprocessing
import threading
import time

SECONDS_BEFORE_MESSAGE = 1.0  # seconds of compiling after which the message is logged
MESSAGE = "ilfs: compiling numerical kernels that are needed for the first time; they are kept in %s"


class CompileClock:
    """Seconds that this process has spent compiling kernels, and whether the message was logged."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.seconds, self.since, self.is_logged = 0.0, 0.0, False
        self.depth = 0  # kernels being compiled; more than 1 while a kernel that another kernel calls is compiled
        self.timer: threading.Timer | None = None


clock = CompileClock()


def begin_compiling(folder: str) -> None:
    """Start the clock for a kernel; the message is logged once all kernels together have taken a second."""
    # Only the main process logs: worker processes would repeat the message and disturb the output of their parent.
    if clock.is_logged or multiprocessing.parent_process() is not None:
        return
    with clock.lock:
        clock.depth += 1
        if clock.depth > 1:
            return
        clock.since = time.monotonic()
        # A timer instead of a check after each kernel: the longest kernels take some seconds each.
        clock.timer = threading.Timer(max(SECONDS_BEFORE_MESSAGE - clock.seconds, 0.0), log_message, [folder])
        clock.timer.daemon = True
        clock.timer.start()


def end_compiling() -> None:
    """Stop the clock for a kernel, whether it was compiled or compiling it has failed."""
    with clock.lock:
        clock.depth = max(clock.depth - 1, 0)
        if clock.depth == 0 and clock.timer is not None:
            clock.timer.cancel()
            clock.seconds += time.monotonic() - clock.since
            clock.timer = None


def log_message(folder: str) -> None:
    """Log the message, at most once in a process."""
    with clock.lock:
        first, clock.is_logged = not clock.is_logged, True
    if first:
        logging.getLogger("ilfs").warning(MESSAGE, folder)
