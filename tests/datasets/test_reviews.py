import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from helpers import DATA, NO_DATA

from ilfs.datasets.archive import read_archive
from ilfs.datasets.reviews import is_review, polarity_of

TEXTS = {
    "txt/pos/cv001_2.txt": "a fine , fine film ! \n it's well-made . 10 / 10",
    "txt/neg/cv001_9.txt": "a bad film . 'twas bad -- b2b",
    "txt/neg/cv000_7.txt": "bad and long",
}


def test_counts_of_the_words_in_most_reviews():
    table = polarity_of(TEXTS, n_words=4)
    # a, bad and film are in two reviews; the first of all others in the alphabet is "and"
    assert table.feature_names == ("a", "and", "bad", "film")
    np.testing.assert_array_equal(table.X.toarray(), [[0, 1, 1, 0], [1, 0, 2, 1], [1, 0, 0, 1]])
    assert (table.y.tolist(), table.class_names) == ([0, 0, 1], ("neg", "pos"))  # in the order of class and name
    everything = polarity_of(TEXTS, n_words=99).feature_names
    assert everything == ("a", "and", "bad", "film", "fine", "it's", "long", "well-made")  # no marks, no digits


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("movie_reviews/neg/cv000_29416.txt", True),
        ("pos/cv999_13106.txt", True),
        ("movie_reviews/README", False),
        ("movie_reviews/neg/cv000_29416.txt.swp", False),
        ("other/cv000_29416.txt", False),
    ],
)
def test_paths_of_reviews(path, expected):
    assert is_review(path) == expected


def raw_reviews():
    path = Path(DATA or "") / "polarity_raw.jsonl.gz"
    if not DATA or not path.is_file():
        pytest.skip(NO_DATA)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return {review["id"]: review["text"] for review in map(json.loads, lines)}


def test_the_registered_file_is_rebuilt_exactly():
    table = polarity_of(raw_reviews())
    registered = read_archive(Path(DATA) / "polarity.npz", "polarity")
    assert table.feature_names == registered.feature_names
    assert table.class_names == registered.class_names
    np.testing.assert_array_equal(table.y, registered.y)
    assert (table.X != registered.X).nnz == 0
