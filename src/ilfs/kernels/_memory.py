"""Access to memory by address, for kernels that read columns of data frames where they are.

An address is an integer. Whoever calls a kernel with addresses must keep the memory allocated and tell its size and
type correctly.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic
from numpy.typing import NDArray

from ilfs.arrays import Integers
from ilfs.kernels._jit import formula

INDEX = ir.IntType(32)
CACHE_LINE_BYTES = 64


def instruction(function: Callable[..., Any]) -> Any:
    """Make a function that generates instructions callable from kernels."""
    return intrinsic(function)


@instruction
def pointer_to(typing_context: Any, address: Any, like: Any) -> Any:  # noqa: ARG001
    """Convert an address to a pointer to values of the type of `like`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(like)(address, like), generate  # type: ignore[no-untyped-call]


@formula
def column_at(addresses: Integers, j: int, like: Any, n_rows: int) -> NDArray[Any]:
    """Return column j, or the last column if j is beyond it."""
    return carray(pointer_to(addresses[min(j, addresses.size - 1)], like), n_rows)


@instruction
def prefetch(typing_context: Any, address: Any) -> Any:  # noqa: ARG001
    """Start to load the line of the cache at an address; any address is allowed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, INDEX, INDEX, INDEX])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        to_read, first_level, data = INDEX(0), INDEX(3), INDEX(1)
        builder.call(function, [builder.inttoptr(arguments[0], pointer), to_read, first_level, data])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@instruction
def transpose_eight(typing_context: Any, sources: Any, targets: Any, like: Any) -> Any:  # noqa: ARG001
    """Copy eight values from each of eight addresses: value r of source c becomes the float64 value c of target r.

    `like` is a number of the type of the values at the sources. The compiler does not find this form of a transposition
    itself. It takes half the time of copying one value after the other.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        kind, doubles = context.get_value_type(like), ir.VectorType(ir.DoubleType(), 8)
        pointer, size = ir.VectorType(kind, 8).as_pointer(), context.get_abi_sizeof(kind)
        starts = [builder.inttoptr(builder.extract_value(arguments[0], c), pointer) for c in range(8)]
        rows = [builder.load(start, align=size) for start in starts]
        for step in (1, 2, 4):
            swap_blocks(builder, rows, step)
        for r, row in enumerate(rows):
            values = row if kind == ir.DoubleType() else builder.fpext(row, doubles)
            target = builder.inttoptr(builder.extract_value(arguments[1], r), doubles.as_pointer())
            builder.store(values, target, align=8)
        return context.get_dummy_value()

    return types.void(sources, targets, like), generate


def swap_blocks(builder: Any, rows: list[Any], step: int) -> None:
    """Swap the blocks of `step` values beside the diagonal, in all pairs of rows that are `step` apart."""
    # A mask selects from both rows: 0 to 7 are the values of the first, 8 to 15 those of the second.
    masks = (
        [8 + i - step if i & step else i for i in range(8)],
        [8 + i if i & step else i + step for i in range(8)],
    )
    for i in range(8):
        if not i & step:
            pair = rows[i], rows[i + step]
            rows[i], rows[i + step] = (
                builder.shuffle_vector(*pair, ir.Constant(ir.VectorType(INDEX, 8), mask)) for mask in masks
            )


@instruction
def count_ones(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
    """Count the bits of a 64-bit word that are 1."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate
