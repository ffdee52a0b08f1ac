"""A writer of small ONNX networks: just enough of the format, so that tests need neither onnx nor torch.

An ONNX file is a protocol buffer message: fields, each with a number, a type (0: an integer, 2: bytes that follow their
length) and a value. The numbers of the fields below are those in onnx.proto.
"""

import numpy as np

FLOAT, FLOAT16, INT64 = 1, 10, 7


def varint(value):
    """Encode an integer in groups of seven bits, the lowest first."""
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(*fields):
    return b"".join(field(number, value) for number, value in fields)


def tensor(name, array):
    kind = {"float32": FLOAT, "float16": FLOAT16, "int64": INT64}[array.dtype.name]
    return message(*((1, size) for size in array.shape), (2, kind), (8, name), (9, array.tobytes()))


def external_tensor(name, array, file_name):
    """Write a tensor whose numbers are in another file in the same folder."""
    location = message((1, "location"), (2, file_name))
    return message(*((1, size) for size in array.shape), (2, FLOAT), (8, name), (13, location), (14, 1))


def value(name, shape, kind=FLOAT):
    """Write an input or output; an axis given by a word has any length."""
    axes = [message((1, message((1, axis) if isinstance(axis, int) else (2, axis)))) for axis in shape]
    return message((1, name), (2, message((1, message((1, kind), (2, b"".join(axes)))))))


def node(operation, inputs, output, **integers):
    """Write a step of the computation; a tuple of integers is one attribute."""
    attributes = []
    for name, number in integers.items():
        many = isinstance(number, tuple)
        values = [(8, n) for n in number] if many else [(3, number)]
        attributes.append(message((1, name), *values, (20, 7 if many else 2)))
    names = [(1, name) for name in inputs] + [(2, output)]
    return message(*names, (4, operation), *((5, attribute) for attribute in attributes))


def network(nodes, weights, inputs, outputs):
    """Write the bytes of an ONNX file; weights are arrays by name, or tensors already written."""
    tensors = [w if isinstance(w, bytes) else tensor(name, w) for name, w in weights.items()]
    graph = message(
        *((1, step) for step in nodes),
        (2, "tiny"),
        *((5, one) for one in tensors),
        *((11, one) for one in inputs),
        *((12, one) for one in outputs),
    )
    return message((1, 8), (7, graph), (8, message((1, ""), (2, 17))))


def convolution_weights(n_channels=6, n_features=5, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "kernel": rng.normal(size=(n_channels, 3, 3, 3)).astype(np.float32),
        "bias": rng.normal(size=n_channels).astype(np.float32),
        "head": rng.normal(size=(n_channels, n_features)).astype(np.float32),
        "shift": rng.normal(size=n_features).astype(np.float32),
    }


def convolution_network(path, weights=None, batch="n", size=16, logits_only=False, apart=()):
    """Write a network: convolution (3 x 3, stride 2), relu ("maps"), mean over the image, linear ("logits").

    The weights named in ``apart`` are written to separate files.
    """
    weights = convolution_weights() if weights is None else weights
    n_channels, n_features = weights["head"].shape
    nodes = [
        node("Conv", ["image", "kernel", "bias"], "convolved", kernel_shape=(3, 3), strides=(2, 2), pads=(0, 0, 0, 0)),
        node("Relu", ["convolved"], "maps"),
        node("GlobalAveragePool", ["maps"], "means"),
        node("Flatten", ["means"], "flat", axis=1),
        node("Gemm", ["flat", "head", "shift"], "logits"),
    ]
    for name in apart:
        weights[name].tofile(path.with_name(f"{name}.bin"))
    tensors = weights | {name: external_tensor(name, weights[name], f"{name}.bin") for name in apart}
    outputs = [value("maps", [batch, n_channels, "h", "w"]), value("logits", [batch, n_features])]
    image = value("image", [batch, 3, size, size])
    path.write_bytes(network(nodes, tensors, [image], outputs[logits_only:]))
    return path


def convolution_by_hand(images, weights):
    """Compute maps and logits of that network by definition, for images x channels x height x width."""
    n, _, height, width = images.shape
    kernel = weights["kernel"].astype(float)
    rows, columns = (height - 3) // 2 + 1, (width - 3) // 2 + 1
    maps = np.empty((n, len(kernel), rows, columns))
    for r in range(rows):
        for c in range(columns):
            patch = images[:, :, 2 * r : 2 * r + 3, 2 * c : 2 * c + 3].astype(float)
            maps[:, :, r, c] = np.einsum("nijk,oijk->no", patch, kernel) + weights["bias"]
    maps = np.maximum(maps, 0)
    return maps, maps.mean(axis=(2, 3)) @ weights["head"] + weights["shift"]
