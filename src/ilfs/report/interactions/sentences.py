"""Sentences on interactions: how many were found, how to read them, and what could have been found."""

from ilfs.interactions.power import LARGEST_EXCESS
from ilfs.report.interactions.summary import InteractionSummary
from ilfs.words import counted

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
    sure = f"the probability that any of these is due to chance is at most {100 * summary.alpha:g} %"
    return f"{summary.n_significant:,} of {tested} {are} significant; {sure}"


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
    patterns = {one.pattern for one in summary.sets}
    meanings = {
        "high & high": "both values above their medians, or both below",
        "high & low": "one value above its median, the other below",
    }
    parts = [f"{pattern}: {meaning}" for pattern, meaning in meanings.items() if pattern in patterns]
    if any("extreme" in one or "moderate" in one for one in patterns):
        parts.append("extreme: outside of the quartiles; moderate: between them")
    if any(len(one.columns) == 3 for one in summary.sets):
        parts.append("1 or 3 high: so many of the three values are above their medians")
    return "; ".join(parts)


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
        return (
            f"{samples} are too few for so many tests: to find a pair with a probability of {chance}, {least:,} samples"
            f" are needed if {power.condition(LARGEST_EXCESS)}; and {needed} if {power.condition(USUAL_EXCESS)}"
        )
    more = ""
    if power.samples_needed(USUAL_EXCESS) > power.n_samples:
        more = f"; {needed} are needed if {power.condition(USUAL_EXCESS)}"
    return (
        f"with {samples}, a pair is found with a probability of {chance} if "
        f"{power.condition(power.smallest_excess)}; by chance, half of all samples show it{more}"
    )
