"""Features of images from a deep network in an ONNX file.

The activations of one layer of the network are the features of an image. They are cached by the network, the options
and the content of the image, so that an interrupted run continues where it stopped and nothing is computed twice.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ilfs.datasets.feature_cache import FeatureCache
from ilfs.datasets.folders import cache_folder
from ilfs.datasets.onnx_file import NetworkFile, external_file, with_outputs
from ilfs.datasets.pixels import Pixels, colours
from ilfs.parameters import check_choice, check_integer

FeatureRows = NDArray[np.float32]
AnyPath = str | os.PathLike[str]
Providers = Sequence[str | tuple[str, dict[str, Any]]]

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
DEFAULT_PIXELS = 224
INPUT_TYPES = {"tensor(float)": "float32", "tensor(float16)": "float16"}
MAX_LISTED_LAYERS = 50  # in an error message
FEATURES_VERSION = 1  # increase it when the same options give other features, so that cached ones are not used


def deep_features(
    images: Sequence[AnyPath],
    model: AnyPath,
    *,
    layer: str | None = None,
    pool: str = "flatten",
    size: int | None = None,
    crop: float = 0.875,
    resample: str = "bilinear",
    channels: str = "RGB",
    scale: float = 1 / 255,
    mean: Sequence[float] = IMAGENET_MEAN,
    std: Sequence[float] = IMAGENET_STD,
    batch_size: int = 32,
    providers: Providers | None = None,
    cache: AnyPath | Literal[False] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FeatureRows:
    """Compute the activations of a layer of a network for images.

    Needs the extra ``[deep]``, onnxruntime and Pillow. The defaults suit networks that were trained on ImageNet with
    PyTorch; see the documentation of your network.

    Parameters
    ----------
    images : sequence of path-like
        Files of any format that Pillow reads, of any size; grey, CMYK, transparent and rotated ones too.
    model : path-like
        The ONNX file of a network with one input, a batch of images.
    layer : str, optional
        Name of the output, or of any inner layer, to take; `network_layers` lists them. By default the last output.
    pool : {"flatten", "mean"}, default="flatten"
        How an output with more than two axes becomes one row per image: flattened, or averaged over the positions in
        the image (over the tokens of a vision transformer, whose outputs have three axes).
    size : int, optional
        Height and width of the images for the network. By default the size that the network declares, or 224 if it
        accepts any size.
    crop : float, default=0.875
        Fraction of the side of the largest centred square that is kept (0.875 is 224 of 256).
    resample : {"bilinear", "bicubic"}, default="bilinear"
        Interpolation. When images get smaller, all pixels contribute.
    channels : {"RGB", "BGR"}, default="RGB"
        Order of the colours that the network was trained with.
    scale : float, default=1/255
        Factor for pixel values from 0 to 255.
    mean, std : sequence of three floats
        The mean is subtracted from the scaled values, which are then divided by ``std``; in the order of ``channels``.
        By default the values of ImageNet.
    batch_size : int, default=32
        Images per batch, unless the network fixes it. The last batch is filled up, so that the features of an image do
        not depend on the number of other images.
    providers : sequence, optional
        Execution providers of onnxruntime, for example ``["CUDAExecutionProvider"]``. By default the CPU.
    cache : path-like or False, optional
        Folder for computed features, by default ``deep`` in `ilfs.datasets.cache_folder`; False for no cache. Several
        networks and processes may share it, and it may be deleted at any time. A row is used again if the bytes of the
        model, the bytes of the image, and the options up to ``std`` are the same.
    progress : callable, optional
        Called with the number of finished images and the number of all images.

    Returns
    -------
    ndarray of shape (n_images, n_features)
        The features, in float32.

    Examples
    --------
    >>> from ilfs.datasets.deep import deep_features
    >>> X = deep_features(["cat.jpg", "dog.jpg"], "vgg16.onnx", layer="fc7")  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (2, 4096)
    """
    need_libraries()
    check_choice("pool", pool, ("flatten", "mean"))
    check_integer("batch_size", batch_size, 1)
    mean, std = colours("mean", mean), colours("std", std, positive=True)
    plan = Plan.from_network(Path(model), layer, pool, Pixels(size, crop, resample, channels, scale, mean, std))
    paths = _files(images)
    row_cache = _cache(cache, plan)
    rows = dict(_cached_rows(paths, row_cache))
    missing = [i for i in range(len(paths)) if i not in rows]
    _report(progress, len(rows), len(paths))
    if missing:
        network = Network.open(plan, batch_size, providers)
        for start in range(0, len(missing), network.batch_size):
            batch = missing[start : start + network.batch_size]
            rows.update(zip(batch, _computed_rows([paths[i] for i in batch], network, row_cache), strict=True))
            _report(progress, len(rows), len(paths))
    return np.stack([rows[i] for i in range(len(paths))])


def network_layers(model: AnyPath) -> tuple[str, ...]:
    """List the layers of a network that `deep_features` can take.

    Parameters
    ----------
    model : path-like
        An ONNX file.

    Returns
    -------
    tuple of str
        Names of the layers in the order of computation.

    Examples
    --------
    >>> from ilfs.datasets.deep import network_layers
    >>> network_layers("vgg16.onnx")[-3:]  # doctest: +SKIP
    ('fc7', 'fc7_relu', 'fc8')
    """
    return _read_network(Path(model))[1].layers


def need_libraries() -> None:
    """Raise an error that says what to install, unless the libraries of the extra ``[deep]`` are there."""
    for module, package in (("onnxruntime", "onnxruntime"), ("PIL", "Pillow")):
        if find_spec(module) is None:
            raise ImportError(f'deep features need the package {package}: pip install "ilfs[deep]"')


def _files(images: Sequence[AnyPath]) -> list[Path]:
    if isinstance(images, str | os.PathLike):
        raise TypeError(f"images must be a sequence of files, got the one path {os.fspath(images)!r}")
    paths = [Path(image) for image in images]
    if not paths:
        raise ValueError("images must name at least one file, got none")
    lost = [path for path in paths if not path.is_file()]  # fail now, not after hours of computation
    if lost:
        raise FileNotFoundError(f"no image {lost[0]}" + (f", nor {len(lost) - 1} more" if len(lost) > 1 else ""))
    return paths


def _cache(folder: AnyPath | Literal[False] | None, plan: "Plan") -> FeatureCache | None:
    if folder is False:
        return None
    return FeatureCache(cache_folder() / "deep" if folder is None else Path(folder), plan.key)


def _report(progress: Callable[[int, int], None] | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)


def _cached_rows(paths: list[Path], row_cache: FeatureCache | None) -> Iterable[tuple[int, FeatureRows]]:
    if row_cache is None:
        return
    for i, path in enumerate(paths):
        row = row_cache.get(path.read_bytes())
        if row is not None:
            yield i, row
    row_cache.warn_of_damage()


def _computed_rows(paths: list[Path], network: "Network", row_cache: FeatureCache | None) -> FeatureRows:
    contents = [path.read_bytes() for path in paths]
    rows = network.rows(paths, contents)
    if row_cache is not None:
        for content, row in zip(contents, rows, strict=True):
            row_cache.put(content, row)
    return rows


@dataclass(frozen=True)
class Plan:
    """Everything that determines the features of an image."""

    model: Path
    model_digest: str
    layer: str
    outputs: tuple[str, ...]
    pool: str
    pixels: Pixels

    @classmethod
    def from_network(cls, model: Path, layer: str | None, pool: str, pixels: Pixels) -> "Plan":
        """Read the network file and look up the layer."""
        content, network = _read_network(model)
        layer = network.outputs[-1] if layer is None else layer
        known = tuple(dict.fromkeys(network.layers + network.outputs))
        if layer not in known:
            raise ValueError(f"layer must be one of the layers of {model} ({_shortened(known)}), got {layer!r}")
        digest = hashlib.sha256(content)
        for name in network.external:
            digest.update(hashlib.sha256(_content(external_file(model, name))).digest())
        return cls(model, digest.hexdigest(), layer, network.outputs, pool, pixels)

    @property
    def is_inner(self) -> bool:
        """True if the network does not return the layer by itself."""
        return self.layer not in self.outputs

    @property
    def key(self) -> str:
        """Name of the cache folder: a hash of everything that determines the features."""
        described = [FEATURES_VERSION, self.model_digest, self.layer, self.pool, asdict(self.pixels)]
        return hashlib.sha256(json.dumps(described, default=float).encode()).hexdigest()


def _read_network(model: Path) -> tuple[bytes, NetworkFile]:
    content = _content(model)
    try:
        return content, NetworkFile.read(content)
    except ValueError as error:
        raise ValueError(f"{model} is not an ONNX network: {error}") from None


def _content(file: Path) -> bytes:
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise OSError(f"cannot read the network {file}: it must be a file, not a device or a pipe")
    try:
        return file.read_bytes()
    except OSError as error:
        raise OSError(f"cannot read the network {file}: {error.strerror}") from None


@dataclass(frozen=True)
class Network:
    """A network that is loaded and ready to run."""

    plan: Plan
    session: Any
    input_name: str
    input_type: str
    batch_size: int
    height: int
    width: int
    is_channels_last: bool

    @classmethod
    def open(
        cls, plan: Plan, batch_size: int, providers: Providers | None = None, inner: Sequence[str] = ()
    ) -> "Network":
        """Load the network and determine the shape of its input; it can also return the given inner layers."""
        session = _session(plan, providers, inner)
        inputs = session.get_inputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].type not in INPUT_TYPES:
            found = ", ".join(f"{one.name!r}: {one.type} of shape {one.shape}" for one in inputs)
            raise ValueError(
                f"{plan.model} must have one input, {_listed(INPUT_TYPES)} with the four axes of a batch of images, "
                f"it has {found}"
            )
        batch, *axes = inputs[0].shape
        # PyTorch exports batches of channels x height x width, TensorFlow of height x width x channels.
        is_channels_last = axes[0] != 3 and axes[2] == 3
        colours, height, width = (axes[2], axes[0], axes[1]) if is_channels_last else axes
        if isinstance(colours, int) and colours != 3:
            raise ValueError(f"{plan.model} must take images of 3 colours, its input has the shape {inputs[0].shape}")
        return cls(
            plan=plan,
            session=session,
            input_name=inputs[0].name,
            input_type=INPUT_TYPES[inputs[0].type],
            batch_size=batch if isinstance(batch, int) else batch_size,
            height=_length("height", height, plan),
            width=_length("width", width, plan),
            is_channels_last=is_channels_last,
        )

    def rows(self, paths: list[Path], contents: list[bytes]) -> FeatureRows:
        """Compute the features of the images with this content, at most one batch."""
        # A short batch is filled up with zeros: the network may fix the batch size, and another batch size could change
        # the rounding of the features. The rows of the zeros are dropped below.
        images = np.zeros((self.batch_size, self.height, self.width, 3), dtype=self.input_type)
        for image, path, content in zip(images, paths, contents, strict=False):
            image[:] = self.plan.pixels.from_content(path, content, self.width, self.height)
        rows = self._pooled(self.run(images, [self.plan.layer])[0])[: len(paths)]
        strange = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if strange.size:
            raise ValueError(f"{self.plan.layer!r} of {self.plan.model} is not finite for {paths[strange[0]]}")
        return rows

    def run(self, images: NDArray[Any], layers: Sequence[str]) -> list[Any]:
        """Compute layers for a batch of images, images x height x width x colours."""
        if not self.is_channels_last:
            images = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
        try:
            found: list[Any] = self.session.run(list(layers), {self.input_name: images})
        except Exception as error:  # exceptions of onnxruntime have no common base class
            shape = f"{self.batch_size} images of {self.height} x {self.width} pixels"
            raise ValueError(f"{self.plan.model} cannot compute {shape}: {' '.join(str(error).split())}") from error
        return found

    def _pooled(self, output: Any) -> FeatureRows:
        """Turn an output of the network into one row per image."""
        if not isinstance(output, np.ndarray) or output.shape[:1] != (self.batch_size,):
            raise ValueError(
                f"{self.plan.layer!r} of {self.plan.model} must have one entry per image, "
                f"got the shape {np.shape(output)} for {self.batch_size} images"
            )
        if self.plan.pool == "mean" and output.ndim > 2:
            # Feature maps have the axes of the input. Three axes are images x tokens x channels, as in transformers.
            is_channel_second = output.ndim > 3 and not self.is_channels_last
            positions = range(2, output.ndim) if is_channel_second else range(1, output.ndim - 1)
            output = output.mean(axis=tuple(positions), dtype=np.float64)
        rows: FeatureRows = output.reshape(self.batch_size, -1).astype(np.float32)
        return rows


def _session(plan: Plan, providers: Providers | None, inner: Sequence[str] = ()) -> Any:
    onnxruntime = import_module("onnxruntime")
    providers = ["CPUExecutionProvider"] if providers is None else list(providers)
    available = onnxruntime.get_available_providers()
    for name in (provider if isinstance(provider, str) else provider[0] for provider in providers):
        if name not in available:  # onnxruntime would only warn and compute on the CPU
            raise ValueError(f"providers must be among those of this onnxruntime ({_listed(available)}), got {name!r}")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only: its warnings concern authors of networks
    network: str | bytes = str(plan.model)
    if inner or plan.is_inner:
        network = with_outputs(_content(plan.model), inner or (plan.layer,))
        folder = str(plan.model.absolute().parent)  # the folder whose files were checked, also if the model is a link
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
    try:
        return onnxruntime.InferenceSession(network, options, providers=providers)
    except Exception as error:  # exceptions of onnxruntime have no common base class
        raise ValueError(f"onnxruntime cannot load {plan.model}: {' '.join(str(error).split())}") from error


def _length(name: str, axis: int | str | None, plan: Plan) -> int:
    """Return the length of an axis of the images: the network's if it declares one, else the user's."""
    size = plan.pixels.size
    if not isinstance(axis, int):
        return size or DEFAULT_PIXELS
    if size not in (None, axis):
        raise ValueError(f"size must be the {name} of the images that {plan.model} takes, {axis}, got {size}")
    return axis


def _shortened(names: Sequence[str]) -> str:
    """List names; of many, the last ones, whose layers are the usual features."""
    left_out = len(names) - MAX_LISTED_LAYERS
    if left_out <= 0:
        return _listed(names)
    return f"{_listed(names[left_out:])}, and {left_out} before these, which ilfs datasets layers lists"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)
