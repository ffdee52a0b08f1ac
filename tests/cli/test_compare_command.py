"""``ilfs compare``: what it prints and writes, and one line for every mistake."""

import json
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers import planted

from ilfs.cli import main
from ilfs.selection import compare

QUICK = ("--sizes", "1", "3", "--folds", "3", "--repeats", "1", "--half-samples", "4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table, and the same with missing values."""
    folder = tmp_path_factory.mktemp("tables")
    X, y = planted(n_samples=60, n_features=8, n_informative=2)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(8)])
    frame["kind"], frame["name"] = np.array(["benign", "malignant"])[y], [f"s{i}" for i in range(60)]
    frame.to_csv(folder / "table.csv", index=False)
    frame.mask(frame["gene 3"] > 1.5, None).assign(kind=frame["kind"]).to_csv(folder / "missing.csv", index=False)
    frame.assign(kind="benign").to_csv(folder / "one_class.csv", index=False)
    frame[:3].to_csv(folder / "short.csv", index=False)
    (folder / "empty.csv").write_text("")
    return folder


@pytest.fixture
def run(folder, command):
    """Run ``ilfs compare`` in the folder of the tables; return exit code, stdout and stderr."""
    return partial(command(folder), "compare")


def test_the_screen_shows_the_numbers_of_the_library(run, folder):
    code, out, err = run("table.csv", "--target", "kind", "--methods", "fisher", "relieff", *QUICK)
    assert code == 0
    frame = pd.read_csv(folder / "table.csv")
    expected = compare(
        ["fisher", "relieff"], frame.drop(columns=["kind", "name"]), frame["kind"], sizes=[1, 3], cv=3, n_repeats=1
    )
    mean, error = expected.mean[1, 0, 1], expected.error[1, 0, 1]
    assert re.search(rf"relieff .*{mean:.2f} ± {error:.2f}", out)
    assert "name: identifies the rows" in err
    assert "60 rows x 8 features" in err


def test_methods_may_be_separated_by_commas_and_come_before_the_input(run):
    code, out, _ = run("--target", "kind", "--quiet", *QUICK, "--methods", "fisher,mi", "table.csv")
    assert code == 0
    assert "fisher" in out
    assert "relieff" not in out


def test_json_on_stdout_is_complete(run):
    code, out, err = run("table.csv", "--target", "kind", "--methods", "mi", "fisher", *QUICK, "--json", "--quiet")
    content = json.loads(out)
    assert (code, err) == (0, "")
    assert content["command"].startswith("ilfs compare table.csv --target kind")
    assert content["target"] == "kind"
    assert content["set_aside"][0]["name"] == "name"
    assert [one["name"] for one in content["methods"]] == ["mi", "fisher"]
    assert content["protocol"]["sizes"] == [1, 3]


def test_csv_on_stdout_has_a_row_for_each_method_classifier_and_size(run, tmp_path):
    _, out, _ = run("table.csv", "--target", "kind", "--methods", "mi", *QUICK, "--format", "csv")
    lines = out.splitlines()
    assert lines[0] == "method,classifier,n_features,mean,std_error"
    assert len(lines) == 1 + 2 * 2 * 2


def test_files_are_written(run, tmp_path):
    files = {"-o": "all.json", "--rankings": "ranks.csv", "--report": "page.html"}
    options = [word for option, name in files.items() for word in (option, str(tmp_path / name))]
    code, _, err = run("table.csv", "--target", "kind", "--methods", "mi", "fisher", *QUICK, *options)
    assert code == 0
    assert all(str(tmp_path / name) in err for name in files.values())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files.values())
    assert json.loads((tmp_path / "all.json").read_text())["input"] == "table.csv"
    assert len(pd.read_csv(tmp_path / "ranks.csv")) == 8
    page = (tmp_path / "page.html").read_text()
    assert "Comparison of 2 methods on table.csv" in page
    assert "identifies the rows" in page
    assert "ilfs compare table.csv" in page


def test_a_method_that_cannot_take_the_table_is_left_out_with_its_reason(run):
    code, out, _ = run("missing.csv", "--target", "kind", "--methods", "fisher", "ls", *QUICK)
    assert code == 0
    assert "ls is left out" in out
    _, _, err = run("missing.csv", "--target", "kind", "--methods", "fisher", "ls", *QUICK, "--json")
    assert "left out" in err


def test_stability_may_be_left_out_and_the_metric_chosen(run):
    arguments = ("table.csv", "--target", "kind", "--methods", "mi", *QUICK[:-2], "--half-samples", "0")
    code, out, _ = run(*arguments, "--metric", "balanced_accuracy", "--json")
    content = json.loads(out)
    assert code == 0
    assert content["methods"][0]["stability"] is None
    assert content["protocol"]["metric"] == "balanced_accuracy"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table.csv", "--target", "kind", "--methods", "fischer"], "did you mean 'fisher'"),
        (["table.csv", "--target", "kin"], "kin"),
        (["absent.csv", "--target", "kind"], "absent.csv"),
        (["empty.csv", "--target", "kind"], "empty.csv"),
        (["one_class.csv", "--target", "kind"], "kind"),
        (["short.csv", "--target", "kind", *QUICK], "folds"),
        (["table.csv", "--target", "kind", "--folds", "1"], "--folds must be an integer >= 2, got 1"),
        (["table.csv", "--target", "kind", "--folds", "31"], "31 folds need a class with 31 rows or more"),
        (["table.csv", "--target", "kind", "--sizes", "9"], "sizes must be integers from 1 to 8"),
        (["table.csv", "--target", "kind", "--sizes", "a"], "--sizes"),
        (["table.csv", "--target", "kind", "--top", "8"], "less than the number of features, 8, got 8"),
        (["table.csv", "--target", "kind", "--half-samples", "3"], "--half-samples must be an even number, got 3"),
        (["table.csv", "--target", "kind", "--metric", "acuracy"], "did you mean 'accuracy'"),
        (["table.csv", "--target", "kind", "--jobs", "0"], "--jobs"),
        (["table.csv", "--target", "kind", "--seed", "-1"], "--seed"),
        (["table.csv", "--target", "kind", "-o", "out.txt"], "--output must name a file that ends in .csv or .json"),
        (["table.csv", "--target", "kind", "-o", "none/out.csv"], "none/out.csv"),
        (["table.csv", "--target", "kind", "-o", "table.csv"], "another file than INPUT"),
        (["table.csv", "--target", "kind", "--report", "page.pdf"], "--report"),
        ([], "INPUT is missing"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments, message, run, folder):
    before = {path.name: path.stat().st_size for path in folder.iterdir()}
    try:
        code, out, err = run(*arguments)
    except SystemExit as stopped:  # a usage error of the parser
        code, out, err = stopped.code, "", None
    assert (code, out) == (2, "")
    if err is not None:
        assert message in err
        assert len([line for line in err.splitlines() if line.startswith("ilfs: ")]) == 1
        assert "Traceback" not in err
    assert {path.name: path.stat().st_size for path in folder.iterdir()} == before


def test_ctrl_c_ends_with_one_line_and_no_files(run, tmp_path, monkeypatch):
    from ilfs.selection import comparing

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(comparing, "stabilities", stop)
    report = tmp_path / "page.html"
    code, out, err = run("table.csv", "--target", "kind", "--methods", "mi", *QUICK, "--report", str(report))
    assert (code, out) == (130, "")
    assert "ilfs: stopped, and nothing is saved of an unfinished comparison" in err
    assert not report.exists()


def test_help_has_examples(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    assert "ilfs compare expression.csv --target tumour --methods ilfs fisher relieff" in capsys.readouterr().out
