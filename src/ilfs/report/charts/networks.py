"""Networks: features as nodes, and sets of two or three features as lines and triangles between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt

from ilfs.report.charts.drawing import LINE_PX, N_COLOURS, WIDTH_PX, legend_lines, legend_parts, svg
from ilfs.report.charts.network_layout import LabelPlace, NetworkLayout, degrees, joined_nodes, lay_out
from ilfs.report.markup import escape, shortened

MAX_NODE_LETTERS, MAX_TOOLTIP_LETTERS = 15, 40
MIN_RADIUS_PX, MAX_RADIUS_PX = 5.0, 11.0
MAX_GAP_PX = 9.0  # between a node and its label without a line between them
MIN_EDGE_PX, MAX_EDGE_PX = 1.2, 5.0  # width of the weakest and the strongest edge


@dataclass(frozen=True)
class NetworkEdge:
    """A set of two or three nodes.

    Parameters
    ----------
    ends : tuple of int
        The nodes.
    strength : float
        From 0, for the thinnest line, to 1.
    group : int
        Number of the colour.
    is_dashed : bool
        Draw a dashed line.
    about : str
        Text of the tooltip.
    """

    ends: tuple[int, ...]
    strength: float
    group: int = 0
    is_dashed: bool = False
    about: str = ""


@dataclass(frozen=True)
class NetworkPlan:
    """A network with the places of its nodes and labels.

    Parameters
    ----------
    names : tuple of str
        Names of the nodes.
    edges : tuple of NetworkEdge
        The sets, strongest first.
    radii : tuple of float
        Radius of each node; the more sets, the larger.
    layout : NetworkLayout
        The places.
    """

    names: tuple[str, ...]
    edges: tuple[NetworkEdge, ...]
    radii: tuple[float, ...]
    layout: NetworkLayout

    @classmethod
    def of_network(cls, names: Sequence[str], edges: Sequence[NetworkEdge], width: float = WIDTH_PX) -> "NetworkPlan":
        """Find the places of the nodes and labels of a network."""
        counts = degrees(len(names), (edge.ends for edge in edges))
        radii = tuple(min(MIN_RADIUS_PX + 1.5 * sqrt(max(n - 1, 0)), MAX_RADIUS_PX) for n in counts.tolist())
        letters = [len(shortened(name, MAX_NODE_LETTERS)) for name in names]
        layout = lay_out(letters, radii, joined_nodes(edge.ends for edge in edges), width)
        return cls(tuple(names), tuple(edges), radii, layout)


def network_chart(
    names: Sequence[str],
    edges: Sequence[NetworkEdge],
    *,
    title: str,
    description: str = "",
    legend: Sequence[tuple[int, str]] = (),
    places: Sequence[int] | None = None,
    width: float = WIDTH_PX,
) -> str:
    """Draw a network: nodes with their names, lines between two nodes, and triangles between three.

    Parameters
    ----------
    names : sequence of str
        Names of the nodes; up to about 40 of them are all shown.
    edges : sequence of NetworkEdge
        The sets, strongest first.
    title, description : str
        Name of the chart and what it shows, for screen readers.
    legend : sequence of (int, str), default=()
        Numbers and meanings of the colours.
    places : sequence of int, optional
        A number for each node, for scripts (``data-place``).
    width : float
        Width in pixels, before scaling.

    Returns
    -------
    str
        An SVG element.

    Examples
    --------
    >>> from ilfs.report.charts.networks import NetworkEdge, network_chart
    >>> drawn = network_chart(["a", "b", "c"], [NetworkEdge((0, 1), 1.0), NetworkEdge((1, 2), 0.2)], title="Pairs")
    >>> drawn.count('class="edge'), drawn.count("<circle"), drawn.count("<text")
    (2, 3, 3)
    """
    plan = NetworkPlan.of_network(names, edges, width)
    marks = [(f"fill s{group % N_COLOURS}", label) for group, label in legend]
    top = 10.0 + LINE_PX * len(legend_lines(marks, width)) if marks else 0.0
    numbers = range(len(names)) if places is None else places
    parts = [
        *legend_parts(marks, width),
        f'<g transform="translate(0 {top:g})">',
        *(edge_part(plan, edge) for edge in reversed(edges)),  # the strongest on top
        *(node_part(plan, node, number) for node, number in enumerate(numbers)),
        "</g>",
    ]
    drawn = svg(title, description, parts, (width, top + plan.layout.height))
    return drawn.replace('class="chart"', 'class="chart network"', 1)


def edge_part(plan: NetworkPlan, edge: NetworkEdge) -> str:
    """Draw a line between two nodes, or a triangle between three."""
    points = [plan.layout.points[end] for end in edge.ends]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    kind = "edge" if len(points) == 2 else "triple"
    dashed = " dashed" if edge.is_dashed else ""
    wide = MIN_EDGE_PX + (MAX_EDGE_PX - MIN_EDGE_PX) * edge.strength
    ends = " ".join(str(end) for end in edge.ends)
    return (
        f'<path class="{kind}{dashed} s{edge.group % N_COLOURS}" data-ends="{ends}" stroke-width="{wide:.1f}" '
        f'd="M{path}{"" if len(points) == 2 else "z"}"><title>{escape(edge.about)}</title></path>'
    )


def node_part(plan: NetworkPlan, node: int, number: int) -> str:
    """Draw a node and its name."""
    (x, y), name = plan.layout.points[node], plan.names[node]
    circle = f'<circle class="node" cx="{x:.1f}" cy="{y:.1f}" r="{plan.radii[node]:.1f}"/>'
    place = plan.layout.labels[node]
    label = leader_part(x, y, plan.radii[node], place) + label_part(name, place)
    about = f"<title>{escape(shortened(name, MAX_TOOLTIP_LETTERS))}</title>"
    return f'<g class="network-node" data-node="{node}" data-place="{number}">{about}{circle}{label}</g>'


def leader_part(x: float, y: float, radius: float, place: LabelPlace | None) -> str:
    """Draw a thin line from a node to its label, if the label is not beside it."""
    if place is None:
        return ""
    box = place.box
    end_x, end_y = min(max(x, box.left), box.right), min(max(y, box.top), box.bottom)
    if hypot(end_x - x, end_y - y) <= radius + MAX_GAP_PX:
        return ""
    return f'<path class="leader" d="M{x:.1f} {y:.1f}L{end_x:.1f} {end_y:.1f}"/>'


def label_part(name: str, place: LabelPlace | None) -> str:
    """Write the name of a node, if there is a place for it."""
    if place is None:
        return ""
    word = escape(shortened(name, MAX_NODE_LETTERS))
    return f'<text class="name" x="{place.x:.1f}" y="{place.y + 4:.1f}" text-anchor="middle">{word}</text>'
