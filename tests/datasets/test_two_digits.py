import numpy as np
import pytest

from ilfs.datasets.two_digits import N_PIXELS, gina_of, has_registered_pixels, inked_pixels

N_IMAGES = 500


@pytest.fixture(scope="module")
def mnist():
    """Images whose pixels are inked more often towards the middle; the grey level tells image and pixel."""
    chance = np.random.default_rng(0)
    rows, columns = np.mgrid[:28, :28]
    distance = np.hypot(rows - 13.5, columns - 13.5)
    inked = chance.random((N_IMAGES, 28, 28)) < np.clip(1.2 - distance / 15, 0, 1)
    digits = chance.integers(0, 10, N_IMAGES).astype(np.uint8)
    grey = 1 + (np.arange(N_IMAGES)[:, None, None] * 7 + rows * 28 + columns) % 255
    return (inked * grey).astype(np.uint8), digits


def test_485_pixels_are_kept_those_with_most_ink(mnist):
    images, _ = mnist
    inked = (images != 0).mean(axis=0).ravel()
    kept = inked_pixels(images)
    assert len(kept) == N_PIXELS
    assert inked[kept].min() >= np.delete(inked, kept).max()


def test_the_published_rule_gives_the_same_pixels_where_it_leaves_485():
    images = np.zeros((200, 28, 28), np.uint8)
    order = np.random.default_rng(1).permutation(784)
    for place, pixel in enumerate(order):
        n_inked = 200 - place // 4 if place < N_PIXELS else place % 2  # the others are white in 99.5 % or more
        images.reshape(200, -1)[:n_inked, pixel] = 9
    by_rule = np.flatnonzero((images == 0).mean(axis=0).ravel() < 0.99)
    np.testing.assert_array_equal(inked_pixels(images), by_rule)


def test_a_row_is_two_images_and_the_units_tell_the_class(mnist):
    images, digits = mnist
    table = gina_of(images, digits, n_rows=200)
    assert (table.n_samples, table.n_features, table.class_names) == (200, 970, ("odd", "even"))
    by_name = {name: table.X[:, j] for j, name in enumerate(table.feature_names)}
    pixels = [name.removeprefix("units_") for name in by_name if name.startswith("units_")]
    assert sorted(pixels) == sorted(name.removeprefix("tens_") for name in by_name if name.startswith("tens_"))
    places = [tuple(int(word[1:]) for word in pixel.split("_")) for pixel in pixels]
    flat = np.array([images[:, r, c] for r, c in places]).T
    halves = {half: np.array([by_name[f"{half}_{pixel}"] for pixel in pixels]).T for half in ("units", "tens")}
    used = {half: [int(np.flatnonzero((flat == row).all(axis=1))[0]) for row in rows] for half, rows in halves.items()}
    np.testing.assert_array_equal(table.y, digits[used["units"]] % 2 == 0)
    assert len({*used["units"], *used["tens"]}) == 400  # no image is used twice
    assert abs(np.corrcoef(table.y, digits[used["tens"]] % 2 == 0)[0, 1]) < 0.2  # the tens tell nothing


def test_building_is_deterministic(mnist):
    first, second = (gina_of(*mnist, n_rows=100) for _ in range(2))
    assert first.checksum == second.checksum
    assert not has_registered_pixels(first)  # these are not the images of MNIST


def test_too_few_images_are_an_error(mnist):
    with pytest.raises(ValueError, match="gina must be made from at least 6306 images, got 500"):
        gina_of(*mnist)


def test_the_registered_file_has_the_registered_pixels():
    from helpers import load as load_real

    load_real("gina")  # skips without data
    from pathlib import Path

    from helpers import DATA

    from ilfs.datasets.archive import read_archive

    assert has_registered_pixels(read_archive(Path(DATA) / "gina.npz", "gina"))
