import re
from pathlib import Path

import numpy as np
import pytest
from platforms import needs_repository
from small_devkit import CLASSES as SMALL
from small_devkit import write_devkit
from tiny_onnx import convolution_network, convolution_weights

from ilfs.datasets import Dataset, VocOptions, load
from ilfs.datasets.voc import VOC_CLASSES, load_voc, read_devkit

pytest.importorskip("PIL", reason="needs the extra [deep]")


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    """Folder and labels of a devkit that all tests share and must not change."""
    return write_devkit(tmp_path_factory.mktemp("voc"))


@pytest.fixture
def own_kit(tmp_path):
    """A devkit that a test may change."""
    return write_devkit(tmp_path, n_images=4)[0]


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    pytest.importorskip("onnxruntime", reason="needs the extra [deep]")
    weights = convolution_weights(n_channels=24)
    return convolution_network(tmp_path_factory.mktemp("network") / "tiny.onnx", weights, size=32)


@pytest.fixture(scope="module")
def tables(kit, network, tmp_path_factory):
    return load_voc(kit[0], 2007, network, classes=SMALL, layer="flat", cache=tmp_path_factory.mktemp("cache"))


def main(folder, name):
    return folder / "VOC2007" / "ImageSets" / "Main" / name


def add_other_classes(folder):
    """Copy the lists of one class for the classes of the challenge that a small devkit lacks."""
    for name in set(VOC_CLASSES) - set(SMALL):
        for part in ("train", "val", "trainval", "test"):
            main(folder, f"{name}_{part}.txt").write_bytes(main(folder, f"cat_{part}.txt").read_bytes())


def test_the_twenty_classes_are_in_alphabetical_order():
    assert len(VOC_CLASSES) == 20
    assert list(VOC_CLASSES) == sorted(VOC_CLASSES)


@pytest.mark.parametrize("part", ["train", "val", "trainval", "test"])
def test_labels_are_read_as_written(kit, part):
    folder, labels = kit
    images = read_devkit(folder, 2007, part, classes=SMALL)
    np.testing.assert_array_equal(images.labels, labels[part])
    assert set(np.unique(images.labels)) == {-1, 0, 1}
    assert images.name == f"VOC2007 {part}"
    assert images.class_names == SMALL
    assert [path.stem for path in images.paths] == list(images.ids)
    assert all(path.is_file() for path in images.paths)


def test_trainval_joins_train_and_val(kit):
    train, val, both = (read_devkit(kit[0], 2007, part, classes=SMALL) for part in ("train", "val", "trainval"))
    assert both.ids == train.ids + val.ids


def test_the_parent_folder_and_the_folder_of_the_year_are_accepted(kit):
    folder = kit[0]
    expected = read_devkit(folder, 2007, "test", classes=SMALL)
    for other in (folder.parent, folder / "VOC2007", str(folder)):
        assert read_devkit(other, 2007, "test", classes=SMALL).ids == expected.ids


def test_lines_in_the_original_format_are_read(own_kit):
    # Names of 2012 have an underscore. Columns are padded, lines may end as on Windows, and the last may be empty.
    main(own_kit, "cat_val.txt").write_bytes(b"2008_000002 -1\r\n2008_000003  1\r\n2008_000007  0\r\n\r\n")
    for name in ("2008_000002", "2008_000003", "2008_000007"):
        (own_kit / "VOC2007" / "JPEGImages" / f"{name}.jpg").touch()
    images = read_devkit(own_kit, 2007, "val", classes=["cat"])
    assert images.ids == ("2008_000002", "2008_000003", "2008_000007")
    assert images.labels.ravel().tolist() == [0, 1, -1]


class TestErrors:
    def test_a_missing_devkit_is_refused(self, tmp_path, own_kit):
        with pytest.raises(FileNotFoundError, match=r"no VOC2007/ImageSets/Main in .*nothing, which must be the VOC"):
            read_devkit(tmp_path / "nothing", 2007, "train")
        with pytest.raises(FileNotFoundError, match="no VOC2012/ImageSets/Main"):
            read_devkit(own_kit / "VOC2007", 2012, "train")

    def test_a_missing_list_of_a_class_is_refused(self, own_kit):
        with pytest.raises(FileNotFoundError, match=r"no aeroplane_train.txt in .*Main$"):
            read_devkit(own_kit, 2007, "train")

    def test_missing_labels_of_the_test_images_are_refused(self, tmp_path, own_kit):
        main(own_kit, "cat_test.txt").unlink()
        with pytest.raises(
            FileNotFoundError, match=r"no cat_test.txt in .*; its archive of test images must be unpack"
        ):
            read_devkit(own_kit, 2007, "test", classes=SMALL)
        later, _ = write_devkit(tmp_path / "later", 2012, parts=("train", "val"), n_images=2)
        with pytest.raises(FileNotFoundError, match="test labels of 2012 are not public: test on 'val'"):
            read_devkit(later, 2012, "test", classes=SMALL)

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("000001 2", r"must be the name of an image and 1, -1 or 0, got '000001 2'"),
            ("000001", "got '000001'"),
            ("000001 1 1", "got '000001 1 1'"),
            ("\x00\ufffd", "got "),
        ],
    )
    def test_a_line_that_cannot_be_read_is_refused(self, own_kit, line, message):
        file = main(own_kit, "cat_train.txt")
        file.write_text(f"000000 -1\n{line}\n")
        with pytest.raises(ValueError, match=f"cat_train.txt, line 2: .*{message}"):
            read_devkit(own_kit, 2007, "train", classes=SMALL)

    def test_an_image_listed_twice_is_refused(self, own_kit):
        main(own_kit, "cat_train.txt").write_text("000000 -1\n000000  1\n")
        with pytest.raises(ValueError, match=r"cat_train.txt, line 2: the image 000000 must occur once, got it again"):
            read_devkit(own_kit, 2007, "train", classes=["cat"])

    def test_an_empty_list_is_refused(self, own_kit):
        main(own_kit, "cat_train.txt").write_text("\n")
        with pytest.raises(ValueError, match=r"cat_train.txt must list at least one image"):
            read_devkit(own_kit, 2007, "train", classes=["cat"])

    def test_lists_of_different_images_are_refused(self, own_kit):
        file = main(own_kit, "dog_train.txt")
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(lines[:-1]))
        with pytest.raises(ValueError, match=r"dog_train.txt must list the images of bird_train.txt, got the end of"):
            read_devkit(own_kit, 2007, "train", classes=SMALL)
        file.write_text("".join([*lines[:2], "999999 -1\n", *lines[3:]]))
        with pytest.raises(ValueError, match="got 999999 instead of 000002"):
            read_devkit(own_kit, 2007, "train", classes=SMALL)

    def test_missing_images_are_refused(self, own_kit):
        images = sorted((own_kit / "VOC2007" / "JPEGImages").iterdir())
        images[1].unlink()
        with pytest.raises(FileNotFoundError, match=r"no image 000001.jpg in .*JPEGImages$"):
            read_devkit(own_kit, 2007, "train", classes=SMALL)
        images[2].unlink()
        with pytest.raises(FileNotFoundError, match=r"no image 000001.jpg in .*, nor 1 more of the 4"):
            read_devkit(own_kit, 2007, "train", classes=SMALL)

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"year": 2006}, "year must be from 2007 to 2012, got 2006"),
            ({"year": "2007"}, "year must be from 2007 to 2012, got '2007'"),
            ({"part": "all"}, "part must be 'train', 'val', 'trainval' or 'test', got 'all'"),
            ({"classes": []}, r"classes must be a sequence of at least one name, got \[\]"),
            ({"classes": "cat"}, "classes must be a sequence of at least one name, got 'cat'"),
            ({"classes": ["cat", "cat"]}, "classes must differ, got 'cat' more than once"),
        ],
    )
    def test_invalid_arguments_are_refused(self, own_kit, changed, message):
        with pytest.raises(ValueError, match=message):
            read_devkit(**({"folder": own_kit, "year": 2007, "part": "train", "classes": SMALL} | changed))


class TestLoad:
    def test_the_tables_hold_the_labels_of_their_parts(self, tables, kit):
        train, test = tables
        assert isinstance(train, Dataset)
        assert [train.name, test.name] == ["VOC2007 trainval", "VOC2007 test"]
        assert train.X.shape == (60, 24)
        assert train.X.dtype == np.float32
        np.testing.assert_array_equal(train.y, kit[1]["trainval"])
        np.testing.assert_array_equal(test.y, kit[1]["test"])
        assert train.class_names == SMALL

    def test_years_without_test_labels_are_tested_on_val(self, tmp_path, network):
        folder, _ = write_devkit(tmp_path, 2012, parts=("train", "val"), n_images=3)
        train, test = load_voc(folder, 2012, network, classes=SMALL, cache=False)
        assert [train.name, test.name] == ["VOC2012 train", "VOC2012 val"]

    def test_the_checksum_changes_with_images_and_labels(self, tmp_path, network):
        folder, _ = write_devkit(tmp_path, n_images=3)

        def checksums(**options):
            some = {"classes": SMALL, "cache": False, "parts": ("train", "val")} | options
            return [table.checksum for table in load_voc(folder, 2007, network, **some)]

        before = checksums()
        assert checksums() == before
        assert len({*before, *checksums(crop=0.5), *checksums(classes=SMALL[:2])}) == 6
        lines = main(folder, "dog_val.txt").read_text()
        main(folder, "dog_val.txt").write_text(lines.replace(" -1", "  0", 1))
        assert checksums()[0] == before[0]
        assert checksums()[1] != before[1]

    @pytest.mark.parametrize("parts", ["trainval", ("train",), ("train", "val", "test")])
    def test_parts_must_be_two(self, kit, network, parts):
        with pytest.raises(ValueError, match="parts must be two, one to train and one to test with, got "):
            load_voc(kit[0], 2007, network, classes=SMALL, parts=parts)

    def test_a_wrong_option_is_refused(self, kit, network):
        with pytest.raises(TypeError, match="batchsize"):
            load_voc(kit[0], 2007, network, classes=SMALL, batchsize=4)

    def test_an_svm_finds_the_coloured_classes_and_not_the_random_one(self, tables):
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import LinearSVC

        from ilfs.benchmark.evaluation.precision import average_precisions

        train, test = tables
        scores = np.empty(test.y.shape)
        for k in range(train.n_classes):
            counts = train.y[:, k] >= 0
            classifier = make_pipeline(StandardScaler(), LinearSVC(C=1.0, random_state=0, max_iter=100_000))
            scores[:, k] = classifier.fit(train.X[counts], train.y[counts, k]).decision_function(test.X)
        for definition in ("area", "2007", "2012"):
            bird, cat, dog = average_precisions(test.y, scores, definition)
            assert bird > 0.95
            assert cat > 0.95
            assert dog < 0.8


@needs_repository
def test_the_experiment_of_the_documentation_runs(kit, network, tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[2] / "docs" / "voc.md").read_text()
    (code,) = (block for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if "load_voc(" in block)
    shown = '"VOCdevkit", 2007, "vgg16.onnx", layer="fc7", progress=show'
    assert shown in code
    ours = f'{str(kit[0])!r}, 2007, {str(network)!r}, layer="flat", classes={SMALL}'
    monkeypatch.setenv("ILFS_CACHE", str(tmp_path))
    exec(code.replace(shown, ours), {})
    printed = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert list(printed) == [*SMALL, "mean"]
    assert float(printed["bird"]) > 90
    assert float(printed["cat"]) > 90
    assert float(printed["dog"]) < 80


@needs_repository
def test_the_submission_of_the_documentation_is_written(network, tmp_path, monkeypatch):
    folder, labels = write_devkit(tmp_path, 2012, parts=("train", "val", "trainval"), n_images=24)
    ids = [f"001{i:03d}" for i in range(24)]  # the images of val take the place of test images
    (folder / "VOC2012" / "ImageSets" / "Main" / "test.txt").write_text("\n".join(ids))
    page = (Path(__file__).parents[2] / "docs" / "voc.md").read_text()
    (code,) = (block for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if "write_submission(" in block)
    for shown, ours in (
        ('"VOCdevkit", 2012, "trainval"', f'{str(folder)!r}, 2012, "trainval", classes={SMALL}'),
        ('"VOCdevkit", 2012', f"{str(folder)!r}, 2012"),
        ('"vgg16.onnx", layer="fc7"', f'{str(network)!r}, layer="flat"'),
        ('"submission"', repr(str(tmp_path))),
    ):
        assert shown in code
        code = code.replace(shown, ours)
    monkeypatch.setenv("ILFS_CACHE", str(tmp_path))
    exec(code, {})
    home = tmp_path / "results" / "VOC2012" / "Main"
    assert sorted(file.name for file in home.iterdir()) == [f"comp2_cls_test_{name}.txt" for name in SMALL]
    lines = [line.split() for line in (home / "comp2_cls_test_cat.txt").read_text().splitlines()]
    assert [image for image, _ in lines] == ids
    scores, cats = np.array([float(score) for _, score in lines]), labels["val"][:, 1]
    assert scores[cats == 1].mean() > scores[cats == 0].mean()


def test_options_for_images_reach_the_features(own_kit, network, tmp_path):
    add_other_classes(own_kit)
    caffe = {"channels": "BGR", "scale": 1.0, "mean": [103.939, 116.779, 123.68], "std": [1, 1, 1], "layer": "flat"}
    train, test = load_voc(own_kit, 2007, network, cache=False, **caffe)
    words = {"channels": "BGR", "scale": "1", "mean": "103.939 116.779 123.68", "std": "1 1 1", "layer": "flat"}
    table = load("voc2007", voc=VocOptions(str(own_kit), str(network), **words))
    np.testing.assert_array_equal(table.X, np.vstack([train.X, test.X]))
    plain = load("voc2007", voc=VocOptions(str(own_kit), str(network), "flat"))
    assert not np.allclose(table.X, plain.X)
    assert table.checksum != plain.checksum


def test_the_command_lists_the_layers_if_there_is_no_such_layer(own_kit, network, tmp_path, capsys):
    from ilfs.cli import main as command

    add_other_classes(own_kit)
    options = ["--datasets", "voc2007", "--devkit", str(own_kit), "--network", str(network), "--layer", "fc7"]
    assert command(["bench", "run", "deep", *options, "--store", str(tmp_path / "s.sqlite"), "--quiet"]) == 2
    said = "ilfs: layer must be one of the layers of .*tiny.onnx .'convolved', 'maps', 'means', 'flat', 'logits'.*'fc7'"
    assert re.match(said, capsys.readouterr().err)


def test_the_command_runs_the_papers_first_experiment(network, tmp_path, monkeypatch, capsys):
    from ilfs.cli import main as command

    folder, _ = write_devkit(tmp_path, parts=("train", "val", "trainval", "test"), n_images=24)
    add_other_classes(folder)
    monkeypatch.setenv("ILFS_CACHE", str(tmp_path))
    for variable in ("DEVKIT", "NETWORK", "LAYER"):
        monkeypatch.setenv(f"ILFS_VOC_{variable}", "")  # only the options of the command count
    options = ["deep", "--datasets", "voc2007", "--methods", "fisher", "ls", "--store", str(tmp_path / "voc.sqlite")]
    options += ["--devkit", str(folder), "--network", str(network), "--layer", "flat"]
    assert command(["bench", "run", *options, "--jobs", "1", "--quiet"]) == 0
    assert command(["bench", "table", *options]) == 0
    message = capsys.readouterr().out
    assert message.startswith("VOC 2007, features of your network: average precision of each class")
    ours, by_fraction, difference = message.split("\n\nVOC 2007")[:3]
    assert [line.split()[0] for line in by_fraction.splitlines()[2:] if line][1:] == ["1", "2", "6", "12"]
    rows = {line.split()[0]: line.split()[1:] for line in ours.split("\n\n")[1].splitlines()[1:]}
    assert set(rows) == {*VOC_CLASSES, "mean"}
    assert float(rows["bird"][0]) > 90
    assert float(rows["dog"][0]) < 85
    assert "ours minus the paper's Table 3" in difference
    assert command(["bench", "run", *options, "--splits", "2", "--jobs", "1", "--quiet"]) == 1
