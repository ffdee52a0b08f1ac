"""Options of ``ilfs bench`` for the images of VOC and a network of the user, and the computation of its features."""

import argparse
import sys
import time
from contextlib import suppress
from dataclasses import fields
from typing import Any

SECONDS_BETWEEN_IMAGE_LINES = 10.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the data sets voc2007 and voc2012."""
    group = parser.add_argument_group(
        "VOC images and your network",
        "The features of voc2007 and voc2012 are then the activations of this network. Images must become numbers as "
        "when it was trained; the defaults are those of networks trained on ImageNet with PyTorch.",
    )
    group.add_argument("--devkit", metavar="FOLDER", help="the VOCdevkit folder, which has the images")
    group.add_argument("--network", metavar="FILE.onnx", help="network whose activations are the features")
    group.add_argument(
        "--layer", metavar="NAME", help="layer of the network (the last); ilfs datasets layers FILE.onnx"
    )
    group.add_argument("--channels", choices=("RGB", "BGR"), help="order of the colours (RGB)")
    group.add_argument("--scale", metavar="S", help="factor for pixel values from 0 to 255 (1/255)")
    for name, use in (("mean", "subtracted from the scaled colours"), ("std", "the colours are then divided by these")):
        group.add_argument(f"--{name}", nargs=3, metavar="M", help=f"{use}, in the order of --channels (ImageNet's)")
    group.add_argument("--image-size", metavar="N", help="height and width of the images (the network's, or 224)")
    group.add_argument("--crop", metavar="F", help="fraction of the side of the centre square that is kept (0.875)")
    group.add_argument("--resample", choices=("bilinear", "bicubic"), help="interpolation (bilinear)")
    group.add_argument("--pool", choices=("flatten", "mean"), help="how maps of activations become features (flatten)")


def options_of(options: argparse.Namespace) -> Any:
    """Collect the options of the VOC data sets."""
    from ilfs.datasets import VocOptions

    given = {one.name: getattr(options, one.name) or "" for one in fields(VocOptions)}
    return VocOptions(**{name: value if isinstance(value, str) else " ".join(value) for name, value in given.items()})


def compute_features(suite: Any, *, quiet: bool) -> None:
    """Compute the features of VOC images that are not cached yet, with lines of progress: it may take an hour."""
    from ilfs.datasets import load
    from ilfs.datasets.voc_options import VOC_YEARS

    if not suite.voc.or_environment().is_complete:
        return
    for name in (one for one in suite.datasets if one in VOC_YEARS):
        with suppress(OSError, ValueError, ImportError):  # the run loads the data set again, and reports the error
            load(name, voc=suite.voc, progress=None if quiet else ImageLines(name))


class ImageLines:
    """Lines on stderr with the number of images whose features have been computed, and the time left."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._start = self._last = time.monotonic()
        self._n_cached = 0
        self._n_last: int | None = None

    def __call__(self, n_done: int, n_images: int) -> None:
        """Print a line if `SECONDS_BETWEEN_IMAGE_LINES` have passed since the last one."""
        from ilfs.cli.progress import time_left

        now = time.monotonic()
        if self._n_last is None or n_done < self._n_last:  # the first report of a part counts images that are cached
            self._start, self._n_cached = now, n_done
        self._n_last = n_done
        if now - self._last >= SECONDS_BETWEEN_IMAGE_LINES:
            self._last = now
            n_computed = n_done - self._n_cached
            left = time_left((n_images - n_done) * (now - self._start) / n_computed if n_computed > 0 else None)
            line = f"{self._name}: features of {n_done} of {n_images} images{', ' if left else ''}{left}"
            print(line, file=sys.stderr, flush=True)
