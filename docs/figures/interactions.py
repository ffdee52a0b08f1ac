"""Draw the graph of interacting features of MADELON, and two orders of them.

``python docs/figures/interactions.py`` draws the picture of docs/interactions.md again, from the data set MADELON in
the folder that ILFS_DATA names.
"""

from math import cos, pi, sin
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from ilfs import ILFS
from ilfs.datasets import load
from ilfs.interactions import find_interactions
from ilfs.solvers.paths import path_scores

HERE = Path(__file__).parent
N_SHOWN, SAME_FAMILY, DAMPING = 20, 0.7, 0.9  # features, least mean |correlation| within a family, of the path sums
RADIUS, CENTRE_X, CENTRE_Y = 130, 170, 178
LEFT, STEP, LINES = 372, 17.5, (92, 218)
WIDTH, HEIGHT = 740, 350
TEXT, RULE, NOISE = "#7d8188", "#9aa0a8", "#c9cdd2"  # greys that can be read on white and on black
COLOURS = ("#3b6ea5", "#c8553d", "#5a9367", "#8a5fa8", "#d39b2f", "#3a9ea5", "#b0577f", "#7a7f3a", "#8c6d5a")


def main():
    data = load("madelon")
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    graph = find_interactions(X, y).adjacency()
    by_paths = np.argsort(-path_scores(graph, DAMPING), kind="stable")[:N_SHOWN]
    picked = ILFS(N_SHOWN, interactions=2).fit(X, y).order_[:N_SHOWN]
    path = HERE / "interactions.svg"
    path.write_text(picture(graph.toarray(), families(X, by_paths), by_paths, picked), encoding="utf-8")
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def families(X, nodes):
    """Return the family of each node: groups of features with a high mean correlation."""
    distance = 1 - np.abs(np.corrcoef(X[:, nodes].T))
    np.fill_diagonal(distance, 0)
    number = fcluster(linkage(squareform(distance, checks=False), "average"), 1 - SAME_FAMILY, "distance")
    first = {one: place for place, one in enumerate(dict.fromkeys(number.tolist()))}
    return {int(node): first[one] for node, one in zip(nodes, number.tolist(), strict=True)}


def picture(graph, family, by_paths, picked):
    """Return the picture as the text of an SVG file."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="sans-serif" font-size="12" text-anchor="middle" fill="{TEXT}">',
            "<title>The graph of interacting features of MADELON, and two orders of its features</title>",
            *network(graph, family),
            *order(LINES[0], "order by path sums", by_paths, family),
            *order(LINES[1], "order of ILFS(interactions=2)", picked, family),
            "</svg>\n",
        ]
    )


def network(graph, family):
    """Yield edges and nodes; the nodes are on a circle, by family."""
    yield words(CENTRE_X, 16, "significant pairs (lines) of features (dots)")
    nodes = sorted(family, key=lambda node: (family[node], node))
    angle = {node: 2 * pi * place / len(nodes) - pi / 2 for place, node in enumerate(nodes)}
    where = {node: (CENTRE_X + RADIUS * cos(a), CENTRE_Y + RADIUS * sin(a)) for node, a in angle.items()}
    largest = graph.max()
    for i, first in enumerate(nodes):
        for second in nodes[i + 1 :]:
            if graph[first, second] > 0:
                yield line(*where[first], *where[second], 0.5 + 3 * graph[first, second] / largest)
    for node in nodes:
        yield dot(*where[node], 7, colour(node, family))
        x, y = CENTRE_X + (RADIUS + 19) * cos(angle[node]), CENTRE_Y + (RADIUS + 19) * sin(angle[node])
        yield words(x, y + 4, str(node))


def order(y, title, columns, family):
    """Yield the features in an order, with the number of families among the first five."""
    kinds = {family[int(node)] for node in columns[:5] if int(node) in family}
    yield f'<text x="{LEFT - 8}" y="{y - 30}" text-anchor="start">{title}</text>'
    for place, node in enumerate(columns.tolist()):
        x = LEFT + place * STEP
        yield dot(x, y, 7, colour(node, family))
        yield f'<text x="{x:g}" y="{y + 30}" transform="rotate(-90 {x:g} {y + 26})" font-size="11">{node}</text>'
    end = LEFT + 4 * STEP + 8
    yield line(LEFT - 8, y + 48, end, y + 48, 1.5)
    yield f'<text x="{LEFT - 8}" y="{y + 64}" text-anchor="start">{len(kinds)} families among the first five</text>'


def colour(node, family):
    return COLOURS[family[node] % len(COLOURS)] if node in family else NOISE


def dot(x, y, radius, fill):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}"/>'


def line(x1, y1, x2, y2, width):
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{RULE}" stroke-width="{width:.2f}" stroke-opacity="0.6"/>'


def words(x, y, text):
    return f'<text x="{x:.1f}" y="{y:.1f}">{text}</text>'


if __name__ == "__main__":
    main()
