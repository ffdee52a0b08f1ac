"""Layers of a network with their shapes, as a library function and as a command."""

import pytest
from tiny_onnx import convolution_network, network, node, value

from ilfs.cli import main
from ilfs.datasets import deep
from ilfs.datasets.layers import Layer, layers_with_shapes

pytest.importorskip("onnxruntime", reason="needs the extra [deep]")


@pytest.fixture
def model(tmp_path):
    return convolution_network(tmp_path / "tiny.onnx")


@pytest.mark.parametrize("batch", ["n", 3])
def test_shapes_are_those_of_one_image(tmp_path, batch):
    layers = layers_with_shapes(convolution_network(tmp_path / "tiny.onnx", batch=batch))
    # A 3 x 3 convolution with stride 2 makes 7 x 7 of 16 x 16 pixels.
    assert [(one.name, one.shape, one.n_features) for one in layers] == [
        ("convolved", (6, 7, 7), 294),
        ("maps", (6, 7, 7), 294),
        ("means", (6, 1, 1), 6),
        ("flat", (6,), 6),
        ("logits", (5,), 5),
    ]
    assert [one.name for one in layers if one.is_output] == ["maps", "logits"]


def test_another_size_of_images_gives_other_shapes(tmp_path):
    model = convolution_network(tmp_path / "any.onnx", size="side")
    assert layers_with_shapes(model, size=21)[0].shape == (6, 10, 10)


def test_a_value_without_an_entry_per_image_has_no_features(tmp_path):
    path = tmp_path / "shapes.onnx"
    nodes = [node("Shape", ["image"], "sizes"), node("Flatten", ["image"], "flat", axis=1)]
    path.write_bytes(network(nodes, {}, [value("image", ["n", 3, 4, 4])], [value("flat", ["n", 48])]))
    sizes, flat = layers_with_shapes(path)
    assert sizes == Layer("sizes", (4,), is_output=False, has_rows=False)
    assert sizes.n_features is None
    assert flat.n_features == 48


def test_the_command_prints_names_shapes_and_numbers_of_features(model, capsys):
    assert main(["datasets", "layers", str(model), "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "layer,shape,features,output"
    assert lines[1:3] == ["convolved,6 x 7 x 7,294,", "maps,6 x 7 x 7,294,yes"]


def test_the_command_refuses_a_file_that_is_no_network_in_one_line(tmp_path, capsys):
    path = tmp_path / "notes.onnx"
    path.write_text("not a network")
    assert main(["datasets", "layers", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"ilfs: {path} is not an ONNX network")


def test_an_unknown_layer_lists_the_last_of_many(model, monkeypatch):
    monkeypatch.setattr(deep, "MAX_LISTED_LAYERS", 2)
    said = r"\('flat', 'logits', and 3 before these, which ilfs datasets layers lists\), got 'fc7'"
    with pytest.raises(ValueError, match=said):
        deep.Plan.from_network(model, "fc7", "flatten", None)
