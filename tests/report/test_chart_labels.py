"""Names beside points that are close together."""

from itertools import combinations

import numpy as np
import pytest

from ilfs.report.charts import Series, scatter
from ilfs.report.charts.drawing import frame_of
from ilfs.report.charts.labels import place_labels

FRAME = frame_of((0.0, 1.0), (0.0, 1.0), "x", "y", size=(600, 400))


@pytest.mark.parametrize("seed", range(5))
def test_names_of_a_cluster_do_not_cover_each_other(seed):
    rng = np.random.default_rng(seed)
    points = [(300 + dx, 200 + dy) for dx, dy in rng.normal(0, 12, size=(8, 2)).tolist()]
    labels = place_labels([f"method_{k}" for k in range(8)], points, FRAME)
    assert not any(a.box.overlaps(b.box) for a, b in combinations(labels, 2))
    for label in labels:
        assert not any(label.box.left < x < label.box.right and label.box.top < y < label.box.bottom for x, y in points)


def test_a_name_stays_inside_the_chart():
    for x in (2.0, 598.0):
        (label,) = place_labels(["a long name"], [(x, 200.0)], FRAME)
        assert label.box.left >= 0
        assert label.box.right <= 600


def test_a_lonely_point_has_its_name_on_the_right():
    (label,) = place_labels(["fisher"], [(300.0, 200.0)], FRAME)
    assert label.box.left == pytest.approx(306.0)


def test_too_many_names_for_the_space_are_all_written():
    one = Series("", np.zeros(60), np.zeros(60), names=[f"name{k}" for k in range(60)])
    assert scatter([one], title="t", x_title="x", y_title="y", labelled=True).count('class="point"') == 60


def test_marks_of_a_series_have_its_classes():
    drawn = scatter(
        [Series("", [1.0], [1.0], names=["a"], kind="m faded")], title="t", x_title="x", y_title="y", labelled=True
    )
    assert 'class="dot s0 m faded"' in drawn
    assert 'class="point m faded"' in drawn
