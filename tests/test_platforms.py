"""The library can be imported where the parts of Python are missing that Windows does not have."""

import subprocess
import sys

# Only what the library asks for is taken away: the standard library has been imported before.
WITHOUT_POSIX = """
import concurrent.futures, ctypes, importlib, multiprocessing, multiprocessing.connection, os, pkgutil, signal, socket
import subprocess, sys, tempfile, types, mmap
import numba, numpy, scipy, sklearn.feature_selection, joblib, threadpoolctl
for module in ("fcntl", "resource", "pwd", "grp", "termios", "pty"):
    sys.modules[module] = None
for owner, names in (
    (os, "fork killpg setpgrp getuid geteuid mkfifo sysconf register_at_fork"),
    (signal, "SIGKILL SIGHUP SIGUSR1 SIGALRM pthread_sigmask SIG_BLOCK SIG_SETMASK alarm"),
    (mmap, "MAP_PRIVATE MAP_ANONYMOUS"),
):
    for name in names.split():
        if hasattr(owner, name):
            delattr(owner, name)
sys.modules["msvcrt"] = types.ModuleType("msvcrt")
threadpoolctl.sys = types.SimpleNamespace(**vars(sys))  # it still looks for libraries where they really are
sys.platform = "win32"
import ilfs
found = [one.name for one in pkgutil.walk_packages(ilfs.__path__, "ilfs.") if not one.name.endswith("__main__")]
for name in found:
    importlib.import_module(name)
import numpy as np
from ilfs.memory import free_bytes
from ilfs.benchmark.evaluation.memory import Peak
from ilfs.kernels._lock import open_locked
assert free_bytes() > 0
assert open_locked("anything") is None
print(len(found), *ilfs.ILFS(1).fit(np.eye(6)[:, :3], [0, 1, 1, 0, 1, 1]).order_)
"""


def test_every_module_can_be_imported_and_a_selector_fitted_without_posix():
    done = subprocess.run([sys.executable, "-c", WITHOUT_POSIX], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    n_modules, *order = done.stdout.split()
    assert int(n_modules) > 400
    assert sorted(order) == ["0", "1", "2"]
