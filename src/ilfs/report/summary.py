"""The result of a ranking as plain data, from which a page is made.

`summarise_ranking` reads a fitted selector, and a table if one is given. Nothing here is text of a page: sentences,
charts and HTML are made from the summary in `ilfs.report.page`.
"""

import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ilfs import __version__
from ilfs.arrays import Floats, Integers
from ilfs.must_keep import forced_columns
from ilfs.null import NullCurve
from ilfs.ranking_table import CONFIRMED, IN, MEAN_PREFIX, RankingTable, in_order
from ilfs.registry import list_methods
from ilfs.report.class_values import ClassValues, CorrelationMap, class_values, correlation_map, read_rows
from ilfs.report.interactions.pairs import pictured_columns, with_values
from ilfs.report.interactions.summary import InteractionSummary, ranks_of, summarise_interactions
from ilfs.selection.stability_result import Stability
from ilfs.selector import RankingSelector

N_WITH_VALUES = 200  # best features whose values are kept
MAX_CORRELATED = 60  # selected features in the map of correlations
CITED_PACKAGES = ("numpy", "scipy", "scikit-learn")  # whose versions are given


@dataclass(frozen=True)
class MethodSummary:
    """The method, for a description that lets others repeat the ranking.

    Parameters
    ----------
    name : str
        Class name.
    inner : tuple of str
        Class names of the selectors that it wraps, from outside to inside.
    title, looks_for, reference : str
        Full name, one line and publication, of the innermost method that is in the registry; empty if none is.
    call : str
        The selector as Python code, with the parameters that are not the defaults.
    parameters : dict of str to str
        All parameters, formatted.
    reads_labels : bool
        The method uses the labels.
    versions : dict of str to str
        Versions of Python and the main packages.
    """

    name: str
    inner: tuple[str, ...]
    title: str
    looks_for: str
    reference: str
    call: str
    parameters: dict[str, str]
    reads_labels: bool
    versions: dict[str, str]


@dataclass(frozen=True)
class Certainty:
    """Result of the test against permuted labels.

    Parameters
    ----------
    is_better : bool
        The best features are better than under permuted labels.
    p_value : float
        p-value of this comparison.
    n_permutations : int
        Number of permutations; 0 if it is not known.
    fdr : float
        Level of the test and false discovery rate of the verdicts.
    n_confirmed : int
        Number of features whose verdict is confirmed.
    bound : float or None
        Upper bound on the proportion of false discoveries among the selected features, if it was computed.
    """

    is_better: bool
    p_value: float
    n_permutations: int
    fdr: float
    n_confirmed: int
    bound: float | None


@dataclass(frozen=True)
class SizeCurve:
    """Performance against number of features, by cross-validation.

    Parameters
    ----------
    sizes, mean, error : ndarray of shape (n_sizes,)
        Numbers of features, mean score over the folds, and its standard error (NaN for one fold).
    chosen : int
        The number that was chosen.
    """

    sizes: Integers
    mean: Floats
    error: Floats
    chosen: int


@dataclass(frozen=True)
class TokenSummary:
    """How well each feature represents the samples, for ILFS.

    Parameters
    ----------
    edges : ndarray of shape (n_tokens + 1,)
        Edges of the intervals of the evidence.
    topics : ndarray of shape (2, n_tokens)
        Token distributions of relevancy and irrelevancy.
    fractions : ndarray of shape (n_features, n_tokens)
        Fraction of the samples in each interval, best feature first; NaN for an uninformative feature.
    """

    edges: Floats
    topics: Floats
    fractions: Floats


@dataclass(frozen=True)
class RankingSummary:
    """The result of a ranking. All arrays of features are in the order of the ranking, best first.

    Parameters
    ----------
    title : str
        Title of the page.
    input_name : str or None
        The table, such as the name of its file.
    target : str or None
        Name of the column of the labels.
    method : MethodSummary
        The method with its parameters.
    table : RankingTable
        All columns of the ranking.
    class_labels : tuple of str
        Labels; empty for a method that reads none, or for several labels.
    selected : ndarray of bool of shape (n_features,)
        Selected features.
    rule : int, float, str or None
        ``n_features_to_select``, or "search" if another class has chosen the number.
    nearest : ndarray of int of shape (n_features,), optional
        Rank minus 1 of the nearest better feature; -1 if there is none.
    certainty : Certainty, optional
        Result of the test against permuted labels.
    null_curve : NullCurve, optional
        Largest statistics under permuted labels.
    sizes : SizeCurve, optional
        Performance against number of features.
    tokens : TokenSummary, optional
        Tokens of ILFS.
    values : ClassValues, optional
        Values of the best features.
    valued : ndarray of int, optional
        Ranks minus 1 of the features whose values are kept.
    correlations : CorrelationMap, optional
        Correlations of the selected features; its columns are ranks minus 1.
    stability : Stability, optional
        Result of `ilfs.selection.stability`.
    command : str or None
        Command that repeats the ranking.
    set_aside : tuple of (str, str)
        Columns that are no features, and why.
    warnings : tuple of str
        Sentences on what makes the result doubtful, such as a feature that repeats the classes.
    notes : tuple of str
        Further sentences.
    forced : tuple of int
        Ranks minus 1 of the features of ``must_keep``.
    preparation : str or None
        Python expression that prepares the table, such as ``prepare("table.csv")``.
    interactions : InteractionSummary, optional
        Significant pairs and triples, if the selector has searched for them.
    shape_fraction : ndarray of shape (n_features,), optional
        Fraction of what each feature added that comes from the spread of its values; 0 for a feature that was not
        picked.
    """

    title: str
    input_name: str | None
    target: str | None
    method: MethodSummary
    table: RankingTable
    class_labels: tuple[str, ...]
    selected: NDArray[np.bool_]
    rule: int | float | str | None
    nearest: Integers | None = None
    certainty: Certainty | None = None
    null_curve: NullCurve | None = None
    sizes: SizeCurve | None = None
    tokens: TokenSummary | None = None
    values: ClassValues | None = None
    valued: Integers | None = None
    correlations: CorrelationMap | None = None
    stability: Stability | None = None
    command: str | None = None
    set_aside: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    forced: tuple[int, ...] = ()
    preparation: str | None = None
    interactions: InteractionSummary | None = None
    shape_fraction: Floats | None = None

    @property
    def names(self) -> NDArray[Any]:
        """Names of the features, best first."""
        return self.table["feature"]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.names.size

    @property
    def n_selected(self) -> int:
        """Number of selected features."""
        return int(np.count_nonzero(self.selected))

    @property
    def n_by_q_value(self) -> int:
        """Number of selected features whose q-value is small enough, without those that are kept in any case."""
        if self.certainty is None or "q_value" not in self.table:
            return self.n_selected
        return int(np.count_nonzero(self.selected & (self.table["q_value"] <= self.certainty.fdr)))


def summarise_ranking(
    selector: RankingSelector,
    X: Any = None,
    y: Any = None,
    *,
    input_features: Sequence[str] | None = None,
    title: str | None = None,
    command: str | None = None,
    input_name: str | None = None,
    set_aside: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
    notes: Sequence[str] = (),
    stability: Stability | None = None,
    preparation: str | None = None,
) -> RankingSummary:
    """Collect the result of a fitted selector.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    X : table, Source or path-like, optional
        The table of the fit, from which the values of the best features and the correlations of the selected ones are
        read: one pass over at most `N_WITH_VALUES` + `MAX_CORRELATED` columns.
    y : array or str, optional
        Labels of X, or the name of their column; not if X is a source.
    input_features : sequence of str, optional
        Names of the columns, if ``fit`` did not see them.
    title, command, input_name : str, optional
        Title of the page, command that repeats the ranking, and name of the table.
    set_aside : sequence of (str, str), default=()
        Columns that are no features, and why.
    warnings : sequence of str, default=()
        Sentences on what makes the result doubtful.
    notes : sequence of str, default=()
        Further sentences.
    stability : Stability, optional
        Result of `ilfs.selection.stability` for the same features.
    preparation : str, optional
        Python expression that prepares the table.

    Returns
    -------
    RankingSummary
        Plain data.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ilfs import FisherScore
    >>> from ilfs.report.summary import summarise_ranking
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> summary = summarise_ranking(FisherScore(2).fit(X, y), X, y)
    >>> summary.names[:2].tolist(), summary.n_selected, summary.values.class_rows
    (['flavanoids', 'proline'], 2, (59, 71, 48))
    """
    check_is_fitted(selector)
    check_stability(selector, stability)
    selected = selector.get_support()[selector.order_]
    values, valued, correlated = values_of(selector, X, y, selected)
    target = getattr(selector, "target_name_", None) or (y if isinstance(y, str) else None)
    return RankingSummary(
        title=title or default_title(input_name),
        input_name=input_name,
        target=None if target is None else str(target),
        method=method_summary(selector),
        table=full_table(selector, input_features),
        class_labels=class_labels(selector),
        selected=selected,
        rule=selector.n_features_to_select if hasattr(selector, "n_features_to_select") else "search",
        nearest=nearest_ranks(selector),
        certainty=certainty_of(selector),
        null_curve=attribute(selector, "null_curve_"),
        sizes=size_curve(selector),
        tokens=tokens_of(selector),
        values=values,
        valued=valued,
        correlations=correlated,
        stability=stability,
        command=command,
        set_aside=tuple((str(name), str(reason)) for name, reason in set_aside),
        warnings=tuple(map(str, warnings)),
        notes=tuple(map(str, notes)),
        forced=forced_places(selector),
        preparation=preparation,
        interactions=interactions_with_values(selector, X, y, input_features, values),
        shape_fraction=shape_fractions(selector),
    )


def interactions_with_values(
    selector: RankingSelector, X: Any, y: Any, input_features: Sequence[str] | None, values: ClassValues | None
) -> InteractionSummary | None:
    """Describe the interactions, with the values of the strongest pairs if a table is given."""
    found = interactions_of(selector, input_features, None if values is None else values.class_rows)
    if found is None or X is None or not (columns := pictured_columns(found)).size:
        return found
    rows = read_rows(selector, X, y, columns)
    return found if rows is None else with_values(found, rows)


def shape_fractions(selector: RankingSelector) -> Floats | None:
    """Return which fraction of its gain each feature has from the spread of its values, best feature first."""
    of_shape, gain = attribute(selector, "shape_gain_"), attribute(selector, "gain_")
    if of_shape is None or gain is None:
        return None
    total = gain.sum(axis=1)[selector.order_]
    part = of_shape.sum(axis=1)[selector.order_]
    return np.asarray(np.divide(part, total, out=np.zeros_like(part), where=total > 0))


def default_title(input_name: str | None) -> str:
    """Return the title of a page for a table."""
    return "Feature ranking" if input_name is None else f"Feature ranking of {input_name}"


def full_table(selector: RankingSelector, input_features: Sequence[str] | None) -> RankingTable:
    """Return the ranking with the columns of the wrapped selectors, such as their relevance."""
    table = dict(selector.table(input_features=input_features))
    names = selector._names(input_features)
    for inner in list(chain(selector))[1:]:
        if isinstance(inner, RankingSelector):
            more = {title: values[selector.order_] for title, values in inner._further_columns(names).items()}
            table = more | table
    return RankingTable(in_order(table))


def check_stability(selector: RankingSelector, stability: Stability | None) -> None:
    """Raise if the stability is that of another table."""
    if stability is not None and stability.n_features != selector.n_features_in_:
        raise ValueError(
            f"stability must be that of the {selector.n_features_in_:,} features of the selector, got "
            f"{stability.n_features:,} features"
        )


def chain(selector: Any) -> Iterator[Any]:
    """Iterate over a selector and the fitted selectors that it wraps, from outside to inside."""
    while selector is not None:
        yield selector
        selector = getattr(selector, "selector_", None)


def attribute(selector: Any, name: str) -> Any:
    """Return a fitted attribute of a selector or of one that it wraps; None if there is none."""
    return next((vars(one)[name] for one in chain(selector) if name in vars(one)), None)


def method_summary(selector: RankingSelector) -> MethodSummary:
    """Describe the method of a selector."""
    name, parameters = selector._description()
    inner = tuple(type(one).__name__ for one in list(chain(selector))[1:])
    known = {method.class_name: method for method in list_methods()}
    record = next((known[one] for one in reversed((name, *inner)) if one in known), None)
    return MethodSummary(
        name=name,
        inner=inner,
        title=record.title if record else "",
        looks_for=record.summary if record else "",
        reference=record.reference if record else "",
        call=call_text(selector, name, parameters),
        parameters={key: short_repr(value) for key, value in parameters.items()},
        reads_labels=bool(selector._reads_labels) or "direction" in selector._further_columns(selector._names(None)),
        versions=package_versions(),
    )


def call_text(selector: RankingSelector, name: str, parameters: dict[str, Any]) -> str:
    """Format a selector as Python code; a loaded selection as the call of the method that was saved."""
    if type(selector).__name__ == name:
        return " ".join(BaseEstimator.__repr__(selector, N_CHAR_MAX=2000).split())
    return f"{name}({', '.join(f'{key}={short_repr(value)}' for key, value in parameters.items())})"


def short_repr(value: Any, max_letters: int = 200) -> str:
    """Format a parameter in one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= max_letters else f"{text[:max_letters]}..."


def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the main packages."""
    found = {"ilfs": __version__, "Python": platform.python_version()}
    for package in CITED_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # installed without metadata
            continue
    return found


def class_labels(selector: RankingSelector) -> tuple[str, ...]:
    """Return the labels of the classes, or those of the class means of a loaded selection."""
    profile = next((one.profile_ for one in chain(selector) if hasattr(one, "profile_")), None)
    if profile is not None and profile.labels is not None:
        return tuple(str(label) for label in profile.labels.tolist())
    columns = selector._further_columns(selector._names(None))
    means = [title.removeprefix(MEAN_PREFIX) for title in columns if title.startswith(MEAN_PREFIX)]
    if means or "direction" not in columns:
        return tuple(means)
    return tuple(sorted({phrase.partition(IN)[2] for phrase in columns["direction"].tolist()} - {""}))


def nearest_ranks(selector: RankingSelector) -> Integers | None:
    """Return the place in the ranking of the nearest better feature of each feature; -1 if there is none."""
    nearest = attribute(selector, "nearest_")
    if nearest is None:
        return None
    place = selector.ranking_ - 1
    found: Integers = np.where(nearest >= 0, place[nearest], -1)[selector.order_]
    return found


def certainty_of(selector: RankingSelector) -> Certainty | None:
    """Return the result of the test against permuted labels, if it was made."""
    p_value = attribute(selector, "chance_p_value_")
    if p_value is None:
        return None
    verdict = selector._further_columns(selector._names(None)).get("verdict")
    return Certainty(
        is_better=bool(attribute(selector, "is_better_than_chance_")),
        p_value=float(p_value),
        n_permutations=int(attribute(selector, "n_permutations_") or 0),
        fdr=float(next((one.fdr for one in chain(selector) if hasattr(one, "fdr")), 0.05)),
        n_confirmed=0 if verdict is None else int(np.count_nonzero(verdict == CONFIRMED)),
        bound=attribute(selector, "false_discovery_bound_"),
    )


def forced_places(selector: RankingSelector) -> tuple[int, ...]:
    """Return the places in the ranking of the features of ``must_keep``, also those of a loaded selection."""
    names = getattr(selector, "feature_names_in_", None)
    columns = forced_columns(selector._description()[1].get("must_keep"), selector.n_features_in_, names)
    return tuple((selector.ranking_[columns] - 1).tolist())


def size_curve(selector: RankingSelector) -> SizeCurve | None:
    """Return performance against number of features, if it was computed for the best configuration."""
    results = attribute(selector, "cv_results_")
    if results is None or "n_features" not in results:
        return None
    sizes, mean, error = (np.asarray(results[key]) for key in ("n_features", "mean_test_score", "std_error"))
    best = np.array([np.flatnonzero(sizes == size)[np.argmax(mean[sizes == size])] for size in np.unique(sizes)])
    chosen = int(attribute(selector, "n_features_") or 0)
    return SizeCurve(sizes[best], mean[best], error[best], chosen)


def interactions_of(
    selector: RankingSelector, input_features: Sequence[str] | None = None, class_rows: Sequence[int] | None = None
) -> InteractionSummary | None:
    """Describe the interactions that a selector has found; None if it has not searched for them.

    Parameters
    ----------
    selector : RankingSelector
        A fitted selector.
    input_features : sequence of str, optional
        Names of the columns, if ``fit`` did not see them.
    class_rows : sequence of int, optional
        Number of rows of each class, for the power of the search.

    Returns
    -------
    InteractionSummary or None
        Plain data.
    """
    found = attribute(selector, "interactions_")
    if found is None:
        return None
    relevance = attribute(selector, "relevance_")
    sizes = None if class_rows is None or len(class_rows) != found.classes.size else np.asarray(class_rows)
    return summarise_interactions(
        found,
        names=selector._names(input_features).tolist(),
        class_sizes=sizes,
        ranks_alone=None if relevance is None else ranks_of(relevance),
    )


def tokens_of(selector: RankingSelector) -> TokenSummary | None:
    """Return the tokens and topics of ILFS, if they were learned for a single labelling."""
    counts, topics = attribute(selector, "token_counts_"), attribute(selector, "topic_tokens_")
    if counts is None or topics is None:
        return None
    total = counts.sum(axis=1, keepdims=True)
    fractions = np.divide(counts, total, out=np.full_like(counts, np.nan, dtype=float), where=total > 0)
    return TokenSummary(attribute(selector, "token_edges_"), topics, fractions[selector.order_])


def values_of(
    selector: RankingSelector, X: Any, y: Any, selected: NDArray[np.bool_]
) -> tuple[ClassValues | None, Integers | None, CorrelationMap | None]:
    """Read the values of the best features, and correlate the selected ones; both in one pass."""
    best, mapped = np.arange(min(N_WITH_VALUES, selected.size)), np.flatnonzero(selected)[:MAX_CORRELATED]
    places = np.union1d(best, mapped)
    rows = None if X is None else read_rows(selector, X, y, selector.order_[places])
    if rows is None:
        return None, None, None
    correlated = None
    if mapped.size > 1:
        correlated = correlation_map(mapped, rows.values[:, np.searchsorted(places, mapped)])
    return class_values(rows), places, correlated
