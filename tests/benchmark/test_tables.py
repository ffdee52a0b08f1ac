import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.naive_bayes import GaussianNB

from ilfs.benchmark import BenchmarkMethod, Outcome, Protocol, Store, Suite, run
from ilfs.benchmark.comparison import by_dataset, rank_diagram
from ilfs.benchmark.evaluation.job import OWN_SIZE
from ilfs.benchmark.store.results import Results
from ilfs.benchmark.suites import suite as suites_module
from ilfs.benchmark.suites.built_in import PAPER_DATASETS
from ilfs.choices import FORMATS
from ilfs.datasets import Dataset
from ilfs.report.benchmark.statistics import features_grids, statistics_of
from ilfs.report.benchmark.tables import quality_grid, sizes_tables, tables_of
from ilfs.text_table import Grid

GRID = Grid("Title", ["name", "value"], [["a_b", 1.25], ["c & d", None], ["e", 1234.0]], notes=["A note."])


def test_every_format_has_every_value():
    assert GRID.render("text") == "Title\n\nname    value\na_b       1.2\nc & d       -\ne      1234.0\n\nA note."
    assert "| c & d | - |" in GRID.render("markdown")
    assert "|---|---:|" in GRID.render("markdown")
    assert r"c \& d & - \\" in GRID.render("latex")
    assert r"a\_b & 1.2 \\" in GRID.render("latex")
    assert list(csv.reader(io.StringIO(GRID.render("csv")))) == [
        ["name", "value"],
        ["a_b", "1.250000"],
        ["c & d", ""],
        ["e", "1234.000000"],
    ]


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Results on the paper's eight data sets, with values that are easy to check."""
    made = Dataset("made", np.zeros((90, 40)), np.arange(90) % 2, ("no", "yes"), known_checksum="c")
    monkeypatch.setattr(suites_module, "load", lambda _, voc: made)
    methods = tuple(BenchmarkMethod(name) for name in ("ilfs", "fisher", "random"))
    suite = Suite("s", "sizes", PAPER_DATASETS, methods, 3, Protocol(sizes=(2, 4)))
    rng = np.random.default_rng(0)
    with Store(tmp_path / "s.sqlite") as store:
        for job in suite.jobs():
            if (job.dataset, job.method.name, job.split) == ("colon", "random", 2):
                store.write(job.key, job.identity, job.describe(), None, reason="by design")
                continue
            base = {"ilfs": 0.9, "fisher": 0.8, "random": 0.5}[job.method.name] + 0.01 * job.split
            metrics = ("ap_macro", "ap_majority", "accuracy", "auc")
            measured = [(size, metric, -1, base + 0.02 * (size == 4)) for size in (2, 4) for metric in metrics]
            order = rng.permutation(40)[:4].tolist() if job.method.name == "random" else [1, 2, 3, 4]
            store.write(job.key, job.identity, job.describe(), Outcome(measured, order, 0.1, 0.2))
        yield Results.from_store(suite, store)


def test_means_over_splits_and_sizes_stand_beside_the_papers(results):
    ours, majority, printed, difference, _, _ = sizes_tables(results)
    assert ours.header[:3] == ["method", "COLON", "LEUKEMIA"]
    assert ours.header[-4:] == ["microarrays", "others", "mean", "least"]
    ilfs = dict(zip(ours.header, ours.rows[0], strict=True))
    assert ilfs["COLON"] == pytest.approx(92.0)
    assert ilfs["GINA (rebuilt)"] == pytest.approx(92.0)
    assert printed.rows[0][1] == 96.35
    assert difference.rows[0][1] == pytest.approx(92.0 - 96.35)
    assert printed.rows[2][1] is None
    assert majority.rows == ours.rows


def test_seconds_are_the_median_of_the_splits_and_the_sum_of_the_sets(results):
    seconds = sizes_tables(results)[-1]
    assert (seconds.header[0], seconds.header[-1]) == ("method", "all")
    assert [row[1:9] for row in seconds.rows] == [[0.1] * 8] * 3
    assert [row[9] for row in seconds.rows] == pytest.approx([0.8] * 3)


def test_failed_jobs_are_noted_and_left_out_of_the_mean(results):
    assert (results.n_failed, results.n_missing) == (1, 0)
    tables = tables_of(results)
    assert tables[0].rows[2][1] == pytest.approx(51.5)
    assert tables[0].notes == ["1 of 72 jobs failed, the first: colon, random, split 2: by design."]
    assert tables[0].title.endswith("mean of 2 to 3 of 3 splits")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Results of wine and iris by two classifiers; one method chooses two features itself."""
    sfs = BenchmarkMethod("sfs", SequentialFeatureSelector(GaussianNB(), n_features_to_select=2, cv=2))
    protocol = Protocol(sizes=(1, 3), Cs=(1e-4, 0.01, 1.0), classifiers=("knn", "linear_svm"))
    suite = Suite("s", "sizes", ("wine", "iris"), (BenchmarkMethod("fisher"), BenchmarkMethod("mi"), sfs), 2, protocol)
    with Store(tmp_path_factory.mktemp("stored") / "s.sqlite") as store:
        run(suite, store, n_jobs=1)
        return Results.from_store(suite, store)


def test_tables_are_of_one_classifier_and_name_the_others(stored):
    assert stored.classifiers == ("knn", "linear_svm")
    assert stored.classifier == "linear_svm"
    by_svm, by_knn = tables_of(stored)[0], tables_of(stored.by_classifier("knn"))[0]
    assert by_svm.notes[0] == "Evaluated by the classifier linear_svm; this suite also has knn."
    assert by_knn.notes[0] == "Evaluated by the classifier knn; this suite also has linear_svm."
    assert by_svm.rows != by_knn.rows
    assert statistics_of(stored.by_classifier("knn"), "fisher")[0].notes[2] == by_knn.notes[0]
    with pytest.raises(ValueError, match="the classifier must be one of knn, linear_svm, which suite s has, got 'rbf'"):
        stored.by_classifier("rbf")


def test_notes_tell_how_often_c_is_at_an_end_of_its_grid(stored):
    on_edge = stored.values_or_own("C_on_edge")
    expected = f"The chosen C is at an end of its grid in {100 * on_edge.mean():.0f} % of the fits."
    assert tables_of(stored)[0].notes[-1] == expected
    assert expected in statistics_of(stored, "fisher")[0].notes
    assert not any("end of its grid" in note for note in tables_of(stored.by_classifier("knn"))[0].notes)


def test_a_method_of_its_own_size_is_shown_at_that_size(stored):
    table = tables_of(stored)[0]
    assert [row[0] for row in table.rows] == ["fisher", "mi", "sfs (own)"]
    own = stored.values("ap_macro", [OWN_SIZE])[:, 2, :, 0]
    assert table.rows[2][1:3] == pytest.approx((100 * own.mean(axis=1)).tolist())
    assert "sfs chooses its own number of features, 2.0 on average." in table.notes
    assert np.isnan(stored.values("ap_macro")[:, 2]).all()
    ranks = statistics_of(stored, "fisher")[0]
    assert "Left out, as they choose the number of features themselves: sfs." in ranks.notes


def test_stability_of_a_method_of_its_own_size_is_not_given_by_size(stored):
    *_, by_set, by_size = statistics_of(stored, "fisher")
    assert by_set.rows[2][0] == "sfs"
    assert all(-1 <= value <= 1 for value in by_set.rows[2][1:])
    assert by_size.rows[2][1:] == [None, None]


def test_the_csv_has_a_column_for_the_classifier_and_own_sizes(stored):
    rows = list(csv.DictReader(io.StringIO(quality_grid(stored).render("csv"))))
    assert [(row["classifier"], row["method"], row["size"]) for row in rows[:7]] == [
        ("knn", "fisher", "1"),
        ("knn", "fisher", "3"),
        ("knn", "fisher", "all"),
        ("knn", "mi", "1"),
        ("knn", "mi", "3"),
        ("knn", "mi", "all"),
        ("knn", "sfs", "own"),
    ]
    assert float(rows[6]["n_features"]) == 2
    assert {row["C_on_edge"] for row in rows if row["classifier"] == "knn"} == {""}
    assert all(0 <= float(row["C_on_edge"]) <= 100 for row in rows if row["classifier"] == "linear_svm")
    some = list(csv.DictReader(io.StringIO(quality_grid(stored, ["linear_svm"]).render("csv"))))
    assert some == [row for row in rows if row["classifier"] == "linear_svm"]


def test_splits_are_not_missing_where_a_data_set_has_fewer_folds(tmp_path):
    rows = [f"{k % 7},{k * 5 % 11},{'yn'[k % 2]},{k % 3}" for k in range(60)]
    (tmp_path / "a.csv").write_text("\n".join(["a,b,class,fold", *rows]))
    suite = Suite("s", "sizes", (f"{tmp_path}/a.csv?target=class&folds=fold", "wine"), (BenchmarkMethod("fisher"),), 5)
    suite = replace(suite, protocol=Protocol(sizes=(1,), Cs=(0.1,)))
    assert len(suite.jobs()) == 3 + 5
    with Store(tmp_path / "s.sqlite") as store:
        assert run(suite, store, n_jobs=1).failed == 0
        table = tables_of(Results.from_store(suite, store))[0]
    assert table.title.endswith("mean of 3 to 5 splits")
    assert not any("not been computed" in note for note in table.notes)


def test_the_csv_has_all_metrics_in_long_form_without_times(results):
    rows = list(csv.DictReader(io.StringIO(quality_grid(results).render("csv"))))
    assert len(rows) == 8 * 3 * 3
    first = rows[0]
    assert (first["dataset"], first["method"], first["size"]) == ("colon", "ilfs", "2")
    assert float(first["ap_macro"]) == pytest.approx(91.0)
    assert float(rows[2]["paper"]) == 96.35
    assert not any("second" in column for column in first)


def test_statistics_find_the_method_that_is_better_on_every_data_set(results):
    ranks, over_datasets, on_datasets, papers, by_set, by_size = statistics_of(results, "ilfs")
    assert [row[0] for row in ranks.rows] == ["ilfs", "fisher", "random"]
    assert "8 data sets" in ranks.notes[0]
    assert ranks.notes[1].startswith("1 of 72 jobs failed")
    assert over_datasets.rows[0][:2] == ["fisher", "8 / 0 / 0"]
    assert over_datasets.rows[0][2] == pytest.approx(10.0)
    assert on_datasets.rows[0][1:] == ["better"] * 8
    assert papers.rows[0][1] == "8 of 8"
    stability = {row[0]: row[-1] for row in by_set.rows}
    assert stability["ilfs"] == 1.0
    assert abs(stability["random"]) < 0.15
    assert [row[1] for row in by_size.rows][:2] == [1.0, 1.0]
    assert [entry.name for entry in rank_diagram(results).entries] == ["ilfs", "fisher", "random"]


def test_wrong_references_are_refused(results):
    with pytest.raises(ValueError, match="the reference must be one of ilfs, fisher, random, got 'nobody'"):
        statistics_of(results, "nobody")


def test_every_table_can_be_rendered_in_every_format(results):
    for grid in [*tables_of(results), *statistics_of(results, "ilfs")]:
        for form in FORMATS:
            assert grid.render(form)


def test_means_are_over_the_splits_that_all_methods_have():
    values = np.arange(2 * 3 * 4 * 1, dtype=float).reshape(2, 3, 4, 1)
    values[0, 1, 2] = np.nan  # a split that one method misses is left out for all
    values[1, 2] = np.nan  # a method that misses all of them is left out itself
    means = by_dataset(values)
    np.testing.assert_allclose(means[0], [(0 + 1 + 3) / 3, (4 + 5 + 7) / 3, (8 + 9 + 11) / 3])
    np.testing.assert_allclose(means[1], [13.5, 17.5, np.nan])


def test_tests_that_need_more_data_sets_are_replaced_by_the_reason(results):
    one = replace(results, suite=results.suite.only(datasets=["lung"]), rows=results.rows[4:5], n_failed=0)
    ranks, over_datasets, on_datasets, *_, by_set, _ = statistics_of(one, "ilfs")
    assert ranks.rows == []
    assert "at least 2 methods and 2 complete data sets" in ranks.notes[0]
    assert [ranks.title, over_datasets.title] == [
        "Mean rank over the data sets",
        "ilfs against each method over the data sets",
    ]
    assert over_datasets.notes == [
        "Not possible: Wilcoxon's test needs at least three data sets that the reference shares with another method."
    ]
    assert on_datasets.rows[0] == ["fisher", "better"]
    assert by_set.rows[0][1] == 1.0
    assert sizes_tables(one)[0].header == ["method", "LUNG"]


def test_a_method_that_fails_on_a_data_set_is_left_out_of_the_ranks(results):
    rows = results.rows.copy()
    rows[3, 1] = None
    ranks = statistics_of(replace(results, rows=rows), "ilfs")[0]
    assert [row[0] for row in ranks.rows] == ["ilfs", "random"]
    assert "Left out, as they have no values on some data set: fisher." in ranks.notes


def test_chosen_features_are_listed_by_name(results):
    names = tuple(f"gene{j}" for j in range(40))
    facts = {name: replace(one, feature_names=names) for name, one in results.facts.items()}
    results = replace(results, facts=facts)
    first = features_grids(results, 3, top=3, by="ilfs")[0]
    assert [row[:4] for row in first.rows] == [[f"gene{j}", j, 1.0, 1.0] for j in (1, 2, 3)]
    assert len(features_grids(results, 3, top=100)[0].rows) > 3
    with pytest.raises(ValueError, match="size must be at most 4, as orders are stored up to there, got 5"):
        features_grids(results, 5)
    with pytest.raises(ValueError, match="the method to order by must be one of ilfs, fisher, random, got 'x'"):
        features_grids(results, 3, by="x")


def test_special_characters_of_a_format_are_escaped():
    grid = Grid("T", ["a|b", "x_y"], [["~ ^ \\ {} # $ %", 1.0], ['two\nlines, "said"', 2.0]])
    assert "| a\\|b | x_y |" in grid.render("markdown")
    assert r"\textasciitilde{} \textasciicircum{} \textbackslash{} \{\} \# \$ \% & 1.0" in grid.render("latex")
    assert 'two lines, "said"' in grid.render("text")
    assert list(csv.reader(io.StringIO(grid.render("csv"))))[2][0] == 'two\nlines, "said"'


def test_names_that_a_spreadsheet_would_run_are_escaped_on_request():
    grid = Grid("T", ["=name", "value"], [["=cmd()", -1.5], ["-a", -2], ["b", None]])
    assert grid.render("csv").splitlines() == ["=name,value", "=cmd(),-1.500000", "-a,-2", "b,"]
    safe = grid.render("csv", spreadsheet_safe=True).splitlines()
    assert safe == ["'=name,value", "'=cmd(),-1.500000", "'-a,-2", "b,"]
