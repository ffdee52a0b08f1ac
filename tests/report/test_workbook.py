"""Workbooks: what is written can be read again, and nothing in them is a formula."""

import io
import zipfile
from xml.etree import ElementTree

import pytest

from ilfs.report.workbook import MAX_SHEET_ROWS, check_size, write_workbook

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
ROWS = [
    ["TP53", 1.5, 3, True, None],
    ["=1+1", -0.25, 10**12, False, float("nan")],
    ["<b>&amp;</b>\x00\x1b\ud800", 1e-300, -1, True, float("inf")],
    [" spaces ", 0.1 + 0.2, 0, False, "😀"],
]
TITLES = ["feature", "score", "n", "selected", "other"]


def content():
    file = io.BytesIO()
    write_workbook(file, TITLES, ROWS)
    return file.getvalue()


def values_of(content):
    sheet = zipfile.ZipFile(io.BytesIO(content)).read("xl/worksheets/sheet1.xml")
    rows = ElementTree.fromstring(sheet).iter(f"{MAIN}row")
    return [["".join(cell.itertext()) for cell in row] for row in rows]


def test_every_part_is_well_formed_and_named_in_the_list_of_parts():
    archive = zipfile.ZipFile(io.BytesIO(content()))
    assert archive.testzip() is None
    for name in archive.namelist():
        ElementTree.fromstring(archive.read(name))
    types = archive.read("[Content_Types].xml").decode()
    assert all(f"/{name}" in types for name in archive.namelist() if name.startswith("xl/") and "_rels" not in name)


def test_values_are_read_as_they_were_written():
    title, *rows = values_of(content())
    assert title == TITLES
    assert rows[0] == ["TP53", "1.5", "3", "1", ""]
    assert rows[1] == ["=1+1", "-0.25", "1000000000000", "0", ""]
    assert rows[2] == [r"<b>&amp;</b>\x00\x1b\ud800", "1e-300", "-1", "1", "inf"]
    assert float(rows[3][1]) == 0.1 + 0.2
    assert b"<f>" not in content()


def test_equal_tables_give_equal_files():
    assert content() == content()


def test_openpyxl_reads_it():
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    sheet = openpyxl.load_workbook(io.BytesIO(content())).active
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0] == tuple(TITLES)
    assert rows[1][:4] == ("TP53", 1.5, 3, True)
    assert rows[2][0] == "=1+1"


def test_too_many_rows_are_refused():
    with pytest.raises(ValueError, match=r"fewer than 1,048,576 rows .* got 1,048,576 x 3: write .csv or .parquet"):
        check_size(MAX_SHEET_ROWS, 3)
