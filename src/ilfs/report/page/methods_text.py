"""A paragraph on the method, ready to paste into a paper, and how to repeat the ranking."""

from ilfs.report.markup import shortened
from ilfs.report.summary import RankingSummary
from ilfs.words import counted

ILFS_REFERENCE = (
    "Roffo G, Melzi S, Castellani U, Vinciarelli A. Infinite Latent Feature Selection: A Probabilistic Latent "
    "Graph-Based Ranking Approach. Proceedings of the IEEE International Conference on Computer Vision (ICCV), 2017."
)
BENJAMINI_HOCHBERG = (
    "Y. Benjamini, Y. Hochberg, Controlling the False Discovery Rate, Journal of the Royal Statistical Society B 57, "
    "1995"
)
STABILITY_REFERENCE = (
    "Nogueira S, Sechidis K, Brown G. On the Stability of Feature Selection Algorithms. Journal of Machine Learning "
    "Research 18, 2018."
)


def methods_paragraph(summary: RankingSummary) -> str:
    """Describe in prose how the features were ranked and selected, with versions and parameters."""
    return " ".join([data_sentence(summary), *method_sentences(summary), *test_sentence(summary), *rest(summary)])


def data_sentence(summary: RankingSummary) -> str:
    """Describe the table."""
    values = summary.values
    samples = "" if values is None else f"{counted(values.n_rows, 'sample')} and "
    classes = ""
    if summary.class_labels:
        sizes = [] if values is None or len(values.class_rows) != len(summary.class_labels) else list(values.class_rows)
        if sizes and len(sizes) <= 10:
            words = [f"{label}: {size:,}" for label, size in zip(summary.class_labels, sizes, strict=True)]
            classes = f" in {len(words)} classes ({', '.join(words)})"
        else:
            classes = f" in {len(summary.class_labels)} classes"
    start = f"The table {summary.input_name} has " if summary.input_name else "The data have "
    return f"{start}{samples}{counted(summary.n_features, 'feature')}{classes}."


def method_sentences(summary: RankingSummary) -> list[str]:
    """Describe method, package, versions and parameters."""
    method = summary.method
    by = f"{method.title} ({' of '.join((method.name, *method.inner))})" if method.title else method.name
    versions = ", ".join(f"{name} {number}" for name, number in method.versions.items() if name != "ilfs")
    return [
        f"Features were ranked by {by}, as implemented in ilfs {method.versions['ilfs']} ({versions}).",
        *([f"It looks for {method.looks_for}."] if method.looks_for else []),
        f"The parameters that differ from the defaults are those of {method.call}.",
    ]


def test_sentence(summary: RankingSummary) -> list[str]:
    """Describe the test against permuted labels."""
    found = summary.certainty
    if found is None:
        return []
    trials = (
        f"under labels permuted {found.n_permutations:,} times" if found.n_permutations else "under permuted labels"
    )
    return [
        f"p-values were computed from the statistics of all features {trials} (a permutation test), and "
        f"converted to q-values by the procedure of Benjamini and Hochberg; features with q at most {found.fdr:g} are "
        "called confirmed."
    ]


def rest(summary: RankingSummary) -> list[str]:
    """Describe cross-validation and stability, if they were computed, and the number of selected features."""
    found = []
    if summary.sizes is not None:
        found.append(
            "The number of features was found by cross-validation of a classifier, with the selection repeated inside "
            "each fold."
        )
    if summary.stability is not None:
        result = summary.stability
        found.append(
            f"Stability was measured on {result.n_resamples:,} half-samples of the rows (index of Nogueira et al.: "
            f"{result.nogueira.value:z.2f} for the best {counted(result.k, 'feature')})."
        )
    if summary.set_aside:
        n_aside = len(summary.set_aside)
        found.append(f"{n_aside:,} column{'s were' if n_aside != 1 else ' was'} set aside before the ranking.")
    return [*found, f"{summary.n_selected:,} of {counted(summary.n_features, 'feature')} were selected."]


def references(summary: RankingSummary) -> list[str]:
    """Return the works to cite."""
    found = [summary.method.reference] if summary.method.reference else []
    if not any("Infinite Latent" in one for one in found):
        found.append(ILFS_REFERENCE)
    if summary.certainty is not None:
        found.append(BENJAMINI_HOCHBERG)
    if summary.stability is not None:
        found.append(STABILITY_REFERENCE)
    return found


def python_call(summary: RankingSummary) -> str:
    """Return Python code that repeats the ranking."""
    method = summary.method
    fit = "table.source" if summary.preparation else "X" if not label_word(summary) else f"X, {label_word(summary)}"
    module = "ilfs.selection" if method.inner or method.name in ("RankEnsemble",) else "ilfs"
    names = ", ".join(dict.fromkeys((method.name,)))
    inner = ", ".join(dict.fromkeys(one for one in method.inner if one != method.name))
    imports = [f"from {module} import {names}", *([f"from ilfs import {inner}"] if inner else [])]
    read = []
    if summary.preparation:
        imports.append("from ilfs.preparing import prepare")
        read = [f"table = {summary.preparation}"]
    groups = ", groups=table.groups" if summary.preparation and ", groups=" in summary.preparation else ""
    return "\n".join(
        [
            *imports,
            "",
            *read,
            f"selector = {method.call}",
            f"selector.fit({fit}{groups})",
            f'selector.report("ranking.html", {fit})',
        ]
    )


def label_word(summary: RankingSummary) -> str:
    """Return the labels in the code: the name of their column, or a variable; empty for a method without labels."""
    return repr(summary.target) if summary.target else "y" if summary.method.reads_labels else ""


def data_words(summary: RankingSummary) -> str:
    """Explain the variables of the code, which stand for what was passed to ``fit``."""
    if summary.preparation:
        return ""
    labels = " and y its labels" if label_word(summary) == "y" else ""
    holds = f", with the labels in its column {shortened(summary.target, 80)}" if summary.target else ""
    return f", where X is the table that was ranked{holds}{labels}"
