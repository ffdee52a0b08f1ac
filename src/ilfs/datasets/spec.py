"""What is known of a data set before it is loaded."""

from dataclasses import dataclass
from typing import Literal

Standing = Literal["exact", "rebuilt", "partial", "stand-in", "made"]
Origin = Literal["file", "scikit-learn", "openml", "synthetic"]

NOT_STATED = "not stated by the source"


@dataclass(frozen=True)
class Paper:
    """How the paper describes a data set, rounded as it rounds.

    Parameters
    ----------
    row : str
        What its tables call the data set.
    samples, features : int
        Its size.
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
        What :func:`ilfs.datasets.load` takes; also the name of its file, without ``.npz``.
    title : str
        The full name, for tables: it says if the data are rebuilt, partial or a stand-in.
    standing : {"exact", "rebuilt", "partial", "stand-in", "made"}
        Whether these are the data of the paper (or of the source, for a set that is not in the paper): all of them,
        made anew by the published recipe, some of their rows, or other data in their place; ``"made"`` if there is
        nothing to compare them with, as they are synthetic.
    samples, features : int or None
        The size; None if it depends on what the user has.
    class_sizes : tuple of int, optional
        Samples of each class, in the order of its code.
    source, licence : str
        Where the data come from, and on what terms.
    differs : str
        How these data differ from those of the paper or of the source.
    paper : Paper, optional
        How the paper describes the data set, if it is one of the paper's ten.
    origin : {"file", "scikit-learn", "openml", "synthetic"}
        What the data are made from.
    sha256 : str
        Of the file; for ``"scikit-learn"`` of the content. Empty if there is no one file.
    size : int
        Bytes of the file, 0 if there is none.
    sparse : bool
        Whether the features are a sparse matrix.
    split : str
        If given, only those rows of the file that its array ``split`` calls so.
    openml : int, optional
        Number of a copy of the same samples on OpenML, for when there is no file.
    advice : str
        What to do if the data are not to be had.
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
        """Name of its file."""
        return f"{self.name}.npz"
