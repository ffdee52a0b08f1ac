"""Tables as Excel workbooks (``.xlsx``), written with the standard library alone.

A workbook is a ZIP archive of XML files (ECMA-376, Office Open XML). This module writes one sheet with a bold header
that stays in view. Text is written as text, never as a formula. The archive holds no time, so equal tables give equal
files.
"""

import zipfile
from collections.abc import Iterable, Sequence
from typing import IO, Any
from xml.sax.saxutils import escape

MAX_SHEET_ROWS, MAX_SHEET_COLUMNS = 2**20, 2**14  # of a sheet
MAX_TEXT_CHARACTERS = 32_767  # of a value
TIME = (1980, 1, 1, 0, 0, 0)  # of all files in the archive, the earliest that ZIP can store
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE_SCHEMA = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PLAIN_FONT = '<font><sz val="11"/><name val="Calibri"/></font>'
BOLD_FONT = '<font><b/><sz val="11"/><name val="Calibri"/></font>'
NO_STYLE = 'numFmtId="0" fillId="0" borderId="0"'

FIXED_FILES = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE_SCHEMA}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{TYPE}.styles+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{PACKAGE_SCHEMA}/relationships">'
    f'<Relationship Id="rId1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE_SCHEMA}/relationships">'
    f'<Relationship Id="rId1" Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{RELATIONS}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><fonts count="2">{PLAIN_FONT}{BOLD_FONT}</fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>'
    '</fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    f'<cellStyleXfs count="1"><xf {NO_STYLE} fontId="0"/></cellStyleXfs>'
    f'<cellXfs count="2"><xf {NO_STYLE} fontId="0" xfId="0"/><xf {NO_STYLE} fontId="1" xfId="0" applyFont="1"/>'
    '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
}
SHEET_START = (
    f'<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>'
)
SHEET_END = "</sheetData></worksheet>"


def write_workbook(
    file: IO[bytes], titles: Sequence[str], rows: Iterable[Sequence[Any]], sheet: str = "ranking"
) -> None:
    """Write a table as a workbook of one sheet.

    Parameters
    ----------
    file : file
        Open for bytes.
    titles : sequence of str
        Titles of the columns.
    rows : iterable of sequences
        Numbers, booleans, text, and None or NaN for missing values.
    sheet : str, default="ranking"
        Name of the sheet.

    Examples
    --------
    >>> import io, zipfile
    >>> from ilfs.report.workbook import write_workbook
    >>> file = io.BytesIO()
    >>> write_workbook(file, ["feature", "score"], [["TP53", 1.5], ["=1+1", None]])
    >>> "<t>=1+1</t>" in zipfile.ZipFile(file).read("xl/worksheets/sheet1.xml").decode()
    True
    """
    workbook = (
        f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>'
        f'<sheet name="{escape(sheet)}" sheetId="1" r:id="rId1"/></sheets></workbook>'
    )
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (FIXED_FILES | {"xl/workbook.xml": workbook}).items():
            archive.writestr(entry(name), HEAD + text)
        with archive.open(entry("xl/worksheets/sheet1.xml"), "w") as out:
            out.write((HEAD + SHEET_START + row_xml(titles, style=1)).encode())
            for row in rows:
                out.write(row_xml(row).encode())
            out.write(SHEET_END.encode())


def check_size(n_rows: int, n_columns: int) -> None:
    """Raise an error if a table has more rows or columns than a sheet of a workbook."""
    if n_rows >= MAX_SHEET_ROWS or n_columns > MAX_SHEET_COLUMNS:
        raise ValueError(
            f"an .xlsx file must have fewer than {MAX_SHEET_ROWS:,} rows and at most {MAX_SHEET_COLUMNS:,} columns, "
            f"got {n_rows:,} x {n_columns:,}: write .csv or .parquet"
        )


def entry(name: str) -> zipfile.ZipInfo:
    """Describe a file of the archive."""
    info = zipfile.ZipInfo(name, TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def row_xml(values: Iterable[Any], style: int = 0) -> str:
    """Format one row."""
    return "<row>" + "".join(value_xml(value, style) for value in values) + "</row>"


def value_xml(value: Any, style: int) -> str:
    """Format one value; infinity, which a sheet cannot hold as a number, is written as text."""
    chosen = f' s="{style}"' if style else ""
    if value is None or value != value:
        return f"<c{chosen}/>"
    if isinstance(value, bool):
        return f'<c{chosen} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float) and abs(value) != float("inf"):
        return f"<c{chosen}><v>{value!r}</v></c>"
    text = text_xml(str(value))
    kept = ' xml:space="preserve"' if text != text.strip() else ""
    return f'<c{chosen} t="inlineStr"><is><t{kept}>{text}</t></is></c>'


def text_xml(text: str) -> str:
    """Escape text; characters that XML cannot hold are written as escape sequences."""
    allowed = "".join(mark if is_xml(mark) else mark.encode("unicode_escape").decode() for mark in text)
    return escape(allowed[:MAX_TEXT_CHARACTERS])


def is_xml(mark: str) -> bool:
    """Return True for a character that XML 1.0 can hold."""
    code = ord(mark)
    return code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code >= 0x10000
