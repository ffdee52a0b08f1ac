"""Draw how often features are chosen on half-samples, and the intervals of their ranks.

``python docs/figures/stability.py`` draws the picture of docs/stability.md again, from the data set LEUKEMIA in the
folder that ILFS_DATA names.
"""

from pathlib import Path

import numpy as np

from ilfs import ILFS
from ilfs.datasets import load
from ilfs.selection import stability

HERE = Path(__file__).parent
N_SHOWN, K, THRESHOLD = 15, 20, 0.75
LINE, TOP, BOTTOM = 20, 44, 46
NAMES, BARS, GAP, RANKS = 84, 250, 46, 250
WIDTH, HEIGHT = NAMES + BARS + GAP + RANKS + 20, TOP + N_SHOWN * LINE + BOTTOM
LARGEST_RANK = 2000
TEXT, RULE = "#7d8188", "#9aa0a8"  # greys that can be read on white and on black
CHOSEN, FAMILY = "#3b6ea5", "#c8553d"


def main():
    data = load("leukemia")
    path = HERE / "stability.svg"
    path.write_text(picture(stability(ILFS(), data.X, data.y, k=K)), encoding="utf-8")
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def picture(result):
    """Return the picture as the text of an SVG file."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="sans-serif" font-size="12" text-anchor="middle" fill="{TEXT}">',
            "<title>How often genes are chosen on half-samples of LEUKEMIA, and the intervals of their ranks</title>",
            *frequency_axis(),
            *rank_axis(),
            *features(result.table(N_SHOWN)),
            "</svg>\n",
        ]
    )


def frequency_axis():
    """Yield title, ticks and threshold of the frequencies."""
    yield words(NAMES + BARS / 2, 16, "chosen (bar), family (ring), % of half-samples")
    for percent in (0, 25, 50, 75, 100):
        x = frequency_x(percent / 100)
        dash = ' stroke-dasharray="4 3"' if percent == 100 * THRESHOLD else ""
        yield rule(x, TOP - 10, x, HEIGHT - BOTTOM + 4, RULE, 0.6, dash)
        yield words(x, HEIGHT - BOTTOM + 20, str(percent))


def rank_axis():
    """Yield title and ticks of the ranks."""
    yield words(rank_x(1) + RANKS / 2, 16, "rank: median, and 5 % to 95 % of half-samples")
    for rank in (1, 5, 20, 100, 500, 2000):
        yield rule(rank_x(rank), TOP - 10, rank_x(rank), HEIGHT - BOTTOM + 4, RULE, 0.6)
        yield words(rank_x(rank), HEIGHT - BOTTOM + 20, str(rank))


def features(table):
    """Yield a line for each feature."""
    columns = (table[name] for name in ("feature", "selection_frequency", "family_frequency"))
    ranks = (table[name] for name in ("rank_low", "rank_median", "rank_high"))
    for i, (name, often, family, low, median, high) in enumerate(zip(*columns, *ranks, strict=True)):
        y = TOP + (i + 0.5) * LINE
        yield f'<text x="{NAMES - 8}" y="{y + 4:g}" text-anchor="end">{name}</text>'
        x = frequency_x(often)
        yield f'<rect x="{NAMES}" y="{y - 5:g}" width="{x - NAMES:.1f}" height="10" fill="{CHOSEN}"/>'
        ring = f'r="4.5" fill="none" stroke="{FAMILY}" stroke-width="2"'
        yield f'<circle cx="{frequency_x(family):.1f}" cy="{y:g}" {ring}/>'
        yield rule(rank_x(low), y, rank_x(high), y, CHOSEN, 3)
        yield f'<circle cx="{rank_x(median):.1f}" cy="{y:g}" r="4" fill="{CHOSEN}"/>'


def frequency_x(fraction):
    return NAMES + BARS * fraction


def rank_x(rank):
    return NAMES + BARS + GAP + RANKS * np.log(min(rank, LARGEST_RANK)) / np.log(LARGEST_RANK)


def rule(x1, y1, x2, y2, colour, width, more=""):
    place = f'x1="{x1:.1f}" y1="{y1:g}" x2="{x2:.1f}" y2="{y2:g}"'
    return f'<line {place} stroke="{colour}" stroke-width="{width}"{more}/>'


def words(x, y, text):
    return f'<text x="{x:.1f}" y="{y:g}">{text}</text>'


if __name__ == "__main__":
    main()
