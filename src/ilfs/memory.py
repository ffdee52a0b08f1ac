"""Free memory, and limits on the memory that a table may take."""

import ctypes
import os
import re
import sys
from pathlib import Path
from typing import Any

from ilfs.parameters import is_integer

GIGABYTE = 1e9
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
BINARY_UNITS = {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*")
FREE_FRACTION = 0.5  # fraction of the free memory that a table may take by default
CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


def free_bytes() -> int:
    """Return the free memory in bytes, within the limits of the container if there are any.

    If it is not known, this is all memory; if that is not known either, 8 GB.
    """
    return min(free_on_machine(), *free_in_cgroups(CGROUPS, OWN_CGROUP))


def free_on_machine() -> int:
    """Return the free memory of the machine in bytes."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return int(8 * GIGABYTE)


def free_in_cgroups(root: Path, membership: Path) -> list[int]:
    """Return the memory that each control group (version 2) of this process leaves free.

    A container, or a job of a cluster, is such a group. Groups are nested, and every one of them may have a limit.

    Parameters
    ----------
    root : Path
        Folder of all groups.
    membership : Path
        File that names the group of this process.

    Returns
    -------
    list of int
        Free bytes; at least one number, which is very large if there is no limit.
    """
    try:
        names = [line[3:] for line in membership.read_text().splitlines() if line.startswith("0::")]
    except OSError:
        names = []
    group = root / (names[0].strip("/") if names else "")
    # A container may see its own group as the root, although it is named by its path on the host.
    groups = [root, group, *(folder for folder in group.parents if root in folder.parents)]
    return [free_in_cgroup(folder) for folder in groups]


def free_in_cgroup(folder: Path) -> int:
    """Return the memory that one control group leaves free; pages of files that can be dropped are free."""
    try:
        limit = int((folder / "memory.max").read_text())
        used = int((folder / "memory.current").read_text())
        lines = (folder / "memory.stat").read_text().splitlines()
        droppable = sum(int(line.split()[1]) for line in lines if line.startswith("inactive_file "))
    except (OSError, ValueError):  # no such group, or the limit is "max"
        return 2**63 - 1
    return max(limit - used + droppable, 0)


def return_free_memory() -> None:
    """Give memory that is allocated but not in use back to the system, as far as the allocators allow it.

    The C library keeps what was freed for the next allocation, and pyarrow has an allocator of its own. Between two
    passes over a large table, of different blocks, this would add up to a hundred megabytes.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:  # only the GNU C library has it
        trim(0)
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()


def bytes_of(memory_limit: Any) -> int:
    """Return a memory limit as a number of bytes.

    Parameters
    ----------
    memory_limit : int, str or None
        Bytes, text such as ``"500MB"`` or ``"2 GiB"``, or None for half of the free memory.

    Returns
    -------
    int
        The number of bytes.

    Examples
    --------
    >>> from ilfs.memory import bytes_of
    >>> bytes_of("1.5 GB")
    1500000000
    """
    if memory_limit is None:
        return int(FREE_FRACTION * free_bytes())
    if is_integer(memory_limit) and memory_limit > 0:
        return int(memory_limit)
    match = AMOUNT.fullmatch(memory_limit) if isinstance(memory_limit, str) else None
    unit = (UNITS | BINARY_UNITS).get(match[2].upper()) if match else None
    if match is None or unit is None or float(match[1]) * unit < 1:
        raise ValueError(
            f"memory_limit must be a number of bytes >= 1, text such as '500MB' or '2GiB', or None, "
            f"got {memory_limit!r}"
        )
    return int(float(match[1]) * unit)
