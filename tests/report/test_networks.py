"""Networks: places of nodes and labels by hand, by their definition, and without overlaps."""

import re

import numpy as np
import pytest

from ilfs.report.charts.labels import Box
from ilfs.report.charts.network_layout import (
    components,
    crossings,
    degrees,
    joined_nodes,
    lay_out,
    neighbours,
    stress,
    stress_layout,
    walk,
)
from ilfs.report.charts.networks import NetworkEdge, NetworkPlan, network_chart

WIDTH = 460.0


def random_sets(n_nodes, n_sets, seed):
    rng = np.random.default_rng(seed)
    return [tuple(sorted(rng.choice(n_nodes, rng.integers(2, 4), replace=False).tolist())) for _ in range(n_sets)]


NETWORKS = {
    "pairs": (40, [(2 * i, 2 * i + 1) for i in range(20)]),
    "star": (40, [(0, i) for i in range(1, 40)]),
    "path": (40, [(i, i + 1) for i in range(39)]),
    "cycle": (40, [(i, (i + 1) % 40) for i in range(40)]),
    "all": (20, [(i, j) for i in range(20) for j in range(i)]),
    "two stars": (40, [(0, i) for i in range(1, 20)] + [(20, i) for i in range(21, 40)]),
    **{f"random {seed}": (40, random_sets(40, 45, seed)) for seed in range(4)},
}


def boxes_of(layout, radii):
    nodes = [Box(x - r, y - r, x + r, y + r) for (x, y), r in zip(layout.points, radii, strict=True)]
    return nodes, [place.box for place in layout.labels]


@pytest.mark.parametrize("name", NETWORKS)
def test_40_labels_cover_no_other_label_and_no_node(name):
    n_nodes, sets = NETWORKS[name]
    radii = [6.0] * n_nodes
    layout = lay_out([15] * n_nodes, radii, joined_nodes(sets), WIDTH)
    assert None not in layout.labels
    nodes, labels = boxes_of(layout, radii)
    for k, box in enumerate(labels):
        assert 0 <= box.left < box.right <= WIDTH
        assert 0 <= box.top < box.bottom <= layout.height
        assert not any(box.overlaps(other) for other in labels[:k])
        assert not any(box.overlaps(other) for other in nodes)


@pytest.mark.parametrize("name", ["star", "random 1"])
def test_the_same_network_has_the_same_places(name):
    n_nodes, sets = NETWORKS[name]
    one, two = (lay_out([9] * n_nodes, [5.0] * n_nodes, joined_nodes(sets), WIDTH) for _ in range(2))
    np.testing.assert_array_equal(one.points, two.points)
    assert one.labels == two.labels


def test_no_two_nodes_stand_at_the_same_place():
    for n_nodes, sets in NETWORKS.values():
        points = lay_out([15] * n_nodes, [6.0] * n_nodes, joined_nodes(sets), WIDTH).points
        apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + 1e9 * np.eye(n_nodes)
        assert apart.min() > 5


def test_parts_are_the_connected_ones_largest_first():
    assert [sorted(part) for part in components(6, [(4, 5), (0, 1), (1, 2)])] == [[0, 1, 2], [4, 5], [3]]


def test_walks_count_edges():
    near = neighbours(5, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)])
    assert walk(near, 0) == {0: 0, 1: 1, 3: 1, 2: 2, 4: 2}


def test_a_path_a_triangle_and_a_square_are_drawn_as_such():
    path = stress_layout([0, 1, 2], neighbours(3, [(0, 1), (1, 2)]))
    lengths = [np.hypot(*(path[i] - path[j])) for i, j in ((0, 1), (1, 2), (0, 2))]
    np.testing.assert_allclose(lengths, [1, 1, 2], atol=0.02)
    triangle = stress_layout([0, 1, 2], neighbours(3, [(0, 1), (1, 2), (0, 2)]))
    np.testing.assert_allclose([np.hypot(*(triangle[i] - triangle[i - 1])) for i in range(3)], 1, atol=1e-6)
    square = stress_layout([0, 1, 2, 3], neighbours(4, [(0, 1), (1, 2), (2, 3), (3, 0)]))
    sides = [np.hypot(*(square[i] - square[i - 1])) for i in range(4)]
    np.testing.assert_allclose(sides, sides[0], rtol=1e-6)
    assert np.hypot(*(square[0] - square[2])) > 1.2 * sides[0]  # no sides cross


def test_majorization_reduces_the_stress_of_the_circle_it_starts_from():
    n_nodes, sets = NETWORKS["random 0"]
    near = neighbours(n_nodes, joined_nodes(sets))
    part = components(n_nodes, joined_nodes(sets))[0]
    distance = np.array([[walk(near, i)[j] for j in part] for i in part], dtype=float)
    angle = 2 * np.pi * np.arange(len(part)) / len(part)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * len(part) / 6
    assert stress(stress_layout(part, near), distance) < 0.5 * stress(circle, distance)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ((0, 5, 20, 5), 1),
        ((0, 0, 20, 20), 1),
        ((0, 0, 4, 20), 0),
        ((0, 14, 14, 0), 1),
        ((17, 0, 25, 10), 0),
        ((0, -20, 30, 5), 0),
    ],
)
def test_lines_through_a_box_are_counted(line, expected):
    assert crossings(Box(5, 0, 15, 10), np.array([line], dtype=float)) == expected


def test_the_chart_has_every_set_and_feature_with_tooltips():
    edges = [NetworkEdge((0, 1), 1.0, 1, True, "strong <pair>"), NetworkEdge((1, 2, 3), 0.0, 12, about="three")]
    drawn = network_chart(["a", "<b>", "c" * 50, "d"], edges, title="T", legend=[(1, "ill")], places=[7, 5, 3, 1])
    assert drawn.count('class="edge dashed s1"') == drawn.count('class="edge triple s2"') == 1
    assert drawn.count('class="hub s2"') == 1
    assert "strong &lt;pair&gt;" in drawn
    assert "<b>" not in drawn
    assert re.findall(r'data-place="(\d+)"', drawn) == ["7", "5", "3", "1"]
    ends = re.findall(r'<path class="edge[^>]*data-ends="([\d ]+)"', drawn)
    assert ends == ["1 2 3", "0 1"]  # the strongest is drawn last, on top
    assert [float(width) for width in re.findall(r'stroke-width="([\d.]+)"', drawn)] == [0.6, 5.0]


def test_a_triple_is_a_star_with_a_hub_in_the_middle():
    plan = NetworkPlan.of_network(["a", "b", "c", "d"], [NetworkEdge((0, 1, 2), 1.0), NetworkEdge((2, 3), 0.5)])
    assert plan.hubs == {(0, 1, 2): 4}
    assert len(plan.radii) == 4
    hub = plan.layout.points[4]
    assert plan.layout.labels[4] is None
    for line, end in zip(plan.lines(plan.edges[0]), (0, 1, 2), strict=True):
        np.testing.assert_array_equal(line, [hub, plan.layout.points[end]])
    (pair,) = plan.lines(plan.edges[1])
    np.testing.assert_array_equal(pair, plan.layout.points[[2, 3]])


def test_nodes_grow_with_their_sets():
    edges = [NetworkEdge((0, k), 0.5) for k in (1, 2, 3)]
    radii = NetworkPlan.of_network(["a", "b", "c", "d"], edges).radii
    assert radii[0] > radii[1] == radii[2] == radii[3]
    assert degrees(4, [(0, 1), (0, 2), (0, 3)]).tolist() == [3, 1, 1, 1]
