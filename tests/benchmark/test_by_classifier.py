"""Tables of several classifiers side by side, stability of families, and suites with fewer splits on some data."""

from dataclasses import replace

import numpy as np
import pytest

from ilfs.benchmark import SUITES, BenchmarkMethod, Protocol, Results, Store, Suite
from ilfs.benchmark.comparison import by_dataset
from ilfs.benchmark.evaluation.experiments import compute
from ilfs.benchmark.family_choices import families_of, family_choice_stability, stability_of_families
from ilfs.benchmark.suites.last_run import describe_run, read_run
from ilfs.report.benchmark import classifier_grids, family_stability_grid

DATASETS = ("wine", "iris", "breast_cancer", "variance_200x100")
METHODS = tuple(BenchmarkMethod(name) for name in ("fisher", "mi", "random"))
PROTOCOL = Protocol(sizes=(1, 3), Cs=(0.1,), classifiers=("linear_svm", "knn"))
SUITE = Suite("mine", "sizes", DATASETS, METHODS, n_splits=3, protocol=PROTOCOL, max_splits={"breast_cancer": 2})


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    with Store(tmp_path_factory.mktemp("classifiers") / "mine.sqlite") as store:
        for job in SUITE.jobs():
            store.write(job.key, job.identity, job.describe(), compute(job), provenance=job.provenance)
        return Results.from_store(SUITE, store)


def test_large_data_sets_may_have_fewer_splits(results):
    there = [[row is not None for row in of_set[0]] for of_set in results.rows]
    assert there == [[True] * 3, [True] * 3, [True, True, False], [True] * 3]
    assert (results.n_missing, results.n_jobs) == (0, 33)
    assert len(replace(SUITE, n_splits=1).jobs()) == 12
    assert read_run(describe_run(SUITE, SUITE)).suite == SUITE


def test_standings_are_mean_worst_set_and_rank(results):
    standings, _ = classifier_grids(results, "fisher")
    assert standings.header == ["method", "linear_svm", "knn"]
    assert [row[0] for row in standings.rows] == ["fisher", "mi", "random", "best"]
    means = by_dataset(100 * results.by_classifier("knn").values("ap_macro"))
    ranks = 1 + (means[:, [0]] < means).sum(axis=1)
    assert standings.rows[0][2] == f"{means[:, 0].mean():.1f} / {means[:, 0].min():.1f} / {ranks.mean():.1f}"
    best = [results.methods[j] for j in (means.mean(axis=0).argmax(), means.min(axis=0).argmax())]
    assert standings.rows[-1][2].split(" / ")[:2] == best


def test_verdicts_are_differences_and_words(results):
    _, verdicts = classifier_grids(results, "fisher")
    means = by_dataset(100 * results.by_classifier("knn").values("ap_macro"))
    assert [row[0] for row in verdicts.rows] == ["mi", "random", "better than"]
    # Four data sets cannot be significant: the smallest p-value of Wilcoxon's test is 1/8.
    assert verdicts.rows[1][2] == f"{(means[:, 0] - means[:, 2]).mean():+.1f} n.s."
    assert verdicts.rows[2][1:] == ["0 of 2", "0 of 2"]


def test_selected_results_are_those_of_a_smaller_suite(results):
    some = results.select(["wine", "breast_cancer"], ["mi", "fisher"])
    assert (some.datasets, some.methods) == (("wine", "breast_cancer"), ("mi", "fisher"))
    np.testing.assert_array_equal(some.values("auc"), results.values("auc")[np.ix_([0, 2], [1, 0])])
    assert (some.n_jobs, some.n_missing, some.n_failed) == (10, 0, 0)


def test_a_choice_of_copies_is_stable_in_families_only():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=300)
    columns = np.array([0, 1, 2])
    related, n_related = families_of(X, columns)
    np.testing.assert_array_equal(related, [[True, True, False], [True, True, False], [False, False, True]])
    np.testing.assert_allclose(n_related, [1, 1, 0])
    assert stability_of_families([[0], [1], [0]], 40, columns, related, n_related) == 1
    assert stability_of_families([[0], [2], [0]], 40, columns, related, n_related) < 0.4


def test_stability_of_families_is_undefined_if_chance_chooses_them_too():
    columns, related = np.arange(2), np.ones((2, 2), dtype=bool)
    assert stability_of_families([[0], [1], [0]], 40, columns, related, np.full(2, 30.0)) == 1
    assert np.isnan(stability_of_families([[0], [1], [0]], 40, columns, related, np.full(2, 39.0)))


def test_families_of_independent_columns_are_the_features_themselves(results):
    only = results.select(["variance_200x100"])
    table = family_stability_grid(only, 3)
    assert table.header[:3] == ["method", "features", "families"]
    for row in table.rows:
        assert row[1] == pytest.approx(row[2])
    assert table.rows[0][2] != table.rows[2][2]


def test_stability_of_families_needs_two_splits_and_a_choice(results):
    assert family_choice_stability(results.select(["iris"]), 1).shape == (1, 3)
    every = family_choice_stability(results.select(["iris"]), 4)
    assert np.isnan(every).all()
    alone = replace(results, rows=results.rows[:, :, :1])
    assert np.isnan(family_choice_stability(alone, 3)).all()


def test_the_suites_with_four_classifiers_share_their_first_splits():
    paper, modern = SUITES["paper"].only(["colon"], ["fisher"]), SUITES["modern"].only(["colon"], ["fisher"])
    assert (paper.splits_of("colon"), modern.splits_of("colon")) == (20, 5)
    facts = {"colon": type("Facts", (), {"n_splits": 1, "checksum": "", "content": ""})()}
    assert [job.key for job in paper.jobs(facts)] == [job.key for job in modern.jobs(facts)]
