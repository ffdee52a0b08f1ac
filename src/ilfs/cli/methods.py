"""``ilfs methods``: list the methods and the kinds of data that each takes."""

import argparse
from collections.abc import Sequence
from typing import Any

from ilfs.registry import Method, list_methods

HEADER = ("name", "class", "type", "labels", "sparse", "NaN", "weights", "multilabel", "streams", "looks for")
NOTE = "depends: on the parameters, or on the wrapped method as in novelty(fisher)"


def add_to(commands: Any) -> None:
    """Add ``ilfs methods``."""
    parser = commands.add_parser("methods", help="list the methods and the kinds of data that each takes")
    parser.add_argument(
        "--format", choices=("text", "json", "markdown"), default="text", help="json: also titles and references"
    )
    parser.set_defaults(function=show)


def show(options: argparse.Namespace) -> int:
    """Print the methods."""
    formats = {"text": as_text, "json": as_json, "markdown": as_markdown}
    print(formats[options.format](list_methods()))
    return 0


def as_json(methods: Sequence[Method]) -> str:
    """Format all fields as a JSON list; an ability that depends on parameters or the wrapped method is null."""
    import json
    from dataclasses import asdict

    return json.dumps([asdict(method) for method in methods], indent=2)


def as_text(methods: Sequence[Method]) -> str:
    """Format the methods as an aligned table."""
    from ilfs.text_table import aligned

    return "\n".join([*aligned([HEADER, *map(row_of, methods)], [False] * len(HEADER)), "", NOTE])


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
