import numpy as np

from ilfs.kernels._jit import kernel
from ilfs.kernels.popcount import _by_halves, ones_in


@kernel
def count_each(words, counts):
    for i in range(words.size):
        counts[i] = ones_in(words[i])


def test_ones_of_words_are_counted():
    words = np.array(
        [0, 1, 2**63, 2**64 - 1, 0xF0F0, *np.random.default_rng(0).integers(0, 2**63, 50)], dtype=np.uint64
    )
    expected = [bin(int(word)).count("1") for word in words]
    counts = np.zeros(words.size, np.int64)
    count_each(words, counts)
    assert counts.tolist() == expected
    assert [ones_in(word) for word in words] == expected
    with np.errstate(over="ignore"):
        assert [int(_by_halves(word)) for word in words] == expected
