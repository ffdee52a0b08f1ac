"""Number of ones in a 64-bit word, as one instruction of the processor where it has one."""

from typing import Any

from numba import types
from numba.extending import overload

try:
    from numba.extending import intrinsic

    @intrinsic
    def _ctpop(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
        """Emit LLVM's ctpop, which the compiler also vectorises."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
            return builder.ctpop(arguments[0])

        return types.int64(word), generate

    CAN_EMIT = True
except (ImportError, AttributeError):  # a version of Numba that cannot emit instructions
    CAN_EMIT = False


def ones_in(word: Any) -> int:
    """Count the ones of a 64-bit word; in kernels this is compiled."""
    return int(word).bit_count()


@overload(ones_in)
def _ones_in_kernel(word: Any) -> Any:  # noqa: ARG001
    return _by_instruction if CAN_EMIT else _by_halves


def _by_instruction(word: Any) -> Any:
    return _ctpop(word)  # type: ignore[call-arg]  # Numba passes the first argument


def _by_halves(word: Any) -> Any:
    """Add neighbouring groups of 1, 2 and 4 bits in all places of the word at once, then all bytes."""
    word = word - ((word >> 1) & 0x5555555555555555)
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (word * 0x0101010101010101) >> 56
