"""A paragraph on how a benchmark was computed, ready for the methods section of a paper."""

from ilfs.choices import METRIC_TITLES
from ilfs.report.benchmark.summary import ExperimentSummary
from ilfs.words import counted, listed

CITATION = (
    "G. Roffo, S. Melzi, U. Castellani, A. Vinciarelli: Infinite Latent Feature Selection: A Probabilistic Latent "
    "Graph-Based Ranking Approach. ICCV 2017."
)


def methods_text(experiment: ExperimentSummary) -> str:
    """Describe how a suite was computed.

    Parameters
    ----------
    experiment : ExperimentSummary
        The results of the suite.

    Returns
    -------
    str
        One paragraph.
    """
    facts = dict(experiment.provenance.protocol)
    methods = f"{counted(len(experiment.methods), 'method')} of feature selection ({', '.join(experiment.methods)})"
    versions = experiment.provenance.versions[0] if experiment.provenance.versions else "ilfs"
    if experiment.experiment == "timing":
        return f"{methods} were timed on {facts['Data']} (threads: {facts['Threads']}; {versions})."
    titles = ", ".join(one.title for one in experiment.datasets)
    sets = f"{counted(len(experiment.datasets), 'data set')} ({titles})"
    what, sizes = next((name, value) for name, value in facts.items() if "features" in name)
    classifiers = listed([one.name for one in experiment.classifiers])
    metric = METRIC_TITLES[experiment.metric if experiment.experiment == "sizes" else "ap_macro"]
    return (
        f"{methods} were compared on {sets} by the protocol of Roffo et al. (2017). Features were ranked on the "
        f"training rows of {counted(experiment.n_splits, 'stratified split')}, the same for all methods (seed "
        f"{facts['Seed'].split(';')[0]}). {what}: {sizes}. They were evaluated on the test rows by {classifiers}"
        f"{of_svm(facts)}; the metric is {metric}. Methods were compared {tests_of(experiment)} ({versions})."
    )


def of_svm(facts: dict[str, str]) -> str:
    """Say how C of the linear SVM was chosen, if it was used."""
    chosen = facts.get("C of the linear SVM")
    return f" (C: {chosen})" if chosen else ""


def tests_of(experiment: ExperimentSummary) -> str:
    """Name the tests of an experiment."""
    if experiment.experiment == "classes":
        return "over the classes by Wilcoxon's test with Holm's correction"
    return (
        "over the data sets by Friedman's test with Nemenyi's critical difference and by Wilcoxon's test with Holm's "
        "correction, and on each data set by the corrected resampled t-test of Nadeau and Bengio"
    )
