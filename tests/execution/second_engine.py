"""A minimal second engine: blocks from an iterator, each read in another process."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from ilfs.execution import Fold
from ilfs.execution.blockwise import all_columns, merge_blocks, read_block
from ilfs.sources import RowBlock
from ilfs.statistics import Classes, RowLabels, encode_labels

_reads = None


def _receive(pickled):
    """Store the requests in this process, so that their large inputs are sent only once."""
    global _reads
    _reads = pickle.loads(pickled)


def _work(block):
    return read_block(_reads, block)


class IteratedSource:
    """Source that generates its rows in blocks of given heights at each pass."""

    def __init__(self, X, y, heights, weight=None):
        self._X, self._heights = X, heights
        self._weight = np.ones(X.shape[0]) if weight is None else weight
        columns = y.T if y.ndim == 2 else [y]
        encoded = [encode_labels(column, self._weight) for column in columns]
        self._labels = [labels for _, labels in encoded]
        self.labellings = tuple(classes for classes, _ in encoded)
        self.all_rows = Classes.count(np.zeros(1), [RowLabels.one_class(self._weight)])
        self.n_features, self.is_sparse, self.feature_names = X.shape[1], not isinstance(X, np.ndarray), None
        self.n_passes = 0

    def blocks(self, columns=None):
        self.n_passes += 1
        start = 0
        for height in self._heights:
            rows = slice(start, start + height)
            X = self._X[rows] if columns is None else self._X[rows][:, columns]
            yield RowBlock(X, tuple(labels.take(rows) for labels in self._labels), self._weight[rows], start)
            start += height


class SecondEngine(Fold):
    """Engine that reads blocks in this process (n_processes=0) or in others."""

    def __init__(self, source, n_processes=0):
        self.source, self.n_processes = source, n_processes
        self.n_features, self.labellings, self.all_rows = source.n_features, source.labellings, source.all_rows

    def read(self, reads):
        blocks = self.source.blocks(all_columns(reads))
        if not self.n_processes:
            return merge_blocks(read_block(reads, block) for block in blocks)
        sent = (pickle.dumps(reads),)
        with ProcessPoolExecutor(self.n_processes, get_context("spawn"), _receive, sent) as pool:
            return merge_blocks(pool.map(_work, blocks))
