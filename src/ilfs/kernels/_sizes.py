"""Block sizes that several kernels share."""

# Columns of a row that are read before the next row: many, so that memory is read in long runs, but few enough for
# their sums to stay in the cache.
STREAMED_COLUMNS = 4096
PARALLEL_SUMS = 32  # sums per pair of samples; the compiler cannot vectorise a single sum without reordering additions
GROUP_ROWS = 8  # rows of a class whose sums are added before they are added to those of the class
