"""The page of a ranking in a real browser: what a reader does with it, and that nothing leaves the page."""

import csv
import io
import time

import numpy as np
import pytest
from helpers import planted

import ilfs
from ilfs import ILFS, FisherScore, LaplacianScore
from ilfs.report import write_page
from ilfs.selection import FDRSelector, SizeCV, stability

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::UserWarning")]

N_FEATURES = 20_000
HOSTILE = [
    "<script>document.title = 'broken'</script>", "</script><img src=x onerror=\"document.title='broken'\">", "=1+1",
    'quotes " and \' and `', "two\nlines", "x" * 10_000, "\u202eright to left", "\u0645\u0631\u062d\u0628\u0627",
    "\N{MICROSCOPE} emoji", "@SUM(A1)",
]  # fmt: skip


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Return a selector, its names and the page of 20,000 features; the best ones have hostile names."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, N_FEATURES)), np.repeat(["control", "treated"], 30)
    X[30:, :20] += np.linspace(3, 1.5, 20)
    X[:, 20:40] = X[:, :20] + 0.3 * rng.normal(size=(60, 20))  # repeat the best ones
    names = HOSTILE + [f"gene{j}" for j in range(len(HOSTILE), N_FEATURES)]
    selector = ILFS("fdr", n_permutations=20).fit(X, y)
    path = tmp_path_factory.mktemp("wide") / "page.html"
    write_page(selector, path, X, y, input_features=names, title="Wide table")
    return selector, names, path


@pytest.fixture
def page(browser, wide):
    return browser.open(wide[2])


def rows(browser):
    """Return the places of the features in the rows of the document."""
    return browser.run("return [...document.querySelectorAll('tr[data-place]')].map((row) => +row.dataset.place)")


def shown(browser):
    return int(browser.run("return document.querySelector('table.features').getAttribute('aria-rowcount')")) - 1


def listed(browser):
    return browser.run("return document.getElementById('list').value").split("\n")[:-1]


def test_the_page_asks_for_nothing_and_complains_about_nothing(browser, wide):
    browser.open(wide[2])
    assert browser.messages() == []
    assert browser.requests() == [wide[2].as_uri()]
    assert browser.driver.title == "Wide table"


def test_the_policy_stops_scripts_styles_and_requests_that_are_not_of_the_page(page):
    page.run(
        "const script = document.createElement('script'); script.textContent = 'window.broken = 1';"
        "document.body.append(script); document.body.setAttribute('style', 'color: rgb(1, 2, 3)');"
        "fetch('https://example.org/').catch(() => (window.refused = true))"
    )
    page.wait("return window.refused")
    assert page.run("return window.broken") is None
    assert page.run("return getComputedStyle(document.body).color") != "rgb(1, 2, 3)"
    assert any("Content Security Policy" in message for message in page.messages())


def test_hostile_names_are_shown_as_text(page, wide):
    selector, names, _ = wide
    best = [names[column] for column in selector.order_[:15]]
    cells = page.texts("tr[data-place] td:nth-child(3)")[:15]
    assert page.driver.title == "Wide table"
    for name, cell in zip(best, cells, strict=True):
        plain = "".join(mark if mark.isprintable() else " " for mark in name)
        assert cell == plain or (len(plain) > 80 and len(cell) == 80)
    assert len(page.all("table img, table script")) == 0


def test_a_click_on_a_title_sorts_and_another_one_reverses(page, wide):
    effect = np.nan_to_num(wide[0].table()["effect"])
    button = "th[data-key='effect'] button"
    page.one(button).click()
    assert page.one("th[data-key='effect']").get_attribute("aria-sort") == "descending"
    assert page.one("th[data-key='rank']").get_attribute("aria-sort") == "none"
    np.testing.assert_allclose(effect[rows(page)[:10]], np.sort(effect)[::-1][:10], rtol=1e-3)
    page.one(button).click()
    assert page.one("th[data-key='effect']").get_attribute("aria-sort") == "ascending"
    np.testing.assert_allclose(effect[rows(page)[:10]], np.sort(effect)[:10], rtol=1e-3)
    page.one("th[data-key='rank'] button").click()
    assert rows(page)[:3] == [0, 1, 2]


def test_filters_by_name_direction_q_value_and_family(page, wide):
    selector, names, _ = wide
    table = selector.table(input_features=names)
    page.set("#search", "GENE1234")
    assert shown(page) == sum("gene1234" in name for name in names)
    page.one("#clear-filters").click()
    assert shown(page) == N_FEATURES
    page.set("#direction", "higher in control")
    assert shown(page) == np.count_nonzero(table["direction"] == "higher in control")
    page.one("#clear-filters").click()
    page.set("#largest-q", 0.5)
    assert shown(page) == np.count_nonzero(table["q_value"].astype(np.float32) <= 0.5)
    assert page.texts("#shown-count") == [f"{shown(page):,} of 20,000 features"]
    page.one("#clear-filters").click()
    page.set("#cut-number", 20)
    families = selector.families(20, input_features=[str(j) for j in range(N_FEATURES)])
    head, members = next((int(head), found) for head, found in families.items() if found)
    place = int(selector.ranking_[head]) - 1
    page.set("#family", place)
    assert sorted(rows(page)) == sorted([place, *(int(selector.ranking_[int(one)]) - 1 for one in members)])


def test_the_cut_and_single_rows_change_the_list(page, wide):
    selector, names, _ = wide
    assert page.texts("#chosen-count") == [f"{selector.get_support().sum()} of 20,000 features chosen"]
    page.set("#cut-number", 12)
    best = ["".join(m if m.isprintable() else " " for m in names[column]) for column in selector.order_[:13]]
    assert listed(page) == best[:12]
    page.all("tr[data-place='12'] input")[0].click()
    assert listed(page) == best
    assert page.run("return document.querySelector(\"tr[data-place='12']\").getAttribute('aria-selected')") == "true"
    page.set("#cut-slider", 0)
    assert listed(page) == []
    page.set("#cut-slider", 1000)
    assert page.texts("#chosen-count") == ["20,000 of 20,000 features chosen"]
    page.one("#reset-cut").click()
    assert page.texts("#chosen-count") == [f"{selector.get_support().sum()} of 20,000 features chosen"]


def test_the_list_is_downloaded_as_text_csv_and_rnk(page, wide, tmp_path):
    selector, names, _ = wide
    page.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.set("#cut-number", 20)
    for button in ("save-text", "save-csv", "save-rnk", "save-all-csv"):
        page.run(f"document.getElementById('{button}').click()")
    wanted = ["Wide_table.txt", "Wide_table.csv", "Wide_table.rnk", "Wide_table_all.csv"]
    until = time.monotonic() + 20
    while not all((tmp_path / name).exists() for name in wanted):
        assert time.monotonic() < until, [file.name for file in tmp_path.iterdir()]
        time.sleep(0.05)
    best = [names[column] for column in selector.order_[:20]]
    assert len((tmp_path / "Wide_table.txt").read_text(encoding="utf-8").splitlines()) == 20
    found = list(csv.DictReader(io.StringIO((tmp_path / "Wide_table.csv").read_text(encoding="utf-8"), newline="")))
    safe = [f"'{name}" if name[0] in "=+-@\t\r\n" else name for name in best]
    assert [row["feature"] for row in found] == safe
    table = selector.table(20, input_features=names)
    assert list(found[0]) == list(table)
    np.testing.assert_allclose([float(row["effect"]) for row in found], table["effect"], rtol=1e-3)
    ranked = [line.split("\t") for line in (tmp_path / "Wide_table.rnk").read_text(encoding="utf-8").splitlines()]
    assert [len(line) for line in ranked] == [2] * 20
    values = [float(value) for _, value in ranked]
    assert values == sorted(values, reverse=True)
    np.testing.assert_allclose(values, np.sort(table["effect"])[::-1], rtol=1e-3)
    every = (tmp_path / "Wide_table_all.csv").read_text(encoding="utf-8")
    assert len(list(csv.reader(io.StringIO(every, newline="")))) == N_FEATURES + 1


def test_copying_gives_the_names(page):
    page.set("#cut-number", 3)
    page.run("window.copied = null; navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    page.one("#copy").click()
    assert page.wait("return window.copied").count("\n") == 3
    page.wait("return document.getElementById('copy').textContent === 'Copied'")


def test_twenty_thousand_rows_are_scrolled_with_few_rows_in_the_document(page):
    script = """
      const box = document.getElementById('table'), done = arguments[0];
      const frame = () => new Promise(requestAnimationFrame);
      (async () => {
        let most = 0, slowest = 0;
        for (let k = 0; k <= 60; k++) {
          const start = performance.now();
          box.scrollTop = (box.scrollHeight * k) / 60;
          await frame(); await frame();
          slowest = Math.max(slowest, performance.now() - start);
          most = Math.max(most, document.querySelectorAll('#table tr').length);
        }
        done({ most, slowest, last: document.querySelector('#table tr[data-place]:nth-last-child(2)').dataset.place });
      })();
    """
    found = page.driver.execute_async_script(script)
    assert found["last"] == str(N_FEATURES - 1)
    assert found["most"] < 100
    assert found["slowest"] < 500  # milliseconds, on a busy machine
    last = page.all("#table tr[data-place]")[-1]
    assert last.get_attribute("aria-rowindex") == str(N_FEATURES + 1)
    assert shown(page) == N_FEATURES
    body = page.run("const b = document.getElementById('table').getBoundingClientRect(); return [b.top, b.bottom]")
    assert body[0] < page.run("return arguments[0].getBoundingClientRect().top", last) < body[1]


def test_the_table_is_used_by_keyboard(page, wide):
    from selenium.webdriver.common.keys import Keys

    page.run("document.querySelector(\"tr[data-place='0']\").focus()")

    def press(*keys):
        for key in keys:
            page.driver.switch_to.active_element.send_keys(key)

    press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    assert page.run("return document.activeElement.dataset.place") == "2"
    assert page.texts("#detail p")[0].startswith("Rank 3 of 20,000")
    before = page.texts("#chosen-count")
    press(Keys.SPACE)
    assert page.texts("#chosen-count") != before
    assert page.run("return document.activeElement.dataset.place") == "2"
    press(Keys.END)
    assert page.run("return document.activeElement.dataset.place") == str(N_FEATURES - 1)
    press(Keys.PAGE_UP, Keys.ENTER)
    assert "Rank 19,9" in page.texts("#detail p")[0]
    press(Keys.HOME)
    assert page.run("return document.activeElement.dataset.place") == "0"


def test_details_show_values_tokens_and_family(page, wide):
    selector, names, _ = wide
    place = next(k for k, column in enumerate(selector.order_[:50]) if selector._members([column], 0.7)[column])
    column = int(selector.order_[place])
    page.set("#search", names[column][:60])
    page.run("document.querySelector(arguments[0]).click()", f"tr[data-place='{place}'] td.name")
    dots = page.run("return [...document.querySelectorAll('#detail .dots')].map((one) => one.getAttribute('d'))")
    assert [path.count("M") for path in dots] == [30, 30]
    assert len(page.all("#detail .bar")) == selector.token_counts_.shape[1]
    similar = selector._members([column], 0.7)[column]
    assert len(page.all("#detail .members li")) == min(len(similar), 20)
    assert page.texts("#detail .members .number")[0] == f"{next(iter(similar.values())):.2f}"
    page.one("#detail .members button").click()
    other = int(selector.ranking_[next(iter(similar))])
    assert page.texts("#detail p")[0].startswith(f"Rank {other:,} of")


def test_a_feature_without_values_shows_its_class_means(page):
    page.set("#search", "gene19999")
    page.run("document.querySelector('tr[data-place] td.name').click()")
    assert len(page.all("#detail .dots")) == 0
    assert len(page.all("#detail circle")) == 2


def test_a_point_of_the_volcano_is_clicked(page):
    page.run("document.getElementById('volcano').scrollIntoView({block: 'center'})")
    place = page.run(
        "const svg = document.querySelector('#volcano svg'), box = svg.getBoundingClientRect();"
        "const first = document.querySelector('.cloud.chosen').getAttribute('d').match(/M([\\d.]+) ([\\d.]+)/);"
        "const factor = box.width / 460;"
        "const [clientX, clientY] = [box.left + first[1] * factor, box.top + first[2] * factor];"
        "svg.dispatchEvent(new MouseEvent('click', { clientX, clientY, bubbles: true }));"
        "return document.querySelector('#detail p').textContent"
    )
    assert place.startswith("Rank ")
    assert float(page.one(".ring").get_attribute("cx")) > 0


def test_the_line_of_the_false_discovery_rate_is_inside_the_plot_of_noise(browser, tmp_path):
    X, y = np.random.default_rng(1).normal(size=(40, 30)), np.arange(40) % 2
    selector = FisherScore("fdr").fit(X, y)
    assert selector.q_values_.min() > 0.1
    page = browser.open(write_page(selector, tmp_path / "page.html", X, y))
    assert page.run(
        "const box = document.querySelector('#volcano svg').getBoundingClientRect();"
        "const line = document.querySelector('#volcano .mark').getBoundingClientRect();"
        "return box.top < line.top && line.bottom < box.bottom"
    )


def test_a_feature_that_tells_the_class_exactly_is_called_constant_within_each_class(browser, tmp_path):
    X, y = planted()
    X[:, 5] = y
    page = browser.open(write_page(FisherScore(3).fit(X, y), tmp_path / "page.html", X, y))
    assert "Higher in 1; it is constant within each class." in page.texts("#detail p")[0]


@pytest.mark.parametrize(("width", "last"), [(400, "score"), (1400, "effect"), (1600, "mean_treated")])
def test_the_columns_that_matter_are_in_sight_without_scrolling(browser, wide, width, last):
    page = browser.open(wide[2], width=width)
    right = "return document.querySelector(arguments[0]).getBoundingClientRect().right"
    assert page.run(right, f"th[data-key='{last}']") <= page.run(right, "#table")


def cut_texts(page):
    """Return the numbers, verdicts and titles that do not fit into their column."""
    return page.run(
        "return [...document.querySelectorAll('tr[data-place] td.number, td.verdict, th button')]"
        ".filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
    )


def test_no_number_and_no_verdict_is_cut(browser, wide):
    page = browser.open(wide[2], width=1400)
    assert cut_texts(page) == []
    page.run("document.getElementById('table').scrollTop = 1e7")
    page.wait("return !!document.querySelector(arguments[0])", f"tr[data-place='{N_FEATURES - 1}']")
    assert page.texts(f"tr[data-place='{N_FEATURES - 1}'] td.verdict") == ["not confirmed"]
    assert cut_texts(page) == []


@pytest.mark.parametrize("width", [400, 1400])
def test_small_q_values_are_not_cut(browser, tmp_path, width):
    X, y = planted(n_samples=200, n_features=30, n_informative=25, shift=3.0)
    selector = FisherScore(5, n_permutations=99).fit(X, y)
    page = browser.open(write_page(selector, tmp_path / "page.html", X, y), width=width)
    assert page.texts("tr[data-place='0'] td.number")[2].startswith("0.000")
    assert cut_texts(page) == []


@pytest.mark.parametrize("width", [400, 800, 1600])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_every_width_and_follows_the_colour_scheme(browser, wide, width, dark):
    page = browser.open(wide[2], width=width, height=900, dark=dark)
    assert page.run("return document.documentElement.scrollWidth") <= width
    colour = page.run("return getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, colour[4:-1].split(",")))
    assert brightness < 150 if dark else brightness > 600
    assert page.messages() == []


def test_without_scripts_the_best_features_are_there(browser, wide):
    browser.open(wide[2])
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    browser.driver.get(wide[2].as_uri())
    browser.command("Emulation.setScriptExecutionDisabled", value=False)
    assert len(browser.all("noscript tbody tr")) == 50
    assert not browser.one("#search").is_displayed()


def test_an_old_browser_shows_the_best_features(browser, wide):
    made = browser.command("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")
    browser.driver.get(wide[2].as_uri())
    browser.wait("return !document.getElementById('failure').hidden")
    assert browser.one(".static-table tbody tr").is_displayed()
    browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=made["identifier"])


def loaded(tmp_path, X, y):
    ILFS(4, n_permutations=20).fit(X, y).save(tmp_path / "selection.json")
    return ilfs.load(tmp_path / "selection.json")


OTHERS = {
    "no labels": lambda tmp_path, X, y: LaplacianScore(5).fit(X),
    "no test": lambda tmp_path, X, y: FisherScore(5).fit(X, y),
    "twelve classes": lambda tmp_path, X, y: ILFS(5, n_permutations=20).fit(X, np.arange(len(X)) % 12),
    "forty classes": lambda tmp_path, X, y: FisherScore(5).fit(X, np.arange(len(X)) % 40),
    "three classes": lambda tmp_path, X, y: ILFS(5, n_permutations=20).fit(X, np.arange(len(X)) % 3),
    "several labels": lambda tmp_path, X, y: ILFS(5).fit(X, np.column_stack([y, y % 2 == np.arange(len(X)) % 3]) * 1),
    "search": lambda tmp_path, X, y: SizeCV(ILFS(), sizes=[1, 3, 9]).fit(X, y),
    "rate": lambda tmp_path, X, y: FDRSelector(FisherScore()).fit(X, y),
    "nothing found": lambda tmp_path, X, y: FisherScore("fdr").fit(np.random.default_rng(1).normal(size=X.shape), y),
    "one feature": lambda tmp_path, X, y: FisherScore(1).fit(X[:, :1], y),
    "loaded": loaded,
}  # fmt: skip


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_pages_of_other_selectors_work(browser, make, tmp_path):
    X, y = planted(n_features=30)
    X[:3, 4] = np.nan if make is OTHERS["no test"] else X[:3, 4]
    selector = make(tmp_path, X, y)
    again = stability(FisherScore(), X, y, k=3, n_resamples=4) if selector.n_features_in_ == 30 else None
    labels = np.arange(len(X)) % 40 if make is OTHERS["forty classes"] else y
    path = write_page(selector, tmp_path / "page.html", X[:, : selector.n_features_in_], labels, stability=again)
    page = browser.open(path)
    assert len(page.all("#detail .box")) == (15 if make is OTHERS["forty classes"] else 2)
    assert len(rows(page)) == min(selector.n_features_in_, len(rows(page)))
    for button in page.all("th button"):
        button.click()
    page.set("#search", "x")
    page.set("#cut-number", 2)
    for chip in page.all("button.chip"):
        page.run("arguments[0].click()", chip)
    page.run("document.querySelector('tr[data-place]').click()")
    assert page.messages() == []
    assert page.requests() == [path.as_uri()]
