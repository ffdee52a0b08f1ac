"""A comparison as text, CSV, JSON and as a page."""

import csv
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from helpers import WorstFirst, planted

from ilfs.report import (
    comparison_json,
    comparison_text,
    write_compared_ranks,
    write_comparison,
    write_comparison_page,
)
from ilfs.report.comparison.sentences import best_sentence, methods_paragraph, random_sentence
from ilfs.selection import compare

HOSTILE = ["<script>alert(1)</script>", '"quotes" & more', "two\nlines", "=1+1", "x" * 10_000, "\u202eright", "🧬"]


@pytest.fixture(scope="module")
def found():
    X, y = planted(n_samples=60, n_features=30, n_informative=3)
    methods = {"fisher": "fisher", "relieff": "relieff", "worst": WorstFirst()}
    return compare(methods, X, np.array(["no", "yes"])[y], sizes=[1, 3, 10], stability=6)


@pytest.fixture(scope="module")
def hostile():
    X, y = planted(n_samples=30, n_features=len(HOSTILE))
    X[0, 2] = np.nan
    frame = pd.DataFrame(X, columns=HOSTILE)
    labels = np.array(["</p><b>a", "b"])[y]
    return compare({"<i>m": "fisher", "mi": "mi", "out": "ls"}, frame, labels, sizes=[2], cv=3, n_repeats=1)


class Elements(HTMLParser):
    """Names of the elements of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not any(name.startswith("on") or name == "style" for name, _ in attrs)

    def handle_data(self, data):
        self.words.append(data)


class TestText:
    def test_best_methods_are_marked_and_the_worst_is_not(self, found):
        text = comparison_text(found)
        marks = dict(re.findall(r"^(fisher|relieff|worst|random)\s+(\**)\s", text, flags=re.M)[:4])
        assert sorted([marks["fisher"], marks["relieff"]]) == ["*", "**"]
        assert marks["worst"] == marks["random"] == ""

    def test_numbers_are_those_of_the_comparison(self, found):
        lines = comparison_text(found).splitlines()
        place = next(i for i, line in enumerate(lines) if "nearest neighbours, by number" in line)
        assert lines[place + 1].split()[1:] == [
            "1",
            "feature",
            "3",
            "features",
            "10",
            "features",
            "all",
            "sizes",
            "enough",
        ]
        row = next(line for line in lines[place:] if line.startswith("fisher"))
        assert f"{found.mean[0, 1, 1]:.2f} ± {found.error[0, 1, 1]:.2f}" in row

    def test_stability_time_agreement_and_ranks_are_shown(self, found):
        text = comparison_text(found, top=4)
        low, high = found.stability[0].features.interval()
        assert f"{found.stability[0].features.value:.2f} ({low:.2f} to {high:.2f})" in text
        assert f"{100 * found.overlap[1, 0]:.0f} %" in text
        assert f"{found.spearman[0, 1]:.2f}" in text
        assert "Ranks of the 4 features with the best mean rank" in text

    def test_the_caveat_is_stated(self, found):
        text = " ".join(comparison_text(found).split())
        assert "corrected resampled t-test" in text
        assert "This is one data set" in text

    @pytest.mark.parametrize("width", [60, 80, 100])
    def test_sentences_fit_the_width_and_tables_stay_as_they_are(self, found, width):
        lines, wide = comparison_text(found, width=width).splitlines(), comparison_text(found, width=1000).splitlines()
        tables = [line for line in wide if "  " in line]  # sentences have single spaces
        assert [line for line in lines if "  " in line] == tables
        assert max(len(line) for line in lines if "  " not in line) <= width
        assert " ".join(" ".join(lines).split()) == " ".join(" ".join(wide).split())

    def test_methods_that_are_left_out_are_named_with_the_reason(self, hostile):
        text = " ".join(comparison_text(hostile).split())
        assert "out is left out: Input X contains NaN" in text

    def test_names_cannot_break_lines_or_the_table(self, hostile):
        text = comparison_text(hostile)
        assert r"two\nlines" in text
        assert "\u202e" not in text
        assert max(map(len, text.splitlines())) < 200

    def test_one_method_has_no_best(self):
        X, y = planted(n_samples=40, n_features=8)
        one = compare(["fisher"], X, y, sizes=[2], cv=3, n_repeats=1, stability=False)
        text = comparison_text(one)
        assert "best mean" not in text.replace("best mean rank", "")
        assert "Agreement" not in text
        assert "better than random" in text


class TestSentences:
    def test_the_best_and_the_worse_are_named(self, found):
        best = found.verdict("linear SVM").best
        sentence = best_sentence(found, "linear SVM")
        assert sentence.startswith(f"linear SVM: {best} has the best mean accuracy over all sizes, 0.")
        assert sentence.endswith("worst is significantly worse.")
        assert "cannot be told apart from it" in sentence

    def test_methods_not_above_random_are_not_called_bad(self, found):
        assert "for worst the difference is not significant" in random_sentence(found, "linear SVM")

    def test_one_fold_is_not_tested(self):
        X, y = planted(n_samples=40, n_features=8)
        one = compare(["fisher", "mi"], X, y, sizes=[2], cv=[(np.arange(30), np.arange(30, 40))], stability=False)
        assert "not tested" in best_sentence(one, "linear SVM")
        assert random_sentence(one, "linear SVM") == ""
        assert "Differences are not tested" in comparison_text(one)
        assert "Holm" not in methods_paragraph(one)

    def test_the_paragraph_for_a_paper_names_what_was_done(self, found):
        text = methods_paragraph(found)
        for words in ("60 samples and 30 features", "10 folds", "1, 3 and 10 features", "6 half-samples", "seed: 0"):
            assert words in text


class TestFiles:
    def test_json_holds_all_numbers_and_no_nan(self, found):
        content = json.loads(comparison_json(found, {"command": "ilfs compare"}), parse_constant=pytest.fail)
        assert content["command"] == "ilfs compare"
        assert [one["name"] for one in content["methods"]] == ["fisher", "relieff", "worst"]
        assert content["performance"][4]["mean"] == pytest.approx(found.mean.ravel()[4])
        assert len(content["rankings"]) == 30
        assert content["verdicts"][0]["worse"] == ["worst"]
        assert content["table"]["classes"] == {"no": 30, "yes": 30}

    def test_csv_holds_the_performance(self, found, tmp_path):
        path = write_comparison(found, tmp_path / "performance.csv")
        frame = pd.read_csv(path)
        assert list(frame) == ["method", "classifier", "n_features", "mean", "std_error"]
        np.testing.assert_allclose(frame["mean"], found.mean.ravel(), atol=1e-6)

    def test_ranks_are_written_with_harmless_names(self, hostile, tmp_path):
        with write_compared_ranks(hostile, tmp_path / "ranks.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert {row["feature"] for row in rows} >= {"'=1+1", "two\nlines"}
        assert sorted(int(row["mi"]) for row in rows) == list(range(1, 8))

    @pytest.mark.parametrize("write", [write_comparison, write_compared_ranks])
    def test_other_endings_are_refused(self, write, found, tmp_path):
        with pytest.raises(ValueError, match="the output must end in"):
            write(found, tmp_path / "table.txt")
        assert list(tmp_path.iterdir()) == []


class TestPage:
    def test_the_answer_comes_first_and_all_parts_are_there(self, found, tmp_path):
        text = write_comparison_page(found, tmp_path / "page.html", input_name="cells.csv").read_text()
        assert "<h1>Comparison of 3 methods on cells.csv</h1>" in text
        titles = re.findall(r"<h2>(.*?)</h2>", text)
        assert titles == [
            "Which method",
            "Performance against number of features",
            "Which differences are real",
            "Agreement of the rankings",
            "Rankings side by side",
            "Stability and time",
            "How this was computed",
        ]
        assert best_sentence(found, "linear SVM") in text
        assert text.count("<svg") == 2 + 2 + 2 + 2

    def test_warnings_are_above_the_answer(self, found, tmp_path):
        page = write_comparison_page(found, tmp_path / "page.html", warnings=["3 rows <repeating> another row"])
        text = page.read_text()
        assert text.index("3 rows &lt;repeating&gt; another row.") < text.index('id="answer"')

    def test_it_needs_no_network_and_no_script(self, found, tmp_path):
        text = write_comparison_page(found, tmp_path / "page.html").read_text()
        elements = Elements(text)
        assert not {"script", "link", "img", "iframe"} & set(elements.tags)
        assert "default-src 'none'" in text
        assert not re.search(r"(src|href)=", text)

    def test_significant_differences_are_marked(self, found, tmp_path):
        text = write_comparison_page(found, tmp_path / "page.html").read_text()
        significant = [one for one in found.tests if one.is_significant]
        assert text.count('<td class="number real">') == 2 * len(significant) > 0

    def test_names_are_shown_as_text(self, hostile, tmp_path):
        notes = ["<b>guessed</b>"]
        path = write_comparison_page(
            hostile, tmp_path / "page.html", command="ilfs <x>", set_aside=[("<id>", "names & rows")], notes=notes
        )
        elements = Elements(path.read_text())
        assert not {"script", "b", "i", "x", "id"} & set(elements.tags)
        words = " ".join(elements.words)
        for name in ("<script>alert(1)</script>", "<i>m", "</p><b>a: 15", "<b>guessed</b>", "ilfs <x>", "<id>"):
            assert name in words
        assert path.stat().st_size < 200_000

    def test_methods_left_out_and_columns_set_aside_have_their_reasons(self, hostile, tmp_path):
        path = write_comparison_page(hostile, tmp_path / "page.html", set_aside=[("patient", "names the rows")])
        words = " ".join(Elements(path.read_text()).words)
        assert "takes no missing values" in words
        assert "names the rows" in words

    def test_stability_and_tests_may_be_absent(self, tmp_path):
        X, y = planted(n_samples=40, n_features=8)
        one = compare(["fisher"], X, y, sizes=[2], cv=[(np.arange(30), np.arange(30, 40))], stability=False)
        text = write_comparison_page(one, tmp_path / "page.html", title="One").read_text()
        assert "<h1>One</h1>" in text
        assert "Which differences are real" not in text
        assert "nan" not in text.lower().replace("significant", "")
