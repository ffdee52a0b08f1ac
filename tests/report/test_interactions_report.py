"""Interactions on screen, as data, as a network and on pages."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from page_reader import Page

from ilfs import ILFS
from ilfs.interactions import find_interactions
from ilfs.report.class_values import ReadRows
from ilfs.report.interactions import interactions_screen, summarise_interactions, write_interactions_page
from ilfs.report.interactions.data import interactions_as_data
from ilfs.report.interactions.network import MAX_NODES, InteractionNetwork
from ilfs.report.interactions.pairs import pictured_columns, pictured_pairs, with_values
from ilfs.report.interactions.sentences import found_sentence, power_sentence, reading_sentence
from ilfs.report.interactions.summary import ranks_of
from ilfs.report.summary import interactions_of
from ilfs.report.terminal import Terminal
from ilfs.text_table import display_width

HOSTILE = ["<script>alert(1)</script>", "two\nlines", "=1+1", "n" * 500, "遺伝子", "a & b"]


def paired(n_samples=300, n_features=12, seed=0):
    """Columns 0 and 1 tell the class together: ill if both are high or both are low; 2 and 3 do it, too, in some."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    rule = np.where(rng.random(n_samples) < 0.6, X[:, 0] * X[:, 1], -X[:, 2] * X[:, 3])
    return X, np.where(rule > 0, "ill", "well")


def summary_of(names=None, **options):
    X, y = paired()
    sizes = np.unique(y, return_counts=True)[1]
    return summarise_interactions(find_interactions(X, y), names=names, class_sizes=sizes, **options)


def many_pairs(n_pairs):
    """A summary of pairs of different features."""
    one = summary_of()
    first = one.sets[0]
    sets = [
        type(first)(
            **{
                **vars(first),
                "columns": (2 * k, 2 * k + 1),
                "names": (f"g{2 * k}", f"g{2 * k + 1}"),
                "statistic": 100.0 - k,
            }
        )
        for k in range(n_pairs)
    ]
    return type(one)(**{**vars(one), "sets": tuple(sets), "n_significant": n_pairs})


class TestSummary:
    def test_pairs_have_names_patterns_and_classes(self):
        found = summary_of(names=[f"g{j}" for j in range(12)])
        by_columns = {one.columns: one for one in found.sets}
        assert set(by_columns) == {(0, 1), (2, 3)}
        pattern, other = by_columns[0, 1], by_columns[2, 3]
        assert pattern.names == ("g0", "g1")
        same, opposite = ("high & high", "high & low")
        assert (pattern.pattern == same) == (found.labels[pattern.group] == "ill")
        assert (other.pattern == opposite) == (found.labels[other.group] == "ill")
        assert pattern.is_opposite == (pattern.pattern == opposite)

    def test_the_words_agree_with_the_table(self):
        found = summary_of()
        assert [one.words for one in found.sets] == found.table["effect"].tolist()

    def test_the_excess_is_that_of_the_samples(self):
        X, y = paired()
        found = summary_of()
        one = next(one for one in found.sets if one.columns == (0, 1))
        is_plus = (X[:, 0] > np.median(X[:, 0])) == (X[:, 1] > np.median(X[:, 1]))
        shown = np.mean((is_plus != one.is_opposite)[y == found.labels[one.group]])
        assert one.excess == pytest.approx(shown - 0.5, abs=0.05)

    def test_ranks_alone_stand_in_the_table_with_minus_one_for_no_feature(self):
        found = summary_of(ranks_alone=np.arange(12) + 5)
        assert found.sets[0].alone == tuple(5 + column for column in found.sets[0].columns)
        assert found.table["rank_alone_1"].tolist() == [5 + one.columns[0] for one in found.sets]
        assert set(found.table["rank_alone_3"].tolist()) == {-1}

    def test_equal_relevance_has_equal_ranks(self):
        assert ranks_of([0.5, 0.9, 0.5, 0.1]).tolist() == [2, 1, 2, 4]


class TestScreen:
    @pytest.mark.parametrize("width", [60, 80, 100, 200])
    @pytest.mark.parametrize("names", [None, HOSTILE * 2], ids=["plain", "hostile"])
    def test_it_fits_the_width_and_has_one_line_for_each_set(self, width, names):
        text = interactions_screen(summary_of(names, ranks_alone=np.arange(12) + 1), terminal=Terminal(width))
        assert len(text.splitlines()) == 1 + 2
        assert max(map(display_width, text.splitlines())) <= max(width, 62)

    def test_top_limits_the_sets(self):
        assert len(interactions_screen(summary_of(), top=1).splitlines()) == 2

    def test_no_sets_are_no_lines(self):
        X, y = paired()
        assert interactions_screen(summarise_interactions(find_interactions(X[:, 4:], y))) == ""


class TestSentences:
    def test_the_number_of_tests_and_of_significant_sets_is_told(self):
        found = summary_of()
        assert found_sentence(found).startswith(f"2 of {found.n_tests:,} tests of pairs of 12 features are significant")

    def test_an_empty_result_is_told_with_what_could_have_been_found(self):
        rng, y = np.random.default_rng(0), np.arange(60) % 2
        found = summarise_interactions(find_interactions(rng.normal(size=(60, 40)), y), class_sizes=np.array([30, 30]))
        assert found_sentence(found).startswith("none of 3,120 tests of pairs of 40 features is significant")
        excess, needed = found.power.smallest_excess, found.power.samples_needed(0.3)
        assert f"with 60 samples, a pair is found with a probability of 80 % if at least {50 + 100 * excess:.0f} %" in (
            power_sentence(found)
        )
        assert f"{needed} samples are needed if at least 80 % of the samples of class 0" in power_sentence(found)
        assert reading_sentence(found) == ""

    def test_too_few_samples_are_called_so(self):
        rng, y = np.random.default_rng(0), np.arange(16) % 2
        found = summarise_interactions(find_interactions(rng.normal(size=(16, 40)), y), class_sizes=np.array([8, 8]))
        least = found.power.samples_needed(0.5)
        assert found.power.smallest_excess > 0.5
        assert f"16 samples are too few for so many tests: to find a pair with a probability of 80 %, {least}" in (
            power_sentence(found)
        )

    def test_only_patterns_that_occur_are_explained(self):
        text = reading_sentence(summary_of())
        assert "high & high: both values above their medians" in text or "high & low: one value" in text
        assert "extreme" not in text


class TestNetwork:
    def test_every_pair_is_an_edge_and_the_strongest_is_the_widest(self):
        found = InteractionNetwork.of_summary(summary_of())
        assert sorted(found.columns) == [0, 1, 2, 3]
        first, second = (one.statistic for one in summary_of().sets)
        assert [edge.strength for edge in found.edges] == [1.0, pytest.approx(second / first)]
        assert found.caption().startswith("All significant sets")

    def test_with_too_many_features_the_strongest_sets_are_drawn(self):
        found = InteractionNetwork.of_summary(many_pairs(50))
        assert len(found.names) == MAX_NODES
        assert [edge.ends for edge in found.edges] == [(2 * k, 2 * k + 1) for k in range(MAX_NODES // 2)]
        assert found.caption().startswith("The strongest 20 of 50 significant sets, of 40 features")

    def test_one_set_has_full_strength(self):
        assert InteractionNetwork.of_summary(many_pairs(1)).edges[0].strength == 1.0


class TestData:
    def test_it_is_json_with_all_numbers(self):
        found = summary_of(ranks_alone=np.arange(12) + 1)
        data = json.loads(json.dumps(interactions_as_data(found)))
        assert data["search"]["tests"] == found.n_tests
        assert data["search"]["significant"] == 2
        assert [one["features"] for one in data["interactions"]] == [list(one.names) for one in found.sets]
        assert len(interactions_as_data(found, top=1)["interactions"]) == 1


class TestPage:
    def test_it_has_the_network_the_table_and_the_sentences(self, tmp_path):
        found = summary_of(names=HOSTILE * 2)
        text = write_interactions_page(found, tmp_path / "p.html", input_name="t.csv", command="ilfs x").read_text()
        assert text.count('class="network-node"') == 4
        assert "<script>alert" not in text
        assert len(re.findall(r"<tr><td class=\"number\">\d+</td>", text)) == 2
        assert "<pre>ilfs x</pre>" in text
        assert Page(text).policy["default-src"] == ["'none'"]

    def test_without_sets_it_says_so(self, tmp_path):
        X, y = paired()
        empty = summarise_interactions(find_interactions(X[:, 4:], y), class_sizes=np.array([150, 150]))
        text = write_interactions_page(empty, tmp_path / "p.html").read_text()
        assert "None of" in text
        assert "<svg" not in text

    def test_the_strongest_pairs_are_drawn_at_the_ranks_of_their_values(self, tmp_path):
        X, y = paired(60)
        labels, codes = np.unique(y, return_inverse=True)
        found = summary_of()
        columns = pictured_columns(found)
        assert columns.tolist() == [0, 1, 2, 3]
        rows = ReadRows(tuple(labels), tuple(np.bincount(codes)), codes, X[:, columns], 60)
        drawn = with_values(found, rows)
        np.testing.assert_allclose(np.sort(drawn.values.ranks, axis=0)[:, 0], (np.arange(60) + 0.5) / 60)
        text = write_interactions_page(drawn, tmp_path / "p.html").read_text()
        part = text.split('class="pair-figures"')[1].split("</svg>")[0]
        assert part.count("h0") == 60
        assert len(pictured_pairs(many_pairs(50))) == 6

    def test_the_page_of_a_ranking_has_the_section_and_the_partners(self, tmp_path):
        X, y = paired()
        frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
        selector = ILFS(4, interactions=2).fit(frame, y)
        text = selector.report(tmp_path / "p.html", frame, y).read_text()
        assert '<section id="interactions">' in text
        assert text.count('class="network-node"') == 4
        assert text.count("<figure><svg") == 2  # the pairs themselves
        header = Page(text).data
        ranks = {name: place for place, name in enumerate(header["names"])}
        partners = {tuple(sorted(map(int, one["places"].split()))) for one in header["sets"]}
        assert partners == {tuple(sorted((ranks["g0"], ranks["g1"]))), tuple(sorted((ranks["g2"], ranks["g3"])))}
        assert "sets of features that tell the class together" in text

    def test_a_ranking_without_a_search_has_no_section(self, tmp_path):
        X, y = paired()
        selector = ILFS(4).fit(X, y)
        assert interactions_of(selector) is None
        assert 'id="interactions"' not in selector.report(tmp_path / "p.html").read_text()


class TestExplanation:
    def test_partners_are_named_with_their_pattern(self):
        X, y = paired()
        why = ILFS(4, interactions=2).fit(X, y).explain(0)
        assert list(why.works_with) == ["x1"]
        assert f"It works together with x1 ({why.works_with['x1']})." in str(why)
        assert ILFS(4, interactions=2).fit(X, y).explain(5).works_with == {}

    def test_without_a_search_nothing_is_said(self):
        X, y = paired()
        assert "works together" not in str(ILFS(4).fit(X, y).explain(0))
