"""Places for the names of points, so that they do not cover each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ilfs.report.charts.drawing import LETTER_PX, MAX_NAME_LETTERS, Frame
from ilfs.report.markup import shortened

LABEL_PX = 12.0  # height of a label
LABEL_GAP_PX = 6.0  # between a point and its label
N_RINGS = 4  # distances at which a place is looked for


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        """Return True if two rectangles have an area in common."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


@dataclass(frozen=True)
class Label:
    """Place of a label: its left end and its base line."""

    x: float
    y: float
    box: Box


def place_labels(names: Sequence[str], points: Sequence[tuple[float, float]], frame: Frame) -> list[Label]:
    """Find a place for the name of each point that covers no other point or name, near the point.

    Parameters
    ----------
    names : sequence of str
        The names; long ones count as shortened.
    points : sequence of (float, float)
        Pixels of the points. The labels of the first ones get the best places.
    frame : Frame
        The plot area, which labels do not leave to the left and right.

    Returns
    -------
    list of Label
        In the order of the names. If there is no free place for a label, it covers another.
    """
    taken = [Box(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    placed = []
    for name, (x, y) in zip(names, points, strict=True):
        width = LETTER_PX * len(shortened(name, MAX_NAME_LETTERS))
        choices = [one for one in places(x, y, width) if one.box.left >= 0 and one.box.right <= frame.width]
        free = (one for one in choices if not any(one.box.overlaps(other) for other in taken))
        chosen = next(free, choices[0] if choices else next(places(x, y, width)))
        placed.append(chosen)
        taken.append(chosen.box)
    return placed


def places(x: float, y: float, width: float) -> Iterator[Label]:
    """Yield places around a point: right, left, above and below, then the same farther away."""
    for ring in range(N_RINGS):
        away = ring * LABEL_PX
        for left, middle in (
            (x + LABEL_GAP_PX, y - away),
            (x - LABEL_GAP_PX - width, y - away),
            (x - width / 2, y - LABEL_GAP_PX - LABEL_PX / 2 - away),
            (x - width / 2, y + LABEL_GAP_PX + LABEL_PX / 2 + away),
            (x + LABEL_GAP_PX, y + away),
            (x - LABEL_GAP_PX - width, y + away),
        ):
            box = Box(left, middle - LABEL_PX / 2, left + width, middle + LABEL_PX / 2)
            yield Label(left, middle + LABEL_PX / 3, box)
