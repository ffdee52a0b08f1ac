"""Data whose informative columns say something about the class only by their shape, or only together.

Every family has a few true columns among columns of noise that have the same distribution:

- ``parity2``, ``parity3``: random bits; the class is the parity of two or three of them.
- ``xor``: two uniform numbers in (-1, 1); class 1 if their signs differ.
- ``ring``: two uniform numbers in (-1, 1); class 1 if the point lies in a ring that covers half of the square.
- ``ring_xor``, ``ring_xor_sum``: the two pairs above, and a third pair for which the condition is a positive sum. A
  sample of class 1 satisfies one of the conditions, chosen at random, a sample of class 0 none.
- ``variance``: four normal columns whose standard deviation in class 1 is twice that in class 0.
- ``corral``: CorrAL of John, Kohavi and Pfleger [1]_. Six bits: the class is (a0 and a1) or (b0 and b1), and another
  bit agrees with the class in three of four samples. True are the four bits that determine the class.

Ring, xor and their mixtures are those of a published comparison [2]_, as far as their names and numbers of true columns
say: 2, 2, 4 and 6. The radii of the ring and the mixture in equal parts are ours.

``madelon`` is a file, not made here. Its true columns were found by their correlations: 20 of its 500 columns correlate
by 0.69 or more with another one, all others by less than 0.1. Five principal components hold all but 1 % of the
variance of the 20, which agrees with the recipe: five informative columns and 15 linear combinations of them [3]_.

References
----------
.. [1] G. H. John, R. Kohavi, K. Pfleger, "Irrelevant Features and the Subset Selection Problem", ICML 1994.
.. [2] A. Passemiers et al., "A Quantitative Benchmark of Neural Network Feature Selection Methods for Detecting
   Nonlinear Signals", Scientific Reports 14, 2024.
.. [3] I. Guyon et al., "Result Analysis of the NIPS 2003 Feature Selection Challenge", NIPS 2004.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.datasets.dataset import Dataset
from ilfs.datasets.truth import Truth
from ilfs.parameters import check_integer

Condition = Callable[[Floats], NDArray[np.bool_]]  # which rows of an array with two columns satisfy it
Draw = Callable[[Integers, Generator], Floats]  # true columns, then companions, given the classes of the rows
Noise = Callable[[tuple[int, int], Generator], Floats]

INNER_RADIUS = 0.4
OUTER_RADIUS = float(np.sqrt(INNER_RADIUS**2 + 2 / np.pi))  # the ring covers half of the square of side 2
SPREAD = 2.0  # ratio of the standard deviations of the family "variance"
N_SPREAD = 4  # true columns of that family
AGREEMENT = 0.75  # fraction of the samples in which the correlated bit of CorrAL is the class


def make_known_answer(family: str, n_samples: int, n_noise: int, *, random_state: int | Generator = 0) -> Truth:
    """Make a data set with two equally large classes whose true columns are known.

    Parameters
    ----------
    family : str
        One of `FAMILIES`.
    n_samples : int
        Number of rows.
    n_noise : int
        Number of columns of noise, besides those of the family.
    random_state : int or Generator, default=0
        The seed.

    Returns
    -------
    Truth
        The data set and its true columns. The correlated bit of ``corral`` does not count as true.

    Examples
    --------
    >>> from ilfs.datasets import make_known_answer
    >>> truth = make_known_answer("xor", 200, 50)
    >>> truth.table
    <Dataset xor_200x50: 200 samples x 52 features; classes class_0 100, class_1 100>
    >>> x, y = truth.table.X[:, truth.informative].T
    >>> bool(((x * y < 0) == truth.table.y).all())
    True
    """
    if family not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
    check_integer("n_samples", n_samples, 2)
    check_integer("n_noise", n_noise, 0)
    kind, rng = FAMILIES[family], np.random.default_rng(random_state)
    y = rng.permutation(np.arange(n_samples) % 2)
    X = np.hstack([kind.draw(y, rng), kind.noise((n_samples, n_noise), rng)])
    counts = {"true": kind.n_true, "correlated": kind.n_companions, "noise": n_noise}
    names = np.array([f"{what}_{j}" for what, count in counts.items() for j in range(count)])
    order = rng.permutation(X.shape[1])
    name, classes = f"{family}_{n_samples}x{n_noise}", ("class_0", "class_1")
    table = Dataset(name, X[:, order], y, classes, tuple(names[order].tolist()))
    return Truth.from_columns(table, np.flatnonzero(order < kind.n_true))


def _bits(shape: tuple[int, int], rng: Generator) -> Floats:
    return rng.integers(0, 2, size=shape).astype(np.float64)


def _uniform(shape: tuple[int, int], rng: Generator) -> Floats:
    return rng.uniform(-1, 1, size=shape)


def _normal(shape: tuple[int, int], rng: Generator) -> Floats:
    return rng.normal(size=shape)


def _parity(n_bits: int) -> Draw:
    """Draw bits of which the last makes the parity that the class demands."""

    def draw(y: Integers, rng: Generator) -> Floats:
        free = _bits((len(y), n_bits - 1), rng)
        return np.column_stack([free, (y + free.sum(axis=1)) % 2])

    return draw


def _is_xor(points: Floats) -> NDArray[np.bool_]:
    return np.asarray(points[:, 0] * points[:, 1] < 0)


def _is_in_ring(points: Floats) -> NDArray[np.bool_]:
    radius = np.hypot(points[:, 0], points[:, 1])
    return np.asarray((radius > INNER_RADIUS) & (radius < OUTER_RADIUS))


def _has_positive_sum(points: Floats) -> NDArray[np.bool_]:
    return np.asarray(points.sum(axis=1) > 0)


def _pairs(*conditions: Condition) -> Draw:
    """Draw a pair of numbers for each condition; a sample of class 1 satisfies one of them, one of class 0 none."""

    def draw(y: Integers, rng: Generator) -> Floats:
        satisfied = np.where(y == 1, rng.permutation(np.arange(len(y)) % len(conditions)), -1)
        pairs = [_points(condition, satisfied == c, rng) for c, condition in enumerate(conditions)]
        return np.hstack(pairs)

    return draw


def _points(condition: Condition, wanted: NDArray[np.bool_], rng: Generator) -> Floats:
    """Draw points again until each satisfies the condition or not, as wanted."""
    points = _uniform((len(wanted), 2), rng)
    while (wrong := condition(points) != wanted).any():
        points[wrong] = _uniform((int(wrong.sum()), 2), rng)
    return points


def _spread(y: Integers, rng: Generator) -> Floats:
    """Draw normal columns whose spread depends on the class, with the variance 1 over both classes."""
    deviation = np.where(y == 1, SPREAD, 1.0) / np.sqrt((1 + SPREAD**2) / 2)
    return np.asarray(deviation[:, None] * _normal((len(y), N_SPREAD), rng))


def _corral(y: Integers, rng: Generator) -> Floats:
    """Draw four bits until (a0 and a1) or (b0 and b1) is the class, and a bit that often agrees with the class."""
    bits = _bits((len(y), 4), rng)
    while (wrong := _corral_class(bits) != y).any():
        bits[wrong] = _bits((int(wrong.sum()), 4), rng)
    agrees = rng.random(len(y)) < AGREEMENT
    return np.column_stack([bits, np.where(agrees, y, 1 - y)])


def _corral_class(bits: Floats) -> Integers:
    a0, a1, b0, b1 = bits.astype(bool).T
    return np.asarray((a0 & a1) | (b0 & b1), dtype=np.int64)


class Family(NamedTuple):
    """How the columns of a family are drawn.

    Parameters
    ----------
    title : str
        Title of the data sets.
    draw : callable
        Draws the true columns and then their companions.
    noise : callable
        Draws columns of noise.
    n_true, n_companions : int
        Number of true columns, and of columns that are drawn with them and are not true.
    """

    title: str
    draw: Draw
    noise: Noise
    n_true: int
    n_companions: int = 0


#: The families by name.
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "parity2": Family("Parity of 2", _parity(2), _bits, 2),
        "parity3": Family("Parity of 3", _parity(3), _bits, 3),
        "xor": Family("XOR", _pairs(_is_xor), _uniform, 2),
        "ring": Family("RING", _pairs(_is_in_ring), _uniform, 2),
        "variance": Family("Variance only", _spread, _normal, N_SPREAD),
        "corral": Family("CorrAL", _corral, _bits, 4, n_companions=1),
        "ring_xor": Family("RING+XOR", _pairs(_is_in_ring, _is_xor), _uniform, 4),
        "ring_xor_sum": Family("RING+XOR+SUM", _pairs(_is_in_ring, _is_xor, _has_positive_sum), _uniform, 6),
    }
)

#: Families, samples and columns of noise of the registered data sets, by name.
KNOWN_ANSWERS: Mapping[str, tuple[str, int, int]] = MappingProxyType(
    {
        f"{family}_{n_samples}x{n_noise}": (family, n_samples, n_noise)
        for family, n_samples, n_noise in (
            ("parity2", 200, 100),
            ("parity2", 200, 2000),
            ("parity3", 300, 500),
            ("parity3", 1000, 500),
            ("xor", 200, 100),
            ("xor", 200, 2000),
            ("xor", 1000, 2000),
            ("ring", 200, 100),
            ("ring", 200, 2000),
            ("ring", 1000, 2000),
            ("variance", 200, 100),
            ("variance", 200, 2000),
            ("variance", 1000, 2000),
            ("corral", 200, 100),
            ("corral", 200, 2000),
            ("ring_xor", 200, 100),
            ("ring_xor", 1000, 2000),
            ("ring_xor_sum", 200, 100),
            ("ring_xor_sum", 1000, 2000),
        )
    }
)

#: True columns of data sets that are files.
TRUE_COLUMNS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "madelon": (
            *(28, 48, 64, 105, 128, 153, 241, 281, 318, 336),
            *(338, 378, 433, 442, 451, 453, 455, 472, 475, 493),
        )
    }
)
