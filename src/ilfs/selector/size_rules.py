"""Number of features to select: an integer, a fraction, half of them, or a rule that finds it."""

from functools import partial
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin

from ilfs.arrays import Integers
from ilfs.choices import DEFAULT_FOLDS
from ilfs.must_keep import forced_columns
from ilfs.parameters import is_fraction, is_integer
from ilfs.registry import classes_with
from ilfs.sources import Source, TableSource
from ilfs.warn import warn

# Rules for the number of features, and what a method lacks that does not have the rule.
RULES = {
    "fdr": "needs p-values, which {name} does not have: give a number, or use a method that has them ({with_null})",
    "auto": "cross-validates a classifier, but {name} reads no labels: give a number, or wrap the method in "
    "ilfs.selection.SizeCV",
    "absorption": "needs the random walk of ILFS, which {name} does not have: give a number, or use ILFS",
}


class SizeRules(SelectorMixin):  # type: ignore[misc]
    """Mixin of selectors: validate and resolve ``n_features_to_select`` and ``must_keep``."""

    n_features_to_select: int | float | str | None
    n_features_in_: int

    _reads_labels: ClassVar[bool] = True
    _has_null: ClassVar[bool] = False  # has p-values by permutations of the labels
    _has_walk: ClassVar[bool] = False  # has a random walk, and so the rule "absorption"

    @property
    def _rules(self) -> list[str]:
        """Return the rules for the number of features that the method has."""
        has = {"fdr": self._has_null, "auto": self._reads_labels, "absorption": self._has_walk}
        return [rule for rule in RULES if has[rule]]

    def _uses_rule(self, rule: str) -> bool:
        k: Any = getattr(self, "n_features_to_select", None)  # searches of `ilfs.selection` have no such parameter
        return isinstance(k, str) and k == rule

    def _finds_size(self) -> bool:
        """Return True if a rule has chosen the features, which need not be the first of the order."""
        return isinstance(getattr(self, "n_features_to_select", None), str)

    def _check_size(self) -> None:
        """Validate ``n_features_to_select``."""
        k: Any = self.n_features_to_select
        self._check_rule(k)
        is_rule = isinstance(k, str) and k in self._rules
        if not (k is None or is_rule or (is_integer(k) and k >= 1) or is_fraction(k)):
            rules = "".join(f", {rule!r}" for rule in self._rules)
            raise ValueError(
                f"n_features_to_select must be an integer >= 1, a fraction in (0, 1] (1.0: all){rules} or None (half), "
                f"got {k!r}"
            )

    def _check_rule(self, k: Any) -> None:
        """Raise if the number of features is to be found by a rule that the method does not have."""
        if isinstance(k, str) and k in RULES and k not in self._rules:
            reason = RULES[k].format(name=type(self).__name__, with_null=classes_with("null"))
            raise ValueError(f"n_features_to_select={k!r} {reason}")

    def _check_source_for_rule(self, source: Source) -> None:
        """Raise if the number of features is to be found by cross-validation of rows that are not in memory."""
        if self._uses_rule("auto") and not isinstance(source, TableSource):
            others = ", ".join(["a number", *(repr(rule) for rule in self._rules if rule != "auto")])
            raise TypeError(
                "n_features_to_select='auto' needs all rows in memory, since it fits the method and a classifier on "
                f"several sets of rows: load the table if it fits, or give {others}"
            )

    def _begin_folds(self) -> None:
        """Begin the progress of a fit whose ranking is followed by the folds of the rule "auto"."""
        if self._uses_rule("auto"):
            self._begin_with_ranking(DEFAULT_FOLDS)

    def _cross_validate_size(self, source: Source, groups: ArrayLike | None) -> None:
        """Set the number of features by the rule "auto"."""
        from ilfs.cross_validation import Samples, size_by_cross_validation  # imports much of scikit-learn

        assert isinstance(source, TableSource)
        samples = Samples.from_source(source)
        folds = partial(self._later_steps, name="fold")
        size, results = size_by_cross_validation(self._clone_for_folds(), samples, groups, folds)
        for one in (self, *getattr(self, "per_label_", {}).values()):
            one.n_features_, one.cv_results_ = size, results

    def _clone_for_folds(self) -> Self:
        """Return an unfitted selector that orders the features in a fold."""
        one: Self = self._with_positions(clone(self).set_params(n_features_to_select=None))
        one.set_callbacks()  # a fold is one step: callbacks are not told of the steps inside it
        return one

    def _fixed_size(self) -> int | None:
        """Return the number of features to keep; None if ``fit`` finds it, and all of ``must_keep`` are added to it."""
        k = self.n_features_to_select
        return None if isinstance(k, str) else n_selected(k, self.n_features_in_)

    def _n_selected(self) -> int:
        """Return the number of features to keep."""
        k = self.n_features_to_select
        if not isinstance(k, str):
            return n_selected(k, self.n_features_in_)
        # A method that needs a number during the fit, before the rule has found one, takes half of the features.
        return int(getattr(self, "n_features_", n_selected(None, self.n_features_in_)))

    def _warn_of_size(self) -> None:
        k: Any = self.n_features_to_select
        if is_integer(k) and k > self.n_features_in_:
            warn(f"n_features_to_select={k} is more than the {self.n_features_in_} features of X: all are kept")

    # Features that must be kept

    def _forced(self) -> Integers:
        """Return the columns of ``must_keep``, which some meta-selectors do not have."""
        names = getattr(self, "feature_names_in_", None)
        return forced_columns(getattr(self, "must_keep", None), self.n_features_in_, names)

    def _check_must_keep(self) -> None:
        """Raise if ``must_keep`` names unknown columns, or more than are to be selected."""
        n_forced, n_kept = self._forced().size, self._fixed_size()
        if n_kept is not None and n_forced > n_kept:
            raise ValueError(
                f"must_keep must not hold more features than are selected, got {n_forced} and "
                f"n_features_to_select={self.n_features_to_select!r}, which selects {n_kept} of {self.n_features_in_}"
            )

    def _with_positions(self, selector: Any) -> Any:
        """Return another selector for the columns without their names: its ``must_keep`` holds positions."""
        must_keep = getattr(selector, "must_keep", None)
        if must_keep is None or not isinstance(selector, SizeRules):
            return selector
        names = getattr(self, "feature_names_in_", None)
        return clone(selector).set_params(must_keep=forced_columns(must_keep, self.n_features_in_, names).tolist())


def n_selected(wanted: int | float | None, n_features: int) -> int:
    """Convert a number, a fraction or None (half) to a number of features."""
    if wanted is None:
        return max(1, n_features // 2)
    if is_integer(wanted):
        return int(min(wanted, n_features))
    return max(1, int(wanted * n_features + 1e-9))  # rounding: 0.29 * 100 is 28.999...
