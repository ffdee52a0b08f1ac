"""Sphinx extension: the directive ``command-options`` lists all options of all commands, from the parser itself."""

import argparse
import re

from docutils import nodes
from docutils.parsers.rst import Directive

from ilfs.cli.main import command_line
from ilfs.cli.parser import leaves

NO_HELP = ("--help", "--debug")  # options of every command, which the page names once
LITERAL = r"(--[a-z][a-z-]*|(?<!\w)'[^']+')"


class CommandOptions(Directive):
    """A section for each command: what it does, and a table of its arguments and options."""

    def run(self):
        parsers = {parser.prog: parser for parser in leaves(command_line()) if parser.prog != "ilfs"}
        return [section_of(name, parser) for name, parser in parsers.items()]


def section_of(name, parser):
    """Describe a command; its name is the target of links."""
    section = nodes.section(ids=[nodes.make_id(name)], names=[nodes.fully_normalize_name(name)])
    section += nodes.title("", "", nodes.literal("", name))
    section += nodes.paragraph("", "", *with_literals(" ".join(parser.description.split())))
    rows = [(words_of(action), meaning_of(action, parser)) for action in parser.actions if is_shown(action)]
    section += table_of(("option", "meaning"), rows)
    return section


def is_shown(action):
    """Tell whether an option is particular to a command and documented."""
    return action.help not in (None, argparse.SUPPRESS) and not set(action.option_strings) & set(NO_HELP)


def words_of(action):
    """Return an option as it is typed, with its value."""
    value = action.metavar or (None if action.nargs == 0 else action.dest.upper())
    if action.choices is not None and action.metavar is None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        return value
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {value}{' ...' if action.nargs in ('+', '*') else ''}"


def meaning_of(action, parser):
    """Return the help text of an option."""
    return with_literals(action.help % {**vars(action), "prog": parser.prog})


def with_literals(text):
    """Make nodes of a text; options and quoted words in it are literal, so that no dash is changed."""
    words = re.split(LITERAL, text)
    return [nodes.literal("", word.strip("'")) if i % 2 else nodes.Text(word) for i, word in enumerate(words)]


def table_of(header, rows):
    """Make a table of two columns, the first in the letters of code."""
    group = nodes.tgroup("", nodes.colspec(colwidth=2), nodes.colspec(colwidth=5), cols=2)
    group += nodes.thead("", row_of(*([nodes.Text(word)] for word in header)))
    group += nodes.tbody("", *(row_of([nodes.literal("", words)], meaning) for words, meaning in rows))
    return nodes.table("", group)


def row_of(*cells):
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *cell)) for cell in cells))


def setup(app):
    app.add_directive("command-options", CommandOptions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
