"""Tables and pictures in the documentation that repeat what the code says."""

import inspect
import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers import DATA, NO_DATA, load

import ilfs

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "methods/index.md"
ROWS = re.findall(
    r"^\| (?:`(\w+)`)? ?\| \[(\w+)\]\(.*?\) \| .*? \| (\w+) \| (\w+) \| (\w+) \| (\w+) \|$", PAGE.read_text(), re.M
)


def test_the_table_of_methods_has_all_of_them():
    assert {name: getattr(ilfs, cls) for name, cls, *_ in ROWS if name} == ilfs.METHODS


@pytest.mark.parametrize(("name", "cls", "labels", "sparse", "missing", "weights"), ROWS, ids=[row[1] for row in ROWS])
def test_the_table_of_methods_says_what_the_tags_say(name, cls, labels, sparse, missing, weights):
    selector = getattr(ilfs, cls)()
    tags = selector.__sklearn_tags__()
    taken = "sample_weight" in inspect.signature(selector.fit).parameters
    said = [answer == "yes" for answer in (labels, sparse, missing, weights)]
    assert said == [tags.target_tags.required, tags.input_tags.sparse, tags.input_tags.allow_nan, taken]


@pytest.fixture(scope="module")
def pixels():
    return runpy.run_path(str(DOCS / "figures/pixels.py"))


@pytest.mark.skipif(not DATA, reason=NO_DATA)
@pytest.mark.parametrize("name", ["usps", "coil20"])
def test_the_picture_of_picked_pixels_is_what_the_code_draws(name, pixels):
    X, y = load(name)
    same = (DOCS / f"figures/pixels_{name}.svg").read_text() == pixels["drawn"](X, y, pixels["SIDES"][name])
    assert same, "draw it anew: make figures"


def test_images_are_drawn_column_by_column(pixels):
    black, white = pixels["SHADES"][0], pixels["SHADES"][-1]
    image = pixels["image"](np.array([0.0, 0.0, 1.0, 0.0]), side=2)
    assert image == f'<path fill="{black}" d="M0 0h1v2h-1zM1 1h1v1h-1z"/><path fill="{white}" d="M1 0h1v1h-1z"/>'


def test_a_picture_has_a_dot_for_each_pick_and_two_in_the_legend(pixels):
    X = np.random.default_rng(0).normal(size=(40, 64))
    picture = ElementTree.fromstring(pixels["drawn"](X, np.arange(40) % 2, side=8))
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}circle"))) == 3 * 50 + 2
