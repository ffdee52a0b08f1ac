"""Descriptions of registered data sets and of the public sources that they can be fetched from."""

from dataclasses import dataclass
from typing import Literal

Standing = Literal["exact", "rebuilt", "partial", "substitute", "made"]
Origin = Literal["file", "scikit-learn", "openml", "synthetic"]

NOT_STATED = "not stated by the source"
NEVER_TRIED = "never: no server could be reached when this entry was written"


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
class PublicFile:
    """A file of a public source.

    Parameters
    ----------
    name : str
        Name of the file, by which it is also looked for in a folder of the user.
    urls : tuple of str
        Its addresses, which are tried in this order; none for a file whose address OpenML tells.
    sha256, md5 : str
        Published checksums of the file; empty if there is none.
    """

    name: str
    urls: tuple[str, ...] = ()
    sha256: str = ""
    md5: str = ""


@dataclass(frozen=True)
class PublicSource:
    """A public source of a data set: its files, and how they become a table.

    Parameters
    ----------
    title : str
        Name of the source.
    converter : str
        Key of `ilfs.datasets.converters.CONVERTERS`, the function that reads the files.
    files : tuple of PublicFile
        All files that the converter needs.
    known_from : str
        Where the address and the format are stated.
    licence : str
        Licence of the files.
    verified : str
        When and how the addresses were last tried.
    openml : int, optional
        Number of the data set on OpenML, whose server tells the address of the file.
    member : str
        Name of the file to read in an archive.
    class_names : tuple of (str, str)
        Classes to rename, from and to.
    leave_out : tuple of int
        Rows of the source that do not belong to the data set, from 0.
    class_sizes : tuple of int, optional
        Samples of each class in any order; None if the source does not determine them.
    values : str
        Checksum of the values (`ilfs.datasets.dataset.values_checksum`), if they should be those of the registered
        file; empty if they are not known.
    differs : str
        Differences from the data of the paper, if they are not those of the registered file.
    """

    title: str
    converter: str
    files: tuple[PublicFile, ...]
    known_from: str
    licence: str = NOT_STATED
    verified: str = NEVER_TRIED
    openml: int | None = None
    member: str = ""
    class_names: tuple[tuple[str, str], ...] = ()
    leave_out: tuple[int, ...] = ()
    class_sizes: tuple[int, ...] | None = None
    values: str = ""
    differs: str = ""


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
    sources : tuple of PublicSource
        Public sources, best first, that ``ilfs datasets fetch`` tries.
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
    sources: tuple[PublicSource, ...] = ()

    @property
    def classes(self) -> int | None:
        """Number of classes."""
        return None if self.class_sizes is None else len(self.class_sizes)

    @property
    def file(self) -> str:
        """Name of the file."""
        return f"{self.name}.npz"

    @property
    def fetched_file(self) -> str:
        """Name of the file that is made from a public source; its bytes differ from those of the registered file."""
        return f"{self.name}.fetched.npz"
