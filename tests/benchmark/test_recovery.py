"""The experiment that counts the true features that methods find, and the suite known_answer."""

import numpy as np
import pytest

from ilfs.benchmark import SUITES, Results, Store, Suite, run
from ilfs.benchmark.evaluation.experiments import compute, truth_of
from ilfs.benchmark.evaluation.protocol import RecoveryJob
from ilfs.benchmark.evaluation.recovery import explained_fraction, n_directions, true_fraction
from ilfs.benchmark.suites.last_run import describe_run, read_run
from ilfs.datasets import load_truth
from ilfs.report.benchmark import paper_layout, statistics_of, summarise_benchmark, tables_of

IS_TRUE = np.array([False, True, False, True, True])


@pytest.mark.parametrize(
    ("order", "fraction"), [([1, 3, 4, 0, 2], 1.0), ([4, 0, 1, 3, 2], 2 / 3), ([0, 2, 1, 3, 4], 1 / 3)]
)
def test_recovery_is_the_fraction_of_true_columns_among_as_many_picks(order, fraction):
    assert true_fraction(np.array(order), IS_TRUE) == pytest.approx(fraction)


def test_combinations_of_columns_add_no_direction():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(400, 2))
    combined = np.column_stack([base, base @ rng.normal(size=(2, 4)) + 0.01 * rng.normal(size=(400, 4))])
    assert n_directions(combined) == 2


def test_two_directions_explain_all_columns_that_they_span_and_one_repeated_does_not():
    rng = np.random.default_rng(0)
    x, y = np.linalg.qr(rng.normal(size=(200, 2)) - rng.normal(size=(200, 2)).mean(axis=0))[0].T
    x, y = x - x.mean(), y - y.mean()
    X = np.column_stack([x, x, y, rng.normal(size=200)])
    true = np.array([True, True, True, False])
    assert explained_fraction(X, np.array([0, 2, 1, 3]), true) == pytest.approx(1)
    rho = np.corrcoef(x, y)[0, 1]
    assert explained_fraction(X, np.array([0, 1, 2, 3]), true) == pytest.approx((2 + rho**2) / 3)
    assert explained_fraction(X, np.array([3, 2, 1, 0]), true) == pytest.approx((1 + 2 * rho**2) / 3)


def test_no_true_column_among_the_picks_explains_nothing():
    X = np.random.default_rng(0).normal(size=(50, 4))
    assert explained_fraction(X, np.array([2, 3, 0, 1]), np.array([True, True, False, False])) == 0


@pytest.fixture(scope="module")
def suite():
    """Two data sets, of which mutual information finds the second."""
    datasets = ("xor_200x100", "variance_200x100")
    known = SUITES["known_answer"].only(datasets, ["mi", "fisher", "random"])
    return Suite("known_answer", "recovery", datasets, known.methods, n_splits=2, protocol=RecoveryJob())


@pytest.fixture(scope="module")
def results(suite, tmp_path_factory):
    with Store(tmp_path_factory.mktemp("recovery") / "known.sqlite") as store:
        for job in suite.jobs():
            store.write(job.key, job.identity, job.describe(), compute(job), provenance=job.provenance)
        return Results.from_store(suite, store)


def test_every_split_is_a_new_draw_of_the_data(suite):
    first, second = (job for job in suite.jobs() if job.dataset == "xor_200x100" and job.method.name == "mi")
    assert truth_of(first).table.checksum == load_truth("xor_200x100").table.checksum
    assert truth_of(second).table.checksum == load_truth("xor_200x100", random_state=1).table.checksum


def test_the_table_has_means_over_the_draws(suite, results):
    found, seconds = tables_of(results)
    assert found.header == ["data set", "k", "mi", "fisher", "random"]
    assert [row[:2] for row in found.rows] == [
        ["XOR among 100, 200 samples", 2],
        ["Variance only among 100, 200 samples", 4],
    ]
    by_hand = []
    for job in suite.jobs():
        if (job.dataset, job.method.name) == ("variance_200x100", "mi"):
            truth = truth_of(job)
            order = job.method.make(n_features_to_select=20).fit(truth.table.X, truth.table.y).order_
            by_hand.append(100 * truth.informative[order[:4]].mean())
    assert found.rows[1][2] == pytest.approx(np.mean(by_hand))
    assert found.rows[1][2] > 50 > found.rows[1][3]
    assert seconds.title.startswith("Seconds")


def test_the_suite_has_neither_classifiers_nor_tests_nor_a_page(suite, results):
    with pytest.raises(ValueError, match="has no classifiers, as it only counts the true features that are found"):
        suite.with_classifiers(["knn"])
    with pytest.raises(ValueError, match="has no statistics, as it only counts the true features"):
        statistics_of(results, "mi")
    with pytest.raises(ValueError, match="has no page: ilfs bench table known_answer shows it all"):
        summarise_benchmark([results])
    with pytest.raises(ValueError, match="is not in the paper"):
        paper_layout(results)


def test_data_whose_true_features_are_unknown_are_refused(suite):
    with pytest.raises(ValueError, match=r"must have data sets whose true features are known \(.*\), got 'wine'"):
        suite.only(["wine"])


def test_a_run_can_be_read_back_from_its_description(suite):
    again = read_run(describe_run(suite, suite)).suite
    assert (again.protocol, again.datasets, again.experiment) == (suite.protocol, suite.datasets, "recovery")


def test_a_run_continues(suite, tmp_path):
    small = suite.only(["xor_200x100"], ["fisher"])
    assert run(small, tmp_path / "s.sqlite", n_jobs=1).computed == 2
    assert run(small, tmp_path / "s.sqlite", n_jobs=1).found == 2
