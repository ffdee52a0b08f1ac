"""Draw the picked pixels on an image: features scored on their own, picked by novelty, picked by gain.

``python docs/figures/pixels.py`` draws the pictures of docs/redundancy.md again, from the images in the folder that
ILFS_DATA names. The pictures are in the repository, because the images are not.
"""

from pathlib import Path

import numpy as np

from ilfs import ILFS
from ilfs.datasets import load

HERE = Path(__file__).parent
SIDES = {"usps": 16, "coil20": 32}
WAYS = (None, "novelty", "gain")
FIRST, ALL = 10, 50  # number of picks with large dots, and of all picks

PANEL, GAP, LINE, MARGIN = 216, 24, 24, 6
CLASSES, SMALL = 10, 58.5  # number of classes shown in the top row, and the side of their images
WIDTH = len(WAYS) * PANEL + (len(WAYS) - 1) * GAP
SHADES = ("#131d29", "#1b2a3a", "#24384d", "#2f4862", "#3b5a79", "#4a6f93", "#5c86ae", "#719ec9")
TEXT = "#7d8188"  # a grey that can be read on white and on black
LARGE_DOT, SMALL_DOT = (5.6, "#ff9d1c"), (3.4, "#ffdf9e")


def main():
    for name, side in SIDES.items():
        table = load(name)
        path = HERE / f"pixels_{name}.svg"
        path.write_text(drawn(table.X, table.y, side), encoding="utf-8")
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def drawn(X, y, side):
    """Return the picture as the text of an SVG file."""
    top = SMALL + LINE / 2
    bottom = top + PANEL + 3 * LINE
    width, height = WIDTH + 2 * MARGIN, bottom + MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-MARGIN} 0 {width} {height:g}" width="{width}" '
            f'height="{height:g}" font-family="sans-serif" font-size="13" text-anchor="middle" fill="{TEXT}">',
            f'<defs><g id="mean" shape-rendering="crispEdges">{image(X.mean(axis=0), side)}</g></defs>',
            *class_images(X, y, side),
            *panels(X, y, side, top),
            legend(bottom),
            "</svg>\n",
        ]
    )


def class_images(X, y, side):
    """Yield a row of mean images, one for each class."""
    classes = np.unique(y)[:CLASSES]
    step = (WIDTH - SMALL) / (CLASSES - 1)
    for k, label in enumerate(classes):
        where = f'transform="translate({k * step:g} 0) scale({SMALL / side:g})"'
        yield f'<g {where} shape-rendering="crispEdges">{image(X[y == label].mean(axis=0), side)}</g>'


def panels(X, y, side, top):
    """Yield the panels: the picks with each value of redundancy, on the mean of all images."""
    squares = np.corrcoef(X, rowvar=False) ** 2
    for k, redundancy in enumerate(WAYS):
        picks = ILFS(redundancy=redundancy).fit(X, y).order_[:ALL]
        yield f'<g transform="translate({k * (PANEL + GAP)} {top:g})">'
        yield text(PANEL / 2, 0.7 * LINE, f"redundancy={redundancy!r}".replace("'", '"'), ' font-weight="bold"')
        yield f'<g transform="translate(0 {LINE})"><use href="#mean" transform="scale({PANEL / side:g})"/>'
        yield from dots(picks, side)
        yield "</g>"
        yield text(PANEL / 2, PANEL + 1.8 * LINE, f"{repeated(picks, squares):.0%} repeated")
        yield "</g>"


def repeated(picks, squares):
    """Compute the mean fraction of the variance of a pick that the nearest earlier pick explains."""
    return np.mean([squares[pick, picks[:k]].max() for k, pick in enumerate(picks) if k])


def place(pixel, side):
    """Return column and row of a pixel; both data sets store their images column by column."""
    return divmod(int(pixel), side)


def image(values, side):
    """Draw an image in a few shades: one path for each shade, one rectangle for each vertical run of equal pixels."""
    shade = np.minimum((values - values.min()) / np.ptp(values) * len(SHADES), len(SHADES) - 1).astype(int)
    rectangles = dict.fromkeys(SHADES, "")
    start = 0
    for pixel in range(side * side):
        if (pixel + 1) % side == 0 or shade[pixel + 1] != shade[pixel]:
            column, row = place(start, side)
            rectangles[SHADES[shade[pixel]]] += f"M{column} {row}h1v{pixel + 1 - start}h-1z"
            start = pixel + 1
    return "".join(f'<path fill="{colour}" d="{some}"/>' for colour, some in rectangles.items() if some)


def dots(picks, side):
    """Yield dots on the picked pixels, the first picks on top."""
    width = PANEL / side  # of a pixel
    for k, pixel in reversed(list(enumerate(picks))):
        column, row = place(pixel, side)
        yield dot((column + 0.5) * width, (row + 0.5) * width, LARGE_DOT if k < FIRST else SMALL_DOT)


def legend(y):
    """Explain the two kinds of dots, below the middle panel."""
    left, right = WIDTH / 2 - 50, WIDTH / 2 + 62
    return (
        dot(left - 62, y - 4.5, LARGE_DOT)
        + text(left, y, f"the first {FIRST} picks")
        + dot(right - 42, y - 4.5, SMALL_DOT)
        + text(right, y, f"the next {ALL - FIRST}")
    )


def dot(x, y, kind):
    radius, colour = kind
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" fill="{colour}" stroke="#131d29" stroke-width="0.6"/>'


def text(x, y, words, more=""):
    return f'<text x="{x:g}" y="{y:g}"{more}>{words}</text>'


if __name__ == "__main__":
    main()
