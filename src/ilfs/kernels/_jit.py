"""The one way a kernel is compiled."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile on first use, keep the machine code on disk, release the interpreter lock.

    No fast-math flags: every column is summed in row order by IEEE rules, so a result does not depend
    on the number of threads, the memory layout of the input, or the width of the machine's vectors.
    """
    return cast(F, numba.njit(nogil=True, cache=True, error_model="numpy")(function))


def formula(function: F) -> F:
    """A small function that kernels call inside their loops; LLVM puts it there."""
    return cast(F, numba.njit(error_model="numpy")(function))


def inlined(function: F) -> F:
    """The same where LLVM must not be left to it: the loop around would no longer be one over vectors.

    It makes compiling slower.
    """
    return cast(F, numba.njit(inline="always", error_model="numpy")(function))
