"""Conversion of an image file to the numbers that a network takes.

The image is rotated according to its EXIF data and converted to RGB; transparent pixels become white. Its centre is
scaled to the network's size, and its values are standardised.

Difference from the usual ``Resize(256), CenterCrop(224)``: both are done by one resampling of the part that remains.
The result is the same up to the rounding to whole pixels in between, and a long, thin image does not become a huge one.
"""

from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.parameters import check_choice, check_integer, check_positive, check_within

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Pixels:
    """Options for the conversion of images; see `ilfs.datasets.deep.deep_features` for their meaning."""

    size: int | None
    crop: float
    resample: str
    channels: str
    scale: float
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.size is not None:
            check_integer("size", self.size, 1)
        check_within("crop", self.crop, 0.01, 1)
        check_choice("resample", self.resample, ("bilinear", "bicubic"))
        check_choice("channels", self.channels, ("RGB", "BGR"))
        check_positive("scale", self.scale)

    def from_content(self, path: Path, content: bytes, width: int, height: int) -> NDArray[np.float32]:
        """Convert the content of an image file to height x width x 3 numbers; the path is for error messages."""
        image, method = _decoded(path, content), import_module("PIL.Image").Resampling[self.resample.upper()]
        small = image.resize((width, height), method, box=centre(image.size, (width, height), self.crop))
        numbers = np.asarray(small, dtype=np.float32) * np.float32(self.scale)
        if self.channels == "BGR":
            numbers = numbers[:, :, ::-1]
        numbers = numbers - np.array(self.mean, dtype=np.float32)
        numbers /= np.array(self.std, dtype=np.float32)
        return numbers


def colours(name: str, values: Any, *, positive: bool = False) -> tuple[float, ...]:
    """Check that the values are three numbers, one per channel, and return them as a tuple."""
    numbers = np.asarray(values)
    is_number = numbers.dtype.kind in "iuf" and np.isfinite(numbers).all()
    if not is_number or numbers.shape != (3,) or (positive and numbers.min() <= 0):
        raise ValueError(f"{name} must be three numbers{' > 0' if positive else ''}, one per channel, got {values!r}")
    return tuple(numbers.tolist())


def centre(size: tuple[int, int], target: tuple[int, int], crop: float) -> Box:
    """Compute the box to crop: left, top, right and bottom.

    The box is centred and has the aspect ratio of the target. Its sides are ``crop`` times those of the largest such
    box in the image.
    """
    factor = crop * min(size[0] / target[0], size[1] / target[1])
    width, height = factor * target[0], factor * target[1]
    left, top = (size[0] - width) / 2, (size[1] - height) / 2
    return left, top, left + width, top + height


def _decoded(path: Path, content: bytes) -> Any:
    """Decode an image, upright and in RGB."""
    Image, ImageOps = import_module("PIL.Image"), import_module("PIL.ImageOps")
    try:
        with Image.open(BytesIO(content)) as image:
            image.load()
            return _rgb(ImageOps.exif_transpose(image))
    except Exception as error:  # each decoder raises different exceptions for a damaged file
        is_unknown = type(error).__name__ == "UnidentifiedImageError"  # its message would name a buffer in memory
        reason = "Pillow does not know its format" if is_unknown else str(error) or type(error).__name__
        raise ValueError(f"cannot read the image {path}: {reason}") from error


def _rgb(image: Any) -> Any:
    Image = import_module("PIL.Image")
    if image.mode.startswith("I;16"):  # convert would clip these at 255
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8)).convert("RGB")
    if image.mode in ("I", "F"):
        raise ValueError(f"its pixels must have 8 or 16 bits, got 32 (mode {image.mode})")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")
