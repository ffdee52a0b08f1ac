"""Options of the VOC data sets, which are made from images and a network of the user."""

import os
from dataclasses import dataclass, fields
from typing import Any

VOC_YEARS = {"voc2007": 2007, "voc2012": 2012}  # registered data sets


@dataclass(frozen=True)
class VocOptions:
    """Images and network of the VOC data sets, and how images become numbers; all are text.

    An option that is not given is read from an environment variable: ``ILFS_VOC_`` and its name in capitals.

    Parameters
    ----------
    devkit : str, optional
        The VOCdevkit folder.
    network : str, optional
        The ONNX file of a network.
    layer : str, optional
        The layer whose activations are the features; by default the last.
    channels, scale, mean, std, image_size, crop, resample, pool : str, optional
        The options of `ilfs.datasets.deep.deep_features` of these names (``image_size``: its ``size``); ``mean`` and
        ``std`` are three numbers with spaces between them.

    Examples
    --------
    >>> from ilfs.datasets import VocOptions
    >>> caffe = VocOptions("VOCdevkit", "vgg16.onnx", channels="BGR", scale="1", mean="103.939 116.779 123.68")
    >>> caffe.devkit
    'VOCdevkit'
    >>> caffe.deep_options()
    {'channels': 'BGR', 'scale': 1.0, 'mean': [103.939, 116.779, 123.68]}
    """

    devkit: str = ""
    network: str = ""
    layer: str = ""
    channels: str = ""
    scale: str = ""
    mean: str = ""
    std: str = ""
    image_size: str = ""
    crop: str = ""
    resample: str = ""
    pool: str = ""

    def or_environment(self) -> "VocOptions":
        """Fill options that are not given from the environment variables that the user has set.

        Returns
        -------
        VocOptions
            Options that have no value in either are empty.
        """
        return self.or_else(VocOptions.from_variables(os.environ))

    @classmethod
    def from_variables(cls, variables: Any) -> "VocOptions":
        """Make options from a mapping of environment variables; those that it lacks are empty.

        Parameters
        ----------
        variables : mapping of str to str
            Values by the names of the variables, such as ``ILFS_VOC_DEVKIT``.

        Returns
        -------
        VocOptions
            The options.
        """
        return cls(**{name: str(variables.get(variable, "")) for name, variable in VARIABLES.items()})

    def as_variables(self) -> dict[str, str]:
        """Return the options that are given, by their environment variables.

        Returns
        -------
        dict
            Values by names such as ``ILFS_VOC_DEVKIT``.
        """
        return {variable: value for name, variable in VARIABLES.items() if (value := getattr(self, name))}

    def or_else(self, others: "VocOptions") -> "VocOptions":
        """Fill options that are not given from others.

        Parameters
        ----------
        others : VocOptions
            Values for the options that are empty here.

        Returns
        -------
        VocOptions
            Options that have no value in either are empty.
        """
        return VocOptions(**{name: getattr(self, name) or getattr(others, name) for name in VARIABLES})

    def deep_options(self) -> dict[str, Any]:
        """Return the options that `ilfs.datasets.deep.deep_features` takes, as it takes them.

        Returns
        -------
        dict
            Only options that are given.
        """
        words = {name: getattr(self, name) for name in ("layer", "channels", "resample", "pool")}
        single = {name: _numbers(name, getattr(self, name), 1) for name in ("scale", "crop", "image_size")}
        triples = {name: _numbers(name, getattr(self, name), 3) for name in ("mean", "std")}
        numbers = {name: found[0] for name, found in single.items() if found}
        size = {"size": int(numbers.pop("image_size"))} if "image_size" in numbers else {}
        return {name: value for name, value in (words | numbers | size | triples).items() if value}

    @property
    def is_given(self) -> bool:
        """True if the folder or the network is known: the user wants features of a network of their own."""
        return bool(self.devkit or self.network)

    @property
    def is_complete(self) -> bool:
        """True if folder and network are known."""
        return bool(self.devkit and self.network)


VARIABLES = {one.name: f"ILFS_VOC_{one.name.upper()}" for one in fields(VocOptions)}


def _numbers(name: str, text: str, n_wanted: int) -> list[float]:
    """Read the numbers of an option; none if it is empty."""
    try:
        found = [float(word) for word in text.split()]
    except ValueError:
        found = []
    if text and (len(found) != n_wanted or (name == "image_size" and not found[0].is_integer())):
        what = "three numbers" if n_wanted == 3 else "an integer" if name == "image_size" else "a number"
        option = f"--{name.replace('_', '-')} or {VARIABLES[name]}"
        raise ValueError(f"{name} of VOC images ({option}) must be {what}, got {text!r}")
    return found
