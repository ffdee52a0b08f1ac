"""The benchmark page and its summary, from stores that are made by hand."""

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from page_reader import Page, hash_of

from ilfs.benchmark import BenchmarkMethod, Outcome, Protocol, Store, Suite, TimingJob
from ilfs.benchmark import paper_tables as paper
from ilfs.benchmark.store.results import Results
from ilfs.benchmark.suites import suite as suites_module
from ilfs.benchmark.suites.built_in import PAPER_DATASETS, SUITES
from ilfs.datasets import Dataset
from ilfs.report.benchmark import (
    benchmark_page,
    joint_grid,
    paper_layout,
    statistics_of,
    summarise_benchmark,
    tables_of,
    write_benchmark_page,
)
from ilfs.report.benchmark.page_tables import best_values, shades_of, table_html
from ilfs.report.benchmark.provenance import run_command
from ilfs.report.benchmark.sentences import sentences_of
from ilfs.report.benchmark.summary import ShownTable
from ilfs.text_table import Grid, Marked, format_value

SIZES = (2, 4)
BASES = {"ilfs": 0.9, "fisher": 0.8, "random": 0.5}
METRICS = ("ap_macro", "ap_majority", "accuracy", "balanced_accuracy", "f1", "auc")
CLASSES = [row for name, row in paper.bold_methods() if name == "voc2007" and row != "mean"]
HOSTILE = "</td></table><script>alert('1')</script>\n\u202e\"quoted\" & =HYPERLINK(1)\N{GRINNING FACE}.csv"


def made(n_features=40, class_names=("no", "yes")):
    y = np.arange(90) % len(class_names)
    return Dataset("made", np.zeros((90, n_features)), y, class_names, known_checksum="c")


def methods(*names):
    return tuple(BenchmarkMethod(name) for name in names)


def value_of(job, size, metric, classifier="linear_svm"):
    """Value of a metric that differs for every job, size, metric and classifier."""
    place = 0.001 * (sum(map(ord, job.dataset)) % 37) + 0.0001 * METRICS.index(metric)
    return BASES.get(job.method.name, 0.7) + place + 0.01 * job.split + 0.002 * size - 0.05 * (classifier == "knn")


def outcome_of(job):
    classifiers = job.protocol.classifier_names
    measured = [
        (size, metric, -1, value_of(job, size, metric, one), one)
        for one in classifiers
        for size in job.protocol.sizes
        for metric in METRICS
    ]
    first = job.split if job.method.name == "random" else 0
    return Outcome(measured, list(range(first, first + max(job.protocol.sizes))), 0.1 * (1 + job.split), 0.2)


def store_of(path, suite, failed=(), missing=()):
    """Write made results of a suite; failed and missing jobs are tuples of data set, method and split."""
    with Store(path) as store:
        for job in suite.jobs():
            what = (job.dataset, job.method.name, job.split)
            if what in missing:
                continue
            outcome = None if what in failed else outcome_of(job)
            store.write(job.key, job.identity, job.describe(), outcome, reason="" if outcome else "by design")
        return Results.from_store(suite, store)


@pytest.fixture
def load(monkeypatch):
    """Let every data set be a made one."""
    monkeypatch.setattr(suites_module, "load", lambda _, voc: made())


@pytest.fixture
def results(tmp_path, load):
    """Results on the paper's eight data sets; a job failed, and one is missing."""
    suite = Suite("s", "sizes", PAPER_DATASETS, methods("ilfs", "fisher", "random"), 3, Protocol(sizes=SIZES))
    failed, missing = [("colon", "random", 2), ("lung", "random", 2)], [("gina", "fisher", 1)]
    return store_of(tmp_path / "s.sqlite", suite, failed, missing)


@pytest.fixture
def by_class(tmp_path, monkeypatch):
    """Results over the classes of VOC 2007 at two fractions of the features."""
    monkeypatch.setattr(suites_module, "load", lambda _, voc: made(40, tuple(CLASSES)))
    protocol = Protocol(fractions=(0.1, 0.5))
    suite = Suite("deep", "classes", ("voc2007",), methods("ilfs", "fisher", "random"), 1, protocol)
    with Store(tmp_path / "deep.sqlite") as store:
        for job in suite.jobs():
            measured = [
                (size, metric, k, BASES[job.method.name] - 0.01 * (k % 5) + 0.001 * size, "linear_svm")
                for size in (4, 20)
                for k in range(len(CLASSES))
                for metric in ("ap", "ap_2007", "ap_2012")
            ]
            store.write(job.key, job.identity, job.describe(), Outcome(measured, list(range(20)), 2.0, 0.2))
        return Results.from_store(suite, store)


@pytest.fixture
def timings(tmp_path):
    suite = Suite("timing", "timing", ("uniform",), methods("ilfs", "fisher"), 1, TimingJob())
    with Store(tmp_path / "timing.sqlite") as store:
        for job, seconds in zip(suite.jobs(), (0.5, 0.25), strict=True):
            measured = [(5000, "seconds", -1, seconds, ""), (5000, "peak_megabytes", -1, 12.0, "")]
            store.write(job.key, job.identity, job.describe(), Outcome(measured, [], seconds, 0.0))
        return Results.from_store(suite, store)


def page_of(*several, **options):
    return benchmark_page(summarise_benchmark(several, **options))


class Texts(HTMLParser):
    """Texts of all cells of tables, and all other texts."""

    def __init__(self):
        super().__init__()
        self.cells, self.texts, self.tags, self._inside = [], [], [], False

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("td", "th"):
            self._inside = True
            self.cells.append("")

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._inside = False

    def handle_data(self, data):
        self.texts.append(data)
        if self._inside:
            self.cells[-1] += data


def parsed(page):
    parser = Texts()
    parser.feed(page)
    return parser


def words_of(grid):
    """All values of a table, formatted as in a text table."""
    return [str(v) if isinstance(v, Marked) else format_value(v, grid.digits) for row in grid.rows for v in row]


def test_the_page_has_every_value_of_all_text_tables(results):
    grids = [*tables_of(results), *paper_layout(results), *statistics_of(results, "ilfs")]
    page = parsed(page_of(results))
    for grid in grids:
        missing = set(words_of(grid)) - set(page.cells)
        assert not missing, grid.title
    for grid in grids:
        for note in grid.notes:
            assert note in page.texts


def test_the_page_has_every_value_of_the_tables_by_class(by_class):
    page = parsed(page_of(by_class))
    for grid in [*tables_of(by_class), *paper_layout(by_class), *statistics_of(by_class, "ilfs")]:
        assert not set(words_of(grid)) - set(page.cells), grid.title


def test_the_page_of_timings_has_seconds_and_the_papers(timings):
    page = parsed(page_of(timings))
    assert {"0.50", "0.25", "fisher", "12"} <= set(page.cells)
    assert not any("significant" in text for text in page.texts)


def test_the_page_needs_no_network_and_has_no_inline_style(results, by_class, timings):
    page = page_of(results, by_class, timings)
    assert "default-src 'none'" in page
    for tag, attributes in parsed(page).tags:
        assert not {name for name in attributes if name.startswith("on") or name in ("style", "src")}, tag
    links = [attributes["href"] for tag, attributes in parsed(page).tags if tag == "a"]
    assert links
    assert all(link.startswith("#") for link in links)
    anchors = [attributes["id"] for _, attributes in parsed(page).tags if "id" in attributes]
    assert {link[1:] for link in links} <= set(anchors)
    assert len(set(anchors)) == len(anchors)


def test_the_page_is_well_formed_and_runs_its_own_script_only(results, by_class, timings):
    page = Page(page_of(results, by_class, timings))  # it checks that every element is closed
    assert page.open == []
    assert page.policy["default-src"] == ["'none'"]
    assert page.policy["script-src"] == [hash_of(text) for text in page.inside["script"]]


def test_only_suites_of_the_paper_are_called_experiments_of_the_paper(results, timings):
    assert "The paper&#x27;s timing experiment: one fit" in page_of(timings)
    other = page_of(results)
    assert "Performance with the first features of each ranking, by the protocol of the paper&#x27;s second" in other
    assert "The paper&#x27;s second experiment:" not in other


def test_several_suites_stand_on_one_page_with_the_papers_procedure_over_all(results, by_class, timings):
    page = parsed(page_of(results, by_class, timings))
    assert {"Suite s", "Suite deep", "Suite timing"} <= set(page.texts)
    assert not set(words_of(joint_grid([results, by_class], "ilfs"))) - set(page.cells)


def test_counts_of_jobs_and_failures_with_reasons(results):
    experiment = summarise_benchmark([results]).experiments[0]
    counts = experiment.jobs
    assert (counts.total, counts.done, counts.failed, counts.missing) == (72, 69, 2, 1)
    assert [(one.dataset, one.method, one.splits, one.reason) for one in experiment.failures] == [
        ("colon", "random", (2,), "by design"),
        ("lung", "random", (2,), "by design"),
    ]
    texts = parsed(page_of(results)).texts
    assert any("69 of 72 jobs finished, 2 failed, 1 not computed" in text for text in texts)
    assert "by design" in texts


def test_failures_for_one_reason_are_one_row(tmp_path, load):
    suite = Suite("s", "sizes", ("colon", "lung"), methods("ilfs", "fisher"), 3, Protocol(sizes=SIZES))
    failed = [("colon", "fisher", split) for split in range(3)]
    found = summarise_benchmark([store_of(tmp_path / "s.sqlite", suite, failed)]).experiments[0]
    assert [one.splits for one in found.failures] == [(0, 1, 2)]
    assert "No job failed." not in benchmark_page(summarise_benchmark([store_of(tmp_path / "t.sqlite", suite, failed)]))


def test_curves_have_the_mean_and_deviation_over_the_splits(results):
    curves = summarise_benchmark([results]).experiments[0].classifiers[0].curves
    assert [one.title for one in curves] == list(results.titles)
    assert [one.method for one in curves[0].curves] == ["ilfs", "fisher", "random"]
    values = 100 * results.values("ap_macro")
    fisher = curves[5].curves[1]  # GINA, where split 1 is missing
    assert fisher.sizes == SIZES
    assert fisher.means == pytest.approx(np.nanmean(values[5, 1], axis=0).tolist())
    assert fisher.deviations == pytest.approx(np.nanstd(values[5, 1], axis=0, ddof=1).tolist())


def test_sizes_above_the_number_of_features_are_one_point(tmp_path, monkeypatch):
    monkeypatch.setattr(suites_module, "load", lambda _, voc: made(n_features=8))
    suite = Suite("s", "sizes", ("colon",), methods("ilfs"), 2, Protocol(sizes=(2, 8, 50)))
    with Store(tmp_path / "s.sqlite") as store:
        for job in suite.jobs():
            found = outcome_of(job)
            store.write(job.key, job.identity, job.describe(), replace(found, order=list(range(8))))
        results = Results.from_store(suite, store)
    (curve,) = summarise_benchmark([results]).experiments[0].classifiers[0].curves[0].curves
    assert curve.sizes == (2, 8)


def test_curves_over_classes_are_means_of_the_classes(by_class):
    (table,) = summarise_benchmark([by_class]).experiments[0].classifiers[0].curves
    expected = [100 * np.mean([0.9 - 0.01 * (k % 5) + 0.001 * n for k in range(20)]) for n in (4, 20)]
    assert table.curves[0].means == pytest.approx(expected)
    assert table.curves[0].deviations == (None, None)


def test_stability_is_1_for_the_same_choice_and_stands_beside_performance(results):
    points = summarise_benchmark([results]).experiments[0].classifiers[0].stability
    found = {(one.method, one.dataset): one for one in points}
    assert found["ilfs", "COLON"].stability == pytest.approx(1.0)
    assert found["random", "COLON"].stability < 0.8
    assert found["ilfs", "COLON"].performance == pytest.approx(100 * results.values("ap_macro")[0, 0].mean())


def test_time_is_the_median_of_the_splits_against_the_values_of_the_training_rows(results):
    times = summarise_benchmark([results]).experiments[0].times
    assert len(times) == 24
    assert {one.n_values for one in times} == {60 * 40}
    by_name = {(one.method, one.dataset): one.seconds for one in times}
    assert by_name["ilfs", "COLON"] == pytest.approx(0.2)
    assert by_name["random", "COLON"] == pytest.approx(0.15)  # the third split failed


def test_our_values_stand_beside_the_papers_for_what_both_have(results):
    (beside,) = summarise_benchmark([results]).experiments[0].classifiers[0].beside
    assert beside.rows == ("ilfs", "fisher")
    assert beside.columns[0] == "COLON"
    assert beside.printed[0][0] == 96.35
    assert beside.printed[1][6] == paper.precision()["fisher", "dexter"]
    assert beside.ours[0][0] == pytest.approx(100 * results.values("ap_macro")[0, 0].mean())
    page = parsed(page_of(results))
    difference = beside.ours[0][0] - 96.35
    assert f"{beside.ours[0][0]:.1f}96.35 {difference:+.1f}".replace("-", "\N{MINUS SIGN}") in page.cells


def test_our_classes_stand_beside_the_papers(by_class):
    (beside,) = summarise_benchmark([by_class]).experiments[0].classifiers[0].beside
    assert beside.rows == (*CLASSES, "mean")
    assert beside.columns == ("ilfs", "fisher")
    assert beside.printed[0][1] == paper.class_precision()["voc2007", CLASSES[0], "fisher"]
    assert "another network" in beside.notes[0]


def test_without_data_of_the_paper_there_is_nothing_beside(tmp_path, load):
    suite = Suite("mine", "sizes", ("wine", "iris"), methods("ilfs", "fisher"), 2, Protocol(sizes=SIZES))
    results = store_of(tmp_path / "s.sqlite", suite)
    assert summarise_benchmark([results]).experiments[0].classifiers[0].beside == ()


def test_sentences_name_the_best_and_the_significant(results):
    found = sentences_of(results, "ilfs", "ap_macro", np.ones((8, 3)))
    assert found.best[0].startswith("Best mean over 8 data sets: ilfs (")
    assert found.best[1] == "ilfs has the best mean, alone or with others, on 8 of 8 data sets."
    assert any("significantly better than fisher and random" in one for one in found.significance)
    assert {one.label: one.method for one in found.key_facts}["Best mean"] == "ilfs"


def test_too_few_data_sets_for_a_test_are_said(tmp_path, load):
    suite = Suite("s", "sizes", PAPER_DATASETS[:4], methods("ilfs", "fisher", "random"), 2, Protocol(sizes=SIZES))
    found = summarise_benchmark([store_of(tmp_path / "s.sqlite", suite)]).experiments[0].classifiers[0].sentences
    # the smallest p-value of Wilcoxon's test on four data sets is 2 / 2**4 = 0.125
    assert any("4 data sets are too few for 2 comparisons" in one for one in found.significance)


def test_one_method_on_one_data_set_gives_a_page(tmp_path, load):
    suite = Suite("s", "sizes", ("colon",), methods("fisher"), 1, Protocol(sizes=(3,)))
    results = store_of(tmp_path / "s.sqlite", suite)
    view = summarise_benchmark([results]).experiments[0].classifiers[0]
    assert view.diagram is None
    assert "at least two data sets" in view.no_diagram
    page = parsed(page_of(results))
    assert "fisher" in page.cells
    assert any("Not possible" in text for text in page.texts)


def test_every_classifier_has_its_own_sections(tmp_path, load):
    protocol = Protocol(sizes=SIZES, classifiers=("knn", "linear_svm"))
    suite = Suite("s", "sizes", ("wine", "iris", "colon"), methods("ilfs", "fisher"), 2, protocol)
    results = store_of(tmp_path / "s.sqlite", suite)
    summary = summarise_benchmark([results]).experiments[0]
    assert [one.name for one in summary.classifiers] == ["linear_svm", "knn"]
    assert [one.name for one in summarise_benchmark([results.by_classifier("knn")]).experiments[0].classifiers] == [
        "knn",
        "linear_svm",
    ]
    page = parsed(benchmark_page(summarise_benchmark([results])))
    assert {"Results (linear_svm)", "Results (knn)"} <= set(page.texts)
    for name in ("linear_svm", "knn"):
        for grid in tables_of(results.by_classifier(name)):
            assert not set(words_of(grid)) - set(page.cells)


@pytest.mark.parametrize("experiment", ["sizes", "classes"])
def test_hostile_names_are_shown_as_text(tmp_path, monkeypatch, experiment):
    monkeypatch.setattr(suites_module, "load", lambda _, voc: made(40, ("<b>a</b>", HOSTILE)))
    hostile_method = BenchmarkMethod("<img src=x onerror=alert(1)>", "fisher")
    suite = Suite("<s>", experiment, (HOSTILE, "x" * 10_000), (BenchmarkMethod("ilfs"), hostile_method), 1)
    suite = replace(suite, protocol=Protocol(sizes=SIZES, fractions=(0.1,)))
    with Store(tmp_path / "s.sqlite") as store:
        for job in suite.jobs():
            if experiment == "sizes":
                found = outcome_of(job)
            else:
                found = Outcome([(4, "ap", k, 0.5, "linear_svm") for k in (0, 1)], [1, 2], 0.1, 0.1)
            store.write(job.key, job.identity, job.describe(), found)
        page = page_of(Results.from_store(suite, store))
    read = parsed(page)
    assert [tag for tag, _ in read.tags].count("script") == 1
    assert not {"img", "b"} & {tag for tag, attributes in read.tags if "onerror" in attributes or tag == "img"}
    assert "\u202e" not in page
    assert any("alert('1')" in text for text in read.texts)
    assert len(page) < 2_000_000


def test_a_store_without_finished_jobs_is_one_sentence(tmp_path, load):
    suite = Suite("quick", "sizes", ("colon",), methods("ilfs"), 1, Protocol(sizes=SIZES))
    nothing = store_of(tmp_path / "a.sqlite", suite, missing=[("colon", "ilfs", 0)])
    with pytest.raises(ValueError, match="has no finished jobs: compute them by ilfs bench run quick"):
        summarise_benchmark([nothing])
    failed = store_of(tmp_path / "b.sqlite", suite, failed=[("colon", "ilfs", 0)])
    with pytest.raises(ValueError, match="has 1 failed job and no finished one, the first: colon, ilfs, split 0: by"):
        summarise_benchmark([failed])


def test_an_unknown_reference_is_refused(results):
    with pytest.raises(ValueError, match="the reference must be one of ilfs, fisher, random, got 'mi'"):
        summarise_benchmark([results], reference="mi")


def test_the_file_is_written_whole_or_not_at_all(results, tmp_path):
    path = write_benchmark_page(results, tmp_path / "page.html", title="My <title>")
    assert "<h1>My &lt;title&gt;</h1>" in path.read_text(encoding="utf-8")
    with pytest.raises(OSError, match="make its folder first"):
        write_benchmark_page(results, tmp_path / "no" / "page.html")
    assert not (tmp_path / "no").exists()


def test_the_page_does_not_name_the_computer(results):
    import socket

    provenance = summarise_benchmark([results]).experiments[0].provenance
    assert "Python" in provenance.computers[0]
    assert socket.gethostname() not in " ".join(provenance.computers)


def test_the_command_repeats_the_options_of_the_run():
    suite = replace(SUITES["quick"].only(["wine", "my table.csv"], ["ilfs", "mi"], ["knn"]), n_splits=2)
    assert run_command(suite, "quick", store="a.sqlite") == (
        "ilfs bench run quick --datasets wine 'my table.csv' --methods ilfs mi --splits 2 --classifiers knn "
        "--store a.sqlite"
    )
    timing = replace(SUITES["timing"], protocol=TimingJob(rows=200))
    assert run_command(timing, "timing") == "ilfs bench run timing --rows 200"


def test_the_best_of_a_column_is_bold_and_equal_ones_too():
    table = ShownTable(Grid("t", ["m", "a", "b"], [["x", 1.04, None], ["y", 1.0, 2.0], ["z", 0.9, 1.0]]), "high")
    assert best_values(table) == [[False, True, False], [False, True, True], [False, False, False]]
    low = replace(table, better="low")
    assert best_values(low) == [[False, False, False], [False, False, False], [False, True, True]]
    assert "<strong>1.0</strong>" in table_html(table)


def test_the_best_of_a_row_is_bold_where_rows_are_compared():
    table = ShownTable(Grid("t", ["class", "a", "b"], [["x", 1.0, 2.0], ["y", 5.0, 4.0]]), "high", by_row=True)
    assert best_values(table) == [[False, False, True], [False, True, False]]


def test_colours_fade_with_the_distance_from_the_best():
    table = ShownTable(Grid("t", [], []), "high", 10.0)
    assert shades_of([90.0, 85.0, 60.0], table) == ["h8", "h4", "h0"]
    assert shades_of([1.0, 1000.0, 0.0], replace(table, better="ratio", reach=1000.0)) == ["h8", "h0", "h8"]
    assert shades_of([10.0, -2.5, 0.0], replace(table, better="zero")) == ["up4", "down1", ""]


def test_a_table_without_rows_keeps_its_reason():
    html = table_html(ShownTable(Grid("Ranks", [""], [], notes=["Not possible: too few."])))
    assert re.sub("<.*?>", " ", unescape(html)).split() == "Ranks Not possible: too few.".split()
