"""The converters of all public sources: files in the form of each source, written here, must give the data set back.

The files hold the values of the real data sets where these are at hand (ILFS_DATA). So a test fails if a reader would
change a value, a row or a class on the way; it cannot tell if the public files themselves have these values.
"""

import dataclasses
import io
import re
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers import DATA, NO_DATA
from idx_files import idx
from r_files import factor, matrix, named_list, rda, reals
from test_reviews import raw_reviews

from ilfs.datasets import REGISTRY, fetch_dataset, load
from ilfs.datasets.archive import read_archive
from ilfs.datasets.converters import CONVERTERS
from ilfs.datasets.dataset import values_checksum
from ilfs.datasets.obtain import OF_REGISTERED_FILE
from ilfs.datasets.registry import PAPER

FETCHABLE = [spec for spec in REGISTRY.values() if spec.sources]


def real(name):
    spec = REGISTRY[name]
    path = Path(DATA or "") / spec.file
    if not DATA or not path.is_file():
        pytest.skip(NO_DATA)
    return read_archive(path, name, spec.split)


def r_list(table, x, y, labels):
    classes = factor([table.class_names[c] for c in table.y]) if labels is None else reals(labels)
    return rda(bytes, table=named_list(**{x: matrix(table.X, table.feature_names), y: classes}))


def c45(table, rows):
    """Bytes of a zip archive of the Kent Ridge repository; `rows` are the numbers of rows in each data file."""
    names = ", ".join(table.class_names) + ".\n\n" + "".join(f"{name}: continuous.\n" for name in table.feature_names)
    lines = [",".join("?" if x != x else repr(float(x)) for x in row) for row in table.X.astype(np.float64)]
    texts = [f"{line},{table.class_names[c]}\n" for line, c in zip(lines, table.y, strict=True)]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("KR/kr.names", names)
        for part, chosen in rows.items():
            archive.writestr(f"KR/kr_{part}.data", "".join(texts[i] for i in chosen))
    return packed.getvalue()


def fetched(name, number, folder, monkeypatch, **files):
    """Fetch a data set from its source of this number, whose files are given."""
    spec = REGISTRY[name]
    monkeypatch.setitem(REGISTRY, name, dataclasses.replace(spec, sources=spec.sources[number : number + 1]))
    for file, content in files.items():
        (folder / file).write_bytes(content)
    found = fetch_dataset(name, folder=folder)
    return found, load(name)


@pytest.mark.parametrize("name", ["colon", "leukemia", "prostate", "lung"])
def test_r_data(name, tmp_path, monkeypatch):
    pytest.importorskip("rdata", reason="the package rdata is not installed")
    table = real(name)
    labels = [float(c) for c in table.y] if name == "prostate" else None
    file = REGISTRY[name].sources[0].files[0].name
    found, made = fetched(name, 0, tmp_path, monkeypatch, **{file: r_list(table, "x", "y", labels)})
    assert found.verified.endswith(OF_REGISTERED_FILE)
    np.testing.assert_array_equal(made.X, table.X)
    np.testing.assert_array_equal(made.y, table.y)
    assert made.class_names == table.class_names
    assert made.feature_names == table.feature_names


def test_r_data_in_a_package(tmp_path, monkeypatch):
    pytest.importorskip("rdata", reason="the package rdata is not installed")
    table = real("prostate")
    source = REGISTRY["prostate"].sources[1]
    content, packed = r_list(table, "x", "y", table.y.tolist()), io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        info = tarfile.TarInfo(source.member)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    found, _ = fetched("prostate", 1, tmp_path, monkeypatch, **{source.files[0].name: packed.getvalue()})
    assert found.verified.endswith(OF_REGISTERED_FILE)


def test_colon_of_plsgenomics(tmp_path, monkeypatch):
    pytest.importorskip("rdata", reason="the package rdata is not installed")
    table = real("colon")
    unnamed = dataclasses.replace(table, feature_names=None)
    content = r_list(unnamed, "X", "Y", [1.0 + c for c in table.y])
    found, made = fetched("colon", 1, tmp_path, monkeypatch, **{"Colon.rda": content})
    assert found.verified.endswith(OF_REGISTERED_FILE)
    assert made.class_names == ("n", "t")


def test_lymphoma_without_two_rows_of_the_kent_ridge_file(tmp_path, monkeypatch):
    table = real("lymphoma")
    order = [0, 1, 2, 0, 0, *range(3, 45)]  # two further germinal rows, the fourth and the fifth
    found, made = fetched("lymphoma", 1, tmp_path, monkeypatch, **{"DLBCL-Stanford.zip": c45(table, {"all": order})})
    assert found.verified.endswith(OF_REGISTERED_FILE)
    assert np.isnan(made.X).sum() == 5948
    assert made.class_sizes == (22, 23)


def test_training_rows_of_the_kent_ridge_repository_come_first(tmp_path, monkeypatch):
    table = real("colon")
    archive = c45(table, {"test": range(40, 62), "train": range(40)})
    found, _ = fetched("colon", 2, tmp_path, monkeypatch, **{"ColonTumor.zip": archive})
    assert found.verified.endswith(OF_REGISTERED_FILE)


def challenge(table):
    """Rows and labels of the two parts in the form of the NIPS 2003 challenge."""
    files = {}
    for part, rows in (("train", range(300)), ("valid", range(300, 600))):
        lines = []
        for i in rows:
            at = slice(table.X.indptr[i], table.X.indptr[i + 1])
            pairs = zip(table.X.indices[at], table.X.data[at], strict=True)
            lines.append(" ".join(f"{j + 1}:{int(value)}" for j, value in pairs) + " \n")
        files[f"dexter_{part}.data"] = "".join(lines).encode()
        files[f"dexter_{part}.labels"] = "".join(f"{2 * table.y[i] - 1}\n" for i in rows).encode()
    return files


@pytest.mark.parametrize("number", [0, 1])
def test_dexter_in_an_archive_and_in_single_files(number, tmp_path, monkeypatch):
    files = challenge(real("dexter"))
    if number == 0:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name if "valid.labels" in name else f"DEXTER/{name}", content)
        files = {"dexter.zip": packed.getvalue()}
    found, made = fetched("dexter", number, tmp_path, monkeypatch, **files)
    assert found.verified.endswith(OF_REGISTERED_FILE)
    assert (made.class_sizes, made.X.shape) == ((300, 300), (600, 20000))


@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_polarity_of_the_review_corpus(number, tmp_path, monkeypatch):
    reviews, packed = raw_reviews(), io.BytesIO()
    if number == 0:
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("movie_reviews/README", "counts of words")
            for name, text in reversed(reviews.items()):
                archive.writestr(f"movie_reviews/{name}", text.encode("latin-1", "replace"))
    else:
        with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
            for name, text in reviews.items():
                content = text.encode("latin-1", "replace")
                info = tarfile.TarInfo(f"txt_sentoken/{name}")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    file = REGISTRY["polarity"].sources[number].files[0].name
    found, _ = fetched("polarity", number, tmp_path, monkeypatch, **{file: packed.getvalue()})
    assert found.verified.endswith(OF_REGISTERED_FILE)


def test_gina_of_images_in_the_form_of_mnist(tmp_path, monkeypatch):
    chance = np.random.default_rng(0)
    images = chance.integers(0, 256, (7000, 28, 28), dtype=np.uint8) * (chance.random((7000, 28, 28)) < 0.3)
    files = {
        "train-images-idx3-ubyte": idx(images),
        "train-labels-idx1-ubyte": idx(np.arange(7000, dtype=np.uint8) % 10),
    }
    found, made = fetched("gina", 0, tmp_path, monkeypatch, **files)
    assert re.match(
        r"3153 samples, 970 features, classes of 1\d{3} and 1\d{3}; the pixels are not those", found.verified
    )
    assert "not the original rows" in found.differs
    assert made.class_names == ("odd", "even")


@pytest.mark.parametrize("name", ["colon", "leukemia", "prostate", "lymphoma", "lung", "dexter", "polarity"])
def test_known_values_are_those_of_the_registered_file(name):
    known = {source.values for source in REGISTRY[name].sources if source.values}
    assert known == {values_checksum(real(name))}


def test_eight_of_the_ten_can_be_fetched():
    assert [spec.name for spec in PAPER if not spec.sources] == ["voc2007", "voc2012"]
    assert all(spec.advice for spec in PAPER if not spec.sources)


@pytest.mark.parametrize("spec", FETCHABLE, ids=lambda spec: spec.name)
def test_every_source_is_complete(spec):
    for source in spec.sources:
        assert all((source.title, source.licence, source.known_from, source.verified, source.files))
        assert source.converter in CONVERTERS
        assert source.openml or all(file.urls for file in source.files)
        assert all(url.startswith(("http://", "https://")) for file in source.files for url in file.urls)
        assert all(len(file.sha256) in (0, 64) and len(file.md5) in (0, 32) for file in source.files)
        assert source.class_sizes is None or sum(source.class_sizes) == spec.samples
    assert spec.openml in {None, *(source.openml for source in spec.sources)}


def test_the_copy_of_openml_comes_first_for_lymphoma():
    first = REGISTRY["lymphoma"].sources[0]
    assert (first.openml, sorted(first.class_sizes)) == (1101, [22, 23])
    assert REGISTRY["lymphoma"].standing != "exact"
