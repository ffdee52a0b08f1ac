"""Genes in rows, and sample sheets."""

import numpy as np
import pytest
from prepared_tables import expression, genes, plain_csv, samples, sheet_csv, transposed_csv, values_of, write

from ilfs.preparing import prepare

X, Y = expression()


@pytest.fixture
def plain(tmp_path):
    return prepare(plain_csv(tmp_path / "plain.csv", X, Y))


def assert_same(table, other):
    np.testing.assert_array_equal(values_of(table), values_of(other))
    assert table.source.feature_names == other.source.feature_names
    assert table.source.y.tolist() == other.source.y.tolist()
    assert table.ids.tolist() == other.ids.tolist()


def test_genes_in_rows_with_a_sheet_equal_the_plain_table(tmp_path, plain):
    table = prepare(transposed_csv(tmp_path / "t.csv", X), samples=sheet_csv(tmp_path / "s.csv", Y))
    assert_same(table, plain)
    assert table.guesses[0] == "t.csv has its samples in columns, so it was transposed: transpose=False if not"
    assert table.warnings == ()


def test_the_order_of_the_sheet_does_not_matter(tmp_path, plain):
    order = np.random.default_rng(3).permutation(len(Y))
    assert_same(prepare(transposed_csv(tmp_path / "t.csv", X), samples=sheet_csv(tmp_path / "s.csv", Y, order)), plain)


def test_samples_in_rows_with_a_sheet_equal_the_plain_table(tmp_path, plain):
    rows = [[name, *values] for name, values in zip(samples(len(Y)), X.tolist(), strict=True)]
    path = write(tmp_path / "t.csv", ["who", *genes(X.shape[1])], rows)
    table = prepare(path, samples=sheet_csv(tmp_path / "s.csv", Y, range(len(Y))[::-1]))
    assert_same(table, plain)
    assert [(one.name, one.reason) for one in table.set_aside] == [("who", "names the samples, as in s.csv")]


def test_a_table_and_a_sheet_written_by_r_equal_the_plain_table(tmp_path, plain):
    header = [f"X{i}.A" for i in range(len(Y))]  # what R makes of 0-A, with one name less than columns
    rows = [[name, *values] for name, values in zip(genes(X.shape[1]), X.T.tolist(), strict=True)]
    path = write(tmp_path / "t.tsv", header, rows, "\t")
    sheet = write(tmp_path / "s.csv", ["sample", "diagnosis"], [[f"{i}-A", kind] for i, kind in enumerate(Y)])
    table = prepare(path, samples=sheet)
    np.testing.assert_array_equal(values_of(table), values_of(plain))
    assert table.source.y.tolist() == Y.tolist()
    assert "names of samples in s.csv and t.tsv were matched as R spells them" in table.guesses


def test_samples_that_are_in_one_file_only_are_left_out_and_named(tmp_path, plain):
    sheet = write(
        tmp_path / "s.csv",
        ["name", "diagnosis"],
        [*[[f"S{i}", Y[i]] for i in range(2, len(Y))], *[[f"extra{i}", "tumour"] for i in range(7)]],
    )
    table = prepare(transposed_csv(tmp_path / "t.csv", X), samples=sheet)
    np.testing.assert_array_equal(values_of(table), values_of(plain)[2:])
    assert table.warnings == (
        "7 samples of s.csv left out, as t.csv has no such names: extra0, extra1, extra2, extra3, extra4 and 2 more",
        "2 samples of t.csv left out, as s.csv has no such names: S0 and S1",
    )


def test_fewer_than_half_of_the_samples_in_common_are_refused(tmp_path):
    sheet = write(tmp_path / "s.csv", ["name", "diagnosis"], [[f"S{i + 9}", Y[i]] for i in range(len(Y))])
    message = (
        r"samples must have the names that t.csv has, got 3 in common: s.csv has S12, .* in 'name', t.csv has S0, S1, "
    )
    with pytest.raises(ValueError, match=message):
        prepare(transposed_csv(tmp_path / "t.csv", X), samples=sheet)


def test_a_sample_that_is_twice_in_the_sheet_is_refused(tmp_path):
    sheet = sheet_csv(tmp_path / "s.csv", Y, [*range(len(Y)), 4])
    with pytest.raises(ValueError, match=r"names of samples in s.csv must differ, got S4 more than once"):
        prepare(transposed_csv(tmp_path / "t.csv", X), samples=sheet)


def test_columns_that_describe_genes_are_set_aside(tmp_path, plain):
    rows = [[f"gene{j}", f"symbol {j}", "chr1", *values] for j, values in enumerate(X.T.tolist())]
    path = write(tmp_path / "t.csv", ["gene", "symbol", "where", *samples(len(Y))], rows)
    table = prepare(path, samples=sheet_csv(tmp_path / "s.csv", Y))
    assert_same(table, plain)
    assert {one.name for one in table.set_aside} == {"symbol", "where"}


def test_id_names_the_column_of_genes(tmp_path):
    rows = [[f"gene{j}", f"symbol{j}", *values] for j, values in enumerate(X.T.tolist())]
    path = write(tmp_path / "t.csv", ["gene", "symbol", *samples(len(Y))], rows)
    table = prepare(path, samples=sheet_csv(tmp_path / "s.csv", Y), id="symbol")
    assert table.source.feature_names[:2] == ["symbol0", "symbol1"]


def test_genes_with_the_same_name_are_numbered_with_a_warning(tmp_path):
    rows = [[f"gene{j // 2}", *values] for j, values in enumerate(X.T.tolist())]
    path = write(tmp_path / "t.csv", ["gene", *samples(len(Y))], rows)
    table = prepare(path, samples=sheet_csv(tmp_path / "s.csv", Y))
    assert table.source.feature_names[:4] == ["gene0", "gene0.1", "gene1", "gene1.1"]
    assert "some features in t.csv share a name" in table.warnings[0]


def test_names_of_genes_may_be_numbers_with_leading_zeros(tmp_path):
    rows = [[f"00{j}", *values] for j, values in enumerate(X.T.tolist())]
    path = write(tmp_path / "t.csv", ["gene", *samples(len(Y))], rows)
    table = prepare(path, samples=sheet_csv(tmp_path / "s.csv", Y))
    assert table.source.feature_names[:2] == ["000", "001"]


def test_other_columns_of_the_sheet_are_no_features(tmp_path):
    rows = [[f"S{i}", kind, 50 + i, i // 3, 1 + i % 2] for i, kind in enumerate(Y)]
    sheet = write(tmp_path / "s.csv", ["name", "diagnosis", "age", "donor", "w"], rows)
    table = prepare(transposed_csv(tmp_path / "t.csv", X), samples=sheet, groups="donor", weight="w")
    assert table.source.n_features == X.shape[1]
    assert [(one.name, one.reason) for one in table.set_aside] == [("age", "is a column of the sample sheet")]
    assert table.groups.tolist() == [str(i // 3) for i in range(len(Y))]
    assert table.source.sample_weight.tolist() == [1.0 + i % 2 for i in range(len(Y))]


def test_a_batch_that_equals_the_class_is_pointed_out(tmp_path):
    rows = [[f"S{i}", kind, "b1" if kind == "tumour" else "b2"] for i, kind in enumerate(Y)]
    sheet = write(tmp_path / "s.csv", ["name", "diagnosis", "batch"], rows)
    table = prepare(transposed_csv(tmp_path / "t.csv", X), samples=sheet)
    assert table.warnings == (
        "batch, which is not used as a feature, tells 'diagnosis' exactly: features that differ with it cannot be told "
        "from features that differ between the classes",
    )


@pytest.mark.parametrize("ending", ["tsv", "xlsx"])
def test_a_sheet_may_be_of_another_format(tmp_path, plain, ending):
    path = tmp_path / f"s.{ending}"
    rows = [[f"S{i}", kind] for i, kind in enumerate(Y)]
    if ending == "tsv":
        write(path, ["name", "diagnosis"], rows, "\t")
    else:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in (["name", "diagnosis"], *rows):
            book.active.append([str(value) for value in row])
        book.save(path)
    assert_same(prepare(transposed_csv(tmp_path / "t.csv", X), samples=path), plain)


def test_a_gct_file_with_a_sheet_equals_the_plain_table(tmp_path, plain):
    rows = [[f"gene{j}", f"about {j}", *values] for j, values in enumerate(X.T.tolist())]
    body = write(tmp_path / "t.tsv", ["Name", "Description", *samples(len(Y))], rows, "\t").read_text()
    (tmp_path / "t.gct").write_text(f"#1.2\n{X.shape[1]}\t{X.shape[0]}\n{body}")
    assert_same(prepare(tmp_path / "t.gct", samples=sheet_csv(tmp_path / "s.csv", Y)), plain)


def test_a_table_with_samples_in_columns_cannot_be_streamed(tmp_path):
    path, sheet = transposed_csv(tmp_path / "t.csv", X), sheet_csv(tmp_path / "s.csv", Y)
    with pytest.raises(ValueError, match=r"t.csv has its samples in columns, so it must be read into memory"):
        prepare(path, samples=sheet, engine="stream")


def test_names_with_a_letter_too_many_are_shown_beside_those_of_the_columns(tmp_path):
    sheet = write(tmp_path / "s.csv", ["name", "diagnosis"], [[f"PS{i}", kind] for i, kind in enumerate(Y)])
    with pytest.raises(ValueError, match="got 0 in common") as error:
        prepare(transposed_csv(tmp_path / "t.csv", X), samples=sheet)
    assert "s.csv has PS0, PS1, PS2, PS3, PS4 and 7 more in 'name'" in str(error.value)
    assert "t.csv has S0, S1, S2, S3, S4 and 7 more as columns and gene0, gene1" in str(error.value)


class TestWithoutSheet:
    def with_row(self, folder, label="diagnosis", kinds=Y):
        rows = [
            [label, *kinds],
            *([name, *values] for name, values in zip(genes(X.shape[1]), X.T.tolist(), strict=True)),
        ]
        return write(folder / "t.csv", ["gene", *samples(len(Y))], rows)

    def test_a_row_called_like_the_target_is_recognised(self, tmp_path, plain):
        table = prepare(self.with_row(tmp_path, "stage of disease"), target="stage of disease")
        assert_same(table, plain)
        assert "a row is called 'stage of disease'" in table.guesses[0]

    def test_a_row_called_like_a_usual_target_is_recognised(self, tmp_path, plain):
        table = prepare(self.with_row(tmp_path))
        assert_same(table, plain)
        assert len(table.guesses) == 2

    def test_transpose_forces_it(self, tmp_path, plain):
        table = prepare(self.with_row(tmp_path, "k"), transpose=True, target="k")
        assert_same(table, plain)
        assert table.guesses == ()

    def test_no_transpose_prevents_it(self, tmp_path):
        with pytest.raises(ValueError, match=r"target must be a column of t.csv"):
            prepare(self.with_row(tmp_path), transpose=False, target="diagnosis")

    def test_classes_may_be_numbers(self, tmp_path):
        table = prepare(self.with_row(tmp_path, "class", (Y == "tumour").astype(int)))
        assert table.source.y.tolist() == (Y == "tumour").astype(int).tolist()

    def test_many_rows_of_numbers_ask_for_a_sheet(self, tmp_path):
        many, _ = expression(8, 150)
        with pytest.raises(ValueError, match=r"features seem to be in rows.*samples='FILE'"):
            prepare(transposed_csv(tmp_path / "t.csv", many))
        with pytest.raises(ValueError, match=r"target must be a column of t.csv, got 'tissue'; .*samples='FILE'"):
            prepare(transposed_csv(tmp_path / "t.csv", many), target="tissue")

    def test_a_plain_table_with_a_sample_called_like_a_target_is_not_transposed(self, tmp_path):
        rows = [["class" if i == 0 else f"s{i}", "ab"[i % 2], i * 1.5, i * i] for i in range(8)]
        table = prepare(write(tmp_path / "t.csv", ["sample", "kind", "c", "d"], rows))
        assert table.target == "kind"
