"""Options of ``ilfs bench`` for the images of VOC and a network of the user, and the computation of its features."""

import argparse
import sys
import time
from contextlib import suppress
from dataclasses import fields
from typing import Any

SECONDS_BETWEEN_IMAGE_LINES = 10.0
ABOUT = """\
The features of voc2007 and voc2012 are then the activations of this network.
Images must become numbers as when it was trained; the defaults are those of
networks trained on ImageNet with PyTorch."""
OF_RUN = "the options of ilfs bench run; by default those of the last run"
OPTIONS: dict[str, dict[str, Any]] = {
    "devkit": {"metavar": "FOLDER", "help": "the VOCdevkit folder, which has the images"},
    "network": {"metavar": "FILE.onnx", "help": "network whose activations are the features"},
    "layer": {"metavar": "NAME", "help": "layer of the network (the last); ilfs datasets layers FILE.onnx"},
    "channels": {"choices": ("RGB", "BGR"), "help": "order of the colours (RGB)"},
    "scale": {"metavar": "S", "help": "factor for pixel values from 0 to 255 (1/255)"},
    "mean": {
        "nargs": 3,
        "metavar": "M",
        "help": "subtracted from the scaled colours, in the order of --channels (ImageNet's)",
    },
    "std": {
        "nargs": 3,
        "metavar": "M",
        "help": "the colours are then divided by these, in the order of --channels (ImageNet's)",
    },
    "image-size": {"metavar": "N", "help": "height and width of the images (the network's, or 224)"},
    "crop": {"metavar": "F", "help": "fraction of the side of the centre square that is kept (0.875)"},
    "resample": {"choices": ("bilinear", "bicubic"), "help": "interpolation (bilinear)"},
    "pool": {"choices": ("flatten", "mean"), "help": "how maps of activations become features (flatten)"},
}


def add_options(parser: argparse.ArgumentParser, *, is_hidden: bool = False) -> None:
    """Add the options of the data sets voc2007 and voc2012.

    They are rarely needed to show results, since a store remembers those of its last run. With ``is_hidden`` the help
    only says where they are described.
    """
    group = parser.add_argument_group("VOC images and your network", OF_RUN if is_hidden else ABOUT)
    for option, settings in OPTIONS.items():
        group.add_argument(f"--{option}", **settings | ({"help": argparse.SUPPRESS} if is_hidden else {}))


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
