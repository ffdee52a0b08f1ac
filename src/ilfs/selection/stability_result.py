"""The result of `ilfs.selection.stability`: indices, selection frequencies, rank intervals, stability selection."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.parameters import check_choice, check_integer, check_positive
from ilfs.selection.false_positives import ASSUMPTIONS, ROUNDING, Assumption, check_threshold, expected_false_positives
from ilfs.stability_indices import PairwiseIndex, StabilityIndex
from ilfs.text_table import aligned, format_value

ROWS_SHOWN = 10  # of the features, by ``str``
THRESHOLD_SHOWN = 0.75


@dataclass(frozen=True)
class Stability:
    """How much the ``k`` best features change between half-samples of the rows.

    Made by `ilfs.selection.stability`. ``print(result)`` shows the indices and the features chosen most often.

    Parameters
    ----------
    k : int
        Number of features chosen on each half-sample.
    complementary_pairs : bool
        True if half-samples 0 and 1, 2 and 3, ... have no row in common.
    feature_names : ndarray of shape (n_features,)
        Names of the features; x0, x1, ... if they have none.
    order : ndarray of shape (n_features,)
        Column indices by the selector on all rows, best first.
    subsets : ndarray of shape (n_resamples, k)
        Columns chosen on each half-sample, best first.
    selection_frequency : ndarray of shape (n_features,)
        Fraction of the half-samples on which a feature was chosen.
    family_frequency : ndarray of shape (n_features,)
        Fraction of the half-samples on which the feature, or another one of its family, was chosen: a feature whose
        absolute correlation with it is at least ``family_correlation``. NaN for a feature that was never chosen.
    rank_low, rank_median, rank_high : ndarray of shape (n_features,)
        5 %, 50 % and 95 % quantiles of the rank of each feature over the half-samples.
    nogueira : StabilityIndex
        Nogueira's index, with its asymptotic variance.
    kuncheva : PairwiseIndex
        Kuncheva's index. For subsets of one size it is the same number. Its variance is that of the jackknife, which
        leaves out one half-sample, or one pair, at a time. ``kuncheva.chosen_again`` is the mean fraction of the
        features of one half-sample that another one chose, too, and ``kuncheva.by_chance`` that of a random choice.
    families : PairwiseIndex
        The same for families: a feature counts as chosen again if it or one of its family is. A family that is large
        is often chosen by chance, so this index may be smaller than that of features.
    """

    k: int
    complementary_pairs: bool
    feature_names: NDArray[Any]
    order: Integers
    subsets: Integers
    selection_frequency: Floats
    family_frequency: Floats
    rank_low: Floats
    rank_median: Floats
    rank_high: Floats
    nogueira: StabilityIndex
    kuncheva: PairwiseIndex
    families: PairwiseIndex

    @property
    def n_features(self) -> int:
        """Number of features to choose from."""
        return self.order.size

    @property
    def n_resamples(self) -> int:
        """Number of half-samples."""
        return len(self.subsets)

    def expected_false_positives(self, threshold: float, assumption: Assumption | None = None) -> float:
        """Bound the expected number of false positives among the features chosen at least that often.

        A false positive is a feature whose probability of being chosen on a half-sample is at most ``k / n_features``,
        that of a feature chosen at random. See `ilfs.selection.false_positives`.

        Parameters
        ----------
        threshold : float
            Least fraction of the half-samples, more than 1/2 and at most 1.
        assumption : {"unimodal", "r-concave", "none"}, optional
            Assumption about the distribution of the frequencies. By default ``"unimodal"`` with complementary pairs,
            which the first two need, and otherwise ``"none"``.

        Returns
        -------
        float
            The bound.
        """
        chosen = self._assumption(assumption)
        return expected_false_positives(self.n_features, self.k, threshold, self.n_resamples, chosen)

    def selected(
        self,
        threshold: float | None = None,
        *,
        max_false_positives: float | None = None,
        assumption: Assumption | None = None,
    ) -> Integers:
        """Return the features that were chosen often: stability selection.

        Parameters
        ----------
        threshold : float, optional
            Least fraction of the half-samples, more than 1/2 and at most 1.
        max_false_positives : float, optional
            Instead of a threshold: take the smallest one at which ``expected_false_positives`` is at most this.
        assumption : {"unimodal", "r-concave", "none"}, optional
            As for ``expected_false_positives``.

        Returns
        -------
        ndarray of int
            Column indices, most often chosen first; equal frequencies are in the order on all rows.
        """
        if (threshold is None) == (max_false_positives is None):
            raise ValueError("selected needs either threshold or max_false_positives, got both or none")
        if max_false_positives is not None:
            threshold = self.threshold(max_false_positives, assumption)
        assert threshold is not None
        check_threshold(threshold)
        columns = self._by_frequency()
        return columns[self.selection_frequency[columns] >= threshold - ROUNDING / self.n_resamples]

    def threshold(self, max_false_positives: float, assumption: Assumption | None = None) -> float:
        """Return the smallest threshold at which at most this many false positives are expected.

        Parameters
        ----------
        max_false_positives : float
            Bound on the expected number of false positives.
        assumption : {"unimodal", "r-concave", "none"}, optional
            As for ``expected_false_positives``.

        Returns
        -------
        float
            A multiple of one over the number of half-samples, more than 1/2.
        """
        check_positive("max_false_positives", max_false_positives)
        M = self.n_resamples
        counts = range(M // 2 + 1, M + 1)
        bounds = [-self.expected_false_positives(count / M, assumption) for count in counts]  # ascending
        place = bisect_left(bounds, -float(max_false_positives))
        if place == len(bounds):
            raise ValueError(
                f"max_false_positives must be at least {-bounds[-1]:.3g} for k={self.k} of {self.n_features} features "
                f"and {M} half-samples, got {max_false_positives:g}: choose a smaller k"
            )
        return counts[place] / M

    def table(self, top: int | None = None) -> dict[str, NDArray[Any]]:
        """Return the features as columns of a table, most often chosen first.

        ``pandas.DataFrame(result.table())``, or the same with polars, makes a data frame of it.

        Parameters
        ----------
        top : int, optional
            Maximum number of rows; all by default.

        Returns
        -------
        dict of str to ndarray
            ``feature`` (its name), ``column`` (its index), ``rank`` (on all rows), ``selection_frequency``,
            ``family_frequency``, ``rank_low``, ``rank_median`` and ``rank_high``.
        """
        if top is not None:
            check_integer("top", top, 1)
        columns = self._by_frequency()[:top]
        return {
            "feature": self.feature_names[columns],
            "column": columns,
            "rank": self._ranking()[columns],
            "selection_frequency": self.selection_frequency[columns],
            "family_frequency": self.family_frequency[columns],
            "rank_low": self.rank_low[columns],
            "rank_median": self.rank_median[columns],
            "rank_high": self.rank_high[columns],
        }

    def _ranking(self) -> Integers:
        ranking = np.empty_like(self.order)
        ranking[self.order] = np.arange(1, self.n_features + 1)
        return ranking

    def _by_frequency(self) -> Integers:
        return self.order[np.argsort(-self.selection_frequency[self.order], kind="stable")]

    def _assumption(self, assumption: Assumption | None) -> Assumption:
        if assumption is None:
            return "unimodal" if self.complementary_pairs else "none"
        check_choice("assumption", assumption, ASSUMPTIONS)
        if assumption != "none" and not self.complementary_pairs:
            raise ValueError(
                f"assumption={assumption!r} needs complementary pairs of half-samples, got complementary_pairs=False"
            )
        return assumption

    def __str__(self) -> str:
        return stability_text(self)


def stability_text(result: Stability, top: int = ROWS_SHOWN) -> str:
    """Format the indices and the features that were chosen most often as text.

    Parameters
    ----------
    result : Stability
        The result.
    top : int, default=10
        Number of features.

    Returns
    -------
    str
        Two tables and the result of stability selection.
    """
    n_kept = result.selected(THRESHOLD_SHOWN).size
    expected = result.expected_false_positives(THRESHOLD_SHOWN)
    pairs = f", {result.n_resamples // 2} complementary pairs" if result.complementary_pairs else ""
    return "\n".join(
        [
            f"Stability of the {result.k} best of {result.n_features:,} features over {result.n_resamples} half-samples"
            f"{pairs}",
            "",
            *index_lines(result),
            "",
            *feature_lines(result, top),
            "",
            f"Chosen on at least {100 * THRESHOLD_SHOWN:g} % of the half-samples: {n_kept}; "
            f"expected false positives: at most {expected:.2g}",
        ]
    )


def index_lines(result: Stability) -> list[str]:
    """Format the indices. For subsets of one size, Kuncheva's index is the same number as Nogueira's."""
    rows = [
        [name, f"{index.value:.2f}", interval_text(index), f"{pairs.chosen_again:.2f}", f"{pairs.by_chance:.2f}"]
        for name, index, pairs in (
            ("features", result.nogueira, result.kuncheva),
            ("families", result.families, result.families),
        )
    ]
    header = ["", "index", "95 % interval", "chosen again", "by chance"]
    return aligned([header, *rows], [False, True, True, True, True])


def interval_text(index: StabilityIndex) -> str:
    """Format a confidence interval."""
    low, high = index.interval()
    return f"{format_value(low, 2)} to {format_value(high, 2)}"


def feature_lines(result: Stability, top: int) -> list[str]:
    """Format the features that were chosen most often."""
    table = result.table(min(top, int((result.selection_frequency > 0).sum())))
    rows = [
        [str(name), str(rank), f"{often:.2f}", f"{family:.2f}", f"{low:.0f} to {high:.0f}"]
        for name, rank, often, family, low, high in zip(
            *(table[title] for title in ("feature", "rank", "selection_frequency", "family_frequency")),
            table["rank_low"],
            table["rank_high"],
            strict=True,
        )
    ]
    header = ["feature", "rank", "chosen", "family chosen", "ranks, 5 to 95 %"]
    return aligned([header, *rows], [False, True, True, True, True])
