"""``ilfs methods``: list the methods and the kinds of data that each takes."""

import argparse
from collections.abc import Sequence
from typing import Any

from ilfs.registry import Method, list_methods

HEADER = ("name", "class", "type", "labels", "sparse", "NaN", "weights", "multilabel", "streams", "looks for")
GAP = 2  # spaces between columns, as `aligned` has them
MIN_AIM = 20  # characters of a shortened sentence
NOTE = "depends: on the parameters, or on the wrapped method as in novelty(fisher)"


def add_to(commands: Any) -> None:
    """Add ``ilfs methods``."""
    parser = commands.add_parser(
        "methods",
        help="list the methods and the kinds of data that each takes",
        description="List the methods: what each looks for, and the kinds of data that it takes.",
    )
    parser.add_argument(
        "--format", choices=("text", "json", "markdown"), default="text", help="json: also titles and references"
    )
    parser.set_defaults(function=show)


def show(options: argparse.Namespace) -> int:
    """Print the methods."""
    formats = {"text": for_stdout, "json": as_json, "markdown": as_markdown}
    print(formats[options.format](list_methods()))
    return 0


def as_json(methods: Sequence[Method]) -> str:
    """Format all fields as a JSON list; an ability that depends on parameters or the wrapped method is null."""
    import json
    from dataclasses import asdict

    return json.dumps([asdict(method) for method in methods], indent=2)


def for_stdout(methods: Sequence[Method]) -> str:
    """Format the methods for the width of the terminal; a file or a pipe gets whole sentences."""
    import shutil
    import sys

    return as_text(methods, shutil.get_terminal_size().columns if sys.stdout.isatty() else None)


def as_text(methods: Sequence[Method], width: int | None = None) -> str:
    """Format the methods as an aligned table, or as two if one does not fit the width: aims, then abilities."""
    rows = [HEADER, *map(row_of, methods)]
    lines = table_lines(rows)
    if width is not None and max(map(len, lines)) > width:
        room = width - max(len(row[0]) for row in rows) - GAP
        aims = [(row[0], cut(row[-1], room)) for row in rows]
        lines = [*table_lines(aims), "", *table_lines([(row[0], *row[3:-1]) for row in rows])]
    return "\n".join([*lines, "", NOTE])


def table_lines(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Align the words of some rows."""
    from ilfs.text_table import aligned

    return list(aligned(rows, [False] * len(rows[0])))


def cut(text: str, width: int) -> str:
    """Shorten a sentence at the end of a word."""
    import textwrap

    return textwrap.shorten(text, max(width, MIN_AIM), placeholder=" ...")


def as_markdown(methods: Sequence[Method]) -> str:
    """Format the methods as a Markdown table."""
    from ilfs.text_table import markdown_lines

    return "\n".join([*markdown_lines([HEADER, *map(row_of, methods)], [False] * len(HEADER)), "", NOTE])


def row_of(method: Method) -> tuple[str, ...]:
    """Format one method as a row of words, in the order of `HEADER`."""
    abilities = (
        method.supervised,
        method.sparse,
        method.missing,
        method.weights,
        method.multilabel,
        method.streams,
    )
    return (method.name, method.class_name, method.kind, *map(answer, abilities), method.summary)


def answer(ability: bool | None) -> str:
    """Format an ability as yes, no or depends."""
    return "depends" if ability is None else "yes" if ability else "no"
