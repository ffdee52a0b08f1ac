"""A fitted selector as HTML, as a notebook shows it."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from helpers import planted
from sklearn import config_context
from sklearn.pipeline import make_pipeline

import ilfs
from ilfs import CFS, ILFS, FisherScore, list_methods
from ilfs.registry import make_selector
from ilfs.report.notebook import selector_html


class Elements(HTMLParser):
    """Collects the elements and the words of a page."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.words, self.open = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def fitted():
    X, y = planted(n_samples=80, n_features=40, n_informative=6)
    return ILFS(4, n_permutations=30).fit(X, y)


def test_the_top_of_the_ranking_and_the_verdict_are_shown(fitted):
    page = Elements(fitted._repr_html_())
    assert not page.open  # every element is closed
    words = " ".join(page.words)
    assert "4 of 40 features selected" in words
    assert "The best features are better than under each of 30 permutations of the labels" in words
    names = [word for word in page.words if word.startswith("x") and word[1:].isdigit()]
    assert names == [f"x{column}" for column in fitted.order_[:10]]
    rows = [attributes.get("class", "") for tag, attributes in page.elements if tag == "tr"]
    assert ["ilfs-other" in row for row in rows[1:]] == [False] * 4 + [True] * 6
    assert [row for row in rows if "ilfs-cut" in row] == [rows[5]]


def test_it_needs_nothing_from_elsewhere_and_is_small(fitted):
    page = fitted._repr_html_()
    assert len(page) < 8000
    assert not any(word in page for word in ("http", "src=", "url(", "@import", "<script", "onclick"))


def test_names_are_escaped_and_shortened():
    X, y = planted(n_samples=60, n_features=6)
    names = ["<script>alert(1)</script>", '"><img src=x>', "$x^2$", "x" * 10_000, "a\nb", "\N{RIGHT-TO-LEFT OVERRIDE}b"]
    labels = np.array(["<b>", "'&"])[y]
    text = FisherScore(2).fit(pd.DataFrame(X, columns=names), labels)._repr_html_()
    page = Elements(text)
    assert {tag for tag, _ in page.elements} <= {
        "div", "style", "p", "strong", "span", "code", "table", "thead", "tbody", "tr", "th", "td", "bdi"
    }  # fmt: skip
    assert "<script>alert(1)</script>" in page.words
    assert "higher in <b>" in page.words
    assert len(text) < 8000
    assert "mathjax_ignore" in text  # a notebook would typeset $x^2$


@pytest.mark.parametrize("method", list_methods(), ids=lambda method: method.name)
def test_every_method_has_it(method):
    X, y = planted(n_samples=40, n_features=12)
    selector = make_selector(f"{method.name}(fisher)" if method.wraps_another else method.name)
    page = Elements(selector.fit(np.abs(X), y)._repr_html_())
    assert not page.open
    assert len([tag for tag, _ in page.elements if tag == "tr"]) == 11


def test_negative_scores_have_no_bars():
    X, _ = planted(n_samples=40, n_features=12)
    assert "ilfs-bar" not in CFS(3).fit(X)._repr_html_().split("</style>")[1]


def test_a_selector_that_is_not_fitted_shows_the_diagram_of_scikit_learn():
    assert "sk-" in ILFS()._repr_html_()
    assert "ilfs-ranking" not in ILFS()._repr_html_()
    assert "ilfs-ranking" not in ILFS()._repr_mimebundle_()["text/html"]


def test_the_bundle_of_a_notebook_has_text_and_html(fitted):
    bundle = fitted._repr_mimebundle_()
    assert bundle["text/plain"] == repr(fitted)
    assert bundle["text/html"] == fitted._repr_html_() == selector_html(fitted)


def test_text_is_shown_if_scikit_learn_is_set_to_it(fitted):
    with config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}


def test_parameters_changed_after_the_fit_do_not_break_it():
    X, y = planted(n_samples=60, n_features=6)
    selector = FisherScore(2).fit(X, y).set_params(n_features_to_select="auto")
    assert "sk-" in selector._repr_html_()


def test_a_pipeline_keeps_its_diagram(fitted):
    page = make_pipeline(fitted)._repr_html_()
    assert "sk-" in page
    assert "ilfs-ranking" not in page


def test_a_loaded_selection_shows_it(fitted, tmp_path):
    fitted.save(tmp_path / "selection.json")
    assert "4 of 40 features selected" in ilfs.load(tmp_path / "selection.json")._repr_html_()
