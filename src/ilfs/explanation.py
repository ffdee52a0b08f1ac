"""Why a feature is ranked where it is: the numbers (`Explanation`), and a paragraph made from them (`paragraph`)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from os.path import commonprefix
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ilfs.parameters import is_integer
from ilfs.ranking_table import (
    CONFIRMED,
    MEAN_PREFIX,
    MIN_FREQUENCY,
    NOT_CONFIRMED,
    TENTATIVE_FACTOR,
    RankingTable,
    split_direction,
)
from ilfs.words import counted, listed, p_value_text

MAX_NAMED = 4  # features or class means that a paragraph lists
MAX_PARTNERS = 3  # interactions that a paragraph lists
MIN_SHAPE_FRACTION = 0.1  # of what a feature added, from which on its shape is mentioned
MAX_COMPARED = 2000  # names that a wrong name is compared with; each takes some ten microseconds
STRONG_CORRELATION = 0.7  # absolute correlation from which on a feature is said to repeat another one
OF_TABLE = {  # fields that are columns of the ranking table
    "feature", "column", "rank", "score", "relevance", "p_value", "q_value", "verdict", "selection_frequency",
    "direction", "effect", "log2_fold_change", "missing", "nonzero", "novelty", "nearest", "correlation",
}  # fmt: skip
NUMBER_WORDS = ("no", "one", "two", "three")


@dataclass(frozen=True)
class Together:
    """A significant set of features that tell the class together, seen from one of them.

    Parameters
    ----------
    others : tuple of str
        Names of the other features of the set: one or two.
    effect : str
        What they tell, in words, such as "high together with high, or low with low: more often in tumour".
    adjusted_p_value : float
        p-value of the set, adjusted for the number of tests.
    is_reason : bool
        What the set tells is part of what the feature added when it was picked.
    at_once : bool
        It was picked in one step with others of the set. Otherwise they were picked before it.
    """

    others: tuple[str, ...]
    effect: str
    adjusted_p_value: float
    is_reason: bool = False
    at_once: bool = False


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Facts about one feature; ``print`` shows them as one paragraph.

    Fields are None if the selector does not know them.

    Parameters
    ----------
    feature : str
        Name.
    column : int
        Column index.
    rank, n_features : int
        Rank of the feature, and number of all features.
    is_selected : bool
        The feature is among those that ``transform`` keeps.
    is_kept : bool
        The feature is one of those that must be kept.
    method : str
        Class of the selector.
    looks_for : str or None
        Which features the method looks for, in words.
    score, largest_score : float
        Score of the feature, and of the best one.
    criterion : {"gain", "novelty"} or None
        Criterion by which features were picked one at a time. The score is then what the feature added to those ranked
        before it, as a fraction of what the first one added.
    relevance : float or None
        How good the feature is on its own.
    relevance_rank : int or None
        Rank by relevance alone.
    p_value, q_value, fdr : float or None
        Result of the permutation test, and the accepted false discovery rate.
    verdict : {"confirmed", "tentative", "not confirmed"} or None
        See `ilfs.ranking_table`.
    selection_frequency : float or None
        Fraction of subsamples of the rows on which the feature is selected.
    direction : str or None
        In which class or classes the feature is higher or lower than in the others, such as "higher in tumour"; empty
        if all class means are equal.
    effect, log2_fold_change : float or None
        Difference of the class means in standard deviations within classes, and logarithm of their quotient; see
        `ilfs.ranking_table.RankingTable`.
    means : dict of str to float
        Class means, if there are few classes.
    well_represented : float or None
        Fraction of the samples that look more like their own class than like the others, by this feature alone.
    missing, nonzero : float or None
        Fraction of the rows without a value, and fraction of the values that are not zero.
    nearest : str or None
        The most correlated feature among those ranked before it; empty if there is none.
    correlation, novelty : float or None
        Correlation with that feature, and fraction of the variance that it does not explain.
    repeated_by : dict of str to float or None
        Features ranked after this one that repeat it, with their correlations: its family, if it headed the only one.
    shape_fraction : float or None
        Fraction of what the feature added that comes from its shape, the distance of its values from their mean, rather
        than from the values themselves.
    widest : str or None
        Class in which the values are clearly spread most; None if there is none.
    works_with : tuple of Together
        Pairs and triples with this feature that tell the class together, strongest first.
    more : dict of str to float
        Further columns of the table.
    """

    feature: str
    column: int
    rank: int
    n_features: int
    is_selected: bool
    method: str
    score: float
    largest_score: float
    is_kept: bool = False
    looks_for: str | None = None
    criterion: str | None = None
    relevance: float | None = None
    relevance_rank: int | None = None
    p_value: float | None = None
    q_value: float | None = None
    fdr: float | None = None
    verdict: str | None = None
    selection_frequency: float | None = None
    direction: str | None = None
    effect: float | None = None
    log2_fold_change: float | None = None
    means: dict[str, float] = field(default_factory=dict)
    well_represented: float | None = None
    missing: float | None = None
    nonzero: float | None = None
    nearest: str | None = None
    correlation: float | None = None
    novelty: float | None = None
    repeated_by: dict[str, float] | None = None
    shape_fraction: float | None = None
    widest: str | None = None
    works_with: tuple[Together, ...] = ()
    more: dict[str, float] = field(default_factory=dict)

    @property
    def picked_for(self) -> Together | None:
        """The set for which the feature was picked; None if it was picked for what it tells alone."""
        return next((one for one in self.works_with if one.is_reason), None)

    @property
    def has_shape(self) -> bool:
        """True if the feature was picked for the spread of its values, at least to a part worth mentioning."""
        return self.shape_fraction is not None and self.shape_fraction >= MIN_SHAPE_FRACTION

    def __str__(self) -> str:
        return paragraph(self)


def explain_row(table: RankingTable, facts: dict[str, Any]) -> Explanation:
    """Collect what is known of one feature.

    Parameters
    ----------
    table : RankingTable
        A table of one row.
    facts : dict
        Further fields of `Explanation`.

    Returns
    -------
    Explanation
        Its fields are numbers and words of Python.
    """
    row = {title: values[0].item() if hasattr(values[0], "item") else values[0] for title, values in table.items()}
    row["feature"] = str(row["feature"])
    means = {title.removeprefix(MEAN_PREFIX): row.pop(title) for title in list(row) if title.startswith(MEAN_PREFIX)}
    more = {title: row.pop(title) for title in list(row) if title not in OF_TABLE}
    return Explanation(**row, **facts, means=means, more=more)


def column_of(feature: Any, names: NDArray[Any]) -> int:
    """Find a column by its name or index; an unknown name is an error that lists similar names.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.explanation import column_of
    >>> column_of("b", np.array(["a", "b"])), column_of(0, np.array(["a", "b"]))
    (1, 0)
    """
    if is_integer(feature):
        if not 0 <= feature < names.size:
            raise ValueError(f"feature must be a name or an index from 0 to {names.size - 1}, got {feature!r}")
        return int(feature)
    found = np.flatnonzero(names == feature) if isinstance(feature, str) else np.empty(0, dtype=np.int64)
    if found.size != 1:
        problem = f", which {found.size} columns have: give an index" if found.size else similar_names(feature, names)
        raise ValueError(f"feature must be the name or the index of a column, got {feature!r}{problem}")
    return int(found[0])


def similar_names(wrong: Any, names: NDArray[Any]) -> str:
    """List names that are similar to a wrong one, as the end of a message."""
    given, upper = str(wrong).upper(), {str(name).upper(): str(name) for name in reversed(names.tolist())}
    near = sorted(upper, key=lambda name: len(commonprefix([name, given])), reverse=True)[:MAX_COMPARED]  # noqa: RUF071
    found = [upper[match] for match in get_close_matches(given, near, n=3)]
    return f": did you mean {' or '.join(map(repr, found))}?" if found else ""


# The paragraph


def paragraph(one: Explanation) -> str:
    """Tell in one paragraph why a feature is ranked where it is.

    Parameters
    ----------
    one : Explanation
        What is known of the feature.

    Returns
    -------
    str
        Some sentences in one line.
    """
    parts = (
        rank_sentences,
        class_sentences,
        shape_sentences,
        partner_sentences,
        chance_sentences,
        redundancy_sentences,
        value_sentences,
    )
    return " ".join(sentence for part in parts for sentence in part(one))


def rank_sentences(one: Explanation) -> Iterator[str]:
    """Tell the rank, the score and what it means."""
    kept = "is selected" if one.is_selected else "is not selected"
    every = counted(one.n_features, "feature")
    yield f"{one.feature} is ranked {ordinal(one.rank)} of {every} by {one.method}, and {kept}."
    if one.is_kept:
        yield "It was to be kept in any case, so it comes before all features that were not, whatever it adds."
    if one.criterion is None:
        aim = "" if one.looks_for is None else f"{one.method} looks for {one.looks_for}. "
        yield f"{aim}Its score is {number(one.score)}; the largest is {number(one.largest_score)}."
    elif not one.is_kept:
        yield pick_sentence(one)
    if one.relevance is not None and one.relevance_rank is not None:
        yield f"On its own, by a relevance of {number(one.relevance)}, it would be {ordinal(one.relevance_rank)}."


def pick_sentence(one: Explanation) -> str:
    """Tell why a feature was picked, or not, if features are picked one at a time."""
    if one.picked_for is not None:
        return together_sentence(one, one.picked_for)
    if one.rank == 1:
        return "It was picked first, because it alone adds most."
    if one.score > 0:
        return (
            "Features are picked one by one, for what they add to those already picked: this one added "
            f"{percent(one.score)} as much as the first."
        )
    if one.is_selected:
        return (
            "It is selected although it would add nothing to better features, or little on its own; its rank is by "
            "relevance."
        )
    return "It was not picked, because it would add nothing or is too weak on its own; its rank is by relevance."


def together_sentence(one: Explanation, found: Together) -> str:
    """Tell that a feature was picked for what it tells together with others."""
    others, number_of = listed(found.others), NUMBER_WORDS[1 + len(found.others)]
    why = f"together with {others}, because the {number_of} tell the class together"
    if not found.at_once:
        why = f"after {others}, also for what the {number_of} tell together"
    added = "" if one.score >= 1 else f" It added {percent(one.score)} as much as the first pick."
    return f"It was picked {why}: {set_words(found)}.{added}"


def set_words(found: Together) -> str:
    """Format the effect and the p-value of a set."""
    effect = found.effect.replace(": more often", ", more often")
    return f"{effect} (adjusted p-value {p_value_text(found.adjusted_p_value)})"


def class_sentences(one: Explanation) -> Iterator[str]:
    """Tell how the feature differs between the classes."""
    if one.direction:
        yield f"{direction_sentence(one)} {effect_sentence(one)}"
    elif one.direction == "":
        yield "Its class means do not differ, or only one class has values."
    if one.well_represented is not None:
        yield (
            f"By this feature alone, {percent(one.well_represented)} of the samples look more like their own class "
            "than like the others."
        )


def shape_sentences(one: Explanation) -> Iterator[str]:
    """Tell that the feature was picked for the spread of its values, if that was part of the reason."""
    if not one.has_shape or one.shape_fraction is None:
        return
    where = f": extreme values are more frequent in {class_name(one.widest)}" if one.widest is not None else ""
    yield f"{percent(one.shape_fraction)} of what it added comes from the spread of its values in the classes{where}."


def partner_sentences(one: Explanation) -> Iterator[str]:
    """Tell with which further features it tells the class, and how."""
    more = [found for found in one.works_with if found is not one.picked_for]
    named = [f"{listed(found.others)}: {set_words(found)}" for found in more[:MAX_PARTNERS]]
    if named:
        also = "also " if one.picked_for is not None else ""
        rest = f"; and {len(more) - len(named):,} more" if len(more) > len(named) else ""
        yield f"It {also}tells the class together with {'; with '.join(named)}{rest}."


def direction_sentence(one: Explanation) -> str:
    """Tell in which classes the feature is higher or lower, and the class means if there are few."""
    means = {label: number(mean) for label, mean in one.means.items() if mean == mean}
    side, named = split_direction(str(one.direction), list(means))
    others = [label for label in means if label not in named]
    if not named:
        return f"It is {one.direction} than in the other classes."
    if len(others) >= MAX_NAMED:
        return f"It is {side} in {listed([class_name(label) for label in named])} than in the other classes."
    first, *more = named
    words = [f"{class_name(first)} ({means[first]} on average)", *(f"{class_name(one)} ({means[one]})" for one in more)]
    if len(others) == 1:
        return f"It is {side} in {listed(words)} than in {class_name(others[0])} ({means[others[0]]})."
    rest = ", ".join(f"{class_name(label)} {means[label]}" for label in others)
    return f"It is {side} in {listed(words)} than in the other classes ({rest})."


def class_name(label: str) -> str:
    """Name a class so that a number is not taken for a value.

    Examples
    --------
    >>> from ilfs.explanation import class_name
    >>> class_name("tumour"), class_name("1"), class_name("True")
    ('tumour', 'class 1', 'class True')
    """
    return f"class {label}" if is_number_text(label) or label in ("True", "False") else label


def is_number_text(text: str) -> bool:
    """Return True for the text of a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def effect_sentence(one: Explanation) -> str:
    """Tell the size of the difference between the classes."""
    if one.effect is None or np.isinf(one.effect):
        return "Within each class it is constant."
    fold = ""
    if one.log2_fold_change is not None and np.isfinite(one.log2_fold_change):
        fold = f" (a factor of {number(2.0 ** abs(one.log2_fold_change))}, if the values are not logarithms)"
    return f"The difference is {number(abs(one.effect))} standard deviations of a class{fold}."


def chance_sentences(one: Explanation) -> Iterator[str]:
    """Tell whether chance may explain the result, and what the test does not see."""
    if one.verdict is not None and one.q_value is not None and one.fdr is not None:
        low, high = number(one.fdr), number(TENTATIVE_FACTOR * one.fdr)
        rule = f"above {high}" if one.verdict == NOT_CONFIRMED else f"above {low}, but not above {high}"
        if one.q_value <= one.fdr:
            rule = f"at most {low}" + ("" if one.verdict == CONFIRMED else ", but it is selected too rarely")
        yield (
            f"Its q-value is {number(one.q_value)}, {rule}: {one.verdict}. If it and all features that "
            f"are better on their own were selected, {percent(one.q_value)} of them would be expected to be there by "
            "chance."
        )
        yield from blind_sentences(one)
    if one.selection_frequency is not None:
        yield (
            f"It is selected on {percent(one.selection_frequency)} of the subsamples of the rows; "
            f"{percent(MIN_FREQUENCY)} are needed to confirm it."
        )


def blind_sentences(one: Explanation) -> Iterator[str]:
    """Tell that the test of single features does not see why this one was picked, unless it is confirmed anyway."""
    if one.verdict == CONFIRMED:
        return
    unseen = ["the spread of the values"] if one.has_shape else []
    unseen += ["what features tell together"] if one.works_with else []
    if unseen:
        own = "; for that, the adjusted p-value counts" if one.works_with else ""
        yield f"But this tests differences of class means, feature by feature, and does not see {listed(unseen)}{own}."


def redundancy_sentences(one: Explanation) -> Iterator[str]:
    """Tell which better feature it is like, and which features repeat it."""
    if one.nearest and one.correlation is not None and one.novelty is not None:
        new = f"{one.correlation:.2f}; {percent(one.novelty)} of its variance is new"
        if abs(one.correlation) >= STRONG_CORRELATION:
            yield f"It repeats {one.nearest}, which is ranked before it (correlation {new})."
        else:
            yield f"Of the features before it, {one.nearest} is most like it (correlation {new})."
    if one.repeated_by:
        named = [f"{name} ({value:.2f})" for name, value in list(one.repeated_by.items())[:MAX_NAMED]]
        n_more = len(one.repeated_by) - len(named)
        rest = f" and {n_more} more" if n_more else ""
        yield f"Features that repeat it, with their similarity: {', '.join(named)}{rest}."
    elif one.repeated_by is not None:
        yield (
            "No feature after it has it as its most similar better feature "
            f"(correlation of at least {STRONG_CORRELATION})."
        )


def value_sentences(one: Explanation) -> Iterator[str]:
    """Tell which fractions of the values are missing and zero, unless there are none."""
    if one.missing:
        yield f"It is missing in {percent(one.missing)} of the rows."
    if one.nonzero is not None and one.nonzero < 1:
        yield f"{percent(one.nonzero)} of its values are not zero."


def ordinal(n: int) -> str:
    """Format a rank.

    Examples
    --------
    >>> from ilfs.explanation import ordinal
    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 1002)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th', '13th', '21st', '1,002nd']
    """
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{ending}"


def number(value: float) -> str:
    """Format a number with three significant digits, without an exponent unless it is very small or large.

    Examples
    --------
    >>> from ilfs.explanation import number
    >>> number(0.01234), number(1234.5), number(1.0), number(0.0000123), number(1e9)
    ('0.0123', '1,234', '1', '1.23e-05', '1e+09')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


def percent(fraction: float) -> str:
    """Format a fraction in percent, so that only none is 0 % and only all is 100 %.

    Examples
    --------
    >>> from ilfs.explanation import percent
    >>> percent(0.123), percent(0.0004), percent(0.9999), percent(1.0)
    ('12 %', 'less than 1 %', 'more than 99 %', '100 %')
    """
    if 0 < fraction < 0.005:
        return "less than 1 %"
    if 0.995 <= fraction < 1:
        return "more than 99 %"
    return f"{100 * fraction:.0f} %"
