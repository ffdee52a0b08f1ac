"""The network of interacting features."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ilfs.files import write_atomically
from ilfs.report.charts.drawing import WIDTH_PX
from ilfs.report.charts.networks import MAX_EDGE_PX, MAX_NODE_LETTERS, MIN_EDGE_PX, NetworkEdge, NetworkPlan
from ilfs.report.interactions.network import MAX_NODES, InteractionNetwork
from ilfs.report.interactions.summary import InteractionSummary
from ilfs.report.plots.canvas import CLASS_COLOURS, PLAIN, colour_legend, set_title, shown_name
from ilfs.report.plots.overview import DOTS_PER_INCH, METADATA, check_plot_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NODE_COLOUR = "#3a4150"
POINTS_PER_PX = 0.92  # of lines and letters in a picture as wide as `FIGURE_INCHES`
FIGURE_INCHES = 6.4


def draw_interactions(ax: "Axes", network: InteractionNetwork) -> None:
    """Draw a network: the strongest sets of features that tell the class together.

    Parameters
    ----------
    ax : Axes
        The axes.
    network : InteractionNetwork
        Features and sets.
    """
    plan = NetworkPlan.of_network(network.names, network.edges)
    for edge in reversed(plan.edges):
        draw_edge(ax, plan, edge)
    for node, name in enumerate(plan.names):
        x, y = plan.layout.points[node]
        ax.scatter(x, y, s=(2 * POINTS_PER_PX * plan.radii[node]) ** 2, color=NODE_COLOUR, linewidth=0, zorder=3)
        if (place := plan.layout.labels[node]) is not None:
            word = shown_name(name, MAX_NODE_LETTERS)
            ax.text(place.x, place.y, word, ha="center", va="center", fontsize=8, zorder=4, **PLAIN)
    ax.set_xlim(0, WIDTH_PX)
    ax.set_ylim(max(plan.layout.height, 60.0), 0)
    ax.set_aspect("equal")
    ax.axis("off")
    some = "" if len(network.edges) == network.n_sets else f"the strongest {len(network.edges):,} of "
    set_title(ax, f"Interactions: {some}{network.n_sets:,} significant sets")
    colours = {label: CLASS_COLOURS[group % len(CLASS_COLOURS)] for group, label in network.legend}
    colour_legend(ax, colours, "", loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=2)


def draw_edge(ax: "Axes", plan: NetworkPlan, edge: NetworkEdge) -> None:
    """Draw a line between two nodes, or a triangle between three."""
    points = plan.layout.points[list(edge.ends)]
    colour = CLASS_COLOURS[edge.group % len(CLASS_COLOURS)]
    wide = POINTS_PER_PX * (MIN_EDGE_PX + (MAX_EDGE_PX - MIN_EDGE_PX) * edge.strength)
    style = (0, (3.0, 1.6)) if edge.is_dashed else "solid"
    if len(points) == 3:
        ax.fill(points[:, 0], points[:, 1], color=colour, alpha=0.15, linewidth=0, zorder=1)
        points = np.vstack([points, points[:1]])
    ax.plot(points[:, 0], points[:, 1], color=colour, linewidth=wide, linestyle=style, alpha=0.7, zorder=2)


def network_height(network: InteractionNetwork) -> float:
    """Return the height of a figure in inches."""
    plan = NetworkPlan.of_network(network.names, network.edges)
    return 1.0 + FIGURE_INCHES * plan.layout.height / WIDTH_PX


def write_network_plot(summary: InteractionSummary, path: str | os.PathLike[str], max_nodes: int = MAX_NODES) -> Path:
    """Write a picture of the network in the format that the name of the file states.

    Parameters
    ----------
    summary : InteractionSummary
        The result of a search.
    path : path-like
        The file: ``.png``, ``.svg`` or ``.pdf``.
    max_nodes : int, default=40
        Largest number of features.

    Returns
    -------
    Path
        The file written; it appears complete or not at all.
    """
    path = check_plot_path(path)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    network = InteractionNetwork.of_summary(summary, max_nodes)
    figure = Figure(figsize=(FIGURE_INCHES, network_height(network)), layout="constrained")
    FigureCanvasAgg(figure)
    draw_interactions(figure.subplots(), network)
    ending = path.suffix.lower()
    with write_atomically(path) as file:
        figure.savefig(file, format=ending[1:], dpi=DOTS_PER_INCH, metadata=METADATA[ending])
    return path
