"""Tables in the layout of the paper, checked against its own and against numbers that are easy to compute."""

import csv
import io

import numpy as np
import pytest

from ilfs.benchmark import BenchmarkMethod, Outcome, Protocol, Store, Suite
from ilfs.benchmark import paper_tables as paper
from ilfs.benchmark.counts import TestCounts, count_tests
from ilfs.benchmark.evaluation.protocol import TimingJob
from ilfs.benchmark.paper_tables.printed import read_table
from ilfs.benchmark.precision_table import precision_table, printed_table
from ilfs.benchmark.store.results import Results
from ilfs.benchmark.suites import suite as suites_module
from ilfs.benchmark.suites.suite import TIMING_DATASET
from ilfs.choices import FORMATS
from ilfs.datasets import Dataset
from ilfs.report.benchmark import paper_layout, table_4_csv
from ilfs.report.benchmark.paper_layout import precision_grid, printed_marks

EIGHT = (*paper.MICROARRAYS, *paper.OTHER_DATASETS)


def filled(suite, folder, outcome_of):
    """Results of a suite whose outcomes a function makes; it returns None for a job that fails."""
    with Store(folder / "s.sqlite") as store:
        for job in suite.jobs():
            outcome = outcome_of(job)
            reason = {"reason": "by design"} if outcome is None else {}
            store.write(job.key, job.identity, job.describe(), outcome, **reason)
        return Results.from_store(suite, store)


@pytest.fixture(scope="module")
def made():
    """Data sets of any name, with three classes."""
    table = Dataset("made", np.zeros((90, 40)), np.arange(90) % 3, ("a", "b", "c_&"), known_checksum="c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suites_module, "load", lambda _, voc: table)
        yield


BASES = {"random": 0.5, "ilfs": 0.9, "fisher": 0.896}


@pytest.fixture(scope="module")
def sizes(tmp_path_factory, made):
    """COLON, LUNG, GINA and one more data set; 2 splits x 2 sizes; ILFS failed on LUNG."""

    def outcome_of(job):
        if (job.dataset, job.method.name) == ("lung", "ilfs"):
            return None
        base = BASES[job.method.name] + 0.02 * job.split + 0.01 * (job.dataset == "gina")
        measured = [(size, "ap_macro", -1, base + 0.04 * (size == 4)) for size in (2, 4)]
        return Outcome(measured, [1, 2, 3, 4], 0.1, 0.2)

    methods = tuple(BenchmarkMethod(name) for name in BASES)
    suite = Suite("s", "sizes", ("srbct", "gina", "lung", "colon"), methods, 2, Protocol(sizes=(2, 4)))
    return filled(suite, tmp_path_factory.mktemp("sizes"), outcome_of)


def words(grid):
    """Rows of a table as text, by name."""
    return {row[0]: [None if value is None else str(value) for value in row[1:]] for row in grid.rows}


def bold(value):
    return [text for text, is_bold in value.parts if is_bold]


def test_our_table_4_has_means_deviations_averages_and_marks(sizes):
    ours, printed = paper_layout(sizes)
    assert ours.header == [
        "method",
        "COLON",
        "LUNG",
        "microarrays (2 of 5) [min, max]",
        "GINA (rebuilt)",
        "others (1 of 3) [min, max]",
        "SRBCT",
        "not in the paper [min, max]",
    ]
    assert [row[0] for row in ours.rows] == ["Fisher", "ILFS", "random"]
    # fisher on COLON: 0.896, 0.936, 0.916, 0.956, whose mean is 0.926 and whose deviation 0.0258
    colon = "92.60 ± 0.03", "93.00* ± 0.03"
    assert words(ours)["Fisher"][:4] == [colon[0], "92.60* ± 0.03", "92.60* [92.60, 92.60]", "93.60 ± 0.03"]
    assert words(ours)["ILFS"][:4] == [colon[1], None, None, "94.00* ± 0.03"]
    assert bold(ours.rows[0][1]) == ["92.60 ± 0.03"]  # 0.4 points below the best
    assert bold(ours.rows[2][1]) == []
    assert bold(ours.rows[0][5]) == []  # of averages, only the best is bold
    assert words(printed)["ILFS"] == [
        "96.35* ± 0.05",
        "98.98* ± 0.03",
        "97.66* [96.35, 98.98]",
        "89.03 ± 0.03",
        "89.03 [89.03, 89.03]",
    ]
    assert any("jobs failed" in note for note in ours.notes)


def test_deviations_are_over_all_splits_and_sizes(sizes):
    table = precision_table(sizes)
    expected = np.std([0.896, 0.936, 0.916, 0.956], ddof=1)
    assert table.deviation[table.methods.index("fisher"), 0] == pytest.approx(expected)
    assert np.isnan(table.average["dna"][table.methods.index("ilfs")])


def test_the_papers_own_table_4_is_printed_as_it_is():
    table = printed_table(paper.METHODS_OF_THE_PAPER, EIGHT)
    grid = precision_grid("T", table, EIGHT, printed_marks(table))
    assert words(grid)["RFE"][5] == "84.53 [77.50, 94.25]"  # the slip of the paper is kept
    assert words(grid)["ILFS"] == [
        "96.35* ± 0.05",
        "99.60* ± 0.007",
        "97.35* ± 0.03",
        "99.00* ± 0.03",
        "98.98* ± 0.03",
        "98.25* [96.35, 99.60]",
        "89.03 ± 0.03",
        "97.81* ± 0.01",
        "97.76 ± 0.01",
        "94.87* [89.03, 97.81]",
    ]
    assert [bold(grid.rows[-1][j]) for j in (6, 10)] == [["98.25*", "96.35", "99.60"], ["94.87*", "89.03", "97.81"]]
    starred = [str(value) for row in grid.rows for value in row[1:] if "*" in str(value)]
    assert len(starred) == 10
    assert sum(bool(bold(value)) for row in grid.rows for value in row[1:]) == 17


def test_table_4_as_csv_has_the_columns_of_the_papers(sizes):
    rows = list(csv.DictReader(io.StringIO(table_4_csv(sizes).render("csv"))))
    assert list(rows[0]) == list(read_table("table4")[0])
    by_key = {(row["method"], row["dataset"]): row for row in rows}
    assert float(by_key["ilfs", "colon"]["mean"]) == pytest.approx(93.0)
    assert [by_key[m, "colon"]["mark"] for m in ("fisher", "ilfs", "random")] == ["bold", "star", ""]
    assert by_key["ilfs", "dna"]["mean"] == ""
    assert by_key["fisher", "dna"]["mark"] == "star"
    assert float(by_key["fisher", "dna"]["least"]) == pytest.approx(92.6)


def test_tests_and_classifiers_are_counted(sizes):
    # 3 methods x 4 data sets, without one pair that failed; 2 sizes; 2 splits; 7 C in 5 folds and a final fit
    assert count_tests(sizes) == TestCounts(as_paper=11, subsets=22, classifiers=44, fits=44 * 36)
    note = "11 tests as the paper counts its 576; 22 subsets of features; 44 classifiers (1,584 fits"
    assert any(one.startswith(note) for one in paper_layout(sizes)[0].notes)


@pytest.fixture(scope="module")
def classes(tmp_path_factory, made):
    """Three classes of VOC 2007 and of another data set, four methods."""

    def outcome_of(job):
        m = ("ilfs", "fisher", "mi", "random").index(job.method.name)
        metric = "ap_2007" if job.dataset == "voc2007" else "ap"
        values = [(0.9, 0.8, 0.7, 0.6)[m], (0.5, 0.5, 0.4, 0.3)[m], (0.2, 0.6, 0.6, 0.1)[m]]
        measured = [(20, one, k, value) for one in {metric, "ap"} for k, value in enumerate(values)]
        return Outcome([*measured, (20, "ap_macro", -1, float(np.mean(values)))], [1], 0.1, 0.2)

    methods = tuple(BenchmarkMethod(name) for name in ("ilfs", "fisher", "mi", "random"))
    return filled(
        Suite("s", "classes", ("voc2007", "wine"), methods, 1), tmp_path_factory.mktemp("classes"), outcome_of
    )


def test_table_3_has_classes_as_rows_and_marks_the_best(classes):
    ours, printed, other = paper_layout(classes)
    assert ours.header == other.header == ["class", "Fisher", "MI", "ILFS", "random"]
    assert [row[0] for row in ours.rows] == ["a", "b", "c_&", "mean"]
    assert words(ours)["a"] == ["80.00", "70.00", "90.00", "60.00"]
    assert [[bool(bold(value)) for value in row[1:]] for row in ours.rows] == [
        [False, False, True, False],
        [True, False, True, False],
        [True, True, False, False],
        [True, True, True, False],
    ]
    assert words(ours)["mean"] == ["63.33*", "56.67*", "53.33*", "33.33"]
    assert printed.header == ["class", "Fisher", "MI", "ILFS"]
    assert len(printed.rows) == 21
    assert words(printed)["mean"] == ["81.07*", "80.97*", "81.21*"]
    assert bold(printed.rows[0][1]) == ["92.67"]
    assert count_tests(classes) == TestCounts(as_paper=24, subsets=24, classifiers=24, fits=24 * 36)


def test_table_2_has_type_class_complexity_and_seconds(tmp_path):
    methods = tuple(BenchmarkMethod(name) for name in ("ilfs", "rfe", "hall_cfs"))
    suite = Suite("s", "timing", (TIMING_DATASET,), methods, 1, TimingJob(rows=50, columns=20))

    def outcome_of(job):
        return None if job.method.name == "rfe" else Outcome([(20, "seconds", -1, 0.25, "")], [], 0.25, 0.0)

    (grid,) = paper_layout(filled(suite, tmp_path, outcome_of))
    assert grid.header[-2:] == ["seconds, 50 x 20", "the paper's, 10,000 x 5,000"]
    assert [row[:4] for row in grid.rows] == [
        [9, "RFE", "w", "s"],
        [12, "ILFS", "f", "s"],
        [None, "hall_cfs", "f", "s"],
    ]
    assert [row[5] for row in grid.rows] == ["O(T^2 n log2 n)", "O(n^2.37 + i n + T + C)", None]
    assert [row[6:] for row in grid.rows] == [[None, 91799], [0.25, 7], [0.25, None]]
    with pytest.raises(ValueError, match="suite s has no tests to count, as it only times the methods"):
        count_tests(filled(suite, tmp_path, outcome_of))


@pytest.mark.parametrize("form", FORMATS)
def test_all_layouts_have_all_formats(sizes, classes, form):
    for grid in [*paper_layout(sizes), *paper_layout(classes)]:
        assert "ILFS" in grid.render(form)
