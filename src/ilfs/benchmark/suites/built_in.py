"""The suites that have a name: those of the paper, one with recent methods, and a quick one."""

from ilfs.benchmark.baselines import BASELINES
from ilfs.benchmark.evaluation.classifiers import Classifier
from ilfs.benchmark.evaluation.protocol import Protocol, RecoveryJob, TimingJob
from ilfs.benchmark.methods.method import RANDOM, BenchmarkMethod
from ilfs.benchmark.suites.suite import PAPER_METHODS, TIMING_DATASET, Suite
from ilfs.datasets.known_answer import KNOWN_ANSWERS, TRUE_COLUMNS
from ilfs.methods import ILFS, METHODS

EM_STEPS = (1, 2, 3, 5, 10, 20, 50)


def ilfs_as(name: str, selector: ILFS) -> BenchmarkMethod:
    """Give a configuration of ILFS a name."""
    left_out = ("n_features_to_select", "n_jobs", "n_permutations", "random_state", "fdr")  # do not change the order
    return BenchmarkMethod(
        name, "ilfs", {key: value for key, value in selector.get_params().items() if key not in left_out}
    )


ILFS_OF_THE_PAPER = ilfs_as("ilfs_paper", ILFS.paper())  # the text of the paper; the defaults of the library differ
ILFS_STEPS = (  # the paper's formulas, stopped after some steps; at convergence; and as the authors' code computes them
    *(ilfs_as(f"steps_{n}", ILFS.paper(max_iter=n)) for n in EM_STEPS),
    ilfs_as("converged", ILFS.paper(max_iter=2000, tol=1e-6)),
    ilfs_as("toolbox", ILFS.toolbox()),
)
ILFS_NOVELTY = BenchmarkMethod("ilfs_novelty", "ilfs", {"redundancy": "novelty"})
ILFS_VARIANTS = (ILFS_NOVELTY, BenchmarkMethod("ilfs_plain", "ilfs", {"redundancy": None}), ILFS_OF_THE_PAPER)
NOVELTY_METHODS = tuple(  # the twelve methods, each with the same penalty for redundant features
    ILFS_NOVELTY
    if name == "ilfs"
    else BenchmarkMethod(f"{name}_novelty", "ilfs.Novelty", {"selector": {"selector": name}})
    for name in METHODS
)
VARIANTS_AND_RANDOM = (*ILFS_VARIANTS, BenchmarkMethod(RANDOM))
RECENT_METHODS = tuple(
    BenchmarkMethod(name) for name in ("hall_cfs", *BASELINES)
)  # methods that the paper does not have
# The fits on 5,000 images and 5,120 features are repeated for each of 20 classes. SVM-RFE therefore removes a tenth of
# the remaining features at a time. Methods without labels are fitted once for all classes.
DEEP_METHODS = tuple(
    BenchmarkMethod("rfe", parameters={"step": 0.1}) if one.name == "rfe" else one
    for one in (*PAPER_METHODS, ILFS_OF_THE_PAPER, BenchmarkMethod(RANDOM))
)
KNOWN_ANSWER_METHODS = (
    BenchmarkMethod("ilfs"),
    BenchmarkMethod("ilfs_pairs", "ilfs", {"interactions": 2}),
    BenchmarkMethod("ilfs_triples", "ilfs", {"interactions": 3}),
    *(BenchmarkMethod(name) for name in ("relieff", "mi", "hall_cfs", "extra_trees", "mrmrs", "fisher", RANDOM)),
)
PAPER_DATASETS = ("colon", "leukemia", "prostate", "lymphoma", "lung", "gina", "dexter", "polarity")
MORE_DATASETS = (
    "srbct",
    "glioma",
    "tox_171",
    "coil20",
    "usps",
    "arcene",
    "madelon",
    "dorothea",
    "office_caltech10",
    "pascal_sentence",
)

# One protocol for all suites with numbers of features, so that they share jobs. Kernels and trees cost most on many
# rows: 100 trees rank samples as well as 200, and large data sets have fewer splits.
FOUR_CLASSIFIERS = Protocol(
    classifiers=(
        *map(Classifier, ("linear_svm", "knn", "rbf")),
        Classifier("extra_trees", parameters={"n_estimators": 100}),
    )
)
LARGE_DATASETS = ("coil20", "dorothea", "office_caltech10", "usps")
MAX_SPLITS = {**dict.fromkeys(("gina", "dexter", "polarity", "madelon"), 5), **dict.fromkeys(LARGE_DATASETS, 2)}

SUITES = {
    suite.name: suite
    for suite in (
        Suite(
            "paper",
            "sizes",
            PAPER_DATASETS,
            (*PAPER_METHODS, *VARIANTS_AND_RANDOM),
            protocol=FOUR_CLASSIFIERS,
            max_splits=MAX_SPLITS,
        ),
        Suite(
            "deep",
            "classes",
            ("voc2007", "voc2012"),
            DEEP_METHODS,
            n_splits=1,
            protocol=Protocol(fractions=(0.01, 0.02, 0.05, 0.1, 0.25, 0.5), Cs=(1e-6, 1e-4), n_folds=2),
        ),
        Suite(
            "modern",
            "sizes",
            (*PAPER_DATASETS, *MORE_DATASETS),
            (*PAPER_METHODS, *ILFS_VARIANTS, *RECENT_METHODS, BenchmarkMethod(RANDOM)),
            n_splits=5,
            protocol=FOUR_CLASSIFIERS,
            max_splits=MAX_SPLITS,
        ),
        Suite(
            "novelty",
            "sizes",
            tuple(name for name in (*PAPER_DATASETS, *MORE_DATASETS) if name not in LARGE_DATASETS),
            NOVELTY_METHODS,
            n_splits=2,
            protocol=FOUR_CLASSIFIERS,
        ),
        Suite("steps", "sizes", PAPER_DATASETS, ILFS_STEPS, n_splits=5),
        Suite(
            "known_answer",
            "recovery",
            (*KNOWN_ANSWERS, *TRUE_COLUMNS),
            KNOWN_ANSWER_METHODS,
            n_splits=10,
            protocol=RecoveryJob(),
        ),
        Suite("timing", "timing", (TIMING_DATASET,), n_splits=1, protocol=TimingJob()),
        Suite(
            "quick",
            "sizes",
            ("breast_cancer", "wine", "synthetic_redundant"),
            tuple(BenchmarkMethod(name) for name in ("ilfs", "fisher", "mi", "ls", RANDOM)),
            n_splits=5,
            protocol=Protocol(sizes=(2, 5, 10)),
        ),
    )
}
