"""Columns of numbers as bytes that a script of the page reads: small after compression, and without any parser.

The bytes are: the length of a JSON header (4 bytes, little-endian), the header, and the arrays. In the header, an array
is ``{"type": ..., "at": offset, "length": number of values}``. Bytes of numbers are grouped by significance (all first
bytes, then all second bytes, ...), because this compresses better. Digits that no reader needs are set to zero.
"""

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MANTISSA_BITS = 23  # of a float32
SHORT_BITS = 14  # kept of the mantissa of most numbers: more than four decimal digits
N_LEVELS = 65_534  # between the smallest and the largest value of a feature
MISSING_LEVEL = 65_535
TYPES = {"f4": "<f4", "u1": "u1", "u2": "<u2", "i4": "<i4"}


class Payload:
    """Collects arrays, and makes the bytes of them and of a header.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.report.page.encoding import Payload, unpacked
    >>> payload = Payload()
    >>> header = {"score": payload.floats([1.0, np.nan]), "names": ["a", "b"]}
    >>> found = unpacked(payload.to_bytes(header))
    >>> found["score"].tolist(), found["names"]
    ([1.0, nan], ['a', 'b'])
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def floats(self, values: ArrayLike, bits: int = SHORT_BITS) -> dict[str, Any]:
        """Add numbers, rounded to so many binary digits; infinite values and NaN stay."""
        with np.errstate(over="ignore", under="ignore"):  # beyond the range of float32: infinite, or 0
            short = np.asarray(values).astype(np.float32).ravel()
        return self._add(rounded(short, bits), "f4")

    def integers(self, values: ArrayLike) -> dict[str, Any]:
        """Add integers, in the smallest type that holds them."""
        found = np.asarray(values).ravel()
        low, high = (int(found.min()), int(found.max())) if found.size else (0, 0)
        kind = "i4" if low < 0 or high > 65_535 else "u1" if high < 256 else "u2"
        return self._add(found, kind)

    def words(self, values: Sequence[str]) -> dict[str, Any]:
        """Add words that repeat each other, as codes."""
        labels, codes = np.unique(np.asarray([str(value) for value in values], dtype=object), return_inverse=True)
        return {"words": labels.tolist(), "codes": self.integers(codes)}

    def levels(self, values: NDArray[Any]) -> dict[str, Any]:
        """Add rows of numbers, each as 16-bit levels between its smallest and its largest one."""
        finite = np.where(np.isfinite(values), values, np.nan)
        has_values = ~np.isnan(finite).all(axis=1)
        low, high = np.zeros(len(values)), np.zeros(len(values))
        low[has_values], high[has_values] = (extreme(finite[has_values], axis=1) for extreme in (np.nanmin, np.nanmax))
        width = np.where(high > low, high - low, 1.0)
        part = (finite - low[:, None]) / width[:, None]
        levels = np.where(np.isnan(part), MISSING_LEVEL, np.rint(np.nan_to_num(part) * N_LEVELS)).astype(np.uint16)
        return {
            "low": self.floats(low, MANTISSA_BITS),
            "width": self.floats(width, MANTISSA_BITS),
            "levels": self._add(levels.ravel(), "u2"),
        }

    def _add(self, values: NDArray[Any], kind: str) -> dict[str, Any]:
        data = grouped(values.astype(TYPES[kind]))
        described = {"type": kind, "at": self._size, "length": int(values.size)}
        self._parts.append(data)
        self._size += len(data)
        return described

    def to_bytes(self, header: dict[str, Any]) -> bytes:
        """Return the header and all arrays."""
        text = json.dumps(header, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
        return struct.pack("<I", len(text)) + text + b"".join(self._parts)


def rounded(values: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    """Round float32 numbers to so many bits of the mantissa.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.report.page.encoding import rounded
    >>> rounded(np.array([1.2345678, np.inf, np.nan], dtype=np.float32), 10).tolist()
    [1.234375, inf, nan]
    """
    spare = MANTISSA_BITS - bits
    if spare <= 0:
        return values
    integers = values.view(np.uint32).copy()
    finite = np.isfinite(values) & (np.abs(values) < np.finfo(np.float32).max / 2)
    integers[finite] += np.uint32(1 << (spare - 1))
    integers[finite] &= np.uint32(0xFFFFFFFF << spare & 0xFFFFFFFF)
    return integers.view(np.float32)


def grouped(values: NDArray[Any]) -> bytes:
    """Return the bytes of numbers, grouped by significance."""
    return values.view(np.uint8).reshape(values.size, values.itemsize).T.tobytes()


def unpacked(data: bytes) -> dict[str, Any]:
    """Read the bytes that `Payload` makes, for tests: the header, with arrays in place of their descriptions."""
    (size,) = struct.unpack("<I", data[:4])
    body = data[4 + size :]

    def filled(item: Any) -> Any:
        if isinstance(item, dict) and set(item) == {"type", "at", "length"}:
            kind = np.dtype(TYPES[item["type"]])
            raw = np.frombuffer(body, np.uint8, item["length"] * kind.itemsize, item["at"])
            return raw.reshape(kind.itemsize, item["length"]).T.copy().view(kind).ravel()
        if isinstance(item, dict):
            return {key: filled(value) for key, value in item.items()}
        return [filled(value) for value in item] if isinstance(item, list) else item

    found: dict[str, Any] = filled(json.loads(data[4 : 4 + size]))
    return found
