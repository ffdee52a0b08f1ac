"""The pages of the documentation in a real browser: they fit a phone, and need nothing from another host.

``make docs`` builds them; without that the tests are skipped.
"""

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = sorted(SITE.rglob("*.html"))
WIDE = [page for page in PAGES if "generated" not in page.parts]
FORMULAS_ARE_READY = """
const formulas = document.querySelectorAll(".math");
return [...formulas].every((one) => one.querySelector("mjx-container"));
"""

if not PAGES:
    pytest.skip("the documentation is not built: make docs", allow_module_level=True)


def name_of(page):
    return page.relative_to(SITE).as_posix()


def opened(browser, page, width):
    """Open a page, and wait until its formulas are drawn."""
    browser.open(page, width=width)
    browser.wait(FORMULAS_ARE_READY)
    return browser


def check(browser):
    """Check that the page fits the window, complained about nothing and asked no other host."""
    hosts = [address for address in browser.requests() if not address.startswith(("file:", "data:"))]
    assert hosts == []
    assert browser.messages() == []
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.run(
        "return [...document.images].every((image) => image.loading == 'lazy' || image.naturalWidth > 0)"
    )


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_fits_a_phone_and_asks_no_other_host(browser, page):
    check(opened(browser, page, width=400))


@pytest.mark.parametrize("page", WIDE, ids=name_of)
def test_a_page_fits_a_laptop(browser, page):
    check(opened(browser, page, width=1400))


def test_formulas_are_drawn_and_not_left_as_tex(browser):
    opened(browser, SITE / "ilfs.html", width=1400)
    assert len(browser.all("mjx-container")) > 50
    assert browser.texts("mjx-merror") == []
    assert "\\frac" not in browser.one("article").text


def test_a_table_of_results_scrolls_inside_its_frame_and_keeps_its_first_column(browser):
    opened(browser, SITE / "findings.html", width=400)
    scrolled = """
    const frame = document.querySelector("table.results").closest(".table-wrapper");
    frame.scrollLeft = 150;
    const [name, value] = frame.querySelectorAll("tbody tr:first-child td");
    const left = frame.getBoundingClientRect().left;
    return [frame.scrollLeft, name.getBoundingClientRect().left - left, value.getBoundingClientRect().left - left];
    """
    moved, name, value = browser.run(scrolled)
    assert moved == 150
    assert abs(name) < 6  # the padding of the frame
    assert value < 0


def test_the_best_values_are_bold_and_good_ones_are_coloured(browser):
    opened(browser, SITE / "findings.html", width=1400)
    style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    assert int(browser.run(style, "table.results td.best", "fontWeight")) >= 700
    best, worst = (browser.run(style, f"table.results td.heat{shade}", "backgroundColor") for shade in (7, 0))
    assert best != worst


@pytest.mark.parametrize("dark", [False, True])
def test_the_home_page_has_three_doors(browser, dark):
    browser.open(SITE / "index.html", width=1400, dark=dark)
    assert [title.strip() for title in browser.texts(".sd-card-title")] == ["Biologist", "Researcher", "Engineer"]
    links = browser.run(
        "return [...document.querySelectorAll('.sd-card')].map((one) => one.querySelectorAll('a').length)"
    )
    assert all(3 <= number <= 5 for number in links)
