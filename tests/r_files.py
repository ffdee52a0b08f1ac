"""Write small files in R's format, version 2 in XDR, by hand: the tests need no R, and no writer of another package.

The format is that of R's ``serialize.c``: each object is a 32-bit integer of type and flags, then its content, then its
attributes as a pairlist. Integers and floats are big-endian.
"""

import gzip
import struct
from dataclasses import dataclass, field

import numpy as np

NIL, SYM, PAIRLIST, CHAR, LGL, INT, REAL, STR, LIST = 254, 1, 2, 9, 10, 13, 14, 16, 19
IS_OBJECT, HAS_ATTRIBUTES, HAS_TAG = 1 << 8, 1 << 9, 1 << 10
ASCII_TEXT, NA_INTEGER = 1 << 18, -(2**31)


@dataclass
class R:
    """An R object: its type, its content, and its attributes."""

    kind: int
    content: object
    attributes: dict = field(default_factory=dict)


def integers(values):
    return R(INT, [NA_INTEGER if value is None else int(value) for value in values])


def reals(values):
    return R(REAL, np.asarray(values, dtype=np.float64))


def texts(values):
    return R(STR, list(values))


def matrix(X, columns=None, make=reals):
    X = np.asarray(X)
    names = R(LIST, [R(NIL, None), texts(columns)]) if columns else None
    one = make(X.ravel(order="F"))
    one.attributes = {"dim": integers(X.shape)} | ({"dimnames": names} if names else {})
    return one


def factor(labels):
    levels = sorted(set(labels))
    one = integers([levels.index(label) + 1 for label in labels])
    one.attributes = {"levels": texts(levels), "class": texts(["factor"])}
    return one


def named_list(**parts):
    return R(LIST, list(parts.values()), {"names": texts([key.rstrip("_").replace("__", ".") for key in parts])})


def frame(**columns):
    one = named_list(**columns)
    n_rows = len(next(iter(columns.values())).content)
    one.attributes |= {"row.names": integers([None, -n_rows]), "class": texts(["data.frame"])}
    return one


def encoded(one):
    flags = one.kind | (HAS_ATTRIBUTES if one.attributes else 0) | (IS_OBJECT if "class" in one.attributes else 0)
    head = struct.pack(">i", flags)
    if one.kind == NIL:
        return head
    pieces = {
        INT: lambda: np.array(one.content, dtype=">i4").tobytes(),
        LGL: lambda: np.array(one.content, dtype=">i4").tobytes(),
        REAL: lambda: np.array(one.content, dtype=">f8").tobytes(),
        STR: lambda: b"".join(map(character, one.content)),
        LIST: lambda: b"".join(map(encoded, one.content)),
    }
    after = pairlist(one.attributes) if one.attributes else b""
    return head + struct.pack(">i", len(one.content)) + pieces[one.kind]() + after


def character(text):
    if text is None:
        return struct.pack(">ii", CHAR, -1)
    content = text.encode()
    return struct.pack(">ii", CHAR | ASCII_TEXT, len(content)) + content


def symbol(name):
    return struct.pack(">i", SYM) + character(name)


def pairlist(parts):
    nodes = (struct.pack(">i", PAIRLIST | HAS_TAG) + symbol(name) + encoded(one) for name, one in parts.items())
    return b"".join(nodes) + struct.pack(">i", NIL)


HEADER = b"X\n" + struct.pack(">iii", 2, 0x040301, 0x020300)  # XDR, version 2, written by R 4.3.1, readable from 2.3.0


def gzipped(content):
    """Compress without the time of day: pytest names tests by these bytes, and its processes must agree on them."""
    return gzip.compress(content, mtime=0)


def rda(compress=gzipped, **objects):
    """Bytes of a file as `save` writes it."""
    return compress(b"RDX2\n" + HEADER + pairlist(objects))


def rds(one, compress=gzipped):
    """Bytes of a file as `saveRDS` writes it."""
    return compress(HEADER + encoded(one))
