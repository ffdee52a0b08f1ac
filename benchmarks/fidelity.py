"""Measure the difference of every method from its independent references: the table of docs/fidelity.md.

    make fidelity

The references are those of the tests (definitions by explicit matrices, brute force, scikit-learn). The tests bound
the differences; this script prints them. Rows of the authors' toolbox need ILFS_ORACLE and are left out without it.
"""

import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr
from sklearn.datasets import load_iris
from sklearn.feature_selection import f_classif, mutual_info_classif
from sklearn.linear_model import lars_path

import ilfs
from ilfs.registry import BY_NAME

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "methods"), str(TESTS / "solvers")]
helpers = import_module("helpers")
TABLES = ("syn2c_60x40", "syn3c_90x30", "allaml_72x400", "colon_62x300")


def relative_difference(ours, theirs):
    """Return the largest difference as a fraction of the largest value."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def worst(pairs):
    return max((relative_difference(*pair) for pair in pairs), default=np.nan)


def records(configuration, names=TABLES):
    """Return recorded tables and results of the authors' toolbox; none if ILFS_ORACLE is not set."""
    return [helpers.oracle(name, configuration)[:3] for name in names] if helpers.ORACLE else []


def fisher():
    X, y = helpers.planted(n_classes=5)
    F = f_classif(X, y)[0]
    yield "`f_classif` (F, rescaled), 5 classes", relative_difference(ilfs.scorer("fisher")(X, y) * (len(y) - 5) / 4, F)
    toolbox = records("fisher", ("syn2c_60x40", "allaml_72x400", "colon_62x300"))
    yield (
        'toolbox, 3 tables (`weighting="equal"`)',
        worst((ilfs.FisherScore(weighting="equal").fit(X, y).scores_, w) for X, y, w in toolbox),
    )


def mi():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 8, (300, 20)), rng.integers(0, 3, 300)
    theirs = mutual_info_classif(X, y, discrete_features=True)
    yield "`mutual_info_classif`, discrete columns", relative_difference(ilfs.scorer("mi", n_bins=8)(X, y), theirs)
    y = np.arange(800) % 2
    X = rng.normal(size=(800, 30)) + np.outer(y, np.linspace(0.1, 3, 30))
    yield "strictly monotone maps", relative_difference(ilfs.scorer("mi")(np.exp(X), y), ilfs.scorer("mi")(X, y))
    yield (
        "order of the k-NN estimator, 1 - rank correlation, 800 x 30",
        1 - spearmanr(ilfs.scorer("mi")(X, y), mutual_info_classif(X, y, random_state=0)).statistic,
    )
    reference = import_module("test_information")
    means, deviations = [], []
    for seed in range(24):
        table, prior = reference.random_table(seed), reference.PRIORS[seed % 3]
        found, drawn = reference.posterior(table, prior), reference.draws(reference.with_prior(table, prior), seed)
        means.append((found.mean, drawn.mean()))
        deviations.append((np.sqrt(found.variance), drawn.std()))
    yield "posterior mean, Monte Carlo of 40,000 draws, 24 tables", worst(means)
    yield "posterior standard deviation, the same draws", worst(deviations)


def relieff():
    reference = import_module("test_relieff").by_definition
    tables = [helpers.planted(70, 13, n_classes=k) for k in (2, 3, 5)]
    yield (
        "definition by loops, 2, 3, 5 classes",
        worst((ilfs.scorer("relieff")(X, y), reference(X, y)) for X, y in tables),
    )
    tied = [(X.round(), y) for X, y in tables]
    yield "the same with ties", worst((ilfs.scorer("relieff")(X, y), reference(X, y)) for X, y in tied)
    lacking = [(np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X), y) for X, y in tables]
    yield "the same with missing values", worst((ilfs.scorer("relieff")(X, y), reference(X, y)) for X, y in lacking)
    X, y = load_iris(return_X_y=True)
    published = [0.1399, 0.1226, 0.3590, 0.3754]
    yield "published weights of iris (four digits)", float(np.abs(ilfs.scorer("relieff")(X, y) - published).max())


def rfe():
    reference = import_module("test_svm_rfe")
    for shape in ((30, 45), (60, 25)):
        X, y = helpers.planted(*shape, n_informative=3, shift=0.7)
        done = ilfs.SVMRFE().fit(X, y)
        excess = [
            (squares[there == gone[0]][0] - squares.min()) / squares.max()
            for gone, there, squares in reference.followed(done, reference.standard(X), y)
        ]
        yield (
            f"excess of the removed w² over the least of an exact SVM, {shape[0]} x {shape[1]}, all steps",
            max(excess),
        )


def fsv():
    reference = import_module("test_fsv")
    gaps, differences = [], []
    for shape in reference.SHAPES:
        X, y = reference.overlapping(*shape)
        done, Z = reference.first_program(X, y, penalty=0.05), reference.standardised(X)
        value = 0.95 * reference.mean_hinges(Z, y, done.weights_[0], done.intercepts_[0])
        value += 0.25 * np.abs(done.weights_[0]).sum()
        differences.append((value, reference.least_value(Z, y, np.full(shape[1], 0.25), 0.05)))
        gaps.append(np.abs(done.duality_gap_).max())
    yield "optimum of `linprog` on the whole program, 3 shapes", worst(differences)
    yield "duality gap", float(max(gaps))
    toolbox = records("fsv", ("syn3c_90x30", "colon_62x300"))
    if toolbox:
        pairs = (
            (np.abs(ilfs.FSV(penalty=1e-5, standardize=False, max_iter=3).fit(X, y).weights_[0]), np.abs(w))
            for X, y, w in toolbox
        )
        yield "toolbox, 2 tables (no loss, 3 programs)", worst(pairs)


def cfs():
    reference = import_module("test_cfs").least_of_matrix
    X, _ = helpers.planted(n_features=200)
    yield "`corrcoef`, 200 columns", relative_difference(ilfs.scorer("cfs")(X), -reference(X))
    yield "toolbox, 4 tables", worst((ilfs.scorer("cfs")(X), -w) for X, _, w in records("cfs"))


def ls():
    reference = import_module("test_laplacian_score")
    X, _ = helpers.planted(80, 15)
    W = reference.heat(X, 5, squareform(pdist(X)).mean())
    yield (
        "dense matrices on scikit-learn's graph",
        relative_difference(ilfs.scorer("ls")(X), -reference.by_matrices(X, W)),
    )
    toolbox = records("ls_knn5heat", TABLES[:3])
    yield "toolbox, 3 tables", worst((ilfs.scorer("ls")(X) + 1, w) for X, _, w in toolbox)


def mcfs():
    reference = import_module("test_mcfs")
    X, _ = helpers.planted(150, 12)
    done = ilfs.MCFS(n_clusters=6).fit(X)
    (values, _), _ = reference.generalised(X)
    yield "eigenvalues of a dense generalised solver", relative_difference(done.eigenvalues_, values[1:7])
    done = ilfs.MCFS(4, n_clusters=3).fit(X)
    centred = X - X.mean(axis=0)
    paths = [lars_path(centred, y - y.mean(), method="lar", max_iter=4)[2][:, -1] for y in done.embedding_.T]
    yield "`lars_path`", relative_difference(done.coefficients_, paths)


def udfs():
    reference = import_module("test_udfs")
    X = reference.table()
    L = reference.neighbourhood_laplacian(X, 4, 1e-3, None).toarray()
    yield (
        "dense sums over neighbourhoods",
        relative_difference(L, reference.laplacian_by_definition(X, 4, reference.ridge_of(X, 4, 1e-3))),
    )
    wide = reference.table(40, 90)
    one, two = (reference.scatter_of(wide, kind).inverse(np.ones(90)) for kind in (reference.Dense, reference.LowRank))
    yield "Woodbury and dense inverse", relative_difference(two(np.eye(90)), one(np.eye(90)))
    weights = []
    for X, _, w in records("udfs", TABLES[:2]):
        fraction = 1e-5 / reference.nearest_neighbours(X, 1).squared.mean()
        same = ilfs.UDFS(n_clusters=2, n_neighbors=1, gamma=1e-5, regularization=fraction, tol=1e-14)
        weights.append((same.fit(X).scores_ ** 2, w))
    yield "toolbox, 2 tables", worst(weights)


def llcfs():
    reference = import_module("test_llcfs")
    X, tau = reference.noise(), np.full(25, 1 / 25)
    for _ in range(6):
        tau = reference.step_by_definition(X, tau, 8, 2, 0.1 / X.var(axis=0).mean())[-1]
    yield (
        "definition by loops, 6 steps",
        relative_difference(ilfs.LLCFS(n_neighbors=8, max_iter=6, tol=1e-12).fit(X).weights_, tau),
    )
    yield "weights sum to one", abs(ilfs.LLCFS().fit(X).weights_.sum() - 1)
    weights = []
    for X, _, w in records("llcfs", TABLES[:3]):
        beta = 0.1 * X.var(axis=0).mean()  # the toolbox expects it in the units of the table
        weights.append((ilfs.LLCFS(n_neighbors=5, beta=beta, tol=1e-12).fit(X).scores_, w))
    yield "toolbox, 3 tables", worst(weights)


def hall_cfs():
    reference = import_module("test_hall_cfs")
    merits = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = np.arange(200) % (2 + seed % 3)
        X = rng.normal(size=(200, 8)) + np.outer(y, rng.uniform(0.5, 2, 8))
        X[:, 4:] += rng.uniform(0, 3) * X[:, :4]
        known = reference.uncertainties(reference.bins_of(X, y)[0], y)
        merits.append((ilfs.HallCFS().fit(X, y).merit_, reference.merit(*known, reference.best_of_all(*known))))
    yield "best merit of all 255 subsets, 12 tables", worst(merits)


def generalized_fisher():
    reference = import_module("test_generalized_fisher")
    minima, excess = [], []
    for seed in range(24):
        X, y = reference.mixed(seed, n_classes=2 + seed % 3)
        done = ilfs.GeneralizedFisherScore(3, tol=1e-9).fit(X, y)
        problem = reference.problem_of(X, y, 0.3)
        minima.append((problem(done.memberships_)[0], reference.cutting_planes(problem, 8, 3)))
        excess.append(done.objective_ / reference.best_of_all(X, y, 3, 0.3) - 1)
    yield "minimum of the authors' cutting planes, 24 tables", worst(minima)
    yield "the best of all 56 subsets, same tables: mean excess of the objective", float(np.mean(excess))
    yield "the same: fraction of tables on which another subset is better", float(np.mean(np.array(excess) > 1e-9))


def inf_fs():
    reference = import_module("test_inf_fs")
    X = reference.table()
    yield "explicit inverse", relative_difference(ilfs.scorer("inf_fs")(X), reference.scores_by_definition(X))
    radius = np.linalg.eigvalsh(reference.graph_by_definition(X, 0.2))[-1]
    yield "`eigvalsh`", relative_difference(ilfs.InfFS().fit(X).spectral_radius_, radius)
    yield (
        "toolbox 6.2, 4 tables",
        worst((ilfs.scorer("inf_fs", alpha=0.5, damping=0.99)(X), w) for X, _, w in records("inffs_v62_unsup")),
    )


CHECKS = (inf_fs, fisher, mi, relieff, rfe, fsv, cfs, ls, mcfs, udfs, llcfs, hall_cfs, generalized_fisher)


def main():
    warnings.simplefilter("ignore")
    print("| method | against | largest difference |\n|---|---|---|")
    for check in CHECKS:
        name = BY_NAME[check.__name__].class_name
        for what, difference in check():
            if not np.isnan(difference):
                print(f"| {name} | {what} | {difference:.1e} |", flush=True)


if __name__ == "__main__":
    main()
