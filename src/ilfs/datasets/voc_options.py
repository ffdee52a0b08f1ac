"""Options of the VOC data sets, which are made from images and a network of the user."""

import os
from dataclasses import dataclass, fields

VOC_YEARS = {"voc2007": 2007, "voc2012": 2012}  # registered data sets


@dataclass(frozen=True)
class VocOptions:
    """Locations of the images and the network of the VOC data sets.

    Parameters
    ----------
    devkit : str, optional
        The VOCdevkit folder; by default that in the environment variable ``ILFS_VOC_DEVKIT``.
    network : str, optional
        The ONNX file of a network; by default ``ILFS_VOC_NETWORK``.
    layer : str, optional
        The layer whose activations are the features; by default ``ILFS_VOC_LAYER``, else the last.

    Examples
    --------
    >>> from ilfs.datasets import VocOptions
    >>> VocOptions(devkit="VOCdevkit").devkit
    'VOCdevkit'
    """

    devkit: str = ""
    network: str = ""
    layer: str = ""

    def or_environment(self) -> "VocOptions":
        """Fill options that are not given from the environment variables that the user has set.

        Returns
        -------
        VocOptions
            Options that have no value in either are empty.
        """
        variables = {one.name: os.environ.get(f"ILFS_VOC_{one.name.upper()}", "") for one in fields(self)}
        return self.or_else(VocOptions(**variables))

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
        names = [one.name for one in fields(self)]
        return VocOptions(**{name: getattr(self, name) or getattr(others, name) for name in names})

    @property
    def is_given(self) -> bool:
        """True if the folder or the network is known: the user wants features of a network of their own."""
        return bool(self.devkit or self.network)

    @property
    def is_complete(self) -> bool:
        """True if folder and network are known."""
        return bool(self.devkit and self.network)
