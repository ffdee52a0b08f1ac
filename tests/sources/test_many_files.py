"""A table may have more files than a process may open at a time."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ilfs import FisherScore

resource = pytest.importorskip("resource", reason="limits of a process are those of POSIX")
N_FILES, MAX_OPEN_FILES = 300, 128
RANKING = """
import resource, sys
import ilfs
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]), most))
table = ilfs.read(sys.argv[1], target="kind", memory_limit=sys.argv[3])
print(type(table).__name__, *ilfs.FisherScore().fit(table).order_)
"""


@pytest.mark.parametrize(("limit", "kind"), [("1GB", "ArraySource"), ("2KB", "BatchSource")])
def test_a_folder_of_more_files_than_may_be_open(limit, kind, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(4 * N_FILES) % 2
    X = rng.normal(size=(y.size, 3)) + y[:, None] * [0.0, 1.0, 0.5]
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "kind": np.array(["no", "yes"])[y]})
    for i in range(N_FILES):
        pq.write_table(table.slice(4 * i, 4), tmp_path / f"part-{i:04}.parquet")
    arguments = [sys.executable, "-c", RANKING, str(tmp_path), str(MAX_OPEN_FILES), limit]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [kind, *map(str, FisherScore().fit(X, y).order_)]
