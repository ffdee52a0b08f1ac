"""Sphinx extension: colours, bold best values and upright headings for the generated tables of results.

It also removes the blank lines that end examples: doctest needs them, readers do not.
"""

from docutils import nodes
from heat import looks
from sphinx.transforms.post_transforms import SphinxPostTransform

CLASSES = {"upright": 7, "compact": 16}  # headings stand upright, and letters are small, in tables with more columns
LONG_TEXT = 80  # letters


class ResultTables(SphinxPostTransform):
    """Add classes to the values of all tables whose title is known."""

    default_priority = 300
    formats = ("html",)

    def run(self, **_):
        for table in list(self.document.findall(nodes.table)):
            style(table)
            widen(table)
        for block in self.document.findall(nodes.literal_block):
            trim(block)


def style(table):
    """Add the classes of one table, if it is one of results."""
    before = previous(table)
    header, rows = cells_of(table)
    if not isinstance(before, nodes.paragraph) or not header:
        return
    found = looks(before.astext(), [cell.astext() for cell in header], [[c.astext() for c in row] for row in rows])
    if found is None:
        return
    before["classes"].append("table-title")
    table["classes"] += ["results", *(name for name, columns in CLASSES.items() if len(header) > columns)]
    for row, row_looks in zip(rows, found, strict=True):
        for cell, look in zip(row, row_looks, strict=True):
            decorate(cell, look)


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
