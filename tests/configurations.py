"""Every method in its default and in at least two other configurations: all of them pass the same contract."""

from ilfs import (
    CFS,
    ILFS,
    FisherScore,
    InfFS,
    LaplacianScore,
    MutualInformation,
    ReliefF,
)

CONFIGURATIONS = [
    ILFS(),
    ILFS.paper(),
    ILFS(3, evidence="distance", topics="anchored", n_jobs=2),
    ILFS(0.25, intervals="pooled", n_tokens=4, class_weight=None),
    ILFS(topics="learned", leave_one_out=False, max_iter=5),
    FisherScore(),
    FisherScore(4, n_jobs=2),
    FisherScore(0.3, weighting="equal"),
    InfFS(),
    InfFS(5, alpha=0.5, damping=0.99, scale="range", n_jobs=2),
    InfFS(0.3, correlation="pearson", alpha=1.0, max_iter=3),
    LaplacianScore(),
    LaplacianScore(3, weights="binary", n_neighbors=3, n_jobs=2),
    LaplacianScore(0.5, width=2.0, n_neighbors=8),
    MutualInformation(),
    MutualInformation(3, n_bins=4, correction="miller-madow", n_jobs=2),
    MutualInformation(0.5, bins="width", n_bins=10),
    ReliefF(),
    ReliefF(3, n_neighbors=3, n_jobs=2),
    ReliefF(0.5, n_neighbors=5, n_samples=40, random_state=0),
    CFS(),
    CFS(4, n_jobs=2),
    CFS(0.25),
]
