"""Sphinx extension: colours, bold best values and upright headings for the tables of results.

Tables of numbers without a known title are set as narrow, without colours. Long names in code may break in all tables.
The extension also removes the blank lines that end examples: doctest needs them, readers do not.
"""

import re

from docutils import nodes
from heat import looks, number_in, rule_of
from sphinx.transforms.post_transforms import SphinxPostTransform

CLASSES = {"upright": 7, "compact": 16}  # headings stand upright, and letters are small, in tables with more columns
LONG_TEXT = 80  # letters
LONG_NAME = 16  # letters; a longer name in code may be broken after these signs, or every 16 digits of a checksum
BREAK_AFTER = re.compile(r"(?<=[._/=,(])(?=[^\s)])|(?<=[0-9a-f]{16})(?=[0-9a-f]{8})")


class ResultTables(SphinxPostTransform):
    """Add classes to the values of all tables whose title is known."""

    default_priority = 300
    formats = ("html",)

    def run(self, **_):
        for table in list(self.document.findall(nodes.table)):
            style(table)
            widen(table)
            for name in list(table.findall(nodes.literal)):
                let_break(name)
        for block in self.document.findall(nodes.literal_block):
            trim(block)


def style(table):
    """Add the classes of one table, if it is one of results or of numbers."""
    before = previous(table)
    header, rows = cells_of(table)
    if not header:
        return
    texts = [[cell.astext() for cell in row] for row in rows]
    title = before.astext() if isinstance(before, nodes.paragraph) else ""
    found = looks(title, [cell.astext() for cell in header], texts)
    if found is not None or is_numeric(texts):
        table["classes"] += ["results", *(name for name, columns in CLASSES.items() if len(header) > columns)]
        mark_words(rows)
    if found is None:
        return
    if title and rule_of(title):
        before["classes"].append("table-title")
    for row, row_looks in zip(rows, found, strict=True):
        for cell, look in zip(row, row_looks, strict=True):
            decorate(cell, look)


def is_numeric(texts):
    """Return True if nearly all values behind the names of the rows are numbers."""
    values = [text for row in texts for text in row[1:] if text]
    return len(values) > 5 and sum(number_in(text) == number_in(text) for text in values) > 0.9 * len(values)


def mark_words(rows):
    """Let values of words, such as the names of the best methods, take several lines."""
    for row in rows:
        for cell in row[1:]:
            if not any(sign.isdigit() for sign in cell.astext()):
                cell["classes"].append("words")


def let_break(name):
    """Let a long name in code take several lines, without a sign that would be copied with it."""
    text = name.astext()
    parts = BREAK_AFTER.split(text) if len(text) > LONG_NAME else [text]
    if len(parts) > 1:
        name.children[:] = [
            node for part in parts for node in (nodes.Text(part), nodes.raw("", "<wbr>", format="html"))
        ][:-1]


def widen(table):
    """Mark values of many words, which need a wide column on a phone, too."""
    for row in cells_of(table)[1]:
        for cell in row:
            if len(cell.astext()) > LONG_TEXT:
                cell["classes"].append("long")


def trim(block):
    """Remove blank lines at the end of a block of code, unless it has markup of its own."""
    if block.rawsource == block.astext() and block.rawsource.endswith("\n"):
        block.rawsource = block.rawsource.rstrip()
        block.children[:] = [nodes.Text(block.rawsource)]


def previous(node):
    """Return the node before a node, None if it is the first one."""
    place = node.parent.index(node)
    return node.parent[place - 1] if place else None


def cells_of(table):
    """Return the cells of the heading and of the rows of a table."""
    head = rows_in(table, nodes.thead)
    return (head[0] if head else []), rows_in(table, nodes.tbody)


def rows_in(table, kind):
    return [list(row.findall(nodes.entry)) for part in table.findall(kind) for row in part.findall(nodes.row)]


def decorate(cell, look):
    """Colour a value, and make it bold if it is among the best."""
    if look.shade:
        cell["classes"].append(look.shade)
    if look.is_best:
        cell["classes"].append("best")


def setup(app):
    app.add_post_transform(ResultTables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
