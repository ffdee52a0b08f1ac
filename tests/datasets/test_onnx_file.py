import os
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platforms import needs_posix
from tiny_onnx import convolution_network, field, message, network, node, value

from ilfs.datasets.onnx_file import NetworkFile, external_file, with_outputs

names = st.text(min_size=1, max_size=300)


@given(st.lists(names, min_size=1, max_size=5), names)
def test_names_are_read_as_written(layers, inserted):
    steps = [node("Relu", [before], after) for before, after in zip(["image", *layers], layers, strict=False)]
    content = network(steps, {}, [value("image", ["n", 3, 4, 4])], [value(layers[-1], ["n"])])
    read = NetworkFile.read(content)
    assert (read.layers, read.outputs, read.external) == (tuple(layers), (layers[-1],), ())
    assert NetworkFile.read(with_outputs(content, [inserted])).outputs == (layers[-1], inserted)


def test_constants_and_unnamed_outputs_are_not_layers():
    steps = [node("Constant", [], "five", value_int=5), node("Dropout", ["image"], ""), node("Relu", ["image"], "out")]
    content = network(steps, {}, [value("image", ["n"])], [value("out", ["n"])])
    assert NetworkFile.read(content).layers == ("out",)


def test_unknown_fields_of_every_type_are_skipped(tmp_path):
    content = convolution_network(tmp_path / "tiny.onnx").read_bytes()
    eight, four = bytes([50 << 3 & 127 | 1 | 128, 50 >> 4]) + bytes(8), bytes([15 << 3 | 5]) + bytes(4)
    assert NetworkFile.read(eight + four + field(14, 1 << 62) + content) == NetworkFile.read(content)


def test_other_entries_about_external_files_are_not_locations():
    facts = [message((1, "offset"), (2, "4096")), message((1, "location"), (2, "weights.bin"))]
    tensor = message((8, "w"), *((13, fact) for fact in facts))
    content = network([node("Relu", ["image"], "out")], {"w": tensor}, [], [value("out", ["n"])])
    assert NetworkFile.read(content).external == ("weights.bin",)


def weights_in(file_name):
    return message((8, "w"), (13, message((1, "location"), (2, file_name))))


def test_weights_of_constants_branches_functions_and_sparse_tensors_are_found():
    branch = message((5, weights_in("branch.bin")), (1, message((5, message((10, weights_in("list.bin")))))))
    steps = [
        message((2, "c"), (4, "Constant"), (5, message((5, weights_in("constant.bin"))))),
        message(
            (2, "out"), (4, "If"), (5, message((6, branch))), (5, message((22, message((2, weights_in("s.bin"))))))
        ),
    ]
    content = network(steps, {}, [], [value("out", ["n"])])
    function = field(25, message((7, message((5, message((5, weights_in("function.bin"))))))))
    found = NetworkFile.read(content + function).external
    assert found == ("branch.bin", "constant.bin", "function.bin", "list.bin", "s.bin")


def test_deeply_nested_graphs_are_read():
    graph = message((5, weights_in("deep.bin")))
    for _ in range(2000):
        graph = message((1, message((5, message((6, graph))))))
    content = network([message((2, "out"), (5, message((6, graph))))], {}, [], [value("out", ["n"])])
    assert NetworkFile.read(content).external == ("deep.bin",)


@pytest.mark.parametrize("location", ["w.bin", "weights/w.bin", "weights\\w.bin", "a..b"])
def test_a_location_in_the_folder_of_the_model_is_accepted(tmp_path, location):
    assert external_file(tmp_path / "m.onnx", location) == tmp_path / location


@pytest.mark.parametrize(
    "location",
    ["", ".", "../w.bin", "a/../../w.bin", "a\\..\\w.bin", "/etc/passwd", "C:\\w.bin", "C:w.bin", "\\\\host\\w", "w\0"],
)
def test_a_location_outside_of_the_folder_is_refused(tmp_path, location):
    with pytest.raises(ValueError, match=r"weights of .*m\.onnx must be in "):
        external_file(tmp_path / "m.onnx", location)


@needs_posix
def test_links_devices_and_pipes_are_refused(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_text("x")
    (folder / "real").write_text("x")
    for name, to in (
        ("out", tmp_path / "secret"),
        ("null", "/dev/null"),
        ("inside", folder / "real"),
        ("up", tmp_path),
    ):
        (folder / name).symlink_to(to)
    assert external_file(folder / "m.onnx", "inside") == folder / "inside"
    for name in ("out", "null", "up/secret"):
        with pytest.raises(ValueError, match=rf"must be in its folder, got the location '{name}'"):
            external_file(folder / "m.onnx", name)
    os.mkfifo(folder / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(ValueError, match=r"weights of .* must be in "):
            external_file(folder / "m.onnx", name)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it declares no output"),
        (b"\x0b", "a field of type 3 is not ONNX"),
        (b"\x3a\x05abc", "it ends too early"),
        (b"\x08", "it ends too early"),
        (b"\x08" + b"\xff" * 20, "an integer in it is too long"),
        (b"\x0d\x00", "it ends too early"),
    ],
)
def test_invalid_files_are_refused(content, reason):
    with pytest.raises(ValueError, match=reason):
        NetworkFile.read(content)


@given(st.binary(max_size=200), st.integers(0, 1200), st.integers(0, 255))
def test_damaged_files_are_read_or_refused(tmp_path_factory, noise, at, byte):
    content = bytearray(convolution_network(tmp_path_factory.mktemp("noise") / "tiny.onnx").read_bytes())
    content[at] = byte
    for spoiled in (noise, bytes(content), bytes(content[:at])):
        with suppress(ValueError):
            NetworkFile.read(spoiled)
