"""Descriptions of registered data sets."""

from dataclasses import dataclass
from typing import Literal

Standing = Literal["exact", "rebuilt", "partial", "substitute", "made"]
Origin = Literal["file", "scikit-learn", "openml", "synthetic"]

NOT_STATED = "not stated by the source"


@dataclass(frozen=True)
class Paper:
    """Description of a data set in the paper, with the paper's rounding.

    Parameters
    ----------
    row : str
        Name of the data set in the paper's tables.
    samples, features : int
        Number of rows and columns.
    class_sizes : tuple of int, optional
        Samples of the positive and the negative class, where the paper gives them.
    """

    row: str
    samples: int
    features: int
    class_sizes: tuple[int, int] | None = None


@dataclass(frozen=True)
class Spec:
    """A data set that can be loaded by its name.

    Parameters
    ----------
    name : str
        The name for :func:`ilfs.datasets.load`; also the name of its file, without ``.npz``.
    title : str
        The full name, for tables; it marks data that are rebuilt, partial or a substitute.
    standing : {"exact", "rebuilt", "partial", "substitute", "made"}
        Relation to the data of the paper, or of the source for a data set that is not in the paper: the same data
        (exact), built again by the published recipe, some of the rows, or other data in their place. ``"made"`` marks
        synthetic data.
    samples, features : int or None
        Number of rows and columns; None if they depend on the user's files.
    class_sizes : tuple of int, optional
        Samples of each class, in the order of its code.
    source, licence : str
        Origin of the data and their licence.
    differs : str
        Differences from the data of the paper or of the source.
    paper : Paper, optional
        The paper's description, if it is one of the paper's ten data sets.
    origin : {"file", "scikit-learn", "openml", "synthetic"}
        The kind of source that the data are loaded from.
    sha256 : str
        SHA-256 of the file; for ``"scikit-learn"`` of the content. Empty if there is no single file.
    size : int
        Bytes of the file, 0 if there is none.
    sparse : bool
        True if the features are a sparse matrix.
    split : str
        If given, only the rows of the file with this value in its array ``split`` are loaded.
    openml : int, optional
        Number of a copy of the same samples on OpenML, which is used if there is no file.
    advice : str
        What to do if the data are not available.
    """

    name: str
    title: str
    standing: Standing
    samples: int | None
    features: int | None
    class_sizes: tuple[int, ...] | None
    source: str
    licence: str
    differs: str = ""
    paper: Paper | None = None
    origin: Origin = "file"
    sha256: str = ""
    size: int = 0
    sparse: bool = False
    split: str = ""
    openml: int | None = None
    advice: str = ""

    @property
    def classes(self) -> int | None:
        """Number of classes."""
        return None if self.class_sizes is None else len(self.class_sizes)

    @property
    def file(self) -> str:
        """Name of the file."""
        return f"{self.name}.npz"
