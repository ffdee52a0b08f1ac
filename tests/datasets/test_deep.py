import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import tiny_onnx
from platforms import needs_posix
from tiny_onnx import convolution_by_hand, convolution_network, convolution_weights

from ilfs.datasets import deep
from ilfs.datasets.deep import deep_features, network_layers
from ilfs.datasets.onnx_file import NetworkFile
from ilfs.datasets.pixels import centre

pytest.importorskip("onnxruntime", reason="needs the extra [deep]")
Image = pytest.importorskip("PIL.Image", reason="needs the extra [deep]")

MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ILFS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def model(tmp_path):
    return convolution_network(tmp_path / "tiny.onnx")


def colours(n_images=5, height=16, width=16, seed=0):
    return np.random.default_rng(seed).integers(0, 256, size=(n_images, height, width, 3), dtype=np.uint8)


def saved(folder, images, name="image"):
    """Write image files without compression loss."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{name}{i}.png" for i in range(len(images))]
    for path, image in zip(paths, images, strict=True):
        Image.fromarray(image).save(path)
    return paths


@pytest.fixture
def paths(tmp_path):
    return saved(tmp_path / "images", colours())


def gives_its_input(path, shape=("n", 3, 4, 4), kind=tiny_onnx.FLOAT):
    """Write a network whose output is its input."""
    image, same = tiny_onnx.value("image", shape, kind), tiny_onnx.value("same", shape, kind)
    path.write_bytes(tiny_onnx.network([tiny_onnx.node("Identity", ["image"], "same")], {}, [image], [same]))
    return path


def as_given(paths, folder, size=4, **options):
    """Return the input of a network, images x height x width x 3, as numbers from 0 to 255."""
    same = gives_its_input(folder / "same.onnx", ("n", 3, size, size))
    plain = {"crop": 1.0, "scale": 1.0, "mean": [0, 0, 0], "std": [1, 1, 1], "cache": False}
    rows = deep_features(paths, same, **(plain | options))
    return rows.reshape(len(paths), 3, size, size).transpose(0, 2, 3, 1)


class TestNetwork:
    def expected(self, images):
        standardised = (images / 255 - MEAN) / STD
        return convolution_by_hand(standardised.transpose(0, 3, 1, 2), convolution_weights())

    def test_the_last_output_equals_one_computed_by_hand(self, model, paths):
        rows = deep_features(paths, model, crop=1.0)
        assert rows.dtype == np.float32
        np.testing.assert_allclose(rows, self.expected(colours())[1], rtol=1e-4, atol=1e-5)

    def test_a_named_output_is_flattened_or_averaged(self, model, paths):
        maps = self.expected(colours())[0]
        flat = deep_features(paths, model, crop=1.0, layer="maps")
        np.testing.assert_allclose(flat, maps.reshape(5, -1), rtol=1e-4, atol=1e-5)
        averaged = deep_features(paths, model, crop=1.0, layer="maps", pool="mean")
        np.testing.assert_allclose(averaged, maps.mean(axis=(2, 3)), rtol=1e-4, atol=1e-5)

    def test_an_inner_layer_can_be_taken(self, tmp_path, paths):
        stock = convolution_network(tmp_path / "stock.onnx", logits_only=True)
        assert network_layers(stock) == ("convolved", "maps", "means", "flat", "logits")
        maps = self.expected(colours())[0]
        rows = deep_features(paths, stock, crop=1.0, layer="flat")
        np.testing.assert_allclose(rows, maps.mean(axis=(2, 3)), rtol=1e-4, atol=1e-5)

    def test_weights_in_a_separate_file_are_used(self, tmp_path, model, paths):
        network = convolution_network(tmp_path / "apart.onnx", apart=["head"])
        assert NetworkFile.read(network.read_bytes()).external == ("head.bin",)
        for layer in ("logits", "flat"):  # an output of the file, and an inner layer
            expected = deep_features(paths, model, layer=layer, cache=False)
            np.testing.assert_array_equal(deep_features(paths, network, layer=layer), expected)
        before = deep_features(paths, network)
        (2 * convolution_weights()["head"]).tofile(tmp_path / "head.bin")
        assert not np.array_equal(deep_features(paths, network), before)
        (tmp_path / "head.bin").unlink()
        with pytest.raises(OSError, match=r"cannot read the network .*head.bin: No such file"):
            deep_features(paths, network)

    @needs_posix
    def test_weights_outside_of_its_folder_are_not_read(self, tmp_path, paths):
        (tmp_path / "inner").mkdir()
        network = convolution_network(tmp_path / "inner" / "apart.onnx", apart=["head"])
        (tmp_path / "inner" / "head.bin").rename(tmp_path / "head.bin")
        (tmp_path / "inner" / "head.bin").symlink_to(tmp_path / "head.bin")
        for layer in ("logits", "flat"):
            with pytest.raises(
                ValueError, match=r"weights of .*apart\.onnx must be in its folder, got the location 'head"
            ):
                deep_features(paths, network, layer=layer)

    @needs_posix
    def test_a_pipe_is_refused_as_a_network(self, tmp_path, paths):
        os.mkfifo(tmp_path / "pipe.onnx")
        with pytest.raises(OSError, match=r"cannot read the network .*pipe\.onnx: it must be a file, not a device"):
            deep_features(paths, tmp_path / "pipe.onnx")

    @pytest.mark.parametrize("batch", [1, 2, 7])
    def test_a_fixed_batch_size_gives_the_same_features(self, tmp_path, model, paths, batch):
        fixed = convolution_network(tmp_path / "fixed.onnx", batch=batch)
        np.testing.assert_allclose(deep_features(paths, fixed), deep_features(paths, model), rtol=1e-5, atol=1e-6)

    def test_features_do_not_depend_on_other_images(self, model, paths):
        rows = deep_features(paths, model, cache=False)
        for some in ([3], [4, 0], [2, 2, 1]):
            np.testing.assert_array_equal(deep_features([paths[i] for i in some], model, cache=False), rows[some])
        for batch_size in (1, 3):
            other = deep_features(paths, model, cache=False, batch_size=batch_size)
            np.testing.assert_allclose(other, rows, rtol=1e-5, atol=1e-6)

    def test_size_applies_to_a_network_of_any_size(self, tmp_path, paths):
        any_size = convolution_network(tmp_path / "any.onnx", size="side")
        assert deep_features(paths[:1], any_size, layer="maps", batch_size=1).shape == (
            1,
            6 * 111 * 111,
        )  # 224 by default
        assert deep_features(paths, any_size, layer="maps", size=21).shape == (5, 6 * 10 * 10)

    def test_a_network_with_channels_last_is_averaged_over_positions(self, tmp_path, paths):
        last = gives_its_input(tmp_path / "last.onnx", ("n", 4, 6, 3))
        rows = deep_features(paths, last)
        assert rows.shape == (5, 4 * 6 * 3)
        averaged = deep_features(paths, last, pool="mean")
        np.testing.assert_allclose(averaged, rows.reshape(5, 24, 3).mean(axis=1), rtol=1e-5)

    def test_tokens_are_averaged_over_the_second_axis(self, tmp_path, paths):
        shape = tiny_onnx.node("Reshape", ["image", "shape"], "tokens")  # images x 6 tokens x 8 numbers
        weights = {"shape": np.array([0, 6, 8])}
        path, image = tmp_path / "tokens.onnx", tiny_onnx.value("image", ["n", 3, 4, 4])
        path.write_bytes(tiny_onnx.network([shape], weights, [image], [tiny_onnx.value("tokens", ["n", 6, 8])]))
        rows = deep_features(paths, path)
        averaged = deep_features(paths, path, pool="mean")
        np.testing.assert_allclose(averaged, rows.reshape(5, 6, 8).mean(axis=1), rtol=1e-5)

    def test_half_precision_agrees_with_single_precision(self, tmp_path, paths):
        half = gives_its_input(tmp_path / "half.onnx", kind=tiny_onnx.FLOAT16)
        rows = deep_features(paths, half)
        assert rows.dtype == np.float32
        full = deep_features(paths, gives_its_input(tmp_path / "full.onnx"))
        np.testing.assert_allclose(rows, full, rtol=2e-3, atol=2e-3)


class TestPixels:
    def test_an_image_of_the_right_size_is_not_resampled(self, tmp_path):
        images = colours(2, 4, 4)
        np.testing.assert_array_equal(as_given(saved(tmp_path, images), tmp_path), images)

    def test_bgr_reverses_the_channels_before_the_means(self, tmp_path):
        images = colours(2, 4, 4)
        given = as_given(saved(tmp_path, images), tmp_path, channels="BGR", mean=[100, 110, 120], std=[1, 2, 4])
        np.testing.assert_array_equal(given, (images[..., ::-1] - [100.0, 110, 120]) / [1, 2, 4])

    def test_default_scaling_is_that_of_imagenet(self, tmp_path):
        images = colours(2, 4, 4)
        same = gives_its_input(tmp_path / "same.onnx")
        rows = deep_features(saved(tmp_path, images), same, crop=1.0).reshape(2, 3, 4, 4)
        np.testing.assert_allclose(rows, ((images / 255 - MEAN) / STD).transpose(0, 3, 1, 2), rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize(
        ("size", "target", "crop", "box"),
        [
            ((256, 256), (224, 224), 0.875, (16, 16, 240, 240)),
            ((512, 256), (224, 224), 0.875, (144, 16, 368, 240)),
            ((100, 300), (10, 10), 1.0, (0, 100, 100, 200)),
            ((100, 300), (10, 20), 0.5, (25, 100, 75, 200)),
        ],
    )
    def test_the_crop_box_is_centred_and_has_the_shape_of_the_target(self, size, target, crop, box):
        assert centre(size, target, crop) == pytest.approx(box)

    def test_one_resampling_equals_scaling_then_cropping(self, tmp_path):
        (image,) = colours(1, 80, 160)
        given = as_given(saved(tmp_path, [image]), tmp_path, size=28, crop=0.875)[0]
        scaled = Image.fromarray(image).resize((64, 32), Image.Resampling.BILINEAR)
        cropped = scaled.crop((18, 2, 18 + 28, 2 + 28))
        np.testing.assert_allclose(given, np.asarray(cropped, dtype=float), atol=1)  # both round to whole numbers

    def test_a_long_and_thin_image_is_read(self, tmp_path):
        (path,) = saved(tmp_path, [np.full((1, 30_000, 3), 77, dtype=np.uint8)])
        assert (as_given([path], tmp_path) == 77).all()

    def test_bicubic_differs_from_bilinear(self, tmp_path):
        paths = saved(tmp_path, colours(1, 40, 40))
        assert not np.array_equal(as_given(paths, tmp_path), as_given(paths, tmp_path, resample="bicubic"))

    def test_grey_images_of_8_and_16_bits_get_three_equal_channels(self, tmp_path):
        grey = colours(1, 4, 4)[0, :, :, 0]
        (eight,) = saved(tmp_path, [grey])
        sixteen = tmp_path / "sixteen.png"
        Image.fromarray(grey.astype(np.uint16) * 256 + 13).save(sixteen)
        for given in as_given([eight, sixteen], tmp_path):
            np.testing.assert_array_equal(given, np.repeat(grey[:, :, None], 3, axis=2))

    def test_black_and_white_images_become_0_and_255(self, tmp_path):
        Image.fromarray(np.eye(4, dtype=bool)).save(tmp_path / "bits.png")
        np.testing.assert_array_equal(as_given([tmp_path / "bits.png"], tmp_path)[0, :, :, 1], 255 * np.eye(4))

    def test_transparent_pixels_become_white(self, tmp_path):
        rgba = np.zeros((4, 4, 4), dtype=np.uint8)
        rgba[:2] = [10, 20, 30, 255]
        rgba[3] = [0, 0, 0, 51]  # a fifth of black over white
        Image.fromarray(rgba).save(tmp_path / "rgba.png")
        palette = Image.fromarray(np.repeat([[0], [0], [1], [1]], 4, axis=1).astype(np.uint8), mode=None).convert("P")
        palette.putpalette([10, 20, 30, 0, 0, 0])
        palette.save(tmp_path / "palette.png", transparency=1)
        first, second = as_given([tmp_path / "rgba.png", tmp_path / "palette.png"], tmp_path)
        assert first[:, 0].tolist() == [[10, 20, 30], [10, 20, 30], [255, 255, 255], [204, 204, 204]]
        assert second[:, 0].tolist() == [[10, 20, 30], [10, 20, 30], [255, 255, 255], [255, 255, 255]]

    def test_cmyk_images_are_converted_to_rgb(self, tmp_path):
        Image.new("CMYK", (4, 4), (0, 255, 255, 0)).save(tmp_path / "print.jpg", quality=100)
        given = as_given([tmp_path / "print.jpg"], tmp_path)[0]
        np.testing.assert_allclose(given, np.broadcast_to([255, 0, 0], (4, 4, 3)), atol=3)

    @pytest.mark.parametrize(("orientation", "turns"), [(1, 0), (3, 2), (6, 3), (8, 1)])
    def test_exif_rotation_is_applied(self, tmp_path, orientation, turns):
        image = colours(1, 4, 4)[0]
        exif = Image.Exif()
        exif[0x0112] = orientation
        Image.fromarray(image).save(tmp_path / "turned.png", exif=exif)
        np.testing.assert_array_equal(as_given([tmp_path / "turned.png"], tmp_path)[0], np.rot90(image, turns))


class TestBadImages:
    def refusal(self, paths, model):
        with pytest.raises(ValueError, match="cannot read the image") as caught:
            deep_features(paths, model)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def test_a_truncated_image_is_refused(self, tmp_path, model, paths):
        whole = tmp_path / "whole.jpg"
        Image.fromarray(colours(1, 64, 64)[0]).save(whole)
        cut = tmp_path / "cut.jpg"
        cut.write_bytes(whole.read_bytes()[:-500])
        assert "cut.jpg: image file is truncated" in self.refusal([*paths, cut], model)
        paths[1].write_bytes(paths[1].read_bytes()[:-40])
        assert "image1.png" in self.refusal(paths, model)

    @pytest.mark.parametrize("content", [b"", b"not an image"])
    def test_a_file_that_is_not_an_image_is_refused(self, model, paths, content):
        paths[2].write_bytes(content)
        assert "image2.png: Pillow does not know its format" in self.refusal(paths, model)

    def test_an_image_with_damaged_content_is_refused(self, model, paths):
        content = bytearray(paths[3].read_bytes())
        content[40:80] = bytes(40)
        paths[3].write_bytes(content)
        assert "image3.png" in self.refusal(paths, model)

    def test_pixels_of_32_bits_are_refused(self, tmp_path, model):
        Image.fromarray(np.ones((4, 4), dtype=np.float32)).save(tmp_path / "real.tif")
        message = self.refusal([tmp_path / "real.tif"], model)
        assert "real.tif: its pixels must have 8 or 16 bits, got 32 (mode F)" in message

    def test_missing_files_are_reported_before_any_computation(self, model, paths, monkeypatch):
        monkeypatch.setattr(deep.Network, "open", None)
        paths[1].unlink()
        with pytest.raises(FileNotFoundError, match=r"no image .*image1.png$"):
            deep_features(paths, model)
        paths[4].unlink()
        with pytest.raises(FileNotFoundError, match=r"no image .*image1.png, nor 1 more$"):
            deep_features(paths, model)


class TestBadNetworks:
    def write(self, tmp_path, nodes, inputs, outputs):
        path = tmp_path / "bad.onnx"
        path.write_bytes(tiny_onnx.network(nodes, {}, inputs, outputs))
        return path

    def test_an_unknown_layer_is_refused(self, model, paths):
        names = r"\('convolved', 'maps', 'means', 'flat', 'logits'\)"
        with pytest.raises(ValueError, match=rf"layer must be one of the layers of .*tiny.onnx {names}, got 'fc7'"):
            deep_features(paths, model, layer="fc7")

    def test_a_missing_file_and_a_folder_are_refused(self, tmp_path, paths):
        with pytest.raises(OSError, match=r"cannot read the network .*none.onnx: No such file"):
            deep_features(paths, tmp_path / "none.onnx")
        with pytest.raises(OSError, match=r"cannot read the network .*: Is a directory"):
            deep_features(paths, tmp_path)

    def test_a_file_that_is_not_a_network_is_refused(self, tmp_path, model, paths):
        path, whole = tmp_path / "bad.onnx", model.read_bytes()
        for content in (b"", b"\x0f", b"pixels, not layers", whole[:-30], whole[:200], bytes(100)):
            path.write_bytes(content)
            with pytest.raises(ValueError, match=r"bad.onnx is not an ONNX network: "):
                deep_features(paths, path)

    def test_errors_of_onnxruntime_name_the_network(self, tmp_path, paths):
        image, out = tiny_onnx.value("image", ["n", 3, 4, 4]), tiny_onnx.value("out", ["n", 3, 4, 4])
        path = self.write(tmp_path, [tiny_onnx.node("Imagine", ["image"], "out")], [image], [out])
        with pytest.raises(ValueError, match=r"onnxruntime cannot load .*bad.onnx: .*Imagine"):
            deep_features(paths, path)

    @pytest.mark.parametrize(
        ("shapes", "kind", "message"),
        [
            ([("n", 10)], tiny_onnx.FLOAT, r"one input, .* four axes .*, it has 'in0': tensor\(float\) of shape"),
            ([("n", 3, 4, 4)] * 2, tiny_onnx.FLOAT, "one input, .*, it has 'in0': .*, 'in1': "),
            ([("n", 3, 4, 4)], tiny_onnx.INT64, r"one input, 'tensor\(float\)', .*, it has 'in0': tensor\(int64\)"),
            ([("n", 1, 4, 4)], tiny_onnx.FLOAT, r"images of 3 colours, its input has the shape \['n', 1, 4, 4\]"),
        ],
    )
    def test_inputs_that_are_not_images_are_refused(self, tmp_path, paths, shapes, kind, message):
        inputs = [tiny_onnx.value(f"in{i}", shape, kind) for i, shape in enumerate(shapes)]
        steps = [tiny_onnx.node("Identity", [f"in{i}"], f"out{i}") for i in range(len(shapes))]
        outputs = [tiny_onnx.value(f"out{i}", shape, kind) for i, shape in enumerate(shapes)]
        with pytest.raises(ValueError, match=message):
            deep_features(paths, self.write(tmp_path, steps, inputs, outputs))

    def test_an_output_for_all_images_together_is_refused(self, tmp_path, paths):
        image, out = tiny_onnx.value("image", ["n", 3, 4, 4]), tiny_onnx.value("out", [1, 1, 1, 1])
        path = self.write(tmp_path, [tiny_onnx.node("ReduceMean", ["image"], "out")], [image], [out])
        with pytest.raises(
            ValueError, match=r"'out' of .* must have one entry per image, got the shape \(1, 1, 1, 1\) for 32 images"
        ):
            deep_features(paths, path)

    def test_a_size_that_the_network_cannot_compute_is_refused(self, tmp_path, paths):
        # The input declares any size, but the product needs 3 x 4 x 4 numbers.
        image, out = tiny_onnx.value("image", ["n", 3, "h", "w"]), tiny_onnx.value("out", ["n", 2])
        steps = [tiny_onnx.node("Flatten", ["image"], "flat"), tiny_onnx.node("MatMul", ["flat", "head"], "out")]
        path, weights = tmp_path / "bad.onnx", {"head": np.ones((48, 2), dtype=np.float32)}
        path.write_bytes(tiny_onnx.network(steps, weights, [image], [out]))
        assert deep_features(paths, path, size=4).shape == (5, 2)
        with pytest.raises(ValueError, match=r"bad.onnx cannot compute 32 images of 5 x 5 pixels: .*MatMul"):
            deep_features(paths, path, size=5)

    def test_features_that_are_not_finite_are_refused(self, tmp_path):
        images = np.full((2, 4, 4, 3), 255, dtype=np.uint8)
        images[1] = 0  # the network takes logarithms
        image, out = tiny_onnx.value("image", ["n", 3, 4, 4]), tiny_onnx.value("out", ["n", 3, 4, 4])
        path = self.write(tmp_path, [tiny_onnx.node("Log", ["image"], "out")], [image], [out])
        with pytest.raises(ValueError, match=r"'out' of .*bad.onnx is not finite for .*image1.png"):
            deep_features(saved(tmp_path, images), path, mean=[0, 0, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pool": "max"}, "pool must be 'flatten' or 'mean', got 'max'"),
        ({"batch_size": 0}, "batch_size must be an integer >= 1, got 0"),
        ({"size": 0}, "size must be an integer >= 1, got 0"),
        ({"size": 32}, r"size must be the height of the images that .*tiny.onnx takes, 16, got 32"),
        ({"crop": 0}, "crop must be a number from 0.01 to 1, got 0"),
        ({"resample": "nearest"}, "resample must be 'bilinear' or 'bicubic', got 'nearest'"),
        ({"channels": "GBR"}, "channels must be 'RGB' or 'BGR', got 'GBR'"),
        ({"scale": -1}, "scale must be a number > 0, got -1"),
        ({"mean": 0.5}, "mean must be three numbers, one per channel, got 0.5"),
        ({"mean": "red"}, "mean must be three numbers, one per channel, got 'red'"),
        ({"std": [1, 1, 0]}, r"std must be three numbers > 0, one per channel, got \[1, 1, 0\]"),
        ({"std": [1, 1]}, r"std must be three numbers > 0, one per channel, got \[1, 1\]"),
        ({"providers": ["AbacusProvider"]}, "providers must be among those of this onnxruntime .*'CPU.* got 'Abacus"),
        ({"providers": [("AbacusProvider", {"beads": 7})]}, "providers must be among .* got 'AbacusProvider'"),
    ],
)
def test_invalid_options_are_refused(model, paths, options, message):
    with pytest.raises(ValueError, match=message):
        deep_features(paths, model, **options)


def test_images_must_be_a_sequence_of_at_least_one_file(model):
    with pytest.raises(ValueError, match="images must name at least one file, got none"):
        deep_features([], model)
    with pytest.raises(TypeError, match=r"images must be a sequence of files, got the one path 'a.jpg'"):
        deep_features("a.jpg", model)


@pytest.mark.parametrize(("module", "package"), [("onnxruntime", "onnxruntime"), ("PIL", "Pillow")])
def test_a_missing_library_is_named(model, paths, monkeypatch, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'deep features need the package {package}: pip install "ilfs\[deep\]"'):
        deep_features(paths, model)


def test_providers_are_passed_on(model, paths):
    rows = deep_features(paths, model, providers=[("CPUExecutionProvider", {})], cache=False)
    np.testing.assert_array_equal(rows, deep_features(paths, model, cache=False))


class TestCache:
    def kept(self, tmp_path):
        return sorted(path for path in (tmp_path / "cache" / "deep").rglob("*") if path.is_file())

    def computed(self, paths, model, **options):
        """Count the images that were not in the cache."""
        calls = []
        deep_features(paths, model, progress=lambda done, total: calls.append((done, total)), **options)
        assert calls[-1] == (len(paths), len(paths))
        return len(paths) - calls[0][0]

    def test_progress_is_reported_after_every_batch(self, model, paths):
        calls = []
        deep_features(paths, model, batch_size=2, progress=lambda *call: calls.append(call))
        assert calls == [(0, 5), (2, 5), (4, 5), (5, 5)]

    def test_cached_features_are_not_computed_again(self, model, paths, monkeypatch):
        before = deep_features(paths, model)
        monkeypatch.setattr(deep.Network, "open", None)
        np.testing.assert_array_equal(deep_features(paths, model), before)
        np.testing.assert_array_equal(deep_features(paths[::-1], model), before[::-1])

    def test_the_same_content_is_found_under_other_names(self, tmp_path, model, paths):
        deep_features(paths, model)
        renamed, moved = tmp_path / "renamed.onnx", paths[0].with_name("moved.png")
        model.rename(renamed)
        paths[0].rename(moved)
        same = {"layer": "logits", "mean": list(deep.IMAGENET_MEAN), "batch_size": 1}
        assert self.computed([moved, *paths[1:]], renamed, **same) == 0

    @pytest.mark.parametrize(
        "option",
        [
            {"layer": "maps"},
            {"pool": "mean"},
            {"size": 16},
            {"crop": 0.5},
            {"resample": "bicubic"},
            {"channels": "BGR"},
            {"scale": 1.0},
            {"mean": [0, 0, 0]},
            {"std": [1, 1, 1]},
        ],
    )
    def test_another_option_is_computed_again(self, model, paths, option):
        deep_features(paths, model)
        assert self.computed(paths, model, **option) == 5
        assert self.computed(paths, model, **option) == 0

    def test_another_image_or_network_is_computed_again(self, tmp_path, model, paths):
        deep_features(paths, model)
        saved(tmp_path / "images", colours(1, seed=9))
        assert self.computed(paths, model) == 1
        convolution_network(model, convolution_weights(seed=1))
        assert self.computed(paths, model) == 5

    def test_cache_false_stores_nothing(self, tmp_path, model, paths):
        assert self.computed(paths, model, cache=False) == 5
        assert not (tmp_path / "cache").exists()
        assert self.computed(paths, model, cache=tmp_path / "own") == 5
        assert self.computed(paths, model, cache=str(tmp_path / "own")) == 0
        assert not (tmp_path / "cache").exists()

    def test_damaged_files_are_computed_again_with_a_warning(self, tmp_path, model, paths):
        before = deep_features(paths, model)
        files = self.kept(tmp_path)
        assert len(files) == 5
        for file, content in zip(files, (b"", b"short", files[2].read_bytes()[:-4]), strict=False):
            file.write_bytes(content)
        flipped = bytearray(files[3].read_bytes())
        flipped[-1] ^= 1
        files[3].write_bytes(flipped)
        with pytest.warns(UserWarning, match="4 damaged files in the cache .* are computed again"):
            again = deep_features(paths, model)
        np.testing.assert_array_equal(again, before)
        assert self.computed(paths, model) == 0

    def test_a_cache_folder_that_cannot_be_created_is_an_error(self, tmp_path, model, paths):
        (tmp_path / "file").touch()
        with pytest.raises(OSError, match=r"file.* cannot be written \((File exists|Not a directory)\)"):
            deep_features(paths, model, cache=tmp_path / "file")

    def test_a_full_disk_is_an_error_and_leaves_no_file(self, tmp_path, model, paths, monkeypatch):
        def full(descriptor):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(
            OSError, match=r"cache.deep.* cannot be written \(No space left on device\): free some space"
        ):
            deep_features(paths, model)
        assert self.kept(tmp_path) == []

    @needs_posix
    def test_an_interrupted_run_continues_where_it_stopped(self, tmp_path, model, paths):
        undisturbed = deep_features(paths, model, batch_size=2, cache=False)
        code = """
            import os, signal, sys
            from ilfs.datasets.deep import deep_features
            model, *paths = sys.argv[1:]
            def kill(done, total):
                if done == 4:
                    os.kill(os.getpid(), signal.SIGKILL)
            deep_features(paths, model, batch_size=2, progress=kill)
        """
        assert run(code, model, *paths).wait() == -signal.SIGKILL
        assert len(self.kept(tmp_path)) == 4
        assert self.computed(paths, model, batch_size=2) == 1
        np.testing.assert_array_equal(deep_features(paths, model), undisturbed)

    def test_two_processes_can_use_the_cache_at_once(self, tmp_path, model, paths):
        code = """
            import sys, numpy as np
            from ilfs.datasets.deep import deep_features
            out, model, *paths = sys.argv[1:]
            np.save(out, deep_features(paths, model, batch_size=1))
        """
        outputs = [tmp_path / "one.npy", tmp_path / "two.npy"]
        for process in [run(code, output, model, *paths) for output in outputs]:
            assert process.wait() == 0
        one, two = (np.load(output, allow_pickle=False) for output in outputs)
        np.testing.assert_array_equal(one, two)
        assert len(self.kept(tmp_path)) == 5


def run(code, *arguments):
    """Start Python with this code; it uses the cache folder of the test."""
    lines = "\n".join(line.removeprefix(" " * 12) for line in code.splitlines())
    return subprocess.Popen([sys.executable, "-c", lines, *map(str, arguments)], env=dict(os.environ))
