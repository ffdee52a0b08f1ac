"""Layers, outputs and weight files of a network in an ONNX file, read without any library.

A runtime returns only the outputs that the file declares. A published network usually declares just its last layer,
but the useful features are in a layer before it. So this module lists all layers and can declare any of them an output.

The file is a protocol buffer message: a sequence of fields, each a number, a type and a value, where a value may be a
message again. The numbers of the fields are those in onnx.proto.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

# Types of fields.
VARINT, EIGHT_BYTES, SIZED, FOUR_BYTES = 0, 1, 2, 5
MAX_VARINT_BYTES = 10  # 64 bits in groups of seven
# Numbers of fields, by the message they are in.
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_OUTPUT = 1, 5, 12
NODE_OUTPUT, NODE_OPERATION = 2, 4
TENSOR_EXTERNAL_DATA = 13
# Messages that may contain tensors, and the kind of message in each of their fields. The fields of an attribute are, in
# this order, t, tensors, g, graphs, sparse_tensor and sparse_tensors; those of a sparse tensor are values and indices.
LEADING_TO_TENSORS = {
    "model": {MODEL_GRAPH: "graph", 25: "function"},
    "function": {7: "node"},
    "graph": {GRAPH_NODE: "node", GRAPH_INITIALIZER: "tensor", 15: "sparse tensor"},
    "node": {5: "attribute"},
    "attribute": {
        **{5: "tensor", 10: "tensor", 6: "graph", 11: "graph"},
        **{22: "sparse tensor", 23: "sparse tensor"},
    },
    "sparse tensor": {1: "tensor", 2: "tensor"},
}
ENTRY_KEY, ENTRY_VALUE = 1, 2
VALUE_NAME = 1


@dataclass(frozen=True)
class NetworkFile:
    """The names in an ONNX file.

    Parameters
    ----------
    layers : tuple of str
        The computed values, in the order of computation; constants are not layers.
    outputs : tuple of str
        The layers that the network returns.
    external : tuple of str
        Locations of files with weights, as the network names them; see `external_file`.
    """

    layers: tuple[str, ...]
    outputs: tuple[str, ...]
    external: tuple[str, ...]

    @classmethod
    def read(cls, content: bytes) -> "NetworkFile":
        """Parse the bytes of the file."""
        graphs = list(_parts(memoryview(content), MODEL_GRAPH))
        nodes = [node for graph in graphs for node in _parts(graph, GRAPH_NODE)]
        computed = [node for node in nodes if "Constant" not in _texts(node, NODE_OPERATION)]
        layers = tuple(name for node in computed for name in _texts(node, NODE_OUTPUT) if name)
        outputs = tuple(
            name for graph in graphs for value in _parts(graph, GRAPH_OUTPUT) for name in _texts(value, VALUE_NAME)
        )
        if not outputs:
            raise ValueError("it declares no output")
        external = sorted({name for tensor in _tensors(memoryview(content)) for name in _locations(tensor)})
        return cls(layers, outputs, tuple(external))


def external_file(model: Path, location: str) -> Path:
    """Return the path of a weight file, or raise an error if it is not a regular file in the folder of the model.

    The location may be any text, and runtimes load whatever is there. A location outside of the model's folder, or a
    link that leads there, would let a model read any file of the user. A device or a pipe might never end.
    """
    parts = PureWindowsPath(location).parts  # understands both kinds of slashes
    is_inside = bool(parts) and not PureWindowsPath(location).anchor and ".." not in parts and "\0" not in location
    file = model.parent / location if is_inside else model
    if not is_inside or not file.resolve().is_relative_to(model.parent.resolve()):
        raise ValueError(f"weights of {model} must be in its folder, got the location {location[:200]!r}")
    if file.exists() and not file.is_file():
        raise ValueError(f"weights of {model} must be in a regular file, not in a folder, device or pipe: {location!r}")
    return file


def with_outputs(content: bytes, layers: Iterable[str]) -> bytes:
    """Add outputs to the content of a file.

    Protocol buffer readers merge messages that follow each other, so the new outputs are simply appended.
    """
    added = (_sized(GRAPH_OUTPUT, _sized(VALUE_NAME, layer.encode())) for layer in layers)
    return content + _sized(MODEL_GRAPH, b"".join(added))


def _tensors(model: memoryview) -> Iterator[memoryview]:
    """Yield all tensors of a model: weights, constants, and those of graphs inside nodes, such as branches of If."""
    unread = [("model", model)]  # not a recursion, because a file may nest graphs to any depth
    while unread:
        kind, message = unread.pop()
        if kind == "tensor":
            yield message
        else:
            held = LEADING_TO_TENSORS[kind]
            unread += [(held[number], part) for number, part in _fields(message) if number in held]


def _locations(tensor: memoryview) -> Iterator[str]:
    for entry in _parts(tensor, TENSOR_EXTERNAL_DATA):
        if "location" in _texts(entry, ENTRY_KEY):
            yield from _texts(entry, ENTRY_VALUE)


def _texts(message: memoryview, number: int) -> list[str]:
    return [bytes(part).decode() for part in _parts(message, number)]


def _parts(message: memoryview, number: int) -> Iterator[memoryview]:
    """Yield the values of all sized fields (messages and texts) with this number."""
    return (part for found, part in _fields(message) if found == number)


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield number and value of all sized fields."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)  # the number of the field in the high bits, its type in the lowest three
        start, at = _value(message, at, tag & 7)
        if at > len(message):
            raise ValueError("it ends too early")
        if tag & 7 == SIZED:
            yield tag >> 3, message[start:at]


def _value(message: memoryview, at: int, kind: int) -> tuple[int, int]:
    """Return the start and end of a value of this type."""
    if kind == SIZED:
        size, at = _varint(message, at)
        return at, at + size
    if kind == VARINT:
        return at, _varint(message, at)[1]
    if kind in (EIGHT_BYTES, FOUR_BYTES):
        return at, at + (8 if kind == EIGHT_BYTES else 4)
    raise ValueError(f"a field of type {kind} is not ONNX")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """Decode an integer in groups of seven bits, lowest first; return it and its end."""
    value = 0
    for i, byte in enumerate(message[at : at + MAX_VARINT_BYTES]):
        value |= (byte & 127) << 7 * i
        if byte < 128:
            return value, at + i + 1
    raise ValueError("it ends too early" if at + MAX_VARINT_BYTES > len(message) else "an integer in it is too long")


def _sized(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | SIZED]) + _written(len(value)) + value


def _written(value: int) -> bytes:
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])
