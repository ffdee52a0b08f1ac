"""Marks for tests that need something that not every operating system has."""

import os
import sys

import pytest

needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs signals, permissions, links or pipes of POSIX")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc or limits of Linux")
