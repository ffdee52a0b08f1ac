import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import pytest
from platforms import needs_posix

import ilfs
from ilfs.kernels import _cache
from ilfs.kernels._lock import FolderLock, open_locked, unlock

SMALL_KERNEL = """
import numpy as np
from ilfs.kernels import hashes
hashes.scrambled(np.arange(3, dtype=np.uint64))
"""
FIT = """
import numpy as np
from ilfs import ILFS
rng = np.random.default_rng(0)
ILFS().fit(rng.normal(size=(60, 100)).astype({dtype!r}), rng.integers(0, 2, 60))
"""
REPORT = """
import json, sys
modules = [module for name, module in sys.modules.items() if name.startswith("ilfs.kernels.")]
stats = {id(f): f.stats for module in modules for f in vars(module).values() if hasattr(f, "stats")}.values()
print(json.dumps({
    "folders": sorted({s.cache_path for s in stats if s.cache_hits or s.cache_misses}),
    "loaded": sum(sum(s.cache_hits.values()) for s in stats),
    "compiled": sum(sum(s.cache_misses.values()) for s in stats),
}))
"""


@pytest.fixture
def place(tmp_path):
    """Make a copy of the package whose cache folder cannot be written to, and empty home and temporary folders."""
    shutil.copytree(Path(ilfs.__file__).parent, tmp_path / "ilfs", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "ilfs/kernels/__pycache__").touch()  # a file in place of the folder: permissions would not stop root
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    return tmp_path


def start(place, code, **environment):
    inherited = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT") if key in os.environ}
    mine = {"PYTHONPATH": str(place), "HOME": str(place / "home"), "TMPDIR": str(place / "tmp")}
    return subprocess.Popen(
        [sys.executable, "-c", code + REPORT],
        env=inherited | mine | environment,
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    return json.loads(out) | {"stderr": errors}


def run(place, code, **environment):
    return finish(start(place, code, **environment))


def files_below(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_kernels_of_a_read_only_package_are_kept_in_the_cache_folder_of_the_user(place):
    first, second = run(place, SMALL_KERNEL), run(place, SMALL_KERNEL)
    assert (first["compiled"], first["loaded"]) == (1, 0)
    assert (second["compiled"], second["loaded"]) == (0, 1)
    assert all(Path(folder).is_relative_to(place / "home") for folder in first["folders"])


@pytest.mark.slow
def test_without_a_home_folder_kernels_are_kept_in_a_private_temporary_folder(place):
    first, second = run(place, SMALL_KERNEL, HOME=os.devnull), run(place, SMALL_KERNEL, HOME=os.devnull)
    assert (first["compiled"], second["compiled"]) == (1, 0)
    (folder,) = (place / "tmp").iterdir()
    assert all(Path(used).is_relative_to(folder) for used in first["folders"])
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_a_folder_chosen_by_the_user_is_used_first(place):
    result = run(place, SMALL_KERNEL, NUMBA_CACHE_DIR=str(place / "chosen"))
    assert all(Path(folder).is_relative_to(place / "chosen") for folder in result["folders"])
    assert not files_below(place / "home")


@pytest.mark.slow
def test_processes_that_start_together_compile_each_kernel_once_and_keep_it(place):
    fits = [FIT.format(dtype=dtype) for dtype in ("float32", "float64", "float64", "float64")]
    compiled = [finish(process)["compiled"] for process in [start(place, fit) for fit in fits]]
    assert sum(compiled) == len([path for path in files_below(place / "home") if path.suffix == ".nbc"])
    assert [run(place, fit)["compiled"] for fit in fits] == [0, 0, 0, 0]


@pytest.mark.slow
def test_the_first_fit_logs_once_that_it_compiles_and_the_second_logs_nothing(place):
    lines = run(place, FIT.format(dtype="float64"))["stderr"].splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("ilfs: compiling numerical kernels")
    assert run(place, FIT.format(dtype="float64"))["stderr"] == ""


@pytest.mark.slow
def test_a_kernel_is_compiled_again_if_another_file_of_its_folder_changes(place):
    run(place, SMALL_KERNEL)
    with open(place / "ilfs/kernels/_jit.py", "a") as file:
        file.write("# a comment\n")
    assert run(place, SMALL_KERNEL)["compiled"] == 1


def test_a_kernel_works_without_a_writable_folder(monkeypatch):
    monkeypatch.setattr(_cache.KernelCacheImpl, "_locator_classes", [])
    double = numba.njit(lambda x: 2 * x)
    _cache.keep_on_disk(double)
    assert double(3) == 6


def test_a_failed_compilation_releases_the_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(_cache, "folder_lock", lambda folder: FolderLock(tmp_path / "lock"))
    wrong = numba.njit(lambda x: x.no_such_attribute)
    _cache.keep_on_disk(wrong)
    with pytest.raises(numba.TypingError):
        wrong(3)
    file = open_locked(tmp_path / "lock")
    assert file is not None
    unlock(file)


@needs_posix
def test_a_temporary_folder_that_others_may_write_to_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    locator = _cache.TemporaryFolder.from_function(test_a_kernel_works_without_a_writable_folder, __file__)
    assert locator is not None
    (folder,) = tmp_path.iterdir()
    folder.chmod(0o777)
    assert _cache.TemporaryFolder.from_function(test_a_kernel_works_without_a_writable_folder, __file__) is None


def test_versions_for_different_types_are_kept_side_by_side(tmp_path):
    # Two objects, as in two processes: neither has seen the files of the other.
    one, other = (_cache.KernelFiles(str(tmp_path), "name", "stamp") for _ in range(2))
    one.save("float32", b"single")
    other.save("float64", b"double")
    assert (other.load("float32"), one.load("float64"), one.load("int64")) == (b"single", b"double", None)


def test_a_kernel_compiled_from_other_source_code_is_not_loaded(tmp_path):
    _cache.KernelFiles(str(tmp_path), "name", "before").save("float64", b"code")
    assert _cache.KernelFiles(str(tmp_path), "name", "after").load("float64") is None


@pytest.mark.parametrize("content", [b"", b"damaged"])
def test_a_damaged_file_is_ignored(tmp_path, content):
    files = _cache.KernelFiles(str(tmp_path), "name", "stamp")
    files.save("float64", b"code")
    (path,) = tmp_path.iterdir()
    path.write_bytes(content)
    assert files.load("float64") is None


def test_a_missing_folder_is_no_error(tmp_path):
    files = _cache.KernelFiles(str(tmp_path / "gone"), "name", "stamp")
    files.save("float64", b"code")
    assert files.load("float64") is None
