"""Interacting features: the table of significant sets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ilfs.arrays import Floats, Integers
from ilfs.interactions.bits import PackedBits
from ilfs.interactions.sets import FoundSets
from ilfs.interactions.tails import log10_chi2_tail
from ilfs.interactions.words import describe_effects, text_of_log10
from ilfs.ranking_table import RankingTable, is_left_out
from ilfs.statistics import ProductTerms
from ilfs.ties import stable_order
from ilfs.words import counted

NO_FEATURE = -1  # in the third place of a pair
OF_SETS = (  # fields with a row for each set
    "columns", "bits", "statistic", "p_values", "adjusted_p_values", "log10_adjusted_p_values", "effect",
)  # fmt: skip
NOUNS = {2: "pair", 3: "triple"}  # of sets of so many features
LOGARITHM = "log10_adjusted_p_value"  # column of the table, for p-values that are too small for a number
# Sets that enter the regression by which features are picked. The gains of the products of one feature are added, and
# products of related features have much in common. With one set a feature, nothing is counted twice. On the development
# sets of benchmarks/options.py without MADELON, eight sets changed average precision by -0.46 / -0.20 / -0.13 points
# (linear, k-NN, RBF), one set by -0.08 / +0.13 / +0.08.
MAX_PER_FEATURE, MAX_PAIRS, MAX_TRIPLES = 1, 1500, 500


class InteractionTable(RankingTable):
    """Columns of a table of interactions, strongest first; see `Interactions.table`."""

    def __repr__(self) -> str:
        return f"<InteractionTable of {counted(len(self['features']), 'set')}: {', '.join(self)}>"

    def to_text(self, columns: Sequence[str] | None = None) -> str:
        """Format the table with aligned columns; p-values that are too small for a number have their true exponent.

        Parameters
        ----------
        columns : sequence of str, optional
            Titles of the columns to show. By default all but indices, p-values that are not adjusted, and logarithms.

        Returns
        -------
        str
            One line for each set, below a line of titles.
        """
        title = "adjusted_p_value"
        if LOGARITHM not in self or np.all(self[title] > 0.0):
            shown = RankingTable(self)
        else:
            texts = [text_of_log10(value).rjust(len(title)) for value in self[LOGARITHM].tolist()]
            shown = RankingTable({**self, title: np.array(texts, dtype=object)})
        default = [name for name in self if name != LOGARITHM and not is_left_out(name, self[name])]
        return shown.to_text(default if columns is None else columns)


@dataclass(frozen=True)
class Interactions:
    """Pairs and triples of features that are informative together, strongest first.

    A feature has two bits: a level bit, +1 if the value is above the median, and a size bit, +1 if it is outside of the
    quartiles; -1 otherwise. A set is two or three bits of different features. It is significant if the product of its
    bits depends on the class beyond what lower-order terms say (the bits themselves, and for triples their pairs), and
    if the bits depend on each other in another way in one class than in another (unequal odds ratios).

    Parameters
    ----------
    columns : ndarray of int of shape (n_sets, 3)
        Column indices, ascending; -1 in the third place of a pair.
    bits : ndarray of int8 of shape (n_sets, 3)
        0 for a level bit, 1 for a size bit; -1 in the third place of a pair.
    statistic : ndarray of shape (n_sets,)
        The larger, the stronger: the smallest of the statistics of all tests of the set, each of which is about a
        chi-squared variable if there is no interaction.
    p_values : ndarray of shape (n_sets,)
        Probability that the statistic of a set without an interaction is as large as this one.
    adjusted_p_values : ndarray of shape (n_sets,)
        p-values times the number of tests of sets of the same size (Bonferroni), and twice that if both pairs and
        triples were tested; at most 1. They are at most ``alpha`` for all sets of the table.
    log10_adjusted_p_values : ndarray of shape (n_sets,)
        Decimal logarithms of the adjusted p-values, also where these are too small for a floating-point number and
        therefore 0.
    effect : ndarray of shape (n_sets, n_classes)
        For each class, the excess fraction of its samples with a product of +1. With 0.2, 20 more of 100 samples have
        it than if the features depended on each other in the same way in all classes. The product of two level bits is
        +1 if both values are high or both are low; that of three, if one or all three are high.
    n_tests : int
        Number of tests. A pair of features has up to four of them, one for each pair of their bits.
    n_significant : int
        Number of significant tests, of which the strongest are in this table.
    degrees_of_freedom : int
        Of the chi-squared distribution: the number of classes minus 1.
    cuts : ndarray of shape (n_features, 3)
        For each column of the table X, the lower quartile, median and upper quartile that define the bits. A value is
        high if it is > the median, and extreme if it is < the lower or > the upper quartile. NaN for a constant column.
    classes : ndarray of shape (n_classes,)
        Class labels; the numbers of the labels, if ``y`` was an indicator matrix.
    labels : ndarray of int of shape (n_sets,) or None
        Only if ``y`` was an indicator matrix: the label for which the set was found. ``effect`` then has two columns,
        for samples without and with this label.
    feature_names : sequence or None
        Names of the columns of X, if known.
    orders : tuple of int
        Numbers of features of the sets that were tested: (2,), or (2, 3) if triples were tested, too.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.interactions import find_interactions
    >>> X = np.random.default_rng(0).normal(size=(300, 50))
    >>> y = np.where(X[:, 3] * X[:, 7] > 0, "sick", "well")
    >>> found = find_interactions(X, y)
    >>> found.columns.tolist()
    [[3, 7, -1]]
    >>> print(found.table())
    rank  features  statistic  adjusted_p_value  effect
       1  x3 & x7       257.7           2.7e-54  high together with high, or low with low: more often in sick
    """

    columns: Integers
    bits: NDArray[np.int8]
    statistic: Floats
    p_values: Floats
    adjusted_p_values: Floats
    log10_adjusted_p_values: Floats
    effect: Floats
    n_tests: int
    n_significant: int
    degrees_of_freedom: int
    cuts: Floats
    classes: NDArray[Any]
    labels: Integers | None = None
    feature_names: Sequence[Any] | None = None
    orders: tuple[int, ...] = (2,)

    @classmethod
    def from_sets(
        cls, bits: PackedBits, found: FoundSets, n_tests: int, n_families: int, classes: NDArray[Any]
    ) -> Self:
        """Describe the sets of bits that a screen has found.

        Parameters
        ----------
        bits : PackedBits
            The bits of all features.
        found : FoundSets
            Sets of bits, with their statistics and effects.
        n_tests : int
            Number of sets that were tested.
        n_families : int
            Number of screens like this one that share the level.
        classes : ndarray of shape (n_classes,)
            Labels of the classes.

        Returns
        -------
        Interactions
            The sets, as sets of features.
        """
        from scipy.stats import chi2

        columns, kinds, degrees = bits.columns[found.sets], bits.kinds[found.sets], classes.size - 1
        statistic, n_adjusted = found.values[:, 0], max(n_tests * n_families, 1)
        by_column = np.argsort(columns, axis=1)
        p_values = chi2.sf(statistic, degrees)
        logarithms = log10_chi2_tail(statistic, degrees) + np.log10(n_adjusted)
        return cls(
            columns=in_three_places(np.take_along_axis(columns, by_column, axis=1)),
            bits=in_three_places(np.take_along_axis(kinds, by_column, axis=1)),
            statistic=statistic,
            p_values=p_values,
            adjusted_p_values=np.minimum(p_values * n_adjusted, 1.0),
            log10_adjusted_p_values=np.minimum(logarithms, 0.0),
            effect=found.values[:, 1:],
            n_tests=n_tests,
            n_significant=found.n_significant,
            degrees_of_freedom=degrees,
            cuts=bits.cuts,
            classes=classes,
            orders=(found.sets.shape[1],),
        )

    def __len__(self) -> int:
        return self.statistic.size

    def __repr__(self) -> str:
        sets = f" ({self.different_sets})" if len(self) else ""
        return f"<Interactions: {self.n_significant:,} of {counted(self.n_tests, 'test')} significant{sets}>"

    @property
    def tested(self) -> str:
        """Kinds of sets that were tested, in words: "pairs", or "pairs and triples"."""
        return " and ".join(f"{NOUNS[order]}s" for order in self.orders)

    @property
    def n_pairs(self) -> int:
        """Number of different pairs of features; a pair may be in the table for several of its bits or labels."""
        return self._count_different(2)

    @property
    def n_triples(self) -> int:
        """Number of different triples of features."""
        return self._count_different(3)

    @property
    def different_sets(self) -> str:
        """The number of different pairs and triples in words: "84 pairs of features"."""
        numbers = {2: self.n_pairs, 3: self.n_triples}
        return f"{' and '.join(counted(n, NOUNS[size]) for size, n in numbers.items() if n)} of features"

    def _count_different(self, size: int) -> int:
        """Count the different sets of so many features."""
        of_size = np.count_nonzero(self.columns != NO_FEATURE, axis=1) == size
        return len(np.unique(self.columns[of_size], axis=0))

    def words(self, row: int) -> str:
        """Describe the effect of one set in words.

        Parameters
        ----------
        row : int
            Number of the set, from 0.

        Returns
        -------
        str
            Such as "high together with high, or low with low: more often in tumour".
        """
        labels = None if self.labels is None else self.labels[row : row + 1]
        return describe_effects(self.bits[row : row + 1], self.effect[row : row + 1], self.classes, labels)[0]

    def of_label(self, label: int) -> Self:
        """Return the sets of one label of an indicator matrix.

        Parameters
        ----------
        label : int
            Column of the indicator matrix.

        Returns
        -------
        Interactions
            Its sets; all sets if there is only one label.
        """
        if self.labels is None:
            return self
        of_label = self.labels == label
        arrays: dict[str, Any] = {name: getattr(self, name)[of_label] for name in OF_SETS}
        n_significant = int(np.count_nonzero(of_label))
        return replace(self, **arrays, labels=self.labels[of_label], n_significant=n_significant)

    def product_terms(
        self, max_per_feature: int = MAX_PER_FEATURE, max_pairs: int = MAX_PAIRS, max_triples: int = MAX_TRIPLES
    ) -> ProductTerms:
        """Choose the strongest sets as terms of the regression by which features are picked.

        Parameters
        ----------
        max_per_feature : int, default=1
            Maximum number of sets of any feature. The strongest sets are chosen first.
        max_pairs, max_triples : int, default=1500 and 500
            Maximum number of sets of two and of three features.

        Returns
        -------
        ProductTerms
            The sets; one that was found for several labels is there once.
        """
        chosen: list[int] = []
        seen: set[tuple[int, ...]] = set()
        uses, left = np.zeros(len(self.cuts) + 1, np.int64), [max_pairs, max_triples]
        for place, (columns, bits) in enumerate(zip(self.columns.tolist(), self.bits.tolist(), strict=True)):
            features, is_triple = [j for j in columns if j != NO_FEATURE], int(columns[-1] != NO_FEATURE)
            key = (*columns, *bits)
            if key in seen or not left[is_triple] or (uses[features] >= max_per_feature).any():
                continue
            seen.add(key)
            uses[features] += 1
            left[is_triple] -= 1
            chosen.append(place)
        return ProductTerms(self.columns[chosen], self.bits[chosen], self.cuts)

    def adjacency(self) -> sparse.csr_array:
        """Return the graph of the significant pairs.

        Returns
        -------
        sparse array of shape (n_features, n_features)
            Symmetric: the statistic of each significant pair of features, the largest one if several pairs of their
            bits are significant; 0 for all other pairs. Triples have no edges.
        """
        is_pair = self.columns[:, 2] == NO_FEATURE
        first, second, value = self.columns[is_pair, 0], self.columns[is_pair, 1], self.statistic[is_pair]
        n = len(self.cuts)
        # The first of equal keys is the strongest, as sets are sorted by strength.
        _, strongest = np.unique(first * n + second, return_index=True)
        i, j, value = first[strongest], second[strongest], value[strongest]
        upper = sparse.csr_array((value, (i, j)), shape=(n, n))
        return sparse.csr_array(upper + upper.T)

    def table(self, names: Sequence[Any] | None = None, classes: Sequence[Any] | None = None) -> InteractionTable:
        """Return the sets as a table, strongest first.

        Parameters
        ----------
        names : sequence, optional
            Names of all columns of X; by default those seen in the search, or x0, x1, ...
        classes : sequence, optional
            Names of the classes, or of the labels of an indicator matrix; those in ``y`` by default.

        Returns
        -------
        InteractionTable
            A dict of columns that can be printed, written as CSV and turned into a data frame: ``rank``, ``features``
            (names), ``column_1`` to ``column_3`` (indices), ``statistic``, ``p_value``, ``adjusted_p_value``,
            ``log10_adjusted_p_value`` and ``effect`` in words.
        """
        names = self.feature_names if names is None else names
        every = [f"x{j}" for j in range(len(self.cuts))] if names is None else names
        features = [" & ".join(str(every[j]) for j in row if j != NO_FEATURE) for row in self.columns.tolist()]
        titles = self.classes if classes is None else np.asarray(classes, dtype=object)
        return InteractionTable(
            {
                "rank": np.arange(1, len(self) + 1),
                "features": np.array(features, dtype=object),
                **{f"column_{place + 1}": self.columns[:, place] for place in range(3)},
                "statistic": self.statistic,
                "p_value": self.p_values,
                "adjusted_p_value": self.adjusted_p_values,
                LOGARITHM: self.log10_adjusted_p_values,
                "effect": np.array(describe_effects(self.bits, self.effect, titles, self.labels), dtype=object),
            }
        )


def in_three_places(sets: NDArray[Any]) -> NDArray[Any]:
    """Fill the third place of pairs."""
    return np.pad(sets, ((0, 0), (0, 3 - sets.shape[1])), constant_values=NO_FEATURE)


def in_one_table(
    each: Sequence[Interactions], labels: Integers | None = None, classes: NDArray[Any] | None = None
) -> Interactions:
    """Put sets of several sizes, or of several labels, into one table, most significant first.

    Parameters
    ----------
    each : sequence of Interactions
        Tables of the same features.
    labels : ndarray of int of shape (n_sets,), optional
        Label of each set, if the tables are of different labels.
    classes : ndarray, optional
        Numbers of all labels.

    Returns
    -------
    Interactions
        All sets, in the order of the logarithms of their adjusted p-values: the p-values themselves may all be 0.
    """
    columns: dict[str, Any] = {name: np.concatenate([getattr(one, name) for one in each]) for name in OF_SETS}
    order = stable_order(-columns["log10_adjusted_p_values"])
    return replace(
        each[0],
        **{name: values[order] for name, values in columns.items()},
        labels=each[0].labels if labels is None else labels[order],
        classes=each[0].classes if classes is None else classes,
        n_tests=sum(one.n_tests for one in each),
        n_significant=sum(one.n_significant for one in each),
        orders=tuple(sorted({order for one in each for order in one.orders})),
    )
