"""Descriptions of registered data sets for readers: where the data come from, what differs, where they are."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from ilfs.datasets.archive import read_provenance
from ilfs.datasets.loading import find_copy, what_to_do
from ilfs.datasets.openml import OPENML_ADDRESS
from ilfs.datasets.spec import PublicFile, PublicSource, Spec
from ilfs.text_table import format_value

WIDTH = 100  # characters of a line
FETCHED_ENDING = ".fetched.npz"
INDENT = 12  # characters before the text of a field


def description(spec: Spec) -> str:
    """Describe a data set in lines of text: origin, licence, sizes, differences, and where its file is.

    Parameters
    ----------
    spec : Spec
        The data set.

    Returns
    -------
    str
        One field per line; long fields continue on indented lines.

    Examples
    --------
    >>> from ilfs.datasets import REGISTRY
    >>> from ilfs.datasets.describe import description
    >>> print(description(REGISTRY["iris"]))
    iris: Iris
    standing:   exact
    sizes:      150 samples, 4 features, 3 classes (50, 50, 50)
    source:     UCI; comes with scikit-learn
    licence:    CC BY 4.0
    here:       yes, with scikit-learn
    """
    fields = [
        ("standing", spec.standing),
        ("sizes", _sizes(spec.samples, spec.features, spec.class_sizes)),
        ("paper", _paper(spec)),
        ("source", spec.source),
        ("licence", spec.licence),
        ("differs", spec.differs),
        ("here", _here(spec)),
        *_origin(find_copy(spec)),
        *(pair for number, source in enumerate(spec.sources, start=1) for pair in _source(number, source)),
    ]
    lines = [line for field, text in fields if text for line in _field(field, text)]
    return "\n".join([f"{spec.name}: {spec.title}", *lines])


def _field(field: str, text: str) -> list[str]:
    start = f"{field}:".ljust(INDENT) if field else " " * INDENT
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _sizes(samples: int | None, features: int | None, class_sizes: Sequence[int] | None) -> str:
    classes = "" if class_sizes is None else f", {len(class_sizes)} classes ({', '.join(map(str, class_sizes))})"
    of_features = "features of your network" if features is None else f"{format_value(features, 0)} features"
    return f"{format_value(samples, 0)} samples, {of_features}{classes}"


def _paper(spec: Spec) -> str:
    if spec.paper is None:
        return ""
    return f"{spec.paper.row}: {_sizes(spec.paper.samples, spec.paper.features, spec.paper.class_sizes)}"


def _origin(path: Path | None) -> list[tuple[str, str]]:
    """Return the fields of a fetched copy: its source, what was verified, and what differs."""
    noted = {} if path is None or not path.name.endswith(FETCHED_ENDING) else read_provenance(path)
    fields = [("made from", f"{noted.get('source')}, {noted.get('when')}"), ("verified", noted.get("verified", ""))]
    return [*fields, ("this copy", noted.get("differs", ""))] if noted else []


def _source(number: int, source: PublicSource) -> list[tuple[str, str]]:
    """Return the fields of a public source."""
    addresses = [url for file in source.files for url in file.urls] or [OPENML_ADDRESS.format(source.openml)]
    checks = [f"{file.name}: {title} {sum_}" for file in source.files for title, sum_ in _sums(file) if sum_]
    known = "values of the registered file" if source.values else "counts only"
    text = f"{source.title}; licence: {source.licence}; verified by: {', '.join([*checks, known])}"
    last = f"address last tried: {source.verified}; stated by: {source.known_from}"
    return [(f"fetch {number}", text), ("", " ".join(addresses)), ("", last)]


def _sums(file: PublicFile) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("SHA-256", file.sha256), ("MD5", file.md5)


def _here(spec: Spec) -> str:
    if spec.origin == "synthetic":
        return "made when it is loaded"
    if spec.origin == "scikit-learn":
        return "yes, with scikit-learn"
    path = find_copy(spec)
    return f"no: {what_to_do(spec)}" if path is None else f"yes, {path}"
