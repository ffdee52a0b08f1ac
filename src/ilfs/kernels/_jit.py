"""Decorators for compiled functions: `kernel` for those that Python calls, `formula` for those that kernels call."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numba
from numba.extending import register_jitable

F = TypeVar("F", bound=Callable[..., Any])

try:
    from ilfs.kernels._cache import keep_on_disk
except (ImportError, AttributeError):  # a version of Numba without the classes that it is built on

    def keep_on_disk(dispatcher: Any) -> None:
        """Leave caching to Numba."""
        with suppress(RuntimeError):  # there is nowhere to write
            dispatcher.enable_caching()


def kernel(function: F) -> F:
    """Compile a function on first use, keep the machine code on disk, release the interpreter lock.

    No fast-math flags: every column is summed in row order by IEEE rules, so a result does not depend on the number of
    threads, the memory layout of the input, or the width of the processor's vector registers.
    """
    dispatcher = numba.njit(nogil=True, error_model="numpy")(function)
    keep_on_disk(dispatcher)
    return cast(F, dispatcher)


def formula(function: F) -> F:
    """Make a function callable from kernels; called from Python, it stays a plain Python function.

    So Numba compiles no wrapper for calls from Python. For a small function, the wrapper would take as long to compile
    as the function itself. LLVM inlines formulas of any size. Otherwise it could not see that arrays do not overlap,
    and would not vectorise loops over them.
    """
    jitable: F = register_jitable(error_model="numpy", forceinline=True)(function)
    return jitable
