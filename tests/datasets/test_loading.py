import dataclasses
import hashlib
import json

import numpy as np
import pytest
from scipy import sparse
from server import serving

from ilfs.datasets import REGISTRY, Spec, VocOptions, load
from ilfs.datasets.archive import write_archive
from ilfs.datasets.dataset import Dataset, content_checksum, file_checksum
from ilfs.datasets.loading import check_registered

X = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
Y = np.array([0, 0, 0, 0, 1, 1])
TOY = Spec("toy", "TOY (partial)", "partial", 6, 4, (4, 2), "nowhere", "none", sha256="0" * 64, size=9)


@pytest.fixture
def register(monkeypatch):
    def add(**changes):
        spec = dataclasses.replace(TOY, **changes)
        monkeypatch.setitem(REGISTRY, "toy", spec)
        return spec

    return add


@pytest.fixture
def cache(tmp_path):
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


@pytest.fixture
def data(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("ILFS_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def write(path, X=X, y=Y, **arrays):
    np.savez(path, X=X, y=y, class_names=np.array(["no", "yes"]), **arrays)
    return path


def test_ilfs_data_comes_before_the_cache(register, cache, data):
    for folder, shift in ((cache, 1), (data, 2)):
        write(folder / "toy.npz", X + shift)
    register(sha256="")
    np.testing.assert_array_equal(load("toy").X, X + 2)
    (data / "toy.npz").unlink()
    np.testing.assert_array_equal(load("toy").X, X + 1)


def test_a_file_with_another_checksum_gives_a_warning(register, data):
    register(size=0)
    table = load(write(data / "toy.npz").stem)
    with pytest.warns(UserWarning, match=r"toy\.npz is not the registered file: its SHA-256 must be 0{64}, got"):
        check_registered(table)
    assert table.checksum == file_checksum(data / "toy.npz")


def test_a_file_of_another_size_gives_a_warning(register, data):
    register(size=7)
    with pytest.warns(UserWarning, match=r"toy\.npz is not the registered file: its size must be 7 bytes, got [0-9,]+"):
        load(write(data / "toy.npz").stem)


def test_nothing_is_hashed_before_the_checksum_is_read(register, data, monkeypatch):
    register(size=0)
    asked = []
    monkeypatch.setattr("ilfs.datasets.dataset.file_checksum", lambda path: asked.append(path) or "of the file")
    monkeypatch.setattr("ilfs.datasets.dataset.content_checksum", lambda table: asked.append(table) or "of the content")
    (data / "genes.csv").write_text("a,b,donor,y\n1,2,x,0\n3,4,y,1\n5,6,x,1\n")
    tables = [load(write(data / "toy.npz").stem), load("wine"), load(f"{data}/genes.csv?target=y&groups=donor")]
    assert asked == []
    assert [table.checksum for table in tables] == ["of the file", "of the content", "of the content"]


def test_an_unregistered_file_is_loaded_by_its_name(data):
    write(data / "mine.npz")
    assert load("mine").class_sizes == (4, 2)


def test_target_and_dropped_columns_of_an_unregistered_file_can_be_chosen(data):
    write(data / "mine.npz", feature_names=np.array(list("abcd")), stage=1 - Y)
    assert load("mine?drop=b").feature_names == ("a", "c", "d")
    table = load("mine", target="stage", drop=[0])
    assert (table.name, table.n_features, table.class_sizes) == ("mine", 3, (2, 4))


def test_only_the_rows_of_the_registered_split_are_loaded(register, data):
    path = write(data / "toy.npz", split=np.array(["train", "valid"] * 3))
    register(split="train", sha256=file_checksum(path), size=0)
    table = load("toy")
    np.testing.assert_array_equal(table.X, X[::2])
    np.testing.assert_array_equal(table.y, Y[::2])


def test_the_error_for_an_unknown_name_suggests_a_similar_one():
    with pytest.raises(
        FileNotFoundError,
        match=r"no file and no data set is called 'colom', did you mean 'colon': ilfs datasets lists the names",
    ):
        load("colom")


def test_the_error_for_a_missing_file_names_the_folder_to_put_it_into(cache, data, monkeypatch):
    fetch = "run ilfs datasets fetch colon, or "
    source = r"Source: Alon et al\. 1999, .*; see docs/datasets\.md$"
    put = rf"^COLON is not here: {fetch}put colon\.npz into"
    with pytest.raises(FileNotFoundError, match=rf"{put} {data}, which ILFS_DATA names\. {source}"):
        load("colon")
    monkeypatch.setenv("ILFS_DATA", str(data / "nowhere"))
    there_is_none = "which ILFS_DATA names, though there is no such folder"
    with pytest.raises(FileNotFoundError, match=rf"{put} {data}/nowhere, {there_is_none}\. {source}"):
        load("colon")
    monkeypatch.delenv("ILFS_DATA")
    or_else = "or into a folder that the environment variable ILFS_DATA names"
    with pytest.raises(FileNotFoundError, match=rf"{put} {cache}, {or_else}\. {source}"):
        load("colon")
    with pytest.raises(FileNotFoundError, match=rf"{or_else}, or load 'gina_openml', the original rows\. Source: made"):
        load("gina")


def test_the_error_for_voc_says_what_to_do():
    file = r"^VOC 2007, EfficientNet-Lite0 is not here: put voc2007\.npz into .*, or compute the features of your own"
    with pytest.raises(FileNotFoundError, match=file + ".* or load a substitute, 'office_caltech10' or"):
        load("voc2007")
    with pytest.raises(FileNotFoundError, match=r"^VOC 2012 needs both: .* and ILFS_VOC_NETWORK the ONNX file of a"):
        load("voc2012", voc=VocOptions(devkit="VOCdevkit"))


def test_a_mirror_fills_the_cache(register, cache, tmp_path, monkeypatch):
    path = write(tmp_path / "original.npz")
    monkeypatch.setattr("server.Handler.good", lambda self: answer(self, path.read_bytes()))
    register(sha256=file_checksum(path), size=path.stat().st_size)
    monkeypatch.delenv("ILFS_OFFLINE")
    reports = []
    with serving() as server:
        monkeypatch.setenv("ILFS_MIRROR", f"{server.address}/missing/ {server.address}/good")
        for _ in range(2):
            np.testing.assert_array_equal(load("toy", progress=lambda *now: reports.append(now)).X, X)
    assert server.asked == {"missing": 1, "good": 1}
    assert reports == [(path.stat().st_size, path.stat().st_size)]
    assert (cache / "toy.npz").read_bytes() == path.read_bytes()


def answer(handler, content):
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(content)


def test_the_error_names_a_mirror_without_the_file(register, cache, monkeypatch):
    register()
    monkeypatch.delenv("ILFS_OFFLINE")
    with serving() as server:
        monkeypatch.setenv("ILFS_MIRROR", f"{server.address}/missing")
        with pytest.raises(
            FileNotFoundError, match=rf"toy\.npz could not be downloaded .*404.*: put toy\.npz into {cache}, "
        ):
            load("toy")


ARFF = (
    "@relation toy\n" + "".join(f"@attribute {name} real\n" for name in "abcd") + "@attribute 'kind' {'1',2}\n@data\n"
)
CLASSES = [1, 1, 1, 1, 2, 2]
DENSE = ARFF + "".join(",".join(map(repr, row)) + f",{c}\n" for row, c in zip(X.tolist(), CLASSES, strict=True))
SPARSE = ARFF + "".join(f"{{0 {row[0]!r},4 {c}}}\n" for row, c in zip(X.tolist(), CLASSES, strict=True))


@pytest.fixture
def openml(monkeypatch):
    """Replace OpenML by a local server."""
    monkeypatch.delenv("ILFS_OFFLINE")
    with serving() as server:

        def holds(arff, **changes):
            found = {"url": f"{server.address}/files/toy.arff", "default_target_attribute": "kind"} | changes
            server.contents = {
                "7.json": json.dumps({"data_set_description": found}).encode(),
                "toy.arff": arff.encode(),
            }

        monkeypatch.setattr("ilfs.datasets.openml.OPENML_ADDRESS", f"{server.address}/files/{{}}.json")
        server.holds = holds
        yield server


@pytest.mark.parametrize("arff", [DENSE, SPARSE])
def test_openml_is_asked_once(register, cache, openml, arff):
    register(openml=7)
    openml.holds(arff, md5_checksum=hashlib.md5(arff.encode()).hexdigest())
    reports = []
    tables = [load("toy", progress=lambda *now: reports.append(now)) for _ in range(2)]
    assert openml.asked == {"files": 2}  # the description and the file
    assert reports[-1] == (len(arff), len(arff))
    assert {path.name for path in cache.iterdir()} == {"openml-7.npz", "openml-7.npz.lock"}
    for table in tables:
        assert sparse.issparse(table.X) == (arff == SPARSE)
        assert table.X.dtype == np.float32
        assert table.class_names == ("1", "2")
        assert table.feature_names == ("a", "b", "c", "d")
        assert table.checksum == content_checksum(table) == content_checksum(tables[0])
    if arff == DENSE:
        np.testing.assert_array_equal(tables[0].X, X)


def test_columns_that_openml_says_to_ignore_are_no_features(register, cache, openml):
    register(openml=7, features=2)
    openml.holds(DENSE, row_id_attribute="a", ignore_attribute=["b"])
    assert load("toy").feature_names == ("c", "d")


def test_a_copy_on_openml_must_have_the_registered_sizes(register, cache, openml):
    register(openml=7, class_sizes=(3, 3))
    openml.holds(DENSE)
    sentence = r"OpenML's data set 7 must be \(6, 4, \[3, 3\]\), got \(6, 4, \[2, 4\]\): put toy\.npz into"
    with pytest.raises(FileNotFoundError, match=sentence):
        load("toy")
    assert not (cache / "openml-7.npz").exists()


@pytest.mark.parametrize(
    ("arff", "changes", "reason"),
    [
        (DENSE, {"md5_checksum": "0" * 32}, "its MD5 must be 0{32}, got"),
        (DENSE, {"url": "ftp://elsewhere/toy.arff"}, "an address must start with http"),
        (DENSE, {"url": None}, "must start with http"),
        (
            DENSE,
            {"default_target_attribute": "none"},
            r"target must be a column of its file \(such as .*\), got 'none'",
        ),
        (DENSE[:-9], {}, "row 6 of its file must have 5 values, got"),
        ("<html>", {}, "its file must begin with @relation"),
    ],
)
def test_what_openml_gives_must_be_right(register, cache, openml, arff, changes, reason):
    register(openml=7)
    openml.holds(arff, **changes)
    with pytest.raises(
        FileNotFoundError, match=rf"data set 7 of OpenML could not be .*({reason}).*: put toy\.npz into"
    ):
        load("toy")
    assert {path.name for path in cache.iterdir()} == {"openml-7.npz.lock"}


@pytest.mark.parametrize("description", [b"{}", b"no JSON", b"[1]", b'{"data_set_description": {"url": "x"}}'])
def test_an_unknown_description_is_an_error(register, openml, description):
    register(openml=7)
    openml.contents = {"7.json": description}
    with pytest.raises(FileNotFoundError, match="description must have url and default_target_attribute"):
        load("toy")


def test_the_error_without_a_network_names_openml(register, openml, monkeypatch):
    register(openml=7)
    monkeypatch.setattr("ilfs.datasets.openml.OPENML_ADDRESS", "http://127.0.0.1:9/{}")
    with pytest.raises(
        FileNotFoundError, match=r"data set 7 of OpenML could not be downloaded \(.*refused.*\): put toy\.npz into"
    ):
        load("toy")


def test_offline_mode_makes_no_requests(register, openml, monkeypatch):
    register(openml=7)
    monkeypatch.setenv("ILFS_OFFLINE", "1")
    monkeypatch.setenv("ILFS_MIRROR", "http://127.0.0.1:9")
    with pytest.raises(FileNotFoundError, match=r"^TOY \(partial\) is not here: put"):
        load("toy")
    assert not openml.asked


def test_the_content_checksum_depends_on_values_and_names_only():
    dense = Dataset("a", X, Y, ("no", "yes"))
    assert content_checksum(dense) == content_checksum(
        Dataset("b", np.asfortranarray(X), Y.astype(np.int8), ("no", "yes"))
    )
    unsorted = sparse.csr_array((np.array([2.0, 1.0]), [1, 0], [0, 2]), shape=(1, 2))
    sorted_ = sparse.csr_array(np.array([[1.0, 2.0]]))
    one = np.array([0])
    assert content_checksum(Dataset("a", unsorted, one, ("c",))) == content_checksum(Dataset("a", sorted_, one, ("c",)))
    different = [X + 1, X.astype(np.float64)]
    assert len({content_checksum(Dataset("a", other, Y, ("no", "yes"))) for other in [X, *different]}) == 3
    assert content_checksum(dense) != content_checksum(Dataset("a", X, Y, ("yes", "no")))


def test_a_written_archive_is_read_again(data):
    table = Dataset("toy", X, Y, ("no", "yes"), tuple("abcd"))
    with (data / "copy.npz").open("wb") as file:
        write_archive(file, table)
    assert content_checksum(load("copy")) == content_checksum(table)
