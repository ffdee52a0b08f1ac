"""``ilfs rank``: results, what is told, and one line for every mistake."""

import csv
import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import planted

from ilfs import ILFS, FisherScore
from ilfs.cli.progress import ReadLine, bar_text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the same table as a CSV file, a Parquet file, and a folder of two Parquet files."""
    folder = tmp_path_factory.mktemp("tables")
    X, y = planted(n_samples=60, n_features=6, shift=1.0)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(6)])
    frame["kind"], frame["id"] = np.array(["benign", "malignant"])[y], [f"s{i}" for i in range(60)]
    frame.to_csv(folder / "table.csv", index=False)
    frame.to_parquet(folder / "table.parquet")
    (folder / "parts").mkdir()
    frame[:25].to_parquet(folder / "parts" / "a.parquet")
    frame[25:].to_parquet(folder / "parts" / "b.parquet")
    return folder


@pytest.fixture
def run(folder, command):
    """Run ``ilfs rank`` in the folder of the tables; return exit code, stdout and stderr."""
    return partial(command(folder), "rank")


COLUMNS = ("--target", "kind", "--drop", "id")


def expected_names(folder, selector):
    frame = pd.read_csv(folder / "table.csv").drop(columns="id")
    fitted = selector.fit(frame, "kind")
    return fitted.feature_names_in_[fitted.order_].tolist()


def flat(err):
    """Join the lines of a sentence that was wrapped at the width of the terminal."""
    return " ".join(err.split())


def names_in(out):
    return re.findall(r"^ *\d+  (gene \d)", out, re.M)


@pytest.mark.parametrize("table", ["table.csv", "table.parquet", "parts", "parts/*.parquet"])
@pytest.mark.parametrize("engine", ["auto", "memory", "stream"])
def test_every_form_and_engine_gives_the_ranking_of_fit(table, engine, run, folder):
    code, out, err = run(table, *COLUMNS, "--engine", engine)
    assert code == 0
    assert names_in(out) == expected_names(folder, ILFS())
    assert f"{Path(table).name}: " in err
    assert "60 rows x 6 features" in err or table.endswith(".csv")
    assert ("read from disk in blocks" in " ".join(err.split())) == (engine == "stream")


def test_dask_gives_the_same_ranking(run, folder):
    pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    code, out, err = run("parts", *COLUMNS, "--engine", "dask")
    assert (code, names_in(out)) == (0, expected_names(folder, ILFS()))
    assert "read by Dask" in err


@pytest.mark.parametrize("engine", ["stream", "dask"])
def test_every_read_shows_its_progress(engine, run, monkeypatch):
    if engine == "dask":
        pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    monkeypatch.setattr("ilfs.cli.progress.SECONDS_BETWEEN_LINES", 0.0)
    _, _, err = run("parts", *COLUMNS, "--engine", engine)
    for name in ("labels", "read 1 of 3", "read 2 of 3", "read 3 of 3"):
        assert f"{name}  {'#' * 30} 100 %" in err
    if engine == "dask":
        assert f"read 2 of 3  {'#' * 15}{'.' * 15}  50 %" in err  # one of two partitions
    assert "read 1" not in run("parts", *COLUMNS, "--engine", engine, "--quiet")[2]


def test_a_small_limit_streams_a_table(run, monkeypatch):
    monkeypatch.setattr("ilfs.preparing.options.MIN_MEMORY_LIMIT", 1)
    assert "read from disk in blocks" in " ".join(run("table.parquet", *COLUMNS, "--memory-limit", "3KB")[2].split())
    assert "held in memory" in run("table.parquet", *COLUMNS, "--memory-limit", "1GB")[2]


def test_the_method_the_shown_number_and_the_output_are_used(run, folder, tmp_path):
    path = tmp_path / "ranking.csv"
    code, out, err = run("table.csv", *COLUMNS, "--method", "fisher", "--show", "2", "-o", str(path))
    names = expected_names(folder, FisherScore())
    assert (code, names_in(out)) == (0, names[:2])
    with path.open() as file:
        assert [row["feature"] for row in csv.DictReader(file)] == names
    assert "the ranking of all 6 features" in " ".join(err.split())


def test_quiet_prints_the_ranking_only(run):
    code, out, err = run("table.csv", *COLUMNS, "--quiet")
    assert (code, err) == (0, "")
    assert len(names_in(out)) == 6


def test_dry_run_prints_size_reads_and_memory_and_does_not_rank(run):
    code, out, _ = run("table.parquet", *COLUMNS, "--dry-run", "--engine", "stream")
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert code == 0
    assert lines["table"].startswith("60 rows x 6 features")
    assert lines["engine"] == "read from disk in blocks"
    assert lines["reads"] == "the labels, then all rows 3 times"
    assert lines["memory"].endswith("MB beside the program")
    assert (
        run("table.parquet", *COLUMNS, "--dry-run", "--method", "fisher", "--engine", "stream")[1].count("1 time\n")
        == 1
    )
    assert (
        "ReliefF needs all rows" in run("parts", *COLUMNS, "--dry-run", "--method", "relieff", "--engine", "stream")[1]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing.csv", "--target", "kind"), "there is no file"),
        (("no-*.parquet", "--target", "kind"), "must match at least one file"),
        (("table.csv", "--target", "kin"), "target must be a column of table.csv (such as kind"),
        (("table.csv", *COLUMNS, "--method", "fischer"), "did you mean 'fisher'?"),
        (("table.csv", *COLUMNS, "--top", "0"), "--top must be an integer >= 1, got 0"),
        (("table.csv", *COLUMNS, "-o", "no/folder/x.csv"), "cannot be written (No such file or directory): make its"),
        (
            ("table.csv", *COLUMNS, "-o", "x.pdf"),
            "a ranking is written as .csv, .tsv, .json, .parquet, .feather or .xlsx",
        ),
        (("table.csv", *COLUMNS, "--memory-limit", "much"), "--memory-limit must be a size such as 500MB"),
        (("table.csv", *COLUMNS, "--scheduler", "tcp://localhost:1"), "--scheduler needs --engine dask"),
        (("table.csv", *COLUMNS, "--engine", "memory", "--memory-limit", "1GB"), "--memory-limit needs --engine auto"),
        (("table.csv", *COLUMNS, "--engine", "dask"), "as Dask reads Parquet files"),
        (("table.csv", *COLUMNS, "--method", "relieff", "--engine", "stream"), "ReliefF needs all rows in memory"),
    ],
)
def test_a_mistake_gives_one_line_and_exit_code_2(arguments, message, run):
    code, out, err = run(*arguments, "--quiet")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


class TestProgressLine:
    def test_a_read_shows_its_number_a_bar_and_the_time_left(self):
        line = ReadLine(3)
        assert bar_text(line.title(2), 0.5, 10.0) == f"read 2 of 3  {'#' * 15}{'.' * 15}  50 %  10 s left"
        assert bar_text(line.title(0), None, 10.0) == "labels"
        assert bar_text(ReadLine().title(1), 1.0, 0.5) == f"read 1  {'#' * 30} 100 %"


def test_an_interrupted_ranking_does_not_claim_to_be_saved(run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ILFS, "fit", interrupt)
    code, out, err = run("table.csv", *COLUMNS, "--quiet")
    stopped = "ilfs: stopped, and an unfinished ranking is not saved; files that were written before are complete\n"
    assert (code, out, err) == (130, "", stopped)


@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--engine", "stream"]])
def test_a_missing_target_is_one_line(more, run):
    code, out, err = run("parts", "--drop", "id", "kind", *more)
    assert (code, out) == (2, "")
    assert err.startswith("ilfs: --target must be named, as the column of parts with the classes cannot be guessed")


class TestHowSure:
    def test_the_labels_are_permuted_by_default(self, run, folder):
        code, out, err = run("table.csv", *COLUMNS)
        assert code == 0
        assert "q-value" in out.splitlines()[1]
        frame = pd.read_csv(folder / "table.csv").drop(columns="id")
        fitted = ILFS(n_permutations=20).fit(frame, "kind")
        assert fitted.is_better_than_chance_
        said = f"better than under each of 20 permutations of the labels (p = {fitted.chance_p_value_:.2g}, the"
        assert said in flat(err)

    def test_labels_without_a_meaning_are_said_to_be_chance(self, run, folder):
        frame = pd.read_csv(folder / "table.csv")
        frame["kind"] = np.random.default_rng(1).permutation(frame["kind"])
        frame.to_csv(folder / "chance.csv", index=False)
        code, _, err = run("chance.csv", *COLUMNS)
        assert code == 0
        assert "the best features are NOT better than under 20 permutations of the labels (p = " in flat(err)
        assert ", above 0.05)" in flat(err)

    def test_a_strict_level_needs_more_permutations(self, run):
        code, out, err = run("table.csv", *COLUMNS, "--rule", "fdr", "--fdr", "0.01", "--method", "fisher")
        assert code == 0
        assert "100 permutations" in err
        assert "q-value" in out
        assert "of 6 features have q-values of at most 0.01" in err

    @pytest.mark.parametrize("seed", [0, 5])
    def test_the_seed_chooses_the_permutations(self, seed, run, folder, tmp_path):
        options = ["--method", "fisher", "--seed", str(seed), "-o", str(tmp_path / "ranking.csv")]
        assert run("table.csv", *COLUMNS, *options)[0] == 0
        frame = pd.read_csv(folder / "table.csv").drop(columns="id")
        fitted = FisherScore(n_permutations=20, random_state=seed).fit(frame, "kind")
        found = pd.read_csv(tmp_path / "ranking.csv").sort_values("column")["p_value"]
        np.testing.assert_allclose(found, fitted.p_values_)
        other = FisherScore(n_permutations=20, random_state=seed + 1).fit(frame, "kind")
        assert not np.allclose(other.p_values_, fitted.p_values_)

    @pytest.mark.parametrize("method", ["ilfs", "fisher", "mi"])
    def test_no_permutations_no_test(self, method, run):
        code, out, err = run("table.csv", *COLUMNS, "--method", method, "--permutations", "0")
        assert code == 0
        assert "q-value" not in out
        assert "permutations" not in err
        assert "the best 6 of 6 features, the default; --top K changes it" in flat(err)

    @pytest.mark.parametrize(
        ("rule", "said"),
        [
            ("auto", r"the best \d of 6 features predict the classes nearly as well as any other number"),
            ("absorption", r"the random walk of ILFS returns to about \d of 6 features"),
        ],
    )
    def test_rules_say_how_many_features(self, rule, said, run):
        code, _, err = run("table.csv", *COLUMNS, "--rule", rule)
        assert code == 0
        assert re.search(said, flat(err))

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (
                ["--fdr", "0.1", "--method", "relieff"],
                "--fdr needs a method that has p-values (--method ilfs, fisher or mi)",
            ),
            (
                ["--permutations", "9", "--method", "cfs"],
                "--permutations needs a method that has p-values (--method ilfs, fisher",
            ),
            (["--fdr", "7"], "--fdr must be a number strictly between 0 and 1, got 7.0"),
            (["--permutations", "0", "--rule", "fdr"], "--rule fdr needs permutations, got --permutations 0"),
            (["--permutations", "-1"], "--permutations must be an integer >= 0, got -1"),
            (["--rule", "absorption", "--method", "fisher"], "--rule absorption needs the random walk of ILFS"),
            (["--rule", "auto", "--engine", "stream"], "--rule auto needs all rows in memory"),
        ],
    )
    def test_wrong_options_are_one_line(self, arguments, said, run):
        code, out, err = run("parts", *COLUMNS, *arguments)
        assert (code, out) == (2, "")
        assert said in flat(err)
