"""Files, formats and options of ``ilfs rank``, and ``ilfs apply`` with the selection that it saves."""

import html
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import planted, read_csv_exactly

from ilfs import ILFS, FisherScore, load
from ilfs.cli import main

pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder with a table as CSV and Parquet, with its genes in rows and a sample sheet, and in three parts."""
    folder = tmp_path_factory.mktemp("tables")
    X, y = planted(n_samples=60, n_features=8, shift=1.0)
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(8)])
    frame.insert(0, "sample", [f"s{i}" for i in range(60)])
    frame["donor"] = [f"d{i}" for i in np.random.default_rng(1).integers(10, size=60)]
    frame["weight"] = 1.0 + np.arange(60) % 3
    frame["kind"] = np.array(["benign", "malignant"])[y]
    frame.to_csv(folder / "table.csv", index=False)
    frame.to_parquet(folder / "table.parquet")
    genes = frame[[f"gene{j}" for j in range(8)]].T.set_axis(frame["sample"], axis=1)
    genes.to_csv(folder / "genes.tsv", sep="\t", index_label="gene")
    frame[["sample", "kind", "donor"]].sample(frac=1, random_state=0).to_csv(folder / "sheet.csv", index=False)
    (folder / "parts").mkdir()
    for number, rows in enumerate([frame[:20], frame[20:40], frame[40:]]):
        rows.to_parquet(folder / "parts" / f"part-{number}.parquet")
    return folder


@pytest.fixture
def run(tables, monkeypatch, capsys):
    """Run a command in the folder of the tables; it must succeed. Return stdout and stderr."""
    monkeypatch.chdir(tables)

    def run(*arguments):
        capsys.readouterr()
        code = main(list(arguments))
        out, err = capsys.readouterr()
        assert code == 0, err
        return out, err

    return run


ASIDE = ("--target", "kind", "--drop", "weight")


def fitted(tables, selector):
    frame = read_csv_exactly(tables / "table.csv")
    return selector.fit(frame[[f"gene{j}" for j in range(8)]], frame["kind"])


class TestJson:
    @pytest.fixture
    def found(self, run):
        out, err = run("rank", "table.csv", *ASIDE, "--json", "--quiet")
        assert err == ""
        return json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))

    def test_the_shape_is_that_of_format_1(self, found):
        assert found["format"] == 1
        assert found["input"] == {"name": "table.csv", "rows": 60, "features": 8}
        assert found["target"]["name"] == "kind"
        assert [one["label"] for one in found["target"]["classes"]] == ["benign", "malignant"]
        assert sum(one["rows"] for one in found["target"]["classes"]) == 60
        assert found["method"] == "ilfs"
        assert found["parameters"]["n_features_to_select"] == "fdr"
        assert {one["name"] for one in found["set_aside"]} == {"sample", "weight", "donor"}
        assert found["command"] == "ilfs rank table.csv --target kind --drop weight --json --quiet"

    def test_the_numbers_are_those_of_fit(self, found, tables):
        selector = fitted(tables, ILFS("fdr", n_permutations=20))
        assert [one["feature"] for one in found["features"]] == [f"gene{j}" for j in selector.order_]
        assert [one["score"] for one in found["features"]] == selector.scores_[selector.order_].tolist()
        assert [one["q_value"] for one in found["features"]] == selector.q_values_[selector.order_].tolist()
        assert found["verdict"]["p_value"] == selector.chance_p_value_
        assert found["verdict"]["better_than_chance"] is True
        chosen = [f"gene{j}" for j in selector.order_ if selector.get_support()[j]]
        assert found["selected"]["names"] == chosen
        assert found["selected"]["number"] == len(chosen)
        assert [one["feature"] for one in found["features"] if one["selected"]] == chosen
        first = found["features"][0]
        means = read_csv_exactly(tables / "table.csv").groupby("kind")[first["feature"]].mean()
        assert first["means"] == pytest.approx(means.to_dict())

    def test_numbers_that_json_lacks_are_null(self, run, tables):
        frame = pd.DataFrame({"a": [1.0, 1.0, 2.0, 2.0], "b": [0.0, 1.0, 0.0, 3.0], "kind": ["x", "x", "y", "y"]})
        frame.to_csv(tables / "tiny.csv", index=False)
        out, _ = run("rank", "tiny.csv", "--target", "kind", "--method", "fisher", "--permutations", "0", "--json")
        features = {one["feature"]: one for one in json.loads(out, parse_constant=pytest.fail)["features"]}
        assert features["a"]["effect"] is None  # infinite: constant within each class

    def test_several_methods_are_a_list(self, run):
        out, _ = run("rank", "table.csv", *ASIDE, "--method", "fisher", "relieff", "--json", "--show", "2")
        found = json.loads(out)
        assert [one["method"] for one in found["rankings"]] == ["fisher", "relieff"]
        assert [len(one["features"]) for one in found["rankings"]] == [2, 2]


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "parquet", "feather", "xlsx"])
def test_the_ranking_of_all_features_is_written_in_every_format(ending, run, tables):
    path = tables / f"ranking.{ending}"
    run("rank", "table.csv", *ASIDE, "--method", "fisher", "--show", "1", "-o", str(path))
    if ending == "xlsx":
        pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    readers = {
        "csv": read_csv_exactly,
        "tsv": lambda path: read_csv_exactly(path, sep="\t"),
        "json": lambda path: pd.DataFrame(json.loads(path.read_text())["features"]),
        "parquet": pd.read_parquet,
        "feather": pd.read_feather,
        "xlsx": pd.read_excel,
    }
    found, selector = readers[ending](path), fitted(tables, FisherScore("fdr", n_permutations=20))
    assert found["feature"].tolist() == [f"gene{j}" for j in selector.order_]
    np.testing.assert_allclose(found["score"], selector.scores_[selector.order_], rtol=1e-15)
    np.testing.assert_allclose(found["q_value"], selector.q_values_[selector.order_], rtol=1e-15)
    assert found["selected"].astype(bool).tolist() == selector.get_support()[selector.order_].tolist()


def test_csv_on_stdout_is_the_file(run, tables):
    out, _ = run("rank", "table.csv", *ASIDE, "--format", "csv", "-o", "ranking.csv")
    assert out == (tables / "ranking.csv").read_text()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_the_selected_columns_are_written_with_names_and_classes(engine, ending, run, tables):
    path = tables / f"small.{ending}"
    run("rank", "table.parquet", *ASIDE, "--id", "sample", "--engine", engine, "--top", "3", "--selected", str(path))
    found = read_csv_exactly(path) if ending == "csv" else pd.read_parquet(path)
    frame = pd.read_parquet(tables / "table.parquet")
    chosen = [f"gene{j}" for j in sorted(fitted(tables, ILFS(3)).order_[:3])]
    assert set(found.columns) >= {"kind", *chosen}
    assert sum(name.startswith("gene") for name in found.columns) == 3
    np.testing.assert_allclose(found[chosen], frame[chosen])
    assert found["kind"].tolist() == frame["kind"].tolist()
    if "sample" in found:
        assert found["sample"].tolist() == frame["sample"].tolist()


def test_genes_in_rows_are_matched_with_the_sample_sheet(run, tables):
    out, err = run("rank", "genes.tsv", "--samples", "sheet.csv", "--target", "kind", "--json")
    selector = fitted(tables, ILFS("fdr", n_permutations=20))
    assert [one["feature"] for one in json.loads(out)["features"]] == [f"gene{j}" for j in selector.order_]
    assert "--no-transpose" in err
    small = tables / "matched.csv"
    run("rank", "genes.tsv", "--samples", "sheet.csv", "--target", "kind", "--top", "2", "--selected", str(small))
    found, frame = read_csv_exactly(small, index_col=0), read_csv_exactly(tables / "table.csv", index_col="sample")
    chosen = [name for name in found.columns if name.startswith("gene")]
    np.testing.assert_allclose(found[chosen], frame.loc[found.index, chosen])
    assert found["kind"].tolist() == frame.loc[found.index, "kind"].tolist()


def test_a_saved_selection_is_applied_to_another_table(run, tables):
    run("rank", "table.csv", *ASIDE, "--top", "2", "--save", "selection.json")
    assert load(tables / "selection.json").get_support().sum() == 2
    _, err = run("apply", "selection.json", "table.parquet", "-o", "applied.csv", "--keep", "kind", "donor")
    assert err.split() == "written applied.csv: 2 selected columns".split()
    found = read_csv_exactly(tables / "applied.csv")
    chosen = [f"gene{j}" for j in sorted(fitted(tables, ILFS(2)).order_[:2])]
    assert found.columns.tolist() == ["kind", "donor", *chosen]
    np.testing.assert_allclose(found[chosen], read_csv_exactly(tables / "table.csv")[chosen])
    _, err = run("apply", "selection.json", "table.csv", "-o", "applied.csv", "--quiet")
    assert err == ""
    _, err = run("apply", "selection.json", "table.csv", "-o", "applied.csv")
    assert "2 selected columns, without the classes; --keep kind writes them, too" in " ".join(err.split())


def test_the_page_and_the_picture_are_written(run, tables):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    _, err = run("rank", "table.csv", *ASIDE, "--report", "page.html", "--plot", "plot.svg", "--stability")
    page = (tables / "page.html").read_text()
    assert page.lower().startswith("<!doctype html>")
    assert "gene0" in page
    assert "ilfs rank table.csv --target kind --drop weight --report page.html" in page
    assert "<svg" in (tables / "plot.svg").read_text()
    assert "stability  of the best" in err
    assert [line.split()[1] for line in err.splitlines() if line.startswith("written")] == ["plot.svg:", "page.html:"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("table.csv", *ASIDE, "--groups", "donor", "--fdr", "0.1"),
        ("genes.tsv", "--samples", "sheet.csv", "--target", "kind", "--must-keep", "gene7"),
        ("table.csv", "--drop", "kind", "donor", "--method", "ls"),
    ],
    ids=["groups", "sample sheet", "no labels"],
)
def test_the_code_on_the_page_repeats_the_ranking(arguments, run, tables):
    run("rank", *arguments, "--report", "repeat.html", "-o", "repeat.csv")
    code = html.unescape(re.search("In Python:</p>\n<pre>(.*?)</pre>", (tables / "repeat.html").read_text(), re.S)[1])
    known = {}
    exec(code, known)
    assert known["selector"].table()["feature"].tolist() == read_csv_exactly("repeat.csv")["feature"].tolist()
    assert (tables / "ranking.html").exists()


class TestSize:
    @pytest.mark.parametrize(("options", "n"), [(["--top", "3"], 3), (["--fraction", "0.5"], 4)])
    def test_top_and_fraction_are_what_is_selected(self, options, n, run):
        out, err = run("rank", "table.csv", *ASIDE, *options, "--json")
        assert json.loads(out)["selected"]["number"] == n
        assert f"the best {n} of 8 features" in err

    def test_show_is_what_is_shown(self, run):
        assert run("rank", "table.csv", *ASIDE, "--top", "3", "--show", "5")[0].count("gene") >= 5

    def test_features_to_keep_are_found_by_pattern(self, run, tables):
        worst = [f"gene{j}" for j in fitted(tables, ILFS()).order_[-2:]]
        out, _ = run(
            "rank",
            "table.csv",
            *ASIDE,
            "--top",
            "3",
            "--must-keep",
            worst[0],
            worst[1][:4] + "[" + worst[1][4] + "]",
            "--json",
        )
        assert set(worst) <= set(json.loads(out)["selected"]["names"])

    def test_weights_and_groups_are_used(self, run, tables):
        frame = read_csv_exactly(tables / "table.csv")
        options = ["--target", "kind", "--weight", "weight", "--groups", "donor", "--method", "fisher", "--json"]
        out, _ = run("rank", "table.csv", *options)
        selector = FisherScore("fdr", n_permutations=20).fit(
            frame[[f"gene{j}" for j in range(8)]], frame["kind"], frame["weight"], groups=frame["donor"]
        )
        found = {one["feature"]: one for one in json.loads(out)["features"]}
        np.testing.assert_allclose([found[f"gene{j}"]["score"] for j in range(8)], selector.scores_)
        np.testing.assert_allclose([found[f"gene{j}"]["p_value"] for j in range(8)], selector.p_values_)


class TestInput:
    def test_parquet_files_that_the_shell_has_listed_are_one_table(self, run, tables):
        parts = [f"parts/part-{number}.parquet" for number in range(3)]
        out, _ = run("rank", *parts, *ASIDE, "--json")
        assert json.loads(out)["input"]["rows"] == 60
        out, _ = run("rank", *parts[:2], *ASIDE, "--json")
        assert json.loads(out)["input"]["rows"] == 40

    @pytest.mark.parametrize(
        "arguments",
        [
            ["rank", "--target", "kind", "--drop", "weight", "table.csv"],
            ["rank", "--method", "fisher", "table.csv", "--target", "kind"],
            ["rank", "--drop", "weight", "don*", "table.csv"],
            ["rank", "table.csv", "--drop", "weight", "--drop", "don*", "--target", "kind"],
            ["explain", "--target", "kind", "--feature", "gene1", "table.csv"],
        ],
        ids=" ".join,
    )
    def test_a_list_of_names_does_not_swallow_the_input(self, arguments, run):
        assert "table.csv: 60 rows" in run(*arguments)[1]

    def test_standard_input_is_read(self, tables):
        command = [sys.executable, "-m", "ilfs", "rank", "-", "--target", "kind", "--quiet", "--format", "csv"]
        with (tables / "table.csv").open("rb") as file:
            done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=True, cwd=tables)
        assert done.stdout.startswith("rank,feature,column,score")
        assert done.stderr == ""

    def test_methods_without_labels_need_no_target(self, run, tables):
        read_csv_exactly(tables / "table.csv").filter(like="gene").to_csv(tables / "unlabelled.csv", index=False)
        out, err = run("rank", "unlabelled.csv", "--method", "ls", "--json")
        assert json.loads(out)["target"] is None
        assert "8 features" in err


class TestTalk:
    def test_what_was_guessed_and_set_aside_is_told_with_options(self, run, tables):
        frame = read_csv_exactly(tables / "table.csv").drop(columns="donor")
        frame.to_csv(tables / "guess.csv", index=False)
        _, err = run("rank", "guess.csv", "--drop", "weight")
        flat = " ".join(err.split())
        assert "guessed the target of guess.csv was guessed: 'kind'" in flat
        assert "--target COLUMN" in flat
        assert "set aside" in flat
        assert "weight: dropped on request" in flat

    def test_several_methods_are_side_by_side(self, run):
        out, err = run("rank", "table.csv", *ASIDE, "--method", "ilfs,fisher")
        assert out.splitlines()[0].split() == ["ilfs", "fisher"]
        assert "are the same for all 2 methods" in err
        run("rank", "table.csv", *ASIDE, "--method", "ilfs,fisher", "-o", "both.csv")
        assert {"rank_ilfs", "rank_fisher", "mean_rank"} <= set(read_csv_exactly("both.csv").columns)

    def test_explain_tells_the_paragraph_and_the_numbers(self, run, tables):
        out, _ = run("explain", "table.csv", *ASIDE, "--feature", "gene[01]")
        selector = fitted(tables, ILFS("fdr", n_permutations=20))
        said = [" ".join(part.split()) for part in out.strip().split("\n\n")]
        assert said == [str(selector.explain("gene0")), str(selector.explain("gene1"))]
        out, _ = run("explain", "table.csv", *ASIDE, "--feature", "gene1", "--json")
        (found,) = json.loads(out, parse_constant=pytest.fail)
        assert found["rank"] == selector.explain("gene1").rank
        assert found["sentence"] == str(selector.explain("gene1"))

    def test_a_dry_run_reads_no_values_and_writes_nothing(self, run, tables):
        out, _ = run("rank", "table.parquet", *ASIDE, "--dry-run", "-o", "dry.csv")
        assert "rows x 8 features" in out
        assert not (tables / "dry.csv").exists()

    def test_nothing_is_left_beside_the_files(self, run, tables):
        run("rank", "table.csv", *ASIDE, "-o", "x.csv", "--save", "x.json", "--report", "x.html", "--selected", "y.csv")
        assert not list(Path(tables).rglob("*.part"))
