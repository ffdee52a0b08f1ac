"""Networks: features as nodes, sets of two features as lines, and sets of three as stars with a hub in the middle."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import hypot, sqrt

from ilfs.arrays import Floats
from ilfs.report.charts.drawing import LINE_PX, N_COLOURS, WIDTH_PX, legend_lines, legend_parts, svg
from ilfs.report.charts.network_layout import LabelPlace, NetworkLayout, degrees, joined_nodes, lay_out
from ilfs.report.markup import escape, shortened

MAX_NODE_LETTERS, MAX_TOOLTIP_LETTERS = 15, 40
MIN_RADIUS_PX, MAX_RADIUS_PX = 5.0, 11.0
HUB_RADIUS_PX = 3.5
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
        The places of the nodes, and after them those of the hubs.
    hubs : dict of tuple to int
        Number of the hub of each set of three.
    """

    names: tuple[str, ...]
    edges: tuple[NetworkEdge, ...]
    radii: tuple[float, ...]
    layout: NetworkLayout
    hubs: dict[tuple[int, ...], int] = field(default_factory=dict)

    @classmethod
    def of_network(cls, names: Sequence[str], edges: Sequence[NetworkEdge], width: float = WIDTH_PX) -> "NetworkPlan":
        """Find the places of the nodes and labels of a network."""
        counts = degrees(len(names), (edge.ends for edge in edges))
        radii = tuple(min(MIN_RADIUS_PX + 1.5 * sqrt(max(n - 1, 0)), MAX_RADIUS_PX) for n in counts.tolist())
        letters = [len(shortened(name, MAX_NODE_LETTERS)) for name in names]
        triples = [edge.ends for edge in edges if len(edge.ends) == 3]
        joined = joined_nodes((edge.ends for edge in edges), len(names))
        every = [*radii, *[HUB_RADIUS_PX] * len(triples)]
        layout = lay_out([*letters, *[0] * len(triples)], every, joined, width)
        hubs: dict[tuple[int, ...], int] = {ends: len(names) + k for k, ends in enumerate(triples)}
        return cls(tuple(names), tuple(edges), radii, layout, hubs)

    def lines(self, edge: NetworkEdge) -> list[Floats]:
        """Return the lines of a set, each as two points: one between two nodes, or three from a hub."""
        points = self.layout.points
        if edge.ends not in self.hubs:
            return [points[list(edge.ends)]]
        return [points[[self.hubs[edge.ends], end]] for end in edge.ends]


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
    """Draw a network: nodes with their names, lines between two nodes, and stars with a small hub between three.

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
    """Draw a line between two nodes, or a hub with lines to three."""
    path = "".join(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" for (x1, y1), (x2, y2) in plan.lines(edge))
    is_triple = edge.ends in plan.hubs
    dashed = " dashed" if edge.is_dashed else ""
    wide = edge_px(edge.strength, is_triple)
    ends = " ".join(str(end) for end in edge.ends)
    drawn = (
        f'<path class="{"edge triple" if is_triple else "edge"}{dashed} s{edge.group % N_COLOURS}" data-ends="{ends}" '
        f'stroke-width="{wide:.1f}" d="{path}"><title>{escape(edge.about)}</title></path>'
    )
    return drawn + hub_part(plan, edge, ends) if is_triple else drawn


def edge_px(strength: float, is_triple: bool = False) -> float:
    """Return the width of a line; those of a triple are thinner, since it has three."""
    return (MIN_EDGE_PX + (MAX_EDGE_PX - MIN_EDGE_PX) * strength) * (0.5 if is_triple else 1.0)


def hub_part(plan: NetworkPlan, edge: NetworkEdge, ends: str) -> str:
    """Draw the hub of a set of three, a small diamond."""
    (x, y), r = plan.layout.points[plan.hubs[edge.ends]], HUB_RADIUS_PX
    return (
        f'<path class="hub s{edge.group % N_COLOURS}" data-ends="{ends}" '
        f'd="M{x - r:.1f} {y:.1f}l{r} {-r}l{r} {r}l{-r} {r}z"><title>{escape(edge.about)}</title></path>'
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
    end = leader_end(x, y, radius, place)
    return "" if end is None else f'<path class="leader" d="M{x:.1f} {y:.1f}L{end[0]:.1f} {end[1]:.1f}"/>'


def leader_end(x: float, y: float, radius: float, place: LabelPlace | None) -> tuple[float, float] | None:
    """Return the point of a label to which a line from its node leads; None if the label is beside the node."""
    if place is None:
        return None
    box = place.box
    end_x, end_y = min(max(x, box.left), box.right), min(max(y, box.top), box.bottom)
    return None if hypot(end_x - x, end_y - y) <= radius + MAX_GAP_PX else (end_x, end_y)


def label_part(name: str, place: LabelPlace | None) -> str:
    """Write the name of a node, if there is a place for it."""
    if place is None:
        return ""
    word = escape(shortened(name, MAX_NODE_LETTERS))
    return f'<text class="name" x="{place.x:.1f}" y="{place.y + 4:.1f}" text-anchor="middle">{word}</text>'
