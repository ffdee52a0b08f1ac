"""A damaged file is read or refused with a one-line error, and never crashes Python. See fuzzing.py."""

import gzip
import json
import subprocess
import sys
import zipfile
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fuzzing import table_of
from idx_files import idx
from platforms import needs_proc
from r_files import factor, frame, matrix, named_list, rda, reals, texts
from scipy import sparse
from scipy.io import savemat

from ilfs.datasets import Dataset, read_table

pytestmark = needs_proc  # memory is limited and measured as Linux does it
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

SCRIPT = Path(__file__).with_name("fuzzing.py")
BATCH = 1000  # files per process
MAX_FAILURES = 10

X = np.round(np.random.default_rng(0).normal(size=(12, 4)), 3)
Y = np.arange(12) % 2
CSR = sparse.csr_array(np.where(X > 0, X, 0))
CSR_PARTS = {"data": CSR.data, "indices": CSR.indices, "indptr": CSR.indptr, "shape": np.array(CSR.shape)}
KINDS = np.array(["red", "blue"])[Y]
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(n=np.arange(12), f=np.float32(2.5), y=KINDS)
BOOLEANS = FRAME.assign(t=Y == 0)
CSV = FRAME.to_csv(index=False)
SVM = "".join(f"{c} 1:{row[0]} 3:{row[2]}\n" for row, c in zip(X.tolist(), Y, strict=True))
HEADER = "@relation r\n" + "".join(f"@attribute f{j} real\n" for j in range(4)) + "@attribute class {'0 a',1}\n@data\n"
ROWS = [",".join(map(str, row)) + (",1" if c else ",'0 a'") for row, c in zip(X.tolist(), Y, strict=True)]
SPARSE_ROWS = [f"{{0 {row[0]}, 3 {row[3]}{', 4 1' if c else ''}}}" for row, c in zip(X.tolist(), Y, strict=True)]
ARFF = HEADER + "\n".join(ROWS)
CELLS = np.array([*KINDS], dtype=object)[:, None]


NAMES = "red, blue.\n" + "".join(f"f{j}: continuous.\n" for j in range(4)) + "n: ignore.\n"
C45_ROWS = "".join(
    ",".join(map(str, row)) + f",{i},{k}\n" for i, (row, k) in enumerate(zip(X.tolist(), KINDS, strict=True))
)
GENES = "".join(f"g{j}\tgene {j}\t" + "\t".join(map(str, X[:, j])) + "\n" for j in range(4))
GCT = "#1.2\n4\t12\nName\tDescription\t" + "\t".join(f"s{i}" for i in range(12)) + "\n" + GENES
CLS = "12 2 1\n# red blue\n" + " ".join(map(str, Y)) + "\n"
CALLS = "".join(f"gene {j}\tg{j}\t" + "\t".join(f"{x}\tP" for x in X[:, j]) + "\n" for j in range(4))
RES = "Description\tAccession\t" + "\t".join(f"s{i}\t" for i in range(12)) + "\n\n4\n" + CALLS
R_LIST = named_list(x=matrix(X, list("abcd")), y=factor(KINDS.tolist()))
R_FRAME = frame(**{name: reals(FRAME[name]) for name in "abcd"}, y=texts(KINDS.tolist()))


def zipped(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", CSV)


def packed(text):
    return lambda path: path.write_bytes(gzip.compress(text.encode(), mtime=0))


WRITERS = {
    "csv-1.csv": lambda path: path.write_text(CSV),
    "csv-2.csv": lambda path: path.write_text(FRAME.to_csv(sep=";", decimal=",")),
    "tsv-1.tsv": lambda path: path.write_text(CSV.replace(",", "\t")),
    "csvgz-1.csv.gz": packed(CSV),
    "tsvgz-1.tsv.gz": packed(CSV.replace(",", "\t")),
    "parquet-1.parquet": BOOLEANS.to_parquet,
    "parquet-2.parquet": lambda path: FRAME.to_parquet(path, compression="zstd", row_group_size=5),
    "parquet-3.parquet": lambda path: FRAME.astype({"y": "category"}).to_parquet(path, compression=None),
    "feather-1.feather": BOOLEANS.to_feather,
    "feather-2.feather": lambda path: FRAME.to_feather(path, compression="zstd", chunksize=5),
    "feather-3.feather": lambda path: FRAME.astype({"y": "category"}).to_feather(path, compression="uncompressed"),
    "npz-1.npz": lambda path: np.savez(path, X=X, y=KINDS, feature_names=np.array(list("abcd"))),
    "npz-2.npz": lambda path: np.savez_compressed(path, y=Y, class_names=np.array(["a", "b"]), **CSR_PARTS),
    "npy-1.npy": lambda path: np.save(path, np.column_stack([X, Y])),
    "npy-2.npy": lambda path: np.save(path, np.column_stack([np.arange(12) * 7, Y])),
    "svm-1.svm": lambda path: path.write_text(SVM),
    "svmgz-1.svm.gz": packed(SVM),
    "arff-1.arff": lambda path: path.write_text(ARFF),
    "arff-2.arff": lambda path: path.write_text(HEADER + "\n".join(SPARSE_ROWS)),
    "arffgz-1.arff.gz": packed(ARFF),
    "mat-1.mat": lambda path: savemat(path, {"X": X, "y": Y}),
    "mat-2.mat": lambda path: savemat(path, {"X": CSR.tocsc(), "Y": CELLS}, do_compression=True),
    "mat-3.mat": lambda path: savemat(path, {"X": np.float32(X), "y": KINDS, "s": {"a": 1}}, do_compression=True),
    "mat-4.mat": lambda path: savemat(path, {"X": CSR.tocsc(), "y": KINDS}, format="4"),
    "mat-5.mat": lambda path: savemat(path, {"X": np.int8(X * 9), "y": CELLS, "s": {"a": 1}}),
    "zip-1.csv.zip": zipped,
    "c45-1.names": lambda path: path.write_text(NAMES),
    "c45-1.data": lambda path: path.write_text(C45_ROWS),
    "gct-1.gct": lambda path: path.write_text(GCT),
    "gct-1.cls": lambda path: path.write_text(CLS),
    "res-1.res": lambda path: path.write_text(RES),
    "res-1.cls": lambda path: path.write_text(CLS),
    "idx-1-images-idx3-ubyte": lambda path: path.write_bytes(idx(np.abs(X * 99).reshape(12, 2, 2))),
    "idx-1-labels-idx1-ubyte": lambda path: path.write_bytes(idx(Y)),
}
if find_spec("rdata"):
    WRITERS |= {
        "rda-1.rda": lambda path: path.write_bytes(rda(t=R_LIST)),
        "rda-2.rda": lambda path: path.write_bytes(rda(t=R_FRAME)),
        "rda-3.rdata": lambda path: path.write_bytes(rda(bytes, t=R_LIST)),
    }
FORMATS = tuple(dict.fromkeys(name.partition("-")[0] for name in WRITERS))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "seeds").mkdir()
    for name, write in WRITERS.items():
        write(tmp_path / "seeds" / name)
    return tmp_path


def failures(kinds, n_files, folder):
    """Return the mutations that fail, by number, and their failures."""
    first, found = 0, {}
    while first < n_files and len(found) < MAX_FAILURES:
        last = min(first + BATCH, n_files)
        command = [sys.executable, str(SCRIPT), ",".join(kinds), str(first), str(last), str(folder)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            last = int((folder / "number").read_text()) + 1
            found[last - 1] = f"crash {done.returncode}: {done.stderr[-300:]}"
        else:
            found |= json.loads(done.stdout)
        first = last
    return found


def test_undamaged_files_are_read(folder):
    for path in map(table_of, (folder / "seeds").iterdir()):
        with pytest.warns(UserWarning, match="has no name") if path.name == "csv-2.csv" else nullcontext():
            assert isinstance(read_table(path, -1 if path.suffix == ".npy" else None), Dataset)


def test_damaged_files_are_read_or_refused(folder):
    assert failures(FORMATS, 45 * len(FORMATS), folder) == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_many_damaged_files_are_read_or_refused(kind, folder):
    assert failures([kind], 5000, folder) == {}
