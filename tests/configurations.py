"""Every method with default parameters and in at least two other configurations, for the contract tests.

A registered method that is not listed here is added with default parameters.
"""

from ilfs import (
    CFS,
    FSV,
    ILFS,
    LLCFS,
    MCFS,
    SVMRFE,
    UDFS,
    FisherScore,
    HallCFS,
    InfFS,
    LaplacianScore,
    MutualInformation,
    Novelty,
    ReliefF,
    list_methods,
)

CONFIGURATIONS = [
    ILFS(),
    ILFS.paper(),
    ILFS(redundancy=None),
    ILFS(redundancy="novelty", n_jobs=2),
    ILFS(4, n_candidates=6, class_weight=None),
    ILFS(3, evidence="distance", topics="anchored", n_jobs=2),
    ILFS(0.25, intervals="pooled", n_tokens=4, class_weight=None),
    ILFS(topics="learned", leave_one_out=False, max_iter=5),
    ILFS.paper(3, evidence="distance_sum", literal_sign=True),
    FisherScore(),
    FisherScore(4, n_jobs=2),
    FisherScore(0.3, weighting="equal"),
    Novelty(FisherScore()),
    Novelty(LaplacianScore(), 3, n_jobs=2),
    Novelty(MutualInformation(), 0.3, redundancy="gain", n_candidates=5),
    FSV(),
    FSV(4, penalty=0.02, alpha=2.0, rest="last", n_jobs=2),
    FSV(0.3, standardize=False, max_iter=2),
    InfFS(),
    InfFS(5, alpha=0.5, damping=0.99, scale="range", n_jobs=2),
    InfFS(0.3, correlation="pearson", alpha=1.0, max_iter=3),
    LaplacianScore(),
    LaplacianScore(3, weights="binary", n_neighbors=3, n_jobs=2),
    LaplacianScore(0.5, width=2.0, n_neighbors=8),
    MutualInformation(),
    MutualInformation(3, n_bins=4, correction="miller-madow", n_jobs=2),
    MutualInformation(0.5, bins="width", n_bins=10),
    MutualInformation(edges=[-1.0, 0.0, 0.25, 0.5, 1.0, 3.0]),
    ReliefF(),
    ReliefF(3, n_neighbors=3, n_jobs=2),
    ReliefF(0.5, n_neighbors=5, n_samples=40, random_state=0),
    CFS(),
    CFS(4, n_jobs=2),
    CFS(0.25),
    UDFS(),
    UDFS(4, n_clusters=2, n_neighbors=1, gamma=1e-5, max_iter=20, n_jobs=2),
    UDFS(0.3, n_clusters=3, n_neighbors=8, gamma=2.0, regularization=0.1),
    MCFS(),
    MCFS(3, n_clusters=3, weights="binary", n_jobs=2),
    MCFS(0.8, n_clusters=2, n_neighbors=8, width=2.0),
    SVMRFE(),
    SVMRFE(4, C=0.1, step=3, n_jobs=2),
    SVMRFE(0.5, step=0.3, standardize=False),
    HallCFS(),
    HallCFS(5, discretize="frequency", n_bins=5),
    HallCFS(0.5, max_stale=2, n_jobs=2),
    LLCFS(),
    LLCFS(4, n_clusters=3, n_neighbors=5, beta=2.0, n_jobs=2),
    LLCFS(0.3, n_neighbors=3, max_iter=5, tol=0.1),
]
CONFIGURATIONS += [
    method.load()()
    for method in list_methods()
    if not method.wraps_another and method.load() not in map(type, CONFIGURATIONS)
]
