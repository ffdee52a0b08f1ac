"""Sums of groups of eight rows and eight columns, one vector of eight columns per row.

The compiler vectorises the loops of `ilfs.kernels.by_column` only over many groups, whose sums it then writes to memory
and reads again. Written as vector instructions, the sums of eight columns stay in two registers.
"""

from typing import Any

from llvmlite import ir
from numba import types

from ilfs.kernels._memory import CACHE_LINE_BYTES, instruction

ADDRESS = ir.IntType(64)
EIGHT = ir.VectorType(ir.DoubleType(), 8)


@instruction
def add_deviations(typing_context: Any, lines: Any, line_bytes: Any, n_groups: Any, pivot: Any, sums: Any) -> Any:  # noqa: ARG001
    """Add the deviations from the pivot, and their squares, of at least one group; nothing may be missing.

    All arguments are integers. Line r of the first group is at the address ``lines + r * line_bytes``, that of the next
    group a cache line later. At the address `pivot` are eight numbers, at `sums` eight sums of deviations, then eight
    of squares. The formulas are those of `ilfs.kernels.moments.sums_of_four` for weights of 1, so the bits are equal.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        first, width, n, p, t = arguments
        addresses = t, builder.add(t, ADDRESS(CACHE_LINE_BYTES))
        pivots, initial = load(builder, p), [load(builder, address) for address in addresses]
        before, loop, after = builder.block, builder.append_basic_block(), builder.append_basic_block()
        builder.branch(loop)
        builder.position_at_end(loop)
        group, *totals = builder.phi(ADDRESS), builder.phi(EIGHT), builder.phi(EIGHT)
        start = builder.add(first, builder.mul(group, ADDRESS(CACHE_LINE_BYTES)))
        rows = [load(builder, builder.add(start, builder.mul(width, ADDRESS(r)))) for r in range(8)]
        terms = [builder.fsub(row, pivots) for row in rows]
        grown = [
            builder.fadd(totals[0], pairwise_sum(builder, terms)),
            builder.fadd(totals[1], pairwise_sum(builder, [builder.fmul(d, d) for d in terms])),
        ]
        following = builder.add(group, ADDRESS(1))
        for phi, old, new in zip((group, *totals), (ADDRESS(0), *initial), (following, *grown), strict=True):
            phi.add_incoming(old, before)
            phi.add_incoming(new, loop)
        builder.cbranch(builder.icmp_signed("<", following, n), loop, after)
        builder.position_at_end(after)
        for address, total in zip(addresses, grown, strict=True):
            builder.store(total, builder.inttoptr(address, EIGHT.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


def load(builder: Any, address: Any) -> Any:
    """Generate the load of eight numbers at an address."""
    return builder.load(builder.inttoptr(address, EIGHT.as_pointer()), align=8)


def pairwise_sum(builder: Any, terms: list[Any]) -> Any:
    """Generate the sum of eight terms by pairs, pairs of pairs, and so on."""
    while len(terms) > 1:
        terms = [builder.fadd(a, b) for a, b in zip(terms[::2], terms[1::2], strict=True)]
    return terms[0]
