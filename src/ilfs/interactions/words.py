"""The effect of an interaction in words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.ties import first_of_largest

SIDES = (("high", "low"), ("extreme", "moderate"))  # of a level bit and of a size bit: +1 and -1
TRIPLES = ("one or all three high", "none or two high")  # product of three level bits: +1 and -1
SMALLEST_LOGARITHM = -300  # smaller probabilities cannot be formatted as numbers
SHORT_TRIPLES = ("1 or 3 high", "0 or 2 high")


def describe_effects(
    bits: NDArray[np.int8], effect: Floats, names: NDArray[Any], labels: Integers | None = None
) -> list[str]:
    """Describe each set by the values that occur together in one class more often than expected.

    Parameters
    ----------
    bits : ndarray of int8 of shape (n_sets, 3)
        Kinds of the bits; -1 in the third place of a pair.
    effect : ndarray of shape (n_sets, n_classes)
        Excess of the product +1 in each class.
    names : ndarray
        Names of the classes or, if ``labels`` is given, of the labels.
    labels : ndarray of int of shape (n_sets,), optional
        Label of each set. The classes are then the samples without and with this label.

    Returns
    -------
    list of str
        One phrase for each set.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.interactions.words import describe_effects
    >>> describe_effects(np.array([[0, 0, -1]]), np.array([[-0.2, 0.4]]), np.array(["well", "ill"]))
    ['high together with high, or low with low: more often in ill']
    """
    phrases = []
    for row in range(len(bits)):
        k, is_minus = most_affected(effect[row], labels is not None)
        name = names[k if labels is None else labels[row]]
        phrases.append(f"{pattern(bits[row], is_minus)}: more often in {name}")
    return phrases


def most_affected(effect: Floats, has_label: bool = False) -> tuple[int, int]:
    """Return the class with the largest effect, or that of samples with the label, and 1 if it is negative, else 0."""
    k = 1 if has_label else first_of_largest(np.abs(effect))
    return k, int(effect[k] < 0)


def short_pattern(bits: NDArray[np.int8], is_minus: int) -> str:
    """Describe the values for which the product of the bits is +1 or -1 in a few words.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.interactions.words import short_pattern
    >>> short_pattern(np.array([0, 1, -1]), 1), short_pattern(np.array([0, 0, 0]), 0)
    ('high & moderate', '1 or 3 high')
    """
    if bits[2] >= 0:
        return SHORT_TRIPLES[is_minus]
    return f"{SIDES[bits[0]][0]} & {SIDES[bits[1]][is_minus]}"


def pattern(bits: NDArray[np.int8], is_minus: int) -> str:
    """Describe the values for which the product of the bits is +1 or, if ``is_minus`` is 1, -1."""
    if bits[2] >= 0:
        return TRIPLES[is_minus]
    first, second = SIDES[bits[0]], SIDES[bits[1]]
    return f"{first[0]} together with {second[is_minus]}, or {first[1]} with {second[1 - is_minus]}"


def text_of_log10(log10: float) -> str:
    """Format a probability with two significant digits, given its decimal logarithm.

    Examples
    --------
    >>> from ilfs.interactions.words import text_of_log10
    >>> text_of_log10(-1.3), text_of_log10(-412.5), text_of_log10(-400.001), text_of_log10(0.0)
    ('0.05', '3.2e-413', '1.0e-400', '1')
    """
    if log10 > SMALLEST_LOGARITHM:
        return f"{10.0**log10:.2g}"
    mantissa, exponent = f"{10.0 ** (log10 % 1.0):.1e}".split("e")  # 9.96 is rounded to 1.0e+01
    return f"{mantissa}e{np.floor(log10) + int(exponent):.0f}"
