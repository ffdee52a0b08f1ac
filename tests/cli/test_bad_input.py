"""Bad input to every command: the exit code, one sentence on stderr, and no file half-written.

`FILES` are the files, `COMMANDS` the commands that read a file, `REPLIES` what is said. Every file is tried with every
command. `OUTPUTS`, `OPTIONS` and the tests below them try files that cannot be written, wrong options, a full disk,
Ctrl-C and a closed pipe.
"""

import gzip
import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from platforms import needs_posix

import ilfs
from ilfs.cli import main

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

BYTES = bytes(range(256)) * 8
# Words of Python that a user of the command has never seen.
PYTHON_WORDS = re.compile(
    r"\b(X|y) |memory_limit|n_features|n_jobs|random_state|must_keep|sample_weight|\w+='|\bNone\b|numpy|sklearn|"
    r"Traceback|fit\(|ilfs\.read"
)


def table():
    """40 rows of five columns, the first of which differs between the classes, and the classes."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 5)).round(3), columns=list("abcde"))
    frame["kind"] = np.repeat(["x", "y"], 20)
    frame["a"] += 2.0 * (frame["kind"] == "y")
    return frame


def as_bytes(write):
    """Return what a function writes to a binary file."""
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def half(content):
    return content[: len(content) // 2]


def with_line(number, line):
    lines = table().to_csv(index=False).splitlines()
    return "\n".join([*lines[:number], line, *lines[number + 1 :]]).encode() + b"\n"


CSV = table().to_csv(index=False).encode()
PARQUET = as_bytes(lambda file: table().to_parquet(file))
NPZ = as_bytes(lambda file: np.savez(file, X=table()[list("abcde")], y=np.repeat([0, 1], 20)))

# name of the file: (content, what rank and explain say, what apply says; None: it is good enough). A bar separates what
# is said of a table that is loaded from what is said of one that is read in blocks.
FILES = {
    "empty.csv": (b"", "empty.csv is empty", "is empty"),
    "blank.csv": (b"\n\n  \n", "blank.csv is empty", "must have"),
    "header.csv": (b"a,b,c,d,e,kind\n", "must have rows below its header, got none", None),
    "ragged.csv": (
        with_line(10, "1,2,3,4,5,x,6,7"),
        "row 10 of ragged.csv must have 6 values, got 8",
        "6 values, got 8",
    ),
    "cut.csv": (with_line(40, "1,2"), "row 40 of cut.csv must have 6 values, got 2", "6 values, got 2"),
    "truncated.csv.gz": (half(gzip.compress(CSV)), "must be a complete gzip file", "must be a complete gzip file"),
    "truncated.parquet": (half(PARQUET), "must be a complete Parquet file", "must be a complete Parquet file"),
    "truncated.npz": (half(NPZ), "must be a complete .npz file", "must be a complete .npz file"),
    "binary.csv": (BYTES, "must be delimited text, got a binary file|must be text in UTF-8", "must be text in UTF-8"),
    "binary.parquet": (BYTES, "must be a complete Parquet file", "must be a complete Parquet file"),
    "binary.feather": (
        BYTES,
        "must be a complete Arrow or Feather (version 2) file",
        "must be complete Arrow or Feather",
    ),
    "binary.npz": (BYTES, "must be a complete .npz file", "must be a complete .npz file"),
    "binary.mat": (BYTES, "must be a complete MATLAB file", "must be a complete MATLAB file"),
    "one_class.csv": (table().assign(kind="x").to_csv(index=False).encode(), "at least two classes, got", None),
    "one_row.csv": (table()[:1].to_csv(index=False).encode(), "one_row.csv must have at least 2 rows, got 1", None),
    "no_target.csv": (table().drop(columns="kind").to_csv(index=False).encode(), "--target must be a column of", None),
    "two_targets.csv": (
        CSV.replace(b"a,b,c,d,e,kind", b"a,b,c,d,kind,kind"),
        "must differ, got kind|must differ, got 'kind'",
        "kind",
    ),
    "infinite.csv": (
        with_line(3, "1,inf,3,4,5,x"),
        "column 'b' of infinite.csv must be finite, got inf|'b' holds infinity",
        None,
    ),
    "words.csv": (b"a,kind\nu,x\nv,y\nw,x\nr,y\n", "must have at least one column", "selected"),
    "missing.csv": (None, "no file", "no file"),
}
COMMANDS = {
    "rank": ["rank", "FILE", "--target", "kind", "--quiet", "-o", "out.csv", "--report", "out.html"],
    "rank streamed": ["rank", "FILE", "--target", "kind", "--quiet", "--engine", "stream", "--save", "out.json"],
    "explain": ["explain", "FILE", "--target", "kind", "--feature", "a", "--quiet"],
    "interactions": ["interactions", "FILE", "--target", "kind", "--quiet", "-o", "out.csv", "--report", "out.html"],
    "compare": ["compare", "FILE", "--target", "kind", "--quiet", "-o", "out.csv", "--report", "out.html"],
    "apply": ["apply", "good.json", "FILE", "-o", "out.csv", "--quiet"],
}
NOT_STREAMED = "as this format is not read in blocks, got 'stream'"  # said of .npz and .mat files, whatever they hold


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a good table and a good selection, which is the current one."""
    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_bytes(CSV)
    Path("good.parquet").write_bytes(PARQUET)
    assert main(["rank", "good.csv", "--target", "kind", "--quiet", "--top", "2", "--save", "good.json"]) == 0
    return tmp_path


@pytest.fixture
def refused(folder, capsys):
    """Run a command that must fail: exit code 2, nothing on stdout, one sentence on stderr, and no new file."""
    capsys.readouterr()

    def refused(*arguments):
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        try:
            code = main(list(arguments))
        except SystemExit as stop:  # a usage error
            code = stop.code
        out, err = capsys.readouterr()
        assert (code, out) == (2, "")
        assert re.fullmatch(r"ilfs: [^\n]+\n", err), err
        assert not PYTHON_WORDS.search(without_arguments(err, arguments)), err
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
        return err

    return refused


def without_arguments(err, arguments):
    """Remove what the user wrote from a message."""
    for word in arguments:
        err = err.replace(word, "")
    return err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_is_refused_in_one_sentence(name, command, refused, folder):
    content, said, said_by_apply = FILES[name]
    if content is not None:
        (folder / name).write_bytes(content)
    arguments = [name if word == "FILE" else word for word in COMMANDS[command]]
    if command != "apply":
        err = refused(*arguments)
        assert any(one in err for one in [*said.split("|"), NOT_STREAMED])
    elif said_by_apply is not None:
        assert said_by_apply in refused(*arguments)
    else:  # the values of the selected columns are copied as they are
        assert main(arguments) == 0


SELECTIONS = {  # files in place of a selection
    "empty": b"",
    "truncated": None,
    "binary": BYTES,
    "a list": b"[1, 2]",
    "another object": b'{"format": 1}',
}


@pytest.mark.parametrize("kind", SELECTIONS)
def test_a_bad_selection_is_refused_in_one_sentence(kind, refused, folder):
    content = SELECTIONS[kind]
    (folder / "bad.json").write_bytes(half((folder / "good.json").read_bytes()) if content is None else content)
    assert "bad.json" in refused("apply", "bad.json", "good.csv", "-o", "out.csv")


OUTPUTS = [  # option, file, what is said
    ("-o", "none/out.csv", "cannot be written (No such file or directory): make its folder first"),
    ("-o", "good.csv/out.csv", "cannot be written (Not a directory): choose a path whose folder is not a file"),
    ("-o", ".", "cannot be written (Is a directory): choose the path of a file"),
    ("-o", "n" * 300 + ".csv", "cannot be written (File name too long)"),
    ("-o", "out.pdf", "a ranking is written as .csv, .tsv, .json, .parquet, .feather or .xlsx, got 'out.pdf'"),
    ("-o", "good.csv", "--output must be another file than INPUT"),
    ("--selected", "none/out.csv", "make its folder first"),
    ("--selected", "out.xlsx", "--selected must name a file that ends in .csv or .tsv or .parquet or .feather"),
    ("--selected", "./good.csv", "--selected must be another file than INPUT"),
    ("--report", "none/out.html", "make its folder first"),
    ("--report", "out.pdf", "--report must name a file that ends in .html or .htm"),
    ("--plot", "none/out.png", "make its folder first"),
    ("--plot", "out.gif", "--plot must name a file that ends in .png or .svg or .pdf"),
    ("--save", "none/out.json", "make its folder first"),
    ("--save", "out.csv", "--save must name a file that ends in .json"),
]


@pytest.mark.parametrize(("option", "file", "said"), OUTPUTS)
def test_an_output_that_cannot_be_written_is_noticed_before_the_table_is_read(option, file, said, refused, monkeypatch):
    def read(*_, **__):
        raise AssertionError("the table was read")

    if option == "--plot":
        pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.setattr("ilfs.preparing.prepare", read)
    assert said in refused("rank", "good.csv", "--target", "kind", option, file)


@needs_posix
@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_noticed_before_the_work(refused, folder):
    (folder / "locked").mkdir(mode=0o500)
    assert "choose a folder that you may write to" in refused("rank", "good.csv", "-o", "locked/out.csv")


OPTIONS = [  # options of ilfs rank good.csv, what is said
    (["--target", "kin"], "--target must be a column of good.csv (such as kind), got 'kin'"),
    (["--target", "a"], "--target must hold classes, got numbers such as"),
    (["--weight", "kind"], "must be a column without another role, got 'kind' for both"),
    (["--drop", "zz"], "--drop must match at least one column (such as a, b, c), got 'zz'"),
    (["--only", "z*"], "--only must match at least one column (such as a, b, c), got 'z*'"),
    (["--must-keep", "zz"], "--must-keep must match at least one column"),
    (["--must-keep", "b", "c", "--top", "1"], "--must-keep must not hold more features than are selected"),
    (["--id", "zz"], "--id must be a column of good.csv"),
    (["--groups", "zz"], "--groups must be a column of good.csv"),
    (["--samples", "none.csv"], "there is no file"),
    (["--top", "0"], "--top must be an integer >= 1, got 0"),
    (["--top", "few"], "argument --top: invalid int value: 'few'; see ilfs rank --help"),
    (["--top", "3", "--rule", "fdr"], "argument --rule: not allowed with argument --top"),
    (["--fraction", "1.5"], "--fraction must be above 0 and at most 1, got 1.5"),
    (["--show", "0"], "--show must be an integer >= 1, got 0"),
    (["--fdr", "2"], "--fdr must be a number strictly between 0 and 1, got 2.0"),
    (["--permutations", "-1"], "--permutations must be an integer >= 0, got -1"),
    (["--seed", "-1"], "--seed must be an integer >= 0, got -1"),
    (["--jobs", "0"], "--jobs must be an integer other than 0, got 0"),
    (["--method", "fischer"], "did you mean 'fisher'?"),
    (["--method", "sklearn.feature_selection.SelectKBest"], "--method must be one that ilfs methods lists"),
    (["--method", "ilfs,fisher", "--report", "x.html"], "--report needs one method, got 2: see ilfs compare"),
    (["--method", "ilfs", "fisher", "--stability"], "--stability needs one method, got 2"),
    (["--interactions", "4"], "argument --interactions: invalid choice: 4 (choose from 2, 3); see ilfs rank --help"),
    (["--interactions", "2", "--method", "fisher"], "--interactions needs --method ilfs, got --method fisher"),
    (["--interactions", "2", "--engine", "stream"], "needs all rows in memory: raise --memory-limit if it fits"),
    (
        ["--method", "relieff", "--groups", "b"],
        "--groups needs a method that permutes labels (--method ilfs, fisher or mi)",
    ),
    (["--method", "relieff", "--engine", "stream"], "ReliefF needs all rows in memory: raise --memory-limit if it"),
    (["--method", "rfe", "--rule", "fdr"], "--rule fdr needs p-values, which SVMRFE does not have: give --top K"),
    (["--rule", "auto", "--engine", "stream"], "--rule auto needs all rows in memory"),
    (["--memory-limit", "much"], "--memory-limit must be a size such as 500MB or 2GiB, got 'much'"),
    (["--memory-limit", "5"], "--memory-limit must be at least 10 MB"),
    (["--scheduler", "tcp://localhost:1"], "--scheduler needs --engine dask, got --engine auto"),
    (["--engine", "dask"], "as Dask reads Parquet files"),
    (["--input-format", "doc"], "argument --input-format: invalid choice: 'doc'"),
    (["other.csv"], "INPUT must be one file, or several Parquet files, got 2 arguments"),
    (["-o", "x.csv", "--selected", "x.csv"], "--output and --selected must be different files, got 'x.csv' twice"),
]


@pytest.mark.parametrize(("options", "said"), OPTIONS, ids=[" ".join(one) for one, _ in OPTIONS])
def test_a_wrong_option_is_refused_in_one_sentence(options, said, refused):
    if "other.csv" in options:
        arguments = ["rank", "good.csv", *options]
    else:
        target = [] if "--target" in options else ["--target", "kind"]
        arguments = ["rank", "good.csv", *target, "--quiet", *options]
    assert said.replace("'", "") in refused(*arguments).replace("'", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rank"], "INPUT is missing: name the file"),
        (["rank", "--target", "kind"], "INPUT is missing"),
        (["explain", "good.csv", "--target", "kind"], "--feature is missing"),
        (["explain", "good.csv", "--quiet", "--feature", "kind"], "got 'kind', which holds the classes"),
        (["explain", "good.csv", "--quiet", "--feature", "zz"], "--feature must match at least one column"),
        (["interactions"], "INPUT is missing"),
        (["interactions", "good.csv", "--order", "4"], "argument --order: invalid choice: 4 (choose from 2, 3)"),
        (["interactions", "good.csv", "--alpha", "0"], "--alpha must be a number strictly between 0 and 1, got 0.0"),
        (["interactions", "good.csv", "--show", "0"], "--show must be an integer >= 1, got 0"),
        (["interactions", "good.csv", "--groups", "b"], "unrecognized arguments: --groups b"),
        (["interactions", "good.csv", "--quiet", "--only", "a"], "interactions need at least two features, got 1"),
        (["interactions", "good.csv", "--quiet", "--weight", "a"], "--weight"),
        (["interactions", "good.csv", "-o", "good.csv"], "--output must be another file than INPUT"),
        (["interactions", "good.csv", "-o", "out.pdf"], "interactions are written as .csv, .tsv, .json"),
        (["interactions", "good.csv", "--report", "out.pdf"], "--report must name a file that ends in .html"),
        (["apply", "good.json", "good.csv"], "the following arguments are required: -o/--output"),
        (["apply", "good.json", "good.csv", "-o", "good.csv"], "must be another file"),
        (["apply", "good.json", "good.csv", "-o", "out.pdf"], "must end in .csv, .tsv, .parquet or .feather"),
        (["apply", "good.json", "good.csv", "-o", "none/out.csv"], "make it"),
        (["apply", "good.json", "good.csv", "-o", "out.csv", "--keep", "zz"], "'zz'"),
        (["methods", "--format", "doc"], "argument --format: invalid choice: 'doc'"),
        (["completion", "fish"], "argument shell: invalid choice: 'fish'"),
        (["datasets", "show", "zz"], "no data set is called 'zz'"),
        (["datasets", "fetch"], "name the data sets to fetch"),
        (["bench", "run", "none.toml"], "there is no file none.toml"),
        (["bench", "table"], "name a suite"),
        (["bench", "run", "quick", "--datasets", "none.csv", "--quiet"], "none.csv"),
    ],
    ids=" ".join,
)
def test_other_mistakes_are_refused_in_one_sentence(arguments, said, refused):
    assert said.replace("'", "") in refused(*arguments).replace("'", "")


# Errors that nobody has foreseen


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "ilfs: there is not enough memory: try --engine stream, a smaller --memory-limit, or fewer"),
        (
            RuntimeError("no\nway"),
            "ilfs: RuntimeError: no way; this should not happen: run the command again with --debug",
        ),
        (ZeroDivisionError("x\x1b[31m"), "ilfs: ZeroDivisionError: x [31m; this should not happen"),
        (RecursionError("deep"), "ilfs: RecursionError: deep; this should not happen"),
        (PermissionError(13, "Permission denied", "t.csv"), "ilfs: 't.csv': Permission denied"),
        (ValueError(), "ilfs: ValueError"),
    ],
)
def test_an_unexpected_error_is_one_line_and_with_debug_a_traceback(error, said, folder, monkeypatch, capsys):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("ilfs.preparing.prepare", fail)
    capsys.readouterr()
    assert main(["rank", "good.csv"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(said)
    assert main(["rank", "good.csv", "--debug"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last):")
    assert err.splitlines()[-1].startswith(said)


# Full disk, Ctrl-C, closed pipe: in a process of its own


def start(*arguments, **options):
    environment = os.environ | {"PYTHONPATH": str(Path(ilfs.__file__).parents[1])}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen([sys.executable, "-m", "ilfs", *arguments], env=environment, text=True, **pipes)


RANK = ["rank", "good.csv", "--target", "kind", "--quiet"]
full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device /dev/full")


@full_disk
@pytest.mark.parametrize("option", ["-o", "--save", "--report"])
def test_a_full_disk_is_one_sentence(option, folder, capsys):
    capsys.readouterr()
    assert main([*RANK, option, "/dev/full"]) == 2
    said = "ilfs: '/dev/full' cannot be written (No space left on device): free some space or choose another disk\n"
    assert capsys.readouterr().err == said


@full_disk
@pytest.mark.parametrize(
    "arguments", [RANK, [*RANK, "--json"], [*RANK, "--format", "csv"], ["methods"], ["completion", "bash"]]
)
def test_a_full_disk_below_standard_output_is_one_sentence(arguments, folder):
    with open("/dev/full", "w") as full:
        process = start(*arguments, stdout=full)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (2, "ilfs: standard output: No space left on device\n")


@pytest.mark.parametrize("arguments", [[*RANK, "--json"], ["methods"]])
def test_a_closed_pipe_ends_the_command_in_silence(arguments, folder):
    with start(*arguments) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait(timeout=120)) == ("", 0)


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["rank", "-", "--target", "kind", "-o", "out.csv", "--quiet"],
            "an unfinished ranking is not saved; files that were written before are complete",
        ),
        (["explain", "-", "--target", "kind", "--feature", "a", "--quiet"], "nothing is saved"),
    ],
)
def test_ctrl_c_ends_the_command_in_one_sentence(arguments, said, folder):
    before = sorted(folder.iterdir())
    process = start(*arguments, stdin=subprocess.PIPE)  # it waits for a table that does not come
    wait_until_read(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert re.fullmatch(rf"ilfs: stopped, and {said}\n", err)
    assert sorted(folder.iterdir()) == before


def wait_until_read(process):
    """Give the command a table without an end until it takes no more, so that it is reading."""
    process.stdin.write("a,b,kind\n" + "1,2,x\n2,1,y\n" * 1000)
    process.stdin.flush()
    time.sleep(2.0)


def test_the_files_are_written_although_the_reader_of_the_ranking_has_gone(folder):
    with start(*RANK, "-o", "out.csv") as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait(timeout=120)) == ("", 0)
    assert len((folder / "out.csv").read_text().splitlines()) == 6
