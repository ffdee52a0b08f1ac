import gc
from pathlib import Path

import numpy as np
import pytest

from ilfs.arrays import MIN_PAGED_BYTES, zeros_in_pages
from ilfs.memory import return_free_memory


def resident_megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_rows", [3, MIN_PAGED_BYTES // 16])
def test_a_paged_array_is_an_array_of_zeros_that_can_be_written(n_rows, order):
    array = zeros_in_pages((n_rows, 5), np.float32, order)
    assert (array == 0).all()
    array[1, 2] = 7
    assert (array.shape, array.dtype, array.sum(), array[1, 2]) == ((n_rows, 5), np.float32, 7, 7)
    assert array.flags.f_contiguous == (order == "F")
    assert array.flags.c_contiguous == (order == "C")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_the_memory_of_a_paged_array_goes_back_to_the_system():
    array = zeros_in_pages((64, 2**17))  # 64 MB
    array += 1.0
    before = resident_megabytes()
    del array
    gc.collect()
    return_free_memory()
    assert resident_megabytes() < before - 60
