"""A file that is changed as a whole or not at all."""

import io
import os
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilfs.omics.draft import PAGE, Draft

PLACES = st.integers(0, 3 * PAGE)
WRITES = st.tuples(st.just("write"), PLACES, st.integers(1, 2 * PAGE))
READS = st.tuples(st.just("read"), PLACES, PLACES)
CUTS = st.tuples(st.just("truncate"), PLACES, st.none())


class Failing(io.FileIO):
    """A file that fails once, at a given write."""

    fails_at = -1

    def write(self, content):
        self.fails_at -= 1
        if self.fails_at == -1:
            super().write(content[: len(content) // 2])
            raise KeyboardInterrupt
        return super().write(content)


def act(file, action, place, value):
    if action == "truncate":
        file.truncate(place)
        return None
    file.seek(place)
    return file.read(value) if action == "read" else file.write(b"n" * value)


@given(PLACES, st.lists(WRITES | READS | CUTS, max_size=12))
def test_it_behaves_as_a_file_and_is_written_by_commit_only(tmp_path_factory, size, actions):
    path = tmp_path_factory.mktemp("draft") / "file"
    content = os.urandom(size)
    path.write_bytes(content)
    model = io.BytesIO(content)
    with path.open("r+b", buffering=0) as file:
        draft = Draft(file)
        for action in actions:
            if action[0] == "truncate":  # BytesIO does not lengthen
                model.seek(0, os.SEEK_END)
                model.write(bytes(max(action[1] - model.tell(), 0)))
            assert act(draft, *action) == act(model, *action)
        assert draft.seek(0, os.SEEK_END) == model.seek(0, os.SEEK_END)
        assert path.read_bytes() == content
        draft.commit()
    assert path.read_bytes() == model.getvalue()


def test_readinto_fills_what_there_is(tmp_path):
    (tmp_path / "file").write_bytes(b"cells")
    with (tmp_path / "file").open("r+b", buffering=0) as file:
        draft = Draft(file)
        draft.seek(2)
        buffer = bytearray(5)
        assert draft.readinto(buffer) == 3
        assert bytes(buffer) == b"lls\0\0"
        assert draft.tell() == 5


@pytest.mark.parametrize("fails_at", range(7))
def test_an_interrupted_commit_leaves_the_file_as_it_was(tmp_path, fails_at):
    path = tmp_path / "file"
    before = os.urandom(5 * PAGE + 100)
    path.write_bytes(before)
    with Failing(path, "r+") as file:
        draft = Draft(file)
        for place in (10, 2 * PAGE + 5, 4 * PAGE, 5 * PAGE + 90, 7 * PAGE):
            draft.seek(place)
            draft.write(b"new" * 20)
        file.fails_at = fails_at
        with suppress(KeyboardInterrupt):
            draft.commit()
        was_interrupted = file.fails_at < 0
    assert was_interrupted == (fails_at < 6)  # 2 writes behind the end, 4 before it
    assert (path.read_bytes() == before) == was_interrupted


def test_an_hdf5_file_that_is_only_lengthened_reads_as_before(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as content:
        content["old"] = range(1000)
    with path.open("r+b", buffering=0) as file:
        draft = Draft(file)
        with h5py.File(draft, "r+") as content:
            del content["old"]
            content["new"] = range(100_000)
        draft._lengthen()  # a process that is killed now
    with h5py.File(path) as content:
        assert list(content) == ["old"]
        assert content["old"][:].tolist() == list(range(1000))
    with path.open("r+b", buffering=0) as file:
        draft = Draft(file)
        with h5py.File(draft, "r+") as content:
            content["new"] = range(100_000)
        draft.commit()
    with h5py.File(path) as content:
        assert sorted(content) == ["new", "old"]
        assert content["new"][:].tolist() == list(range(100_000))
