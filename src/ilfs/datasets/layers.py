"""Shapes of the layers of a network in an ONNX file, to choose the one whose activations are the features."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ilfs.datasets.deep import IMAGENET_MEAN, IMAGENET_STD, AnyPath, Network, Plan, need_libraries, network_layers
from ilfs.datasets.pixels import Pixels


@dataclass(frozen=True)
class Layer:
    """A layer of a network.

    Parameters
    ----------
    name : str
        The name, as `ilfs.datasets.deep.deep_features` takes it.
    shape : tuple of int
        Shape of the activations of one image.
    is_output : bool
        True if the network returns this layer, False for an inner layer.
    has_rows : bool
        True if there is one entry per image, so that the layer can be used for features.
    """

    name: str
    shape: tuple[int, ...]
    is_output: bool
    has_rows: bool

    @property
    def n_features(self) -> int | None:
        """Number of features of an image, if the activations are flattened; None if the layer cannot be used."""
        return math.prod(self.shape) if self.has_rows else None


def layers_with_shapes(model: AnyPath, *, size: int | None = None) -> tuple[Layer, ...]:
    """List the layers of a network with the shapes of their activations, by running it on a black image.

    Needs the extra ``[deep]``.

    Parameters
    ----------
    model : path-like
        The ONNX file of a network with one input, a batch of images.
    size : int, optional
        Height and width of the image, as for `ilfs.datasets.deep.deep_features`.

    Returns
    -------
    tuple of Layer
        In the order of computation.

    Examples
    --------
    >>> from ilfs.datasets.layers import layers_with_shapes
    >>> layers_with_shapes("vgg16.onnx")[-1]  # doctest: +SKIP
    Layer(name='logits', shape=(1000,), is_output=True, has_rows=True)
    """
    need_libraries()
    names = tuple(dict.fromkeys(network_layers(model)))
    pixels = Pixels(size, 1.0, "bilinear", "RGB", 1.0, IMAGENET_MEAN, IMAGENET_STD)
    plan = Plan.from_network(Path(model), None, "flatten", pixels)
    outputs = plan.outputs
    network = Network.open(plan, 1, inner=[name for name in names if name not in outputs])
    images = np.zeros((network.batch_size, network.height, network.width, 3), dtype=network.input_type)
    shapes = [np.shape(found) for found in network.run(images, names)]
    return tuple(
        _layer(name, shape, network.batch_size, is_output=name in outputs)
        for name, shape in zip(names, shapes, strict=True)
    )


def _layer(name: str, shape: tuple[int, ...], batch_size: int, *, is_output: bool) -> Layer:
    has_rows = len(shape) > 1 and shape[0] == batch_size
    return Layer(name, shape[1:] if has_rows else shape, is_output, has_rows)
