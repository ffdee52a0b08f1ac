"""Descriptions of registered data sets for readers: where the data come from, what differs, where they are."""

import difflib
import textwrap
from collections.abc import Sequence

from ilfs.datasets.loading import find_copy, what_to_do
from ilfs.datasets.registry import REGISTRY
from ilfs.datasets.spec import Spec
from ilfs.text_table import format_value

WIDTH = 100  # characters of a line
INDENT = 12  # characters before the text of a field


def registered(name: str) -> Spec:
    """Look up a registered data set; the error for an unknown name suggests a similar one."""
    if name in REGISTRY:
        return REGISTRY[name]
    near = difflib.get_close_matches(name, REGISTRY, n=1)
    meant = f", did you mean {near[0]!r}?" if near else ":"
    raise ValueError(f"no data set is called {name!r}{meant} ilfs datasets lists the names")


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
    ]
    lines = [line for field, text in fields if text for line in _field(field, text)]
    return "\n".join([f"{spec.name}: {spec.title}", *lines])


def _field(field: str, text: str) -> list[str]:
    start = f"{field}:".ljust(INDENT)
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


def _here(spec: Spec) -> str:
    if spec.origin == "synthetic":
        return "made when it is loaded"
    if spec.origin == "scikit-learn":
        return "yes, with scikit-learn"
    path = find_copy(spec)
    return f"no: {what_to_do(spec)}" if path is None else f"yes, {path}"
