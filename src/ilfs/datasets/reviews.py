"""POLARITY from the texts of the review corpus: counts of the words that are found in most reviews.

Pang and Lee's reviews are split into words and marks by spaces and are in lower case. A word is such a token that
begins with a letter and has letters, hyphens and apostrophes only. The vocabulary is the 3000 words in most reviews; of
words in equally many, the first in the alphabet. The paper does not describe its own vocabulary, so this one is ours.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np
from scipy import sparse

from ilfs.datasets.dataset import Dataset

WORD = re.compile(r"[a-z][a-z'-]*")
N_WORDS = 3000
REVIEW = re.compile(r"(?:.*/)?(neg|pos)/cv[0-9]{3}_[0-9]+\.txt")
REVIEW_CLASSES = ("neg", "pos")


def is_review(path: str) -> bool:
    """Return True for the path of a review in the corpus, such as ``movie_reviews/neg/cv000_29416.txt``."""
    return REVIEW.fullmatch(path) is not None


def words_of(text: str) -> list[str]:
    """Split a review into its words.

    >>> words_of("it's a by-the-numbers 1998 film ( or is it ? )")
    ["it's", 'a', 'by-the-numbers', 'film', 'or', 'is', 'it']
    """
    return [token for token in text.split() if WORD.fullmatch(token)]


def polarity_of(texts: Mapping[str, str], name: str = "polarity", n_words: int = N_WORDS) -> Dataset:
    """Count the words of reviews, given by their paths; the order is that of class and name."""
    reviews = sorted((PurePosixPath(path).parent.name, PurePosixPath(path).name, path) for path in texts)
    counts = [Counter(words_of(texts[path])) for _, _, path in reviews]
    vocabulary = vocabulary_of(counts, n_words)
    y = np.array([REVIEW_CLASSES.index(label) for label, _, _ in reviews])
    return Dataset(name, _matrix(counts, vocabulary), y, REVIEW_CLASSES, tuple(vocabulary))


def vocabulary_of(counts: Sequence[Mapping[str, int]], n_words: int) -> list[str]:
    """Return the words in most reviews, in alphabetical order."""
    found_in = Counter(word for count in counts for word in count)
    most = sorted(found_in, key=lambda word: (-found_in[word], word))[:n_words]
    return sorted(most)


def _matrix(counts: Sequence[Mapping[str, int]], vocabulary: Sequence[str]) -> sparse.csr_array:
    place = {word: j for j, word in enumerate(vocabulary)}
    rows = [sorted((place[word], n) for word, n in count.items() if word in place) for count in counts]
    indptr = np.cumsum([0, *map(len, rows)])
    indices, data = ([pair[i] for row in rows for pair in row] for i in (0, 1))
    shape = (len(counts), len(vocabulary))
    return sparse.csr_array((np.array(data, dtype=np.float32), np.array(indices, dtype=np.int32), indptr), shape=shape)
