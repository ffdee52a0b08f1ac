"""Draw the dot plot of docs/howto/single_cell.md: mean and fraction of expressing cells of the genes of a panel.

``python docs/figures/single_cell.py`` draws it again, from the simulated cells of the page.
"""

from pathlib import Path

import numpy as np

import ilfs
from ilfs.datasets import make_cells

HERE = Path(__file__).parent
N_PER_GROUP = 3
STEP, LEFT, TOP = 30, 118, 58  # distance of two dots, and space for the names
LARGEST = 11  # radius of a dot of which all cells express the gene
TEXT, GRID = "#7d8188", "#c9cdd3"  # greys that can be read on white and on black
LIGHT, DARK = np.array([226, 232, 240]), np.array([20, 82, 148])


def main():
    adata = make_cells()
    ilfs.omics.rank(adata, "cell_type", donor_key="donor")
    panel = ilfs.omics.panel(adata, N_PER_GROUP)
    path = HERE / "single_cell.svg"
    path.write_text(picture(adata, panel), encoding="utf-8")
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def picture(adata, panel):
    """Return the picture as the text of an SVG file."""
    genes, kind = panel["names"].tolist(), np.asarray(adata.obs["cell_type"])
    groups = list(ilfs.omics.panel_names(panel))
    X = adata[:, genes].X.toarray()
    means = np.array([X[kind == group].mean(axis=0) for group in groups])
    fractions = np.array([(X[kind == group] > 0).mean(axis=0) for group in groups])
    width, height = LEFT + STEP * len(genes) + 92, TOP + STEP * len(groups) + 44
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" font-family="sans-serif" font-size="12" fill="{TEXT}">',
            "<title>Dot plot of the panel: five groups of cells, three genes for each</title>",
            *brackets(panel),
            *names(genes, groups),
            *dots(means / means.max(axis=0), fractions),
            *legend(width - 80, height),
            "</svg>\n",
        ]
    )


def brackets(panel):
    """Yield a line over the genes of each group, with its name."""
    start = 0
    for group, genes in ilfs.omics.panel_names(panel).items():
        left, right = column(start) - LARGEST, column(start + len(genes) - 1) + LARGEST
        yield f'<path d="M{left},28V22H{right}V28" fill="none" stroke="{GRID}"/>'
        yield f'<text x="{(left + right) / 2}" y="15" text-anchor="middle">{group}</text>'
        start += len(genes)


def names(genes, groups):
    """Yield the names of the groups at the left and of the genes at the bottom."""
    for i, group in enumerate(groups):
        yield f'<text x="{LEFT - 22}" y="{row(i) + 4}" text-anchor="end">{group}</text>'
    bottom = row(len(groups) - 1) + 24
    for j, gene in enumerate(genes):
        yield f'<text transform="translate({column(j) + 4},{bottom})rotate(-90)" text-anchor="end">{gene}</text>'


def dots(shades, fractions):
    """Yield a dot for each group and gene."""
    for i, j in np.ndindex(shades.shape):
        red, green, blue = (LIGHT + shades[i, j] * (DARK - LIGHT)).astype(int)
        radius = LARGEST * np.sqrt(fractions[i, j])
        yield (
            f'<circle cx="{column(j)}" cy="{row(i)}" r="{radius:.1f}" fill="rgb({red},{green},{blue})" '
            f'stroke="{GRID}" stroke-width="0.5"/>'
        )


def legend(x, height):
    """Yield the meaning of the sizes and colours."""
    yield f'<text x="{x}" y="{TOP - 16}">expressing</text>'
    for i, fraction in enumerate((0.2, 0.5, 0.8)):
        y = TOP + 6 + 26 * i
        yield f'<circle cx="{x + 12}" cy="{y}" r="{LARGEST * fraction**0.5:.1f}" fill="{GRID}"/>'
        yield f'<text x="{x + 30}" y="{y + 4}">{fraction:.0%}</text>'
    yield f'<text x="{x}" y="{height - 70}">mean, of the</text><text x="{x}" y="{height - 55}">largest</text>'
    for i in range(5):
        red, green, blue = (LIGHT + i / 4 * (DARK - LIGHT)).astype(int)
        yield f'<rect x="{x + 14 * i}" y="{height - 46}" width="14" height="10" fill="rgb({red},{green},{blue})"/>'
    yield f'<text x="{x}" y="{height - 22}">0</text><text x="{x + 70}" y="{height - 22}" text-anchor="end">1</text>'


def column(j):
    return LEFT + STEP * j


def row(i):
    return TOP + STEP * i


if __name__ == "__main__":
    main()
