"""The page of a comparison in a real browser."""

import pandas as pd
import pytest
from helpers import planted

from ilfs.report import write_comparison_page
from ilfs.selection import compare

pytestmark = pytest.mark.browser

HOSTILE = ["<script>document.title = 'broken'</script>", "x" * 10_000, "two\nlines", "\u202eright to left"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Return the path of the page of three methods; some features have hostile names."""
    X, y = planted(n_samples=40, n_features=30)
    frame = pd.DataFrame(X, columns=HOSTILE + [f"gene{j}" for j in range(26)])
    found = compare(["fisher", "mi", "relieff"], frame, y, sizes=[1, 3, 10], cv=3, stability=4)
    folder = tmp_path_factory.mktemp("comparison")
    return write_comparison_page(found, folder / "page.html", title="Methods", command="ilfs compare <table>")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 1600])
def test_it_asks_for_nothing_complains_about_nothing_and_fits_the_window(browser, page, width, dark):
    browser.open(page, width=width, dark=dark)
    assert browser.messages() == []
    assert browser.requests() == [page.as_uri()]
    assert browser.driver.title == "Methods"
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth")


def test_the_summary_of_all_methods_is_in_sight_without_scrolling(browser, page):
    browser.open(page, width=1400)
    assert browser.run("const box = document.querySelector('#answer .wide'); return box.scrollWidth <= box.clientWidth")


def test_its_own_style_is_applied(browser, page):
    """The policy of the page allows the second style sheet, too."""
    browser.open(page)
    best, other = (
        browser.run("return getComputedStyle(document.querySelector(arguments[0])).backgroundColor", selector)
        for selector in ("table.ranks td.top", "table.ranks td.number:not(.top)")
    )
    assert best != other


def test_colours_follow_the_colour_scheme(browser, page):
    grounds = []
    for dark in (False, True):
        browser.open(page, dark=dark)
        grounds.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
    assert grounds[0] != grounds[1]


def test_charts_have_names_and_all_tests_can_be_opened(browser, page):
    browser.open(page)
    assert all(browser.texts("svg.chart > title"))
    tests = browser.one("#differences details")
    assert not browser.one("#differences details table").is_displayed()
    tests.find_element("css selector", "summary").click()
    assert browser.one("#differences details table").is_displayed()
    assert len(browser.all("#differences details tbody tr")) == 2 * 6


def test_names_of_features_are_text(browser, page):
    browser.open(page)
    shown = browser.texts("table.ranks td:first-child")
    assert HOSTILE[0] in shown
    assert "two lines" in shown
    assert max(map(len, shown)) <= 60
