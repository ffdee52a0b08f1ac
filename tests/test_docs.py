"""Tables in the documentation that repeat what the code says."""

import inspect
import re
from pathlib import Path

import pytest

import ilfs

PAGE = Path(__file__).parents[1] / "docs/methods/index.md"
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
