"""Runs that are stopped and continued, have failing jobs, or share their work."""

import os
import subprocess
import sys
import textwrap
import time

import pytest

from ilfs.benchmark import SUITES, BenchmarkMethod, Protocol, RunSummary, Store, Suite, run
from ilfs.benchmark.jobs.compute import compute_job
from ilfs.benchmark.store.results import Results
from ilfs.report.benchmark.tables import quality_grid, tables_of

SMALL = Suite(
    "small",
    "sizes",
    ("wine", "iris"),
    tuple(BenchmarkMethod(name) for name in ("ilfs", "fisher", "random")),
    n_splits=3,
    protocol=Protocol(sizes=(1, 2), Cs=(0.1, 1.0)),
)


def csv_of(path, suite=SMALL):
    with Store(path) as store:
        return quality_grid(Results.from_store(suite, store)).render("csv")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "undisturbed.sqlite"
    with Store(path) as store:
        summary = run(SMALL, store, n_jobs=2)
    assert (summary.computed, summary.failed, summary.found) == (18, 0, 0)
    return path


def test_a_second_run_has_nothing_to_do(undisturbed):
    with Store(undisturbed) as store:
        assert run(SMALL, store).computed == 0


def test_the_metrics_do_not_depend_on_processes_or_order(undisturbed, tmp_path):
    with Store(tmp_path / "one.sqlite") as store:
        for dataset in ("iris", "wine"):
            run(SMALL.only(datasets=[dataset]), store, n_jobs=1)
    assert csv_of(tmp_path / "one.sqlite") == csv_of(undisturbed)


def test_a_run_killed_at_any_moment_can_be_continued_with_the_same_table(undisturbed, tmp_path):
    path = tmp_path / "killed.sqlite"
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from test_runner import SMALL
        from ilfs.benchmark import Store, run
        with Store({str(path)!r}) as store:
            run(SMALL, store, n_jobs=2, on_step=lambda step: print(step.n_done, flush=True))
        """)
    )
    counts = []
    for stop_after in (1, 9):
        process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
        while process.poll() is None:
            line = process.stdout.readline()
            if line and int(line) >= stop_after:
                process.kill()
        process.stdout.close()
        with Store(path) as store:
            counts.append(len(store.statuses()))
    assert counts == sorted(counts)
    assert 0 < counts[0] < 18
    with Store(path) as store:
        summary = run(SMALL, store, n_jobs=2)
        assert summary.computed == 18 - counts[-1]
        assert len(store.statuses()) == 18
    assert csv_of(path) == csv_of(undisturbed)


def test_two_processes_share_the_work(undisturbed, tmp_path):
    path = tmp_path / "shared.sqlite"
    script = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from test_runner import SMALL
        from ilfs.benchmark import Store, run
        with Store({str(path)!r}) as store:
            print(run(SMALL, store, n_jobs=1).computed)
        """)
    both = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    computed = [int(process.communicate(timeout=120)[0]) for process in both]
    assert sum(computed) == 18
    assert csv_of(path) == csv_of(undisturbed)


def test_a_failing_method_is_stored_with_its_reason_and_the_run_continues(tmp_path):
    broken = BenchmarkMethod("broken", parameters={"n_bins": 1}, selector="mi")
    suite = SMALL.only(datasets=["iris"])
    suite = Suite("s", "sizes", suite.datasets, (*suite.methods, broken), 2, suite.protocol)
    with Store(tmp_path / "s.sqlite") as store:
        summary = run(suite, store, n_jobs=2)
        assert (summary.computed, summary.failed) == (8, 2)
        results = Results.from_store(suite, store)
        assert results.n_failed == 2
        assert "iris, broken, split 0: ValueError: n_bins must be" in results.reasons[0]
        notes = tables_of(results)[0].notes
        assert any(note.startswith("2 of 8 jobs failed, the first: iris, broken") for note in notes)
        assert run(suite, store) == RunSummary(computed=0, failed=0, found=8, failed_before=2)
        assert run(suite, store, retry_failed=True, n_jobs=2) == RunSummary(2, 2, found=6, failed_before=0)


def test_a_job_that_takes_too_long_is_stored_with_that_reason(tmp_path):
    slow = Suite(
        "slow", "sizes", ("digits",), (BenchmarkMethod("sleeper", "sleeper.Sleeper"),), 1, Protocol(sizes=(2,))
    )
    start = time.monotonic()
    with Store(tmp_path / "s.sqlite") as store:
        run(slow, store, time_limit=5.0)
        (row,) = store.rows()
    assert row.reason == "took longer than the limit of 5 s"
    assert time.monotonic() - start < 60


def test_progress_has_the_number_of_finished_jobs_and_the_time_left(tmp_path):
    steps = []
    with Store(tmp_path / "s.sqlite") as store:
        run(SMALL.only(datasets=["iris"], methods=["fisher"]), store, n_jobs=1, on_step=steps.append)
    assert [(step.n_done_of_dataset, step.n_done, step.n_jobs) for step in steps] == [(1, 1, 3), (2, 2, 3), (3, 3, 3)]
    assert steps[-1].seconds_left == 0.0
    assert steps[1].seconds_left > 0
    assert steps[0].seconds_left is None  # the first job also reads the data and compiles


def test_the_timing_suite_runs_at_any_size_without_the_papers_seconds(tmp_path):
    from dataclasses import replace

    from ilfs.benchmark.evaluation.protocol import TimingJob

    suite = replace(SUITES["timing"].only(methods=["fisher", "ls"]), protocol=TimingJob(300, 40))
    with Store(tmp_path / "t.sqlite") as store:
        assert run(suite, store, n_jobs=2).failed == 0
        results = Results.from_store(suite.with_threads(2), store)
        (grid,) = tables_of(results)
    assert [row[0] for row in grid.rows] == ["fisher", "ls"]
    assert all(0 < row[1] < 60 and row[2] is None for row in grid.rows)


def test_the_experiment_classes_has_a_row_for_each_class(tmp_path):
    suite = Suite("c", "classes", ("wine",), (BenchmarkMethod("fisher"), BenchmarkMethod("ls")), 2)
    with Store(tmp_path / "c.sqlite") as store:
        assert run(suite, store, n_jobs=2).failed == 0
        wine, paper = tables_of(Results.from_store(suite, store))
    assert [row[0] for row in wine.rows] == ["class_0", "class_1", "class_2", "mean"]
    assert all(80 < value <= 100 for row in wine.rows for value in row[1:])
    assert paper.rows[0][1:] == [81.07, 80.90]


def test_methods_without_random_state_give_the_same_result_in_every_run():
    trees = {"selector": "sklearn.ensemble.ExtraTreesClassifier", "parameters": {"n_estimators": 5}}
    chance = BenchmarkMethod("trees", "sklearn.feature_selection.SelectFromModel", {"estimator": trees})
    jobs = Suite("s", "sizes", ("wine",), (chance,), 2, Protocol(sizes=(3,), Cs=(0.1,))).jobs()
    orders = [compute_job(job).order for job in (*jobs, *reversed(jobs))]
    assert orders[:2] == orders[:1:-1]
    assert orders[0] != orders[1]


def test_a_complete_run_starts_no_process(undisturbed, monkeypatch):
    monkeypatch.setattr(sys.modules[run.__module__], "compute_all", None)
    with Store(undisturbed) as store:
        assert run(SMALL, store, n_jobs=2).found == 18
