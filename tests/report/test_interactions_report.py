"""Interactions on screen, as data, as a network and on pages."""

import dataclasses
import json
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from page_reader import Page

from ilfs import ILFS
from ilfs.interactions import find_interactions
from ilfs.report.class_values import ReadRows
from ilfs.report.interactions import interactions_screen, summarise_interactions, write_interactions_page
from ilfs.report.interactions.data import interactions_as_data
from ilfs.report.interactions.network import MAX_DRAWN_TRIPLES, MAX_NODES, InteractionNetwork
from ilfs.report.interactions.pairs import pictured_columns, pictured_pairs, with_values
from ilfs.report.interactions.sentences import found_sentence, power_sentence, reading_sentence
from ilfs.report.interactions.summary import ranks_of
from ilfs.report.plots.interactions import draw_interactions
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

    def test_ranks_alone_stand_in_the_table_with_an_empty_place_for_no_feature(self):
        found = summary_of(ranks_alone=np.arange(12) + 5)
        assert found.sets[0].alone == tuple(5 + column for column in found.sets[0].columns)
        assert found.table["rank_alone_1"].tolist() == [5 + one.columns[0] for one in found.sets]
        assert set(found.table["rank_alone_3"].tolist()) == {None}
        assert set(found.table["column_3"].tolist()) == {None}
        assert found.table["class"].tolist() == [found.labels[one.group] for one in found.sets]
        assert found.table["pattern"].tolist() == [one.pattern for one in found.sets]

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

    def test_too_few_samples_may_miss_pairs(self):
        rng, y = np.random.default_rng(0), np.arange(16) % 2
        found = summarise_interactions(find_interactions(rng.normal(size=(16, 40)), y), class_sizes=np.array([8, 8]))
        least = found.power.samples_needed(0.5)
        assert found.power.smallest_excess > 0.5
        need = f"may have been missed: to find a pair with a probability of 80 %, {least} samples are needed if all"
        assert f"with 16 samples and so many tests, pairs {need}" in power_sentence(found)
        with_pair = dataclasses.replace(found, sets=summary_of().sets)
        assert f"with 16 samples and so many tests, other pairs {need}" in power_sentence(with_pair)

    def test_only_patterns_that_occur_are_explained(self):
        text = reading_sentence(summary_of())
        assert "high & high: both values above their medians" in text or "high & low: one value" in text
        assert "extreme" not in text

    def test_extreme_and_low_are_explained_with_the_mirror_image(self):
        X = np.random.default_rng(0).normal(size=(400, 10))
        y = np.where((X[:, 2] > 0) == (np.abs(X[:, 6]) > 0.67), "ill", "well")
        found = summarise_interactions(find_interactions(X, y))
        pattern = found.sets[0].pattern
        assert pattern in ("high & extreme", "high & moderate")
        mirror = "low & moderate" if pattern == "high & extreme" else "low & extreme"
        assert reading_sentence(found) == (
            "high: above the median; low: below it; extreme: outside of the quartiles, in either direction; moderate: "
            f"between them; each pattern stands for its mirror image, too: {pattern} also for {mirror}"
        )

    def test_sets_of_the_same_features_are_counted_once(self):
        found = summary_of()
        again = dataclasses.replace(found, sets=(*found.sets, found.sets[0]), n_significant=3)
        assert f"3 of {found.n_tests:,} tests of pairs of 12 features are significant (2 different pairs); " in (
            found_sentence(again)
        )
        assert "different" not in found_sentence(found)


class TestNetwork:
    def test_every_pair_is_an_edge_and_the_strongest_is_the_widest(self):
        found = InteractionNetwork.of_summary(summary_of())
        assert sorted(found.columns) == [0, 1, 2, 3]
        first, second = (one.statistic for one in summary_of().sets)
        assert [edge.strength for edge in found.edges] == [1.0, pytest.approx(second / first)]
        assert found.caption().startswith("2 significant pairs. A line joins two features that tell the class together")

    def test_with_too_many_features_the_strongest_sets_are_drawn(self):
        found = InteractionNetwork.of_summary(many_pairs(50))
        assert len(found.names) == MAX_NODES
        assert [edge.ends for edge in found.edges] == [(2 * k, 2 * k + 1) for k in range(MAX_NODES // 2)]
        assert found.caption().startswith("The strongest 20 of 50 significant pairs. ")

    def test_one_set_has_full_strength(self):
        assert InteractionNetwork.of_summary(many_pairs(1)).edges[0].strength == 1.0

    def test_few_triples_are_drawn_and_the_rest_is_counted(self):
        pair = summary_of().sets[0]
        triples = tuple(
            dataclasses.replace(pair, columns=(0, 1, k), names=("a", "b", f"g{k}"), is_opposite=k == 2)
            for k in range(2, 20)
        )
        found = InteractionNetwork.of_summary(dataclasses.replace(summary_of(), sets=(*triples, pair)))
        assert [len(edge.ends) for edge in found.edges] == [3] * MAX_DRAWN_TRIPLES + [2]
        assert found.title() == f"1 significant pair and the strongest {MAX_DRAWN_TRIPLES} of 18 significant triples"
        assert "A small diamond joins three features. Its lines are dashed if none or two of them are high." in (
            found.caption()
        )

    def test_no_sets_are_a_sentence(self):
        X, y = paired()
        summary = summarise_interactions(find_interactions(X[:, 4:], y))
        found = InteractionNetwork.of_summary(summary)
        assert (found.edges, found.title()) == ((), "")
        ax = Figure().subplots()
        draw_interactions(ax, found)
        assert ax.get_title(loc="left") == "Interactions: no set of features is significant"
        (text,) = ax.texts
        assert " ".join(text.get_text().split()) == found_sentence(summary)

    def test_the_legend_explains_the_lines_that_occur(self):
        summary = summary_of()
        drawn = InteractionNetwork.of_summary(summary)
        ax = Figure().subplots()
        draw_interactions(ax, drawn)
        words = [text.get_text() for text in ax.get_legend().get_texts()]
        low, high = sorted(one.statistic for one in summary.sets)
        expected = {f"more often in {summary.labels[one.group]}" for one in summary.sets}
        kinds = {True: "opposite, such as high with low", False: "alike, such as high with high"}
        expected |= {kinds[one.is_opposite] for one in summary.sets}
        assert set(words) == expected | {f"thicker: stronger (statistic {low:.0f} to {high:.0f})"}
        assert ax.get_title(loc="left") == "Interactions: 2 significant pairs"


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

    def test_the_answer_does_not_say_not_to_trust_significant_pairs(self, tmp_path):
        X, y = paired()
        selector = ILFS("fdr", interactions=2).fit(X, y)
        assert not selector.is_better_than_chance_
        text = selector.report(tmp_path / "p.html").read_text()
        assert "Do not trust this selection" not in text
        assert "the sets of features below have a test of their own, and are significant." in text
        assert "4 features of these sets are not selected: " in text
        assert "single features better than permuted labels" in text
        plain = ILFS("fdr").fit(X, y).report(tmp_path / "q.html").read_text()
        assert "Do not trust this selection without more samples." in plain

    def test_a_ranking_without_a_search_has_no_section(self, tmp_path):
        X, y = paired()
        selector = ILFS(4).fit(X, y)
        assert interactions_of(selector) is None
        assert 'id="interactions"' not in selector.report(tmp_path / "p.html").read_text()


class TestExplanation:
    def test_partners_are_named_with_their_pattern(self):
        X, y = paired()
        selector = ILFS(4, interactions=2).fit(X, y)
        why, found = selector.explain(0), selector.interactions_
        (pair,) = why.works_with
        (row,) = np.flatnonzero((found.columns == 0).any(axis=1))
        assert pair.others == ("x1",)
        assert pair.effect == found.words(row)
        assert pair.adjusted_p_value == found.adjusted_p_values[row]
        assert "It was picked together with x1, because the two tell the class together: high together with" in str(why)
        assert f"(adjusted p-value {pair.adjusted_p_value:.2g})" in str(why)
        assert why.picked_for is pair
        assert selector.explain(5).works_with == ()

    def test_a_feature_picked_before_its_partner_was_picked_alone(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(600, 20))
        y = np.where(rng.random(600) < 0.7, X[:, 3] > 0, X[:, 3] * X[:, 8] > 0)  # x3 is strong alone, x8 is not
        selector = ILFS(4, interactions=2).fit(X, np.where(y, "ill", "well"))
        first, second = selector.explain(3), selector.explain(8)
        assert (first.rank, second.works_with[0].others) == (1, ("x3",))
        assert first.picked_for is None
        assert "It was picked first, because it alone adds most." in str(first)
        assert "It tells the class together with x8: " in str(first)
        assert "It was picked after x3, also for what the two tell together: " in str(second)

    def test_three_features_are_picked_at_once(self):
        X = np.random.default_rng(0).normal(size=(400, 15))
        selector = ILFS(4, interactions=3).fit(X, np.where(X[:, 1] * X[:, 4] * X[:, 9] > 0, "ill", "well"))
        for column, others in ((1, "x4 and x9"), (4, "x1 and x9"), (9, "x1 and x4")):
            why = str(selector.explain(column))
            assert f"It was picked together with {others}, because the three tell the class together: " in why

    def test_the_kinds_of_a_pair_are_told_apart_and_numbers_are_classes(self):
        X = np.random.default_rng(0).normal(size=(400, 10))
        y = ((X[:, 2] > 0) == (np.abs(X[:, 6]) > 0.67)).astype(int)
        (pair,) = ILFS(4, interactions=2).fit(X, y).explain(6).works_with
        assert pair.effect in (
            "x2 high together with x6 moderate, or low with extreme: more often in class 0",
            "x2 high together with x6 extreme, or low with moderate: more often in class 1",
        )

    def test_without_a_search_nothing_is_said(self):
        X, y = paired()
        assert "together" not in str(ILFS(4).fit(X, y).explain(0))
