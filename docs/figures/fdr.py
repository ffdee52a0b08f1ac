"""Draw the realised false discovery rates with their confidence intervals, from docs/findings/fdr.csv.

``python docs/figures/fdr.py`` draws the picture of docs/certainty.md again; ``make bench-fdr`` measures the rates.
"""

import csv
from pathlib import Path

HERE = Path(__file__).parent
RATES = HERE.parent / "findings/fdr.csv"
LEVELS = ("0.05", "0.1")
METHODS = {
    "ilfs": ("ILFS", "#ff9d1c"),
    "fisher": ("FisherScore", "#5c86ae"),
    "mi": ("MutualInformation", "#4fa37a"),
    "f_classif": ("SelectFdr(f_classif)", "#a08cc8"),
}
DESIGNS = ("independent", "block-correlated", "unbalanced", "log-normal", "heavy-tailed", "counts", "sparse counts")
SHAPE = ("100", "1000")  # samples and features

LEFT, PANEL, GAP, TOP = 120, 260, 40, 34
STEP, ROW = 11, 62  # between methods, and between designs
LARGEST = 0.16  # of the axis
TEXT = "#7d8188"  # a grey that can be read on white and on black
WIDTH = LEFT + len(LEVELS) * PANEL + (len(LEVELS) - 1) * GAP + 20
HEIGHT = TOP + ROW * len(DESIGNS) + 62


def main():
    path = HERE / "fdr.svg"
    path.write_text(picture(), encoding="utf-8")
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def picture():
    """Return the picture as the text of an SVG file, from the measured rates."""
    with RATES.open() as file:
        rows = {(row["design"], row["method"]): row for row in csv.DictReader(file) if is_shown(row)}
    return drawn(rows)


def is_shown(row):
    return (row["samples"], row["features"]) == SHAPE and row["true"] != "0"


def drawn(rows):
    """Return the picture as the text of an SVG file."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="sans-serif" font-size="13" fill="{TEXT}">',
            *(text(LEFT - 14, middle(i) + 4, design, "end") for i, design in enumerate(DESIGNS)),
            *(line for i, level in enumerate(LEVELS) for line in panel(rows, level, LEFT + i * (PANEL + GAP))),
            *legend(),
            "</svg>\n",
        ]
    )


def panel(rows, level, left):
    """Yield the rates at one level: a dot and an interval for each design and method, and a line at the level."""
    bottom = TOP + ROW * len(DESIGNS)
    yield text(left + PANEL / 2, 18, f"realised rate at level {level}")
    for tick in (0.0, 0.05, 0.1, 0.15):
        yield rule(left + place(tick), TOP, left + place(tick), bottom, TEXT, 0.3)
        yield text(left + place(tick), bottom + 16, f"{tick:g}")
    yield rule(left + place(float(level)), TOP, left + place(float(level)), bottom, "#d1495b", 1.6)
    for i, design in enumerate(DESIGNS):
        for k, (method, (_, colour)) in enumerate(METHODS.items()):
            if (design, method) in rows:
                yield from mark(rows[design, method], level, left, middle(i) + STEP * (k - 1.5), colour)


def mark(row, level, left, height, colour):
    """Yield an interval and a dot."""
    rate, half = float(row[f"fdr_{level}"]), float(row[f"half_{level}"])
    low, high = max(rate - half, 0.0), min(rate + half, LARGEST)
    yield rule(left + place(low), height, left + place(high), height, colour, 2)
    yield f'<circle cx="{left + place(rate):.1f}" cy="{height:.1f}" r="3.6" fill="{colour}"/>'


def legend():
    """Yield the names of the methods below the panels."""
    for k, (title, colour) in enumerate(METHODS.values()):
        x = LEFT + 145 * k
        yield f'<circle cx="{x}" cy="{HEIGHT - 14}" r="4.5" fill="{colour}"/>'
        yield text(x + 10, HEIGHT - 10, title, "start")


def middle(i):
    return TOP + ROW * (i + 0.5)


def place(rate):
    return PANEL * rate / LARGEST


def text(x, y, words, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def rule(x1, y1, x2, y2, colour, width):
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


if __name__ == "__main__":
    main()
