"""Draw the ten best features of a ranking: effect, q-value, and the nearest better feature.

``python docs/figures/reading.py`` draws the picture of docs/reading.md again, from the breast cancer data that
scikit-learn has. The selector is that of the page.
"""

from pathlib import Path

from sklearn.datasets import load_breast_cancer

from ilfs import ILFS

HERE = Path(__file__).parent
N_SHOWN = 10
COLUMNS = ("rank", "feature", "effect", "direction", "q_value", "nearest", "correlation")

ROW, TOP, BOTTOM = 24, 62, 10
RANK, NAME, BAR, Q_VALUE, NEAREST, CORRELATION = 22, 32, 188, 464, 488, 720  # positions of the columns
BAR_WIDTH = 180  # of the largest effect
WIDTH, HEIGHT = 730, TOP + N_SHOWN * ROW + BOTTOM
TEXT, GRID = "#7d8188", "#c9cdd3"  # greys that can be read on white and on black
COLOURS = {"malignant": "#c8553d", "benign": "#3b6ea5"}


def main():
    path = HERE / "reading.svg"
    path.write_text(picture(best_features()), encoding="utf-8")
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def best_features():
    """Return the table of the features that the picture shows."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    kind = y.map({0: "malignant", 1: "benign"})
    return ILFS(n_features_to_select=5, n_permutations=99).fit(X, kind).table(N_SHOWN)


def picture(table):
    """Return the picture as the text of an SVG file."""
    scale = BAR_WIDTH / abs(table["effect"]).max()
    rows = zip(*(table[name] for name in COLUMNS), strict=True)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="sans-serif" font-size="13" fill="{TEXT}">',
            f"<title>The {N_SHOWN} best features: effect, q-value and nearest better feature</title>",
            *legend(),
            *header(),
            *(part for i, row in enumerate(rows) for part in feature(TOP + (i + 0.5) * ROW, scale, *row)),
            "</svg>\n",
        ]
    )


def legend():
    """Yield the colour of each direction."""
    for x, (label, colour) in zip((BAR, BAR + 160), COLOURS.items(), strict=True):
        yield box(x, 14, 12, 10, colour)
        yield words(x + 18, 14, f"higher in {label}")


def header():
    """Yield the names of the columns, and a line below them."""
    y = TOP - 18
    yield words(NAME, y, "feature", size=12)
    yield words(BAR, y, "effect (standard deviations)", size=12)
    yield words(Q_VALUE, y, "q-value", "end", size=12)
    yield words(NEAREST, y, "nearest better feature", size=12)
    yield words(CORRELATION, y, "correlation", "end", size=12)
    yield f'<line x1="0" y1="{TOP - 4}" x2="{WIDTH}" y2="{TOP - 4}" stroke="{GRID}"/>'


def feature(y, scale, rank, name, effect, direction, q_value, nearest, correlation):
    """Yield the row of a feature, centred at height y."""
    width = scale * abs(effect)
    yield words(RANK, y, rank, "end")
    yield words(NAME, y, name)
    yield box(BAR, y, width, 14, COLOURS[direction.removeprefix("higher in ")])
    yield words(BAR + width + 6, y, f"{abs(effect):.2f}", size=12)
    yield words(Q_VALUE, y, f"{q_value:.2g}", "end", size=12)
    if nearest:
        yield words(NEAREST, y, nearest, size=12)
        yield words(CORRELATION, y, f"{correlation:.2f}", "end", size=12)


def box(x, y, width, height, colour):
    return f'<rect x="{x}" y="{y - height / 2:g}" width="{width:.1f}" height="{height}" fill="{colour}"/>'


def words(x, y, text, anchor="start", size=13):
    return f'<text x="{x:.1f}" y="{y + 4.5:g}" text-anchor="{anchor}" font-size="{size}">{text}</text>'


if __name__ == "__main__":
    main()
