"""The benchmark page in a real browser."""

from dataclasses import replace

import pytest

from ilfs.benchmark import SUITES, Results, Store, run
from ilfs.report.benchmark import write_benchmark_page

pytestmark = pytest.mark.browser
METHODS = ["fisher", "mi", "ls", "random"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return the page of three data sets, four methods and two classifiers."""
    folder = tmp_path_factory.mktemp("page")
    suite = replace(SUITES["quick"].only(["wine", "iris", "breast_cancer"], METHODS, ["linear_svm", "knn"]), n_splits=2)
    with Store(folder / "results.sqlite") as store:
        run(suite, store, n_jobs=1)
        return write_benchmark_page(Results.from_store(suite, store), folder / "page.html")


@pytest.fixture
def page(browser, path):
    return browser.open(path)


def names_in(page, table):
    """Return the names of the rows of a table, the number of which on the page is given."""
    return page.run(
        "return [...document.querySelectorAll('table.sortable')[arguments[0]].tBodies[0].rows]"
        ".map((row) => row.cells[0].textContent)",
        table,
    )


def test_the_page_asks_for_nothing_and_complains_about_nothing(page, path):
    assert page.messages() == []
    assert page.requests() == [path.as_uri()]


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_wider_than_the_window(browser, path, width, dark):
    browser.open(path, width=width, dark=dark)
    assert browser.run("return document.documentElement.scrollWidth") == width
    colour = browser.run("return getComputedStyle(document.querySelector('.chart text.cd')).fill")
    brightness = sum(map(int, colour.removeprefix("rgb(").rstrip(")").split(",")))
    assert (brightness > 380) == dark


def test_a_click_on_a_column_sorts_by_it_and_another_one_turns_the_order(page):
    values = page.run(
        "return [...document.querySelector('table.sortable').tBodies[0].rows].map((row) => +row.cells[1].textContent)"
    )
    by_value = [name for _, name in sorted(zip(values, names_in(page, 0), strict=True), reverse=True)]
    head = page.all("table.sortable thead th")[1]
    head.find_element("css selector", "button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert names_in(page, 0)[0] == by_value[0]
    head.find_element("css selector", "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert names_in(page, 0)[-1] == by_value[0]
    page.all("table.sortable thead th")[0].find_element("css selector", "button").click()
    assert names_in(page, 0) == sorted(METHODS)
    assert head.get_attribute("aria-sort") is None


def test_a_button_emphasises_a_method_in_all_charts(page):
    chip = page.one(".chip[data-mark]")
    mark = chip.get_attribute("data-mark")
    count = "return document.querySelectorAll('.chart .' + arguments[0] + arguments[1]).length"
    assert page.run(count, mark, "") > 3
    assert page.run(count, mark, ".faded") == 0
    chip.click()
    assert page.run(count, mark, ".faded") == page.run(count, mark, "")
    pressed = {one.get_attribute("aria-pressed") for one in page.all(f"[data-mark='{mark}']")}
    assert pressed == {"false"}
    page.one("[data-all='all']").click()
    assert page.run(count, mark, ".faded") == 0
    page.one("[data-all='none']").click()
    assert page.run("return document.querySelectorAll('.chart .m:not(.faded)').length") == 0


def test_one_classifier_is_shown_at_a_time(page):
    visible = "return [...document.querySelectorAll('{}')].filter((one) => one.checkVisibility()).map((one) => one.{})"
    shown = visible.format("h2", "textContent")
    assert "Results (linear_svm)" in page.run(shown)
    assert "Results (knn)" not in page.run(shown)
    page.all("[data-show]")[1].click()
    assert "Results (knn)" in page.run(shown)
    assert "Results (linear_svm)" not in page.run(shown)
    assert "Time against size" in page.run(shown)
    links = page.run(visible.format("nav a", "hash"))
    assert links
    for link in links:
        assert page.run("return document.querySelector(arguments[0]).checkVisibility()", link)
    assert page.messages() == []


def test_without_scripts_everything_is_shown(browser, path):
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    browser.driver.get(path.as_uri())
    hidden = browser.command("DOM.getDocument", depth=0)
    found = browser.command("DOM.querySelectorAll", nodeId=hidden["root"]["nodeId"], selector="section[hidden]")
    browser.command("Emulation.setScriptExecutionDisabled", value=False)
    assert found["nodeIds"] == []
