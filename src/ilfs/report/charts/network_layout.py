"""Places of the nodes of a network and of their labels, always the same for the same network.

Every connected part is laid out by stress: distances in the picture follow the numbers of edges between nodes, by
majorization (Gansner, Koren and North, *Graph Drawing by Stress Majorization*, 2005) from fixed starts. The parts
stand in rows, largest first. A label stands beside its node, where it covers no other node or label. If there is no
such place for a label, the picture is made higher.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ilfs.arrays import Floats, Integers
from ilfs.report.charts.labels import Box

EDGE_PX = 62.0  # length of an edge, unless the width limits it
MIN_APART_PX = 34.0  # between the nearest nodes of a part, unless the width limits it
MARGIN_PX = 19.0  # above and below a part
MAX_SIDE_PX = 112.0  # room for labels at the left and right of a part
LETTER_PX, LABEL_PX = 7.3, 14.0  # of the larger letters of phones
LABEL_GAP_PX = 4.0
N_STEPS = 200  # of majorization
MIN_STRETCH, N_STRETCHES = 1.2, 9  # factor by which the picture is made higher, and how often
ELONGATED = 1.3  # ratio of the variances of a part from which on its long side is vertical
RING_DISTANCES = (0.0, 12.0, 26.0)  # further distances of labels from their nodes
CROSSING_COST, AWAY_COST = 1.0, 0.06  # of an edge behind a label, and of a pixel of distance

Ends = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class LabelPlace:
    """Place of the label of a node: its middle, and the rectangle it takes."""

    x: float
    y: float
    box: Box


@dataclass(frozen=True)
class NetworkLayout:
    """Places of the nodes and labels of a network.

    Parameters
    ----------
    points : ndarray of shape (n_nodes, 2)
        Middles of the nodes in pixels.
    labels : list of LabelPlace or None
        Places of the labels; None for a label without a free place.
    height : float
        Height of the picture.
    """

    points: Floats
    labels: list[LabelPlace | None]
    height: float


def lay_out(letters: Sequence[int], radii: Sequence[float], edges: Ends, width: float) -> NetworkLayout:
    """Find places for the nodes and labels of a network.

    Parameters
    ----------
    letters : sequence of int
        Number of letters of each label; 0 for a node without a label.
    radii : sequence of float
        Radius of each node in pixels.
    edges : sequence of (int, int)
        Nodes that are joined.
    width : float
        Width of the picture in pixels.

    Returns
    -------
    NetworkLayout
        The places.

    Examples
    --------
    >>> from ilfs.report.charts.network_layout import lay_out
    >>> layout = lay_out([2, 2, 2], [5, 5, 5], [(0, 1), (1, 2)], 460)
    >>> layout.points.shape, None in layout.labels
    ((3, 2), False)
    """
    sides = np.minimum(LETTER_PX * np.asarray(letters, dtype=float) + 12.0, MAX_SIDE_PX)
    points, height = packed(components(len(letters), edges), edges, sides, width)
    labels = place_labels(points, letters, radii, edges, width, height)
    for _ in range(N_STRETCHES):
        if all(label is not None or not n_letters for label, n_letters in zip(labels, letters, strict=True)):
            break
        points, height = points * [1.0, MIN_STRETCH], height * MIN_STRETCH
        labels = place_labels(points, letters, radii, edges, width, height)
    return NetworkLayout(points, labels, height)


def components(n_nodes: int, edges: Ends) -> list[list[int]]:
    """Return the connected parts, largest first; their nodes are in the order of a walk from the most joined one."""
    near = neighbours(n_nodes, edges)
    parts, seen = [], set[int]()
    for start in sorted(range(n_nodes), key=lambda node: (-len(near[node]), node)):
        if start not in seen:
            parts.append(list(walk(near, start)))
            seen.update(parts[-1])
    return sorted(parts, key=lambda part: (-len(part), min(part)))


def neighbours(n_nodes: int, edges: Ends) -> list[list[int]]:
    """Return the nodes that each node is joined with, ascending."""
    near: list[set[int]] = [set() for _ in range(n_nodes)]
    for one, other in edges:
        near[one].add(other)
        near[other].add(one)
    return [sorted(nodes) for nodes in near]


def walk(near: Sequence[Sequence[int]], start: int) -> dict[int, int]:
    """Return the nodes that can be reached from a node, nearest first, with the number of edges between."""
    steps, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for other in near[node]:
            if other not in steps:
                steps[other] = steps[node] + 1
                waiting.append(other)
    return steps


def packed(parts: Sequence[Sequence[int]], edges: Ends, sides: Floats, width: float) -> tuple[Floats, float]:
    """Lay out the parts and put them in rows; return the points and the height."""
    points = np.zeros((sides.size, 2))
    near = neighbours(sides.size, edges)
    row: list[tuple[Sequence[int], Floats, float]] = []
    top = 0.0
    for part in parts:
        side = float(sides[list(part)].max())
        placed = fitted(stress_layout(part, near), width - 2 * side) + np.array([side, MARGIN_PX])
        wide = float(placed[:, 0].max()) + side
        if row and sum(one[2] for one in row) + wide > width:
            top += place_row(row, points, top, width)
            row = []
        row.append((part, placed, wide))
    return points, top + place_row(row, points, top, width)


def place_row(row: Sequence[tuple[Sequence[int], Floats, float]], points: Floats, top: float, width: float) -> float:
    """Put parts side by side, with equal gaps; return the height of the row."""
    height = max((float(placed[:, 1].max()) + MARGIN_PX for _, placed, _ in row), default=0.0)
    gap = (width - sum(wide for _, _, wide in row)) / (len(row) + 1)
    left = gap
    for part, placed, wide in row:
        middle = (height - MARGIN_PX - float(placed[:, 1].max())) / 2
        points[list(part)] = placed + np.array([left, top + middle])
        left += wide + gap
    return height


def fitted(points: Floats, width: float) -> Floats:
    """Scale a part to pixels, at most so wide; a long one is turned upright."""
    scaled = upright(points) * EDGE_PX if len(points) > 2 else points * EDGE_PX
    scaled = scaled - scaled.min(axis=0)
    scaled *= max(1.0, min(MIN_APART_PX / nearest(scaled), width / max(float(scaled[:, 0].max()), 1.0)))
    wide = float(scaled[:, 0].max())
    # Squeezed sideways only: labels are wide, so that height is what they lack.
    return np.asarray(scaled * [min(1.0, width / wide) if wide > 0 else 1.0, 1.0])


def nearest(points: Floats) -> float:
    """Return the smallest distance of two points, at least 1; infinity for a single point."""
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    return max(float(apart[~np.eye(len(points), dtype=bool)].min(initial=np.inf)), 1.0)


def upright(points: Floats) -> Floats:
    """Turn points so that they vary most from top to bottom; leave round clouds as they are."""
    centred = points - points.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred)
    if variances[1] < ELONGATED * variances[0]:
        return np.asarray(centred)
    across, along = axes[:, 0], axes[:, 1]
    return np.column_stack([centred @ signed(across), centred @ signed(along)])


def signed(axis: Floats) -> Floats:
    """Return an axis or its opposite, so that the larger coordinate is positive."""
    return np.asarray(axis * np.sign(axis[np.argmax(np.abs(axis) > np.abs(axis).max() - 1e-9)]))


def stress_layout(part: Sequence[int], near: Sequence[Sequence[int]]) -> Floats:
    """Place the nodes of a connected part so that distances follow the numbers of edges between them.

    Parameters
    ----------
    part : sequence of int
        The nodes.
    near : sequence of sequences of int
        Nodes that each node is joined with.

    Returns
    -------
    ndarray of shape (n_nodes, 2)
        Places; an edge has a length of about 1.
    """
    n = len(part)
    if n <= 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])[:n]
    place = {node: k for k, node in enumerate(part)}
    distance = np.zeros((n, n))
    for node in part:
        for other, steps in walk(near, node).items():
            distance[place[node], place[other]] = steps
    deep = [place[node] for node in deep_walk(near, part[0])]
    found = [majorized(on_circle(order), distance) for order in (list(range(n)), deep)]
    first, second = (stress(points, distance) for points in found)
    return found[int(second < (1 - 1e-6) * first)]


def deep_walk(near: Sequence[Sequence[int]], start: int) -> list[int]:
    """Return the nodes that can be reached from a node, each followed by a neighbour if one is left."""
    seen, waiting = dict[int, None](), [start]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen[node] = None
            waiting.extend(reversed(near[node]))
    return list(seen)


def on_circle(order: Sequence[int]) -> Floats:
    """Place points on a circle in some order."""
    n = len(order)
    angle = np.empty(n)
    angle[list(order)] = 2 * np.pi * np.arange(n) / n
    return np.column_stack([-np.cos(angle), np.sin(angle)]) * n / 6


def stress(points: Floats, distance: Floats) -> float:
    """Return the sum of the squared relative errors of the distances."""
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    is_pair = distance > 0
    return float((((apart - distance)[is_pair] / distance[is_pair]) ** 2).sum())


def majorized(points: Floats, distance: Floats) -> Floats:
    """Reduce the stress of a layout, with weights 1 / distance^2, by solving for the places again and again."""
    n = len(points)
    weight = np.divide(1.0, distance**2, out=np.zeros_like(distance), where=distance > 0)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    for _ in range(N_STEPS):
        apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
        pull = -weight * distance / np.maximum(apart, 1e-9)
        pull[np.diag_indices(n)] = 0.0
        pull[np.diag_indices(n)] = -pull.sum(axis=1)
        points = inverse @ (pull @ points)
    return points


# Labels


def place_labels(
    points: Floats, letters: Sequence[int], radii: Sequence[float], edges: Ends, width: float, height: float
) -> list[LabelPlace | None]:
    """Find a place for each label that covers no node and no other label; None if there is none.

    Of the free places, the one that covers the fewest edges is taken, then the nearest, away from the neighbours.
    """
    taken = [Box(x - r, y - r, x + r, y + r) for (x, y), r in zip(points.tolist(), radii, strict=True)]
    found: list[LabelPlace | None] = [None] * len(letters)
    near = neighbours(len(letters), edges)
    lines = np.array([[*points[i], *points[j]] for i, j in edges]).reshape(-1, 4)
    for node in sorted(range(len(letters)), key=lambda node: (-len(near[node]), node)):
        away = away_from(points, node, near[node])
        size = LETTER_PX * letters[node] + 6.0, LABEL_PX
        choices = [
            (cost + CROSSING_COST * crossings(place.box, lines), number, place)
            for number, (cost, place) in enumerate(places(points[node], radii[node], size, away))
            if is_free(place.box, taken, width, height)
        ]
        if choices and letters[node]:
            found[node] = place = min(choices, key=lambda choice: choice[:2])[2]
            taken.append(place.box)
    return found


def away_from(points: Floats, node: int, near: Sequence[int]) -> Floats:
    """Return the direction from the neighbours of a node to the node, of length 1, or 0 if there is none."""
    direction = points[node] - (points[list(near)].mean(axis=0) if near else points[node])
    length = float(np.hypot(*direction))
    return direction / length if length > 1e-9 else np.zeros(2)


def places(point: Floats, radius: float, size: tuple[float, float], away: Floats) -> Iterator[tuple[float, LabelPlace]]:
    """Yield places around a node with their costs: on eight sides, at some distances."""
    w, h = size
    for ring in RING_DISTANCES:
        gap = radius + LABEL_GAP_PX + ring
        for dx, dy in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)):
            slant = 0.7 if dx and dy else 1.0
            x = point[0] + dx * (slant * gap + w / 2)
            y = point[1] + dy * (slant * gap + h / 2)
            side = 1.0 - float(np.dot([dx, dy], away)) / float(np.hypot(dx, dy))
            place = LabelPlace(float(x), float(y), Box(x - w / 2, y - h / 2, x + w / 2, y + h / 2))
            yield AWAY_COST * ring + 0.5 * side, place


def is_free(box: Box, taken: Iterable[Box], width: float, height: float) -> bool:
    """Return True if a box is inside of the picture and covers none of the others."""
    inside = box.left >= 0 and box.right <= width and box.top >= 0 and box.bottom <= height
    return inside and not any(box.overlaps(other) for other in taken)


def crossings(box: Box, lines: NDArray[np.float64]) -> int:
    """Count the line segments that cross a box, by the separating axis theorem."""
    if not lines.size:
        return 0
    x1, y1, x2, y2 = lines.T
    apart = (np.maximum(x1, x2) < box.left) | (np.minimum(x1, x2) > box.right)
    apart |= (np.maximum(y1, y2) < box.top) | (np.minimum(y1, y2) > box.bottom)
    corners = [(x, y) for x in (box.left, box.right) for y in (box.top, box.bottom)]
    sides = np.array([(x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) for x, y in corners])
    apart |= (sides > 0).all(axis=0) | (sides < 0).all(axis=0)
    return int(np.count_nonzero(~apart))


def joined_nodes(sets: Iterable[Sequence[int]], n_nodes: int = 0) -> list[tuple[int, int]]:
    """Return the lines between nodes, each once.

    Parameters
    ----------
    sets : iterable of sequences of int
        Sets of two or three nodes.
    n_nodes : int, default=0
        Number of nodes, if each set of three has a node of its own, a hub, which is joined with its three nodes. Hubs
        have the numbers from ``n_nodes`` on. By default there are no hubs, and all nodes of a set are joined.

    Returns
    -------
    list of (int, int)
        Nodes that are joined, in ascending order.

    Examples
    --------
    >>> from ilfs.report.charts.network_layout import joined_nodes
    >>> joined_nodes([(0, 1), (1, 2, 3)]), joined_nodes([(0, 1), (1, 2, 3)], n_nodes=4)
    ([(0, 1), (1, 2), (1, 3), (2, 3)], [(0, 1), (1, 4), (2, 4), (3, 4)])
    """
    pairs, hub = set[tuple[int, int]](), n_nodes
    for one in sets:
        if n_nodes and len(one) == 3:
            pairs |= {(node, hub) for node in one}
            hub += 1
        else:
            pairs |= set(combinations(sorted(one), 2))
    return sorted(pairs)


def degrees(n_nodes: int, sets: Iterable[Sequence[int]]) -> Integers:
    """Return the number of sets that each node is in."""
    counts = np.zeros(n_nodes, dtype=np.int64)
    for one in sets:
        counts[list(one)] += 1
    return counts
