"""The ranking on screen fits the terminal, shows the numbers of the table, and lets no name control the terminal."""

import fcntl
import os
import re
import struct
import termios

import numpy as np
import pandas as pd
import pytest
from helpers import planted

from ilfs import ILFS, FisherScore, LaplacianScore
from ilfs.report.ranking_screen import probability, ranking_screen, scaled, significant
from ilfs.report.side_by_side import side_by_side_screen, side_by_side_table
from ilfs.report.terminal import Terminal
from ilfs.text_table import display_width, shortened, visible

HOSTILE = [
    "<script>alert(1)</script>",
    "red\x1b[31m",
    "two\nlines",
    "tab\tand\rreturn",
    "\u202eright to left",
    "=1+1",
    "n" * 10_000,
    "遺伝子",
    "e\u0301\u0301\u0301",
    "😀😀😀",
]


def fitted(names=None, n_classes=2, n_permutations=20, labels=("normal", "tumour", "c", "d")):
    X, y = planted(n_samples=60, n_features=10, n_classes=n_classes, shift=1.5)
    frame = pd.DataFrame(X, columns=names or [f"gene {j}" for j in range(10)])
    return ILFS("fdr", n_permutations=n_permutations).fit(frame, np.array(labels)[y])


def lines_of(selector, **options):
    return ranking_screen(selector, 10, Terminal(**options)).splitlines()


def test_features_that_must_be_kept_are_marked():
    X, y = planted(n_samples=60, n_features=10)
    lines = lines_of(FisherScore(4, must_keep=["x9"]).fit(pd.DataFrame(X, columns=[f"x{j}" for j in range(10)]), y))
    assert [line.split()[:3] for line in lines if "kept" in line] == [["1", "kept", "x9"]]


def test_without_such_features_there_is_no_mark():
    assert not any("kept" in line for line in lines_of(fitted()))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("names", [None, HOSTILE], ids=["plain", "hostile"])
def test_it_fits_the_width(width, n_classes, names):
    widest = max(map(display_width, lines_of(fitted(names, n_classes), width=width)))
    assert widest <= max(width, 50)  # the narrowest layout
    assert width > 60 or widest > 20


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("has_colours", [False, True])
def test_no_name_reaches_the_terminal_as_a_command(width, has_colours):
    text = ranking_screen(fitted(HOSTILE), 10, Terminal(width, has_colours=has_colours))
    without_colours = re.sub(r"\x1b\[[0-9;]+m", "", text) if has_colours else text
    assert all(line.isprintable() for line in without_colours.splitlines())
    n_titles = 1 + ("mean in" in without_colours)
    assert len(without_colours.splitlines()) == n_titles + 10  # a name with a line break takes one line
    if width > 40:
        assert r"red\x1b[31m" in without_colours
        assert r"two\nlines" in without_colours
    if has_colours:
        assert set(re.findall(r"\x1b\[[0-9;]+m", text)) <= {f"\x1b[{code}m" for code in (0, 1, 2, 32, 36)}


def test_it_shows_the_numbers_of_the_table():
    selector = fitted()
    table, lines = selector.table(), lines_of(selector, width=120)
    assert lines[0].strip() == "mean in"
    assert lines[1].split()[:4] == ["feature", "score", "higher", "in"]
    for row, line in enumerate(lines[2:]):
        words = line.split()
        assert words[0] == str(row + 1)
        assert " ".join(words[1:3]) == table["feature"][row]
        assert words[3] == significant(table["score"][row])
        assert table["direction"][row].removeprefix("higher in ") in words
        assert significant(table["mean_normal"][row]) in words
        assert significant(table["mean_tumour"][row]) in words
        assert probability(table["q_value"][row]) in words


def test_many_classes_show_the_effect_in_place_of_means():
    header = lines_of(fitted(n_classes=4), width=120)[0]
    assert "effect" in header
    assert "mean" not in header


def test_without_a_test_there_are_no_q_values_and_without_labels_no_classes():
    X, y = planted(n_samples=60, n_features=10)
    assert "q-value" not in ranking_screen(FisherScore().fit(X, y))
    header = ranking_screen(LaplacianScore().fit(X)).splitlines()[0]
    assert header.split() == ["feature", "score"]


def test_bars_are_proportional_to_scores():
    selector = fitted()
    bars = [line.count("#") for line in lines_of(selector, width=120, has_unicode=False)[2:]]
    expected = [max(1, round(12 * score)) if score > 0 else 0 for score in selector.table()["score"]]
    assert np.abs(np.array(bars) - expected).max() <= 1
    assert bars[0] == 12
    np.testing.assert_allclose(scaled(np.array([-2.0, -1.0, -3.0])), [0.5, 1.0, 0.0])
    np.testing.assert_allclose(scaled(np.array([4.0, -1.0, 2.0, np.nan])), [1.0, 0.0, 0.5, np.nan])
    assert scaled(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_the_family_counts_the_features_that_repeat_one():
    X, y = planted(n_samples=60, n_features=4, shift=2.0)
    copies = X[:, [0, 0, 0]] + 0.01 * np.random.default_rng(0).normal(size=(60, 3))
    selector = ILFS().fit(np.column_stack([X, copies]), y)
    assert selector.order_[0] in (0, 4, 5, 6)
    for n_shown in (1, 7):
        lines = ranking_screen(selector, n_shown, Terminal(120)).splitlines()
        assert "+3" in lines[-n_shown]


def test_three_classes_have_a_side_and_an_effect():
    y = np.repeat([0, 1, 2], 20)
    noise = np.random.default_rng(0).normal(size=(60, 2))
    X = np.column_stack([-5.0 * (y == 0), 5.0 * (y == 2)]) + noise
    selector = FisherScore(1).fit(pd.DataFrame(X, columns=["low", "high"]), np.array(["a", "b", "c"])[y])
    effect = dict(zip(selector.table()["feature"], selector.table()["effect"], strict=True))
    text = ranking_screen(selector, 2, Terminal(80))
    assert re.search(rf"low .* lower in a +{effect['low']:.2f}", text)
    assert re.search(rf"high .* higher in c +{effect['high']:.2f}", text)
    assert effect["low"] < -4 < 4 < effect["high"]


class TestNames:
    @pytest.mark.parametrize("name", HOSTILE)
    @pytest.mark.parametrize("width", [1, 5, 12, 40])
    def test_a_shortened_name_fits_and_keeps_both_ends(self, name, width):
        text = shortened(visible(name), width, "…")
        assert display_width(text) <= width
        if display_width(visible(name)) > width >= 12:
            assert text[0] == visible(name)[0]
            assert text[-1] == visible(name)[-1]

    def test_names_that_differ_at_the_end_stay_different(self):
        first, second = (shortened(f"ENSG000001415{j}", 10) for j in (10, 11))
        assert first != second


class TestSideBySide:
    @pytest.fixture
    def selectors(self):
        X, y = planted(n_samples=60, n_features=10, shift=1.0)
        frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(10)])
        return {"ilfs": ILFS(n_permutations=20).fit(frame, y), "fisher": FisherScore(3).fit(frame, y)}

    def test_each_column_is_the_order_of_a_method(self, selectors):
        lines = side_by_side_screen(selectors, 4, Terminal(80)).splitlines()
        assert lines[0].split() == ["ilfs", "fisher"]
        for rank, line in enumerate(lines[1:]):
            names = re.findall(r"gene \d", line)
            assert names == [f"gene {one.order_[rank]}" for one in selectors.values()]

    def test_stars_mark_features_that_all_methods_list(self, selectors):
        common = set(selectors["ilfs"].order_[:4].tolist()) & set(selectors["fisher"].order_[:4].tolist())
        text = side_by_side_screen(selectors, 4, Terminal(80))
        assert {int(one) for one in re.findall(r"gene (\d) \*", text)} == common

    def test_the_table_has_the_ranks_of_all_methods_best_mean_first(self, selectors):
        table = side_by_side_table(selectors)
        for name, selector in selectors.items():
            np.testing.assert_array_equal(table[f"rank_{name}"], selector.ranking_[table["column"]])
            np.testing.assert_array_equal(table[f"selected_{name}"], selector.get_support()[table["column"]])
        assert np.all(np.diff(table["mean_rank"]) >= 0)
        assert "q_value_ilfs" in table
        assert "q_value_fisher" not in table


class TestTerminal:
    class Stream:
        encoding = "utf-8"

        def __init__(self, is_terminal):
            self.is_terminal = is_terminal

        def isatty(self):
            return self.is_terminal

    def test_colours_need_a_terminal_and_no_word_against_them(self, monkeypatch):
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setenv("TERM", "xterm")
        assert Terminal.of_stream(self.Stream(True)).has_colours
        assert not Terminal.of_stream(self.Stream(False)).has_colours
        monkeypatch.setenv("TERM", "dumb")
        assert not Terminal.of_stream(self.Stream(True)).has_colours
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("NO_COLOR", "1")
        assert not Terminal.of_stream(self.Stream(True)).has_colours

    def test_the_width_is_that_of_the_stream_itself(self, monkeypatch):
        monkeypatch.delenv("COLUMNS", raising=False)
        leader, follower = os.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 63, 0, 0))
        with os.fdopen(follower, "w") as terminal:
            assert Terminal.of_stream(terminal).width == 63
        os.close(leader)
        assert Terminal.of_stream(self.Stream(True)).width == 80  # a terminal that does not tell
        assert Terminal.of_stream(self.Stream(False)).width == 120

    def test_the_width_is_that_of_the_terminal_or_of_columns(self, monkeypatch):
        monkeypatch.setenv("COLUMNS", "77")
        assert Terminal.of_stream(self.Stream(False)).width == 77
        monkeypatch.setenv("COLUMNS", "5")
        assert Terminal.of_stream(self.Stream(False)).width == 40
