"""Warnings that point at the user's line."""

import inspect
import warnings

OURS = ("ilfs", "sklearn")  # fit may have been called by a pipeline


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as if the line that called into this package had."""
    level, frame = 1, inspect.currentframe()
    while frame and frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
