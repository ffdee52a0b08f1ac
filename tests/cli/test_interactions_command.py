"""``ilfs interactions``, and ``ilfs rank --interactions``: what is printed, told and written."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from ilfs.interactions import find_interactions


@pytest.fixture
def run(tmp_path, command):
    return command(tmp_path)


@pytest.fixture
def table(run):
    """Features a and b tell the class together; c does alone; the others do not."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 8)).round(3), columns=list("abcdefgh"))
    frame["kind"] = np.where(frame["a"] * frame["b"] > 0, "ill", "well")
    frame["c"] += 0.8 * (frame["kind"] == "ill")
    frame.to_csv("table.csv", index=False)
    frame[[*"cdefgh", "kind"]].to_csv("none.csv", index=False)
    return frame


def told(err):
    return " ".join(err.split())


def test_the_list_is_printed_and_the_rest_is_told(table, run):
    code, out, err = run("interactions", "table.csv", "--target", "kind")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == [
        "features", "together", "more", "often", "in", "statistic", "adjusted", "p", "ranks", "alone",
    ]  # fmt: skip
    assert lines[1].startswith("1  a & b")
    assert "tests of pairs of 8 features" in told(err)
    assert "with 200 samples, a pair is found with a probability of 80 %" in told(err)


def test_the_numbers_are_those_of_the_library(table, run):
    code, out, _ = run("interactions", "table.csv", "--target", "kind", "--json", "--quiet")
    found, data = find_interactions(table.drop(columns="kind"), table["kind"]), json.loads(out)
    assert code == 0
    assert data["search"]["tests"] == found.n_tests
    assert [one["columns"] for one in data["interactions"]] == [
        [column for column in row if column >= 0] for row in found.columns.tolist()
    ]
    np.testing.assert_allclose([one["statistic"] for one in data["interactions"]], found.statistic)
    assert data["interactions"][0]["features"] == ["a", "b"]
    assert data["interactions"][0]["effect"] == found.table()["effect"][0]
    assert data["input"] == {"name": "table.csv", "rows": 200, "features": 8}


def test_nothing_found_is_told_and_no_error(table, run):
    code, out, err = run("interactions", "none.csv", "--target", "kind", "-o", "x.csv", "--report", "x.html")
    assert (code, out) == (0, "")
    assert "none of " in told(err)
    assert Path("x.csv").read_text().splitlines()[0].split(",")[:2] == ["rank", "features"]
    assert "None of" in Path("x.html").read_text()


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "xlsx"])
def test_files_have_all_sets(table, run, ending):
    code, _, err = run("interactions", "table.csv", "--target", "kind", "-o", f"sets.{ending}")
    assert code == 0, err
    assert f"sets.{ending}: 1 set" in told(err)
    content = Path(f"sets.{ending}").read_bytes()
    assert ending == "xlsx" or b"a & b" in content or b'["a", "b"]' in content


def test_csv_on_stdout_has_the_columns_of_the_table(table, run):
    _, out, _ = run("interactions", "table.csv", "--target", "kind", "--format", "csv", "--quiet")
    rows = list(csv.DictReader(out.splitlines()))
    assert rows[0]["features"] == "a & b"
    assert rows[0]["column_3"] == rows[0]["rank_alone_3"] == ""
    assert rows[0]["class"] in ("ill", "well")
    assert rows[0]["pattern"] == ("high & high" if rows[0]["class"] == "ill" else "high & low")
    assert rows[0]["effect"].endswith(f": more often in {rows[0]['class']}")


def test_a_parquet_file_has_integers_and_missing_values(table, run):
    run("interactions", "table.csv", "--target", "kind", "-o", "sets.parquet", "--quiet")
    found = pq.read_table("sets.parquet")
    assert str(found.schema.field("column_3").type) == "int64"
    assert found["column_1"].to_pylist()[0] == 0
    assert found["column_3"].to_pylist()[0] is None


def test_an_empty_result_is_a_picture_that_says_so(table, run):
    code, _, err = run("interactions", "none.csv", "--target", "kind", "--plot", "net.svg")
    assert code == 0
    assert "net.svg: one sentence, as no set is significant" in told(err)
    assert Path("net.svg").stat().st_size > 1000


def test_fractional_weights_are_refused_by_the_name_of_the_option(table, run):
    table.assign(w=0.5).to_csv("weights.csv", index=False)
    for arguments in (("interactions", "weights.csv"), ("rank", "weights.csv", "--interactions", "2")):
        code, _, err = run(*arguments, "--target", "kind", "--weight", "w", "--quiet")
        assert code == 2
        assert told(err) == "ilfs: --weight must hold whole numbers if interactions are searched, got 0.5"


def test_groups_are_not_offered(run, capsys):
    with pytest.raises(SystemExit):
        run("interactions", "--help")
    out = capsys.readouterr().out
    assert "--weight" in out
    assert "--groups" not in out


def test_triples_are_searched_with_order_3(run):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(300, 8)), columns=list("abcdefgh"))
    frame["kind"] = np.where(frame["a"] * frame["b"] * frame["c"] > 0, "ill", "well")
    frame.to_csv("three.csv", index=False)
    code, out, err = run("interactions", "three.csv", "--target", "kind", "--order", "3", "--plot", "net.png")
    assert code == 0, err
    assert "a & b & c" in out
    assert "1 or 3 high" in out or "0 or 2 high" in out
    assert Path("net.png").read_bytes()[:4] == b"\x89PNG"


def test_features_in_rows_and_a_sample_sheet_are_taken(table, run):
    samples = [f"S{i}" for i in range(200)]
    table.drop(columns="kind").T.set_axis(samples, axis=1).to_csv("rows.tsv", sep="\t", index_label="gene")
    pd.DataFrame({"sample": samples, "kind": table["kind"]}).to_csv("sheet.csv", index=False)
    _, out, _ = run("interactions", "rows.tsv", "--samples", "sheet.csv", "--target", "kind", "--quiet")
    assert out.splitlines()[1].startswith("1  a & b")


def test_a_data_set_is_taken_by_its_name(run):
    code, _, err = run("interactions", "breast_cancer", "--show", "2")
    assert code == 0
    assert "569 rows x 30 features" in told(err)


class TestRank:
    def test_the_screen_has_the_ranking_and_the_list(self, table, run):
        code, out, err = run("rank", "table.csv", "--target", "kind", "--interactions", "2", "--top", "2")
        assert code == 0
        ranking, pairs = out.split("\n\n")
        assert {line.split()[1] for line in ranking.splitlines()[2:5]} == {"a", "b", "c"}
        assert pairs.splitlines()[1].startswith("1  a & b")
        assert "tests of pairs of 8 features" in told(err)

    def test_the_verdict_counts_pairs_apart_and_the_rule_says_what_it_leaves_out(self, table, run):
        _, _, err = run("rank", "table.csv", "--target", "kind", "--interactions", "2", "--drop", "c")
        assert "verdict single features: the best are NOT better than under 20 permutations" in told(err)
        assert "together: 1 pair of features tells the class (smallest adjusted p = " in told(err)
        assert (
            "selected 0 of 7 features have q-values of at most 0.05. The rule tests each feature alone: 2 features of "
            "significant pairs are left out; --top 2 keeps all of these" in told(err)
        )

    def test_features_that_the_rule_selects_are_counted_with_those_that_it_leaves_out(self, table, run):
        _, out, err = run("rank", "table.csv", "--target", "kind", "--interactions", "2", "--json")
        assert json.loads(out)["selected"]["names"] == ["c"]
        assert "2 other features of significant pairs are left out; --top 3 keeps all of these" in told(err)
        assert "; together: 1 pair of features tells the class" in json.loads(out)["verdict"]["sentence"]

    def test_json_and_the_page_have_the_sets(self, table, run):
        arguments = ("rank", "table.csv", "--target", "kind", "--interactions", "2", "--json", "--report", "page.html")
        _, out, _ = run(*arguments)
        assert json.loads(out)["interactions"][0]["features"] == ["a", "b"]
        assert '<section id="interactions">' in Path("page.html").read_text()

    def test_without_the_option_there_is_no_list(self, table, run):
        _, out, _ = run("rank", "table.csv", "--target", "kind", "--json", "--quiet")
        assert "interactions" not in json.loads(out)

    def test_explain_names_the_partner(self, table, run):
        arguments = ("explain", "table.csv", "--target", "kind", "--interactions", "2", "--feature", "a", "--quiet")
        text = told(run(*arguments)[1])
        assert "a is ranked " in text
        assert "It was picked together with b, because the two tell the class together: high together with " in text
        assert " (adjusted p-value " in text
        assert "this tests differences of class means, feature by feature, and does not see what features tell" in text

    def test_explain_has_the_pair_in_json(self, table, run):
        arguments = ("explain", "table.csv", "--target", "kind", "--interactions", "2", "--feature", "a", "--json")
        ((pair,),) = [one["works_with"] for one in json.loads(run(*arguments)[1])]
        assert pair["others"] == ["b"]
        assert pair["is_reason"]
        assert 0 < pair["adjusted_p_value"] < 1e-6
