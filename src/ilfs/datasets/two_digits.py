"""GINA, rebuilt from MNIST by the published recipe of the task.

The recipe (I. Guyon, the agnostic-learning challenge): the task is to tell even from odd two-digit numbers. A sample is
a pair of MNIST images, tens and units, of which only the units matter. Pixels that are white in 99 % of the images are
left out, which leaves 485 of 784, so 970 features; the order of the features is random. Grey levels are kept.

The challenge has 3153 training rows. Which images were paired is not published, so the rows are not the original ones:
here no image is used twice, and the pairs come from a fixed seed.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.dataset import Dataset

N_PIXELS = 485
N_TRAINING_ROWS = 3153
PAIRING_SEED = 2007  # year of the challenge
PARITIES = ("odd", "even")
#: Checksum of the names of the 485 pixels in the registered file, sorted and joined by spaces.
PIXELS_SHA256 = "5d223ea5b0c0f2c2e3c169a0610ab6954c255e9c2caf2d525f53c6adafe987fe"


def gina_of(
    images: NDArray[np.uint8], digits: NDArray[np.uint8], name: str = "gina", n_rows: int = N_TRAINING_ROWS
) -> Dataset:
    """Pair images at random; the class is that of the units digit, even or odd."""
    if len(images) < 2 * n_rows:
        raise ValueError(f"{name} must be made from at least {2 * n_rows} images, got {len(images)}")
    chance = np.random.default_rng(PAIRING_SEED)
    pixels = inked_pixels(images)
    tens, units = chance.permutation(len(images))[: 2 * n_rows].reshape(2, n_rows)
    flat = images.reshape(len(images), -1)[:, pixels]
    columns = chance.permutation(2 * len(pixels))
    X = np.hstack([flat[tens], flat[units]])[:, columns].astype(np.float32)
    at = [f"r{pixel // images.shape[2]}_c{pixel % images.shape[2]}" for pixel in pixels.tolist()]
    names = [f"{digit}_{place}" for digit in ("tens", "units") for place in at]
    y = (digits[units] % 2 == 0).astype(np.int64)
    return Dataset(name, X, y, PARITIES, tuple(names[j] for j in columns))


def inked_pixels(images: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the pixels that are white in the fewest images, as positions in a flattened image.

    Of pixels that are white in equally many images, the first are taken. So there are always 485, the published number.
    """
    inked = (images != 0).sum(axis=0).ravel()
    return np.sort(np.argsort(-inked, kind="stable")[:N_PIXELS])


def has_registered_pixels(table: Dataset) -> bool:
    """Return True if the pixels are those of the registered file, which was made from MNIST too."""
    pixels = sorted(name.removeprefix("units_") for name in table.feature_names or () if name.startswith("units_"))
    return hashlib.sha256(" ".join(pixels).encode()).hexdigest() == PIXELS_SHA256
