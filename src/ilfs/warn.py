"""Warnings that point at the line of the user's code."""

import inspect
import warnings

SKIPPED_PACKAGES = ("ilfs", "sklearn")  # scikit-learn too, as a pipeline may have called fit


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points at the line of the user's code."""
    level, frame = 1, inspect.currentframe()
    while frame and frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in SKIPPED_PACKAGES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
