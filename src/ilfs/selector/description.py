"""Description of a fitted selector: the ranking as a table, facts about one feature, and the selection as a file."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from ilfs.arrays import Floats, Integers
from ilfs.effects import NO_CLASS, FeatureProfile
from ilfs.execution import fold_of
from ilfs.explanation import Explanation, Together, class_name, column_of, explain_row
from ilfs.importing import import_object
from ilfs.parameters import check_integer
from ilfs.ranking_table import (
    HIGHER,
    LOWER,
    MEAN_PREFIX,
    RankingTable,
    direction_phrase,
    in_order,
    verdicts,
)
from ilfs.registry import summary_of
from ilfs.selection_files import write_selection
from ilfs.sources import Source, TableSource
from ilfs.statistics.profile import Profile
from ilfs.ties import UNIT_FLOOR, tolerance

NO_COLUMN = -1  # in place of the third feature of a pair
DEFAULT_FDR = 0.05  # of the verdicts, if a selector has q-values and no parameter ``fdr``


class DescribesRanking(SelectorMixin):  # type: ignore[misc]
    """Mixin of selectors: describe the features and their ranking."""

    n_jobs: int | None
    n_features_in_: int
    scores_: Floats
    order_: Integers
    ranking_: Integers

    _reads_labels: ClassVar[bool] = True

    def table(self, top: int | None = None, input_features: Sequence[str] | None = None) -> RankingTable:
        """Return the ranking as a table, best feature first.

        Parameters
        ----------
        top : int, optional
            Maximum number of rows; all by default.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.

        Returns
        -------
        RankingTable
            A dict of columns that can be printed, written as CSV and turned into a data frame; see there for what the
            columns mean.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from ilfs import ILFS
        >>> iris = load_iris()
        >>> selector = ILFS().fit(iris.data, iris.target_names[iris.target])
        >>> table = selector.table(top=2, input_features=iris.feature_names)
        >>> table["feature"].tolist(), table["direction"].tolist()
        (['petal width (cm)', 'petal length (cm)'], ['lower in setosa', 'lower in setosa'])
        """
        check_is_fitted(self)
        if top is not None:
            check_integer("top", top, 1)
        return self._table_of(self.order_[:top].copy(), self._names(input_features))

    def explain(self, feature: str | int, input_features: Sequence[str] | None = None) -> Explanation:
        """Explain why a feature is ranked where it is, in numbers and in one paragraph.

        Parameters
        ----------
        feature : str or int
            Name or column index.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.

        Returns
        -------
        Explanation
            The numbers as attributes; ``print`` shows the paragraph.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from ilfs import FisherScore
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> labels = y.map({0: "malignant", 1: "benign"})
        >>> why = FisherScore(5).fit(X, labels).explain("mean radius")
        >>> why.rank, why.direction, round(why.effect, 2), why.is_selected
        (7, 'higher in malignant', 2.21, False)
        >>> print(why)
        mean radius is ranked 7th of 30 features by FisherScore, and is not selected. FisherScore looks for features
        whose class means are far apart compared with the spread within classes. Its score is 1.14; the largest is
        1.7. It is higher in malignant (17.5 on average) than in benign (12.1). The difference is 2.21 standard
        deviations of a class (a factor of 1.44, if the values are not logarithms).
        """
        check_is_fitted(self)
        names = self._names(input_features)
        column = column_of(feature, names)
        return explain_row(self._table_of(np.array([column]), names), self._facts(column, names))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the selection to a small JSON file, for use elsewhere.

        It holds the method with its parameters, and names, order, scores and p-values of all features, but no data. The
        file appears complete or not at all; several threads or processes may write to one path. 100,000 features take
        5 to 13 MB. Numbers are exact; NaN and infinity are written as text.

        Parameters
        ----------
        path : path-like
            The file to write; its folder must exist.

        See Also
        --------
        ilfs.load : Read the selection.

        Examples
        --------
        >>> import tempfile
        >>> import ilfs
        >>> selector = ilfs.FisherScore(1).fit([[0.0, 3], [1, 5], [4, 4], [5, 3]], [0, 0, 1, 1])
        >>> path = tempfile.mkdtemp() + "/selection.json"
        >>> selector.save(path)
        >>> ilfs.load(path).transform([[7.0, 8.0]])
        array([[7.]])
        """
        check_is_fitted(self)
        method, parameters = self._description()
        names = getattr(self, "feature_names_in_", None)
        fields = {
            "method": method,
            "parameters": parameters,
            "n_features": self.n_features_in_,
            "feature_names": None if names is None else [str(name) for name in names],
            "target": getattr(self, "target_name_", None),
            "classes": getattr(self, "classes_", None),
            "selected": np.flatnonzero(self._get_support_mask()),
            "order": self.order_,
            "scores": self.scores_,
            "columns": self._further_columns(self._names(None)),
        }
        write_selection(path, fields)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        y: Any = None,
        *,
        input_features: Sequence[str] | None = None,
        title: str | None = None,
        **details: Any,
    ) -> Path:
        """Write the result as one HTML file that needs no network, to read or to send to somebody.

        Parameters
        ----------
        path : path-like
            The file to write, such as ``"genes.html"``; its folder must exist.
        X : table, Source or path-like, optional
            The table of the fit. If it is given, the page also shows the values of the best 200 features, and contains
            them.
        y : array or str, optional
            Labels of X, or the name of their column; not if X is a source.
        input_features : sequence of str, optional
            Names of the columns, if ``fit`` did not see them.
        title : str, optional
            Title of the page.
        **details : object
            Further arguments of `ilfs.report.write_page`, such as ``stability``.

        Returns
        -------
        Path
            The file written.

        See Also
        --------
        ilfs.report.write_page : The same as a function.

        Examples
        --------
        >>> import tempfile
        >>> from sklearn.datasets import load_wine
        >>> from ilfs import ILFS
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> ILFS(3).fit(X, y).report(tempfile.mkdtemp() + "/wine.html", X, y).name
        'wine.html'
        """
        write_page = import_object("ilfs.report.write_page")
        written: Path = write_page(self, path, X, y, input_features=input_features, title=title, **details)
        return written

    @property
    def plot(self) -> Any:
        """Pictures of the fitted selector (`ilfs.report.plots.SelectorPlots`): ``selector.plot.scores()``."""
        # By name, because reports are a layer above the selectors. matplotlib is imported when a picture is drawn.
        return import_object("ilfs.report.plots.SelectorPlots")(self)

    @property
    def _repr_html_(self) -> Any:
        diagram = super()._repr_html_  # raises an AttributeError if scikit-learn is set to display text
        return lambda: self._ranking_html() or diagram()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        page = self._ranking_html() if "text/html" in bundle else None
        return bundle if page is None else bundle | {"text/html": page}

    def _ranking_html(self) -> str | None:
        """Format the top of the ranking for a notebook; None if the selector is not fitted."""
        if not hasattr(self, "order_"):
            return None
        try:
            return str(import_object("ilfs.report.notebook.selector_html")(self))
        except ValueError:  # parameters were changed since the fit, so that nothing is selected
            return None

    # Columns of the table, and facts about a feature

    def _table_of(self, columns: Integers, names: NDArray[Any]) -> RankingTable:
        """Make a table of some columns."""
        every = {"rank": self.ranking_, "feature": names, "score": self.scores_} | self._further_columns(names)
        found = {"column": columns} | {title: values[columns] for title, values in every.items()}
        return RankingTable(in_order(found))

    def _further_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return all columns of the table besides rank, name, index and score, with a value for each feature."""
        chosen = {"selected": self._get_support_mask()} if self._finds_size() else {}
        return self._more_columns(names) | self._tested_columns() | chosen | profile_columns(self._found_profile())

    def _more_columns(self, names: NDArray[Any]) -> dict[str, NDArray[Any]]:  # noqa: ARG002
        """Return further columns of the ranking table: titles and arrays of shape (n_features,)."""
        return {}

    def _tested_columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns that tell how sure the result is, as far as they were computed."""
        attributes = {"p_value": "p_values_", "q_value": "q_values_", "selection_frequency": "selection_frequency_"}
        found = {title: getattr(self, name) for title, name in attributes.items() if hasattr(self, name)}
        if "q_value" not in found:
            return found
        fdr = getattr(self, "fdr", DEFAULT_FDR)
        return found | {"verdict": verdicts(found["q_value"], fdr, found.get("selection_frequency"))}

    def _facts(self, column: int, names: NDArray[Any]) -> dict[str, Any]:
        """Return the fields of `Explanation` that the ranking table does not have."""
        facts: dict[str, Any] = {
            "n_features": self.n_features_in_,
            "is_selected": bool(self.get_support()[column]),
            "is_kept": column in self._forced().tolist(),
            "method": self._description()[0],
            "looks_for": summary_of(self._description()[0]),
            "largest_score": float(self.scores_[self.order_[0]]),
        }
        if hasattr(self, "q_values_"):
            facts["fdr"] = getattr(self, "fdr", DEFAULT_FDR)
        if hasattr(self, "relevance_"):
            above = self.relevance_ - self.relevance_[column] > tolerance(self.relevance_[column], UNIT_FLOOR)
            facts["relevance_rank"] = 1 + int(np.count_nonzero(above))
        return facts | self._shape_facts(column) | self._partner_facts(column, names)

    def _shape_facts(self, column: int) -> dict[str, Any]:
        """Return what part of a gain comes from the shape of a feature, and the class in which it is spread most."""
        of_shape, gain, profile = (
            getattr(self, "shape_gain_", None),
            getattr(self, "gain_", None),
            self._found_profile(),
        )
        if of_shape is None or gain is None or not gain[column].sum() > 0:
            return {}
        fraction = float(of_shape[column].sum() / gain[column].sum())
        if profile is None or profile.widest is None or profile.labels is None or profile.widest[column] == NO_CLASS:
            return {"shape_fraction": fraction}
        return {"shape_fraction": fraction, "widest": str(profile.labels[profile.widest[column]])}

    def _partner_facts(self, column: int, names: NDArray[Any]) -> dict[str, Any]:
        """Return the sets in which a feature tells the class, if the method has searched for interactions."""
        if not hasattr(self, "interactions_"):
            return {}
        found = self.interactions_
        described = replace(found, classes=np.array([class_name(str(one)) for one in found.classes], dtype=object))
        rows = np.flatnonzero((found.columns == column).any(axis=1))
        _, strongest = np.unique(found.columns[rows], axis=0, return_index=True)  # sets are sorted by strength
        picked_for, at_once = self._set_of_pick(column) if rows.size else ((), False)
        together = []
        for row in np.sort(rows[strongest]).tolist():
            columns = [one for one in found.columns[row].tolist() if one != NO_COLUMN]
            others, is_reason = [one for one in columns if one != column], {*columns} == {column, *picked_for}
            words = with_names(described.words(row), found.bits[row].tolist(), [str(names[one]) for one in columns])
            together.append(
                Together(
                    tuple(str(names[one]) for one in others),
                    words,
                    float(found.adjusted_p_values[row]),
                    is_reason,
                    is_reason and at_once,
                )
            )
        return {"works_with": tuple(together)}

    def _set_of_pick(self, column: int) -> tuple[tuple[int, ...], bool]:
        """Find the set whose product entered the regression with the pick of a feature.

        Returns
        -------
        others : tuple of int
            Columns of the other features of the set; none if the feature was picked alone, or not at all.
        at_once : bool
            Some of them were picked in the same step.
        """
        if not hasattr(self, "gain_") or not self.scores_[column] > 0:
            return (), False
        sets = self.interactions_.product_terms().columns
        own = sets[(sets == column).any(axis=1)]  # at most one: a feature is in the product of its strongest set only
        others = [one for one in own.ravel().tolist() if one not in (column, NO_COLUMN)]
        step = steps_together(self.order_, self.scores_, self.ranking_[column] - 1, {column, *others})
        is_last = all(self.ranking_[one] < self.ranking_[column] or one in step for one in others)
        return (tuple(others), len(step) > 1) if others and is_last else ((), False)

    def _description(self) -> tuple[str, dict[str, Any]]:
        """Return the name of the method and its parameters."""
        return type(self).__name__, self.get_params(deep=False)

    # Profile of the features

    def _found_profile(self) -> FeatureProfile | None:
        """Return the profile of the features: the selector's own, or that of the selector it wraps."""
        own = getattr(self, "profile_", None)
        return own if own is not None else getattr(getattr(self, "selector_", None), "profile_", None)

    def _profile_table(self, source: Source) -> None:
        """Describe the features of a table in memory, unless the method has done so with its own statistics."""
        if not isinstance(source, TableSource):
            return
        has_classes = self._reads_labels and self._n_labels(source.labellings) == 1
        found = self._found_profile()
        if found is not None and (found.labels is not None or not has_classes):
            return
        fold = fold_of(source, self.n_jobs)
        profile = fold(Profile(), labelling=0 if has_classes else None)
        self.profile_ = FeatureProfile.from_statistics(profile, fold.classes if has_classes else fold.all_rows)


def profile_columns(profile: FeatureProfile | None) -> dict[str, NDArray[Any]]:
    """Return the columns of a ranking table that describe the features."""
    if profile is None:
        return {}
    found = {"missing": profile.missing, "nonzero": profile.nonzero}
    if profile.labels is None or profile.named is None or profile.effect is None:
        return found
    labels = [str(label) for label in profile.labels.tolist()]
    found |= {"direction": direction_phrases(profile.named, profile.effect, labels), "effect": profile.effect}
    if profile.fold_change is not None:
        found["log2_fold_change"] = profile.fold_change
    means = () if profile.means is None else zip(labels, profile.means, strict=True)
    return found | {f"{MEAN_PREFIX}{label}": mean for label, mean in means}


def steps_together(order: Integers, scores: Floats, place: int, members: set[int]) -> set[int]:
    """Return the columns picked in one step with the one at a place: neighbours in the set, with the same score."""
    step = {int(order[place])}
    for towards in (-1, 1):
        near = place + towards
        while 0 <= near < order.size and int(order[near]) in members and scores[order[near]] == scores[order[place]]:
            step.add(int(order[near]))
            near += towards
    return step


def with_names(words: str, bits: Sequence[int], names: Sequence[str]) -> str:
    """Say which feature of a pair is high and which is extreme, if its two bits are of different kinds.

    Examples
    --------
    >>> from ilfs.selector.description import with_names
    >>> with_names("high together with extreme, or low with moderate: more often in a", (0, 1, -1), ("x3", "x7"))
    'x3 high together with x7 extreme, or low with moderate: more often in a'
    """
    if len(names) > 2 or bits[0] == bits[1]:
        return words
    first, second = names
    return f"{first} {words.replace(' together with ', f' together with {second} ', 1)}"


def direction_phrases(named: NDArray[np.bool_], effect: Floats, labels: Sequence[str]) -> NDArray[Any]:
    """Say in which classes each feature is higher or lower than in the others."""
    is_low = (effect < 0) & (len(labels) > 2)  # of two classes, the one with the larger mean is named
    kinds, kind_of = np.unique(np.vstack([is_low, named]), axis=1, return_inverse=True)
    phrases = [
        direction_phrase(LOWER if kind[0] else HIGHER, [labels[k] for k in np.flatnonzero(kind[1:]).tolist()])
        for kind in kinds.T
    ]
    return np.array(phrases)[kind_of.ravel()]
