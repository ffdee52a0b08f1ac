"""Generated tables and pictures in the documentation are up to date."""

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers import DATA, NO_DATA, load

import ilfs
from ilfs import ILFS

DOCS = Path(__file__).parents[1] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the documentation is not in this folder")


@pytest.mark.parametrize("file", ["README.md", "docs/methods/index.md"])
def test_tables_of_methods_match_the_registry(file):
    tables = runpy.run_path(str(DOCS / "tables.py"))
    assert set(tables["TABLES"]) == {"README.md", "docs/methods/index.md"}
    same = (DOCS.parent / file).read_text() == tables["filled"](file)
    assert same, "write them anew: make tables"


def test_links_in_the_tables_of_methods_lead_to_existing_pages():
    for file in ("README.md", "docs/methods/index.md"):
        rows = re.findall(r"^\|.*?\[`\w+`\]\(([^)#]*)", (DOCS.parent / file).read_text(), re.M)
        assert len(rows) >= len(ilfs.list_methods())
        assert all((DOCS.parent / file).parent.joinpath(row).is_file() for row in rows)


ROOT = DOCS.parent
PAGES = [*(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")), *sorted(DOCS.rglob("*.md"))]


def without_code(page):
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)


def anchors(page):
    """Return the targets of links in a page: its headings as MyST and GitHub write them, and its labels."""
    headings = re.findall(r"^#+ (.*)$", without_code(page), re.M)
    labels = re.findall(r"^\(([\w-]+)\)=$", without_code(page), re.M)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings} | set(labels)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_lead_to_existing_files_and_headings(page):
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", without_code(page))
    targets = [(page.parent / file if file else page, anchor) for file, anchor in links]
    assert [file for file, _ in targets if not file.exists()] == []
    assert [(file, anchor) for file, anchor in targets if anchor and anchor not in anchors(file)] == []


def test_a_file_without_markers_is_rejected(monkeypatch, tmp_path):
    tables = runpy.run_path(str(DOCS / "tables.py"))
    (tmp_path / "README.md").write_text("no table")
    monkeypatch.setitem(tables["filled"].__globals__, "ROOT", tmp_path)
    with pytest.raises(
        ValueError, match=r"README.md must have the lines '<!-- table of methods: written by make tables"
    ):
        tables["filled"]("README.md")


@pytest.fixture(scope="module")
def pixels():
    return runpy.run_path(str(DOCS / "figures/pixels.py"))


@pytest.mark.skipif(not DATA, reason=NO_DATA)
@pytest.mark.parametrize("name", ["usps", "coil20"])
def test_the_picture_of_picked_pixels_is_up_to_date(name, pixels):
    X, y = load(name)
    same = (DOCS / f"figures/pixels_{name}.svg").read_text() == pixels["drawn"](X, y, pixels["SIDES"][name])
    assert same, "draw it anew: make figures"


def test_the_picture_of_the_topic_model_is_up_to_date():
    drawn = runpy.run_path(str(DOCS / "figures/plate.py"))["picture"]()
    assert (DOCS / "figures/plate.svg").read_text(encoding="utf-8") == drawn, "draw it anew: make figures"
    texts = ["".join(one.itertext()) for one in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert {"f1", "fn", "z1", "z2", "t1", "t6", "P(z | f)", "P(t | z)", "n features", "m samples"} <= set(texts)


def test_the_picture_of_sizes_is_up_to_date():
    sizes = runpy.run_path(str(DOCS / "figures/sizes.py"))
    X, y = sizes["table"]()
    found = {rule: int(ILFS(rule).fit(X, y).get_support().sum()) for rule in sizes["RULES"]}
    picture = ElementTree.fromstring((DOCS / "figures/sizes.svg").read_text(encoding="utf-8"))
    texts = {"".join(one.itertext()) for one in picture.iter("{http://www.w3.org/2000/svg}text")}
    expected = {f"{sizes['NAMES'].get(rule, repr(rule))}: {size}".replace("'", '"') for rule, size in found.items()}
    assert expected <= texts, "draw it anew: make figures"
    results = ILFS("auto").fit(X, y).cv_results_
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}circle"))) == len(results["n_features"])


def test_the_picture_of_the_best_features_is_up_to_date():
    figure = runpy.run_path(str(DOCS / "figures/reading.py"))
    table = figure["best_features"]()
    drawn = figure["picture"](table)
    assert (DOCS / "figures/reading.svg").read_text(encoding="utf-8") == drawn, "draw it anew: make figures"
    picture = ElementTree.fromstring(drawn)
    texts = ["".join(one.itertext()) for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {*table["feature"], *(f"{abs(effect):.2f}" for effect in table["effect"])} <= set(texts)
    n_bars = len(list(picture.iter("{http://www.w3.org/2000/svg}rect")))
    assert n_bars == len(table["rank"]) + len(figure["COLOURS"])  # and the legend


def test_the_picture_of_false_discovery_rates_is_up_to_date():
    figure = runpy.run_path(str(DOCS / "figures/fdr.py"))
    drawn = figure["picture"]()
    assert (DOCS / "figures/fdr.svg").read_text(encoding="utf-8") == drawn, "draw it anew: make figures"
    n_dots = len(list(ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}circle")))
    n_methods = len(figure["METHODS"])
    assert n_dots == len(figure["DESIGNS"]) * n_methods * len(figure["LEVELS"]) + n_methods  # and the legend


def test_images_are_drawn_column_by_column(pixels):
    black, white = pixels["SHADES"][0], pixels["SHADES"][-1]
    image = pixels["image"](np.array([0.0, 0.0, 1.0, 0.0]), side=2)
    assert image == f'<path fill="{black}" d="M0 0h1v2h-1zM1 1h1v1h-1z"/><path fill="{white}" d="M1 0h1v1h-1z"/>'


def test_a_picture_has_one_dot_per_pick_and_two_in_the_legend(pixels):
    X = np.random.default_rng(0).normal(size=(40, 64))
    picture = ElementTree.fromstring(pixels["drawn"](X, np.arange(40) % 2, side=8))
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}circle"))) == 3 * 50 + 2


def test_the_pages_of_the_words_for_the_search_exist():
    source = (DOCS / "_extensions" / "search_words.py").read_text()
    pages = re.findall(r'^    "([\w/]+)": \[', source, re.M)
    assert len(pages) > 20
    assert [page for page in pages if not (DOCS / f"{page}.md").is_file()] == []
