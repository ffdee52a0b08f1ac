"""Write the tables of methods in README.md and docs/methods/index.md from the registry.

python docs/tables.py
"""

from pathlib import Path

from ilfs import list_methods
from ilfs.text_table import markdown_lines

ROOT = Path(__file__).parents[1]
START = "<!-- table {name}: written by make tables -->\n"
END = "<!-- end of table {name} -->"
ANSWERS = {True: "yes", False: "no", None: "depends"}


def markdown(header, rows):
    """Format a Markdown table."""
    return "\n".join(markdown_lines([header, *rows], [False] * len(header))) + "\n"


def abilities(method):
    return [ANSWERS[one] for one in (method.supervised, method.sparse, method.missing, method.weights)]


def overview(folder):
    """List the methods with links to their pages, relative to a folder of the repository."""
    rows = [[link(one, folder), one.summary, *abilities(one)] for one in list_methods()]
    return markdown(["method", "looks for", "labels", "sparse", "NaN", "weights"], rows)


def by_name(folder):
    """List the methods with short names and types."""
    rows = [[f"`{one.name}`", link(one, folder), one.summary, one.kind, *abilities(one)] for one in list_methods()]
    return markdown(["name", "class", "what it looks for", "type", "labels", "sparse", "NaN", "weights"], rows)


def costs(folder):
    """List complexity and reference of the methods."""
    rows = [[link(one, folder), one.complexity, one.reference] for one in list_methods()]
    return markdown(["class", "time", "reference"], rows)


def link(method, folder):
    page = f"docs/{method.page}"
    # pages lie beside the file, below it, or one folder up
    relative = page.removeprefix(f"{folder}/") if page.startswith(f"{folder}/") or not folder else f"../{method.page}"
    return f"[`{method.class_name}`]({relative})"


TABLES = {
    "README.md": {"of methods": overview},
    "docs/methods/index.md": {"of methods": by_name, "of costs": costs},
}


def filled(file):
    """Return the text of a file with its tables filled from the registry."""
    text, folder = (ROOT / file).read_text(), file.rpartition("/")[0]
    for name, table in TABLES[file].items():
        start, end = START.format(name=name), END.format(name=name)
        before, _, rest = text.partition(start)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"{file} must have the lines {start.strip()!r} and {end!r}")
        text = f"{before}{start}\n{table(folder)}\n{end}{after}"
    return text


if __name__ == "__main__":
    for file in TABLES:
        (ROOT / file).write_text(filled(file))
