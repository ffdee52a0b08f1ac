"""Tables in every format: values, bold words, and special characters."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest

from ilfs.choices import FORMATS
from ilfs.text_table import Grid, Marked

NAMES = (
    "[a] b",
    "*c",
    "d_e & 50% $x$ #1 {y} ~z ^w \\cmd",
    "<script>alert(1)</script> | \"q\" 'r'",
    "IFN-\N{GREEK SMALL LETTER GAMMA} 3 \N{MICRO SIGN}m \N{GREEK CAPITAL LETTER DELTA}",
    "two\nlines",
)
BEST = Marked((("98.25*", True), (" [", False), ("96.35", True), (", 99.60]", False)))
GRID = Grid("A & B <1>", ["name", "v < 2"], [[name, BEST] for name in NAMES], notes=["p < 0.05"])


class Cells(HTMLParser):
    """Collects the text of all cells, and the text that is bold; fails if tags are not nested properly."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.cells, self.bold = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.cells[-1] += data
        if "strong" in self.open:
            self.bold.append(data)


def read_html(text):
    parser = Cells()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser


def test_html_has_every_value_escaped_in_ascii_and_bold_where_marked():
    text = GRID.render("html")
    found = read_html(text)
    assert found.cells[:2] == ["name", "v < 2"]
    assert found.cells[2::2] == [name.replace("\n", " ") for name in NAMES]
    assert set(found.cells[3::2]) == {"98.25* [96.35, 99.60]"}
    assert found.bold == ["98.25*", "96.35"] * len(NAMES)
    assert "<script>" not in text
    assert "<caption>A &amp; B &lt;1&gt;</caption>" in text
    assert "<p>p &lt; 0.05</p>" in text
    assert text.isascii()


def test_bold_words_in_text_markdown_and_csv():
    assert GRID.render("text").splitlines()[3].endswith("_98.25*_ [_96.35_, 99.60]")
    assert r"| **98.25\*** [**96.35**, 99.60] |" in GRID.render("markdown")
    rows = list(csv.reader(io.StringIO(GRID.render("csv"))))
    assert {row[1] for row in rows[1:]} == {"98.25* [96.35, 99.60]"}


def test_marked_words_are_aligned_like_numbers():
    grid = Grid("T", ["a", "b"], [["x", Marked((("1.00", True),))], ["y", None]])
    assert "|---|---:|" in grid.render("markdown")
    assert r"\begin{tabular}{lr}" in grid.render("latex")


def test_latex_has_one_cell_for_each_value_and_balanced_braces():
    text = GRID.render("latex")
    lines = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(lines) == 1 + len(NAMES)
    for line in lines:
        assert len(re.findall(r"(?<!\\)&", line)) == 1
        plain = re.sub(r"\\[{}]", "", line)
        assert plain.count("{") == plain.count("}")
        assert len(re.findall(r"(?<!\\)\$", line)) % 2 == 0
        assert not re.search(r"(?<!\\)[#%_^~<>|]", line)
    assert r"\textbf{98.25*} [\textbf{96.35}, 99.60] \\" in text
    assert r"IFN-$\gamma$ 3 $\mu$m $\Delta$" in text


def test_latex_rows_never_begin_with_an_option_of_the_line_above():
    lines = GRID.render("latex").splitlines()
    assert lines[5].startswith("{[}a] b")
    assert lines[6].startswith("{*}c")
    assert not any(line.startswith(("[", "*")) for line in lines)


def test_latex_comments_stay_on_one_line():
    grid = Grid("two\nlines", ["a"], [], notes=["a\nnote"])
    assert grid.render("latex").splitlines()[0] == "% two lines"
    assert grid.render("latex").splitlines()[-1] == "% a note"


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_shows_missing_values_and_empty_tables(form):
    assert Grid("T", ["a", "b"], []).render(form)
    text = Grid("T", ["a", "b"], [["x", None], ["y", float("nan")]]).render(form)
    assert text.count("-" if form != "csv" else ",\ny,") >= 1


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html", "csv"])
def test_numbers_that_round_to_zero_have_no_minus_sign(form):
    text = Grid("T", ["a", "b"], [["x", -1e-9], ["y", -0.0], ["z", -0.5]], digits=2).render(form)
    assert "-0.00" not in text
    assert "-0.5" in text
