"""Fetching a data set from its sources, against a local server."""

import dataclasses
import errno
import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from server import CONTENT, serving

from ilfs.cli import main
from ilfs.datasets import REGISTRY, PublicFile, PublicSource, Spec, fetch_dataset, load
from ilfs.datasets.archive import read_provenance
from ilfs.datasets.dataset import Dataset, values_checksum
from ilfs.datasets.describe import description

X = np.arange(24, dtype=np.float32).reshape(6, 4) / 8
Y = np.array([0, 0, 0, 0, 1, 1])
CSV = "a,b,c,d,y\n" + "".join(",".join(map(str, row)) + f",{c}\n" for row, c in zip(X.tolist(), Y, strict=True))
OTHER = CSV.replace("0.125", "0.25")  # one other value
VALUES = values_checksum(Dataset("toy", X, Y, ("0", "1")))
SPEC = Spec("toy", "TOY (partial)", "partial", 6, 4, (4, 2), "nowhere", "none", differs="two rows are missing")


def visible(folder):
    return {path.name for path in folder.iterdir() if path.suffix != ".lock"} if folder.exists() else set()


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("ILFS_OFFLINE")
    with serving() as running:
        running.contents = {
            "toy.csv": CSV.encode(),
            "other.csv": OTHER.encode(),
            "short.csv": CSV.rpartition("2.5,")[0].encode(),
        }
        yield running


@pytest.fixture
def register(monkeypatch):
    def add(*sources, **changes):
        spec = dataclasses.replace(SPEC, sources=sources, **changes)
        monkeypatch.setitem(REGISTRY, "toy", spec)
        return spec

    return add


def source(server, path="files/toy.csv", *, title="first", values=VALUES, converter="table", **changes):
    urls = (f"{server.address}/{path}",) if server else ()
    file = PublicFile(path.rpartition("/")[2], urls, **{k: changes.pop(k) for k in ("sha256", "md5") if k in changes})
    return PublicSource(title, converter, (file,), "a test", "CC BY 4.0", class_sizes=(2, 4), values=values, **changes)


def test_a_fetched_data_set_is_found_by_load(register, server, cache):
    spec = register(source(server, md5=hashlib.md5(CSV.encode()).hexdigest()))
    said, reports = [], []
    found = fetch_dataset("toy", say=said.append, progress=lambda *now: reports.append(now))
    assert (found.path, found.source, found.is_new) == (cache / "toy.fetched.npz", "first", True)
    assert found.verified == "6 samples, 4 features, classes of 4 and 2; " + (
        "values and their order are those of the registered file"
    )
    assert found.differs == "two rows are missing"
    assert said == ["fetching toy.csv (first)", "converting toy.csv"]
    assert reports == [(len(CSV), len(CSV))]
    table = load("toy")
    np.testing.assert_array_equal(table.X, X)
    assert (table.X.dtype, table.feature_names, table.file) == (np.float32, ("a", "b", "c", "d"), None)
    assert visible(cache) == {"toy.fetched.npz"}
    noted = read_provenance(found.path)
    assert noted["addresses"] == f"{server.address}/files/toy.csv"
    assert "made from:  first, 20" in description(spec)
    assert fetch_dataset("toy") == dataclasses.replace(found, is_new=False)
    assert server.asked == {"files": 1}


def test_fetching_again_replaces_the_file(register, server):
    register(source(server))
    first = fetch_dataset("toy")
    register(source(server, title="second"))
    assert fetch_dataset("toy").source == "first"
    assert fetch_dataset("toy", again=True).source == "second"
    assert read_provenance(first.path)["source"] == "second"


@pytest.mark.parametrize(
    ("path", "changes", "reason"),
    [
        ("missing/toy.csv", {}, "HTTP Error 404"),
        ("broken/toy.csv", {}, "HTTP Error 500"),
        ("truncated/toy.csv", {}, f"ended after 100000 of {len(CONTENT)} bytes"),
        ("files/toy.csv", {"md5": "0" * 32}, "its MD5 must be 0{32}, got"),
        ("files/toy.csv", {"sha256": "0" * 64}, "its SHA-256 must be 0{64}, got"),
        ("good/toy.csv", {}, "must be text in UTF-8"),
        ("files/short.csv", {}, r"must be \(6, 4, \[2, 4\]\), got \(5, 4, \[1, 4\]\)"),
    ],
)
def test_the_next_source_is_tried_after_a_bad_one(register, server, cache, path, changes, reason):
    register(source(server, path, title="bad", **changes), source(server, title="good"))
    said = []
    assert fetch_dataset("toy", say=said.append).source == "good"
    register(source(server, path, title="bad", **changes))
    with pytest.raises(OSError, match=rf"no source gave TOY \(partial\) \(bad: .*{reason}"):
        fetch_dataset("toy", again=True, say=said.append)
    assert visible(cache) == {"toy.fetched.npz"}  # the one of before


def test_a_source_with_the_known_values_is_preferred(register, server):
    register(source(server, "files/other.csv"), source(server, title="second"))
    said = []
    found = fetch_dataset("toy", say=said.append)
    assert found.source == "second"
    assert any(sentence.startswith("first: values or their order differ") for sentence in said)


def test_other_values_are_stored_if_no_source_has_the_known_ones(register, server):
    register(source(server, "files/other.csv"), source(server, "missing/toy.csv", title="second"))
    found = fetch_dataset("toy")
    assert found.source == "first"
    assert found.verified.endswith("so results differ from the published ones")
    assert load("toy").X[0, 1] == np.float32(0.25)


def test_a_source_without_known_values_is_verified_by_its_counts(register, server):
    register(source(server, values="", differs="other rows"))
    found = fetch_dataset("toy")
    assert found.verified.endswith("no checksum is known for its values")
    assert found.differs == "other rows"


def test_files_of_the_user_are_converted_without_a_network(register, server, tmp_path):
    register(source(server, title="elsewhere", converter="package"), source(server))
    (tmp_path / "mine").mkdir()
    with pytest.raises(OSError, match=rf"there is no toy\.csv in {tmp_path}/mine"):
        fetch_dataset("toy", folder=tmp_path / "mine")
    (tmp_path / "mine" / "toy.csv").write_text(CSV)
    assert fetch_dataset("toy", folder=str(tmp_path / "mine")).source == "first"
    assert not server.asked
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        fetch_dataset("toy", folder=tmp_path / "nowhere", again=True)


def test_a_copy_of_openml_may_be_in_the_folder_of_the_user(register, tmp_path):
    arff = "@relation t\n" + "".join(f"@attribute {c} real\n" for c in "abcd") + "@attribute y {0,1}\n@data\n"
    (tmp_path / "lymphoma.arff").write_text(arff + CSV.partition("\n")[2])
    register(source(None, "lymphoma.arff", openml=1101))
    assert fetch_dataset("toy", folder=tmp_path).verified.endswith("those of the registered file")


def test_offline_mode_makes_no_requests(register, server, monkeypatch):
    monkeypatch.setenv("ILFS_OFFLINE", "1")
    register(source(server), source(server, openml=7))
    with pytest.raises(OSError, match=r"\(first: ILFS_OFFLINE forbids downloads; first: ILFS_OFFLINE forbids"):
        fetch_dataset("toy")
    assert not server.asked


def test_a_mirror_of_the_registered_file_comes_first(register, server, cache, tmp_path, monkeypatch):
    np.savez(tmp_path / "toy.npz", X=X, y=Y, class_names=np.array(["no", "yes"]))
    content = (tmp_path / "toy.npz").read_bytes()
    register(source(server), sha256=hashlib.sha256(content).hexdigest(), size=len(content))
    monkeypatch.setenv("ILFS_MIRROR", f"{server.address}/files")
    assert fetch_dataset("toy").source == "first"  # the mirror does not have it
    server.contents["toy.npz"] = content
    found = fetch_dataset("toy", again=True)
    assert (found.path, found.source, found.verified) == (cache / "toy.npz", "ILFS_MIRROR", "SHA-256 as registered")
    assert fetch_dataset("toy").source == "on disk"


def test_a_full_disk_ends_the_fetch_without_another_source(register, server, cache, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    register(source(server), source(server, title="second"))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"cannot be written \(No space left on device\)"):
        fetch_dataset("toy")
    assert server.asked == {"files": 1}
    assert visible(cache) == set()


def test_nothing_is_left_after_an_interrupted_download(register, server, cache):
    def interrupt(done, size):
        raise KeyboardInterrupt

    register(source(server))
    with pytest.raises(KeyboardInterrupt):
        fetch_dataset("toy", progress=interrupt)
    assert visible(cache) == set()
    assert fetch_dataset("toy").is_new


FETCH = """
import sys
from ilfs.datasets import REGISTRY, PublicSource, PublicFile, Spec, fetch_dataset
file = PublicFile("toy.csv", (sys.argv[1],))
source = PublicSource("first", "table", (file,), "a test", class_sizes=(2, 4))
REGISTRY["toy"] = Spec("toy", "TOY", "exact", 6, 4, (4, 2), "nowhere", "none", sources=(source,))
print(fetch_dataset("toy").is_new)
"""


def test_two_processes_at_once_download_once(server, cache, monkeypatch):
    monkeypatch.setattr("server.Handler.good", lambda self: slow(self))
    command = [sys.executable, "-c", FETCH, f"{server.address}/slow/toy.csv"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(process.communicate(timeout=60)[0].strip() for process in both) == ["False", "True"]
    assert server.asked == {"slow": 1}
    assert visible(cache) == {"toy.fetched.npz"}


def slow(handler):
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(CSV.encode())


def test_voc_without_images_says_what_to_do(monkeypatch):
    for name in ("ILFS_VOC_DEVKIT", "ILFS_VOC_NETWORK"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(OSError, match=r"VOC 2007, EfficientNet-Lite0 cannot be fetched: compute .*docs/voc\.md"):
        fetch_dataset("voc2007")


def test_a_data_set_without_a_public_source_is_an_error():
    with pytest.raises(OSError, match=r"no public source of Office-Caltech10 .* is known; its source: "):
        fetch_dataset("office_caltech10")


def test_the_command_prints_a_line_for_each_and_goes_on_after_a_failure(register, server, cache, capsys, monkeypatch):
    spec = register(source(server))
    bad = dataclasses.replace(spec, name="bad", title="BAD", sources=(source(server, "missing/toy.csv"),))
    monkeypatch.setitem(REGISTRY, "bad", bad)
    assert main(["datasets", "fetch", "bad", "toy", "iris", "toy"]) == 1
    out, err = capsys.readouterr()
    first, second, third = out.splitlines()
    assert first.startswith(
        "failed   bad: no source gave BAD (first: toy.csv could not be downloaded (http://127.0.0.1"
    )
    assert second == f"fetched  toy: {cache / 'toy.fetched.npz'}"
    assert third == "here     iris: comes with scikit-learn"
    assert "toy: fetching toy.csv (first)\n" in err
    assert "toy: verified: 6 samples, 4 features, classes of 4 and 2; values and their order" in err
    assert "toy: differs: two rows are missing\n" in err
    assert main(["datasets", "fetch", "toy", "--quiet"]) == 0
    assert capsys.readouterr() == (f"here     toy: {cache / 'toy.fetched.npz'}\n", "")


def test_all_fetches_the_ten_of_the_paper(capsys):
    assert main(["datasets", "fetch", "--all", "--quiet"]) == 1  # offline: nothing can be fetched
    lines = capsys.readouterr().out.splitlines()
    names = "colon leukemia prostate lymphoma lung gina dexter polarity voc2007 voc2012".split()
    assert [line.split(":")[0].split() for line in lines] == [["failed", name] for name in names]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the data sets to fetch, or give --all"),
        (["colon", "--all"], "name the data sets to fetch, or give --all"),
        (["iris", "colom"], "no data set is called 'colom', did you mean 'colon'"),
    ],
)
def test_a_wrong_request_fetches_nothing(capsys, arguments, message):
    assert main(["datasets", "fetch", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
