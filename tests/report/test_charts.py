"""Charts: places of points by hand, valid XML, and names that contain anything."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from ilfs.report.charts import Band, Series, bar_chart, column_chart, heat_map, line_chart, scatter, strip_plot
from ilfs.report.charts.axes import Axis, linear_ticks, log_ticks, span, tick_text

HOSTILE = "<script>alert('x')</script> & \"q\" \u202e\n\x00 " + "long " * 2000


def titled(name):
    return {"title": name, "x_title": name, "y_title": name}


DRAWN = {
    "line": lambda name: line_chart([Series(name, [1, 2], [3, 4], [2, 3], [4, 5])], **titled(name)),
    "scatter": lambda name: scatter([Series(name, [1, 2], [3, 4], names=[name, name])], labelled=True, **titled(name)),
    "bars": lambda name: bar_chart([name, "b"], [1, -2], title=name, x_title=name, low=[0, -3], high=[2, -1]),
    "columns": lambda name: column_chart([name, "b"], [(name, [1, 2]), ("c", [2, 1])], **titled(name)),
    "strips": lambda name: strip_plot([(name, [1.0, 2, np.nan]), ("empty", [])], title=name, x_title=name),
    "matrix": lambda name: heat_map([[1, np.nan], [0.2, -1]], [name, "b"], [name, "b"], title=name, decimals=1),
}


def parsed(svg):
    return ElementTree.fromstring(svg)


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_a_chart_is_valid_xml_with_a_title_and_shows_hostile_names_as_text(draw):
    root = parsed(draw(HOSTILE))
    assert root.find("title").text.startswith("<script>alert('x')</script>")
    assert not list(root.iter("script"))
    shown = [text for text in root.iter("text") if text.text and "<scr" in text.text]
    assert all(len(text.text) < 100 for text in shown)


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_a_chart_has_no_style_attribute_which_the_policy_of_a_page_forbids(draw):
    assert not re.search(r'\s(style|on\w+)="', draw("a"))


def test_points_are_where_the_axes_put_them():
    svg = scatter([Series("", [0.0, 10.0, 5.0], [0.0, 1.0, 0.5])], title="t", x_title="x", y_title="y")
    root = parsed(svg)
    x = [float(dot.get("cx")) for dot in root.iter("circle")]
    y = [float(dot.get("cy")) for dot in root.iter("circle")]
    assert x[2] == pytest.approx((x[0] + x[1]) / 2, abs=0.1)
    assert y[2] == pytest.approx((y[0] + y[1]) / 2, abs=0.1)
    assert x[0] < x[1]
    assert y[0] > y[1]  # larger values are higher


def test_a_logarithmic_axis_puts_factors_at_equal_distances():
    axis = Axis(1.0, 1000.0, 0.0, 300.0, is_log=True)
    assert [axis(value) for value in (1, 10, 100, 1000)] == pytest.approx([0, 100, 200, 300])


def test_a_line_is_broken_where_a_value_is_missing():
    svg = line_chart([Series("", [1, 2, 3, 4], [1, np.nan, 3, 4])], title="t", x_title="x", y_title="y")
    (path,) = [one.get("d") for one in parsed(svg).iter("path") if "line" in one.get("class")]
    assert path.count("M") == 2
    assert path.count("L") == 1


def test_values_that_a_logarithmic_axis_does_not_have_are_left_out():
    svg = line_chart([Series("", [0, 1, 10], [1, 2, 3])], title="t", x_title="x", y_title="y", log_x=True)
    assert len(list(parsed(svg).iter("circle"))) == 2


def test_a_marked_value_outside_of_the_data_is_inside_the_axis():
    root = parsed(line_chart([Series("", [1, 2], [3, 4])], title="t", x_title="x", y_title="y", mark_x=50))
    (mark,) = [path for path in root.iter("path") if path.get("class") == "mark"]
    start, end = map(float, root.get("data-x").split()[2:4])
    assert start < float(re.match(r"M([\d.]+) ", mark.get("d"))[1]) < end


def test_the_line_of_equal_values_is_left_out_if_no_value_is_on_both_axes():
    root = parsed(scatter([Series("", [0, 1], [5, 6])], title="t", x_title="x", y_title="y", diagonal=True))
    assert not [path for path in root.iter("path") if path.get("class") == "mark"]


def test_a_band_goes_along_its_upper_end_and_back_along_its_lower_end():
    band = Band("b", [1, 2], [0, 1], [2, 3])
    svg = line_chart([Series("a", [1, 2], [1, 2])], title="t", x_title="x", y_title="y", bands=[band])
    (polygon,) = parsed(svg).iter("polygon")
    points = [tuple(map(float, point.split(","))) for point in polygon.get("points").split()]
    assert [x for x, _ in points] == sorted(x for x, _ in points[:2]) + sorted((x for x, _ in points[2:]), reverse=True)
    assert points[1][1] < points[0][1] < points[3][1] or points[0][1] < points[3][1]


def test_bars_start_at_zero_and_negative_ones_go_to_the_left():
    bars = list(parsed(bar_chart(["a", "b"], [2.0, -1.0], title="t", x_title="x")).iter("rect"))
    right, left = bars
    assert float(left.get("x")) + float(left.get("width")) == pytest.approx(float(right.get("x")), abs=0.11)
    assert float(right.get("width")) == pytest.approx(2 * float(left.get("width")), rel=0.01)


def test_a_diverging_map_has_one_colour_for_each_sign_and_opacity_for_the_size():
    svg = heat_map([[1.0, -0.5]], ["r"], ["a", "b"], title="t", low=-1, high=1, diverging=True)
    positive, negative = parsed(svg).iter("rect")
    assert (positive.get("class"), positive.get("fill-opacity")) == ("warm", "1.00")
    assert (negative.get("class"), negative.get("fill-opacity")) == ("cold", "0.50")


def test_a_large_map_is_drawn_with_few_elements():
    values = np.random.default_rng(0).uniform(-1, 1, (60, 60))
    svg = heat_map(values, [str(k) for k in range(60)], title="t", diverging=True)
    assert len(svg) < 150_000
    assert sum(path.get("d").count("M") for path in parsed(svg).iter("path")) == 3600


def test_values_of_a_strip_and_its_median_are_on_the_same_axis():
    svg = strip_plot([("a", [0.0, 10.0, 5.0])], title="t", x_title="x")
    (dots,) = [p.get("d") for p in parsed(svg).iter("path") if "dots" in p.get("class")]
    (box,) = [p.get("d") for p in parsed(svg).iter("path") if "box" in p.get("class")]
    assert float(re.findall(r"M([\d.]+)", dots)[2]) == pytest.approx(float(re.findall(r"M([\d.]+)", box)[-1]), abs=0.1)


@pytest.mark.parametrize("values", [[], [np.nan], [3.0], [0.0, 0.0], [np.inf, 1.0], [-5.0, 5.0]])
def test_an_axis_has_two_different_ends_for_any_values(values):
    for is_log in (False, True):
        low, high = span(values, is_log=is_log)
        assert low < high
        assert not is_log or low > 0


def test_ticks_are_round_and_inside_the_axis():
    for low, high in [(0, 1), (-3.7, 12.2), (1e-9, 3e-9), (1e6, 3e7)]:
        ticks = linear_ticks(low, high)
        assert 2 <= len(ticks) <= 12
        assert all(low - 1e-12 <= tick <= high * (1 + 1e-12) for tick in ticks)
    assert log_ticks(1, 1e12)[0] == 1
    assert len(log_ticks(1e-30, 1e30)) <= 7
    assert tick_text(-0.5) == "\N{MINUS SIGN}0.5"
