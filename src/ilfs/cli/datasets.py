"""``ilfs datasets``: list the data sets that are known by name, and where each can be loaded from."""

import argparse
from typing import Any


def add_to(commands: Any) -> None:
    """Add ``ilfs datasets``."""
    from ilfs.choices import FORMATS

    parser = commands.add_parser("datasets", help="list the data sets that are known by name")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument(
        "--properties",
        nargs="*",
        metavar="NAME",
        help="measure the properties of the paper's Table 1 instead: names or paths of files (the paper's data sets)",
    )
    parser.set_defaults(function=show)


def show(options: argparse.Namespace) -> int:
    """Print the list of data sets, or the properties of some."""
    if options.properties is not None:
        return show_properties(options)
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


def show_properties(options: argparse.Namespace) -> int:
    """Print the properties of data sets beside the paper's; a named one that is not available is an error."""
    from ilfs.benchmark.paper_tables import dataset_rows
    from ilfs.datasets import load, measure_properties
    from ilfs.report.datasets import properties_grid

    measured: dict[str, Any] = {}
    for name in options.properties or dataset_rows():
        try:
            measured[name] = measure_properties(load(name))
        except (OSError, ValueError):  # not here, or not what it should be
            if options.properties:
                raise
            measured[name] = None
    print(properties_grid(measured).render(options.format, spreadsheet_safe=True))
    return 0
