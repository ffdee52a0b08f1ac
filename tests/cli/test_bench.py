"""The command, as a user types it."""

import signal
import sqlite3
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from ilfs import __version__
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


def test_a_run_tells_what_it_did(store, capsys):
    assert main(["bench", "run", "quick", *some(store)]) == 0
    assert f"0 jobs computed, 0 of them failed; 12 were there. Results: {store}" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "csv", "markdown", "latex"])
def test_tables_in_all_formats(store, capsys, form):
    assert main(["bench", "table", "quick", *some(store), "--format", form]) == 0
    said = capsys.readouterr().out
    assert "fisher" in said
    assert "wine" in said.lower()


def test_statistics_and_the_diagram(store, capsys, tmp_path):
    picture = tmp_path / "ranks.svg"
    assert main(["bench", "statistics", "quick", *some(store), "--diagram", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "Mean rank over the data sets" in said
    assert "Stability of the choice" in said
    assert picture.read_text().startswith("<svg")
    assert list(tmp_path.iterdir()) == [picture]


def test_features_by_name(store, capsys):
    assert main(["bench", "features", "quick", *some(store), "--size", "2", "--by", "fisher"]) == 0
    said = capsys.readouterr().out
    assert "share of the splits in which a feature is among the first 2" in said
    assert "petal" in said
    assert main(["bench", "features", "quick", *some(store), "--size", "99"]) == 2
    assert main(["bench", "features", "quick", *some(store), "--size", "0"]) == 2
    assert "--size must be an integer >= 1, got 0" in capsys.readouterr().err
    assert main(["bench", "features", "quick", *some(store), "--methods", "mi"]) == 0
    assert "cells have not been computed" in capsys.readouterr().out


def test_the_timing_job_at_another_scale(tmp_path, capsys):
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


def test_a_suite_of_ones_own_with_ones_own_file(tmp_path, capsys):
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
            "suite must be paper, deep, modern, novelty, timing, quick or the path of a .toml file, got 'nosuch'",
        ),
        (["bench", "table", "quick", "--store", "nowhere.sqlite"], "there is no file nowhere.sqlite"),
        (["bench", "run", "quick", "--rows", "10"], "--rows is for the timing job, not for suite quick"),
        (["bench", "run", "timing", "--rows", "0"], "--rows must be an integer >= 4, got 0"),
        (["bench", "run", "quick", "--methods", "magic"], "method 'magic' is none of ilfs"),
        (["bench", "run", "quick", "--datasets", "magic"], "magic"),
        (["bench", "run", "quick", "--time-limit", "-1"], "--time-limit must be a number > 0, got -1.0"),
        (["bench", "run", "quick", "--splits", "0"], "splits must be an integer >= 1, got 0"),
        (["bench", "run", "quick", "--jobs", "0"], "--jobs must be an integer other than 0, got 0"),
        (["bench", "run", "quick", "--datasets", "missing.csv"], "missing.csv"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert said.out == ""
    assert not list(tmp_path.iterdir())


def test_the_module_the_version_and_the_data_sets(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert main(["datasets"]) == 0
    said = capsys.readouterr().out
    assert __version__ in said
    assert "GINA (rebuilt)" in said


def test_a_reader_who_has_enough_is_no_error(store):
    code = f"import sys; from ilfs.cli import main; sys.exit(main({['bench', 'table', 'quick', *some(store)]!r}))"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 0


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
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    assert "1 of 2 cells" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    assert process.stderr.read() == "ilfs: stopped; what is finished is kept, and the same command goes on\n"
    process.stderr.close()
    assert process.wait() == 130
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM cells").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)


def test_a_warning_is_a_note(tmp_path, capsys):
    rows = [f"{k},{k % 7},{k % 2}" for k in range(20)]
    table = tmp_path / "t.csv"
    table.write_text("\n".join([",a,class", *rows]))  # a first column without a name, as pandas writes it
    options = ["quick", "--datasets", str(table), "--methods", "fisher", "--splits", "1"]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        main(["bench", "run", *options, "--store", str(tmp_path / "s.sqlite"), "--jobs", "1", "--quiet"])
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("ilfs: note: ")
    assert "UserWarning" not in said[0]


def test_bars_show_brackets_as_they_are(capsys):
    pytest.importorskip("rich")
    from ilfs.benchmark import Cell, Contender, Suite
    from ilfs.benchmark.run import Step
    from ilfs.cli.progress import Bars

    suite = Suite("s", "sizes", ("a[/b].csv",), (Contender("m"),), 1)
    cell = Cell("sizes", "a[/b].csv", "", Contender("m"), 0)
    with Bars(suite) as bars:
        bars.show(Step(cell, "ValueError: [/no]", 1, 1, 1, 0.0))
    said = capsys.readouterr().err
    assert "failed: a[/b].csv m, split 0: ValueError: [/no]" in said


def test_a_store_that_fills_the_disk_is_one_line(tmp_path, capsys, monkeypatch):
    def full(self, key, *, again=False):
        raise OSError(f"the store {self.path} cannot be used: database or disk is full")

    monkeypatch.setattr("ilfs.benchmark.store.Store.claim", full)
    assert main(["bench", "run", "quick", *some(tmp_path / "s.sqlite"), "--jobs", "1"]) == 2
    assert (
        capsys.readouterr().err == f"ilfs: the store {tmp_path / 's.sqlite'} cannot be used: database or disk is full\n"
    )
