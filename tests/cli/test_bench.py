"""The command ``ilfs bench``, called as a user would."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing
from pathlib import Path

import pytest
from platforms import needs_posix

from ilfs import __version__
from ilfs.choices import FORMATS
from ilfs.cli import main


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "quick.sqlite"
    assert main(["bench", "run", "quick", *some(path), "--jobs", "2"]) == 0
    return path


def some(path):
    return [
        "--datasets",
        "wine",
        "iris",
        "--methods",
        "ilfs",
        "fisher",
        "random",
        "--splits",
        "2",
        "--store",
        str(path),
    ]


def test_a_run_prints_a_summary(store, capsys):
    assert main(["bench", "run", "quick", *some(store)]) == 0
    assert f"0 jobs computed, 0 of them failed; 12 were stored already. Results: {store}" in capsys.readouterr().err


@pytest.mark.parametrize("form", FORMATS)
def test_tables_are_printed_in_all_formats(store, capsys, form):
    assert main(["bench", "table", "quick", *some(store), "--format", form]) == 0
    said = capsys.readouterr().out
    assert "fisher" in said
    assert "wine" in said.lower()


def test_statistics_are_printed_and_the_diagram_is_written(store, capsys, tmp_path):
    picture = tmp_path / "ranks.svg"
    assert main(["bench", "statistics", "quick", *some(store), "--diagram", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "Mean rank over the data sets" in said
    assert "Stability of the choice" in said
    assert picture.read_text().startswith("<svg")
    assert list(tmp_path.iterdir()) == [picture]


def test_without_ilfs_the_first_method_is_compared_with_the_others(store, capsys):
    assert main(["bench", "statistics", "quick", *some(store), "--methods", "fisher", "random"]) == 0
    assert "fisher against each method" in capsys.readouterr().out


def test_chosen_features_are_listed_by_name(store, capsys):
    assert main(["bench", "features", "quick", *some(store), "--size", "2", "--by", "fisher"]) == 0
    said = capsys.readouterr().out
    assert "fraction of the splits in which a feature is among the first 2" in said
    assert "petal" in said
    assert main(["bench", "features", "quick", *some(store), "--size", "99"]) == 2
    assert main(["bench", "features", "quick", *some(store), "--size", "0"]) == 2
    assert "--size must be an integer >= 1, got 0" in capsys.readouterr().err
    assert main(["bench", "features", "quick", *some(store), "--methods", "mi"]) == 0
    assert "jobs have not been computed" in capsys.readouterr().out


def test_a_table_shows_the_chosen_one_of_several_classifiers(tmp_path, capsys):
    path = tmp_path / "s.sqlite"
    options = ["quick", "--datasets", "iris", "--methods", "fisher", "--splits", "1", "--store", str(path)]
    options += ["--classifiers", "linear_svm", "knn", "sklearn.naive_bayes.GaussianNB"]
    assert main(["bench", "run", *options, "--quiet"]) == 0
    shown = {}
    for chosen in ([], ["--classifier", "knn"], ["--classifier", "sklearn.naive_bayes.GaussianNB"]):
        assert main(["bench", "table", *options, *chosen]) == 0
        shown[tuple(chosen)] = capsys.readouterr().out
    assert "Evaluated by the classifier linear_svm; this suite also has knn, sklearn" in shown[()]
    assert "Evaluated by the classifier knn" in shown["--classifier", "knn"]
    assert len(set(shown.values())) == 3
    assert main(["bench", "table", *options, "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 3 * 4
    assert main(["bench", "table", *options, "--format", "csv", "--classifier", "knn"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 4
    assert main(["bench", "statistics", *options, "--reference", "fisher", "--classifier", "rbf"]) == 2
    assert "the classifier must be one of linear_svm, knn, sklearn" in capsys.readouterr().err


def test_a_class_with_one_sample_is_named_and_the_run_goes_on(tmp_path, capsys):
    rows = [f"{k % 7},{k * 5 % 11},{'rare' if k == 0 else 'yn'[k % 2]}" for k in range(40)]
    (tmp_path / "mine.csv").write_text("\n".join(["a,b,class", *rows]))
    suite = tmp_path / "mine.toml"
    suite.write_text('datasets = ["mine.csv"]\nmethods = ["fisher"]\nsplits = 1\nsizes = [1]\n')
    assert main(["bench", "run", str(suite), "--store", str(tmp_path / "s.sqlite"), "--jobs", "1"]) == 1
    assert "ValueError: class 'rare' of data set mine must have at least 2 samples" in capsys.readouterr().err


def test_groups_and_folds_of_a_suite_determine_its_splits(tmp_path, capsys):
    rows = [f"{k % 7},{k * 5 % 11},{'yn'[k % 2]},d{k // 4},{k % 3}" for k in range(60)]
    (tmp_path / "mine.csv").write_text("\n".join(["a,b,class,donor,fold", *rows]))
    suite = tmp_path / "mine.toml"
    start = 'methods = ["fisher"]\nsplits = 4\nsizes = [1]\nCs = [0.1]\n'
    table = '{ path = "mine.csv", target = "class", drop = ["%s"], %s = "%s" }'
    suite.write_text(f"{start}datasets = [{table % ('fold', 'groups', 'donor')}, {table % ('donor', 'folds', 'fold')}]")
    store = ["--store", str(tmp_path / "s.sqlite")]
    assert main(["bench", "run", str(suite), *store, "--jobs", "1", "--quiet"]) == 0
    assert "7 jobs computed, 0 of them failed" in capsys.readouterr().err
    (tmp_path / "mine.csv").write_text("\n".join(["a,b,class,donor,fold", *(row.replace(",1", ",9") for row in rows)]))
    assert main(["bench", "run", str(suite), *store, "--quiet"]) == 2
    assert "must be numbered 0, 1, 2, ... or 1, 2, 3, ... without gaps, got 0, 2, 9" in capsys.readouterr().err


def test_the_timing_job_runs_at_another_size(tmp_path, capsys):
    options = [
        "timing",
        "--rows",
        "200",
        "--columns",
        "30",
        "--methods",
        "fisher",
        "--store",
        str(tmp_path / "t.sqlite"),
    ]
    assert main(["bench", "run", *options, "--quiet"]) == 0
    assert main(["bench", "table", *options]) == 0
    said = capsys.readouterr().out
    assert "One fit on 200 x 30 uniform numbers" in said
    assert "fisher" in said
    assert "have not been computed" not in said


def test_a_suite_file_may_name_a_csv_file(tmp_path, capsys):
    rows = [f"{k % 7},{(k * 5) % 11},{k % 2},{'yes' if k % 2 else 'no'}" for k in range(60)]
    table = tmp_path / "mine.csv"
    table.write_text("\n".join(["a,b,c,class", *rows]))
    suite = tmp_path / "mine.toml"
    suite.write_text(f'datasets = ["{table}"]\nmethods = ["fisher", "mi"]\nsplits = 2\nsizes = [1]\n')
    store = ["--store", str(tmp_path / "s.sqlite")]
    assert main(["bench", "run", str(suite), *store, "--jobs", "1", "--quiet"]) == 0
    assert main(["bench", "table", str(suite), *store]) == 0
    assert "fisher  100.0" in capsys.readouterr().out


def test_failures_make_the_exit_code_1(tmp_path, capsys):
    suite = tmp_path / "bad.toml"
    suite.write_text(
        'datasets = ["iris"]\nsplits = 1\nsizes = [1]\n'
        '[[methods]]\nname = "bad"\nselector = "mi"\nparameters = { n_bins = 1 }\n'
    )
    assert main(["bench", "run", str(suite), "--store", str(tmp_path / "s.sqlite"), "--jobs", "1"]) == 1
    said = capsys.readouterr().err
    assert "failed: iris bad, split 0: ValueError: n_bins must be" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["bench", "run", "nosuch"],
            "novelty, steps, known_answer, timing, quick or the path of a .toml file, got 'nosuch'",
        ),
        (["bench", "table", "quick", "--store", "nowhere.sqlite"], "there is no file nowhere.sqlite"),
        (["bench", "run", "quick", "--rows", "10"], "--rows is for the timing experiment, not for suite quick"),
        (["bench", "run", "timing", "--rows", "0"], "--rows must be an integer >= 4, got 0"),
        (["bench", "run", "quick", "--methods", "magic"], "method 'magic' is none of ilfs"),
        (["bench", "run", "quick", "--datasets", "magic"], "magic"),
        (["bench", "run", "quick", "--time-limit", "-1"], "--time-limit must be a number > 0, got -1.0"),
        (["bench", "run", "quick", "--splits", "0"], "splits must be an integer >= 1, got 0"),
        (["bench", "run", "quick", "--jobs", "0"], "--jobs must be an integer other than 0, got 0"),
        (["bench", "run", "quick", "--datasets", "missing.csv"], "missing.csv"),
    ],
)
def test_errors_of_the_user_are_one_line_and_exit_code_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert said.out == ""
    assert not list(tmp_path.iterdir())


def test_the_version_and_the_data_sets_are_printed(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert main(["datasets"]) == 0
    said = capsys.readouterr().out
    assert __version__ in said
    assert "GINA (rebuilt)" in said


def test_a_closed_pipe_is_no_error(store):
    code = f"import sys; from ilfs.cli import main; sys.exit(main({['bench', 'table', 'quick', *some(store)]!r}))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 0


@needs_posix
def test_ctrl_c_keeps_what_is_finished_and_leaves_nothing_behind(tmp_path):
    suite, path = tmp_path / "s.toml", tmp_path / "s.sqlite"
    suite.write_text(
        'datasets = ["iris"]\nsplits = 1\nsizes = [1]\n'
        '[[methods]]\nname = "fisher"\n[[methods]]\nname = "sleeper"\nselector = "sleeper.Sleeper"\n'
    )
    code = f"""if True:
        import sys
        sys.path.insert(0, {str(Path(__file__).parent.parent / "benchmark")!r})
        from ilfs.cli import main
        sys.exit(main(["bench", "run", {str(suite)!r}, "--store", {str(path)!r}, "--jobs", "1"]))
        """
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
        assert "1 of 2 jobs" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        printed = process.stderr.read()
    assert printed == "ilfs: stopped; finished work is saved, run the same command again to continue\n"
    assert process.returncode == 130
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("SELECT count(*) FROM jobs").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)


def test_a_warning_is_printed_as_a_note(tmp_path, capsys):
    rows = [f"{k},{k % 7},{k % 2}" for k in range(20)]
    table = tmp_path / "t.csv"
    table.write_text("\n".join([",a,class", *rows]))  # a first column without a name, as pandas writes it
    options = ["quick", "--datasets", str(table), "--methods", "fisher", "--splits", "1"]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        main(["bench", "run", *options, "--store", str(tmp_path / "s.sqlite"), "--jobs", "1"])
    notes = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ilfs: note: ")]
    assert notes
    assert not any("UserWarning" in line for line in notes)


def test_bars_show_brackets_as_they_are(capsys):
    pytest.importorskip("rich")
    from ilfs.benchmark import BenchmarkMethod, Job, Suite
    from ilfs.benchmark.jobs.runner import FinishedJob
    from ilfs.cli.progress import Bars

    suite = Suite("s", "sizes", ("a[/b].csv",), (BenchmarkMethod("m"),), 1)
    job = Job("sizes", "a[/b].csv", "", BenchmarkMethod("m"), 0)
    with Bars(suite) as bars:
        bars.show(FinishedJob(job, "ValueError: [/no]", 1, 1, 1, 0.0))
    said = capsys.readouterr().err
    assert "failed: a[/b].csv m, split 0: ValueError: [/no]" in said


def test_a_store_that_fills_the_disk_gives_an_error_of_one_line(tmp_path, capsys, monkeypatch):
    def full(self, key, *, again=False):
        raise OSError(f"the store {self.path} cannot be used: database or disk is full")

    monkeypatch.setattr("ilfs.benchmark.store.store.Store.claim", full)
    assert main(["bench", "run", "quick", *some(tmp_path / "s.sqlite"), "--jobs", "1"]) == 2
    assert (
        capsys.readouterr().err == f"ilfs: the store {tmp_path / 's.sqlite'} cannot be used: database or disk is full\n"
    )


SUITE = 'datasets = ["iris", "wine"]\nsplits = 2\nsizes = [1]\nCs = [1.0]\nmethods = ["fisher", "mi", "random"]\n'


@pytest.fixture(scope="module")
def of_last_run(tmp_path_factory):
    """A folder with a suite and the results of ``--splits 1 --methods fisher mi``."""
    folder = tmp_path_factory.mktemp("last_run")
    (folder / "mine.toml").write_text(SUITE)
    options = ["--splits", "1", "--methods", "fisher", "mi", "--store", str(folder / "ilfs-mine.sqlite")]
    assert main(["bench", "run", str(folder / "mine.toml"), *options, "--jobs", "1", "--quiet"]) == 0
    return folder


@pytest.fixture
def there(of_last_run, tmp_path, monkeypatch):
    """A copy of that folder, where the command is run."""
    shutil.copytree(of_last_run, tmp_path, dirs_exist_ok=True)
    (tmp_path / "mine.toml").unlink()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("arguments", [[], ["--store", "ilfs-mine.sqlite"]])
@pytest.mark.parametrize("command", ["table", "statistics", "features"])
def test_without_a_suite_the_last_run_is_shown(there, capsys, command, arguments):
    extra = ["--reference", "fisher"] if command == "statistics" else []
    assert main(["bench", command, *arguments, *extra]) == 0
    said = capsys.readouterr()
    assert "not been computed" not in said.out
    assert "fisher" in said.out
    assert "random" not in said.out
    assert said.err == ""


def test_the_suite_without_options_shows_the_last_run_unless_its_file_has_changed(of_last_run, capsys):
    store, path = ["--store", str(of_last_run / "ilfs-mine.sqlite")], str(of_last_run / "mine.toml")
    assert main(["bench", "table", path, *store]) == 0
    assert "not been computed" not in capsys.readouterr().out
    assert main(["bench", "table", path, *store, "--splits", "2"]) == 0
    assert "8 of 12 jobs have not been computed." in capsys.readouterr().out
    assert main(["bench", "table", *store, "--splits", "2", "--methods", "mi"]) == 0
    assert "2 of 4 jobs have not been computed." in capsys.readouterr().out
    (of_last_run / "mine.toml").write_text(SUITE.replace("splits = 2", "splits = 3"))
    try:
        assert main(["bench", "table", path, *store]) == 0
    finally:
        (of_last_run / "mine.toml").write_text(SUITE)
    assert "14 of 18 jobs have not been computed." in capsys.readouterr().out


def test_without_a_suite_and_a_store_there_must_be_one(there, capsys):
    Path("ilfs-other.sqlite").write_bytes(b"")
    assert main(["bench", "table"]) == 2
    files = "ilfs-mine.sqlite, ilfs-other.sqlite"
    assert capsys.readouterr().err == f"ilfs: name a suite, or a file of results by --store: there are {files}\n"
    for file in there.iterdir():
        file.unlink()
    assert main(["bench", "table"]) == 2
    assert "there is no file ilfs-*.sqlite in this folder" in capsys.readouterr().err


def test_rows_of_other_code_are_left_out_with_a_note(there, capsys, monkeypatch):
    monkeypatch.setattr("ilfs.benchmark.provenance.describe.installed_version", lambda name: "another")
    assert main(["bench", "table"]) == 0
    said = capsys.readouterr().out
    assert said.count("Left out 4 rows computed with other code or versions: --any-code shows them") == 1
    assert main(["bench", "table", "--format", "csv"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("ilfs: note: Left out 4 rows computed with other code")
    assert len(said.err.splitlines()) == 1
    assert main(["bench", "table", "--any-code"]) == 0
    said = capsys.readouterr().out
    assert "not been computed" not in said
    assert "4 rows computed with other code or versions: ilfs bench run computes them again." in said


@pytest.mark.parametrize("command", ["table", "statistics", "features"])
def test_every_data_set_is_loaded_once(there, monkeypatch, capsys, command):
    from ilfs.benchmark.suites import suite

    loaded = []
    load = suite.load
    monkeypatch.setattr(suite, "load", lambda name, **options: loaded.append(name) or load(name, **options))
    monkeypatch.setattr("ilfs.datasets.loading.load", None)  # any other call of load fails
    extra = ["--reference", "fisher"] if command == "statistics" else []
    assert main(["bench", command, *extra]) == 0
    assert sorted(loaded) == ["iris", "wine"]


def test_voc_options_reach_the_processes_without_the_environment(tmp_path, monkeypatch, capsys):
    from ilfs.benchmark.suites import suite
    from ilfs.datasets import VocOptions

    for name in ("DEVKIT", "NETWORK", "LAYER"):
        monkeypatch.delenv(f"ILFS_VOC_{name}", raising=False)
    monkeypatch.setenv("ILFS_DATA", str(tmp_path))  # a folder without voc2007.npz
    monkeypatch.setenv("ILFS_CACHE", str(tmp_path))
    seen, load = [], suite.load
    monkeypatch.setattr(suite, "load", lambda name, *, voc: seen.append(voc) or load("wine"))
    environment = dict(os.environ)
    options = ["quick", "--datasets", "voc2007", "--methods", "fisher", "--splits", "1"]
    options += ["--devkit", str(tmp_path / "kit"), "--network", "net.onnx"]
    assert main(["bench", "run", *options, "--store", str(tmp_path / "s.sqlite"), "--jobs", "1"]) == 1
    assert (
        f"no VOC2007/ImageSets/Main in {tmp_path / 'kit'}" in capsys.readouterr().err
    )  # the reason from the worker process
    assert main(["bench", "table", "--store", str(tmp_path / "s.sqlite")]) == 0
    assert seen == 2 * [VocOptions(str(tmp_path / "kit"), "net.onnx")]
    assert dict(os.environ) == environment


def test_a_diagram_of_one_data_set_is_refused_in_one_sentence(there, capsys):
    options = ["--datasets", "wine", "--reference", "fisher", "--diagram", "ranks.svg"]
    assert main(["bench", "statistics", *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "ilfs: a diagram of ranks needs at least two data sets, got 1 (wine): name more of them\n"
    assert not Path("ranks.svg").exists()


def test_the_timing_job_with_other_threads_is_shown_as_it_was_run(tmp_path, capsys):
    store = ["--store", str(tmp_path / "t.sqlite")]
    options = ["timing", "--rows", "60", "--columns", "10", "--methods", "fisher", *store]
    assert main(["bench", "run", *options, "--quiet", "--jobs", "1"]) == 0
    capsys.readouterr()
    for arguments in (options, ["timing", *store], store):
        assert main(["bench", "table", *arguments]) == 0
        said = capsys.readouterr()
        assert "One fit on 60 x 10 uniform numbers" in said.out
        assert "not been computed" not in said.out
        assert said.err == ""
        assert main(["bench", "table", *arguments, "--jobs", "3"]) == 0
        said = capsys.readouterr()
        assert "not been computed" not in said.out
        assert said.err == "ilfs: note: there are no timings with --jobs 3; showing those with --jobs 1\n"


def damaged_row(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE jobs SET columns = '[99]' WHERE dataset = 'wine' AND method = 'mi'")


def damaged_row_without_checksum(path):
    """Damage a row that has no checksum, as in files of format 1."""
    damaged_row(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE jobs SET checksum = ''")


def removed_for_a_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            damaged_row,
            "is damaged in the row of wine, mi, split 0 (its values are not those that were written): ilfs bench run",
        ),
        (
            damaged_row_without_checksum,
            "is damaged in the row of wine, mi, split 0 (column 99 of 13): ilfs bench run --recompute replaces",
        ),
        (lambda path: path.write_bytes(path.read_bytes()[:9000]), "cannot be used: "),
        (lambda path: path.write_text("my notes " * 500), "cannot be used: file is not a database"),
        (lambda path: path.write_bytes(b""), "has no record of its last run, name the suite: "),
        (removed_for_a_folder, "there is no file ilfs-mine.sqlite"),
    ],
    ids=["row", "row without checksum", "cut", "text", "empty", "folder"],
)
def test_a_damaged_store_gives_an_error_of_one_line_and_nothing_is_lost(there, capsys, damage, message):
    path = Path("ilfs-mine.sqlite")
    damage(path)
    before = path.read_bytes() if path.is_file() else None
    assert main(["bench", "table", "--store", "ilfs-mine.sqlite"]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert "ilfs-mine.sqlite" in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert said.out == ""
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"sizes = [{10**23}]", f"sizes must be at most 2147483647, got {10**23}"),
        (f"sizes = [1{'0' * 5000}]", "mine.toml cannot be read: "),
        (
            f"sizes = {'[' * 20_000}{']' * 20_000}",
            "mine.toml cannot be read: its lists and tables are nested too deeply",
        ),
    ],
    ids=["large", "endless", "deep"],
)
def test_numbers_that_no_store_can_hold_are_errors(tmp_path, capsys, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(f'datasets = ["iris"]\n{text}\n')
    assert main(["bench", "run", "mine.toml", "--jobs", "1"]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.strip().splitlines()) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["mine.toml"]
    assert main(["bench", "run", "timing", "--columns", str(10**23), "--jobs", "1"]) == 2
    assert f"--columns must be at most 2147483647, got {10**23}" in capsys.readouterr().err


@pytest.fixture
def some_data(tmp_path, monkeypatch):
    """A folder with two small data sets under names of the paper; the others cannot be had."""
    import numpy as np

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ILFS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ILFS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ILFS_OFFLINE", "1")
    (tmp_path / "data").mkdir()
    for seed, name in enumerate(("colon", "lung")):
        X = np.random.default_rng(seed).normal(size=(30, 12))
        np.savez(tmp_path / "data" / f"{name}.fetched.npz", X=X, y=np.arange(30) % 2, class_names=np.array(["n", "t"]))
    return tmp_path / "data"


def test_a_run_of_the_paper_uses_the_data_that_are_here(some_data, capsys):
    command = ["bench", "run", "paper", "--methods", "fisher", "--splits", "1", "--jobs", "1"]
    assert main(command) == 0
    said = capsys.readouterr().err
    assert said.count("ilfs: note: left out: ") == 6
    assert "note: left out: DEXTER (600 of 2600 rows) is not here: run ilfs datasets fetch dexter, or put" in said
    assert "note: running 2 of 8 data sets" in said
    assert "2 jobs computed, 0 of them failed" in said
    assert main(["bench", "table", "paper"]) == 0
    assert "COLON  LUNG" in capsys.readouterr().out


def test_a_data_set_that_the_user_names_must_be_here(some_data, capsys):
    command = ["bench", "run", "paper", "--datasets", "colon", "dexter", "--methods", "fisher", "--splits", "1"]
    assert main(command) == 2
    assert "ilfs: DEXTER (600 of 2600 rows) is not here: run ilfs datasets fetch dexter" in capsys.readouterr().err
    (some_data.parent / "mine.toml").write_text('datasets = ["colon", "dexter"]\nmethods = ["fisher"]\nsplits = 1\n')
    assert main(["bench", "run", "mine.toml"]) == 2
    assert "is not here" in capsys.readouterr().err
    assert not list(some_data.parent.glob("*.sqlite"))


def test_a_run_without_any_data_says_what_to_do(some_data, capsys):
    for path in some_data.iterdir():
        path.unlink()
    assert main(["bench", "run", "paper"]) == 2
    assert "none of the data sets of suite paper is here: run ilfs datasets fetch colon " in capsys.readouterr().err
