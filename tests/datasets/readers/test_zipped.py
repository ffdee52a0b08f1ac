import zipfile

import numpy as np
import pytest

from ilfs.datasets import ReadLimits, load, read_table

CSV = "a,b,y\n1,2,0\n3,4,1\n5,6,1\n"


def zipped(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path


def test_the_only_file_of_an_archive_is_read(tmp_path):
    path = zipped(tmp_path / "cells.csv.zip", **{"folder/": "", "folder/cells.csv": CSV, "__MACOSX/._cells.csv": "?"})
    table = read_table(path)
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4], [5, 6]])
    assert table.name == "cells"
    assert load(f"{path}?drop=a").feature_names == ("b",)
    svm = zipped(tmp_path / "words.svm.zip", words="0 1:1\n1 2:1\n")
    assert read_table(svm).n_features == 2


@pytest.mark.parametrize(
    ("members", "got"),
    [({}, "none"), ({"a.csv": CSV, "b.csv": CSV}, "a.csv, b.csv"), (dict.fromkeys("abcd", CSV), "a, b, c, ...")],
)
def test_an_archive_of_several_files_is_refused(tmp_path, members, got):
    with pytest.raises(ValueError, match=rf"the zip archive .*t\.csv\.zip must hold one file, got {got}$"):
        read_table(zipped(tmp_path / "t.csv.zip", **members))


def test_a_damaged_archive_is_refused(tmp_path):
    path = zipped(tmp_path / "t.csv.zip", t=CSV * 50)
    content = path.read_bytes()
    for damaged in (content[:-30], content[:60] + b"\xff" * 20 + content[80:], b"PK no archive"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"t\.csv\.zip must be a complete zip archive without a password: "):
            read_table(path)


def test_a_zip_bomb_is_refused(tmp_path):
    path = zipped(tmp_path / "t.csv.zip", t="a,y\n" + "0,0\n0,1\n" * 100_000)
    with pytest.raises(ValueError, match=r"t\.csv\.zip \(.*\) must take at most 10,000 bytes in memory"):
        read_table(path, limits=ReadLimits(max_bytes=10_000, max_expansion=2))
