"""Whatever happens to a file, it is read or refused in one sentence."""

import gzip
import random

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from ilfs.datasets import Table, read_table

X = np.round(np.random.default_rng(0).normal(size=(12, 4)), 3)
Y = np.arange(12) % 2
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(y=Y)
ROWS = [",".join(map(str, row)) for row in X.tolist()]
HEADER = "@relation r\n" + "".join(f"@attribute f{j} real\n" for j in range(4)) + "@attribute class {'0 a',1}\n@data\n"
ARFF_ROWS = [row + (",1" if code else ",'0 a'") for row, code in zip(ROWS, Y, strict=True)]

WRITERS = {
    "t.csv": lambda path: FRAME.to_csv(path, index=False),
    "t.csv.gz": lambda path: path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode())),
    "t.npz": lambda path: np.savez(path, X=X, y=Y),
    "t.svm": lambda path: path.write_text("".join(f"{c} 1:{row[0]} 3:{row[2]}\n" for row, c in zip(X, Y, strict=True))),
    "t.arff": lambda path: path.write_text(HEADER + "\n".join(ARFF_ROWS)),
    "t.mat": lambda path: savemat(path, {"X": X, "y": Y}),
    "t.parquet": FRAME.to_parquet,
    "t.feather": FRAME.to_feather,
}


def cut(content, chance):
    return content[: chance.randrange(1, len(content))]


def changed(content, chance):
    damaged = bytearray(content)
    for _ in range(chance.choice([1, 3, 10])):
        at = chance.randrange(len(damaged))
        damaged[at : at + chance.randrange(1, 5)] = bytes(
            chance.choices(b" ,;\"'{}\n\t01.?e-:@%x\xff\0", k=chance.randrange(4))
        )
    return bytes(damaged)


def refusal(path):
    try:
        assert isinstance(read_table(path), Table)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("damage", [cut, changed])
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.filterwarnings("ignore:the first column of:UserWarning")
def test_a_damaged_file_is_read_or_refused(tmp_path, name, damage):
    if name.endswith((".parquet", ".feather")):
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    if (name, damage) == ("t.mat", changed):
        pytest.skip("SciPy's reader may crash on what is not MATLAB's")
    path, chance = tmp_path / name, random.Random(0)
    WRITERS[name](path)
    whole = path.read_bytes()
    for _ in range(60):
        path.write_bytes(damage(whole, chance))
        told = refusal(path)
        assert told is None or (name in told and "\n" not in told)
