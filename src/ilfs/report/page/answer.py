"""The answer in plain sentences: how many features, which, why that many, and how sure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ilfs.report.certainty import MAIN_FRACTION, SPREAD_UNSEEN
from ilfs.report.interactions.sentences import found_sentence
from ilfs.report.interactions.summary import InteractionSummary
from ilfs.report.markup import escape, shortened
from ilfs.report.page.document import capitalised
from ilfs.report.summary import RankingSummary
from ilfs.words import counted

MAX_LISTED_FEATURES = 12  # selected features that are named in the answer
MAX_CHIP_LETTERS = 40
SETS_ABOUT = "sets of features that tell the class together"


@dataclass(frozen=True)
class Fact:
    """A number or word in large letters, with what it is about."""

    value: str
    about: str
    kind: str = ""  # CSS class


def answer_html(summary: RankingSummary) -> str:
    """Format the answer: facts in large letters, the best selected features, and sentences."""
    facts = "\n".join(
        f'<div class="fact {fact.kind}"><dt>{escape(fact.about)}</dt><dd>{escape(fact.value)}</dd></div>'
        for fact in facts_of(summary)
    )
    sentences = "\n".join(f"<p>{escape(sentence)}</p>" for sentence in sentences_of(summary))
    heading = '<h2 class="visually-hidden">The answer</h2>'
    return f'{heading}\n<dl class="facts">\n{facts}\n</dl>\n{named_html(summary)}\n{sentences}'


def facts_of(summary: RankingSummary) -> list[Fact]:
    """Return what a reader should see first."""
    facts = [Fact(f"{summary.n_selected:,}", f"of {counted(summary.n_features, 'feature')} selected")]
    found = summary.certainty
    if found is not None:
        word, kind = ("yes", "good") if found.is_better else ("no", "bad")
        alone = "single features better" if summary.interactions is not None else "better"
        facts.append(Fact(word, f"{alone} than permuted labels ({p_text(found.p_value)})", kind))
        facts.append(Fact(f"{found.n_confirmed:,}", f"confirmed at a false discovery rate of {found.fdr:g}"))
    if summary.interactions is not None:
        facts.append(sets_fact(summary.interactions))
    if summary.sizes is not None:
        place = int(np.argmin(np.abs(summary.sizes.sizes - summary.sizes.chosen)))
        facts.append(
            Fact(
                f"{summary.sizes.mean[place]:.3f}",
                f"cross-validated score with {counted(summary.sizes.chosen, 'feature')}",
            )
        )
    if summary.stability is not None:
        again = summary.stability.kuncheva.chosen_again
        facts.append(
            Fact(f"{100 * again:.0f} %", f"of the best {summary.stability.k:,} chosen again on half of the rows")
        )
    return facts


def sets_fact(found: InteractionSummary) -> Fact:
    """Count the different sets of features that tell the class together."""
    n_sets = found.n_different
    about = "set of features that tell the class together" if n_sets == 1 else SETS_ABOUT
    return Fact(f"{n_sets:,}", about, "good" if n_sets else "")


def p_text(p_value: float) -> str:
    """Format a p-value so that a line does not break inside it."""
    return f"p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{p_value:.2g}"


def named_html(summary: RankingSummary) -> str:
    """Format the best selected features as buttons that show their details."""
    places = np.flatnonzero(summary.selected)
    chips = [
        f'<li><button type="button" class="chip" data-place="{place}" title="{escape(shortened(name, 300))}">'
        f"<bdi>{escape(shortened(name, MAX_CHIP_LETTERS))}</bdi></button></li>"
        for place, name in ((place, str(summary.names[place])) for place in places[:MAX_LISTED_FEATURES].tolist())
    ]
    more = (
        f'<li class="soft">and {places.size - MAX_LISTED_FEATURES:,} more</li>'
        if places.size > MAX_LISTED_FEATURES
        else ""
    )
    return f'<ol class="chips" aria-label="best selected features">{"".join(chips)}{more}</ol>' if chips else ""


def sentences_of(summary: RankingSummary) -> list[str]:
    """Return sentences on the cut, the test, the bound and the stability."""
    return [
        " ".join([cut_sentence(summary), *forced_sentence(summary)]),
        " ".join([*test_sentences(summary), *bound_sentence(summary), *family_sentence(summary)]),
        *together_sentence(summary),
        *stability_sentences(summary),
    ]


def together_sentence(summary: RankingSummary) -> list[str]:
    """Say that features tell the class together, which tests of single features do not see."""
    found = summary.interactions
    if found is None or not found.sets:
        return []
    alone = " The q-values test each feature alone, and do not count this." if summary.certainty is not None else ""
    return [f"{capitalised(found_sentence(found))} See Interactions.{alone}{left_out_words(summary)}"]


def left_out_words(summary: RankingSummary) -> str:
    """Say how many features of significant sets are not selected."""
    found = summary.interactions
    members = set() if found is None else {column for one in found.sets for column in one.columns}
    is_left = np.isin(summary.table["column"], list(members)) & ~summary.selected
    n_left = int(np.count_nonzero(is_left))
    if not n_left:
        return ""
    some = short_names(summary, np.flatnonzero(is_left).tolist())
    return f" {counted(n_left, 'feature')} of these sets {'is' if n_left == 1 else 'are'} not selected: {some}."


def cut_sentence(summary: RankingSummary) -> str:
    """Say why so many features are selected."""
    rule, selected = summary.rule, are_selected(summary.n_selected)
    if rule is None:
        return f"{selected}, the best half, because no number was asked for: move the cut below."
    if rule == "search" and summary.sizes is None and summary.certainty is None:
        return f"{selected}."
    if rule == "auto" or (rule == "search" and summary.sizes is not None):
        return (
            f"{selected}: in cross-validation, with the selection inside the folds, no other number of features "
            "predicted the classes clearly better."
        )
    if rule in ("fdr", "search"):
        return fdr_sentence(summary)
    if rule == "absorption":
        return f"{selected}: about so many features hold the random walk of the method."
    return (
        f"{selected}, a fraction of {rule:g}." if isinstance(rule, float) else f"{selected}, as many as were asked for."
    )


def are_selected(n_selected: int) -> str:
    """Format a number of features as the beginning of a sentence."""
    return f"{n_selected:,} feature{' is' if n_selected == 1 else 's are'} selected"


def fdr_sentence(summary: RankingSummary) -> str:
    """Say how many features are selected by their q-values, and how many were added."""
    level = summary.certainty.fdr if summary.certainty else 0.05
    selected, n_found = are_selected(summary.n_selected), summary.n_by_q_value
    if n_found == summary.n_selected:
        return f"{selected}: those whose q-value is at most {level:g}."
    added = [place for place in summary.forced if summary.table["q_value"][place] > level]
    kept = f"{len(added):,} kept in any case ({short_names(summary, added)})"
    return f"{selected}: {n_found:,} by a q-value of at most {level:g}, and {kept}."


def forced_sentence(summary: RankingSummary) -> list[str]:
    """Say which features were kept in any case, unless the sentence on the q-values has said it."""
    is_said = summary.rule == "fdr" and summary.n_by_q_value < summary.n_selected
    if is_said or not summary.forced:
        return []
    return [f"Kept in any case: {short_names(summary, summary.forced)}."]


def short_names(summary: RankingSummary, places: Sequence[int]) -> str:
    """Format the names of a few features."""
    names = [shortened(str(summary.names[place]), MAX_CHIP_LETTERS) for place in places[:MAX_LISTED_FEATURES]]
    more = f" and {len(places) - MAX_LISTED_FEATURES:,} more" if len(places) > MAX_LISTED_FEATURES else ""
    return f"{', '.join(names)}{more}"


def test_sentences(summary: RankingSummary) -> list[str]:
    """Say whether the best features are better than under permuted labels."""
    found = summary.certainty
    if found is None:
        if not summary.method.reads_labels:
            return ["The method reads no labels, so there is no test against chance."]
        return [
            "Whether these features are better than chance was not tested: the same ranking with permuted labels would "
            "show it (n_permutations=99)."
        ]
    trials = f"{found.n_permutations:,} times" if found.n_permutations else "many times"
    permuted = f"The labels were permuted at random {trials}"
    if not found.is_better:
        return [
            f"{permuted}, and the best features were NOT clearly better than the best features under permuted labels "
            f"({p_text(found.p_value)}). {doubt(summary)}"
        ]
    each = ", and the best features were better than in each of these trials"
    usual = ", and the best features were better than in nearly all of these trials"
    is_each = found.n_permutations and found.p_value <= 1 / (1 + found.n_permutations) + 1e-12
    least = f", the smallest value that {found.n_permutations:,} permutations can give" if is_each else ""
    confirmed = (
        f"{counted(found.n_confirmed, 'feature')} {'is' if found.n_confirmed == 1 else 'are'} confirmed: of these, at "
        f"most {100 * found.fdr:g} % are expected to be there by chance."
    )
    return [f"{permuted}{each if is_each else usual} ({p_text(found.p_value)}{least}).", confirmed]


def doubt(summary: RankingSummary) -> str:
    """Say what not to trust if the best features are not better than chance."""
    if summary.interactions is not None and summary.interactions.sets:
        return (
            "Do not trust features for what they tell alone. But this is a test of single features; the sets of "
            "features below have a test of their own, and are significant."
        )
    spread = summary.shape_fraction
    unseen = f" {SPREAD_UNSEEN}." if spread is not None and spread[0] >= MAIN_FRACTION else ""
    return f"Do not trust this selection without more samples.{unseen}"


def bound_sentence(summary: RankingSummary) -> list[str]:
    """Bound the number of selected features that are there by chance; those kept in any case were not tested."""
    found = summary.certainty
    n_found = summary.n_by_q_value
    if found is None or found.bound is None or not n_found:
        return []
    most = round(found.bound * n_found)
    kept = " those selected by their q-values" if n_found < summary.n_selected else " the selected features"
    by_chance = f"at most {most:,} of{kept} {'is' if most == 1 else 'are'}" if most else f"none of{kept} is"
    return [f"With 95 % confidence, {by_chance} there by chance."]


def family_sentence(summary: RankingSummary) -> list[str]:
    """Say that features outside of the selection may be as good."""
    if summary.nearest is None:
        return []
    return ["A feature that repeats a better one comes later in the ranking: see its family."]


def stability_sentences(summary: RankingSummary) -> list[str]:
    """Say how much the selection changes with the rows."""
    result = summary.stability
    if result is None:
        return []
    low, high = result.nogueira.interval()
    return [
        f"On {result.n_resamples:,} random halves of the rows, two halves agreed on "
        f"{100 * result.kuncheva.chosen_again:.0f} % of the best {counted(result.k, 'feature')} "
        f"({100 * result.kuncheva.by_chance:.0f} % by chance). The stability index is "
        f"{result.nogueira.value:z.2f}, with a 95 % interval from {low:z.2f} to {high:z.2f}; 1 is perfect, 0 is chance."
    ]
