import signal
from pathlib import Path

import pytest
from hypothesis import settings
from metamorphic import small_blocks as small_blocks_of

# They hold no doctests, and pytest would refuse the second module of this name.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]
if not (Path(__file__).parents[1] / "docs").exists():  # in a source distribution
    collect_ignore = ["test_audit.py", "test_distribution.py", "test_docs.py", "datasets/test_page.py"]

settings.register_profile("ilfs", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("ilfs")


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell; tests send Ctrl-C to processes
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def small_blocks():
    """Cut even a tiny table into many blocks, and read them in threads."""
    with small_blocks_of(rows=16):
        yield
