"""Draw the topic model: (a) topics between features and tokens, (b) the same as a graphical model with plates.

``python docs/figures/plate.py`` draws the picture of docs/ilfs.md again, after the paper's Fig. 1.
"""

from pathlib import Path

HERE = Path(__file__).parent
WIDTH, HEIGHT = 680, 292
RADIUS = 19
TEXT, LINE = "#7d8188", "#9aa0a8"  # greys that can be read on white and on black
RELEVANT, IRRELEVANT = "#c8553d", "#3b6ea5"
OBSERVED = "#c9cdd3"
N_TOKENS = 6

FEATURE_Y, TOPIC_Y, TOKEN_Y = 48, 140, 232
FEATURES = ((62, "1"), (136, "2"), (284, "n"))
TOPICS = ((118, "1", "relevancy", RELEVANT), (228, "2", "irrelevancy", IRRELEVANT))
TOKENS = tuple((28 + 58 * k, str(k + 1)) for k in range(N_TOKENS))
PLATE_Y = 150
PLATE_X = {"f": 436, "z": 528, "t": 620}


def main():
    path = HERE / "plate.svg"
    path.write_text(picture(), encoding="utf-8")
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def picture():
    """Return the picture as the text of an SVG file."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}" font-family="sans-serif" font-size="13" text-anchor="middle" fill="{TEXT}">',
            "<title>Topics between features and tokens, and the graphical model with plates</title>",
            "<defs>",
            f'<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            f'<path d="M0 1 L7 4 L0 7 Z" fill="{LINE}"/></marker>',
            "</defs>",
            *layers(),
            *plates(),
            "</svg>\n",
        ]
    )


def layers():
    """Yield the features, the two topics and the tokens, each linked with the next."""
    for x, _ in FEATURES:
        for topic_x, *_ in TOPICS:
            yield edge(x, FEATURE_Y, topic_x, TOPIC_Y)
    for topic_x, _, _, colour in TOPICS:
        for k, (x, _) in enumerate(TOKENS):
            large = k + 1 if colour == RELEVANT else N_TOKENS - k  # the start: two opposite ramps
            yield edge(topic_x, TOPIC_Y, x, TOKEN_Y, colour, 0.5 + 0.45 * large)
    for x, index in FEATURES:
        yield circle(x, FEATURE_Y, "f", index, OBSERVED)
    yield words((FEATURES[1][0] + FEATURES[2][0]) / 2, FEATURE_Y + 4, "...")
    for x, index, _, colour in TOPICS:
        yield circle(x, TOPIC_Y, "z", index, "none", colour)
    yield words(TOPICS[0][0] - RADIUS - 6, TOPIC_Y + 4, TOPICS[0][2], anchor="end")
    yield words(TOPICS[1][0] + RADIUS + 6, TOPIC_Y + 4, TOPICS[1][2], anchor="start")
    for x, index in TOKENS:
        yield circle(x, TOKEN_Y, "t", index, OBSERVED)
    yield words(FEATURES[-1][0] + RADIUS + 8, FEATURE_Y + 4, "features", anchor="start")
    yield words(TOKENS[-1][0] + RADIUS + 8, TOKEN_Y + 4, "tokens", anchor="start")
    yield words(312, (FEATURE_Y + TOPIC_Y) / 2 + 4, conditional("z", "f"), anchor="start")
    yield words(336, (TOPIC_Y + TOKEN_Y) / 2 + 4, conditional("t", "z"), anchor="start")
    yield words(173, HEIGHT - 8, "(a)")


def plates():
    """Yield the graphical model: a topic and a token for each of m samples, in each of n features."""
    yield plate(404, 66, 268, 176, "n features")
    yield plate(492, 96, 168, 112, "m samples")
    yield edge(PLATE_X["f"], PLATE_Y, PLATE_X["z"], PLATE_Y, tip=True)
    yield edge(PLATE_X["z"], PLATE_Y, PLATE_X["t"], PLATE_Y, tip=True)
    yield circle(PLATE_X["f"], PLATE_Y, "f", "", OBSERVED)
    yield circle(PLATE_X["z"], PLATE_Y, "z", "", "none")
    yield circle(PLATE_X["t"], PLATE_Y, "t", "", OBSERVED)
    yield words(538, HEIGHT - 8, "(b)")


def edge(x1, y1, x2, y2, colour=LINE, width=1.1, *, tip=False):
    """Draw a line between the rims of two circles."""
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    dx, dy = (x2 - x1) / length * RADIUS, (y2 - y1) / length * RADIUS
    mark = ' marker-end="url(#tip)"' if tip else ""
    ends = f'x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 - dx:.1f}" y2="{y2 - dy:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width:g}" stroke-opacity="0.8"{mark}/>'


def circle(x, y, letter, index, fill, stroke=LINE):
    """Draw a variable; observed ones are filled."""
    colour = "#24292f" if fill != "none" else stroke if stroke != LINE else TEXT
    below = f'<tspan dy="4" font-size="10" font-style="normal">{index}</tspan>' if index else ""
    return (
        f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="{fill}" stroke="{stroke}" stroke-width="1.6"/>'
        f'<text x="{x}" y="{y + 5}" font-size="15" font-style="italic" fill="{colour}">{letter}{below}</text>'
    )


def plate(x, y, width, height, name):
    """Draw a plate with its name in the lower right corner."""
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="9" fill="none" stroke="{LINE}" '
        f'stroke-width="1.4"/>' + words(x + width - 9, y + height - 9, name, anchor="end")
    )


def conditional(variable, given):
    """Return the text of a conditional probability, with variables in italics."""
    P, a, b = (f'<tspan font-style="italic">{letter}</tspan>' for letter in ("P", variable, given))
    return f"{P}({a} | {b})"


def words(x, y, text, anchor="middle"):
    """Write text."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{text}</text>'


if __name__ == "__main__":
    main()
