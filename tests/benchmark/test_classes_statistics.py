"""Tests over classes, and the paper's count over both of its experiments."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from ilfs.benchmark import BenchmarkMethod, Outcome, Protocol, Store, Suite
from ilfs.benchmark import paper_tables as paper
from ilfs.benchmark.comparison import paper_verdict, rank_diagram
from ilfs.benchmark.printed_tests import printed_tests
from ilfs.benchmark.significance import (
    binomial_tail,
    compare_over_classes,
    holm,
    joint_verdict,
    paired_t_test,
    paper_procedure,
    t_test_of_moments,
)
from ilfs.benchmark.store.results import Results
from ilfs.benchmark.suites import suite as suites_module
from ilfs.benchmark.suites.last_run import describe_run
from ilfs.cli import main
from ilfs.datasets import Dataset
from ilfs.report.benchmark import joint_grid, statistics_of

CLASSES = [row for name, row in paper.bold_methods() if name == "voc2007" and row != "mean"]
METHODS = paper.METHODS_OF_THE_PAPER


def table_3(dataset):
    """Numbers of the paper's Table 3, of shape (n_classes, n_methods)."""
    return np.array([[paper.class_precision()[dataset, row, m] for m in METHODS] for row in CLASSES])


@pytest.mark.parametrize("dataset", paper.VOC_DATASETS)
def test_tests_over_the_papers_classes_are_those_of_scipy(dataset):
    values = table_3(dataset)
    found = compare_over_classes(values, METHODS.index("ilfs"))
    assert [one.method for one in found] == list(range(11))
    ours = values[:, -1]
    for one in found:
        other = values[:, one.method]
        assert one.two_sample.p_value == pytest.approx(stats.ttest_ind(ours, other).pvalue)
        assert one.paired.p_value == pytest.approx(stats.ttest_rel(ours, other).pvalue)
        assert one.paired.statistic == pytest.approx(stats.ttest_rel(ours, other).statistic)
        assert one.difference == pytest.approx((ours - other).mean())
        assert one.wins + one.ties + one.losses == 20
    assert [one.adjusted for one in found] == pytest.approx(holm([one.signed_ranks for one in found]).tolist())


def test_paired_tests_find_what_the_papers_test_misses():
    """On the printed VOC 2007, no two-sample test is significant; four paired tests are, after Holm's correction."""
    found = compare_over_classes(table_3("voc2007"), METHODS.index("ilfs"))
    assert min(one.two_sample.p_value for one in found) > 0.4
    assert {METHODS[one.method] for one in found if one.adjusted < 0.05} == {"cfs", "fsv", "relieff", "rfe"}


def test_false_alarms_of_the_paired_tests_over_classes_are_as_stated():
    rng = np.random.default_rng(0)
    paired, two_sample = [], []
    for _ in range(400):
        values = rng.normal(80, 10, size=(20, 1)) + rng.normal(size=(20, 2))
        (found,) = compare_over_classes(values)
        paired.append(found.paired.p_value < 0.05)
        two_sample.append(found.two_sample.p_value < 0.05)
    assert 0.025 < np.mean(paired) < 0.08
    assert np.mean(two_sample) == 0  # it never rejects: classes differ far more than methods


def test_missing_classes_are_left_out_in_pairs():
    values = np.array([[3.0, 1.0, np.nan], [5.0, 2.0, 1.0], [5.0, 4.0, 2.0], [np.nan, 9.0, 3.0]])
    (found,) = compare_over_classes(values)  # the third method shares only two classes with the first
    assert (found.method, found.wins, found.ties, found.losses) == (1, 3, 0, 0)
    assert found.paired.statistic == pytest.approx(2 / np.sqrt(1 / 3))


def test_paired_t_test_of_no_difference_at_all():
    assert paired_t_test([1.0, 2.0], [1.0, 2.0]).p_value == 1.0


def test_t_test_of_moments_is_that_of_scipy():
    first, second = (96.35, 5.0, 100), (93.55, 3.0, 40)
    expected = stats.ttest_ind_from_stats(*first, *second)
    found = t_test_of_moments(first, second)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))


def test_the_papers_seven_successes_and_their_p_values():
    found = {one.dataset: one for one in printed_tests()}
    assert len(found) == 10
    assert sum(one.best for one in found.values()) == 7
    assert (found["gina"].best, found["gina"].other) == (False, "fisher")
    assert found["colon"].p_value == pytest.approx(stats.ttest_ind_from_stats(96.35, 5, 100, 96.10, 5, 100).pvalue)
    expected = stats.ttest_ind(table_3("voc2012")[:, -1], table_3("voc2012")[:, METHODS.index("mi")]).pvalue
    assert found["voc2012"].p_value == pytest.approx(expected)


def test_only_a_probability_of_35_per_cent_gives_the_papers_tail():
    rounded = {p: f"{binomial_tail(10, 7, p / 1000):.2e}" for p in range(1001)}
    assert [p for p, tail in rounded.items() if tail == "4.82e-03"] == [350]
    # the mean p-value of the seven successes against the second best rounds to it
    mean = np.mean([one.p_value for one in printed_tests() if one.best])
    assert mean == pytest.approx(0.352, abs=5e-4)


def test_a_joint_count_is_that_of_all_data_sets_at_once():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(10, 3, 30)) + np.array([0.3, 0, 0])[:, None]
    together, parts = paper_procedure(values), [paper_procedure(values[:8]), paper_procedure(values[8:])]
    found = joint_verdict(parts)
    assert (found.n_trials, found.n_successes, found.tail) == (10, together.n_successes, together.tail)
    assert found.n_significant == together.significantly_best.sum()
    assert found.at_least == binomial_tail(10, found.n_successes - 1, 0.35)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Results of both experiments: eight data sets of splits, and two of three classes each."""
    made = Dataset("made", np.zeros((90, 40)), np.arange(90) % 3, ("a", "b", "c"), known_checksum="c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suites_module, "load", lambda _, voc: made)
        return both_experiments(tmp_path_factory.mktemp("two"))


def both_experiments(folder):
    methods = tuple(BenchmarkMethod(name) for name in ("ilfs", "fisher", "random"))
    eight = (*paper.MICROARRAYS, *paper.OTHER_DATASETS)
    suites = (
        Suite("paper", "sizes", eight, methods, 2, Protocol(sizes=(2, 4))),
        Suite("deep", "classes", ("voc2007", "voc2012"), methods, 1),
    )
    rng = np.random.default_rng(0)
    several = []
    for suite in suites:
        with Store(folder / f"{suite.name}.sqlite") as store:
            for job in suite.jobs():
                base = {"ilfs": 0.9, "fisher": 0.8, "random": 0.5}[job.method.name]
                if job.dataset in ("gina", "voc2012") and job.method.name == "fisher":
                    base = 0.95
                value = base + rng.normal(scale=0.01)
                measured = [(size, "ap_macro", -1, value + size / 1000) for size in (2, 4)]
                measured += [(20, m, k, value + 0.01 * k) for m in ("ap", "ap_2007", "ap_2012") for k in range(3)]
                store.write(job.key, job.identity, job.describe(), Outcome(measured, [1], 0.1, 0.2))
            several.append(Results.from_store(suite, store))
    return several


def test_both_experiments_are_counted_together(two):
    grid = joint_grid(two, "ilfs")
    rows = {row[0]: row[1:] for row in grid.rows}
    assert rows["suite paper"][0] == "7 of 8"
    assert rows["suite deep"][0] == "1 of 2"
    assert rows["together"][0] == "8 of 10"
    assert rows["together"][2] == f"{binomial_tail(10, 8, 0.35):.2e}"
    assert rows["the paper"][:4] == ["7 of 10", 3, "4.82e-03", "2.60e-02"]
    assert rows["together"][-1].endswith("VOC 2007, EfficientNet-Lite0")


def test_a_data_set_in_both_stores_and_a_wrong_reference_are_refused(two):
    with pytest.raises(ValueError, match="the stores must have different data sets, got colon in both"):
        joint_grid([two[0], two[0]], "ilfs")
    with pytest.raises(ValueError, match="the reference must be one of ilfs, fisher, random, got 'mi'"):
        joint_grid(two, "mi")


def test_statistics_of_classes_have_the_papers_test_and_paired_ones(two):
    first, second, procedure = statistics_of(two[1], "ilfs")
    assert first.title.startswith("ilfs against each method over the 3 classes of VOC 2007")
    assert [row[:2] for row in first.rows] == [["fisher", "3 / 0 / 0"], ["random", "3 / 0 / 0"]]
    assert [row[:2] for row in second.rows] == [["fisher", "0 / 0 / 3"], ["random", "3 / 0 / 0"]]
    assert any("share their samples" in note for note in second.notes)
    assert [row[:2] for row in procedure.rows] == [["suite deep", "1 of 2"], ["the paper", "7 of 10"]]
    verdict = paper_verdict(two[1], "ilfs")
    assert (verdict.n_trials, verdict.n_successes) == (2, 1)


def test_statistics_of_classes_refuse_what_they_do_not_have(two):
    with pytest.raises(ValueError, match=r"suite deep has average precision only \(ap_macro\), got the metric 'auc'"):
        statistics_of(two[1], "ilfs", "auc")
    with pytest.raises(ValueError, match="suite deep has no diagram of ranks"):
        rank_diagram(two[1])


def test_too_few_classes_are_replaced_by_the_reason(two):
    few = replace(two[1], rows=two[1].rows.copy())
    few.rows[0, 1:] = None
    first, *_ = statistics_of(few, "ilfs")
    assert first.notes == ["Not possible: tests over classes need three classes that two methods share."]


def stored(suite, folder):
    """File of results of a suite, with values that depend on the method only."""
    path = folder / f"{suite.name}.sqlite"
    with Store(path) as store:
        store.remember(describe_run(suite, suite))
        for job in suite.jobs():
            value = {"fisher": 0.9, "random": 0.5}[job.method.name]
            measured = [(2, "ap_macro", -1, value), *((6, "ap", k, value + 0.01 * k) for k in range(3))]
            store.write(job.key, job.identity, job.describe(), Outcome(measured, [1], 0.1, 0.2))
    return str(path)


def test_the_command_counts_two_stores(tmp_path, capsys):
    methods = tuple(BenchmarkMethod(name) for name in ("fisher", "random"))
    sizes = stored(Suite("mine", "sizes", ("iris",), methods, 2, Protocol(sizes=(2,))), tmp_path)
    classes = stored(Suite("deep", "classes", ("wine",), methods, 1), tmp_path)
    assert main(["bench", "statistics", "--store", sizes, "--with-store", classes]) == 0
    said = capsys.readouterr().out
    assert "together    2 of 2" in said
    assert main(["bench", "statistics", "--store", classes, "--format", "html"]) == 0
    assert "over the 3 classes of Wine" in capsys.readouterr().out
    assert main(["bench", "statistics", "--store", sizes, "--with-store", str(tmp_path / "none")]) == 2
    assert "--with-store must name a file of results" in capsys.readouterr().err
    assert main(["bench", "statistics", "--store", sizes, "--with-store", sizes]) == 2
    assert "got iris in both" in capsys.readouterr().err
    for store in (sizes, classes):
        assert main(["bench", "table", "--store", store, "--layout", "paper"]) == 0
        assert "tests as the paper counts its 576" in capsys.readouterr().out
    assert main(["bench", "table", "--store", sizes, "--layout", "paper", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("method,dataset,mean,deviation,least,largest,mark")


def test_each_number_of_features_has_its_own_comparison(tmp_path, monkeypatch):
    n_classes = 8  # the smallest p-value of Wilcoxon's test is 2 / 2^8 = 0.008
    names = tuple("abcdefgh")
    made = Dataset("made", np.zeros((80, 40)), np.arange(80) % n_classes, names, known_checksum="c")
    monkeypatch.setattr(suites_module, "load", lambda _, voc: made)
    methods = tuple(BenchmarkMethod(name) for name in ("ilfs", "fisher"))
    suite = Suite("deep", "classes", ("voc2007",), methods, 1, Protocol(fractions=(0.05, 0.5)))
    # With two features ILFS leads on every class, by 1 to 8 points; with twenty on every other class, by 1 point.
    behind = {2: [0.01 * (k + 1) for k in range(n_classes)], 20: [0.01 * (-1) ** k for k in range(n_classes)]}
    with Store(tmp_path / "deep.sqlite") as store:
        for job in suite.jobs():
            measured = [
                (size, metric, k, 0.9 - (behind[size][k] if job.method.name == "fisher" else 0.0))
                for size in behind
                for metric in ("ap", "ap_2007", "ap_2012")
                for k in range(n_classes)
            ]
            store.write(job.key, job.identity, job.describe(), Outcome(measured, [1], 0.1, 0.2))
        results = Results.from_store(suite, store)
    (grid,) = [grid for grid in statistics_of(results, "ilfs") if "by number of features" in grid.title]
    assert grid.header == ["method", "2", "20"]
    assert grid.rows == [["fisher", "+4.5 better", "+0.0 n.s."]]
