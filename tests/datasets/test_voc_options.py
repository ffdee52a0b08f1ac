"""Options of VOC images: from the command line, from environment variables, and as deep_features takes them."""

import pytest

from ilfs.cli.main import command_line
from ilfs.cli.voc import ImageLines, options_of
from ilfs.datasets import VocOptions

CAFFE = ["--channels", "BGR", "--scale", "1", "--mean", "103.939", "116.779", "123.68", "--std", "1", "1", "1"]


def parsed(*arguments):
    return options_of(command_line().parse_args(["bench", "run", "deep", *arguments]))


def test_the_command_line_states_how_images_become_numbers():
    options = parsed("--devkit", "kit", "--network", "vgg16.onnx", "--layer", "fc7", *CAFFE, "--image-size", "224")
    assert (options.devkit, options.network) == ("kit", "vgg16.onnx")
    assert options.deep_options() == {
        "layer": "fc7",
        "channels": "BGR",
        "scale": 1.0,
        "mean": [103.939, 116.779, 123.68],
        "std": [1.0, 1.0, 1.0],
        "size": 224,
    }


def test_options_that_are_not_given_are_left_to_deep_features():
    assert parsed().deep_options() == {}
    assert parsed() == VocOptions()


def test_environment_variables_fill_what_is_not_given(monkeypatch):
    monkeypatch.setenv("ILFS_VOC_MEAN", "1 2 3")
    monkeypatch.setenv("ILFS_VOC_CHANNELS", "BGR")
    assert VocOptions(channels="RGB").or_environment().deep_options() == {"channels": "RGB", "mean": [1.0, 2.0, 3.0]}


def test_variables_and_options_are_the_same():
    options = VocOptions("kit", "net.onnx", image_size="64", crop="1")
    assert options.as_variables() == {
        "ILFS_VOC_DEVKIT": "kit",
        "ILFS_VOC_NETWORK": "net.onnx",
        "ILFS_VOC_IMAGE_SIZE": "64",
        "ILFS_VOC_CROP": "1",
    }
    assert VocOptions.from_variables(options.as_variables()) == options


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mean": "1 2"}, r"mean of VOC images \(--mean or ILFS_VOC_MEAN\) must be three numbers, got '1 2'"),
        ({"std": "1 2 x"}, "std of VOC images .* must be three numbers, got '1 2 x'"),
        ({"scale": "1/255"}, "scale of VOC images .* must be a number, got '1/255'"),
        ({"image_size": "22.5"}, r"\(--image-size or ILFS_VOC_IMAGE_SIZE\) must be an integer, got '22.5'"),
        ({"image_size": "inf"}, "must be an integer, got 'inf'"),
    ],
)
def test_values_that_are_no_numbers_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        VocOptions(**given).deep_options()


def test_lines_of_progress_state_images_and_time_left(monkeypatch, capsys):
    now = iter([0.0, 1.0, 5.0, 21.0, 22.0])
    monkeypatch.setattr("ilfs.cli.voc.time.monotonic", lambda: next(now))
    lines = ImageLines("voc2007")
    for n_done in (100, 120, 200, 205):  # 100 of them were cached
        lines(n_done, 1000)
    assert capsys.readouterr().err == "voc2007: features of 200 of 1000 images, 3 min left\n"
