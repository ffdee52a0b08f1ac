"""The critical-difference diagram: its groups by brute force, and the picture as what a reader sees."""

import re
from itertools import combinations, permutations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilfs.benchmark.significance.diagram import critical_difference_diagram, joined_groups
from ilfs.report.benchmark.diagram_svg import BAR_OVERHANG_PX, diagram_svg

DEMSAR = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"], [3.143, 2.000, 2.893, 1.964], 14
NUMBER = r"(-?\d+\.?\d*)"


def random_diagram(n_methods, n_datasets, seed, steps=0.25):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(n_datasets, n_methods)) + steps * np.arange(n_methods)
    ranks = quality.argsort(axis=1).argsort(axis=1) + 1
    return critical_difference_diagram([f"method {i}" for i in range(n_methods)], ranks.mean(axis=0), n_datasets)


def elements(svg, kind):
    return ElementTree.fromstring(svg).findall(f"{{http://www.w3.org/2000/svg}}{kind}")


def leaders(svg):
    """Coordinates of every line to a name: x and y on the axis, then y and x at the name."""
    found = (re.fullmatch(f"M{NUMBER} {NUMBER}V{NUMBER}H{NUMBER}", path.get("d")) for path in elements(svg, "path"))
    return [tuple(map(float, match.groups())) for match in found if match]


def bars(svg):
    """Start, y and end of every bar."""
    thick = (path.get("d") for path in elements(svg, "path") if path.get("stroke-width") == "4")
    return [tuple(map(float, re.fullmatch(f"M{NUMBER} {NUMBER}H{NUMBER}", path).groups())) for path in thick]


class TestGroups:
    def test_groups_of_demsars_example_are_his(self):
        # at 5 % nothing differs; at 10 % C4.5 from the two with m only
        assert critical_difference_diagram(*DEMSAR).groups == ((0, 3),)
        at_ten = critical_difference_diagram(*DEMSAR, alpha=0.10)
        joined = [[entry.name for entry in at_ten.entries[first : last + 1]] for first, last in at_ten.groups]
        assert joined == [["C4.5+m+cf", "C4.5+m", "C4.5+cf"], ["C4.5+cf", "C4.5"]]

    @given(st.lists(st.integers(0, 12), min_size=1, max_size=8), st.floats(0.5, 13))
    def test_groups_are_the_largest_sets_in_which_no_two_differ(self, ranks, apart):
        ranks = np.sort(np.array(ranks, dtype=float))
        sets = [
            set(some)
            for size in range(2, ranks.size + 1)
            for some in combinations(range(ranks.size), size)
            if all(abs(ranks[i] - ranks[j]) < apart for i, j in combinations(some, 2))
        ]
        largest = [one for one in sets if not any(one < other for other in sets)]
        assert [set(range(first, last + 1)) for first, last in joined_groups(ranks, apart)] == sorted(largest, key=min)

    @pytest.mark.parametrize(
        ("ranks", "apart", "groups"),
        [
            ([1, 2, 3], 0.5, ()),  # a group of one is no group
            ([1, 2, 3], 1.0, ()),  # a difference equal to the critical difference is significant
            ([1, 1.5, 2, 4], 1.2, ((0, 2),)),  # (1, 2) is part of (0, 2)
            ([1, 2, 2.9, 4], 2.0, ((0, 2), (2, 3))),  # (1, 2) is part of (0, 2)
            ([1.5, 1.5, 3], 0.1, ((0, 1),)),  # ties
            ([2.5, 2.5, 2.5, 2.5], 0.1, ((0, 3),)),  # all equal
            ([1, 2], 1.5, ((0, 1),)),  # two methods
            ([1, 2], 0.5, ()),
        ],
    )
    def test_groups_match_those_found_by_hand(self, ranks, apart, groups):
        assert joined_groups(np.array(ranks, dtype=float), apart) == groups


class TestPlaces:
    def test_best_first_and_ties_in_the_given_order(self):
        diagram = critical_difference_diagram(["d", "b", "a", "c", "e"], [3, 1.5, 5, 1.5, 4], 10)
        assert [entry.name for entry in diagram.entries] == ["b", "c", "d", "e", "a"]
        assert [entry.rank for entry in diagram.entries] == [1.5, 1.5, 3, 4, 5]

    def test_names_fill_the_left_side_downwards_and_the_right_side_upwards(self):
        diagram = random_diagram(5, 10, 0)
        assert [entry.side for entry in diagram.entries] == ["left"] * 3 + ["right"] * 2
        assert [entry.row for entry in diagram.entries] == [0, 1, 2, 1, 0]

    def test_order_of_the_methods_does_not_matter(self):
        names, ranks, n = DEMSAR
        order = [2, 0, 3, 1]
        again = critical_difference_diagram([names[i] for i in order], [ranks[i] for i in order], n)
        assert again == critical_difference_diagram(*DEMSAR)


class TestPicture:
    @pytest.mark.parametrize("n_methods", [2, 3, 4, 12, 20])
    @pytest.mark.parametrize("n_datasets", [2, 8, 60])
    def test_lines_do_not_cross_and_nothing_is_cut(self, n_methods, n_datasets):
        svg = diagram_svg(random_diagram(n_methods, n_datasets, seed=n_methods))
        width, height = (float(ElementTree.fromstring(svg).get(side)) for side in ("width", "height"))
        lines = leaders(svg)
        assert len(lines) == n_methods
        for (x, top, y, _), (other_x, _, other_y, end) in permutations(lines, 2):
            # the vertical of one and the horizontal of another meet only where the methods tie
            assert x == other_x or not (min(other_x, end) < x < max(other_x, end) and top < other_y < y)
        xs = [float(x) for x in re.findall(r"[MH](\d+\.\d)", svg)]
        ys = [float(y) for y in re.findall(r'(?:V| |y=")(\d+\.\d)', svg)]
        assert 0 < min(xs) <= max(xs) < width
        assert 0 < min(ys) <= max(ys) < height

    @pytest.mark.parametrize("seed", range(5))
    def test_bars_span_their_groups_and_keep_apart(self, seed):
        diagram = random_diagram(20, 60, seed)
        svg = diagram_svg(diagram)
        drawn, lines = bars(svg), leaders(svg)
        assert len(drawn) == len(diagram.groups) > 3
        for (first, last), (start, y, end) in zip(diagram.groups, drawn, strict=True):
            assert (start, end) == pytest.approx(
                (lines[first][0] - BAR_OVERHANG_PX, lines[last][0] + BAR_OVERHANG_PX), abs=0.11
            )
            assert lines[0][1] < y < min(line[2] for line in lines)  # between the axis and the names
        for one, other in combinations(drawn, 2):
            assert one[1] != other[1] or one[2] + BAR_OVERHANG_PX / 2 < other[0]

    def test_bars_that_nearly_touch_are_at_different_levels(self):
        # the first bar ends 1.6 pixels before the last begins: they would look like one
        diagram = critical_difference_diagram(list("abcd"), [1.765, 2.495, 2.51, 3.24], 40)
        assert diagram.groups == ((0, 1), (1, 2), (2, 3))
        assert len({y for _, y, _ in bars(diagram_svg(diagram))}) == 3

    def test_names_are_written_as_they_are(self):
        names = ['a<b & "c"', "</text><script>", "特徴選択の方法", "bell\a and null\0"]
        svg = diagram_svg(critical_difference_diagram(names, [1, 2, 3, 4], 10))
        texts = " ".join(element.text for element in elements(svg, "text"))
        for name in (*names[:3], "bell  and null "):
            assert name in texts
        assert "<script>" not in svg

    def test_the_picture_is_wide_enough_for_long_names(self):
        def widths(name):
            svg = diagram_svg(critical_difference_diagram([name, "b", "c", "a" + name], [1, 2, 3, 4], 10))
            return float(ElementTree.fromstring(svg).get("width")), leaders(svg)[0][3]

        short, long = widths("a"), widths("W" * 60)
        assert long[1] > 60 * 12
        assert long[0] > short[0] + 2 * 60 * 12

    def test_ruler_is_as_long_as_the_critical_difference(self):
        diagram = random_diagram(12, 40, 1)
        svg = diagram_svg(diagram)
        start, end = map(float, re.search(rf"M{NUMBER} [\d.]+v8m0-4H{NUMBER}m0-4v8", svg).groups())
        lines = leaders(svg)
        unit = (lines[-1][0] - lines[0][0]) / (diagram.entries[-1].rank - diagram.entries[0].rank)
        assert (end - start) / unit == pytest.approx(diagram.critical_difference, abs=0.02)
        assert f"critical difference {diagram.critical_difference:.2f}" in svg

    def test_svg_has_a_description(self):
        (title,) = elements(diagram_svg(critical_difference_diagram(*DEMSAR)), "title")
        assert title.text.startswith("Mean ranks of 4 methods, best on the left.")

    def test_the_same_diagram_gives_the_same_svg(self):
        assert diagram_svg(random_diagram(9, 20, 3)) == diagram_svg(random_diagram(9, 20, 3))


@pytest.mark.parametrize(
    ("names", "ranks", "message"),
    [
        (["a", "b"], [1, 2, 3], "names must be as many as mean_ranks, got 2 and 3"),
        (["a"], [1], "mean_ranks must be of at least 2 methods and none NaN"),
        (["a", "b"], [1, np.nan], "mean_ranks must be of at least 2 methods and none NaN"),
        (["a", "b"], [0.9, 2.1], "mean_ranks of 2 methods must lie between 1 and 2"),
    ],
)
def test_invalid_arguments_are_refused(names, ranks, message):
    with pytest.raises(ValueError, match=message):
        critical_difference_diagram(names, ranks, 10)
