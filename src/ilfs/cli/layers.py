"""``ilfs datasets layers``: list the layers of a network, to choose the one whose activations are the features."""

import argparse
from typing import Any


def add_to(actions: Any) -> None:
    """Add ``ilfs datasets layers``."""
    from ilfs.choices import FORMATS

    parser = actions.add_parser(
        "layers",
        help="list the layers of a network with the shapes of their activations",
        description="List the layers of a network in ONNX format, with the shapes of their activations.",
    )
    parser.add_argument("network", metavar="FILE.onnx", help="the network, which needs the extra ilfs[deep]")
    parser.add_argument("--size", type=int, metavar="N", help="height and width of an image (the network's, or 224)")
    parser.add_argument("--format", choices=FORMATS, default="text", help="format of the list (text)")
    parser.set_defaults(function=print_layers)


def print_layers(options: argparse.Namespace) -> int:
    """Print name, shape and number of features of every layer."""
    from ilfs.datasets.layers import layers_with_shapes
    from ilfs.text_table import Grid

    rows = [
        [one.name, " x ".join(map(str, one.shape)), one.n_features, "yes" if one.is_output else ""]
        for one in layers_with_shapes(options.network, size=options.size)
    ]
    grid = Grid(f"Layers of {options.network}, for one image", ["layer", "shape", "features", "output"], rows)
    print(grid.render(options.format, spreadsheet_safe=True))
    return 0
