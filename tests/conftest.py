import pytest
from hypothesis import settings

from ilfs.execution import memory

settings.register_profile("ilfs", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("ilfs")


@pytest.fixture
def small_blocks(monkeypatch):
    """Cut even a tiny table into many blocks, and let threads have them."""
    sizes = {name: 3 for name, value in vars(memory).items() if name.isupper() and isinstance(value, int)}
    for name, size in (sizes | {"BLOCK_ROWS": 16, "SERIAL_CELLS": 0}).items():
        monkeypatch.setattr(memory, name, size)
