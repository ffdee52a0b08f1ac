"""Data sets with known informative columns, by their registered names."""

from ilfs.datasets.known_answer import KNOWN_ANSWERS, make_known_answer
from ilfs.datasets.synthetic import PRESETS, make_truth
from ilfs.datasets.truth import Truth
from ilfs.parameters import check_integer


def load_truth(name: str, random_state: int = 0) -> Truth:
    """Load a registered synthetic data set together with the nature of its columns.

    Parameters
    ----------
    name : str
        Its name, for example ``"synthetic_redundant"`` or ``"xor_200x100"``.
    random_state : int, default=0
        The seed. :func:`ilfs.datasets.load` returns the data set with the seed 0.

    Returns
    -------
    Truth
        The data set and the nature of its columns.

    Examples
    --------
    >>> from ilfs.datasets import load_truth
    >>> int(load_truth("synthetic_redundant").redundant.sum())
    90
    >>> int(load_truth("parity3_300x500", random_state=1).informative.sum())
    3
    """
    check_integer("random_state", random_state, 0)
    if name in PRESETS:
        return make_truth(**PRESETS[name], random_state=random_state, name=name)
    if name in KNOWN_ANSWERS:
        return make_known_answer(*KNOWN_ANSWERS[name], random_state=random_state)
    raise ValueError(f"name must be one of {', '.join([*PRESETS, *KNOWN_ANSWERS])}, got {name!r}")
