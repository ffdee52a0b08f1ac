"""Marks for tests that need something that is not everywhere."""

import os
import sys
from pathlib import Path

import pytest

needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs signals, permissions, links or pipes of POSIX")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc or limits of Linux")
needs_repository = pytest.mark.skipif(
    not (Path(__file__).parents[1] / "docs").exists(), reason="a source distribution has no docs and no benchmarks"
)
