"""Compare ILFS on tables of word counts with and without its rule for counts of rare events.

    python benchmarks/texts.py --splits 3        # the table of docs/subsets.md, about four minutes

The tables are DEXTER, POLARITY and DOROTHEA, and tables made from the reviews of POLARITY (polarity_raw.jsonl.gz in
ILFS_DATA): with other vocabularies, and with the subject of the film as the class. Words that define the class are left
out. The splits, sizes, classifiers and the metric are those of benchmarks/options.py. Classifiers see the counts
themselves. The columns of the table are the average precision without the rule, and the differences to it of ILFS() and
of HallCFS().
"""

import argparse
import gzip
import json
import os
import re
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import numpy as np
from options import CLASSIFIERS, FIRST_SEED, MAX_ROWS, SIZES, precision, sample_of
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from ilfs import ILFS, HallCFS, rare_events


@cache
def reviews():
    with gzip.open(Path(os.environ["ILFS_DATA"]) / "polarity_raw.jsonl.gz", "rt") as lines:
        found = [json.loads(line) for line in lines]
    return [one["text"] for one in found], np.array([one["label"] == "pos" for one in found]).astype(int)


def counted(texts, y, n_rows=MAX_ROWS, **vectorizer):
    """Count the words of some of the texts."""
    rows = np.sort(np.random.default_rng(1).permutation(len(y))[:n_rows])
    X = CountVectorizer(**vectorizer).fit_transform([texts[row] for row in rows])
    return X.astype(float).tocsc(), y[rows]


def opinions(words=slice(None), **options):
    """Return positive and negative reviews, or parts of them."""
    texts, y = reviews()
    return counted([" ".join(text.split()[words]) for text in texts], y, **options)


def subjects(first, second, n_words=8000):
    """Return reviews that have a word of only one of two lists; the words themselves are not counted."""
    texts, _ = reviews()
    of_first, of_second = (
        np.array([bool(re.search(rf"\b({words.replace(' ', '|')})\b", text)) for text in texts])
        for words in (first, second)
    )
    rows = np.flatnonzero(of_first != of_second)
    left_out = [word + ending for word in f"{first} {second}".split() for ending in ("", "s")]
    return counted([texts[row] for row in rows], of_second[rows].astype(int), max_features=n_words, stop_words=left_out)


TABLES = {
    "DEXTER": partial(sample_of, "dexter"),
    "POLARITY": partial(sample_of, "polarity"),
    "DOROTHEA": partial(sample_of, "dorothea"),
    "opinion, 10,000 words": partial(opinions, max_features=10_000),
    "opinion, words and pairs": partial(opinions, max_features=20_000, ngram_range=(1, 2), min_df=3),
    "opinion, 300 reviews": partial(opinions, n_rows=300, max_features=5000),
    "opinion, first 150 words": partial(opinions, slice(150), max_features=6000),
    "opinion, last 120 words": partial(opinions, slice(-120, None), max_features=6000, min_df=2),
    "opinion, three letters": partial(opinions, max_features=5000, analyzer="char_wb", ngram_range=(3, 3)),
    "comedy or thriller": partial(subjects, "comedy comedies comic funny", "thriller suspense horror"),
    "action or romance": partial(subjects, "action", "romance romantic love"),
    "space or police": partial(subjects, "alien space planet scifi sci", "police cop detective murder"),
    "school or war": partial(subjects, "school teen teenage college", "war army soldiers"),
}


@contextmanager
def without_rule():
    """Treat counts of rare events as any other columns."""
    limit = rare_events.MIN_COLUMNS
    rare_events.MIN_COLUMNS = np.inf
    try:
        yield
    finally:
        rare_events.MIN_COLUMNS = limit


def orders(X, y):
    with without_rule():
        yield ILFS().fit(X, y).order_
    yield ILFS().fit(X, y).order_
    yield HallCFS().fit(X, y).order_


def evaluated(X, y, split):
    """Return the average precision of each order (first axis) and classifier, averaged over the sizes."""
    splits = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=FIRST_SEED + split)
    train, test = next(splits.split(y, y))
    found = [[precision(X[:, order[:n]], y, train, test) for n in SIZES] for order in orders(X[train], y[train])]
    return 100 * np.array([[np.mean([one[name] for one in by_size]) for name in CLASSIFIERS] for by_size in found])


def row(name, mean):
    changes = [f"{base:.1f}, {ours - base:+.1f}, {hall - base:+.1f}" for base, ours, hall in mean.T]
    print(f"| {name} |", " | ".join(changes), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    print("| table |", " | ".join(CLASSIFIERS), "|\n" + "|---" * (1 + len(CLASSIFIERS)) + "|")
    means = []
    with threadpool_limits(1):
        for name, make in TABLES.items():
            X, y = make()
            means.append(np.mean([evaluated(X, y, split) for split in range(options.splits)], axis=0))
            row(name, means[-1])
    row("**mean**", np.mean(means, axis=0))


if __name__ == "__main__":
    main()
