"""``ilfs datasets``: list the data sets that are known by name; its actions describe and fetch them."""

import argparse
from typing import Any


def add_to(commands: Any) -> None:
    """Add ``ilfs datasets`` and its actions; without an action it prints the list."""
    from ilfs.choices import FORMATS

    parser = commands.add_parser("datasets", help="list, describe and fetch the data sets that are known by name")
    parser.add_argument("--format", choices=FORMATS, default="text", help="format of the list")
    parser.set_defaults(function=print_list)
    actions = parser.add_subparsers(metavar="ACTION")
    add_show(actions)


def add_show(actions: Any) -> None:
    """Add ``ilfs datasets show``."""
    parser = actions.add_parser("show", help="print what is known of one data set")
    parser.add_argument("name", metavar="NAME", help="a name from the list")
    parser.set_defaults(function=print_one)


def print_list(options: argparse.Namespace) -> int:
    """Print the list of data sets."""
    from ilfs.datasets import REGISTRY
    from ilfs.datasets.loading import whereabouts
    from ilfs.text_table import Grid

    rows = [
        [spec.name, spec.title, spec.samples, spec.features, spec.classes, spec.standing, whereabouts(spec)]
        for spec in REGISTRY.values()
    ]
    header = ["name", "title", "samples", "features", "classes", "standing", "here"]
    print(Grid("Data sets by name", header, rows).render(options.format, spreadsheet_safe=True))
    return 0


def print_one(options: argparse.Namespace) -> int:
    """Print what is known of one data set."""
    from ilfs.datasets.describe import description, registered

    print(description(registered(options.name)))
    return 0
