"""Files as people have them, through the command: what is taken as it is, and which sentence names what is wrong."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from platforms import needs_posix

from ilfs.cli import main

rng = np.random.default_rng(0)
VALUES = np.round(rng.normal(8, 1, (24, 6)), 2)
KINDS = ["tumour", "normal"] * 12
VALUES[::2, 0] += 3


def lines(values=VALUES, names="abcdef", kinds=KINDS, end=""):
    header = ",".join(["sample", *names, "kind"]) + end
    return [header, *(f"S{i:02},{','.join(map(str, row))},{kinds[i]}{end}" for i, row in enumerate(values))]


def written(tmp_path, text, name="table.csv"):
    (tmp_path / name).write_text("\n".join(text) + "\n")
    return str(tmp_path / name)


def said(capsys, *arguments):
    code = main([*arguments])
    return code, capsys.readouterr().err


def test_a_truth_value_among_numbers_is_no_number(tmp_path, capsys):
    values = VALUES.astype(object)
    values[3, 1] = "TRUE"
    code, told = said(capsys, "rank", written(tmp_path, lines(values)))
    assert code == 0
    assert "b: holds text, 'TRUE' in row 4, among numbers" in told


def test_truth_values_alone_are_a_feature(tmp_path, capsys):
    values = VALUES.astype(object)
    values[:, 1] = np.where(VALUES[:, 1] > 8, "TRUE", "false")
    values[0, 1] = "NA"
    code, told = said(capsys, "rank", written(tmp_path, lines(values)), "--target", "kind")
    assert (code, "b:" in told) == (0, False)


@pytest.mark.parametrize("error", ["#DIV/0!", "#N/A", "#num!"])
def test_errors_of_spreadsheets_are_missing_values(tmp_path, capsys, error):
    values = VALUES.astype(object)
    values[3, 1] = error
    code, told = said(capsys, "rank", written(tmp_path, lines(values)), "--show", "6")
    assert (code, "b:" in told) == (0, False)


def test_a_comma_at_the_end_of_all_lines_does_no_harm(tmp_path, capsys):
    path, out = written(tmp_path, lines(end=",")), str(tmp_path / "out.csv")
    saved = str(tmp_path / "saved.json")
    assert said(capsys, "rank", path, "--target", "kind", "--top", "2", "--save", saved)[0] == 0
    assert said(capsys, "apply", saved, path, "-o", out)[0] == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 25


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ([*lines()[:5], 'S99,"1,2,3,4,5,6,tumour', *lines()[5:]], "a quote that opens in this row is not closed"),
        (
            ["A study of tumours", *lines()],
            "row 2 of table.csv must have 1 value, got 8: if the first line is a title, remove it",
        ),
        (lines(kinds=["tumour", "NA"] * 12), "got only 'tumour' in 'kind' of table.csv (12 rows without a class"),
    ],
)
def test_the_reason_is_named(tmp_path, capsys, text, sentence):
    code, told = said(capsys, "rank", written(tmp_path, text), "--target", "kind")
    assert code == 2
    assert sentence in told
    assert told.count("\n") == 1


def test_an_empty_name_is_no_folder(capsys):
    code, told = said(capsys, "rank", "")
    assert (code, told) == (
        2,
        "ilfs: input must be a file, a folder, a pattern or the name of a data set, got an empty text\n",
    )


def test_a_name_of_a_sample_that_is_there_twice_is_told(tmp_path, capsys):
    text = lines()
    text[5] = text[4].split(",")[0] + text[5][3:]
    code, told = said(capsys, "rank", written(tmp_path, text))
    assert code == 0
    assert "sample: identifies most rows by different texts, and has 'S03' more than once" in " ".join(told.split())


def test_genes_that_a_spreadsheet_has_turned_into_dates_are_told(tmp_path, capsys):
    names = ["TP53", "1-Mar", "MYC", "GAPDH", "2-Sep", "ACTB"]
    code, told = said(capsys, "rank", written(tmp_path, lines(names=names)), "--target", "kind")
    assert code == 0
    assert "2 names look like genes that a spreadsheet has turned into dates" in " ".join(told.split())


def test_a_table_of_genes_with_some_text_asks_for_a_sheet(tmp_path, capsys):
    values = np.round(rng.normal(8, 1, (400, 8)), 2).astype(object)
    values[7, 2] = "<0.1"
    text = ["gene," + ",".join(f"S{j}" for j in range(8))]
    text += [f"G{i}," + ",".join(map(str, row)) for i, row in enumerate(values)]
    code, told = said(capsys, "rank", written(tmp_path, text))
    assert code == 2
    assert "its features seem to be in rows, so name a table of the samples and their classes: --samples FILE" in told


def test_a_cell_is_named_by_its_sample_if_genes_are_in_rows(tmp_path, capsys):
    values = np.round(rng.normal(8, 1, (300, 12)), 2).astype(object)
    values[7, 2] = "<0.1"
    text = ["gene," + ",".join(f"S{j}" for j in range(12))]
    text += [f"G{i}," + ",".join(map(str, row)) for i, row in enumerate(values)]
    sheet = ["sample,kind", *(f"S{j},{'ab'[j % 2]}" for j in reversed(range(12)))]
    arguments = [written(tmp_path, text), "--samples", written(tmp_path, sheet, "sheet.csv")]
    code, told = said(capsys, "rank", *arguments, "--target", "kind")
    assert code == 0
    assert "G7: holds text, '<0.1' in sample S2, among numbers" in " ".join(told.split())


@needs_posix
def test_sigterm_leaves_no_part_of_a_file(tmp_path):
    code = f"""if True:
        import os, signal, sys
        from ilfs import files
        replace = os.replace
        def stopped(*_):
            os.kill(os.getpid(), signal.SIGTERM)
            replace(*_)
        os.replace = stopped
        from ilfs.cli import main
        sys.exit(main(["rank", "iris", "-o", {str(tmp_path / "out.csv")!r}, "--quiet"]))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr.startswith("ilfs: stopped, and an unfinished ranking is not saved")
    assert list(tmp_path.iterdir()) == []
