from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_onnx import convolution_network, field, message, network, node, value

from ilfs.datasets.onnx_file import NetworkFile, with_output

names = st.text(min_size=1, max_size=300)


@given(st.lists(names, min_size=1, max_size=5), names)
def test_the_names_that_were_written_are_read(layers, inserted):
    steps = [node("Relu", [before], after) for before, after in zip(["image", *layers], layers, strict=False)]
    content = network(steps, {}, [value("image", ["n", 3, 4, 4])], [value(layers[-1], ["n"])])
    read = NetworkFile.read(content)
    assert (read.layers, read.outputs, read.external) == (tuple(layers), (layers[-1],), ())
    assert NetworkFile.read(with_output(content, inserted)).outputs == (layers[-1], inserted)


def test_constants_and_outputs_without_a_name_are_no_layers():
    steps = [node("Constant", [], "five", value_int=5), node("Dropout", ["image"], ""), node("Relu", ["image"], "out")]
    content = network(steps, {}, [value("image", ["n"])], [value("out", ["n"])])
    assert NetworkFile.read(content).layers == ("out",)


def test_fields_of_every_type_are_stepped_over(tmp_path):
    content = convolution_network(tmp_path / "tiny.onnx").read_bytes()
    eight, four = bytes([50 << 3 & 127 | 1 | 128, 50 >> 4]) + bytes(8), bytes([15 << 3 | 5]) + bytes(4)
    assert NetworkFile.read(eight + four + field(14, 1 << 62) + content) == NetworkFile.read(content)


def test_other_facts_about_files_beside_it_are_not_their_names():
    facts = [message((1, "offset"), (2, "4096")), message((1, "location"), (2, "weights.bin"))]
    tensor = message((8, "w"), *((13, fact) for fact in facts))
    content = network([node("Relu", ["image"], "out")], {"w": tensor}, [], [value("out", ["n"])])
    assert NetworkFile.read(content).external == ("weights.bin",)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it declares no output"),
        (b"\x0b", "a field of type 3 is not ONNX"),
        (b"\x3a\x05abc", "it ends too early"),
        (b"\x08", "it ends too early"),
        (b"\x08" + b"\xff" * 20, "an integer in it is too long"),
        (b"\x0d\x00", "it ends too early"),
    ],
)
def test_what_is_wrong(content, said):
    with pytest.raises(ValueError, match=said):
        NetworkFile.read(content)


@given(st.binary(max_size=200), st.integers(0, 1200), st.integers(0, 255))
def test_any_other_bytes_are_refused_with_a_sentence_or_read(tmp_path_factory, noise, at, byte):
    content = bytearray(convolution_network(tmp_path_factory.mktemp("noise") / "tiny.onnx").read_bytes())
    content[at] = byte
    for spoiled in (noise, bytes(content), bytes(content[:at])):
        with suppress(ValueError):
            NetworkFile.read(spoiled)
