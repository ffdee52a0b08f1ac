"""Block sizes that several kernels share."""

STREAMED_COLUMNS = 4096  # columns of a row that are read before the next row: long runs, whose sums stay in the cache
PARALLEL_SUMS = 32  # sums per pair of samples; the compiler cannot vectorise a single sum without reordering additions
