"""Names with a query: round trips, titles, and errors."""

import pytest

from ilfs.datasets import load, title_of
from ilfs.datasets.naming import format_name, paper_name, parse

GENES = "sample,diagnosis,TP53,a&b,50 %,1017\n" + "".join(
    f"s{k},{'tumour' if k % 2 else 'normal'},{k},{k + 1},{k * k},{k % 3}\n" for k in range(6)
)


@pytest.fixture
def genes(tmp_path, monkeypatch):
    (tmp_path / "genes.csv").write_text(GENES)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("column", ["a", "a&b", "a=b", "50 %", "%41", "é+?", "1017", "-1", "'q'", "'", "''", 3, -1])
def test_parse_reads_what_format_name_writes(column):
    assert parse(format_name("x/genes.csv", column))[:3] == ("x/genes.csv", column, ())
    assert parse(format_name("genes.csv", "t", [column, "z"]))[:3] == ("genes.csv", "t", (column, "z"))


def test_a_name_without_columns_is_the_path():
    assert format_name("genes.csv") == "genes.csv"


@pytest.mark.parametrize(
    ("query", "features"),
    [
        ("target=diagnosis&drop=sample", ("TP53", "a&b", "50 %", "1017")),
        ("drop=sample&drop=1017&target=1", None),
        ("drop=sample&drop='1017'&target=1", ("TP53", "a&b", "50 %")),
        ("target=diagnosis&drop=0&drop=-1&drop=50%20%25", ("TP53", "a&b")),
        ("target=diagnosis&drop=0&drop=a%26b&drop=50 %", ("TP53", "1017")),
    ],
)
def test_a_query_names_the_target_and_the_dropped_columns(genes, query, features):
    if features is None:
        with pytest.raises(ValueError, match=r"drop must be a position from 0 to 5 in genes\.csv, got 1017"):
            load(f"genes.csv?{query}")
    else:
        table = load(f"genes.csv?{query}")
        assert table.feature_names == features
        assert (table.name, table.class_names) == ("genes", ("normal", "tumour"))


def test_columns_in_the_name_and_as_arguments_give_the_same_data(genes):
    wanted = load("genes.csv", target="diagnosis", drop=("sample", "TP53"))
    assert load("genes.csv?target=diagnosis&drop=sample&drop=TP53").checksum == wanted.checksum
    assert load("genes.csv?target=diagnosis&drop=sample", drop="TP53").checksum == wanted.checksum
    assert load("genes.csv?drop=sample", target="diagnosis").checksum != wanted.checksum


def test_an_existing_file_with_a_question_mark_in_its_name_comes_first(genes, tmp_path):
    (tmp_path / "genes.csv?target=x.csv").write_text("a,b\n1,0\n2,1\n")
    assert load("genes.csv?target=x.csv").feature_names == ("a",)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("genes.csv?traget=diagnosis", r"must be target=COLUMN, drop=COLUMN, .* joined by &, got 'traget=diagnosis'$"),
        ("genes.csv?target=diagnosis&", r"joined by &, got ''$"),
        ("genes.csv?", r"the part after \? in 'genes\.csv\?' must be .*, got ''$"),
        ("genes.csv?target=", r"got 'target='$"),
        ("genes.csv?drop", r"got 'drop'$"),
        ("genes.csv?target=a&target=b", r"must state target at most once, got it 2 times$"),
        (
            "genes.csv?target=diagnoses",
            r"target must be a column of genes\.csv \(such as diagnosis\), got 'diagnoses'$",
        ),
        ("wine?target=alcohol", r"target must be None for 'wine', whose classes are known, got 'alcohol'$"),
    ],
)
def test_invalid_queries_are_refused(genes, name, sentence):
    with pytest.raises(ValueError, match=sentence):
        load(name)


def test_a_target_must_not_be_given_twice(genes):
    sentence = r"target must be None for 'genes\.csv\?target=1', which states it, got 'TP53'"
    with pytest.raises(ValueError, match=sentence):
        load("genes.csv?target=1", target="TP53")


def test_the_error_for_a_missing_file_leaves_out_the_query(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=rf"^there is no file {tmp_path / 'genes.csv'}$"):
        load("genes.csv?target=diagnosis")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("colon", "COLON"),
        ("data/genes.csv", "genes"),
        ("genes.v2.csv?target=a/b.c", "genes.v2"),
        ("genes.tsv.gz?drop=x", "genes"),
        ("uniform", "uniform"),
    ],
)
def test_the_title_is_registered_or_the_name_of_the_file_without_ending(name, title):
    assert title_of(name) == title


def test_titles_of_files_with_the_same_name_differ():
    names = ["colon", "a/genes.csv", "b/genes.csv?target=x", "c/cells.csv", "d/t.csv?target=x", "d/t.csv?target=y"]
    titles = [title_of(name, names) for name in names]
    assert titles == ["COLON", "a/genes", "b/genes", "cells", "d/t.csv?target=x", "d/t.csv?target=y"]


def test_every_data_set_of_the_papers_table_4_is_found_by_its_name():
    from ilfs.benchmark.paper_tables import precision

    rows = {dataset for _, dataset in precision()} - {"dna", "other"}
    assert {paper_name(name) for name in rows} == rows
    assert {paper_name(name) for name in ("gina", "gina_openml", "gina_automl")} == {"gina"}
    assert paper_name("genes.csv?target=y") == "genes.csv?target=y"
