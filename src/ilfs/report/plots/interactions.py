"""The network of interacting features."""

import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ilfs.files import write_atomically
from ilfs.report.charts.drawing import WIDTH_PX
from ilfs.report.charts.networks import (
    HUB_RADIUS_PX,
    MAX_EDGE_PX,
    MAX_NODE_LETTERS,
    NetworkEdge,
    NetworkPlan,
    edge_px,
    leader_end,
)
from ilfs.report.interactions.network import MAX_NODES, InteractionNetwork
from ilfs.report.interactions.summary import InteractionSummary
from ilfs.report.plots.canvas import CLASS_COLOURS, PLAIN, SMALL_POINTS, note, set_title, shown_name
from ilfs.report.plots.overview import DOTS_PER_INCH, METADATA, check_plot_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NODE_COLOUR = "#3a4150"
POINTS_PER_PX = 0.92  # of lines and letters in a picture as wide as `FIGURE_INCHES`
FIGURE_INCHES, EMPTY_INCHES = 6.4, 0.8
NOTE_LETTERS = 95  # of a line in a picture as wide as `FIGURE_INCHES`
DASHED = (0, (3.0, 1.6))


def draw_interactions(ax: "Axes", network: InteractionNetwork) -> None:
    """Draw a network: the strongest sets of features that tell the class together.

    Parameters
    ----------
    ax : Axes
        The axes.
    network : InteractionNetwork
        Features and sets.
    """
    if not network.edges:
        draw_nothing(ax, network)
        return
    plan = NetworkPlan.of_network(network.names, network.edges)
    for edge in reversed(plan.edges):
        draw_edge(ax, plan, edge)
    for node in range(len(plan.names)):
        draw_node(ax, plan, node)
    ax.set_xlim(0, WIDTH_PX)
    ax.set_ylim(max(plan.layout.height, 60.0), 0)
    ax.set_aspect("equal")
    ax.axis("off")
    set_title(ax, f"Interactions: {network.title()}")
    draw_legend(ax, network)


def draw_node(ax: "Axes", plan: NetworkPlan, node: int) -> None:
    """Draw a node, its name, and a thin line to the name if that is not beside the node."""
    from matplotlib.patheffects import withStroke

    (x, y), radius = plan.layout.points[node], plan.radii[node]
    ax.scatter(x, y, s=(2 * POINTS_PER_PX * radius) ** 2, color=NODE_COLOUR, linewidth=0, zorder=3)
    place = plan.layout.labels[node]
    if (end := leader_end(x, y, radius, place)) is not None:
        ax.plot(*zip((x, y), end, strict=True), color=NODE_COLOUR, linewidth=0.7, alpha=0.6, zorder=3)
    if place is not None:
        halo = [withStroke(linewidth=2.2, foreground=ax.get_facecolor())]
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "zorder": 5, "path_effects": halo}
        ax.text(place.x, place.y, shown_name(plan.names[node], MAX_NODE_LETTERS), **style, **PLAIN)


def draw_nothing(ax: "Axes", network: InteractionNetwork) -> None:
    """Write that no set is significant, in place of a network."""
    ax.axis("off")
    set_title(ax, "Interactions: no set of features is significant")
    note(ax, 0.0, 0.9, fill(network.about, NOTE_LETTERS), transform=ax.transAxes, va="top", fontsize=SMALL_POINTS)


def draw_edge(ax: "Axes", plan: NetworkPlan, edge: NetworkEdge) -> None:
    """Draw a line between two nodes, or a small diamond with lines to three."""
    is_triple = edge.ends in plan.hubs
    colour = CLASS_COLOURS[edge.group % len(CLASS_COLOURS)]
    wide = POINTS_PER_PX * edge_px(edge.strength, is_triple)
    style = DASHED if edge.is_dashed else "solid"
    for line in plan.lines(edge):
        ax.plot(line[:, 0], line[:, 1], color=colour, linewidth=wide, linestyle=style, alpha=0.7, zorder=2)
    if is_triple:
        x, y = plan.layout.points[plan.hubs[edge.ends]]
        ax.scatter(x, y, s=(2 * POINTS_PER_PX * HUB_RADIUS_PX) ** 2, marker="D", color=colour, linewidth=0, zorder=4)


def draw_legend(ax: "Axes", network: InteractionNetwork) -> None:
    """Explain colours, kinds of lines, their width and the diamonds, as far as they occur."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(color=CLASS_COLOURS[group % len(CLASS_COLOURS)], label=shown_name(label))
        for group, label in network.legend
    ]
    handles += [Line2D([], [], color=NODE_COLOUR, label=label, **style) for label, style in line_kinds(network)]
    legend = ax.legend(
        handles=handles,
        frameon=False,
        fontsize=SMALL_POINTS,
        handlelength=2.6,
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        ncols=2,
    )
    for text in legend.get_texts():
        text.set(**PLAIN)


def line_kinds(network: InteractionNetwork) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the kinds of lines that occur: what they mean, and how they are drawn."""
    pairs = {edge.is_dashed for edge in network.edges if len(edge.ends) == 2}
    triples = {edge.is_dashed for edge in network.edges if len(edge.ends) == 3}
    if False in pairs:
        yield "alike, such as high with high", {"linewidth": 1.8}
    if True in pairs:
        yield "opposite, such as high with low", {"linewidth": 1.8, "linestyle": DASHED}
    diamond = {"marker": "D", "markersize": 4, "linewidth": 0.9}
    if False in triples:
        yield "three: 1 or 3 high", diamond
    if True in triples:
        yield "three: 0 or 2 high", diamond | {"linestyle": DASHED}
    low, high = min(network.statistics), max(network.statistics)
    if low < high:
        yield f"thicker: stronger (statistic {low:.0f} to {high:.0f})", {"linewidth": POINTS_PER_PX * MAX_EDGE_PX}


def network_height(network: InteractionNetwork) -> float:
    """Return the height of a figure in inches."""
    if not network.edges:
        return EMPTY_INCHES
    plan = NetworkPlan.of_network(network.names, network.edges)
    return 1.3 + FIGURE_INCHES * plan.layout.height / WIDTH_PX


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
