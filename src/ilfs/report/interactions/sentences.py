"""Sentences on interactions: how many were found, how to read them, and what could have been found."""

from ilfs.arrays import Integers
from ilfs.interactions.power import LARGEST_EXCESS
from ilfs.interactions.result import NO_FEATURE
from ilfs.report.interactions.summary import InteractionSummary
from ilfs.words import counted

LEVEL_MEANINGS = {
    "high & high": "both values above their medians, or both below",
    "high & low": "one value above its median, the other below",
}
SIZED_MEANINGS = {
    "high": "above the median",
    "low": "below it",
    "extreme": "outside of the quartiles, in either direction",
    "moderate": "between them",
}
OPPOSITES = {"high": "low", "low": "high", "extreme": "moderate", "moderate": "extreme"}
USUAL_EXCESS = 0.3  # of a pattern that 80 % of the samples of a class show


def found_sentence(summary: InteractionSummary) -> str:
    """Say how many sets are significant.

    Parameters
    ----------
    summary : InteractionSummary
        The result.

    Returns
    -------
    str
        A sentence without a full stop.
    """
    kind = "pairs" if summary.order == 2 else "pairs and triples"
    tested = f"{summary.n_tests:,} tests of {kind} of {counted(summary.n_features, 'feature')}"
    if not summary.n_significant:
        return f"none of {tested} is significant (adjusted p-value of at most {summary.alpha:g})"
    are = "is" if summary.n_significant == 1 else "are"
    sure = f"if nothing interacts, at most {100 * summary.alpha:g} % of tables have even one significant test"
    different = "" if summary.n_different == len(summary.sets) else f" ({different_sets(summary)})"
    return f"{summary.n_significant:,} of {tested} {are} significant{different}; {sure}"


def different_sets(summary: InteractionSummary) -> str:
    """Count the different pairs and triples of features."""
    columns = {one.columns for one in summary.sets}
    numbers = ((size, noun, sum(len(one) == size for one in columns)) for size, noun in ((2, "pair"), (3, "triple")))
    return " and ".join(counted(n, f"different {noun}") for _, noun, n in numbers if n)


def kinds_of_sets(columns: Integers) -> str:
    """Name the kinds of sets that occur.

    Examples
    --------
    >>> import numpy as np
    >>> from ilfs.report.interactions.sentences import kinds_of_sets
    >>> kinds_of_sets(np.array([[0, 1, -1]])), kinds_of_sets(np.array([[0, 1, -1], [0, 1, 2]]))
    ('pairs', 'pairs and triples')
    """
    is_pair = columns[:, 2] == NO_FEATURE
    return " and ".join(["pairs"] * bool(is_pair.any()) + ["triples"] * bool((~is_pair).any()))


def reading_sentence(summary: InteractionSummary) -> str:
    """Explain the patterns that occur.

    Parameters
    ----------
    summary : InteractionSummary
        The result.

    Returns
    -------
    str
        A sentence without a full stop; empty if there are no sets.
    """
    patterns = list(dict.fromkeys(one.pattern for one in summary.sets if len(one.columns) == 2))
    sized = [one for one in patterns if "extreme" in one or "moderate" in one]
    meanings = SIZED_MEANINGS if sized else LEVEL_MEANINGS
    parts = [f"{word}: {meaning}" for word, meaning in meanings.items() if sized or word in patterns]
    if sized:
        parts.append(f"each pattern stands for its mirror image, too: {sized[0]} also for {mirrored(sized[0])}")
    triples = ", ".join(dict.fromkeys(one.pattern for one in summary.sets if len(one.columns) == 3))
    parts += [f"{triples}: so many of the three values are above their medians"] if triples else []
    return "; ".join(parts)


def mirrored(pattern: str) -> str:
    """Replace each word of a pattern by its opposite.

    Examples
    --------
    >>> from ilfs.report.interactions.sentences import mirrored
    >>> mirrored("high & extreme")
    'low & moderate'
    """
    return " & ".join(OPPOSITES[word] for word in pattern.split(" & "))


def power_sentence(summary: InteractionSummary) -> str:
    """Say which pairs so many samples can find, and how many samples others need.

    Parameters
    ----------
    summary : InteractionSummary
        The result.

    Returns
    -------
    str
        A sentence without a full stop; empty if the number of samples is not known.
    """
    power = summary.power
    if power is None:
        return ""
    needed = f"{power.samples_needed(USUAL_EXCESS):,} samples"
    chance, samples = f"{100 * power.power:.0f} %", counted(power.n_samples, "sample")
    if power.smallest_excess > LARGEST_EXCESS:
        least = power.samples_needed(LARGEST_EXCESS)
        why = f"with {samples} and so many tests, {'other pairs' if summary.sets else 'pairs'} may have been missed"
        return (
            f"{why}: to find a pair with a probability of {chance}, {least:,} samples are needed if "
            f"{power.condition(LARGEST_EXCESS)}; and {needed} if {power.condition(USUAL_EXCESS)}"
        )
    more = ""
    if power.samples_needed(USUAL_EXCESS) > power.n_samples:
        more = f"; {needed} are needed if {power.condition(USUAL_EXCESS)}"
    return (
        f"with {samples}, a pair is found with a probability of {chance} if "
        f"{power.condition(power.smallest_excess)}; by chance, half of all samples show it{more}"
    )
