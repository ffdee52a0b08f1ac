"""The same table in every format."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile

import numpy as np
import pytest
from prepared_tables import expression, genes, plain_csv, values_of
from scipy import io as scipy_io
from sklearn.datasets import dump_svmlight_file

from ilfs.preparing import prepare
from ilfs.preparing.inputs import find_input

X, Y = expression()


def assert_table(table, *, has_names=True):
    np.testing.assert_allclose(values_of(table), X)
    assert [str(label) for label in table.source.y] == Y.tolist()
    if has_names:
        assert list(table.source.feature_names) == genes(X.shape[1])


@pytest.fixture
def text(tmp_path):
    return plain_csv(tmp_path / "plain.csv", X, Y).read_text()


PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_compressed_text(tmp_path, text, packed, engine):
    path = tmp_path / f"t.csv.{packed}"
    path.write_bytes(PACKERS[packed](text.encode()))
    table = prepare(path, engine=engine)
    assert table.target == "diagnosis"
    blocks = np.vstack([block.X for block in table.source.blocks()])
    np.testing.assert_array_equal(blocks, X)


def test_zipped_text(tmp_path, text):
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("t.csv", text)
    assert_table(prepare(tmp_path / "t.csv.zip"))


@pytest.mark.parametrize(
    ("ending", "delimiter"), [("tsv", "\t"), ("txt", " "), ("txt", "|"), ("csv", ";"), ("tab", "\t")]
)
def test_delimiters(tmp_path, text, ending, delimiter):
    content = text.replace(",", delimiter)
    path = tmp_path / f"t.{ending}"
    path.write_text(content.replace(".", ",") if delimiter == ";" else content)
    assert_table(prepare(path))


ENCODINGS = {
    "mark at the beginning": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "Windows line ends": lambda text: text.replace("\n", "\r\n").encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "no line end at the end": lambda text: text.rstrip("\n").encode(),
    "empty lines": lambda text: text.replace("\n", "\n\n").encode(),
    "quotes": lambda text: "\n".join(
        ",".join(f'"{value}"' for value in line.split(",")) for line in text.splitlines()
    ).encode(),
    "comments": lambda text: b"# made by a program, 2024\n# and another line\n" + text.encode(),
    "GEO series matrix": lambda text: (
        b'!Series_title\t"x"\n!series_matrix_table_begin\n' + text.encode() + b"!series_matrix_table_end\n"
    ),
}


@pytest.mark.parametrize("case", ENCODINGS)
@pytest.mark.parametrize("parser", ["python", "pyarrow"])
def test_encodings_and_line_ends(tmp_path, text, case, parser, monkeypatch):
    if parser == "pyarrow":
        pytest.importorskip("pyarrow")
        monkeypatch.setattr("ilfs.preparing.text_files.MIN_ARROW_BYTES", 0)
    (tmp_path / "t.csv").write_bytes(ENCODINGS[case](text))
    assert_table(prepare(tmp_path / "t.csv"))


def test_windows_text_is_read_with_a_note(tmp_path, text):
    (tmp_path / "t.csv").write_bytes(text.replace("gene0", "géne0").encode("cp1252"))
    table = prepare(tmp_path / "t.csv")
    assert table.source.feature_names[0] == "géne0"
    assert "read as Windows-1252" in table.guesses[0]


@pytest.mark.parametrize("parser", ["python", "pyarrow"])
def test_quoted_newlines_and_delimiters(tmp_path, parser, monkeypatch):
    if parser == "pyarrow":
        pytest.importorskip("pyarrow")
        monkeypatch.setattr("ilfs.preparing.text_files.MIN_ARROW_BYTES", 0)
    rows = "".join(f'"line {i}\nnext, one","{"ab"[i % 2]}",{i * i}\n' for i in range(6))
    (tmp_path / "t.csv").write_text(f'"a note","y","a ""c"""\n{rows}')
    table = prepare(tmp_path / "t.csv")
    assert table.source.feature_names == ['a "c"']
    assert values_of(table)[:, 0].tolist() == [i * i for i in range(6)]
    assert table.ids[0] == "line 0\nnext, one"


@pytest.mark.parametrize("first", ["gene0", "1017"])
def test_names_of_columns_may_be_numbers(tmp_path, first):
    rows = "".join(f"{'uv'[i % 2]},{i * 0.5},{i * i % 7}\n" for i in range(8))
    (tmp_path / "t.csv").write_text(f"stadium,{first},7157\n{rows}")
    table = prepare(tmp_path / "t.csv")
    assert (table.target, table.source.feature_names) == ("stadium", [first, "7157"])


def test_a_table_without_names_of_columns_keeps_its_first_row(tmp_path):
    rows = "".join(f"{'uv'[i // 4]},{i},{i * i % 7}\n" for i in range(3, 8))
    (tmp_path / "t.csv").write_text(f"u,1,2\nu,5,6\nu,6,2\n{rows}")
    assert prepare(tmp_path / "t.csv").source.n_rows == 8


def frame():
    pandas = pytest.importorskip("pandas")
    columns = {"sample": [f"S{i}" for i in range(len(Y))], "diagnosis": Y}
    return pandas.DataFrame(columns | {name: X[:, j] for j, name in enumerate(genes(X.shape[1]))})


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_columnar_files(tmp_path, ending, engine):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"t.{ending}"
    getattr(frame(), f"to_{ending}")(path)
    table = prepare(path, engine=engine)
    assert table.target == "diagnosis"
    np.testing.assert_array_equal(np.vstack([block.X for block in table.source.blocks()]), X)
    assert [one.name for one in table.set_aside] == ["sample"]


def test_types_of_parquet_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    n = len(Y)
    data = frame()[["diagnosis", "gene0"]].assign(
        flag=[bool(i % 3) for i in range(n)],
        when=pandas.date_range("2024-01-01", periods=n),
        grade=pandas.Categorical(["low", "high", "mid"] * (n // 3)),
        count=pandas.array([1, 5, None] * (n // 3), dtype="Int64"),
        lists=[[1, 2]] * n,
    )
    data.to_parquet(tmp_path / "t.parquet")
    table = prepare(tmp_path / "t.parquet", target="diagnosis")
    assert table.source.feature_names == ["gene0", "flag", "count"]
    np.testing.assert_equal(values_of(table)[:3, 1:], [[0, 1], [1, 5], [1, np.nan]])
    reasons = {one.name: one.reason for one in table.set_aside}
    assert reasons["when"].startswith("holds dates (2024-01-01")
    assert reasons["grade"].startswith("holds text with 3 different values")
    assert reasons["lists"].startswith("holds values of type list<")
    encoded = prepare(tmp_path / "t.parquet", target="diagnosis", encode=True)
    assert encoded.source.feature_names == ["gene0", "flag", "grade=high", "grade=low", "grade=mid", "count"]


def test_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (list(frame().columns), *frame().itertuples(index=False)):
        book.active.append([value.item() if isinstance(value, np.generic) else value for value in row])
    book.save(tmp_path / "t.xlsx")
    assert_table(prepare(tmp_path / "t.xlsx"))


def test_excel_without_openpyxl_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r'reading t.xlsx needs the package openpyxl: pip install "ilfs\[cli\]"'):
        prepare(tmp_path / "t.xlsx")


def test_arff_with_text_columns(tmp_path):
    lines = [
        "@relation r",
        "@attribute note string",
        "@attribute class {normal,tumour}",
        *(f"@attribute {name} numeric" for name in genes(X.shape[1])),
        "@data",
        *(f"'a, {i}',{kind},{','.join(map(str, X[i]))}" for i, kind in enumerate(Y)),
    ]
    (tmp_path / "t.arff").write_text("\n".join(lines))
    table = prepare(tmp_path / "t.arff")
    assert_table(table)
    assert [one.name for one in table.set_aside] == ["note"]


def test_npz(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, y=Y, donor=np.arange(len(Y)) // 3)
    table = prepare(tmp_path / "t.npz", groups="donor")
    assert_table(table, has_names=False)
    assert table.source.feature_names[:2] == ["x0", "x1"]
    assert table.groups.tolist() == (np.arange(len(Y)) // 3).tolist()
    assert prepare(tmp_path / "t.npz", only=["x3", "x4"]).source.feature_names == ["x3", "x4"]


def test_mat(tmp_path):
    scipy_io.savemat(tmp_path / "t.mat", {"X": X, "y": (Y == "tumour").astype(float)})
    np.testing.assert_array_equal(values_of(prepare(tmp_path / "t.mat")), X)


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_npy(tmp_path, engine):
    np.save(tmp_path / "t.npy", np.column_stack([X, Y == "tumour"]))
    table = prepare(tmp_path / "t.npy", engine=engine)
    assert table.target == f"x{X.shape[1]}"
    np.testing.assert_array_equal(np.vstack([block.X for block in table.source.blocks()]), X)


def test_svmlight(tmp_path):
    dump_svmlight_file(np.column_stack([X, np.zeros(len(Y))]), Y == "tumour", str(tmp_path / "t.svm"), zero_based=True)
    table = prepare(tmp_path / "t.svm")
    np.testing.assert_allclose(values_of(table), X)
    assert table.source.y.tolist() == (Y == "tumour").astype(int).astype(str).tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_h5ad(tmp_path, engine):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")

    def category(values):  # anndata does not write text arrays of new versions of pandas
        names = pandas.Index(sorted(set(values)), dtype=object)
        return pandas.Categorical(pandas.Series(list(values), dtype=object), categories=names)

    donors = [f"d{i // 3}" for i in range(len(Y))]
    columns = {"diagnosis": category(Y), "donor": category(donors), "site": category(["here"] * len(Y))}
    obs = pandas.DataFrame(columns, index=pandas.Index([f"S{i}" for i in range(len(Y))], dtype=object))
    adata = anndata.AnnData(X, obs, pandas.DataFrame(index=pandas.Index(genes(X.shape[1]), dtype=object)))
    adata.write_h5ad(tmp_path / "t.h5ad")
    table = prepare(tmp_path / "t.h5ad", engine=engine, groups="donor", drop="gene2?")
    assert table.target == "diagnosis"
    assert table.source.feature_names == [
        name for name in genes(X.shape[1]) if not name.startswith("gene2") or name == "gene2"
    ]
    assert table.groups.tolist() == obs["donor"].tolist()
    assert table.ids.tolist() == obs.index.tolist()
    assert ("site", "is a column of obs") in [(one.name, one.reason) for one in table.set_aside]


def test_a_registered_data_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = prepare("wine")
    assert (table.source.n_rows, table.source.n_features) == (178, 13)


def test_a_file_wins_over_a_registered_data_set(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wine").write_text(text)
    assert_table(prepare("wine", input_format="csv"))


def test_an_unknown_name_suggests_a_data_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="no file and no data set is called 'wne', did you mean 'wine'"):
        prepare("wne")


class TestStandardInput:
    def given(self, monkeypatch, content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    @pytest.fixture(autouse=True)
    def own_folder(self, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
        (tmp_path / "temporary").mkdir()
        self.folder = tmp_path / "temporary"

    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_text(self, monkeypatch, text, pack):
        self.given(monkeypatch, pack(text.encode()))
        table = prepare("-")
        assert_table(table)
        assert table.name == "standard input"
        assert not list(self.folder.iterdir())

    def test_another_format(self, monkeypatch, tmp_path):
        pytest.importorskip("pyarrow")
        frame().to_parquet(tmp_path / "t.parquet")
        self.given(monkeypatch, (tmp_path / "t.parquet").read_bytes())
        assert_table(prepare("-", input_format="parquet"))

    def test_blocks_are_read_from_a_private_file_that_is_deleted_with_the_source(self, monkeypatch, text):
        self.given(monkeypatch, text.encode())
        table = prepare("-", engine="stream")
        (file,) = self.folder.iterdir()
        assert file.stat().st_mode & 0o077 == 0
        np.testing.assert_array_equal(np.vstack([block.X for block in table.source.blocks()]), X)
        del table
        assert not list(self.folder.iterdir())

    def test_an_error_leaves_no_file(self, monkeypatch):
        self.given(monkeypatch, b"a,b\n1,2\n1\n")
        with pytest.raises(ValueError, match="row 2 of standard input must have 2 values, got 1"):
            prepare("-")
        assert not list(self.folder.iterdir())

    def test_nothing(self, monkeypatch):
        self.given(monkeypatch, b"")
        with pytest.raises(ValueError, match="standard input is empty"):
            prepare("-")


def test_the_format_must_be_known():
    with pytest.raises(ValueError, match=r"input_format must be one of csv, .*, got 'doc'"):
        find_input("t.csv", "doc")


@pytest.mark.parametrize("name", ["t.xls", "t.docx", "t"])
def test_other_endings_are_refused_with_the_remedy(tmp_path, name):
    (tmp_path / name).write_text("x")
    with pytest.raises(ValueError, match=r"save it as .xlsx or .csv|state it, input_format='csv'"):
        prepare(tmp_path / name)


def test_small_text_needs_neither_pyarrow_nor_pandas(tmp_path, text, monkeypatch):
    for package in ("pyarrow", "pandas"):
        monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / "t.csv").write_text(text)
    assert_table(prepare(tmp_path / "t.csv"))
    monkeypatch.setattr("ilfs.preparing.text_files.MIN_ARROW_BYTES", 0)
    assert_table(prepare(tmp_path / "t.csv"))
