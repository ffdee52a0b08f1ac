"""Draw performance against number of features, with error bars, and the sizes that the rules choose.

``python docs/figures/sizes.py`` draws the picture of docs/selection.md again, from the breast cancer data that
scikit-learn has. To its 30 columns, nine shuffled copies of each are added.
"""

from math import log
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

from ilfs import ILFS
from ilfs.selection import SizeCV

HERE = Path(__file__).parent
N_COPIES = 9
RULES = ("auto", "absorption", "fdr", None)
NAMES = {None: "None (half)"}

WIDTH, HEIGHT = 680, 330
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 58, 46
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 300)
TEXT, GRID = "#7d8188", "#c9cdd3"  # greys that can be read on white and on black
CURVE, RULE = "#3b6ea5", "#c8553d"


def main():
    X, y = table()
    search = SizeCV(ILFS()).fit(X, y)
    sizes = {rule: int(ILFS(rule).fit(X, y).get_support().sum()) for rule in RULES}
    path = HERE / "sizes.svg"
    path.write_text(drawn(search.cv_results_, sizes), encoding="utf-8")
    print(f"{path}: {sizes}")


def table():
    """Return the measured columns and shuffled copies of them, and the labels."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    return np.hstack([X, *(rng.permuted(X, axis=0) for _ in range(N_COPIES))]), y


def drawn(results, sizes):
    """Return the picture as the text of an SVG file."""
    n, mean, error = (results[name] for name in ("n_features", "mean_test_score", "std_error"))
    low, high = (mean - error).min(), (mean + error).max()
    levels = np.arange(np.floor(low * 50) / 50, high + 0.01, 0.02)

    def x(size):
        return LEFT + (WIDTH - LEFT - RIGHT) * log(size) / log(n[-1])

    def y(score):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (score - levels[0]) / (levels[-1] - levels[0])

    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="sans-serif" font-size="13" text-anchor="middle" fill="{TEXT}">',
            "<title>Accuracy against number of features, and the sizes that the rules choose</title>",
            *(line(LEFT, y(level), WIDTH - RIGHT, y(level), GRID, 0.5) for level in levels),
            *(words(LEFT - 8, y(level) + 4, f"{level:.2f}", "end") for level in levels),
            *(words(x(tick), HEIGHT - BOTTOM + 18, f"{tick}") for tick in TICKS if tick <= n[-1]),
            words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "number of features"),
            words(4, TOP - 14, "accuracy", "start"),
            *rule_lines(sizes, x),
            *(line(x(k), y(m - e), x(k), y(m + e), CURVE, 1.5) for k, m, e in zip(n, mean, error, strict=True)),
            polyline([(x(k), y(m)) for k, m in zip(n, mean, strict=True)]),
            *(
                f'<circle cx="{x(k):.1f}" cy="{y(m):.1f}" r="3.4" fill="{CURVE}"/>'
                for k, m in zip(n, mean, strict=True)
            ),
            "</svg>\n",
        ]
    )


def rule_lines(sizes, x):
    """Yield a vertical line for each rule, and its name and size above it."""
    for k, (rule, size) in enumerate(sizes.items()):
        height = TOP - 10 - 16 * (k % 2)  # names of neighbouring lines are not on the same level
        yield line(x(size), height + 5, x(size), HEIGHT - BOTTOM, RULE, 1.2, ' stroke-dasharray="4 3"')
        name = NAMES.get(rule, f'"{rule}"')
        yield words(x(size), height, f"{name}: {size}", colour=RULE)


def line(x1, y1, x2, y2, colour, width, more=""):
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"{more}/>'


def polyline(points):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{CURVE}" stroke-width="2"/>'


def words(x, y, text, anchor="middle", colour=TEXT):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{text}</text>'


if __name__ == "__main__":
    main()
