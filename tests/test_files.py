"""Files appear complete or not at all, however many processes write to them."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading

import pytest
from platforms import needs_posix

from ilfs.files import check_writable, remove_leftovers, write_atomically, write_text_atomically

SIZE = 200_000
HAMMER = """
import sys
from ilfs.files import write_atomically
letter, path, rounds = sys.argv[1].encode(), sys.argv[2], int(sys.argv[3])
for _ in range(rounds):
    with write_atomically(path) as file:
        for _ in range(10):
            file.write(letter * 20_000)
"""
HALF = """
import sys, time
from ilfs.files import write_atomically
with write_atomically(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("half", flush=True)
    time.sleep(600)
"""


def is_whole(content):
    """Return True if the content is complete and from a single writer."""
    return len(content) == SIZE and len(set(content)) == 1


def watch(path, done):
    """Collect the contents that a reader sees until the writers are done."""
    seen = []
    while not done.is_set():
        seen.append(is_whole(path.read_bytes()))
    return seen


def test_threads_that_write_one_file_never_mix_content(tmp_path):
    path, errors = tmp_path / "target", []
    path.write_bytes(b"0" * SIZE)

    def write(letter):
        try:
            for _ in range(20):
                with write_atomically(path) as file:
                    for _ in range(10):
                        file.write(letter * (SIZE // 10))
                if not is_whole(path.read_bytes()):
                    errors.append(letter)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c", b"d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert os.listdir(tmp_path) == ["target"]


def test_processes_that_write_one_file_never_mix_content(tmp_path):
    path, done = tmp_path / "target", threading.Event()
    path.write_bytes(b"0" * SIZE)
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(watch(path, done)))
    reader.start()
    writers = [subprocess.Popen([sys.executable, "-c", HAMMER, letter, str(path), "20"]) for letter in "abc"]
    codes = [writer.wait(60) for writer in writers]
    done.set()
    reader.join()
    assert codes == [0, 0, 0]
    assert all(seen)
    assert path.read_bytes()[:1] in (b"a", b"b", b"c")
    assert os.listdir(tmp_path) == ["target"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError, OSError])
def test_after_an_error_only_the_old_file_remains(tmp_path, error):
    path = tmp_path / "target"
    path.write_text("old")

    def write():
        with write_atomically(path) as file:
            file.write(b"new")
            file.flush()
            raise error("no")

    with pytest.raises(error, match="no"):
        write()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["target"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes cannot be killed here")
def test_a_killed_writer_leaves_the_old_file_and_a_hidden_temporary_one(tmp_path):
    path = tmp_path / "target.csv"
    path.write_text("old")
    with subprocess.Popen([sys.executable, "-c", HALF, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"half\n"
        process.kill()
    assert path.read_text() == "old"
    [leftover] = set(os.listdir(tmp_path)) - {"target.csv"}
    assert leftover.startswith(".")
    assert leftover.endswith(".part")
    write_text_atomically(path, "new")
    assert path.read_text() == "new"
    remove_leftovers(path)
    assert os.listdir(tmp_path) == ["target.csv"]


def test_temporary_files_of_other_targets_are_not_removed(tmp_path):
    names = {"a", ".a.0123456789abcdef.part", ".aa.0123456789abcdef.part", ".a.part", "a.0123456789abcdef.part"}
    for name in names:
        (tmp_path / name).touch()
    remove_leftovers(tmp_path / "a")
    assert set(os.listdir(tmp_path)) == names - {".a.0123456789abcdef.part"}


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
class TestPermissions:
    @pytest.mark.parametrize("mask", [0o022, 0o027, 0o077, 0o002])
    def test_a_new_file_gets_the_permissions_of_the_umask(self, tmp_path, mask):
        before = os.umask(mask)
        try:
            write_text_atomically(tmp_path / "target", "new")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == 0o666 & ~mask

    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
    def test_an_existing_file_keeps_its_permissions_even_while_it_is_written(self, tmp_path, mode):
        path = tmp_path / "target"
        path.touch()
        path.chmod(mode)
        with write_atomically(path):
            [temporary] = [file for file in tmp_path.iterdir() if file != path]
            assert stat.S_IMODE(temporary.stat().st_mode) == mode
        assert stat.S_IMODE(path.stat().st_mode) == mode


class TestErrorMessages:
    def test_the_error_for_a_missing_folder_says_to_create_it(self, tmp_path):
        message = r"nowhere.target' cannot be written \(No such file or directory\): make its folder first$"
        with pytest.raises(FileNotFoundError, match=message):
            write_text_atomically(tmp_path / "nowhere" / "target", "new")

    def test_a_folder_that_is_a_file_is_rejected(self, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(NotADirectoryError, match=r"^'.*target' cannot be written \(Not a directory\): choose"):
            write_text_atomically(tmp_path / "file" / "target", "new")

    def test_a_target_that_is_a_folder_is_rejected(self, tmp_path):
        with pytest.raises(
            IsADirectoryError, match=r"cannot be written \(Is a directory\): choose the path of a file$"
        ):
            write_text_atomically(tmp_path, "new")

    @pytest.mark.parametrize("number", [errno.EACCES, errno.ENOSPC])
    def test_missing_permission_or_space_is_reported(self, tmp_path, monkeypatch, number):
        def refuse(*_, **__):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "fsync", refuse)  # real permissions would not stop a superuser
        with pytest.raises(OSError, match=rf"^'.*target' cannot be written \({os.strerror(number)}\): \w+ ") as caught:
            write_text_atomically(tmp_path / "target", "new")
        assert caught.value.errno == number
        assert type(caught.value) is type(OSError(number, ""))
        assert os.listdir(tmp_path) == []

    def test_a_name_that_is_too_long_is_reported(self, tmp_path):
        with pytest.raises(OSError, match=r"cannot be written \(File name too long\)"):
            write_text_atomically(tmp_path / ("x" * 300), "new")
        assert os.listdir(tmp_path) == []

    def test_an_error_about_another_file_is_not_changed(self, tmp_path):
        def copy():
            with write_atomically(tmp_path / "target"):
                (tmp_path / "other").read_bytes()

        with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*other'"):
            copy()


@pytest.mark.parametrize("name", ["ä" * 120, "x" * 255])
def test_the_longest_names_can_be_written(tmp_path, name):
    write_text_atomically(tmp_path / name, "new")
    assert os.listdir(tmp_path) == [name]


@needs_posix
def test_a_link_to_a_missing_file_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_text_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_standard_output_can_be_written_to():
    code = "from ilfs.files import write_text_atomically as w; w('/dev/stdout', 'new')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"new"


class TestWritable:
    def test_a_file_that_can_be_written_is_neither_made_nor_changed(self, tmp_path):
        check_writable(tmp_path / "new.csv")
        (tmp_path / "old.csv").write_text("old")
        check_writable(tmp_path / "old.csv")
        assert [path.name for path in tmp_path.iterdir()] == ["old.csv"]
        assert (tmp_path / "old.csv").read_text() == "old"

    @pytest.mark.parametrize(
        ("name", "kind", "said"),
        [
            ("none/new.csv", FileNotFoundError, "make its folder first"),
            ("file/new.csv", NotADirectoryError, "choose a path whose folder is not a file"),
            (".", IsADirectoryError, "choose the path of a file"),
            ("n" * 300, OSError, "File name too long"),
        ],
    )
    def test_what_is_wrong_is_said(self, name, kind, said, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(kind, match=said):
            check_writable(tmp_path / name)

    @needs_posix
    @pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root may write everywhere")
    def test_a_folder_without_permission_is_noticed(self, tmp_path):
        tmp_path.chmod(0o500)
        with pytest.raises(PermissionError, match="choose a folder that you may write to"):
            check_writable(tmp_path / "new.csv")
