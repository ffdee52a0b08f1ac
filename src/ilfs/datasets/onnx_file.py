"""What an ONNX file says about its network, read without any library.

A runtime gives the outputs that the file declares, which for a published network is its last layer alone; the features
are in a layer before it. So the names of all layers are read here, and any of them can be declared an output.

The file is a message of the protocol buffers: fields one after another, each a number, a type and a value, where a
value may be a message again. The numbers of the fields are those of onnx.proto.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

# the types of a field
VARINT, EIGHT_BYTES, SIZED, FOUR_BYTES = 0, 1, 2, 5
LONGEST_VARINT = 10  # bytes, of 64 bits
# numbers of fields, by the message they are in
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_OUTPUT = 1, 5, 12
NODE_OUTPUT, NODE_OPERATION = 2, 4
TENSOR_EXTERNAL_DATA = 13
# messages that lead to tensors: what the fields of each hold, by their numbers
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
        What the network computes, in the order of computation; constants are not layers.
    outputs : tuple of str
        Those that it gives back.
    external : tuple of str
        Files beside it that hold weights, as it names them; see `external_file`.
    """

    layers: tuple[str, ...]
    outputs: tuple[str, ...]
    external: tuple[str, ...]

    @classmethod
    def read(cls, content: bytes) -> "NetworkFile":
        """From the bytes of the file."""
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
    """The file beside a model that holds weights, if it is one: a location may be any text.

    Runtimes read the file and pass on what is in it, so that a location outside of the model's folder, or a link that
    leads there, would let a model read any file of the user. A device or a pipe has no end.
    """
    parts = PureWindowsPath(location).parts  # which takes both kinds of slashes
    is_inside = bool(parts) and not PureWindowsPath(location).anchor and ".." not in parts and "\0" not in location
    file = model.parent / location if is_inside else model
    if not is_inside or not file.resolve().is_relative_to(model.parent.resolve()):
        raise ValueError(f"weights of {model} must be in its folder, got the location {location[:200]!r}")
    if file.exists() and not file.is_file():
        raise ValueError(f"weights of {model} must be in a regular file, not in a folder, device or pipe: {location!r}")
    return file


def with_output(content: bytes, layer: str) -> bytes:
    """The file with one more output.

    Messages that follow each other are merged by whoever reads them, so what is to be added is written at the end.
    """
    return content + _sized(MODEL_GRAPH, _sized(GRAPH_OUTPUT, _sized(VALUE_NAME, layer.encode())))


def _tensors(model: memoryview) -> Iterator[memoryview]:
    """All tensors of a model: weights, constants, and those of graphs inside nodes, such as the branches of If."""
    unread = [("model", model)]  # a list, not a recursion, as a file may nest graphs to any depth
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
    """The values of all fields of this number that have a size: messages and texts."""
    return (part for found, part in _fields(message) if found == number)


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Number and value of all fields that have a size."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        start, at = _value(message, at, tag & 7)
        if at > len(message):
            raise ValueError("it ends too early")
        if tag & 7 == SIZED:
            yield tag >> 3, message[start:at]


def _value(message: memoryview, at: int, kind: int) -> tuple[int, int]:
    """Where the value of this type begins and ends."""
    if kind == SIZED:
        size, at = _varint(message, at)
        return at, at + size
    if kind == VARINT:
        return at, _varint(message, at)[1]
    if kind in (EIGHT_BYTES, FOUR_BYTES):
        return at, at + (8 if kind == EIGHT_BYTES else 4)
    raise ValueError(f"a field of type {kind} is not ONNX")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """An integer in groups of seven bits, the lowest first, and where it ends."""
    value = 0
    for i, byte in enumerate(message[at : at + LONGEST_VARINT]):
        value |= (byte & 127) << 7 * i
        if byte < 128:
            return value, at + i + 1
    raise ValueError("it ends too early" if at + LONGEST_VARINT > len(message) else "an integer in it is too long")


def _sized(number: int, value: bytes) -> bytes:
    return bytes([number << 3 | SIZED]) + _written(len(value)) + value


def _written(value: int) -> bytes:
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])
