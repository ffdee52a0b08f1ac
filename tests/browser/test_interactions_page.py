"""The network of interactions in a real browser: what pointing and clicking do, and that all names can be read."""

import numpy as np
import pandas as pd
import pytest

from ilfs import ILFS
from ilfs.interactions import find_interactions
from ilfs.report.interactions import summarise_interactions, write_interactions_page

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::UserWarning")]

HOSTILE = ["<img src=x onerror=\"document.title='broken'\">", "two\nlines", "n" * 300, "=1+1"]
LABEL_BOXES = """return [...document.querySelectorAll("svg.network .network-node text")].map((label) => {
  const box = label.getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]; })"""


@pytest.fixture(scope="module")
def table():
    """Twelve pairs of features, each of which tells the class of some samples; the first ones have hostile names."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 60))
    pair = rng.integers(0, 12, 9000)
    sign = X[np.arange(9000), 2 * pair] * X[np.arange(9000), 2 * pair + 1]
    names = HOSTILE + [f"GENE{j:05d}_AT" for j in range(len(HOSTILE), 60)]
    return pd.DataFrame(X, columns=names), np.where(sign > 0, "ill", "well")


@pytest.fixture(scope="module")
def own_page(table, tmp_path_factory):
    X, y = table
    found = summarise_interactions(find_interactions(X, y), names=list(X.columns), class_sizes=np.array([4500, 4500]))
    return found, write_interactions_page(found, tmp_path_factory.mktemp("own") / "page.html", input_name="t.csv")


@pytest.fixture(scope="module")
def ranking_page(table, tmp_path_factory):
    X, y = table
    selector = ILFS(24, interactions=2).fit(X, y)
    return selector, selector.report(tmp_path_factory.mktemp("ranking") / "page.html", X, y)


def click(browser, selector):
    browser.run(
        "document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click', {bubbles: true}))", selector
    )


def opened(browser, path, **sizes):
    browser.run("return 1")
    browser.driver.get("about:blank")
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if sizes.pop("dark", False) else "light"}]
    browser.command("Emulation.setEmulatedMedia", features=scheme)
    size = {"width": 1400, "height": 1100} | sizes
    browser.command("Emulation.setDeviceMetricsOverride", deviceScaleFactor=1, mobile=False, **size)
    browser.driver.get_log("browser")
    browser.driver.get_log("performance")
    browser.driver.get(path.as_uri())
    return browser


def test_the_page_asks_for_nothing_and_complains_about_nothing(browser, own_page):
    page = opened(browser, own_page[1])
    assert page.messages() == []
    assert page.requests() == [own_page[1].as_uri()]
    assert page.driver.title == "Interactions of features of t.csv"


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_labels_are_readable_and_do_not_overlap(browser, own_page, width, dark):
    page = opened(browser, own_page[1], width=width, dark=dark)
    boxes = page.run(LABEL_BOXES)
    assert len(boxes) == 24
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert 8 <= bottom - top <= 30
        assert left >= 0
        assert right <= width
        for other in boxes[:k]:
            is_apart = left >= other[2] or other[0] >= right or top >= other[3] - 3 or other[1] >= bottom - 3
            assert is_apart, (k, boxes[k], other)
    assert page.run("return document.documentElement.scrollWidth") <= width


def test_a_click_on_a_feature_filters_the_table_and_another_one_shows_all(browser, own_page):
    page = opened(browser, own_page[1])
    every = len(own_page[0].sets)
    node = "svg.network .network-node[data-node='6']"
    name = page.run("return document.querySelector(arguments[0] + ' title').textContent", node)
    click(page, node)
    rows = "return [...document.querySelectorAll('table.sets tbody tr:not([hidden]) td:nth-child(2)')]"
    shown = page.run(f"{rows}.map((one) => one.textContent)")
    assert shown
    assert all(name in one for one in shown)
    assert page.texts("#shown-count") == [f"{len(shown)} of {every} sets"]
    click(page, node)
    assert page.texts("#shown-count") == [f"{every} sets"]


def test_pointing_at_a_feature_marks_its_lines(browser, own_page):
    page = opened(browser, own_page[1])
    node = "svg.network .network-node[data-node='0']"
    send = "document.querySelector(arguments[0]).dispatchEvent(new MouseEvent(arguments[1]))"
    page.run(send, node, "mouseenter")
    ends = page.run("return [...document.querySelectorAll('.edge.active')].map((one) => one.dataset.ends)")
    assert ends
    assert all("0" in one.split() for one in ends)
    page.run(send, node, "mouseleave")
    assert not page.all(".edge.active, svg.marked")


def test_a_click_in_the_network_of_a_ranking_shows_the_feature_and_its_partners(browser, ranking_page):
    selector, path = ranking_page
    page = browser.open(path)
    assert page.messages() == []
    place = int(page.run("return document.querySelector('svg.network .network-node:last-of-type').dataset.place"))
    click(page, "svg.network .network-node:last-of-type")
    name = str(selector.table()["feature"][place])
    assert page.texts("#detail h3") == [name]
    partners = page.texts("#detail .partners button")
    expected = [name for one in selector.explain(name).works_with for name in one.others]
    assert partners == expected[:8]
