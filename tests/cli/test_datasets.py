"""``ilfs datasets``: one row for each data set, with its availability."""

import csv
import io

import pytest

from ilfs.cli import main
from ilfs.datasets import REGISTRY, load


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    """Availability of each data set, with a folder that has COLON and without a network."""
    for name in ("ILFS_MIRROR", "ILFS_VOC_DEVKIT", "ILFS_VOC_NETWORK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ILFS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ILFS_DATA", str(tmp_path))
    monkeypatch.setenv("ILFS_OFFLINE", "1")
    (tmp_path / "colon.npz").write_bytes(b"nobody looks inside")

    def asked():
        assert main(["datasets", "--format", "csv"]) == 0
        rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
        return {row["name"]: row["here"] for row in rows}

    return asked


def test_every_data_set_is_listed_with_its_availability(here):
    said = here()
    assert list(said) == list(REGISTRY)
    assert said["colon"] == said["iris"] == "yes"
    assert said["synthetic_noise"] == "made"
    assert said["lung"] == said["leukemia"] == said["voc2007"] == said["gina_openml"] == "no"


def test_data_sets_that_can_be_downloaded_name_their_source(here, monkeypatch):
    monkeypatch.delenv("ILFS_OFFLINE")
    said = here()
    assert said["leukemia"] == said["gina_openml"] == said["lymphoma"] == "OpenML"
    assert said["lung"] == said["polarity"] == "fetch"
    assert said["office_caltech10"] == "no"
    monkeypatch.setenv("ILFS_MIRROR", "http://127.0.0.1:9")
    said = here()
    assert said["lung"] == said["leukemia"] == "mirror"
    assert said["gina_openml"] == "OpenML"
    assert said["colon"] == "yes"


def test_a_cached_copy_from_openml_counts_as_available(here, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "openml-1104.npz").touch()
    assert here()["leukemia"] == "yes"


def test_voc_is_available_if_devkit_and_network_are_named(here, monkeypatch):
    monkeypatch.setenv("ILFS_VOC_DEVKIT", "devkit")
    assert here()["voc2007"] == "no"
    monkeypatch.setenv("ILFS_VOC_NETWORK", "net.onnx")
    assert here()["voc2007"] == "made"


def test_loading_an_unavailable_data_set_says_what_to_do(here):
    for name, said in here().items():
        if said == "no":
            with pytest.raises(FileNotFoundError, match="is not here: "):
                load(name)


@pytest.mark.usefixtures("here")
def test_show_prints_what_is_known_of_one_set(tmp_path, capsys):
    assert main(["datasets", "show", "colon"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(
        "colon: COLON\nstanding:   exact\nsizes:      62 samples, 2,000 features, 2 classes (22, 40)"
    )
    assert "paper:      COLON: 62 samples" in shown
    assert f"here:       yes, {tmp_path / 'colon.npz'}" in shown
    assert max(map(len, shown.splitlines())) <= 100 + len(str(tmp_path))


@pytest.mark.usefixtures("here")
def test_show_of_an_unknown_name_suggests_a_similar_one(capsys):
    assert main(["datasets", "show", "colom"]) == 2
    assert capsys.readouterr() == (
        "",
        "ilfs: no data set is called 'colom', did you mean 'colon': ilfs datasets lists the names\n",
    )
