"""``ilfs datasets``: list the data sets that are known by name, and the layers of a network."""

import argparse
from typing import Any

from ilfs.cli import layers


def add_to(commands: Any) -> None:
    """Add ``ilfs datasets``."""
    from ilfs.choices import FORMATS

    parser = commands.add_parser("datasets", help="list the data sets that are known by name")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.set_defaults(function=show)
    layers.add_to(parser.add_subparsers(metavar="ACTION"))


def show(options: argparse.Namespace) -> int:
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
